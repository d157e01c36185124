//! The SSD tier as the store uses it: typed metadata and versions around the disk's records.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Waker};

use bytes::Bytes;

use crate::disk::{Disk, DiskLookup, DiskStats, DiskWriter, WriteError};
use crate::version::Version;
use crate::{Body, Key, Meta, Object, OpenError, SsdOptions, SsdVerdict, Tier};

/// Objects on flash. The metadata of a record is [sealed](seal).
pub(crate) struct Ssd {
    pub(crate) disk: Disk,
    undecodable: AtomicU64,
}

impl Ssd {
    pub(crate) async fn open(options: SsdOptions) -> Result<Self, OpenError> {
        Ok(Self {
            disk: Disk::open(options.device, options.disk).await?,
            undecodable: AtomicU64::new(0),
        })
    }

    /// Looks `key` up. Metadata of another make is a miss, and counted.
    pub(crate) async fn get<M: Meta>(&self, key: &Key) -> Option<Object<M>> {
        let DiskLookup::Hit(found) = self.disk.get(key).await else {
            return None;
        };
        let Some((version, meta)) = unseal(&found.meta) else {
            self.undecodable.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        Some(Object {
            meta: Arc::new(meta),
            body: Body::from_disk(found.body).with_version(version),
            tier: Tier::Ssd,
        })
    }

    pub(crate) fn writer(&self, key: Key) -> SsdWriter {
        SsdWriter {
            writer: Ok(self.disk.writer(key.clone())),
            disk: self.disk.clone(),
            key,
        }
    }

    /// Gives `version` of `key` new metadata. `false` if flash has another one or none.
    pub(crate) async fn refresh<M: Meta>(
        &self,
        key: &Key,
        version: Version,
        meta: &M,
        body: &Body,
    ) -> Result<bool, WriteError> {
        let found = match body.on_disk() {
            Some(_) => None,
            None => self.get::<M>(key).await,
        };
        let body = found.as_ref().map_or(body, |object| &object.body);
        let Some(on_disk) = body.on_disk().filter(|_| body.version() == Some(version)) else {
            return Ok(false);
        };
        match self.disk.refresh(key, seal(version, meta), on_disk).await {
            Ok(()) => Ok(true),
            Err(WriteError::Purged) => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn stats(&self) -> (DiskStats, u64) {
        let undecodable = self.undecodable.load(Ordering::Relaxed);
        (self.disk.stats(), undecodable)
    }
}

/// The flash side of a [`Writer`](crate::Writer). Dropped before it is finished, it stores nothing.
pub(crate) struct SsdWriter {
    disk: Disk,
    key: Key,
    /// What it failed of, once it has.
    writer: Result<DiskWriter, SsdVerdict>,
}

impl SsdWriter {
    pub(crate) async fn write(&mut self, piece: Bytes) {
        if let Ok(writer) = &mut self.writer
            && let Err(error) = writer.write(piece).await
        {
            self.writer = Err(error.into());
        }
    }

    pub(crate) async fn finish<M: Meta>(self, version: Version, meta: &M) -> SsdVerdict {
        let verdict = match self.writer {
            Ok(writer) => match writer.finish(seal(version, meta)).await {
                Ok(()) => return SsdVerdict::Stored,
                Err(error) => error.into(),
            },
            Err(verdict) => verdict,
        };
        if verdict != SsdVerdict::Purged {
            forget(&self.disk, &self.key);
        }
        verdict
    }
}

/// Takes the key's older version out of the index, now that its newest could not be stored.
///
/// A removal does that when it is first polled, and leaves its tombstone in the log if there is
/// room. Nobody was promised that it lasts, so nobody waits for the flash.
fn forget(disk: &Disk, key: &Key) {
    let mut removal = pin!(disk.remove(key));
    let _ = removal
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
}

impl From<WriteError> for SsdVerdict {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Busy { .. } => Self::Busy,
            WriteError::Purged => Self::Purged,
            WriteError::Lapped => Self::Lapped,
            WriteError::TooLarge { .. } => Self::TooLarge,
            WriteError::Interrupted => Self::Interrupted,
            WriteError::OutOfService => Self::OutOfService,
        }
    }
}

/// The metadata of a record:
///
/// ```plain
/// 0        8
/// ┌────────┬──────────────────────┐
/// │version │ metadata, as encoded │
/// │  (LE)  │     by `Meta`        │
/// └────────┴──────────────────────┘
/// ```
fn seal<M: Meta>(version: Version, meta: &M) -> Bytes {
    let mut sealed = version.get().to_le_bytes().to_vec();
    meta.encode(&mut sealed);
    Bytes::from(sealed)
}

fn unseal<M: Meta>(sealed: &[u8]) -> Option<(Version, M)> {
    let (version, meta) = sealed.split_first_chunk()?;
    let version = Version::from_stored(u64::from_le_bytes(*version))?;
    Some((version, M::decode(meta)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_is_what_is_unsealed() {
        let mut version = Version::start(1);
        version.push(b"body");
        let meta = Bytes::from_static(b"meta");
        let sealed = seal(version, &meta);
        assert_eq!(unseal(&sealed), Some((version, meta)));
    }

    #[test]
    fn bytes_of_another_make_are_refused() {
        assert_eq!(unseal::<Bytes>(b""), None);
        assert_eq!(unseal::<Bytes>(b"7 bytes"), None);
        assert_eq!(unseal::<Bytes>(&[0; 20]), None, "no version is 0");
    }
}
