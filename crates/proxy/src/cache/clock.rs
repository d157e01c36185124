//! The time of day, as an argument.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::rules::date::Millis;

/// Where the cache core reads the time.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The machine's clock.
    #[default]
    System,
    /// Milliseconds since 1970 that a test sets.
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// Now.
    pub fn now(&self) -> Millis {
        match self {
            Self::System => {
                let since = SystemTime::now()
                    .duration_since(UNIX_EPOCH)
                    .unwrap_or_default();
                Millis(since.as_millis() as u64)
            }
            Self::Manual(millis) => Millis(millis.load(Ordering::SeqCst)),
        }
    }
}
