//! What a store is opened with.

use std::fmt;
use std::sync::Arc;

use larder_admission::{Lru, Policy};

/// How to open a [`Store`](crate::Store).
#[derive(Clone)]
pub struct StoreOptions {
    /// Budget of the RAM tier: bodies, metadata, keys and what it takes to find them.
    pub ram_bytes: u64,
    /// Largest object that the RAM tier takes, everything included. `None`: as much as the
    /// budget allows without hurting the others, see [`RamPlan`](crate::RamPlan).
    pub ram_object_bytes_max: Option<u64>,
    /// Makes the RAM tier's policy, once per shard.
    pub ram_policy: MakePolicy,
    /// Secret of the key hash and source of all chance, when no SSD brings its own.
    pub seed: u64,
}

impl StoreOptions {
    /// Memory alone, LRU, seed 0.
    pub fn new(ram_bytes: u64) -> Self {
        Self {
            ram_bytes,
            ram_object_bytes_max: None,
            ram_policy: Arc::new(|share| {
                Box::new(Lru::new(share.capacity_bytes, share.object_bytes_max))
            }),
            seed: 0,
        }
    }
}

impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreOptions")
            .field("ram_bytes", &self.ram_bytes)
            .field("ram_object_bytes_max", &self.ram_object_bytes_max)
            .finish_non_exhaustive()
    }
}

/// Makes the policy of one shard.
pub type MakePolicy = Arc<dyn Fn(&RamShare) -> Box<dyn Policy> + Send + Sync>;

/// The part of the RAM tier that one policy runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RamShare {
    /// Number of the shard, from 0.
    pub shard: usize,
    /// How many there are.
    pub shards: usize,
    /// Budget of this one.
    pub capacity_bytes: u64,
    /// Largest object.
    pub object_bytes_max: u64,
    /// Of the store: chance that a policy draws for itself starts here and at `shard`.
    pub seed: u64,
}
