//! Whether the disk is in service: a failing device is left alone, and said so once.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Reads that may fail one after the other before the device counts as broken. A bad sector fails
/// alone, between reads that succeed; a device that is gone fails them all.
const READ_ERRORS_MAX: u32 = 8;

/// The device's state.
#[derive(Debug, Default)]
pub(super) struct Health {
    out_of_service: AtomicBool,
    read_errors: AtomicU32,
}

impl Health {
    pub(super) fn is_healthy(&self) -> bool {
        !self.out_of_service.load(Ordering::Acquire)
    }

    /// Takes the disk out of service without a complaint: it was closed.
    pub(super) fn retire(&self) {
        self.out_of_service.store(true, Ordering::Release);
    }

    /// Takes the disk out of service. The first call logs why.
    pub(super) fn fail(&self, device: &'static str, what: &'static str, error: &io::Error) {
        if !self.out_of_service.swap(true, Ordering::AcqRel) {
            tracing::error!(device, %error, "disk taken out of service: cannot {what}");
        }
    }

    pub(super) fn read_succeeded(&self) {
        // Nearly always zero already: do not take the cache line from other cores.
        if self.read_errors.load(Ordering::Relaxed) != 0 {
            self.read_errors.store(0, Ordering::Relaxed);
        }
    }

    /// Counts a failed read. True when it is one too many.
    pub(super) fn read_failed(&self) -> bool {
        self.read_errors.fetch_add(1, Ordering::Relaxed) + 1 >= READ_ERRORS_MAX
    }
}
