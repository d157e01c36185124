//! A caching HTTP reverse proxy for the edge.

pub mod meta;
pub mod rules;
