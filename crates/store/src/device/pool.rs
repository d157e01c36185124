//! The engine that works everywhere: a fixed pool of threads that call pread and pwrite.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::iter::repeat_n;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use parking_lot::{Condvar, Mutex};

use super::front::{Front, Queue, join};
use super::op::{Direction, Op, Step, Transfer, closed};
use super::{AlignedBuf, DataFile, Device, IoFuture};

/// Threads of a pool, unless told otherwise: where reads per second stop growing on flash, while
/// the stacks still cost next to nothing.
pub const POOL_THREADS: NonZeroUsize = NonZeroUsize::new(8).unwrap();

/// A [`Device`] over a data file, by a fixed pool of threads.
///
/// Dropping it finishes what is queued, ends the threads and unlocks the file.
#[derive(Debug)]
pub struct PoolDevice {
    front: Front<Pending>,
    threads: Vec<JoinHandle<()>>,
}

impl PoolDevice {
    /// Starts the threads.
    ///
    /// # Errors
    /// When the operating system gives no thread.
    pub fn start(file: Arc<DataFile>, threads: NonZeroUsize) -> io::Result<Self> {
        let len_bytes = file.len_bytes();
        let queue = Arc::new(Pending::default());
        // Built first: if a thread is refused, dropping it ends those before.
        let mut pool = Self {
            front: Front::new(Arc::clone(&queue), len_bytes),
            threads: Vec::with_capacity(threads.get()),
        };
        for (number, file) in repeat_n(file, threads.get()).enumerate() {
            let queue = Arc::clone(&queue);
            let thread = thread::Builder::new().name(format!("disk-{number}"));
            pool.threads
                .push(thread.spawn(move || work(&queue, &file.file))?);
        }
        Ok(pool)
    }
}

impl Device for PoolDevice {
    fn len_bytes(&self) -> u64 {
        self.front.len_bytes()
    }

    fn read(&self, offset: u64, buf: AlignedBuf) -> IoFuture {
        self.front.transfer(Direction::Read, offset, buf)
    }

    fn write(&self, offset: u64, buf: AlignedBuf) -> IoFuture {
        self.front.transfer(Direction::Write, offset, buf)
    }

    fn sync(&self) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send>> {
        self.front.sync()
    }

    fn name(&self) -> &'static str {
        "file"
    }
}

impl Drop for PoolDevice {
    fn drop(&mut self) {
        self.front.queue().close();
        join(self.threads.drain(..));
    }
}

/// What callers have handed in and no thread has yet taken.
///
/// Callers who wait for room hold it too; the file is with the threads alone, and closed by them.
#[derive(Debug, Default)]
struct Pending {
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// At most [`super::front::IN_DEVICE_MAX`]: [`Front`] sees to it.
    ops: VecDeque<Op>,
    closed: bool,
}

impl Queue for Pending {
    fn push(&self, op: Op) {
        let mut state = self.state.lock();
        if state.closed {
            drop(state);
            return op.finish(Err(closed()));
        }
        state.ops.push_back(op);
        drop(state);
        self.work.notify_one();
    }
}

impl Pending {
    fn close(&self) {
        self.state.lock().closed = true;
        self.work.notify_all();
    }

    /// Waits for an I/O; none is left and none will come when it gives none.
    fn next(&self) -> Option<Op> {
        let mut state = self.state.lock();
        loop {
            match state.ops.pop_front() {
                Some(op) => return Some(op),
                None if state.closed => return None,
                None => self.work.wait(&mut state),
            }
        }
    }
}

/// The life of one thread.
fn work(queue: &Pending, file: &File) {
    while let Some(mut op) = queue.next() {
        let result = match &mut op {
            Op::Transfer(transfer, ..) => carry_out(file, transfer),
            Op::Sync(..) => file.sync_data(),
        };
        op.finish(result);
    }
}

fn carry_out(file: &File, transfer: &mut Transfer) -> io::Result<()> {
    loop {
        let offset = transfer.rest_offset();
        let answer = match transfer.direction {
            Direction::Read => rustix::io::pread(file, transfer.rest(), offset),
            Direction::Write => rustix::io::pwrite(file, transfer.rest(), offset),
        };
        if let Step::Done(result) = transfer.advance(answer) {
            return result;
        }
    }
}
