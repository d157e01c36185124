//! How I/Os reach the ring's thread, and how it is woken only when it sleeps.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use parking_lot::Mutex;
use rustix::event::{EventfdFlags, eventfd};

use crate::device::front::Queue;
use crate::device::op::{Op, closed};

/// What callers have handed in and the thread has not yet taken.
#[derive(Debug)]
pub(super) struct Inbox {
    state: Mutex<State>,
    wake: OwnedFd,
}

#[derive(Debug, Default)]
struct State {
    /// At most [`crate::device::front::IN_DEVICE_MAX`].
    ops: Vec<Op>,
    closed: bool,
    /// The thread looks at `ops` again only after a wake-up. Set by the thread, cleared by the
    /// caller who wakes it: one system call per sleep, however many callers.
    asleep: bool,
}

impl Inbox {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            state: Mutex::default(),
            wake: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
        })
    }

    /// Becomes readable with every wake-up. Nobody reads it: the poll on it is edge-triggered.
    pub(super) fn wake_fd(&self) -> RawFd {
        self.wake.as_raw_fd()
    }

    /// Wakes the thread, wherever it is.
    pub(super) fn wake(&self) {
        #[expect(
            clippy::host_endian_bytes,
            reason = "eventfd(2) wants this machine's order"
        )]
        let one = 1u64.to_ne_bytes();
        // Fails only when the counter would pass 2^64 - 2, that is, never.
        let _ = rustix::io::write(&self.wake, &one);
    }

    /// Moves all I/Os to `ops`, which is empty, and says whether more can come.
    ///
    /// The thread counts as asleep from here on, since it is about to be: a wake-up in between
    /// makes the coming wait return at once.
    pub(super) fn take(&self, ops: &mut Vec<Op>) -> Taken {
        debug_assert!(ops.is_empty());
        let mut state = self.state.lock();
        std::mem::swap(&mut state.ops, ops);
        state.asleep = true;
        match state.closed {
            true => Taken::Last,
            false => Taken::MoreMayCome,
        }
    }

    /// The thread has woken, for whatever reason: no wake-up is needed until it takes again.
    pub(super) fn awake(&self) {
        self.state.lock().asleep = false;
    }

    /// Lets nothing more in. What is in is still taken.
    pub(super) fn close(&self) {
        self.state.lock().closed = true;
        self.wake();
    }

    /// Answers what nobody will take any more.
    pub(super) fn refuse_all(&self) {
        let ops = std::mem::take(&mut self.state.lock().ops);
        for op in ops {
            op.finish(Err(closed()));
        }
    }
}

impl Queue for Inbox {
    fn push(&self, op: Op) {
        let mut state = self.state.lock();
        if state.closed {
            drop(state);
            return op.finish(Err(closed()));
        }
        state.ops.push(op);
        let asleep = std::mem::take(&mut state.asleep);
        drop(state);
        if asleep {
            self.wake();
        }
    }
}

/// What [`Inbox::take`] knows about the future.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    MoreMayCome,
    /// The inbox is closed: nothing follows.
    Last,
}
