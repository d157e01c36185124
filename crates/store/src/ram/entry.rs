//! A resident object and what it costs.

use std::sync::Arc;

use bytes::Bytes;

use crate::{Body, Key, Meta, Object, Tier};

/// A resident object.
#[derive(Debug)]
pub(crate) struct Entry<M> {
    /// The half of the key's hash that the table goes by.
    table_hash: u64,
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
            table_hash: table_hash(key),
            key: key.bytes().as_ref().into(),
            meta,
            body,
            charge_bytes,
        }
    }

    pub(super) fn is(&self, key: &Key) -> bool {
        self.table_hash == table_hash(key) && *self.key == **key.bytes()
    }

    pub(super) fn table_hash(&self) -> u64 {
        self.table_hash
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

/// The key is a hash already: the table takes its low half, the shard's number is in the other.
pub(super) fn table_hash(key: &Key) -> u64 {
    key.hash() as u64
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

/// Per entry, beside the entry: 5 / (7/16), some 12, for a bucket of a hash table at its emptiest,
/// and 16 for the links of an LRU. The slab adds nothing (the entry has a niche for its tag). Its
/// vector and that of the links double, so that up to half of them is reserved and not touched:
/// that is address space, not memory, and not counted.
const ENTRY_OVERHEAD_BYTES: usize = 12 + 16;
