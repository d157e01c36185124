//! The data file: create or open it, give it its length, and own it alone.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, OFlags};
use rustix::io::Errno;

use super::{AlignedBuf, BLOCK_BYTES, DeviceOpenError};

/// The unit of `st_blocks` (stat(2)), whatever the filesystem's own.
const STAT_BLOCK_BYTES: u64 = 512;

/// Which file, how long, and whether to pass by the page cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOptions {
    /// A regular file (created when absent) or a raw block device.
    pub path: PathBuf,
    /// Length in bytes: a positive multiple of [`BLOCK_BYTES`]. A block device may be larger;
    /// what is beyond stays untouched.
    pub len_bytes: u64,
    /// Ask for O_DIRECT. A filesystem that refuses it is used through the page cache.
    pub direct: bool,
}

/// An open data file of a fixed length, locked against every other user until it is dropped.
#[derive(Debug)]
pub struct DataFile {
    pub(super) file: File,
    path: PathBuf,
    len_bytes: u64,
    direct: bool,
    preallocated: bool,
}

impl DataFile {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its length in bytes.
    pub fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    /// Whether I/O passes by the page cache; false when the filesystem refused.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// Whether its blocks are reserved; false when the filesystem cannot reserve any, so that a
    /// later write may meet ENOSPC.
    pub fn is_preallocated(&self) -> bool {
        self.preallocated
    }
}

/// Creates or opens the data file, locks it and reserves its blocks.
///
/// An existing file keeps its contents and must have the length asked for; an empty one counts as
/// new. A file that could not be preallocated is left empty, so that a smaller length may follow.
/// Blocks on the filesystem: call it at start, not from a task that serves requests.
///
/// # Errors
/// One [`DeviceOpenError`] for each cause that an operator can act on.
pub fn open_data_file(options: &FileOptions) -> Result<DataFile, DeviceOpenError> {
    let FileOptions {
        path, len_bytes, ..
    } = options;
    if *len_bytes == 0 || !len_bytes.is_multiple_of(BLOCK_BYTES as u64) {
        return Err(DeviceOpenError::BadLength {
            path: path.clone(),
            len_bytes: *len_bytes,
        });
    }
    let kind = Kind::of(path)?;
    let mut file = open(path, kind)?;
    lock(&file, path)?;
    let preallocated = match kind {
        Kind::Regular => size_regular(&file, path, *len_bytes)?,
        Kind::Block => check_block(&mut file, path, *len_bytes)?,
    };
    Ok(DataFile {
        direct: options.direct && set_direct(&file, path)?,
        file,
        path: path.clone(),
        len_bytes: *len_bytes,
        preallocated,
    })
}

/// What the path leads to, symbolic links followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A regular file, or nothing yet.
    Regular,
    Block,
}

impl Kind {
    fn of(path: &Path) -> Result<Self, DeviceOpenError> {
        match std::fs::metadata(path) {
            Ok(meta) if meta.file_type().is_file() => Ok(Self::Regular),
            Ok(meta) if meta.file_type().is_block_device() => Ok(Self::Block),
            Ok(_) => Err(DeviceOpenError::NotStorage { path: path.into() }),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Self::Regular),
            Err(e) => Err(os_error(path, "stat", e)),
        }
    }
}

fn open(path: &Path, kind: Kind) -> Result<File, DeviceOpenError> {
    let mut options = OpenOptions::new();
    // Cached answers may be private: nobody else on the machine reads them.
    options.read(true).write(true).mode(0o600);
    match kind {
        Kind::Regular => options.create(true).truncate(false),
        // On a block device O_EXCL asks for sole use: a mounted one answers EBUSY (open(2)).
        Kind::Block => options.custom_flags(OFlags::EXCL.bits().cast_signed()),
    };
    options.open(path).map_err(|e| os_error(path, "open", e))
}

/// flock(2) belongs to the open file: it ends with the last descriptor, however the process ends.
fn lock(file: &File, path: &Path) -> Result<(), DeviceOpenError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(DeviceOpenError::Locked { path: path.into() }),
        Err(TryLockError::Error(e)) => Err(os_error(path, "lock", e)),
    }
}

