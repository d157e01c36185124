//! What every part of an open disk shares.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::format::{Geometry, Position, Record};
use super::health::Health;
use super::index::{Index, Inserted, Place, SizeClass};
use super::log::{Log, TailGuard};
use super::open_writers::OpenWriters;
use super::recover::Recovery;
use super::segments::Segments;
use super::stats::{Counters, DiskStats};
use super::tail::{Appended, Tail};
use crate::device::Device;

/// How long an object waits for room before it is not stored. Longer than any pause of a healthy
/// drive, shorter than what a client would notice.
pub(super) const WRITE_PATIENCE: Duration = Duration::from_millis(50);

/// An open disk.
pub(super) struct Core {
    pub(super) device: Arc<dyn Device>,
    pub(super) geometry: Geometry,
    pub(super) seed: u64,
    pub(super) segments: Segments,
    pub(super) index: Index,
    pub(super) log: Log,
    pub(super) writers: OpenWriters,
    pub(super) health: Health,
    pub(super) counters: Counters,
    pub(super) recovery: Recovery,
    /// First sequence number of this life; with a count, the name of a fragmented object.
    first_seq: u64,
    objects: AtomicU64,
}

/// What opening a disk finds out.
pub(super) struct CoreParts {
    pub(super) device: Arc<dyn Device>,
    pub(super) geometry: Geometry,
    pub(super) seed: u64,
    pub(super) run_bytes: usize,
    pub(super) index_sets: usize,
    pub(super) seqs: Vec<u64>,
    pub(super) first_seq: u64,
    pub(super) recovery: Recovery,
}

impl Core {
    pub(super) fn new(parts: CoreParts) -> Self {
        let CoreParts {
            device,
            geometry,
            seed,
            first_seq,
            ..
        } = parts;
        let tail = Tail::new(geometry, seed, parts.run_bytes, first_seq);
        let counters = Counters::default();
        counters.newest_seq.set(first_seq.saturating_sub(1));
        Self {
            device,
            geometry,
            seed,
            segments: Segments::new(geometry, parts.seqs),
            index: Index::new(parts.index_sets),
            log: Log::new(tail),
            writers: OpenWriters::default(),
            health: Health::default(),
            counters,
            recovery: parts.recovery,
            first_seq,
            objects: AtomicU64::new(0),
        }
    }

    /// Takes the disk out of service after a failure of the device.
    pub(super) fn fail(&self, what: &'static str, error: &io::Error) {
        self.health.fail(self.device.name(), what, error);
        self.log.stop();
    }

    /// Takes the disk out of service on purpose.
    pub(super) fn retire(&self) {
        self.health.retire();
        self.log.stop();
    }

    /// A name for a fragmented object: no other life begins with the same segment, because that
    /// segment's header is durable before any record of it is written.
    pub(super) fn next_object_id(&self) -> u128 {
        let count = self.objects.fetch_add(1, Ordering::Relaxed);
        u128::from(self.first_seq) << 64 | u128::from(count)
    }

    /// Appends a record to the log, in a new segment if need be. `None` if no segment could hold
    /// it; the bounds on keys, metadata and bodies keep that from happening.
    pub(super) fn append(&self, tail: &mut TailGuard<'_>, record: &Record<'_>) -> Option<Appended> {
        if !tail.fits_segment(record) {
            let seq = tail.begin_segment();
            self.segments.begin(seq);
            self.counters.newest_seq.set(seq);
            let (part, parts) = (
                self.geometry.segment_of_seq(seq),
                self.geometry.segments as usize,
            );
            self.index.sweep(part, parts, |place| self.is_live(place));
        }
        let appended = tail.append(record)?;
        let payload_bytes: usize = record.parts().iter().map(|part| part.len()).sum();
        self.counters.bytes_appended.add(payload_bytes as u64);
        Some(appended)
    }

    /// Appends a head and puts it into the index: the object is findable from here on.
    pub(super) fn commit(&self, tail: &mut TailGuard<'_>, record: &Record<'_>) -> Option<Place> {
        let appended = self.append(tail, record)?;
        let place = Place {
            position: appended.position.0,
            generation: self.geometry.generation(appended.seq),
            class: SizeClass::of(record.bytes() as u64),
        };
        let inserted = self
            .index
            .insert(record.hash, place, |place| self.is_live(place));
        if inserted == Inserted::Evicted {
            self.counters.evicted.add(1);
        }
        self.counters.stored.add(1);
        Some(place)
    }

    pub(super) fn is_live(&self, place: Place) -> bool {
        self.segments.is_live(place)
    }

    /// Where a position is on the line of segment `seq`, and how many bytes its segment still has.
    pub(super) fn line_of(&self, seq: u64, position: Position) -> (u64, u64) {
        let (_, offset) = self.geometry.locate(position);
        (
            self.geometry.line(seq, offset),
            self.geometry.segment_bytes - offset,
        )
    }

    pub(super) fn stats(&self) -> DiskStats {
        DiskStats {
            capacity_bytes: self.geometry.data_bytes(),
            segment_bytes: self.geometry.segment_bytes,
            index_slots: self.index.slots(),
            index_slots_used: self.index.slots_used(),
            // The first lap is number one; a blank log ends before it.
            laps: (self.counters.newest_seq.get() / self.geometry.segments).saturating_sub(1),
            healthy: self.health.is_healthy(),
            recovery: self.recovery.state(),
            recovery_segments_total: self.recovery.segments_total(),
            ..self.counters.snapshot()
        }
    }
}
