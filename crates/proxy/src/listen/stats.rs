//! Counts of what happens to client connections, for logs and metrics.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::guard::ViolationCounts;

/// How a client's connection ended.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Close {
    /// As HTTP says: the client left between requests, or either side asked to close.
    Done,
    /// It broke off, or broke the protocol.
    Failed,
    /// No request for too long.
    Idle,
    /// A request head or a write took too long.
    TimedOut,
    /// A response body was not taken for too long.
    Stalled,
    /// The server stopped before it was done.
    Cut,
}

/// Counts of one or more calls of [`serve`](super::serve).
#[derive(Debug, Default)]
pub struct ListenStats {
    accepted: AtomicU64,
    accept_errors: AtomicU64,
    closed: [AtomicU64; Close::ALL.len()],
    violations: Arc<ViolationCounts>,
}

impl Close {
    /// Every way to end, in the order of their numbers.
    pub const ALL: [Self; 6] = [
        Self::Done,
        Self::Failed,
        Self::Idle,
        Self::TimedOut,
        Self::Stalled,
        Self::Cut,
    ];

    /// The name in logs and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Idle => "idle",
            Self::TimedOut => "timed-out",
            Self::Stalled => "stalled",
            Self::Cut => "cut",
        }
    }
}

impl ListenStats {
    /// Connections accepted.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    /// Failures to accept that made the listener pause (no file descriptors, no memory).
    pub fn accept_errors(&self) -> u64 {
        self.accept_errors.load(Ordering::Relaxed)
    }

    /// Connections whose HTTP ended, by how. A tunnel counts as [`Close::Done`] when it begins.
    pub fn closed(&self) -> impl Iterator<Item = (Close, u64)> + '_ {
        Close::ALL.into_iter().zip(
            self.closed
                .iter()
                .map(|count| count.load(Ordering::Relaxed)),
        )
    }

    /// Requests refused for their framing, by why.
    pub fn violations(&self) -> &Arc<ViolationCounts> {
        &self.violations
    }

    pub(super) fn count_accepted(&self) {
        self.accepted.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_accept_error(&self) {
        self.accept_errors.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_closed(&self, close: Close) {
        self.closed[close as usize].fetch_add(1, Ordering::Relaxed);
    }
}
