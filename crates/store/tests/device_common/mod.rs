//! The devices that every story is told on.
#![allow(
    dead_code,
    reason = "each test file compiles its own copy and uses a part"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use larder_store::device::{
    AlignedBuf, BLOCK_BYTES, Device, DeviceOpenError, Engine, FileOptions, MemDevice, open_device,
};
use tempfile::TempDir;

pub(crate) const BLOCK: u64 = BLOCK_BYTES as u64;

/// Runs the future to its end on this thread.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.build().expect("no runtime").block_on(future)
}

/// A buffer of one byte, repeated.
pub(crate) fn filled(blocks: usize, byte: u8) -> AlignedBuf {
    let mut buf = AlignedBuf::zeroed(blocks * BLOCK_BYTES);
    buf.fill(byte);
    buf
}

/// Options for a file in this directory.
pub(crate) fn options(dir: &Path, blocks: u64, direct: bool) -> FileOptions {
    FileOptions {
        path: dir.join("data"),
        len_bytes: blocks * BLOCK,
        direct,
    }
}

/// A disk and a memory filesystem, where there is one.
pub(crate) fn dirs() -> Vec<TempDir> {
    let memory = PathBuf::from("/dev/shm");
    let mut dirs = vec![tempfile::tempdir().expect("no temporary directory")];
    dirs.extend(tempfile::tempdir_in(memory).ok());
    dirs
}

/// Tells the story on a fresh device of each kind: memory, and each engine, with and without
/// O_DIRECT, on each filesystem.
pub(crate) fn on_each_device(blocks: u64, story: impl Fn(Arc<dyn Device>)) {
    story(Arc::new(MemDevice::new((blocks * BLOCK) as usize)));
    for engine in [Engine::File, Engine::Uring] {
        for direct in [true, false] {
            for dir in dirs() {
                let options = options(dir.path(), blocks, direct);
                match open_device(&options, engine) {
                    Err(error @ DeviceOpenError::Uring { .. }) => println!("skipped: {error}"),
                    opened => {
                        let device = opened.expect("open");
                        println!("{} on {}", device.name(), options.path.display());
                        story(device);
                    }
                }
            }
        }
    }
}
