//! Admit all, give up the least recently used: the baseline that everything else has to beat.

use crate::{Candidate, Coins, Policy, Reject, Slot, Verdict};

/// Most residents that one insertion may push out.
///
/// The largest object that a shard of 64 MiB takes is 4 MiB (a sixteenth), which replaces 4,096
/// objects of 1 KiB. Small enough that the storage's lock is held for less than a millisecond.
pub const MAX_VICTIMS: usize = (4 << 20) / (1 << 10);

/// Least recently used, with byte sizes.
///
/// An intrusive ring through a dense vector: [`hit`](Policy::hit), [`insert`](Policy::insert) and
/// [`remove`](Policy::remove) are O(1) without an allocation but the vector's growth;
/// [`admit`](Policy::admit) is O(victims), at most [`MAX_VICTIMS`].
#[derive(Debug)]
pub struct Lru {
    /// Index 0 is the ring's anchor, the slot `s` lives at `s + 1`. The anchor's `next` is the
    /// hottest, its `prev` the coldest.
    links: Vec<Link>,
    object_bytes_max: u64,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    prev: u32,
    next: u32,
    size: u64,
}

impl Lru {
    /// Heap bytes per resident that the policy holds, the vector's slack apart.
    pub const BYTES_PER_SLOT: usize = size_of::<Link>();

    /// For a storage of `capacity_bytes` in which one object takes at most `max_object_bytes`.
    pub fn new(capacity_bytes: u64, max_object_bytes: u64) -> Self {
        let anchor = Link {
            prev: ANCHOR,
            next: ANCHOR,
            size: 0,
        };
        Self {
            links: vec![anchor],
            object_bytes_max: max_object_bytes.min(capacity_bytes),
        }
    }

    fn unlink(&mut self, at: u32) {
        let Link { prev, next, .. } = self.links[at as usize];
        self.links[prev as usize].next = next;
        self.links[next as usize].prev = prev;
    }

    fn link_hottest(&mut self, at: u32, size: u64) {
        let next = self.links[ANCHOR as usize].next;
        self.links[at as usize] = Link {
            prev: ANCHOR,
            next,
            size,
        };
        self.links[ANCHOR as usize].next = at;
        self.links[next as usize].prev = at;
    }
}

impl Policy for Lru {
    fn hit(&mut self, slot: Slot) {
        let at = slot + 1;
        if self.links[ANCHOR as usize].next != at {
            self.unlink(at);
            self.link_hottest(at, self.links[at as usize].size);
        }
    }

    fn miss(&mut self, _key: u128) {}

    fn admit(
        &mut self,
        candidate: &Candidate,
        free: u64,
        _coins: &mut dyn Coins,
        victims: &mut Vec<Slot>,
    ) -> Verdict {
        if candidate.size > self.object_bytes_max {
            return Verdict::Reject(Reject::TooLarge);
        }
        let mut room = free;
        let mut at = self.links[ANCHOR as usize].prev;
        while room < candidate.size {
            if at == ANCHOR || victims.len() == MAX_VICTIMS {
                victims.clear();
                return Verdict::Reject(Reject::NoRoom);
            }
            let link = self.links[at as usize];
            victims.push(at - 1);
            room += link.size;
            at = link.prev;
        }
        Verdict::Admit
    }

    fn insert(&mut self, slot: Slot, candidate: &Candidate) {
        let at = slot + 1;
        if self.links.len() <= at as usize {
            let vacant = Link {
                prev: at,
                next: at,
                size: 0,
            };
            self.links.resize(at as usize + 1, vacant);
        }
        self.link_hottest(at, candidate.size);
    }

    fn remove(&mut self, slot: Slot) {
        self.unlink(slot + 1);
    }

    fn resize(&mut self, slot: Slot, candidate: &Candidate) {
        self.links[slot as usize + 1].size = candidate.size;
    }

    fn victim(&mut self, _coins: &mut dyn Coins) -> Option<Slot> {
        self.links[ANCHOR as usize].prev.checked_sub(1)
    }
}

const ANCHOR: u32 = 0;
