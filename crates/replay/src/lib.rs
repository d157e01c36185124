//! Request traces, deterministic content, a synthetic origin and an HTTP replayer.
//!
//! - [`content`]: the bytes of an object, computed from its name at any offset.
//! - [`origin`]: an HTTP origin that serves such objects and misbehaves on request.
//! - [`trace`]: request traces, read as a stream.
//! - [`http`]: replays a trace against a server and compares every byte.
#![forbid(unsafe_code)]

pub mod content;
pub mod http;
pub mod origin;
pub mod trace;

pub use content::Content;
pub use http::{ReplayError, ReplayOptions, Report, replay};
pub use trace::{TraceError, TraceReader};

/// The README's examples, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
