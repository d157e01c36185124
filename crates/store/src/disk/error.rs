//! What can go wrong, by operation, with the numbers.

use std::io;

use super::stats::SkipReason;

/// Why a device was not opened. It is as it was: nothing is ever wiped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Fewer bytes than eight of the smallest segments take.
    #[error("the device has {device_bytes} bytes, a store needs {least_bytes}")]
    TooSmall {
        /// Size of the device.
        device_bytes: u64,
        /// Size of the smallest store.
        least_bytes: u64,
    },
    /// The first mebibyte holds something that is not a larder store.
    #[error(
        "the device holds data that is not larder's; zero its first mebibyte if it may be used"
    )]
    Foreign,
    /// A store of another version of larder.
    #[error("the store has format version {found}, this larder reads version {supported}")]
    OtherVersion {
        /// The version in the superblock.
        found: u32,
        /// The version that this code reads.
        supported: u32,
    },
    /// Both superblocks are larder's, and both are damaged.
    #[error("both superblocks are damaged: checksum {got:016x} where {expected:016x} was expected")]
    SuperblockCorrupt {
        /// Computed from what was read.
        got: u64,
        /// As the superblock says.
        expected: u64,
    },
    /// The superblock describes a division of the device that no larder would make.
    #[error(
        "cannot use {segments} segments of {segment_bytes} bytes in grains of {grain_bytes} bytes"
    )]
    Geometry {
        /// Bytes of a segment.
        segment_bytes: u64,
        /// Number of segments.
        segments: u64,
        /// Bytes of a grain.
        grain_bytes: u64,
    },
    /// The device is smaller than when it was formatted.
    #[error("the store was made for {stored_bytes} bytes, the device has {device_bytes}")]
    Shrunk {
        /// Size when formatted.
        stored_bytes: u64,
        /// Size now.
        device_bytes: u64,
    },
    /// The device failed.
    #[error("cannot {what}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// Why a removal or a flush is not durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DiskError {
    /// The device failed, or the store was closed.
    #[error("the disk is out of service")]
    OutOfService,
    /// The device did not take the data in time. What was removed stays removed until a restart.
    #[error("the disk took no data for {waited_ms} ms")]
    Busy {
        /// How long was waited.
        waited_ms: u64,
    },
}

/// Why an object was not stored. Nothing of it can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The device takes data more slowly than it comes.
    #[error("no write buffer became free within {waited_ms} ms")]
    Busy {
        /// How long was waited; 0 when too many writers were open already.
        waited_ms: u64,
    },
    /// The key was removed, or the object refreshed was replaced, in the meantime.
    #[error("the object was removed or replaced in the meantime")]
    Purged,
    /// The log came round to the object's first fragment before its head was written.
    #[error("the log overwrote the body before the object was complete")]
    Lapped,
    /// Key, metadata or body is longer than a record or the device allows.
    #[error("{bytes} bytes of {what}, at most {limit_bytes} are possible")]
    TooLarge {
        /// `key`, `metadata` or `body`.
        what: &'static str,
        /// Its length so far.
        bytes: u64,
        /// Its bound.
        limit_bytes: u64,
    },
    /// A call of `write` was dropped half-way: what the body would be is unknown.
    #[error("a write was abandoned half-way")]
    Interrupted,
    /// The device failed, or the store was closed.
    #[error("the disk is out of service")]
    OutOfService,
}

impl WriteError {
    /// The name under which it is counted.
    pub fn reason(&self) -> SkipReason {
        match self {
            Self::Busy { .. } => SkipReason::Busy,
            Self::Purged => SkipReason::Purged,
            Self::Lapped => SkipReason::Lapped,
            Self::TooLarge { .. } => SkipReason::TooLarge,
            Self::Interrupted => SkipReason::Interrupted,
            Self::OutOfService => SkipReason::OutOfService,
        }
    }
}

impl From<DiskError> for WriteError {
    fn from(error: DiskError) -> Self {
        match error {
            DiskError::OutOfService => Self::OutOfService,
            DiskError::Busy { waited_ms } => Self::Busy { waited_ms },
        }
    }
}

/// Why a body ends before its length. What came before the error is right; the rest is to be had
/// from the origin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The log came round to the fragment while the body was read.
    #[error("the log overwrote the body while it was read")]
    Overwritten,
    /// The fragment is not what was written.
    #[error("read {got:016x} where {expected:016x} was expected")]
    Corrupt {
        /// A checksum, sequence number or length as found.
        got: u64,
        /// The same as it should be.
        expected: u64,
    },
    /// The device failed.
    #[error("the device failed")]
    Io(#[from] io::Error),
}
