//! The name of an object: its full bytes, and a keyed hash of them.

use bytes::Bytes;
use twox_hash::XxHash3_128;

/// A full key with its hash.
///
/// The hash finds, the bytes decide: every tier compares the bytes before it answers, because
/// keys are chosen by clients and XXH3 resists no attacker, seeded or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    hash: u128,
    bytes: Bytes,
}

impl Key {
    /// Longest key, in bytes. Longer ones are not cacheable.
    pub const MAX_BYTES: usize = 64 << 10;

    /// Hashes `bytes` with the store's secret `seed`.
    pub fn new(bytes: Bytes, seed: u64) -> Self {
        let hash = XxHash3_128::oneshot_with_seed(seed, &bytes);
        Self { hash, bytes }
    }

    /// The 128-bit hash: the index, the shards and the policies use parts of it.
    pub fn hash(&self) -> u128 {
        self.hash
    }

    /// The full key.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}
