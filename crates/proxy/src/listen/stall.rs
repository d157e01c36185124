//! A timer for "nothing has moved for this long" that costs nothing while things move.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// Measures how long an operation has made no progress.
///
/// The silence begins when the operation is first found pending after progress, so that a pause
/// of its own reader does not count. The timer is moved only when it fires: progress costs one
/// store, however often it happens.
#[derive(Debug)]
pub(crate) struct StallTimer {
    after: Duration,
    /// Since when nothing has moved.
    silent_since: Option<Instant>,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl StallTimer {
    pub(crate) const fn new(after: Duration) -> Self {
        Self {
            after,
            silent_since: None,
            sleep: None,
        }
    }

    /// How long nothing may move.
    pub(crate) const fn after(&self) -> Duration {
        self.after
    }

    /// Something has moved.
    pub(crate) const fn progress(&mut self) {
        self.silent_since = None;
    }

    /// To be called whenever the operation is pending: ready when it has stalled.
    pub(crate) fn poll_stalled(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let deadline = *self.silent_since.get_or_insert_with(Instant::now) + self.after;
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        while sleep.as_mut().poll(cx).is_ready() {
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn fires_after_one_period_without_progress() {
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
            silence >= after && silence <= after + Duration::from_millis(5),
            "{silence:?}"
        );
    }
}
