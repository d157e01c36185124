//! Which keys are being written: a removal must outrun the writers that began before it.

use std::collections::HashMap;

use parking_lot::Mutex;

/// Writers open at one time. Each holds up to a fragment of 256 KiB: this many of large objects
/// are 256 MiB, more than any drive could take at once.
const WRITERS_MAX: usize = 1024;

/// The open writers by key hash. Two keys with one hash purge each other's writers: a store less,
/// never a wrong one.
#[derive(Debug, Default)]
pub(super) struct OpenWriters {
    keys: Mutex<Keys>,
}

#[derive(Debug, Default)]
struct Keys {
    by_hash: HashMap<u128, OpenKey>,
    writers: usize,
}

#[derive(Debug, Default)]
struct OpenKey {
    writers: u32,
    /// Removals since its first writer began.
    removals: u64,
}

/// How many removals a writer's key had seen when it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WriterTicket(u64);

impl OpenWriters {
    /// `None` when too many are open.
    pub(super) fn enter(&self, hash: u128) -> Option<WriterTicket> {
        let mut keys = self.keys.lock();
        if keys.writers >= WRITERS_MAX {
            return None;
        }
        keys.writers += 1;
        let key = keys.by_hash.entry(hash).or_default();
        key.writers += 1;
        Some(WriterTicket(key.removals))
    }

    /// Ends a writer that [entered](Self::enter).
    pub(super) fn leave(&self, hash: u128) {
        let mut keys = self.keys.lock();
        keys.writers = keys.writers.saturating_sub(1);
        if let Some(key) = keys.by_hash.get_mut(&hash) {
            key.writers = key.writers.saturating_sub(1);
            if key.writers == 0 {
                keys.by_hash.remove(&hash);
            }
        }
    }

    /// Makes the finish of all open writers of a key void.
    pub(super) fn removed(&self, hash: u128) {
        if let Some(key) = self.keys.lock().by_hash.get_mut(&hash) {
            key.removals += 1;
        }
    }

    pub(super) fn is_void(&self, hash: u128, ticket: WriterTicket) -> bool {
        let keys = self.keys.lock();
        keys.by_hash
            .get(&hash)
            .is_none_or(|key| key.removals != ticket.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removal_voids_the_writers_before_it_only() {
        let writers = OpenWriters::default();
        let before = writers.enter(1).unwrap();
        let other = writers.enter(2).unwrap();
        writers.removed(1);
        let after = writers.enter(1).unwrap();
        assert!(writers.is_void(1, before));
        assert!(!writers.is_void(1, after));
        assert!(!writers.is_void(2, other));
        writers.leave(1);
        writers.leave(1);
        writers.leave(2);
        assert!(writers.keys.lock().by_hash.is_empty());
    }

    #[test]
    fn their_number_is_bounded() {
        let writers = OpenWriters::default();
        for n in 0..WRITERS_MAX as u128 {
            assert!(writers.enter(n).is_some());
        }
        assert_eq!(writers.enter(0), None);
        writers.leave(5);
        assert!(writers.enter(0).is_some());
    }
}
