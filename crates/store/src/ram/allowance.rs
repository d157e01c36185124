//! How much unfinished bodies may hold.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of bodies that are still being written, all writers together.
#[derive(Debug)]
pub(crate) struct Allowance {
    held_bytes: AtomicU64,
    max_bytes: AtomicU64,
}

impl Allowance {
    /// Beside a tier of `ram_bytes`.
    pub(super) fn new(ram_bytes: u64) -> Self {
        Self {
            held_bytes: AtomicU64::new(0),
            max_bytes: AtomicU64::new(max_bytes(ram_bytes)),
        }
    }

    pub(super) fn resize(&self, ram_bytes: u64) {
        self.max_bytes
            .store(max_bytes(ram_bytes), Ordering::Relaxed);
    }

    /// May `bytes` more be held? Every `true` is paid back by [`release`](Self::release).
    pub(super) fn hold(&self, bytes: u64) -> bool {
        let held = self.held_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let granted = held <= self.max_bytes.load(Ordering::Relaxed);
        if !granted {
            self.release(bytes);
        }
        granted
    }

    pub(super) fn release(&self, bytes: u64) {
        self.held_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(super) fn held_bytes(&self) -> u64 {
        self.held_bytes.load(Ordering::Relaxed)
    }
}

/// A quarter of the budget, beside it. A small cache may double: it has to be of use, too.
fn max_bytes(ram_bytes: u64) -> u64 {
    (ram_bytes / 4).max(ram_bytes.min(SMALL_BYTES))
}

/// Sixteen bodies of the largest size that a small cache takes.
const SMALL_BYTES: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_bounded_and_paid_back() {
        let allowance = Allowance::new(1000);
        assert!(allowance.hold(600));
        assert!(!allowance.hold(401));
        assert!(allowance.hold(400));
        allowance.release(1000);
        allowance.resize(0);
        assert!(!allowance.hold(1));
        assert_eq!(allowance.held_bytes(), 0);
    }

    #[test]
    fn a_large_cache_gives_a_quarter() {
        assert_eq!(max_bytes(1 << 30), 1 << 28);
        assert_eq!(max_bytes(100 << 20), 64 << 20);
        assert_eq!(max_bytes(1 << 20), 1 << 20);
    }
}
