//! A timer for "nothing has moved for this long" that costs nothing while things move.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

/// Measures how long an operation has made no progress.
///
/// The deadline is coarse: progress sets a flag, and the timer is only moved when it fires. A stall
/// is therefore noticed between one and two times `after`.
#[derive(Debug)]
pub(crate) struct StallTimer {
    after: Duration,
    has_moved: bool,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl StallTimer {
    pub(crate) const fn new(after: Duration) -> Self {
        Self {
            after,
            has_moved: false,
            sleep: None,
        }
    }

    /// How long nothing may move.
    pub(crate) const fn after(&self) -> Duration {
        self.after
    }

    /// Something has moved.
    pub(crate) const fn progress(&mut self) {
        self.has_moved = true;
    }

    /// To be called whenever the operation is pending: ready when it has stalled.
    pub(crate) fn poll_stalled(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let sleep = match &mut self.sleep {
            Some(sleep) => sleep,
            empty => {
                self.has_moved = false;
                empty.insert(Box::pin(sleep(self.after)))
            }
        };
        while sleep.as_mut().poll(cx).is_ready() {
            if !std::mem::take(&mut self.has_moved) {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(Instant::now() + self.after);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn fires_after_one_to_two_periods_without_progress() {
        let after = Duration::from_secs(10);
        let mut timer = StallTimer::new(after);
        let start = Instant::now();
        for _ in 0..5 {
            let step =
                tokio::time::timeout(Duration::from_secs(7), poll_fn(|cx| timer.poll_stalled(cx)));
            assert!(step.await.is_err(), "stalled though it moves");
            timer.progress();
        }
        let moved_at = start + Duration::from_secs(35);
        poll_fn(|cx| timer.poll_stalled(cx)).await;
        let silence = Instant::now() - moved_at;
        assert!(
            silence >= after && silence <= 2 * after + Duration::from_millis(5),
            "{silence:?}"
        );
    }
}
