//! The access log: one line a request, written by a thread of its own.
//!
//! A request makes an [`AccessRecord`] and hands it to [`AccessLog::record`], which never waits:
//! when the queue is full the line is lost and counted. Formatting and writing happen on the
//! writer's thread, in batches. docs/access-log.md shows both formats.

mod combined;
mod json;
mod output;
mod record;
mod stamp;
mod writer;

pub use output::Destination;
pub use record::{AccessRecord, FIELD_BYTES_MAX, Text};
pub use writer::{AccessLog, AccessLogWriter, FINISH_TIME_MAX, Format, QUEUE_BYTES, QUEUE_RECORDS};
