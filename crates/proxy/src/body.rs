//! The body and error types that pass between the parts of the proxy.

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;

/// Any error.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Any body: what is sent to an origin.
pub type BoxBody = UnsyncBoxBody<Bytes, BoxError>;
