//! A caching HTTP reverse proxy for the edge.

pub mod admin;
pub mod observe;
