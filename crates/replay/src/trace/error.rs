//! What can be wrong with a trace, and where.

use std::{io, path::PathBuf};

/// Why a trace cannot be read (on). Each text is complete: it holds its cause.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file could not be opened.
    #[error("{}: cannot open the trace: {cause}", path.display())]
    Open {
        /// The trace.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The file could not be read or decompressed.
    #[error("{}: cannot read line {line}: {cause}", path.display())]
    Read {
        /// The trace.
        path: PathBuf,
        /// Number of the line that was being read, from 1.
        line: u64,
        /// What the system or the decompressor said.
        cause: io::Error,
    },
    /// A line is no request.
    #[error("{}: line {line}: {cause}", path.display())]
    Line {
        /// The trace.
        path: PathBuf,
        /// Number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        cause: LineError,
    },
}

/// Why a line is no request. Texts are cut after 40 characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// The trace has no first line.
    #[error("expected 3 fields `timestamp,object_id,size_bytes`, found the end of the file")]
    Empty,
    /// Not three fields.
    #[error("expected 3 fields `timestamp,object_id,size_bytes`, found {found} ({text:?})")]
    Fields {
        /// How many there are.
        found: usize,
        /// The line.
        text: String,
    },
    /// A field is not the number that it should be.
    #[error("expected {field} to be {expected}, found {text:?}")]
    Number {
        /// The field's name.
        field: &'static str,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        text: String,
    },
    /// Too long to be a request.
    #[error("expected at most {max_bytes} bytes, found more ({text:?}…)")]
    TooLong {
        /// The bound.
        max_bytes: usize,
        /// The line's beginning.
        text: String,
    },
}
