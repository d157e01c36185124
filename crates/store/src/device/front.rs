//! What every engine does before an I/O starts and after it ended: check, find room, answer.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tokio::sync::{Semaphore, oneshot};

use super::op::{Direction, Op, Room, Transfer, closed};
use super::{AlignedBuf, Completion, IoFuture, check_range};

/// I/Os that one device holds at a time, queued and running together.
///
/// A flash drive is saturated by 32 to 64 outstanding reads; four times that absorbs a burst, and
/// 256 reads of a 64 KiB sub-chunk are 16 MiB of buffers. What comes on top waits in its future.
pub(super) const IN_DEVICE_MAX: usize = 256;

/// Where accepted I/Os go. [`Front`] keeps what it holds under [`IN_DEVICE_MAX`].
pub(super) trait Queue: Send + Sync + 'static {
    /// Takes the I/O; a closed queue finishes it with an error.
    fn push(&self, op: Op);
}

/// The async side of an engine, in front of its threads.
#[derive(Debug)]
pub(super) struct Front<Q> {
    queue: Arc<Q>,
    room: Arc<Semaphore>,
    len_bytes: u64,
}

impl<Q: Queue> Front<Q> {
    pub(super) fn new(queue: Arc<Q>, len_bytes: u64) -> Self {
        Self {
            queue,
            room: Arc::new(Semaphore::new(IN_DEVICE_MAX)),
            len_bytes,
        }
    }

    pub(super) fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    pub(super) fn queue(&self) -> &Q {
        &self.queue
    }

    pub(super) fn transfer(&self, direction: Direction, offset: u64, buf: AlignedBuf) -> IoFuture {
        if let Err(error) = check_range(self.len_bytes, offset, &buf) {
            return Box::pin(std::future::ready((buf, Err(error))));
        }
        let len = buf.len();
        let transfer = Transfer::new(direction, offset, buf);
        let (reply, answer) = oneshot::channel();
        let waiting = self.accept(move |room| Op::Transfer(transfer, reply, room));
        match waiting {
            None => Box::pin(answer_of(answer, len)),
            Some(waiting) => Box::pin(async move {
                waiting.await;
                answer_of(answer, len).await
            }),
        }
    }

    pub(super) fn sync(&self) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send>> {
        let (reply, answer) = oneshot::channel();
        let waiting = self.accept(move |room| Op::Sync(reply, room));
        Box::pin(async move {
            if let Some(waiting) = waiting {
                waiting.await;
            }
            answer.await.unwrap_or_else(|_| Err(closed()))
        })
    }

    /// Queues the I/O now, or gives back a future that does so once there is room.
    fn accept<F>(&self, op: F) -> Option<impl Future<Output = ()> + Send + use<Q, F>>
    where
        F: FnOnce(Room) -> Op + Send + 'static,
    {
        if let Ok(room) = Arc::clone(&self.room).try_acquire_owned() {
            self.queue.push(op(room));
            return None;
        }
        let (queue, room) = (Arc::clone(&self.queue), Arc::clone(&self.room));
        Some(async move {
            // Never closed: without room there is no I/O, and `op` drops its reply.
            if let Ok(room) = room.acquire_owned().await {
                queue.push(op(room));
            }
        })
    }
}

/// Waits for an engine's threads. One that drops its own device cannot wait for itself.
pub(super) fn join(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    let me = thread::current().id();
    for other in threads.into_iter().filter(|t| t.thread().id() != me) {
        // A panic has been reported by its thread.
        let _ = other.join();
    }
}

/// The engine's answer; when its thread died with the buffer, an error and a new one.
async fn answer_of(answer: oneshot::Receiver<Completion>, len: usize) -> Completion {
    let lost = |_| (AlignedBuf::zeroed(len), Err(closed()));
    answer.await.unwrap_or_else(lost)
}
