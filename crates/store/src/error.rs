//! What can go wrong, by operation.

use std::io;

/// Why a store did not open.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {}

/// Why a body ended early. What was read before is right; the rest is the origin's to give.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The log came around while the body was being read.
    #[error("overwritten while being read")]
    Overwritten,
    /// The bytes are not those that were written.
    #[error("checksum {got:#018x}, expected {expected:#018x}")]
    Corrupt {
        /// Of the bytes read.
        got: u64,
        /// Of the bytes written.
        expected: u64,
    },
    /// The device failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Why new metadata was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// No tier holds this version of the object any more: it was evicted, replaced or removed.
    #[error("the object is not stored any more")]
    NotStored,
}

/// Why a removal is not certain. The RAM tier has forgotten the object all the same.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoveError {}
