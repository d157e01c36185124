//! A caching HTTP reverse proxy for the edge.

pub mod body;
pub mod demo;
pub mod listen;
pub mod origin;
pub mod upgrade;

pub use body::{BoxBody, BoxError};
