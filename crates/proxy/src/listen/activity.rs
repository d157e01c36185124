//! What one client connection is doing: the facts from which it is judged idle or stalled.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use super::guard::UpgradeGate;
use super::limits::ListenLimits;

/// Shared by the connection's task, its socket and its requests, HTTP/2 streams included.
#[derive(Debug)]
pub(super) struct Activity {
    epoch: Instant,
    in_flight: AtomicU32,
    quiet_since_ms: AtomicU64,
    /// Response bodies that handed out a frame and were not asked again since: the reader's turn.
    handed_out: AtomicU32,
    handed_out_at_ms: AtomicU64,
    pub(super) gate: UpgradeGate,
    /// Counts against the bound of connections for as long as the socket lives, which an upgrade
    /// takes beyond the connection's task.
    _slot: OwnedSemaphorePermit,
}

/// What to do with a connection now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Judgement {
    /// Nothing; look again after this long.
    Keep(Duration),
    /// No request for too long: close it politely.
    Idle,
    /// Its reader takes nothing: drop it.
    Stalled,
}

/// One request, from its head to the last byte of its response.
#[derive(Debug)]
pub(super) struct InFlight {
    activity: Arc<Activity>,
    has_handed_out: bool,
}

impl Activity {
    pub(super) fn new(slot: OwnedSemaphorePermit) -> Self {
        Self {
            epoch: Instant::now(),
            in_flight: AtomicU32::new(0),
            quiet_since_ms: AtomicU64::new(0),
            handed_out: AtomicU32::new(0),
            handed_out_at_ms: AtomicU64::new(0),
            gate: UpgradeGate::default(),
            _slot: slot,
        }
    }

    /// Whether a request is being answered.
    pub(super) fn is_busy(&self) -> bool {
        self.in_flight.load(Ordering::Acquire) > 0
    }

    /// Judges the connection at `now`.
    pub(super) fn judge(&self, now: Instant, limits: &ListenLimits) -> Judgement {
        let since = |ms: &AtomicU64| {
            let at = self.epoch + Duration::from_millis(ms.load(Ordering::Acquire));
            now.saturating_duration_since(at)
        };
        let (quiet, allowed, otherwise) = if !self.is_busy() {
            (
                since(&self.quiet_since_ms),
                limits.idle_timeout,
                Judgement::Idle,
            )
        } else if self.handed_out.load(Ordering::Acquire) > 0 {
            (
                since(&self.handed_out_at_ms),
                limits.write_stall_timeout,
                Judgement::Stalled,
            )
        } else {
            return Judgement::Keep(limits.idle_timeout.min(limits.write_stall_timeout));
        };
        match allowed.checked_sub(quiet) {
            Some(left) if !left.is_zero() => Judgement::Keep(left),
            _ => otherwise,
        }
    }

    fn now_ms(&self) -> u64 {
        self.epoch
            .elapsed()
            .as_millis()
            .try_into()
            .unwrap_or(u64::MAX)
    }
}

impl InFlight {
    pub(super) fn begin(activity: Arc<Activity>) -> Self {
        activity.in_flight.fetch_add(1, Ordering::AcqRel);
        Self {
            activity,
            has_handed_out: false,
        }
    }

    pub(super) fn activity(&self) -> &Activity {
        &self.activity
    }

    /// The body is asked for a frame: its reader is alive.
    pub(super) fn asked(&mut self) {
        if std::mem::take(&mut self.has_handed_out) {
            self.activity.handed_out.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// The body hands out a frame that is not its last.
    pub(super) fn handed_out(&mut self) {
        self.activity
            .handed_out_at_ms
            .store(self.activity.now_ms(), Ordering::Release);
        self.activity.handed_out.fetch_add(1, Ordering::AcqRel);
        self.has_handed_out = true;
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.asked();
        self.activity
            .quiet_since_ms
            .store(self.activity.now_ms(), Ordering::Release);
        self.activity.in_flight.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::Semaphore;
    use tokio::time::advance;

    use super::*;

    async fn activity() -> Arc<Activity> {
        let slot = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
        Arc::new(Activity::new(slot))
    }

    #[tokio::test(start_paused = true)]
    async fn idle_is_counted_from_the_end_of_the_last_request() {
        let (activity, limits) = (activity().await, ListenLimits::default());
        let second = Duration::from_secs(1);
        let request = InFlight::begin(Arc::clone(&activity));
        advance(limits.idle_timeout * 2).await;
        assert!(matches!(
            activity.judge(Instant::now(), &limits),
            Judgement::Keep(_)
        ));
        drop(request);
        advance(limits.idle_timeout - second).await;
        assert_eq!(
            activity.judge(Instant::now(), &limits),
            Judgement::Keep(second)
        );
        advance(second).await;
        assert_eq!(activity.judge(Instant::now(), &limits), Judgement::Idle);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_origin_is_not_a_slow_reader() {
        let (activity, limits) = (activity().await, ListenLimits::default());
        let mut request = InFlight::begin(Arc::clone(&activity));
        request.handed_out();
        request.asked();
        advance(limits.write_stall_timeout * 3).await;
        assert!(matches!(
            activity.judge(Instant::now(), &limits),
            Judgement::Keep(_)
        ));
        request.handed_out();
        advance(limits.write_stall_timeout).await;
        assert_eq!(activity.judge(Instant::now(), &limits), Judgement::Stalled);
        drop(request);
        assert!(matches!(
            activity.judge(Instant::now(), &limits),
            Judgement::Keep(_)
        ));
    }
}
