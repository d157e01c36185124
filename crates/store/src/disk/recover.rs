//! Filling the index after a restart, in the background, newest segment first.
//!
//! Three rules keep the dead dead. What is newer is applied first and never replaced. A tombstone
//! hides all that is older with its key. And where something newer may have been lost (a segment
//! that cannot be read whole, a slot lost while recovery goes on), what is older is not believed.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::core::Core;
use super::format::{FooterEntry, Kind};
use super::index::{Place, Recovered, SizeClass};
use super::scan::{Scan, scan};
use super::stats::RecoveryState;

/// Segments that are read ahead of the one being applied.
const SEGMENTS_IN_FLIGHT: usize = 4;

/// Tombstones that are remembered by their hash: 1.5 MiB. Each one more closes its whole set of
/// the index to what is older: some objects are lost, none comes back.
const TOMBSTONES_MAX: usize = 1 << 16;

/// A segment to be read, as found when the disk was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OldSegment {
    pub(super) seq: u64,
    /// Where its records ended, if the next segment was begun in the same life and so tells.
    pub(super) end: Option<u64>,
}

/// How far recovery is.
#[derive(Debug)]
pub(super) struct Recovery {
    state: watch::Sender<RecoveryState>,
    segments: Vec<OldSegment>,
}

/// What recovery knows while it goes back in time.
struct Recoverer<'a> {
    core: &'a Core,
    removed: HashSet<u128>,
}

impl Recovery {
    /// Of these segments, newest first.
    pub(super) fn new(segments: Vec<OldSegment>) -> Self {
        let state = match segments.is_empty() {
            true => RecoveryState::Complete,
            false => RecoveryState::Running,
        };
        Self {
            state: watch::Sender::new(state),
            segments,
        }
    }

    pub(super) fn state(&self) -> RecoveryState {
        *self.state.borrow()
    }

    pub(super) fn is_running(&self) -> bool {
        self.state() == RecoveryState::Running
    }

    pub(super) fn segments_total(&self) -> u64 {
        self.segments.len() as u64
    }

    /// Waits until it no longer runs. Cancel safe.
    pub(super) async fn ended(&self) -> RecoveryState {
        let mut state = self.state.subscribe();
        let ended = state.wait_for(|state| *state != RecoveryState::Running);
        ended.await.map_or(RecoveryState::Abandoned, |state| *state)
    }
}

/// Recovers until the end, or until the disk goes out of service. The index must have been told
/// to [begin](super::index::Index::begin_recovery) before the first request.
pub(super) async fn run(core: Arc<Core>) {
    let mut recoverer = Recoverer {
        core: &core,
        removed: HashSet::new(),
    };
    let end = recoverer.run(&core).await;
    core.index.end_recovery();
    core.recovery.state.send_replace(end);
    let recovered = core.counters.recovered.get();
    let segments = core.counters.recovery_segments.get();
    tracing::info!(recovered, segments, "recovery is {}", end.as_str());
}

impl Recoverer<'_> {
    async fn run(&mut self, core: &Arc<Core>) -> RecoveryState {
        let mut todo = core.recovery.segments.iter();
        let mut in_flight: VecDeque<(OldSegment, JoinHandle<io::Result<Scan>>)> = VecDeque::new();
        loop {
            let free = SEGMENTS_IN_FLIGHT - in_flight.len();
            in_flight.extend(
                todo.by_ref()
                    .take(free)
                    .map(|old| (*old, spawn(core, old.seq))),
            );
            let Some((old, scanned)) = in_flight.pop_front() else {
                return RecoveryState::Complete;
            };
            let scanned = scanned.await;
            if core.log.is_stopped() {
                return RecoveryState::Abandoned;
            }
            let Ok(Ok(found)) = scanned else {
                return self.cut_short(old, "cannot be read");
            };
            // Reused while it was read: then all that is older is gone as well.
            if !core.segments.holds(old.seq) {
                return RecoveryState::Complete;
            }
            let is_whole =
                old.end.is_none() || found.walked_to.is_none_or(|at| old.end == Some(at));
            self.apply(old.seq, &found);
            core.counters.recovery_segments.add(1);
            if !is_whole {
                return self.cut_short(old, "has a hole");
            }
        }
    }

    fn cut_short(&self, old: OldSegment, why: &'static str) -> RecoveryState {
        let done = self.core.counters.recovery_segments.get();
        let total = self.core.recovery.segments_total();
        tracing::warn!(
            seq = old.seq,
            done,
            total,
            "recovery stops: a segment {why}"
        );
        RecoveryState::CutShort
    }

    fn apply(&mut self, seq: u64, found: &Scan) {
        for entry in found.entries.iter().rev() {
            match entry.kind() {
                Some(Kind::Tombstone) => self.hide(entry.hash()),
                Some(_) if !self.removed.contains(&entry.hash()) => self.insert(seq, entry),
                _ => {}
            }
        }
    }

    /// Nothing older of this key is to be believed.
    fn hide(&mut self, hash: u128) {
        if self.removed.len() < TOMBSTONES_MAX {
            self.removed.insert(hash);
        } else if !self.removed.contains(&hash) {
            self.core.index.close_set(hash);
        }
    }

    fn insert(&self, seq: u64, entry: &FooterEntry) {
        let geometry = &self.core.geometry;
        let place = Place {
            position: geometry.position(seq, entry.offset()).0,
            generation: geometry.generation(seq),
            class: SizeClass::of(entry.record_bytes()),
        };
        let live = |place| self.core.is_live(place);
        if self.core.index.recover(entry.hash(), place, live) == Recovered::Inserted {
            self.core.counters.recovered.add(1);
        }
    }
}

fn spawn(core: &Arc<Core>, seq: u64) -> JoinHandle<io::Result<Scan>> {
    let core = Arc::clone(core);
    tokio::spawn(async move { scan(&core, seq).await })
}
