//! Counters of what the cache core did besides answering.

use std::sync::atomic::{AtomicU64, Ordering};

/// A counter that only grows.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// One more.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How many.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What happened.
#[derive(Debug, Default)]
pub struct Events {
    /// Requests sent to the origin, of any kind.
    pub origin_requests: Count,
    /// Of those, without an answer.
    pub origin_failures: Count,
    /// Requests that were answered by a fetch which another led.
    pub collapsed: Count,
    /// Waiters that gave up on a leader without an answer.
    pub stalled_leaders: Count,
    /// Bodies continued from another source.
    pub resumed: Count,
    /// Refreshes in the background.
    pub background_refreshes: Count,
    /// Objects purged or invalidated.
    pub purged: Count,
}
