//! From a key to an object: one lookup in memory, one read, and every byte verified.

use std::sync::Arc;

use bytes::Bytes;

use super::body::{Content, DiskBody};
use super::core::Core;
use super::format::{Fault, FragmentTable, Kind, Position, RecordView};
use super::index::Place;
use super::read::{Stretch, begin_read};
use super::stats::MissReason;
use crate::Key;

/// The answer to a lookup.
#[derive(Clone, Debug)]
pub enum DiskLookup {
    /// The object.
    Hit(Found),
    /// No object, and why.
    Miss(MissReason),
}

/// An object on disk.
#[derive(Clone, Debug)]
pub struct Found {
    /// What the writer gave to [`finish`](super::DiskWriter::finish).
    pub meta: Bytes,
    /// The body.
    pub body: DiskBody,
}

pub(super) async fn get(core: &Arc<Core>, key: &Key) -> DiskLookup {
    match find(core, key).await {
        Ok(found) => {
            core.counters.hits.add(1);
            DiskLookup::Hit(found)
        }
        Err(reason) => {
            core.counters.missed(reason);
            DiskLookup::Miss(reason)
        }
    }
}

async fn find(core: &Arc<Core>, key: &Key) -> Result<Found, MissReason> {
    if !core.health.is_healthy() {
        return Err(MissReason::OutOfService);
    }
    let hash = key.hash();
    let Some(place) = core.index.lookup(hash, |place| core.is_live(place)) else {
        return Err(match core.recovery.is_running() {
            true => MissReason::Recovering,
            false => MissReason::Absent,
        });
    };
    let seq = core.segments.seq_of(place).ok_or(MissReason::Overwritten)?;
    let position = Position(place.position);
    let stretch = begin_read(core, seq, position, place.class.bytes()).await;
    let stretch = stretch.map_err(|_| MissReason::ReadError)?;
    let view = RecordView::read(core.seed, seq, stretch.bytes())
        .map_err(|fault| refuse(core, hash, place, seq, fault))?;
    object(core, key, place, &stretch, &view)
}

/// A record that is not right is gone if the log came by meanwhile, else corrupt and dropped.
fn refuse(core: &Core, hash: u128, place: Place, seq: u64, fault: Fault) -> MissReason {
    if !core.segments.holds(seq) {
        return MissReason::Overwritten;
    }
    let (got, expected) = fault.numbers();
    let position = place.position;
    tracing::debug!(position, ?fault, got, expected, "corrupt record dropped");
    core.counters.corrupt.add(1);
    core.index.remove_at(hash, place);
    MissReason::Corrupt
}

/// The object in a verified record, if it is this key's.
fn object(
    core: &Arc<Core>,
    key: &Key,
    place: Place,
    stretch: &Stretch,
    view: &RecordView,
) -> Result<Found, MissReason> {
    let bytes = stretch.bytes();
    if bytes[view.key.clone()] != key.bytes()[..] {
        return Err(MissReason::FalseRead);
    }
    let body_bytes = &bytes[view.body.clone()];
    let (total, hash) = (view.header.total(), key.hash());
    let content = match view.header.kind() {
        Some(Kind::Object) => Content::Inline(stretch.keep(&view.body, view)),
        Some(Kind::Fragmented) => {
            let table = FragmentTable::decode(body_bytes, total).ok_or(MissReason::Corrupt)?;
            if !starts_live(core, &table) {
                core.index.remove_at(hash, place);
                return Err(MissReason::Overwritten);
            }
            Content::Fragments(table)
        }
        _ => return Err(MissReason::FalseRead),
    };
    Ok(Found {
        meta: stretch.keep(&view.meta, view),
        body: DiskBody::new(Arc::clone(core), content, total, hash, place),
    })
}

/// Whether the log still has the first fragment, which is the oldest.
pub(super) fn starts_live(core: &Core, table: &FragmentTable) -> bool {
    table.fragments.first().is_some_and(|first| {
        let seq = core.segments.seq_at(first.position());
        seq.is_some_and(|seq| first.is_of(seq))
    })
}

impl Stretch {
    /// A part of the record as bytes of their own life. A slice keeps the whole read alive: fine
    /// if most of that is the object, a copy if it is blocks around a small one.
    fn keep(&self, part: &std::ops::Range<usize>, view: &RecordView) -> Bytes {
        if self.buf.len() <= 2 * view.body.end {
            return self.buf.slice(self.at + part.start..self.at + part.end);
        }
        Bytes::copy_from_slice(&self.bytes()[part.clone()])
    }
}
