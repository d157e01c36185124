//! The set-associative index: eight slots of 64 bits to a cache line, and nothing per object
//! beside them (HashCache's log index, HC-10 to HC-13, HC-18, HC-19).
//!
//! A key's set and tag come from its hash; two keys with the same set and tag share one slot, and
//! the newer has it: the reader compares full keys. Usable alone: positions mean nothing here, and
//! whether a slot's place still exists is a question to the caller.

mod class;
mod set;
mod slot;

use crossbeam_utils::CachePadded;
use parking_lot::Mutex;

pub use class::SizeClass;
use set::{Set, Victim, WAYS};
pub use slot::Place;
use slot::Tag;

/// Load of the index when the device is full of mean-sized objects. Sets then hold 6.4 slots on
/// average; sizes are Poisson, so 6.7% of the objects find their set full, and the least recently
/// used of the nine goes. At 0.6 it would be 2%, for a third more memory.
const LOAD_PERCENT: u64 = 80;

/// Locks. A lookup holds one for tens of nanoseconds; 64 keep two dozen cores apart.
const SHARDS: usize = 64;

/// The index. All methods take `&self` and lock one shard for the time of one set.
#[derive(Debug)]
pub struct Index {
    shards: Box<[CachePadded<Mutex<Shard>>]>,
    sets: usize,
}

#[derive(Debug)]
struct Shard {
    sets: Box<[Set]>,
    /// While older entries are being added: a bit per set that takes no more of them.
    closed: Option<Box<[u64]>>,
    slots_used: u64,
}

/// What an insert did to the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// It took an empty slot.
    Filled,
    /// It took its own tag's slot: an older version, or another key with the same tag.
    Replaced,
    /// It took a slot whose place is gone.
    Reclaimed,
    /// It took the least recently used slot.
    Evicted,
}

/// What became of an older entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// It is in the index, as the least recently used of its set.
    Inserted,
    /// The tag has a newer entry.
    Known,
    /// The set has no free slot.
    Full,
    /// Something newer was lost from the set: what is older might be its older version.
    Closed,
}

impl Index {
    /// An index of so many sets of eight slots; at least one.
    pub fn new(sets: usize) -> Self {
        let sets = sets.max(1);
        let shards = SHARDS.min(sets);
        let shard = |i: usize| Shard {
            sets: vec![Set::default(); (sets - i).div_ceil(shards)].into(),
            closed: None,
            slots_used: 0,
        };
        let shards = (0..shards).map(|i| CachePadded::new(Mutex::new(shard(i))));
        Self {
            shards: shards.collect(),
            sets,
        }
    }

    /// Sets for so many objects at the load that [`new`](Self::new) is meant for.
    pub fn sets_for(objects: u64) -> usize {
        let slots = (objects.saturating_mul(100) / LOAD_PERCENT).max(1);
        usize::try_from(slots.div_ceil(WAYS as u64)).unwrap_or(usize::MAX)
    }

    /// Memory of so many sets, in bytes; a sixty-fourth more of a bit each during recovery.
    pub fn bytes_for(sets: usize) -> u64 {
        sets as u64 * size_of::<Set>() as u64
    }

    /// Slots, used or not.
    pub fn slots(&self) -> u64 {
        self.sets as u64 * WAYS as u64
    }

    /// Slots in use, those included whose place is gone and that no sweep has met yet.
    pub fn slots_used(&self) -> u64 {
        self.shards
            .iter()
            .map(|shard| shard.lock().slots_used)
            .sum()
    }

    /// The place of a key, which becomes the most recently used of its set.
    pub fn lookup(&self, hash: u128, live: impl Fn(Place) -> bool) -> Option<Place> {
        self.with_set(hash, |set, _| {
            let way = set.find(Tag::of(hash))?;
            let place = set.place(way).filter(|place| live(*place))?;
            set.touch(way);
            Some(place)
        })
    }

    /// The place of a key, live or not, without touching it.
    pub fn peek(&self, hash: u128) -> Option<Place> {
        self.with_set(hash, |set, _| set.place(set.find(Tag::of(hash))?))
    }

    /// Puts a key, as the most recently used of its set.
    pub fn insert(&self, hash: u128, place: Place, live: impl Fn(Place) -> bool) -> Inserted {
        let tag = Tag::of(hash);
        self.with_set(hash, |set, shard| {
            let (way, inserted) = match (set.find(tag), set.victim(live)) {
                (Some(way), _) => (way, Inserted::Replaced),
                (None, Victim::Empty(way)) => (way, Inserted::Filled),
                (None, Victim::Dead(way)) => (way, Inserted::Reclaimed),
                (None, Victim::Oldest(way)) => (way, Inserted::Evicted),
            };
            set.put_newest(way, tag, place);
            shard.used += u64::from(inserted == Inserted::Filled);
            shard.close |= inserted == Inserted::Evicted;
            inserted
        })
    }

