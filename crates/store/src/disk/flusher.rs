//! The writer: takes the log's jobs to the device, in order.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Sleep, sleep, timeout};

use super::core::Core;
use super::tail::{Job, Queued};
use crate::device::{AlignedBuf, Completion, IoFuture};

/// Writes in flight. Measured on virtio flash: two reach what the device can do.
pub(super) const WRITES_IN_FLIGHT: usize = 2;

/// A write or sync that takes longer counts as failed: drives give up on a bad block within 30 s.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);

/// The writer's own state. It alone writes segments.
struct Flusher {
    core: Arc<Core>,
    flush_after: Duration,
    in_flight: VecDeque<InFlight>,
    /// Buffers of the last writes, to be used again: at most [`WRITES_IN_FLIGHT`].
    spare: Vec<AlignedBuf>,
    /// When data that waits for more is written anyway.
    idle: Option<Pin<Box<Sleep>>>,
}

struct InFlight {
    io: IoFuture,
    ticket: u64,
    is_run: bool,
}

/// What to do next.
enum Step {
    Start(Queued),
    AwaitOldest,
    /// Make durable what was written, up to this record.
    Sync(u64),
    Wait {
        dirty: bool,
    },
    Stop,
}

/// Writes until the log is stopped or the device fails.
pub(super) async fn run(core: Arc<Core>, flush_after: Duration) {
    let mut flusher = Flusher {
        core,
        flush_after,
        in_flight: VecDeque::new(),
        spare: Vec::new(),
        idle: None,
    };
    if let Err((what, error)) = flusher.run().await {
        flusher.core.fail(what, &error);
    }
}

type Failed = (&'static str, io::Error);

impl Flusher {
    async fn run(&mut self) -> Result<(), Failed> {
        loop {
            match self.next_step() {
                Step::Start(queued) => self.start(queued).await?,
                Step::AwaitOldest => self.await_oldest().await?,
                Step::Sync(ticket) => {
                    self.sync().await?;
                    self.core.log.set_durable(ticket);
                }
                Step::Wait { dirty } => self.wait(dirty).await,
                Step::Stop => return Ok(()),
            }
        }
    }

    fn next_step(&self) -> Step {
        let mut guard = self.core.log.lock();
        let state = guard.state();
        if state.stopped {
            return Step::Stop;
        }
        let durable = self.core.log.durable();
        if state.flush_wanted > durable && state.written >= state.flush_wanted {
            return Step::Sync(state.written);
        }
        let none_left = state.tail.first_job().is_none();
        if none_left && state.flush_wanted > durable {
            state.tail.freeze();
        }
        match state.tail.first_job() {
            Some(Job::Run { .. }) if self.in_flight.len() < WRITES_IN_FLIGHT => {}
            Some(Job::Footer { .. } | Job::Begin { .. }) if self.in_flight.is_empty() => {}
            None if self.in_flight.is_empty() => {
                let dirty = state.tail.is_dirty();
                return Step::Wait { dirty };
            }
            _ => return Step::AwaitOldest,
        }
        state.tail.take_job().map_or(Step::AwaitOldest, Step::Start)
    }

    async fn start(&mut self, queued: Queued) -> Result<(), Failed> {
        let Queued { job, ticket } = queued;
        match job {
            Job::Run { offset, bytes } => {
                let buf = self.aligned(&bytes);
                self.write(offset, buf, ticket, true);
            }
            Job::Footer { offset, blocks } => {
                self.sync().await?;
                self.write(offset, blocks, ticket, false);
            }
            Job::Begin { offset, blocks } => {
                self.core.counters.segments_written.add(1);
                self.write(offset, blocks, ticket, false);
                self.await_oldest().await?;
                self.sync().await?;
                self.core.log.set_durable(ticket);
            }
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, buf: AlignedBuf, ticket: u64, is_run: bool) {
        self.core.counters.bytes_written.add(buf.len() as u64);
        let io = self.core.device.write(offset, buf);
        self.in_flight.push_back(InFlight { io, ticket, is_run });
    }

    /// A copy that the device can have while readers go on using the run.
    fn aligned(&mut self, bytes: &[u8]) -> AlignedBuf {
        let fits = |buf: &AlignedBuf| buf.len() == bytes.len();
        let spare = self.spare.pop().filter(fits);
        let mut buf = spare.unwrap_or_else(|| AlignedBuf::zeroed(bytes.len()));
        buf[..bytes.len()].copy_from_slice(bytes);
        buf
    }

    async fn await_oldest(&mut self) -> Result<(), Failed> {
        let Some(oldest) = self.in_flight.pop_front() else {
            return Ok(());
        };
        let (buf, result): Completion = timeout(WRITE_PATIENCE, oldest.io)
            .await
            .map_err(|late| ("write", late.into()))?;
        result.map_err(|error| ("write", error))?;
        if oldest.is_run && self.spare.len() < WRITES_IN_FLIGHT {
            self.spare.push(buf);
        }
        self.core.log.written(oldest.ticket, oldest.is_run);
        Ok(())
    }

    async fn sync(&mut self) -> Result<(), Failed> {
        timeout(WRITE_PATIENCE, self.core.device.sync())
            .await
            .unwrap_or_else(|late| Err(late.into()))
            .map_err(|error| ("sync", error))
    }

    /// Waits for work or, with data in the open run, for its time to be written.
    async fn wait(&mut self, dirty: bool) {
        if !dirty {
            self.idle = None;
            return self.core.log.work.notified().await;
        }
        let flush_after = self.flush_after;
        let idle = self
            .idle
            .get_or_insert_with(|| Box::pin(sleep(flush_after)));
        tokio::select! {
            () = self.core.log.work.notified() => {}
            () = idle => {
                self.idle = None;
                self.core.log.lock().freeze();
            }
        }
    }
}
