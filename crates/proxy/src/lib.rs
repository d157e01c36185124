//! A caching HTTP reverse proxy for the edge.

pub mod admin;
pub mod app;
pub mod body;
pub mod cache;
pub mod cli;
pub mod config;
pub mod demo;
pub mod listen;
pub mod meta;
pub mod observe;
pub mod origin;
pub mod plan;
pub mod rules;
pub mod upgrade;

pub use body::{BoxBody, BoxError};

/// The README's example, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
