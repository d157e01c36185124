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
