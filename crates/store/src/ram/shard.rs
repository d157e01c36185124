//! One shard: a table, its entries, their policy and their budget.

use std::sync::Arc;

use hashbrown::HashTable;
use larder_admission::{Candidate, Policy, Reject, Slot, SplitMix, Verdict};
use slab::Slab;

use super::entry::{Entry, charge_bytes, table_hash};
use super::open::OpenKeys;
use super::stats::RamStats;
use crate::version::Version;
use crate::{Body, Key, Meta, Object, RamReject};

/// What the lock of a shard guards.
///
/// Whatever leaves is pushed onto the caller's `gone`, to be dropped when the lock is released:
/// freeing a large body takes longer than a hit.
pub(super) struct Shard<M> {
    table: HashTable<Slot>,
    entries: Slab<Entry<M>>,
    policy: Box<dyn Policy>,
    coins: SplitMix,
    /// Scratch of one insertion.
    victims: Vec<Slot>,
    used_bytes: u64,
    pub(super) budget_bytes: u64,
    pub(super) open: OpenKeys,
    pub(super) stats: RamStats,
}

impl<M: Meta> Shard<M> {
    pub(super) fn new(policy: Box<dyn Policy>, coins: SplitMix, budget_bytes: u64) -> Self {
        Self {
            table: HashTable::new(),
            entries: Slab::new(),
            policy,
            coins,
            victims: Vec::new(),
            used_bytes: 0,
            budget_bytes,
            open: OpenKeys::default(),
            stats: RamStats::default(),
        }
    }

    /// A request for `key`.
    pub(super) fn get(&mut self, key: &Key) -> Option<Object<M>> {
        let found = self.find(key);
        match found.and_then(|slot| Some((slot, self.entries.get(slot as usize)?))) {
            Some((slot, entry)) => {
                self.policy.hit(slot);
                self.stats.hits += 1;
                Some(entry.object())
            }
            None => {
                self.policy.miss(key.hash());
                self.stats.misses += 1;
                None
            }
        }
    }

    /// Stores `entry` in the place of whatever its key had, if the policy wants it. What the key
    /// had is gone in any case.
    pub(super) fn put(
        &mut self,
        key: &Key,
        entry: Entry<M>,
        gone: &mut Vec<Entry<M>>,
    ) -> Result<(), RamReject> {
        gone.extend(self.take(key));
        let candidate = Candidate {
            key: key.hash(),
            size: entry.charge_bytes,
        };
        if let Err(reject) = self.make_room(&candidate, gone) {
            gone.push(entry);
            return Err(self.refuse(RamReject::Policy(reject)));
        }
        let slot = self.entries.insert(entry) as Slot;
        self.table
            .insert_unique(table_hash(key), slot, rehash(&self.entries));
        self.policy.insert(slot, &candidate);
        self.used_bytes += candidate.size;
        self.stats.admitted += 1;
        Ok(())
    }

    fn make_room(&mut self, candidate: &Candidate, gone: &mut Vec<Entry<M>>) -> Result<(), Reject> {
        if candidate.size > self.budget_bytes {
            return Err(Reject::TooLarge);
        }
        let free = self.budget_bytes.saturating_sub(self.used_bytes);
        self.victims.clear();
        let verdict = self
            .policy
            .admit(candidate, free, &mut self.coins, &mut self.victims);
        if let Verdict::Reject(reject) = verdict {
            return Err(reject);
        }
        let victims = std::mem::take(&mut self.victims);
        gone.reserve(victims.len() + 1);
        for &slot in &victims {
            gone.extend(self.evict(slot));
        }
        self.victims = victims;
        // The budget is kept whatever a policy says, and slots never run out of numbers.
        let fits = self.used_bytes + candidate.size <= self.budget_bytes;
        if fits && self.entries.len() < SLOTS_MAX {
            Ok(())
        } else {
            Err(Reject::NoRoom)
        }
    }

