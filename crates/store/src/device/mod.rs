//! The seam to the disk: aligned reads and writes at an offset.
//!
//! Implementations: `UringDevice` (io_uring), [`PoolDevice`] (threads), [`MemDevice`] (the
//! in-memory twin), [`FaultDevice`] (the faulty twin, around any other). Each moves the buffer in
//! and gives it back, so that a dropped future never leaves the kernel writing into freed memory.
//! [`open_device`] picks one for a data file.

mod aligned;
mod error;
mod fault;
mod file;
mod front;
mod mem;
mod op;
mod open;
mod pool;
#[cfg(target_os = "linux")]
mod uring;

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

pub use aligned::AlignedBuf;
pub use error::DeviceOpenError;
pub use fault::{Effect, Fault, FaultCounts, FaultDevice, FaultError, FaultHandle, Target};
pub use file::{DataFile, FileOptions, open_data_file};
pub use mem::MemDevice;
pub use open::{Engine, open_device};
pub use pool::{POOL_THREADS, PoolDevice};
#[cfg(target_os = "linux")]
pub use uring::UringDevice;

/// The end of an I/O: the buffer comes back whatever happened.
pub type Completion = (AlignedBuf, io::Result<()>);

/// A started I/O. Dropping it abandons the result, not the I/O: the device keeps the buffer
/// until the kernel is done with it. (One that a full queue has not yet taken is dropped whole.)
pub type IoFuture = Pin<Box<dyn Future<Output = Completion> + Send>>;

/// A fixed-size array of bytes that is read and written in whole [`BLOCK_BYTES`].
///
/// Offsets and lengths are multiples of [`BLOCK_BYTES`] and within `len`; anything else is
/// answered with [`io::ErrorKind::InvalidInput`]. A short read or write is an error
/// ([`io::ErrorKind::UnexpectedEof`], [`io::ErrorKind::WriteZero`]). I/Os complete in any order.
/// The I/O is queued when the method is called, not when the future is first polled; only while
/// the device's queue is full does the future hold it, until it is polled and finds room.
pub trait Device: Send + Sync + 'static {
    /// Size in bytes.
    fn len_bytes(&self) -> u64;

    /// Fills the whole buffer from `offset`.
    fn read(&self, offset: u64, buf: AlignedBuf) -> IoFuture;

    /// Writes the whole buffer at `offset`.
    fn write(&self, offset: u64, buf: AlignedBuf) -> IoFuture;

    /// Makes all completed writes durable.
    fn sync(&self) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

    /// `uring`, `file`, `mem`, …: for the log and the metric.
    fn name(&self) -> &'static str;
}

impl<D: Device + ?Sized> Device for Arc<D> {
    fn len_bytes(&self) -> u64 {
        (**self).len_bytes()
    }

    fn read(&self, offset: u64, buf: AlignedBuf) -> IoFuture {
        (**self).read(offset, buf)
    }

    fn write(&self, offset: u64, buf: AlignedBuf) -> IoFuture {
        (**self).write(offset, buf)
    }

    fn sync(&self) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send>> {
        (**self).sync()
    }

    fn name(&self) -> &'static str {
        (**self).name()
    }
}

/// The unit of every I/O: O_DIRECT wants offset, length and address aligned, and no flash page
/// is smaller.
pub const BLOCK_BYTES: usize = 4096;

/// Refuses what O_DIRECT would refuse, with a sentence.
fn check_range(len_bytes: u64, offset: u64, buf: &AlignedBuf) -> io::Result<()> {
    let aligned =
        offset.is_multiple_of(BLOCK_BYTES as u64) && buf.len().is_multiple_of(BLOCK_BYTES);
    let end = offset.checked_add(buf.len() as u64);
    if !aligned || end.is_none_or(|e| e > len_bytes) {
        let what = format!(
            "I/O of {} bytes at {offset} on {len_bytes} bytes",
            buf.len()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    Ok(())
}
