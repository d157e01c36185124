//! How much memory the fetches in flight may hold together.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What a fetch gets when the budget is used up: enough to stream, not to share widely.
pub const WINDOW_BYTES_MIN: u64 = 128 << 10;

/// What one fetch gets at most. Beyond it the window slides.
pub const WINDOW_BYTES_MAX: u64 = 4 << 20;

/// The unit of the budget, so that it fits the semaphore's count on 32 bits.
const UNIT_BYTES: u64 = 4 << 10;

/// A shared budget; a fetch takes its share for as long as it runs.
#[derive(Clone, Debug)]
pub struct FillBudget {
    units: Arc<Semaphore>,
}

/// A fetch's share.
#[derive(Debug)]
pub struct Share {
    /// Bytes that the fetch's window may hold.
    pub window_bytes: u64,
    _units: Option<OwnedSemaphorePermit>,
}

impl FillBudget {
    /// A budget of `bytes`.
    pub fn new(bytes: u64) -> Self {
        let units = (bytes / UNIT_BYTES).min(Semaphore::MAX_PERMITS as u64) as usize;
        Self {
            units: Arc::new(Semaphore::new(units)),
        }
    }

    /// A share for a body of `body_bytes`, if that is known. Never waits: when the budget is
    /// used up the share is [`WINDOW_BYTES_MIN`], which the plan counts per connection.
    pub fn share(&self, body_bytes: Option<u64>) -> Share {
        let wanted = body_bytes.unwrap_or(WINDOW_BYTES_MAX).min(WINDOW_BYTES_MAX);
        if wanted <= WINDOW_BYTES_MIN {
            return Share {
                window_bytes: WINDOW_BYTES_MIN,
                _units: None,
            };
        }
        let units = wanted.div_ceil(UNIT_BYTES) as u32;
        match Arc::clone(&self.units).try_acquire_many_owned(units) {
            Ok(permit) => Share {
                window_bytes: wanted,
                _units: Some(permit),
            },
            Err(_) => Share {
                window_bytes: WINDOW_BYTES_MIN,
                _units: None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_shrink_when_the_budget_is_used_up_and_come_back() {
        let budget = FillBudget::new(5 << 20);
        assert_eq!(budget.share(Some(1000)).window_bytes, WINDOW_BYTES_MIN);
        let first = budget.share(None);
        assert_eq!(first.window_bytes, WINDOW_BYTES_MAX);
        assert_eq!(budget.share(Some(2 << 20)).window_bytes, WINDOW_BYTES_MIN);
        assert_eq!(budget.share(Some(1 << 20)).window_bytes, 1 << 20);
        drop(first);
        assert_eq!(budget.share(Some(2 << 20)).window_bytes, 2 << 20);
    }
}
