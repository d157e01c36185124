//! The fast engine: one thread that owns an io_uring.
//!
//! ```text
//! caller ── Front ──► Inbox ──(eventfd, when the thread sleeps)──► Ring ──► kernel
//!    ▲                                                               │
//!    └────────────── oneshot, one batch per return of the kernel ◄───┘
//! ```
//!
//! An I/O's buffer belongs to the ring from its submission to its completion. A caller who drops
//! the future loses the answer, never the buffer under the kernel's hands.

mod inbox;
mod ring;

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};

use inbox::Inbox;
use ring::Ring;

use super::front::{Front, join};
use super::op::Direction;
use super::{AlignedBuf, DataFile, Device, DeviceOpenError, IoFuture};

/// A [`Device`] over a data file, by io_uring.
///
/// Needs Linux 5.13; from 6.1 on, completions are gathered by the thread that waits for them
/// (`IORING_SETUP_DEFER_TASKRUN`). Dropping it finishes what is queued and running, ends the
/// thread and unlocks the file.
#[derive(Debug)]
pub struct UringDevice {
    front: Front<Inbox>,
    thread: Option<JoinHandle<()>>,
}

impl UringDevice {
    /// Probes io_uring and starts the thread.
    ///
    /// # Errors
    /// [`DeviceOpenError::Uring`] when the kernel, its configuration or a seccomp filter refuses.
    pub fn start(file: Arc<DataFile>) -> Result<Self, DeviceOpenError> {
        let len_bytes = file.len_bytes();
        let inbox = Arc::new(Inbox::new().map_err(at("create an eventfd"))?);
        // The ring lives and dies on its thread: SINGLE_ISSUER binds it to the task that creates it.
        let (started, outcome) = sync_channel(1);
        let thread = thread::Builder::new().name("disk-uring".into()).spawn({
            let inbox = Arc::clone(&inbox);
            move || serve(file, &inbox, |result| drop(started.send(result)))
        });
        let device = Self {
            front: Front::new(inbox, len_bytes),
            thread: Some(thread.map_err(at("start a thread"))?),
        };
        match outcome.recv() {
            Ok(Ok(())) => Ok(device),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(at("start a ring")(io::ErrorKind::BrokenPipe.into())),
        }
    }
}

impl Device for UringDevice {
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
        "uring"
    }
}

impl Drop for UringDevice {
    fn drop(&mut self) {
        self.front.queue().close();
        join(self.thread.take());
    }
}

/// The life of the thread: says how the start went, then serves until the inbox is closed.
fn serve(
    file: Arc<DataFile>,
    inbox: &Arc<Inbox>,
    started: impl FnOnce(Result<(), DeviceOpenError>),
) {
    let _closed_at_the_end = CloseOnDrop(inbox);
    let mut ring = match Ring::start(file, Arc::clone(inbox)) {
        Ok(ring) => ring,
        Err(error) => return started(Err(error)),
    };
    started(Ok(()));
    if let Err(error) = ring.run() {
        tracing::error!(%error, "io_uring failed: the device is out of service");
    }
}

/// Answers whoever still waits, even if the thread panics.
struct CloseOnDrop<'a>(&'a Inbox);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
        self.0.refuse_all();
    }
}

fn at(step: &'static str) -> impl Fn(io::Error) -> DeviceOpenError {
    move |source| DeviceOpenError::Uring { step, source }
}
