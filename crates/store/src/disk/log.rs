//! The tail of the log, shared: who appends waits here for room, who flushes for the device.

use std::ops::{Deref, DerefMut, Range};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, watch};

use super::DiskError;
use super::tail::{InMemory, Tail};

/// The shared tail. Every change to the log and to the index that belongs together happens under
/// its one lock, which is held for memory copies only.
#[derive(Debug)]
pub(super) struct Log {
    state: Mutex<State>,
    /// Everything before this point of the line is on the device: reads below take no lock.
    memory_floor: AtomicU64,
    /// Work for the writer.
    pub(super) work: Notify,
    /// A run was written, or none ever will be.
    room: Notify,
    progress: watch::Sender<Progress>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) tail: Tail,
    /// Records up to this one must become durable.
    pub(super) flush_wanted: u64,
    /// Records up to this one were written.
    pub(super) written: u64,
    pub(super) stopped: bool,
}

/// How far the device is.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// Records up to this one are durable.
    durable: u64,
    stopped: bool,
}

/// The locked tail. On release, the writer is woken if there is something to do.
#[derive(Debug)]
pub(super) struct TailGuard<'a> {
    state: MutexGuard<'a, State>,
    work: &'a Notify,
}

impl Log {
    pub(super) fn new(tail: Tail) -> Self {
        Self {
            memory_floor: AtomicU64::new(tail.memory_floor()),
            state: Mutex::new(State {
                tail,
                flush_wanted: 0,
                written: 0,
                stopped: false,
            }),
            work: Notify::new(),
            room: Notify::new(),
            progress: watch::Sender::new(Progress::default()),
        }
    }

    pub(super) fn lock(&self) -> TailGuard<'_> {
        TailGuard {
            state: self.state.lock(),
            work: &self.work,
        }
    }

    /// Waits until a record of so many bytes can be appended, and locks the tail. Cancel safe.
    pub(super) async fn reserve(
        &self,
        record_bytes: usize,
        patience: Duration,
    ) -> Result<TailGuard<'_>, DiskError> {
        if let Some(ready) = self.try_reserve(record_bytes) {
            return ready;
        }
        let waited_ms = patience.as_millis() as u64;
        tokio::time::timeout(patience, self.reserve_waiting(record_bytes))
            .await
            .unwrap_or(Err(DiskError::Busy { waited_ms }))
    }

    async fn reserve_waiting(&self, record_bytes: usize) -> Result<TailGuard<'_>, DiskError> {
        loop {
            let room = self.room.notified();
            tokio::pin!(room);
            // Registered before the look, so that no wake-up falls between look and wait.
            room.as_mut().enable();
            if let Some(ready) = self.try_reserve(record_bytes) {
                return ready;
            }
            room.await;
        }
    }

    fn try_reserve(&self, record_bytes: usize) -> Option<Result<TailGuard<'_>, DiskError>> {
        let guard = self.lock();
        if guard.state.stopped {
            return Some(Err(DiskError::OutOfService));
        }
        guard.has_room(record_bytes).then_some(Ok(guard))
    }

    /// Makes durable what was appended before the call. Concurrent calls share a write and a sync.
    /// Cancel safe.
    pub(super) async fn flush(&self) -> Result<(), DiskError> {
        let ticket = {
            let mut guard = self.lock();
            let ticket = guard.state.tail.appended();
            let state = &mut *guard.state;
            state.flush_wanted = state.flush_wanted.max(ticket);
            ticket
        };
        self.work.notify_one();
        let mut progress = self.progress.subscribe();
        let reached = progress.wait_for(|now| now.durable >= ticket || now.stopped);
        match reached.await {
            Ok(now) if now.durable >= ticket => Ok(()),
            _ => Err(DiskError::OutOfService),
        }
    }

    /// The bytes of a stretch that the device may not have yet; `None` if it has them all.
    pub(super) fn in_memory(&self, stretch: &Range<u64>) -> Option<InMemory> {
        if stretch.end <= self.memory_floor.load(Ordering::Acquire) {
            return None;
        }
        Some(self.lock().in_memory(stretch)).filter(|memory| !memory.parts.is_empty())
    }

    /// The writer wrote everything up to record `ticket`, and a run of it if `is_run`.
    pub(super) fn written(&self, ticket: u64, is_run: bool) {
        let mut guard = self.lock();
        guard.state.written = ticket;
        if is_run {
            guard.run_written();
        }
        self.memory_floor
            .store(guard.memory_floor(), Ordering::Release);
        drop(guard);
        self.room.notify_waiters();
    }

    /// What records up to this one were durable at the last sync.
    pub(super) fn durable(&self) -> u64 {
        self.progress.borrow().durable
    }

    pub(super) fn set_durable(&self, ticket: u64) {
        self.progress.send_modify(|now| now.durable = ticket);
    }

    /// Ends the writer, and everybody's waiting. What the device does not have is lost.
    pub(super) fn stop(&self) {
        let mut guard = self.lock();
        guard.state.stopped = true;
        guard.abandon();
        drop(guard);
        self.progress.send_modify(|now| now.stopped = true);
        self.room.notify_waiters();
        self.work.notify_one();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.progress.borrow().stopped
    }
}

impl TailGuard<'_> {
    pub(super) fn state(&mut self) -> &mut State {
        &mut self.state
    }
}

impl Deref for TailGuard<'_> {
    type Target = Tail;

    fn deref(&self) -> &Tail {
        &self.state.tail
    }
}

impl DerefMut for TailGuard<'_> {
    fn deref_mut(&mut self) -> &mut Tail {
        &mut self.state.tail
    }
}

impl Drop for TailGuard<'_> {
    fn drop(&mut self) {
        if self.state.tail.take_wake() {
            self.work.notify_one();
        }
    }
}
