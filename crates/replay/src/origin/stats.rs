//! What has the origin been asked for?

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use serde::{Deserialize, Serialize};

use super::answer::PathKind;

/// A handle to the counters of a running origin; clones share them.
#[derive(Clone, Debug, Default)]
pub struct OriginStats(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    sized: AtomicU64,
    object: AtomicU64,
    unknown: AtomicU64,
    not_modified: AtomicU64,
    body_bytes: AtomicU64,
    connections: AtomicU64,
}

/// The counters at one moment. Requests to `/_stats` and `/_reset` are not among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginCounts {
    /// Requests of any kind.
    pub requests: u64,
    /// Of these, by the kind of path.
    pub by_kind: KindCounts,
    /// Requests answered 304.
    pub not_modified: u64,
    /// Body bytes handed to connections.
    pub bytes: u64,
    /// Connections accepted.
    pub connections: u64,
}

/// Requests by the kind of path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindCounts {
    /// `/s/<size>/<id>`
    pub s: u64,
    /// `/object/<id>`
    pub object: u64,
    /// Anything else.
    pub unknown: u64,
}

impl OriginStats {
    /// Reads the counters, one after the other.
    pub fn counts(&self) -> OriginCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let by_kind = KindCounts {
            s: read(&self.0.sized),
            object: read(&self.0.object),
            unknown: read(&self.0.unknown),
        };
        OriginCounts {
            requests: by_kind.s + by_kind.object + by_kind.unknown,
            by_kind,
            not_modified: read(&self.0.not_modified),
            bytes: read(&self.0.body_bytes),
            connections: read(&self.0.connections),
        }
    }

    /// Sets all counters to zero.
    pub fn reset(&self) {
        let counters = &*self.0;
        let all = [
            &counters.sized,
            &counters.object,
            &counters.unknown,
            &counters.not_modified,
            &counters.body_bytes,
            &counters.connections,
        ];
        for counter in all {
            counter.store(0, Ordering::Relaxed);
        }
    }

    pub(super) fn request(&self, kind: PathKind) {
        add(self.kind(kind), 1);
    }

    pub(super) fn not_modified(&self) {
        add(&self.0.not_modified, 1);
    }

    pub(super) fn body(&self, bytes: u64) {
        add(&self.0.body_bytes, bytes);
    }

    pub(super) fn connection(&self) {
        add(&self.0.connections, 1);
    }

    fn kind(&self, kind: PathKind) -> &AtomicU64 {
        match kind {
            PathKind::Sized => &self.0.sized,
            PathKind::Object => &self.0.object,
            PathKind::Unknown => &self.0.unknown,
        }
    }
}

fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}
