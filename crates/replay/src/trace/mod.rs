//! Request traces: `timestamp,object_id,size_bytes`, one request a line.
//!
//! Plain, gzip or zstd, told apart by their first bytes; read as a stream, in bounded memory. A
//! first line that names the fields is skipped. An id may change its size: an object is the pair
//! of both, and so is its URL ([`Request::path`]).

mod decompress;
mod error;
mod reader;
mod request;

pub use decompress::ZSTD_WINDOW_LOG_MAX;
pub use error::{LineError, TraceError};
pub use reader::{LINE_BYTES_MAX, TraceReader};
pub use request::Request;