/// Gives a new file its length and checks an old one's. Says whether its blocks are reserved.
fn size_regular(file: &File, path: &Path, len_bytes: u64) -> Result<bool, DeviceOpenError> {
    let meta = file.metadata().map_err(|e| os_error(path, "stat", e))?;
    if meta.len() != 0 && meta.len() != len_bytes {
        return Err(DeviceOpenError::LengthDiffers {
            path: path.into(),
            found_bytes: meta.len(),
            expected_bytes: len_bytes,
        });
    }
    let no_space = |available_bytes| DeviceOpenError::NoSpace {
        path: path.into(),
        len_bytes,
        available_bytes,
    };
    // Asked first: an allocation that fails half-way would have filled the disk for everybody.
    let missing_bytes = len_bytes.saturating_sub(meta.blocks().saturating_mul(STAT_BLOCK_BYTES));
    if let Some(available_bytes) = available_bytes(file).filter(|&a| a < missing_bytes) {
        return Err(no_space(available_bytes));
    }
    let reserve = || rustix::fs::fallocate(file, FallocateFlags::empty(), 0, len_bytes);
    let error = match rustix::io::retry_on_intr(reserve) {
        Ok(()) => return Ok(true),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
            let resized = file.set_len(len_bytes);
            return resized
                .map_err(|e| os_error(path, "set the length", e))
                .map(|()| false);
        }
        Err(Errno::NOSPC | Errno::DQUOT) => no_space(available_bytes(file).unwrap_or(0)),
        Err(errno) => os_error(path, "preallocate", errno.into()),
    };
    if meta.len() == 0 {
        // Give back what was reserved before the failure. The first error is the story.
        let _ = file.set_len(0);
    }
    Err(error)
}

fn check_block(file: &mut File, path: &Path, len_bytes: u64) -> Result<bool, DeviceOpenError> {
    let end = file.seek(SeekFrom::End(0));
    let found_bytes = end.map_err(|e| os_error(path, "size", e))?;
    if found_bytes < len_bytes {
        return Err(DeviceOpenError::TooSmall {
            path: path.into(),
            found_bytes,
            expected_bytes: len_bytes,
        });
    }
    Ok(true)
}

/// Turns O_DIRECT on where it works, before any I/O went through the page cache: the two never mix.
///
/// A filesystem may refuse the flag, or take it and refuse the I/O; the first block is read to know.
fn set_direct(file: &File, path: &Path) -> Result<bool, DeviceOpenError> {
    let failed = |e: Errno| os_error(path, "O_DIRECT", e.into());
    let flags = rustix::fs::fcntl_getfl(file).map_err(failed)?;
    match rustix::fs::fcntl_setfl(file, flags | OFlags::DIRECT) {
        Ok(()) => {}
        Err(Errno::INVAL) => return Ok(false),
        Err(other) => return Err(failed(other)),
    }
    let invalid = Some(Errno::INVAL.raw_os_error());
    match file.read_exact_at(&mut AlignedBuf::zeroed(BLOCK_BYTES), 0) {
        Ok(()) => Ok(true),
        Err(e) if e.raw_os_error() == invalid => {
            let cleared = rustix::fs::fcntl_setfl(file, flags);
            cleared.map_err(failed).map(|()| false)
        }
        Err(e) => Err(os_error(path, "read the first block", e)),
    }
}

/// What the filesystem would still give this user, if it says: one without a size (ramfs) does not.
fn available_bytes(file: &File) -> Option<u64> {
    let stat = rustix::fs::fstatvfs(file).ok()?;
    (stat.f_blocks > 0).then(|| stat.f_bavail.saturating_mul(stat.f_frsize))
}

fn os_error(path: &Path, step: &'static str, source: io::Error) -> DeviceOpenError {
    let path = path.to_path_buf();
    match source.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::ACCESS | Errno::PERM) => DeviceOpenError::Denied { path },
        Some(Errno::ROFS) => DeviceOpenError::ReadOnly { path },
        Some(Errno::BUSY) => DeviceOpenError::Locked { path },
        _ => DeviceOpenError::Io { path, step, source },
    }
}
