//! Where a faulty device keeps I/Os back until a test lets them go.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::pin::Pin;

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::device::op::closed;

/// I/Os kept back at most; further ones fail with [`io::ErrorKind::ResourceBusy`]. More than any
/// real device has in its queue.
const HELD_IOS_MAX: usize = 4096;

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The I/Os kept back, oldest first.
///
/// They are held before they start, and starting one needs no caller: whoever dropped the future
/// dropped the answer, not the I/O.
#[derive(Default)]
pub(super) struct Gate {
    held: Mutex<VecDeque<Box<dyn FnOnce() + Send>>>,
}

impl Gate {
    /// Keeps `start` back. `failed` answers for an I/O that never starts.
    pub(super) fn hold<T: Send + 'static>(
        &self,
        start: impl FnOnce() -> BoxFuture<T> + Send + 'static,
        failed: impl FnOnce(io::Error) -> T + Send + 'static,
    ) -> BoxFuture<T> {
        let (started, running) = oneshot::channel();
        let mut held = self.held.lock();
        if held.len() >= HELD_IOS_MAX {
            return Box::pin(async { failed(io::ErrorKind::ResourceBusy.into()) });
        }
        held.push_back(Box::new(move || drop(started.send(start()))));
        Box::pin(async move {
            match running.await {
                Ok(io) => io.await,
                Err(_) => failed(closed()),
            }
        })
    }

    pub(super) fn len(&self) -> usize {
        self.held.lock().len()
    }

    /// Starts the `ios` oldest and says how many there were.
    pub(super) fn release(&self, ios: usize) -> usize {
        let released: Vec<_> = {
            let mut held = self.held.lock();
            let count = held.len().min(ios);
            held.drain(..count).collect()
        };
        let count = released.len();
        // Outside the lock: a start runs the device underneath.
        for start in released {
            start();
        }
        count
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("held", &self.len()).finish()
    }
}
