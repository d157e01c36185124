//! The two tiers as one store.

use std::sync::Arc;

use bytes::Bytes;

use crate::ram::{RamTier, Ticket};
use crate::ssd::Ssd;
use crate::{
    Key, Meta, Object, OpenError, RemoveError, StoreOptions, StoreStats, UpdateError, Writer,
};

/// Objects by key, in memory and on flash. A clone is a handle to the same store.
///
/// ```plain
/// get     RAM ─► SSD ─► miss          what the SSD reads whole is offered to the RAM
/// write   SSD ─► RAM                  so that the RAM never has what the SSD has replaced
/// remove  RAM ─► SSD ─► RAM           so that no lookup in between brings it back
/// ```
pub struct Store<M: Meta> {
    ram: Arc<RamTier<M>>,
    ssd: Option<Arc<Ssd>>,
    seed: u64,
}

impl<M: Meta> Clone for Store<M> {
    fn clone(&self) -> Self {
        Self {
            ram: Arc::clone(&self.ram),
            ssd: self.ssd.clone(),
            seed: self.seed,
        }
    }
}

/// Where a removed object was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// In memory.
    pub ram: bool,
    /// On flash.
    pub ssd: bool,
}

impl<M: Meta> Store<M> {
    /// Opens a store; a blank device is formatted. With an SSD, inside of a tokio runtime.
    ///
    /// # Errors
    /// What the device is or holds is not for us. Memory alone always opens.
    pub async fn open(mut options: StoreOptions) -> Result<Self, OpenError> {
        let ssd = match options.ssd.take() {
            Some(ssd) => Some(Arc::new(Ssd::open(ssd).await?)),
            None => None,
        };
        let seed = ssd.as_ref().map_or(options.seed, |ssd| ssd.disk.seed());
        Ok(Self {
            ram: Arc::new(RamTier::new(&options, seed)),
            ssd,
            seed,
        })
    }

    /// The key with these bytes. Keys of one store mean nothing to another.
    pub fn key(&self, bytes: Bytes) -> Key {
        Key::new(bytes, self.seed)
    }

    /// Looks in memory: O(1), one short lock, nothing is copied but references.
    pub fn get_ram(&self, key: &Key) -> Option<Object<M>> {
        self.ram.get(key)
    }

    /// Looks on flash. A body that came whole with its head is offered to memory.
    ///
    /// Cancel safety: dropping the future has no effect but that the answer is lost.
    pub async fn get_ssd(&self, key: &Key) -> Option<Object<M>> {
        let ssd = self.ssd.as_ref()?;
        let ticket = Ticket::new(&self.ram, key.clone());
        let object = ssd.get(key).await?;
        if object.body.as_single().is_some() {
            ticket.offer(Arc::clone(&object.meta), &object.body);
        }
        Some(object)
    }

    /// Looks in memory, then on flash.
    pub async fn get(&self, key: &Key) -> Option<Object<M>> {
        match self.get_ram(key) {
            Some(object) => Some(object),
            None => self.get_ssd(key).await,
        }
    }

    /// Begins to store an object under `key`. A body of more than `body_bytes_hint` bytes is fine:
    /// the hint only spares collecting what cannot be kept.
    pub fn writer(&self, key: Key, body_bytes_hint: Option<u64>) -> Writer<M> {
        let ram = self.ram.gather(body_bytes_hint);
        let ssd = self.ssd.as_ref().map(|ssd| ssd.writer(key.clone()));
        Writer::new(Ticket::new(&self.ram, key), self.seed, ram, ssd)
    }

    /// Gives a stored object new metadata: a revalidation said that the body is still right.
    ///
    /// `object` is what a lookup of `key` gave; it is refreshed wherever that very version is.
    ///
    /// # Errors
    /// [`UpdateError::NotStored`] if it is nowhere any more, [`UpdateError::Ssd`] if flash alone has
    /// it and did not take the metadata. Pass an `Arc` to keep that in any case.
    pub async fn update_meta(
        &self,
        key: &Key,
        meta: impl Into<Arc<M>>,
        object: &Object<M>,
    ) -> Result<Arc<M>, UpdateError> {
        let meta = meta.into();
        let version = object.body.version().ok_or(UpdateError::NotStored)?;
        let on_ssd = match &self.ssd {
            Some(ssd) => {
                let refresh = ssd.refresh(key, version, meta.as_ref(), &object.body);
                refresh.await
            }
            None => Ok(false),
        };
        let in_ram = self.ram.refresh(key, version, &meta);
        match in_ram || on_ssd? {
            true => Ok(meta),
            false => Err(UpdateError::NotStored),
        }
    }

    /// Removes `key`, from memory at once and from flash durably before this returns. A writer
    /// of the key that is open stores nothing.
    ///
    /// Cancel safety: dropping the future leaves the key removed or not; call it again.
    ///
    /// # Errors
    /// Flash could not note it: nothing finds the object now, but a restart might.
    pub async fn remove(&self, key: &Key) -> Result<Removed, RemoveError> {
        let mut ram = self.ram.remove(key);
        let Some(ssd) = &self.ssd else {
            return Ok(Removed { ram, ssd: false });
        };
        let removed = ssd.disk.remove(key).await;
        // A lookup may have read the object before flash forgot it, and offered it since.
        ram |= self.ram.remove(key);
        Ok(Removed { ram, ssd: removed? })
    }

    /// Changes the budget of the RAM tier. Evicts what is too much before it returns, in slices:
    /// no lock is held for more than a fraction of a millisecond.
    pub fn set_ram_bytes(&self, bytes: u64) {
        self.ram.set_budget(bytes);
    }

    /// What the tiers did so far.
    pub fn stats(&self) -> StoreStats {
        let ssd = self.ssd.as_ref().map(|ssd| ssd.stats());
        StoreStats {
            ram: self.ram.stats(),
            undecodable: ssd.as_ref().map_or(0, |(_, undecodable)| *undecodable),
            ssd: ssd.map(|(disk, _)| disk),
        }
    }

    /// Makes durable what was stored before the call. A flash that fails says so in
    /// [`stats`](Self::stats).
    pub async fn flush(&self) {
        if let Some(ssd) = &self.ssd {
            let _ = ssd.disk.flush().await;
        }
    }

    /// Makes durable what was stored, and takes flash out of service. Memory still answers.
    pub async fn close(&self) {
        if let Some(ssd) = &self.ssd {
            let _ = ssd.disk.close().await;
        }
    }
}
