//! The shards together.

use std::sync::Arc;

use crossbeam_utils::CachePadded;
use larder_admission::{Reject, SplitMix};
use parking_lot::{Mutex, MutexGuard};

use super::allowance::Allowance;
use super::shard::Shard;
use super::{Gather, RamPlan, RamStats};
use crate::version::Version;
use crate::{Key, Meta, Object, RamReject, RamShare, StoreOptions};

/// Objects in memory. Every method takes one shard's lock at a time, for a short time, and holds
/// none when it returns.
pub(crate) struct RamTier<M> {
    shards: Box<[CachePadded<Mutex<Shard<M>>>]>,
    object_bytes_max: u64,
    writing: Arc<Allowance>,
}

impl<M: Meta> RamTier<M> {
    pub(crate) fn new(options: &StoreOptions, seed: u64) -> Self {
        let plan = RamPlan::new(options.ram_bytes, options.ram_object_bytes_max);
        let shard = |number| {
            let policy = (options.ram_policy)(&RamShare {
                shard: number,
                shards: plan.shards,
                capacity_bytes: plan.shard_bytes,
                object_bytes_max: plan.object_bytes_max,
                seed,
            });
            let coins = SplitMix::stream(seed, number as u64);
            CachePadded::new(Mutex::new(Shard::new(policy, coins, plan.shard_bytes)))
        };
        Self {
            shards: (0..plan.shards).map(shard).collect(),
            object_bytes_max: plan.object_bytes_max,
            writing: Arc::new(Allowance::new(options.ram_bytes)),
        }
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Object<M>> {
        self.shard(key).get(key)
    }

    /// Begins to collect a body of about `body_bytes_hint`.
    pub(crate) fn gather(&self, body_bytes_hint: Option<u64>) -> Result<Gather, RamReject> {
        if body_bytes_hint.is_some_and(|hint| hint > self.object_bytes_max) {
            return Err(RamReject::Policy(Reject::TooLarge));
        }
        let allowance = Arc::clone(&self.writing);
        Ok(Gather::new(self.object_bytes_max, allowance))
    }

    /// Takes `key` out, and stops every write and flash lookup of it that is under way from
    /// bringing it back.
    pub(crate) fn remove(&self, key: &Key) -> bool {
        let mut shard = self.shard(key);
        shard.open.removed(key.hash());
        let gone = shard.take(key);
        shard.stats.removed += u64::from(gone.is_some());
        drop(shard);
        gone.is_some()
    }

    /// Gives the resident `version` of `key` new metadata, if it is that version.
    pub(crate) fn refresh(&self, key: &Key, version: Version, meta: &Arc<M>) -> bool {
        let mut gone = Vec::new();
        let mut shard = self.shard(key);
        // A flash lookup under way may have read the old metadata.
        shard.open.finished(key.hash());
        let refreshed = shard.refresh(key, version, meta, &mut gone);
        drop(shard);
        refreshed
    }

    /// Changes the budget; evicts until it is kept, [`SHRINK_SLICE`] objects under a lock.
    pub(crate) fn set_budget(&self, ram_bytes: u64) {
        self.writing.resize(ram_bytes);
        let budget_bytes = ram_bytes / self.shards.len() as u64;
        for shard in &self.shards {
            let mut kept = false;
            while !kept {
                let mut gone = Vec::new();
                let mut shard = shard.lock();
                shard.budget_bytes = budget_bytes;
                kept = shard.shrink(&mut gone, SHRINK_SLICE);
                drop(shard);
            }
        }
    }

    pub(crate) fn stats(&self) -> RamStats {
        let mut sum = RamStats::default();
        for shard in &self.shards {
            sum.add(&shard.lock().stats());
        }
        sum.writing_bytes = self.writing.held_bytes();
        sum
    }

    /// By the low bits of the hash's high half: the table has the low half, and samplers take keys
    /// by the top.
    pub(super) fn shard(&self, key: &Key) -> MutexGuard<'_, Shard<M>> {
        let number = (key.hash() >> 64) as usize & (self.shards.len() - 1);
        self.shards[number].lock()
    }
}

/// Objects that leave under one hold of a lock when the budget shrinks: some 50 µs.
const SHRINK_SLICE: usize = 256;
