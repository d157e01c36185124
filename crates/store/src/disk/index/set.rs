//! A set: eight slots in one cache line, with their order of use.

use super::Place;
use super::slot::{Slot, Tag};

/// Slots to a set: ranks are three bits, and a set is one line of 64 bytes.
pub(super) const WAYS: usize = 8;

/// The used slots have the ranks 0 (least recently used) to *n* - 1, each once (HC-12).
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Set([Slot; WAYS]);

const _: () = assert!(size_of::<Set>() == 64);

/// The slot that an insert would take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Victim {
    Empty(usize),
    Dead(usize),
    Oldest(usize),
}

impl Set {
    pub(super) fn find(&self, tag: Tag) -> Option<usize> {
        self.0.iter().position(|slot| slot.has(tag))
    }

    pub(super) fn place(&self, way: usize) -> Option<Place> {
        self.0.get(way)?.place()
    }

    /// The first empty slot, else the first whose place is gone, else the least recently used.
    pub(super) fn victim(&self, live: impl Fn(Place) -> bool) -> Victim {
        if let Some(way) = self.0.iter().position(|slot| !slot.is_used()) {
            return Victim::Empty(way);
        }
        let dead = |slot: &Slot| slot.place().is_none_or(|place| !live(place));
        if let Some(way) = self.0.iter().position(dead) {
            return Victim::Dead(way);
        }
        let oldest = self.0.iter().position(|slot| slot.rank() == 0);
        Victim::Oldest(oldest.unwrap_or(0))
    }

    pub(super) fn touch(&mut self, way: usize) {
        let slot = self.0[way];
        self.clear(way);
        self.0[way] = slot;
        self.0[way].set_rank(self.used() - 1);
    }

    /// Fills a slot, whatever was in it, as the most recently used.
    pub(super) fn put_newest(&mut self, way: usize, tag: Tag, place: Place) {
        self.clear(way);
        self.0[way] = Slot::new(tag, place);
        self.0[way].set_rank(self.used() - 1);
    }

    /// Fills a slot as the least recently used. True if it was empty.
    pub(super) fn put_oldest(&mut self, way: usize, tag: Tag, place: Place) -> bool {
        let was_empty = !self.0[way].is_used();
        self.clear(way);
        for slot in self.0.iter_mut().filter(|slot| slot.is_used()) {
            slot.set_rank(slot.rank() + 1);
        }
        self.0[way] = Slot::new(tag, place);
        was_empty
    }

    /// Empties a slot and closes the gap in the ranks.
    pub(super) fn clear(&mut self, way: usize) {
        let gone = std::mem::replace(&mut self.0[way], Slot::EMPTY);
        if !gone.is_used() {
            return;
        }
        let above = |slot: &&mut Slot| slot.is_used() && slot.rank() > gone.rank();
        for slot in self.0.iter_mut().filter(above) {
            slot.set_rank(slot.rank() - 1);
        }
    }

    /// Empties the slots whose place is gone. How many?
    pub(super) fn clear_dead(&mut self, live: impl Fn(Place) -> bool) -> u64 {
        let mut cleared = 0;
        for way in 0..WAYS {
            if self.place(way).is_some_and(|place| !live(place)) {
                self.clear(way);
                cleared += 1;
            }
        }
        cleared
    }

    fn used(&self) -> u64 {
        self.0.iter().filter(|slot| slot.is_used()).count() as u64
    }

    #[cfg(test)]
    pub(super) fn has_sound_ranks(&self) -> bool {
        let used = self.0.iter().filter(|slot| slot.is_used());
        let mut ranks: Vec<_> = used.map(|slot| slot.rank()).collect();
        ranks.sort_unstable();
        ranks.into_iter().eq(0..self.used())
    }
}
