//! Which lap each segment holds right now.

use std::sync::atomic::{AtomicU64, Ordering};

use super::format::{Geometry, Position};
use super::index::Place;

/// The sequence number of each segment; 0 where nothing can be read. A number is changed before
/// the first byte of its segment is: what pointed there dies at once.
#[derive(Debug)]
pub(super) struct Segments {
    geometry: Geometry,
    seqs: Box<[AtomicU64]>,
}

impl Segments {
    pub(super) fn new(geometry: Geometry, seqs: Vec<u64>) -> Self {
        Self {
            geometry,
            seqs: seqs.into_iter().map(AtomicU64::new).collect(),
        }
    }

    /// The sequence number of a segment; `None` for an empty one.
    pub(super) fn seq(&self, segment: usize) -> Option<u64> {
        let seq = self.seqs.get(segment)?.load(Ordering::Acquire);
        (seq != 0).then_some(seq)
    }

    /// The sequence number of the segment that a position is in.
    pub(super) fn seq_at(&self, position: Position) -> Option<u64> {
        self.seq(self.geometry.locate(position).0)
    }

    /// Whether segment `seq` has not been overwritten.
    pub(super) fn holds(&self, seq: u64) -> bool {
        self.seq(self.geometry.segment_of_seq(seq)) == Some(seq)
    }

    /// The sequence number that a place is of, if its lap still is the segment's (HC-19).
    pub(super) fn seq_of(&self, place: Place) -> Option<u64> {
        let seq = self.seq_at(Position(place.position))?;
        (self.geometry.generation(seq) == place.generation).then_some(seq)
    }

    pub(super) fn is_live(&self, place: Place) -> bool {
        self.seq_of(place).is_some()
    }

    pub(super) fn begin(&self, seq: u64) {
        if let Some(slot) = self.seqs.get(self.geometry.segment_of_seq(seq)) {
            slot.store(seq, Ordering::Release);
        }
    }
}
