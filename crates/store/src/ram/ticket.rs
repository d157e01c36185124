//! The right to put something into memory later, lost when the key is removed meanwhile.

use std::sync::Arc;

use super::entry::Entry;
use super::open::Seen;
use super::shard::Shard;
use super::tier::RamTier;
use crate::{Body, Key, Meta, RamReject};

/// Held by a writer from its start, and by a flash lookup while it reads.
///
/// The rule of the two tiers: **memory never holds what flash has since replaced or removed.**
/// A writer therefore tells flash first and memory last; a removal tells memory, flash and memory
/// again; a lookup offers what it read only if neither has happened since.
///
/// Dropped unused, nothing is stored.
pub(crate) struct Ticket<M: Meta> {
    tier: Arc<RamTier<M>>,
    key: Key,
    seen: Seen,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Open,
    /// Flash is being told: until memory is too, the two may disagree.
    Committing,
}

impl<M: Meta> Ticket<M> {
    pub(crate) fn new(tier: &Arc<RamTier<M>>, key: Key) -> Self {
        let seen = tier.shard(&key).open.open(key.hash());
        Self {
            tier: Arc::clone(tier),
            key,
            seen,
            stage: Stage::Open,
        }
    }

    /// Flash is about to be told. From here on the key leaves memory when the ticket is dropped.
    pub(crate) fn commit(&mut self) {
        if self.stage == Stage::Open {
            self.stage = Stage::Committing;
            self.tier.shard(&self.key).open.commit(self.key.hash());
        }
    }

    /// The newest version of the key, or why memory was given none: what was there is gone,
    /// whether the policy wants this or not.
    pub(crate) fn put(
        mut self,
        meta: Arc<M>,
        body: Result<Body, RamReject>,
    ) -> Result<(), RamReject> {
        let entry = body.map(|body| Entry::new(&self.key, meta, body));
        let mut gone = Vec::new();
        let mut shard = self.tier.shard(&self.key);
        let verdict = self.replace(&mut shard, entry, &mut gone);
        drop(shard);
        self.stage = Stage::Open;
        verdict
    }

    fn replace(
        &self,
        shard: &mut Shard<M>,
        entry: Result<Entry<M>, RamReject>,
        gone: &mut Vec<Entry<M>>,
    ) -> Result<(), RamReject> {
        let hash = self.key.hash();
        shard.open.finished(hash);
        let overlapped = self.stage == Stage::Committing && shard.open.committed(hash);
        let purged = shard.open.seen(hash).removed_since(self.seen);
        let entry = match entry {
            Ok(entry) if overlapped || purged => {
                gone.push(entry);
                Err(if purged {
                    RamReject::Purged
                } else {
                    RamReject::Superseded
                })
            }
            other => other,
        };
        match entry {
            Ok(entry) => shard.put(&self.key, entry, gone),
            Err(reject) => {
                // After a removal, what is here was written later: it is newer than this.
                if overlapped || !purged {
                    gone.extend(shard.take(&self.key));
                }
                Err(shard.refuse(reject))
            }
        }
    }
}

impl<M: Meta> Ticket<M> {
    /// What a flash lookup read whole, unless it is old by now or here already. Its bytes are
    /// copied, into allocations of their size, when it is admitted, and after that.
    pub(crate) fn offer(self, meta: Arc<M>, body: &Body) {
        let Some(version) = body.version() else {
            return;
        };
        let entry = Entry::new(&self.key, meta, body.clone());
        let mut gone = Vec::new();
        let mut shard = self.tier.shard(&self.key);
        let current = shard.open.seen(self.key.hash()) == self.seen;
        let kept = if current && !shard.holds(&self.key, version) {
            shard.put(&self.key, entry, &mut gone).is_ok()
        } else {
            gone.push(entry);
            false
        };
        drop(shard);
        if kept {
            self.tier.swap_body(&self.key, version, body.compact());
        }
    }
}