    /// Removes a key (or the other key that has its slot) and, during recovery, closes its set.
    pub fn remove(&self, hash: u128) -> bool {
        self.with_set(hash, |set, shard| {
            shard.close = true;
            let way = set.find(Tag::of(hash));
            way.map(|way| set.clear(way)).is_some() && shard.freed()
        })
    }

    /// Removes a key if it still is at `place`.
    pub fn remove_at(&self, hash: u128, place: Place) -> bool {
        self.with_set(hash, |set, shard| {
            let way = set.find(Tag::of(hash));
            let Some(way) = way.filter(|way| set.place(*way) == Some(place)) else {
                return false;
            };
            shard.close = true;
            set.clear(way);
            shard.freed()
        })
    }

    /// Begins the adding of older entries, newest first. Until [`end_recovery`](Self::end_recovery)
    /// a set that loses an entry is closed to them: one might be the lost entry's older version.
    /// (A place that dies needs no such care: what is older died before it.)
    pub fn begin_recovery(&self) {
        for shard in &self.shards {
            let mut shard = shard.lock();
            let words = shard.sets.len().div_ceil(u64::BITS as usize);
            shard.closed = Some(vec![0; words].into());
        }
    }

    /// Adds an entry that is older than all that were put or recovered before.
    pub fn recover(&self, hash: u128, place: Place, live: impl Fn(Place) -> bool) -> Recovered {
        let tag = Tag::of(hash);
        self.with_set(hash, |set, shard| {
            if shard.was_closed {
                return Recovered::Closed;
            }
            if set.find(tag).is_some() {
                return Recovered::Known;
            }
            let (Victim::Empty(way) | Victim::Dead(way)) = set.victim(live) else {
                return Recovered::Full;
            };
            shard.used += u64::from(set.put_oldest(way, tag, place));
            Recovered::Inserted
        })
    }

    /// Closes a key's set to older entries.
    pub fn close_set(&self, hash: u128) {
        self.with_set(hash, |_, shard| shard.close = true);
    }

    /// Ends the adding of older entries, and frees what it took.
    pub fn end_recovery(&self) {
        for shard in &self.shards {
            shard.lock().closed = None;
        }
    }

    /// Empties the slots whose place is gone in the `part`th of `parts` equal shares of the sets.
    /// Called for each part within one lap, no slot lives long enough for its generation to alias.
    pub fn sweep(&self, part: usize, parts: usize, live: impl Fn(Place) -> bool) {
        let cut = |part: usize| (part as u128 * self.sets as u128 / parts.max(1) as u128) as usize;
        for set_index in cut(part)..cut(part + 1).min(self.sets) {
            let (shard, inner) = self.split(set_index);
            let mut shard = self.shards[shard].lock();
            let freed = shard.sets[inner].clear_dead(&live);
            shard.slots_used = shard.slots_used.saturating_sub(freed);
        }
    }

    /// Shard, and set in the shard.
    fn split(&self, set_index: usize) -> (usize, usize) {
        (set_index % self.shards.len(), set_index / self.shards.len())
    }

    /// The set of a hash: its low 64 bits scaled to the number of sets, which then need not be a
    /// power of two. The tag comes from the top bits and is independent of it (HC-13).
    fn set_of(&self, hash: u128) -> usize {
        ((u128::from(hash as u64) * self.sets as u128) >> u64::BITS) as usize
    }

    fn with_set<T>(&self, hash: u128, act: impl FnOnce(&mut Set, &mut Change) -> T) -> T {
        let (shard, inner) = self.split(self.set_of(hash));
        let mut shard = self.shards[shard].lock();
        let (word, bit) = (
            inner / u64::BITS as usize,
            1 << (inner % u64::BITS as usize),
        );
        let mut change = Change {
            was_closed: shard.closed.as_ref().is_none_or(|c| c[word] & bit != 0),
            ..Change::default()
        };
        let result = act(&mut shard.sets[inner], &mut change);
        shard.slots_used = (shard.slots_used + change.used).saturating_sub(change.freed);
        if let Some(closed) = shard.closed.as_mut().filter(|_| change.close) {
            closed[word] |= bit;
        }
        result
    }
}

/// What an operation on a set means for its shard.
#[derive(Default)]
struct Change {
    /// The set takes no older entries: closed, or no recovery is going on.
    was_closed: bool,
    close: bool,
    used: u64,
    freed: u64,
}

impl Change {
    fn freed(&mut self) -> bool {
        self.freed += 1;
        true
    }
}

#[cfg(test)]
mod tests;