    /// Takes out whatever `key` has.
    pub(super) fn take(&mut self, key: &Key) -> Option<Entry<M>> {
        let slot = self.find(key)?;
        self.vacate(slot)
    }

    /// Gives the resident `version` of `key` new metadata. `false` if another one or none is here.
    pub(super) fn refresh(
        &mut self,
        key: &Key,
        version: Version,
        meta: &Arc<M>,
        gone: &mut Vec<Entry<M>>,
    ) -> bool {
        let Some((slot, entry)) = self.resident(key, version) else {
            return false;
        };
        let old_bytes = entry.charge_bytes;
        let size = charge_bytes(entry.key_bytes(), meta.as_ref(), &entry.body);
        entry.meta = Arc::clone(meta);
        entry.charge_bytes = size;
        self.used_bytes = self.used_bytes - old_bytes + size;
        if size != old_bytes {
            let key = key.hash();
            self.policy.resize(slot, &Candidate { key, size });
            self.shrink(gone, usize::MAX);
        }
        true
    }

    /// Puts an equal body in the place of the resident `version` of `key`, and gives that back.
    pub(super) fn swap_body(&mut self, key: &Key, version: Version, body: Body) -> Option<Body> {
        let (_, entry) = self.resident(key, version)?;
        Some(std::mem::replace(&mut entry.body, body))
    }

    /// Is this version of `key` here?
    pub(super) fn holds(&mut self, key: &Key, version: Version) -> bool {
        self.resident(key, version).is_some()
    }

    /// Evicts until the budget is kept, at most `victims_max`. `true` when it is.
    pub(super) fn shrink(&mut self, gone: &mut Vec<Entry<M>>, victims_max: usize) -> bool {
        for _ in 0..victims_max {
            if self.used_bytes <= self.budget_bytes {
                return true;
            }
            let Some(slot) = self.policy.victim(&mut self.coins) else {
                return true;
            };
            gone.extend(self.evict(slot));
        }
        self.used_bytes <= self.budget_bytes
    }

    /// Counts a refusal.
    pub(super) fn refuse(&mut self, reject: RamReject) -> RamReject {
        self.stats.refused(reject, 1);
        reject
    }

    pub(super) fn stats(&self) -> RamStats {
        RamStats {
            objects: self.entries.len() as u64,
            used_bytes: self.used_bytes,
            budget_bytes: self.budget_bytes,
            ..self.stats.clone()
        }
    }

    fn find(&self, key: &Key) -> Option<Slot> {
        let is = |&slot: &Slot| self.entries.get(slot as usize).is_some_and(|e| e.is(key));
        self.table.find(table_hash(key), is).copied()
    }

    fn resident(&mut self, key: &Key, version: Version) -> Option<(Slot, &mut Entry<M>)> {
        let slot = self.find(key)?;
        let entry = self.entries.get_mut(slot as usize)?;
        (entry.body.version() == Some(version)).then_some((slot, entry))
    }

    fn evict(&mut self, slot: Slot) -> Option<Entry<M>> {
        let entry = self.vacate(slot)?;
        self.stats.evicted += 1;
        self.stats.evicted_bytes += entry.charge_bytes;
        Some(entry)
    }

    fn vacate(&mut self, slot: Slot) -> Option<Entry<M>> {
        let entry = self.entries.try_remove(slot as usize)?;
        let place = self
            .table
            .find_entry(entry.table_hash(), |&other| other == slot);
        if let Ok(place) = place {
            place.remove();
        }
        self.policy.remove(slot);
        self.used_bytes -= entry.charge_bytes;
        Some(entry)
    }
}

fn rehash<M: Meta>(entries: &Slab<Entry<M>>) -> impl Fn(&Slot) -> u64 {
    |&slot| entries.get(slot as usize).map_or(0, Entry::table_hash)
}

/// A policy numbers slots by `u32` and may need a number or two for itself. No real budget gets
/// here: a shard of so many entries has at least 500 GiB.
const SLOTS_MAX: usize = (u32::MAX - 2) as usize;
