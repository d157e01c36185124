//! A caching HTTP reverse proxy for the edge.

pub mod admin;
pub mod cache;
pub mod cli;
pub mod config;
pub mod listen;
pub mod meta;
pub mod observe;
pub mod plan;
pub mod rules;
