//! From options to a running device: which engine, and why not the better one.

use std::sync::Arc;

use super::pool::{POOL_THREADS, PoolDevice};
use super::{DataFile, Device, DeviceOpenError, FileOptions, open_data_file};

/// How the data file is read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Engine {
    /// io_uring where the kernel allows it, the thread pool elsewhere.
    #[default]
    Auto,
    /// io_uring or an error.
    Uring,
    /// The thread pool.
    File,
}

impl Engine {
    /// Every engine, in the order of the documentation.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Uring, Self::File];

    /// Its name in the configuration; the two real ones are also [`Device::name`].
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Uring => "uring",
            Self::File => "file",
        }
    }
}

/// Opens the data file and starts an engine over it. [`Device::name`] tells which one it became;
/// the log tells why, and whether the page cache is in between.
///
/// Blocks like [`open_data_file`]. Dropping the last handle of the device finishes what is queued
/// and unlocks the file; it blocks until the kernel gives the running I/Os back.
///
/// # Errors
/// Those of [`open_data_file`]; [`DeviceOpenError::Uring`] only for [`Engine::Uring`].
pub fn open_device(
    options: &FileOptions,
    engine: Engine,
) -> Result<Arc<dyn Device>, DeviceOpenError> {
    let file = Arc::new(open_data_file(options)?);
    let device = start(&file, engine)?;
    tracing::info!(
        path = %file.path().display(),
        len_bytes = file.len_bytes(),
        engine = device.name(),
        direct = file.is_direct(),
        preallocated = file.is_preallocated(),
        "data file open"
    );
    Ok(device)
}

fn start(file: &Arc<DataFile>, engine: Engine) -> Result<Arc<dyn Device>, DeviceOpenError> {
    match engine {
        Engine::File => start_pool(file),
        Engine::Uring => start_uring(file),
        Engine::Auto => start_uring(file).or_else(|reason| {
            tracing::info!(%reason, "reading and writing by a pool of threads");
            start_pool(file)
        }),
    }
}

fn start_pool(file: &Arc<DataFile>) -> Result<Arc<dyn Device>, DeviceOpenError> {
    match PoolDevice::start(Arc::clone(file), POOL_THREADS) {
        Ok(pool) => Ok(Arc::new(pool)),
        Err(source) => Err(DeviceOpenError::Io {
            path: file.path().to_path_buf(),
            step: "start a thread",
            source,
        }),
    }
}

#[cfg(target_os = "linux")]
fn start_uring(file: &Arc<DataFile>) -> Result<Arc<dyn Device>, DeviceOpenError> {
    let device = super::UringDevice::start(Arc::clone(file))?;
    Ok(Arc::new(device))
}

#[cfg(not(target_os = "linux"))]
fn start_uring(_: &Arc<DataFile>) -> Result<Arc<dyn Device>, DeviceOpenError> {
    Err(DeviceOpenError::Uring {
        step: "look for the system call",
        source: std::io::ErrorKind::Unsupported.into(),
    })
}
