//! A resident object and what it costs.

use std::sync::Arc;

use bytes::Bytes;

use crate::{Body, Key, Meta, Object, Tier};

/// A resident object.
#[derive(Debug)]
pub(crate) struct Entry<M> {
    hash: u128,
    /// An exact copy: the caller's may be a slice of a whole request.
    key: Box<[u8]>,
    pub(super) meta: Arc<M>,
    pub(super) body: Body,
    /// What the budget is charged with.
    pub(super) charge_bytes: u64,
}

impl<M: Meta> Entry<M> {
    pub(super) fn new(key: &Key, meta: Arc<M>, body: Body) -> Self {
        let charge_bytes = charge_bytes(key.bytes().len(), meta.as_ref(), &body);
        Self {
            hash: key.hash(),
            key: key.bytes().as_ref().into(),
            meta,
            body,
            charge_bytes,
        }
    }

    pub(super) fn is(&self, key: &Key) -> bool {
        self.hash == key.hash() && *self.key == **key.bytes()
    }

    pub(super) fn hash(&self) -> u128 {
        self.hash
    }

    pub(super) fn key_bytes(&self) -> usize {
        self.key.len()
    }

    pub(super) fn object(&self) -> Object<M> {
        Object {
            meta: Arc::clone(&self.meta),
            body: self.body.clone(),
            tier: Tier::Ram,
        }
    }
}

/// Memory that an object takes, with what the allocator and the tables add:
///
/// | what | bytes |
/// |---|---|
/// | body | each piece as allocated, and [`PIECE_OVERHEAD_BYTES`] |
/// | metadata | `M` and what it points to, as allocated, in an `Arc` (two counters) |
/// | key | as allocated |
/// | the rest | [`ENTRY_OVERHEAD_BYTES`] and the entry itself |
///
/// `tests/ram_memory.rs` compares the sum with what a counting allocator saw.
pub(super) fn charge_bytes<M: Meta>(key_bytes: usize, meta: &M, body: &Body) -> u64 {
    let meta_bytes = allocated(size_of::<M>() + ARC_BYTES) + allocated(meta.weight_bytes());
    let fixed = size_of::<Entry<M>>() + ENTRY_OVERHEAD_BYTES;
    let parts = meta_bytes + allocated(key_bytes) + fixed + body.pieces() * PIECE_OVERHEAD_BYTES;
    body.len().saturating_add(parts as u64)
}

/// The size of the block that the allocator gives for `bytes`: glibc adds a header of 8 and
/// rounds to 16. Allocators with size classes round up more (by a tenth on average) and have no
/// header.
const fn allocated(bytes: usize) -> usize {
    match bytes {
        0 => 0,
        _ => (bytes + 8).next_multiple_of(16),
    }
}

/// Strong and weak count.
const ARC_BYTES: usize = 2 * size_of::<usize>();

/// Beside the bytes of a piece: its place in the list (`Bytes` and offset), the counter block
/// that a shared `Bytes` allocates, and half of the allocator's rounding (16 + 8).
const PIECE_OVERHEAD_BYTES: usize = size_of::<Bytes>() + 8 + allocated(24) + 24;

/// Per entry, beside the entry: 8 in the slab (its tag); 5 / (7/16) = 11.4, rounded to 12, for a
/// bucket of a hash table at its emptiest; 16 for the links of an LRU. The vectors behind slab
/// and links double, so that up to half is reserved but not touched: not counted.
const ENTRY_OVERHEAD_BYTES: usize = 8 + 12 + 16;
