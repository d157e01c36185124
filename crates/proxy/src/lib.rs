//! A caching HTTP reverse proxy for the edge.

pub mod cache;
pub mod listen;
pub mod meta;
pub mod rules;
