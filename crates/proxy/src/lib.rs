//! A caching HTTP reverse proxy for the edge.

pub mod cli;
pub mod config;
pub mod plan;
