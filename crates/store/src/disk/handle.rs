//! The disk as its user sees it.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use super::body::DiskBody;
use super::core::Core;
use super::lookup::{self, DiskLookup};
use super::stats::{DiskStats, RecoveryState};
use super::writer::{self, DiskWriter};
use super::{DiskError, DiskOptions, OpenError, WriteError, flusher, open, recover, remove};
use crate::Key;
use crate::device::Device;

/// An SSD tier on one device. Cheap to clone.
///
/// When the last clone is dropped, its tasks end, and what was not written is lost, as in a crash:
/// [`close`](Self::close) it before.
#[derive(Clone)]
pub struct Disk {
    handle: Arc<Handle>,
}

struct Handle {
    core: Arc<Core>,
}

impl Disk {
    /// Opens a device, and formats it if its first mebibyte is all zero; wipes nothing, ever.
    ///
    /// Returns once all segment headers are read. The index fills in the background, newest
    /// objects first. Must be called in a tokio runtime with time; not cancel safe while it
    /// formats, but then the next call formats again.
    pub async fn open(device: Arc<dyn Device>, options: DiskOptions) -> Result<Self, OpenError> {
        let core = Arc::new(open::open(device, &options).await?);
        tokio::spawn(flusher::run(Arc::clone(&core), options.flush_after));
        if core.recovery.is_running() {
            core.index.begin_recovery();
            tokio::spawn(recover::run(Arc::clone(&core)));
        }
        Ok(Self {
            handle: Arc::new(Handle { core }),
        })
    }

    /// The seed that keys must be hashed with, from the superblock.
    pub fn seed(&self) -> u64 {
        self.core().seed
    }

    /// Longest body that can be stored, in bytes.
    pub fn body_bytes_max(&self) -> u64 {
        self.core().geometry.body_bytes_max()
    }

    /// Looks a key up. Of an object of up to 256 KiB the body comes along; one read either way.
    /// Cancel safe.
    pub async fn get(&self, key: &Key) -> DiskLookup {
        lookup::get(self.core(), key).await
    }

    /// Begins to store an object. Never fails: [`DiskWriter::write`] does.
    pub fn writer(&self, key: Key) -> DiskWriter {
        DiskWriter::new(Arc::clone(self.core()), key)
    }

    /// Replaces an object's metadata. A body in fragments stays where it is, and so does its age
    /// in the log; a small one is written again.
    ///
    /// # Errors
    /// [`WriteError::Purged`] if the object that `body` came from was removed, replaced or evicted.
    pub async fn refresh(&self, key: &Key, meta: Bytes, body: &DiskBody) -> Result<(), WriteError> {
        writer::refresh(self.core(), key, &meta, body).await
    }

    /// Removes a key: from the index at once, from all open writers of that key, and for every
    /// restart to come before this returns. True if the index knew the key. Concurrent removals
    /// share one write. Dropped half-way, the removal may or may not last over a restart.
    ///
    /// # Errors
    /// The key is removed for this life, but not for the next.
    pub async fn remove(&self, key: &Key) -> Result<bool, DiskError> {
        remove::remove(self.core(), key).await
    }

    /// Makes durable all that was stored before the call. Cancel safe.
    pub async fn flush(&self) -> Result<(), DiskError> {
        self.core().log.flush().await
    }

    /// Writes what is left, with the footer that makes the next start quick, and goes out of
    /// service for all clones.
    pub async fn close(&self) -> Result<(), DiskError> {
        if !self.is_healthy() {
            return Err(DiskError::OutOfService);
        }
        self.core().log.lock().seal();
        let flushed = self.flush().await;
        self.core().retire();
        flushed
    }

    /// A snapshot of all counters.
    pub fn stats(&self) -> DiskStats {
        self.core().stats()
    }

    /// Whether the index is still being filled from what the device holds.
    pub fn is_recovering(&self) -> bool {
        self.core().recovery.is_running()
    }

    /// Waits for the end of recovery, and says how it ended. Cancel safe.
    pub async fn recovered(&self) -> RecoveryState {
        self.core().recovery.ended().await
    }

    /// Whether the disk is in service: false after a failure of the device, and once closed.
    pub fn is_healthy(&self) -> bool {
        self.core().health.is_healthy()
    }

    fn core(&self) -> &Arc<Core> {
        &self.handle.core
    }
}

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disk")
            .field("device", &self.core().device.name())
            .field("geometry", &self.core().geometry)
            .field("healthy", &self.is_healthy())
            .finish_non_exhaustive()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.core.log.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sends<T: Send>(_: &T) {}

    #[tokio::test]
    async fn all_futures_may_change_threads() {
        let device = Arc::new(crate::device::MemDevice::new(9 << 20));
        sends(&Disk::open(device.clone(), DiskOptions::default()));
        let disk = Disk::open(device, DiskOptions::default()).await.unwrap();
        let key = Key::new(Bytes::new(), 0);
        sends(&disk.get(&key));
        sends(&disk.remove(&key));
        sends(&disk.flush());
        sends(&disk.close());
        let mut writer = disk.writer(key.clone());
        sends(&writer.write(Bytes::new()));
        sends(&writer.finish(Bytes::new()));
        disk.writer(key.clone()).finish(Bytes::new()).await.unwrap();
        let DiskLookup::Hit(found) = disk.get(&key).await else {
            panic!("just stored");
        };
        sends(&disk.refresh(&key, Bytes::new(), &found.body));
        sends(&found.body.read(0..1));
        sends(&found);
    }
}
