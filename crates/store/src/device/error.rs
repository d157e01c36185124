//! Why a device could not be opened.

use std::io;
use std::path::PathBuf;

use super::BLOCK_BYTES;

/// Why a data file, or an engine over it, could not be opened.
///
/// Every variant names the path and the numbers that an operator needs to act.
#[derive(Debug, thiserror::Error)]
pub enum DeviceOpenError {
    /// Somebody else has the file: another process, or a mount of the block device.
    #[error("{path} is in use by another process or is mounted")]
    Locked {
        /// The data file.
        path: PathBuf,
    },
    /// The filesystem has no room for the whole file.
    #[error("{path} needs {len_bytes} bytes, its filesystem has {available_bytes} available")]
    NoSpace {
        /// The data file.
        path: PathBuf,
        /// The length that was asked for.
        len_bytes: u64,
        /// What this user may still allocate there.
        available_bytes: u64,
    },
    /// The filesystem is mounted read-only.
    #[error("{path} is on a read-only filesystem")]
    ReadOnly {
        /// The data file.
        path: PathBuf,
    },
    /// The process lacks the permission.
    #[error("{path}: permission to read and write denied")]
    Denied {
        /// The data file.
        path: PathBuf,
    },
    /// The file exists with another length. It is never resized: that would lose its contents.
    #[error(
        "{path} has {found_bytes} bytes and not {expected_bytes}: remove it or change the size"
    )]
    LengthDiffers {
        /// The data file.
        path: PathBuf,
        /// Its length.
        found_bytes: u64,
        /// The length that was asked for.
        expected_bytes: u64,
    },
    /// The block device is smaller than asked for.
    #[error("block device {path} has {found_bytes} bytes, fewer than {expected_bytes}")]
    TooSmall {
        /// The block device.
        path: PathBuf,
        /// Its size.
        found_bytes: u64,
        /// The size that was asked for.
        expected_bytes: u64,
    },
    /// The length asked for is zero or no whole number of blocks.
    #[error("{path}: a length of {len_bytes} bytes is not a positive multiple of {BLOCK_BYTES}")]
    BadLength {
        /// The data file.
        path: PathBuf,
        /// The length that was asked for.
        len_bytes: u64,
    },
    /// The path leads to a directory, a socket or the like.
    #[error("{path} is neither a regular file nor a block device")]
    NotStorage {
        /// What was named as the data file.
        path: PathBuf,
    },
    /// io_uring does not work here: an old kernel, seccomp, `kernel.io_uring_disabled`.
    #[error("io_uring is not available ({step}): {source}")]
    Uring {
        /// The step of the probe that failed.
        step: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// Anything else that the operating system refused.
    #[error("{path}: {step}: {source}")]
    Io {
        /// The data file.
        path: PathBuf,
        /// What was being done.
        step: &'static str,
        /// What the operating system said.
        source: io::Error,
    },
}
