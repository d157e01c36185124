//! Request traces, deterministic content, a synthetic origin and an HTTP replayer.
//!
//! - [`content`]: the bytes of an object, computed from its name at any offset.
//! - [`origin`]: an HTTP origin that serves such objects and misbehaves on request.
//! - [`trace`]: request traces, read as a stream.
#![forbid(unsafe_code)]

pub mod content;
pub mod origin;
pub mod trace;

pub use content::Content;
pub use trace::{TraceError, TraceReader};
