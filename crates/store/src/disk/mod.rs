//! The SSD tier: a set-associative index in memory over a circular log on the device.
//!
//! Objects are appended to the log in large sequential writes, and found by an index of eight
//! bytes per slot; the log overwrites what is oldest. `docs/on-disk-format.md` has the bytes.

mod body;
mod core;
mod error;
mod flusher;
mod format;
mod handle;
mod health;
pub mod index;
mod log;
mod lookup;
mod open;
mod open_writers;
mod options;
mod read;
mod reader;
mod recover;
mod remove;
mod scan;
mod segments;
mod stats;
mod tail;
mod writer;

pub use body::DiskBody;
pub use error::{DiskError, OpenError, ReadError, WriteError};
pub use handle::Disk;
pub use lookup::{DiskLookup, Found};
pub use options::{DiskOptions, index_bytes, write_buffer_bytes};
pub use reader::DiskReader;
pub use stats::{DiskStats, MissReason, RecoveryState, SkipReason};
pub use writer::DiskWriter;
