//! What the disk counts.

use std::sync::atomic::{AtomicU64, Ordering};

/// Why an object was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum MissReason {
    /// The index does not know it.
    Absent,
    /// The index does not know it yet: recovery is going on.
    Recovering,
    /// The index pointed to another key with the same tag: a read for nothing.
    FalseRead,
    /// The log came round to it.
    Overwritten,
    /// Its bytes are not those that were written; it was dropped.
    Corrupt,
    /// The device did not read it.
    ReadError,
    /// The device failed earlier, or the store was closed.
    OutOfService,
}

/// Why an object was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum SkipReason {
    /// The device was too slow.
    Busy,
    /// It was removed or replaced while it was written.
    Purged,
    /// The log overwrote its body before its head came.
    Lapped,
    /// It is larger than can be stored.
    TooLarge,
    /// Its writer was dropped in mid-write.
    Interrupted,
    /// The device failed earlier, or the store was closed.
    OutOfService,
}

/// Where recovery stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(usize)]
pub enum RecoveryState {
    /// Segments are being read, the newest first.
    #[default]
    Running,
    /// All that could be recovered was.
    Complete,
    /// A segment could not be read whole. What is older was forgotten: the segment may have held
    /// its removal.
    CutShort,
    /// The disk went out of service before.
    Abandoned,
}

/// A snapshot of all counters. Counters start at zero when the disk is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiskStats {
    /// Bytes of log.
    pub capacity_bytes: u64,
    /// Bytes of a segment.
    pub segment_bytes: u64,
    /// Slots of the index, used or not.
    pub index_slots: u64,
    /// Slots in use, overwritten objects included that no sweep has met yet.
    pub index_slots_used: u64,
    /// Objects found.
    pub hits: u64,
    /// Objects not found, by [`MissReason::ALL`].
    pub misses: [u64; MissReason::ALL.len()],
    /// Records or fragments whose bytes were not those written.
    pub corrupt: u64,
    /// Reads that the device failed.
    pub read_errors: u64,
    /// Objects stored, refreshes included.
    pub stored: u64,
    /// Heads written for bodies already stored.
    pub refreshed: u64,
    /// Objects not stored, by [`SkipReason::ALL`].
    pub skipped: [u64; SkipReason::ALL.len()],
    /// Tombstones written.
    pub tombstones: u64,
    /// Objects that gave way to another in their set, before the log came round to them.
    pub evicted: u64,
    /// Bytes of keys, metadata and bodies appended. Write amplification is `bytes_written` by this.
    pub bytes_appended: u64,
    /// Bytes given to the device.
    pub bytes_written: u64,
    /// Bytes taken from the device.
    pub bytes_read: u64,
    /// Segments begun.
    pub segments_written: u64,
    /// Times that the log came round, since it was formatted.
    pub laps: u64,
    /// Whether the device is in service.
    pub healthy: bool,
    /// Where recovery stands.
    pub recovery: RecoveryState,
    /// Segments that recovery has read.
    pub recovery_segments: u64,
    /// Segments that recovery has to read.
    pub recovery_segments_total: u64,
    /// Objects that recovery has put into the index.
    pub recovered: u64,
}

/// A counter on its own.
#[derive(Debug, Default)]
pub(super) struct Counter(AtomicU64);

/// The live counters.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) hits: Counter,
    pub(super) misses: [Counter; MissReason::ALL.len()],
    pub(super) corrupt: Counter,
    pub(super) read_errors: Counter,
    pub(super) stored: Counter,
    pub(super) refreshed: Counter,
    pub(super) skipped: [Counter; SkipReason::ALL.len()],
    pub(super) tombstones: Counter,
    pub(super) evicted: Counter,
    pub(super) bytes_appended: Counter,
    pub(super) bytes_written: Counter,
    pub(super) bytes_read: Counter,
    pub(super) segments_written: Counter,
    pub(super) newest_seq: Counter,
    pub(super) recovery_segments: Counter,
    pub(super) recovered: Counter,
}

impl MissReason {
    /// All, in the order of [`DiskStats::misses`].
    pub const ALL: [Self; 7] = [
        Self::Absent,
        Self::Recovering,
        Self::FalseRead,
        Self::Overwritten,
        Self::Corrupt,
        Self::ReadError,
        Self::OutOfService,
    ];

    /// The name that log, metric and header share.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Recovering => "recovering",
            Self::FalseRead => "false-read",
            Self::Overwritten => "overwritten",
            Self::Corrupt => "corrupt",
            Self::ReadError => "read-error",
            Self::OutOfService => "out-of-service",
        }
    }
}

impl SkipReason {
    /// All, in the order of [`DiskStats::skipped`].
    pub const ALL: [Self; 6] = [
        Self::Busy,
        Self::Purged,
        Self::Lapped,
        Self::TooLarge,
        Self::Interrupted,
        Self::OutOfService,
    ];

    /// The name that log, metric and header share.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Purged => "purged",
            Self::Lapped => "lapped",
            Self::TooLarge => "too-large",
            Self::Interrupted => "interrupted",
            Self::OutOfService => "out-of-service",
        }
    }
}

impl RecoveryState {
    /// The name that log, metric and header share.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Complete => "complete",
            Self::CutShort => "cut-short",
            Self::Abandoned => "abandoned",
        }
    }
}

impl DiskStats {
    /// Misses for one reason.
    pub fn missed(&self, reason: MissReason) -> u64 {
        self.misses[reason as usize]
    }

    /// Objects not stored for one reason.
    pub fn skipped_for(&self, reason: SkipReason) -> u64 {
        self.skipped[reason as usize]
    }
}

impl Counter {
    pub(super) fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    pub(super) fn set(&self, n: u64) {
        self.0.store(n, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    pub(super) fn missed(&self, reason: MissReason) {
        self.misses[reason as usize].add(1);
    }

    pub(super) fn skipped(&self, reason: SkipReason) {
        self.skipped[reason as usize].add(1);
    }

    /// All that is counted here; the rest of the snapshot is zero.
    pub(super) fn snapshot(&self) -> DiskStats {
        DiskStats {
            hits: self.hits.get(),
            misses: self.misses.each_ref().map(Counter::get),
            corrupt: self.corrupt.get(),
            read_errors: self.read_errors.get(),
            stored: self.stored.get(),
            refreshed: self.refreshed.get(),
            skipped: self.skipped.each_ref().map(Counter::get),
            tombstones: self.tombstones.get(),
            evicted: self.evicted.get(),
            bytes_appended: self.bytes_appended.get(),
            bytes_written: self.bytes_written.get(),
            bytes_read: self.bytes_read.get(),
            segments_written: self.segments_written.get(),
            recovery_segments: self.recovery_segments.get(),
            recovered: self.recovered.get(),
            ..DiskStats::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_under_their_own_name() {
        for (at, reason) in MissReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, at, "{}", reason.as_str());
        }
        for (at, reason) in SkipReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, at, "{}", reason.as_str());
        }
    }
}
