//! Keys with a write or a flash lookup under way: what they must notice before they finish.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Place;

/// The keys that somebody holds a ticket for.
///
/// As large as the number of open writers and flash lookups, each of which owns a task and
/// buffers beside which its record here is nothing: whoever bounds those bounds this.
#[derive(Debug, Default)]
pub(super) struct OpenKeys {
    table: HashTable<OpenKey>,
}

/// A hash stands for its key: two keys of one hash would at worst refuse each other's writes.
#[derive(Debug)]
struct OpenKey {
    hash: u128,
    /// Tickets out.
    holders: u32,
    /// Of these, how many are telling the SSD.
    committing: u32,
    /// More than one was, at some time since `committing` was last 0.
    overlapped: bool,
    seen: Seen,
}

/// What happened to a key while a ticket for it was out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    removes: u64,
    finishes: u64,
}

impl Seen {
    /// Was the key removed between the two?
    pub(super) fn removed_since(self, then: Self) -> bool {
        self.removes != then.removes
    }
}

impl OpenKeys {
    /// One more ticket.
    pub(super) fn open(&mut self, hash: u128) -> Seen {
        let place = self
            .table
            .entry(hash as u64, |key| key.hash == hash, |key| key.hash as u64);
        let mut place = place.or_insert_with(|| OpenKey {
            hash,
            holders: 0,
            committing: 0,
            overlapped: false,
            seen: Seen::default(),
        });
        let key = place.get_mut();
        key.holders += 1;
        key.seen
    }

    /// One ticket less.
    pub(super) fn close(&mut self, hash: u128) {
        let place = self
            .table
            .entry(hash as u64, |key| key.hash == hash, |key| key.hash as u64);
        if let Place::Occupied(mut place) = place {
            place.get_mut().holders -= 1;
            if place.get().holders == 0 {
                place.remove();
            }
        }
    }

    /// What has been seen of the key; nothing, if it has no ticket.
    pub(super) fn seen(&self, hash: u128) -> Seen {
        let key = self.table.find(hash as u64, |key| key.hash == hash);
        key.map(|key| key.seen).unwrap_or_default()
    }

    /// The key was removed.
    pub(super) fn removed(&mut self, hash: u128) {
        self.with(hash, |key| key.seen.removes += 1);
    }

    /// A write of the key came to its end.
    pub(super) fn finished(&mut self, hash: u128) {
        self.with(hash, |key| key.seen.finishes += 1);
    }

    /// A writer begins to tell the SSD.
    pub(super) fn commit(&mut self, hash: u128) {
        self.with(hash, |key| {
            key.committing += 1;
            key.overlapped |= key.committing > 1;
        });
    }

    /// It is done with that. Had it company?
    pub(super) fn committed(&mut self, hash: u128) -> bool {
        let mut overlapped = false;
        self.with(hash, |key| {
            overlapped = key.overlapped;
            key.committing -= 1;
            key.overlapped &= key.committing > 0;
        });
        overlapped
    }

    fn with(&mut self, hash: u128, change: impl FnOnce(&mut OpenKey)) {
        if let Some(key) = self.table.find_mut(hash as u64, |key| key.hash == hash) {
            change(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_watched_only_while_a_ticket_is_out() {
        let mut open = OpenKeys::default();
        open.removed(1);
        let first = open.open(1);
        open.removed(1);
        let second = open.open(1);
        assert!(open.seen(1).removed_since(first));
        assert!(!open.seen(1).removed_since(second));
        assert_eq!(open.seen(1), second);
        open.finished(1);
        assert_ne!(open.seen(1), second);
        open.close(1);
        open.close(1);
        assert!(open.table.is_empty());
    }

    #[test]
    fn commits_that_overlap_all_know_it() {
        let mut open = OpenKeys::default();
        open.open(1);
        open.open(1);
        open.commit(1);
        open.commit(1);
        assert!(open.committed(1));
        assert!(open.committed(1));
        open.commit(1);
        assert!(!open.committed(1), "alone again");
    }
}
