//! A caching HTTP reverse proxy for the edge.

pub mod body;
pub mod listen;

pub use body::{BoxBody, BoxError};
