//! What one client connection is doing: the facts from which it is judged idle or stalled.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use super::guard::UpgradeGate;
use super::limits::ListenLimits;

/// What a reader takes at least within [`ListenLimits::write_stall_timeout`] while a response waits
/// for it: more than the HTTP/2 pings and acknowledgements that a stalled reader may still cause.
const TAKEN_BYTES_MIN: u64 = 1024;

/// Shared by the connection's task, its socket and its requests, HTTP/2 streams included.
#[derive(Debug)]
pub(super) struct Activity {
    epoch: Instant,
    in_flight: AtomicU32,
    /// When the last request ended or the last bytes were written.
    quiet_since_ms: AtomicU64,
    /// Response bodies that handed out a frame and were not asked again since: the reader's turn.
    handed_out: AtomicU32,
    asked: AtomicU64,
    written_bytes: AtomicU64,
    pub(super) gate: UpgradeGate,
    /// Counts against the bound of connections for as long as the socket lives, which an upgrade
    /// takes beyond the connection's task.
    _slot: OwnedSemaphorePermit,
}

/// Judges one connection from time to time.
#[derive(Debug, Default)]
pub(super) struct Judge {
    /// What had been taken when the reader's turn was first seen.
    waiting: Option<Taken>,
}

#[derive(Clone, Copy, Debug)]
struct Taken {
    at: Instant,
    asked: u64,
    written_bytes: u64,
}

/// What to do with a connection now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Judgement {
    /// Nothing; look again after this long.
    Keep(Duration),
    /// No request for too long: close it politely.
    Idle,
    /// Its reader takes next to nothing: drop it.
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
            asked: AtomicU64::new(0),
            written_bytes: AtomicU64::new(0),
            gate: UpgradeGate::default(),
            _slot: slot,
        }
    }

    /// Whether a request is being answered.
    pub(super) fn is_busy(&self) -> bool {
        self.in_flight.load(Ordering::Acquire) > 0
    }

    /// The socket took `bytes`.
    pub(super) fn wrote(&self, bytes: usize) {
        self.written_bytes
            .fetch_add(bytes as u64, Ordering::Relaxed);
        self.touch();
    }

    fn touch(&self) {
        let now_ms = self
            .epoch
            .elapsed()
            .as_millis()
            .try_into()
            .unwrap_or(u64::MAX);
        self.quiet_since_ms.store(now_ms, Ordering::Release);
    }

    fn quiet_since(&self) -> Instant {
        self.epoch + Duration::from_millis(self.quiet_since_ms.load(Ordering::Acquire))
    }

    fn taken(&self, at: Instant) -> Taken {
        let asked = self.asked.load(Ordering::Relaxed);
        Taken {
            at,
            asked,
            written_bytes: self.written_bytes.load(Ordering::Relaxed),
        }
    }
}

impl Judge {
    /// Judges the connection that does `activity` at `now`.
    ///
    /// A slow origin is not a slow reader: only a body that has handed out a frame and was not
    /// asked again waits for one. Nor is a frame that takes long a stall while bytes of it go.
    pub(super) fn judge(
        &mut self,
        activity: &Activity,
        now: Instant,
        limits: &ListenLimits,
    ) -> Judgement {
        if !activity.is_busy() {
            self.waiting = None;
            let quiet = now.saturating_duration_since(activity.quiet_since());
            return left(limits.idle_timeout, quiet).map_or(Judgement::Idle, Judgement::Keep);
        }
        if activity.handed_out.load(Ordering::Acquire) == 0 {
            self.waiting = None;
            return Judgement::Keep(limits.idle_timeout.min(limits.write_stall_timeout));
        }
        let taken = activity.taken(now);
        let before = *self.waiting.get_or_insert(taken);
        if taken.is_progress_since(&before) {
            self.waiting = Some(taken);
            return Judgement::Keep(limits.write_stall_timeout);
        }
        let waited = now.saturating_duration_since(before.at);
        left(limits.write_stall_timeout, waited).map_or(Judgement::Stalled, Judgement::Keep)
    }
}

