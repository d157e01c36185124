//! The two tiers as one store.

use std::sync::Arc;

use bytes::Bytes;

use crate::ram::{RamTier, Ticket};
use crate::{
    Key, Meta, Object, OpenError, RemoveError, StoreOptions, StoreStats, WriteError, Writer,
};

/// Objects by key, in memory and on flash. A clone is a handle to the same store.
pub struct Store<M: Meta> {
    ram: Arc<RamTier<M>>,
    seed: u64,
}

impl<M: Meta> Clone for Store<M> {
    fn clone(&self) -> Self {
        Self {
            ram: Arc::clone(&self.ram),
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
    /// Opens a store.
    ///
    /// # Errors
    /// None for memory alone.
    pub async fn open(options: StoreOptions) -> Result<Self, OpenError> {
        let seed = options.seed;
        Ok(Self {
            ram: Arc::new(RamTier::new(&options, seed)),
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

    /// Looks on flash.
    ///
    /// Cancel safety: dropping the future has no effect but that the answer is lost.
    pub async fn get_ssd(&self, _key: &Key) -> Option<Object<M>> {
        None
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
        Writer::new(Ticket::new(&self.ram, key), ram, self.seed)
    }

    /// Gives a stored object new metadata: a revalidation said that the body is still right.
    ///
    /// `object` is what a lookup of `key` gave; it is refreshed wherever that very version is.
    ///
    /// # Errors
    /// [`WriteError::NotStored`] if it is nowhere any more. Pass an `Arc` to keep the metadata.
    pub async fn update_meta(
        &self,
        key: &Key,
        meta: impl Into<Arc<M>>,
        object: &Object<M>,
    ) -> Result<Arc<M>, WriteError> {
        let meta = meta.into();
        let version = object.body.version();
        match version.is_some_and(|version| self.ram.refresh(key, version, &meta)) {
            true => Ok(meta),
            false => Err(WriteError::NotStored),
        }
    }

    /// Removes `key`, from memory at once and from flash durably before this returns. A writer
    /// of the key that is open stores nothing.
    pub async fn remove(&self, key: &Key) -> Result<Removed, RemoveError> {
        Ok(Removed {
            ram: self.ram.remove(key),
            ssd: false,
        })
    }

    /// Changes the budget of the RAM tier. Evicts what is too much before it returns, in slices:
    /// no lock is held for more than a fraction of a millisecond.
    pub fn set_ram_bytes(&self, bytes: u64) {
        self.ram.set_budget(bytes);
    }

    /// What the tiers did so far.
    pub fn stats(&self) -> StoreStats {
        StoreStats {
            ram: self.ram.stats(),
        }
    }

    /// Brings what was written to flash.
    pub async fn flush(&self) {}

    /// Brings what was written to flash and stops. Lookups still answer from memory.
    pub async fn close(&self) {}
}