impl<M: Meta> Drop for Ticket<M> {
    fn drop(&mut self) {
        let mut shard = self.tier.shard(&self.key);
        let mut gone = None;
        if self.stage == Stage::Committing {
            shard.open.committed(self.key.hash());
            shard.open.finished(self.key.hash());
            gone = shard.take(&self.key);
        }
        shard.open.close(self.key.hash());
        drop(shard);
        drop(gone);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use larder_admission::Reject;

    use super::*;
    use crate::StoreOptions;
    use crate::version::Version;

    type Tier = Arc<RamTier<Bytes>>;

    fn tier() -> (Tier, Key) {
        let tier = RamTier::new(&StoreOptions::new(1 << 20), 1);
        (Arc::new(tier), Key::new(Bytes::from_static(b"key"), 1))
    }

    fn body(content: &'static str) -> Body {
        let mut version = Version::start(1);
        version.push(content.as_bytes());
        Body::from_bytes(Bytes::from_static(content.as_bytes())).with_version(version)
    }

    fn put(ticket: Ticket<Bytes>, content: &'static str) -> Result<(), RamReject> {
        ticket.put(Arc::default(), Ok(body(content)))
    }

    fn offer(ticket: Ticket<Bytes>, content: &'static str) {
        ticket.offer(Arc::default(), &body(content));
    }

    fn found(tier: &Tier, key: &Key) -> Option<Bytes> {
        tier.get(key)?.body.as_single().cloned()
    }

    #[test]
    fn an_offer_is_refused_once_the_key_was_removed_or_written() {
        let (tier, key) = tier();
        let removed = Ticket::new(&tier, key.clone());
        tier.remove(&key);
        offer(removed, "old");
        assert_eq!(found(&tier, &key), None);

        let replaced = Ticket::new(&tier, key.clone());
        let too_large = RamReject::Policy(Reject::TooLarge);
        let refused = Ticket::new(&tier, key.clone()).put(Arc::default(), Err(too_large));
        assert_eq!(refused, Err(too_large));
        offer(replaced, "old");
        assert_eq!(found(&tier, &key), None);

        offer(Ticket::new(&tier, key.clone()), "new");
        assert_eq!(found(&tier, &key), Some(Bytes::from_static(b"new")));
    }

    #[test]
    fn an_offer_of_what_is_here_changes_nothing() {
        let (tier, key) = tier();
        for _ in 0..2 {
            offer(Ticket::new(&tier, key.clone()), "same");
        }
        assert_eq!(tier.stats().admitted, 1);
    }

    #[test]
    fn a_commit_that_was_cut_short_leaves_the_answer_to_flash() {
        let (tier, key) = tier();
        assert_eq!(put(Ticket::new(&tier, key.clone()), "old"), Ok(()));
        let lookup = Ticket::new(&tier, key.clone());
        let mut cut_short = Ticket::new(&tier, key.clone());
        cut_short.commit();
        assert!(found(&tier, &key).is_some(), "not decided yet");
        drop(cut_short);
        assert_eq!(found(&tier, &key), None);
        offer(lookup, "old");
        assert_eq!(
            found(&tier, &key),
            None,
            "flash may have the new one by now"
        );
    }

    #[test]
    fn commits_that_overlap_leave_the_answer_to_flash() {
        let (tier, key) = tier();
        assert_eq!(put(Ticket::new(&tier, key.clone()), "old"), Ok(()));
        let mut first = Ticket::new(&tier, key.clone());
        let mut second = Ticket::new(&tier, key.clone());
        first.commit();
        second.commit();
        assert_eq!(put(first, "first"), Err(RamReject::Superseded));
        assert_eq!(put(second, "second"), Err(RamReject::Superseded));
        assert_eq!(found(&tier, &key), None);

        let mut alone = Ticket::new(&tier, key.clone());
        alone.commit();
        assert_eq!(put(alone, "third"), Ok(()));
        assert_eq!(found(&tier, &key), Some(Bytes::from_static(b"third")));
    }

    #[test]
    fn a_purged_write_spares_what_was_written_since() {
        let (tier, key) = tier();
        let mut purged = Ticket::new(&tier, key.clone());
        purged.commit();
        tier.remove(&key);
        assert_eq!(put(Ticket::new(&tier, key.clone()), "new"), Ok(()));
        assert_eq!(put(purged, "old"), Err(RamReject::Purged));
        assert_eq!(found(&tier, &key), Some(Bytes::from_static(b"new")));
    }
}
