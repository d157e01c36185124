//! What the RAM tier counts.

use crate::RamReject;

/// A snapshot of the RAM tier. Counters start at 0 when the store opens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RamStats {
    /// Resident objects.
    pub objects: u64,
    /// What they are charged with.
    pub used_bytes: u64,
    /// What they may be charged with.
    pub budget_bytes: u64,
    /// Held by bodies that are still being written.
    pub writing_bytes: u64,
    /// Lookups that found something.
    pub hits: u64,
    /// Lookups that did not.
    pub misses: u64,
    /// Insertions.
    pub admitted: u64,
    /// Objects that left to make room.
    pub evicted: u64,
    /// What these were charged with.
    pub evicted_bytes: u64,
    /// Objects taken out by name.
    pub removed: u64,
    /// Objects that were not taken, by reason. Reasons that never came up are not listed.
    pub rejected: Vec<(RamReject, u64)>,
}

impl RamStats {
    pub(super) fn refused(&mut self, reject: RamReject, times: u64) {
        match self.rejected.iter_mut().find(|(is, _)| *is == reject) {
            Some((_, count)) => *count += times,
            None => self.rejected.push((reject, times)),
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.objects += other.objects;
        self.used_bytes += other.used_bytes;
        self.budget_bytes += other.budget_bytes;
        self.writing_bytes += other.writing_bytes;
        self.hits += other.hits;
        self.misses += other.misses;
        self.admitted += other.admitted;
        self.evicted += other.evicted;
        self.evicted_bytes += other.evicted_bytes;
        self.removed += other.removed;
        for &(reject, times) in &other.rejected {
            self.refused(reject, times);
        }
    }
}