/// What is left of `allowed` after `passed`, if anything.
fn left(allowed: Duration, passed: Duration) -> Option<Duration> {
    allowed.checked_sub(passed).filter(|left| !left.is_zero())
}

impl Taken {
    const fn is_progress_since(&self, before: &Self) -> bool {
        self.asked != before.asked
            || self.written_bytes.saturating_sub(before.written_bytes) >= TAKEN_BYTES_MIN
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
        self.activity.asked.fetch_add(1, Ordering::Relaxed);
        self.take_back();
    }

    /// The body hands out a frame that is not its last.
    pub(super) fn handed_out(&mut self) {
        self.activity.handed_out.fetch_add(1, Ordering::AcqRel);
        self.has_handed_out = true;
    }

    fn take_back(&mut self) {
        if std::mem::take(&mut self.has_handed_out) {
            self.activity.handed_out.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.take_back();
        self.activity.touch();
        self.activity.in_flight.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::Semaphore;
    use tokio::time::advance;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    struct Scene {
        activity: Arc<Activity>,
        judge: Judge,
        limits: ListenLimits,
    }

    impl Scene {
        async fn new() -> Self {
            let slot = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
            let activity = Arc::new(Activity::new(slot));
            Self {
                activity,
                judge: Judge::default(),
                limits: ListenLimits::default(),
            }
        }

        async fn after(&mut self, passed: Duration) -> Judgement {
            advance(passed).await;
            self.judge
                .judge(&self.activity, Instant::now(), &self.limits)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn idle_is_counted_from_the_end_of_the_last_request() {
        let mut scene = Scene::new().await;
        let idle = scene.limits.idle_timeout;
        let request = InFlight::begin(Arc::clone(&scene.activity));
        assert!(matches!(scene.after(idle * 2).await, Judgement::Keep(_)));
        drop(request);
        assert_eq!(scene.after(idle - SECOND).await, Judgement::Keep(SECOND));
        assert_eq!(scene.after(SECOND).await, Judgement::Idle);
    }

    #[tokio::test(start_paused = true)]
    async fn a_response_that_is_still_being_taken_is_not_idle() {
        let mut scene = Scene::new().await;
        let idle = scene.limits.idle_timeout;
        drop(InFlight::begin(Arc::clone(&scene.activity)));
        advance(idle - SECOND).await;
        scene.activity.wrote(1);
        assert_eq!(scene.after(SECOND).await, Judgement::Keep(idle - SECOND));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_origin_is_not_a_slow_reader() {
        let mut scene = Scene::new().await;
        let stall = scene.limits.write_stall_timeout;
        let mut request = InFlight::begin(Arc::clone(&scene.activity));
        request.handed_out();
        request.asked();
        for _ in 0..5 {
            assert!(matches!(scene.after(stall).await, Judgement::Keep(_)));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_takes_a_little_is_kept_and_one_that_takes_nothing_is_not() {
        let mut scene = Scene::new().await;
        let stall = scene.limits.write_stall_timeout;
        let mut request = InFlight::begin(Arc::clone(&scene.activity));
        request.handed_out();
        for _ in 0..5 {
            assert!(matches!(scene.after(stall).await, Judgement::Keep(_)));
            scene.activity.wrote(TAKEN_BYTES_MIN as usize);
        }
        assert!(matches!(scene.after(SECOND).await, Judgement::Keep(_)));
        // Pings are answered, nothing is read.
        scene.activity.wrote(17);
        assert_eq!(scene.after(stall - SECOND).await, Judgement::Keep(SECOND));
        assert_eq!(scene.after(SECOND).await, Judgement::Stalled);
        drop(request);
        assert!(matches!(
            scene.after(Duration::ZERO).await,
            Judgement::Keep(_)
        ));
    }
}
