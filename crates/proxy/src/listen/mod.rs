//! The server side.
pub mod guard;
