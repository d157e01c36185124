//! A caching HTTP reverse proxy for the edge.

pub mod listen;
