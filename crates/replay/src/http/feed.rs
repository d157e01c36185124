//! From the trace to the workers: one reader, one bounded queue.

use std::{collections::HashSet, thread};

use tokio::sync::{Mutex, mpsc, oneshot};

use crate::trace::{Request, TraceError, TraceReader};

use super::error::ReplayError;

/// Requests read ahead of the workers. Enough to outlast a pause of the decompressor, 40 KiB.
pub const QUEUE_REQUESTS: usize = 1024;

/// Objects that are remembered for the infinite cache's ratios: the 29 million that a hash table
/// of 2^25 places holds without growing, at 17 bytes a place 570 MB. A trace with more is
/// replayed without those ratios.
pub const OBJECTS_TRACKED_MAX: usize = (1 << 25) / 8 * 7;

/// A request to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) request: Request,
    /// Whether an infinite cache would have it; `None` if too many objects came before.
    pub(super) seen: Option<bool>,
}

/// Which of a trace's requests are sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selection {
    pub(super) limit: Option<u64>,
    pub(super) size_bytes_max: Option<u64>,
}

/// The reading end. Whoever waits longest gets the oldest request: starts keep the trace's order.
#[derive(Debug)]
pub(super) struct Queue(Mutex<mpsc::Receiver<Job>>);

/// How the reading ended: the number of requests skipped, or what was wrong with the trace.
pub(super) type Ending = oneshot::Receiver<Result<u64, TraceError>>;

impl Queue {
    /// The next request; `None` when there is none left. Cancel safe.
    pub(super) async fn next(&self) -> Option<Job> {
        self.0.lock().await.recv().await
    }
}

/// Starts the reader's thread. It ends with the trace, or soon after the queue is dropped.
pub(super) fn start(
    trace: TraceReader,
    selection: Selection,
) -> Result<(Queue, Ending), ReplayError> {
    let (jobs, queue) = mpsc::channel(QUEUE_REQUESTS);
    let (ended, ending) = oneshot::channel();
    let read = move || {
        // Nobody waits for the ending of a replay that was dropped.
        let _ = ended.send(feed(trace, selection, &jobs));
    };
    let thread = thread::Builder::new().name("larder-trace".to_owned());
    thread.spawn(read).map_err(ReplayError::Thread)?;
    Ok((Queue(Mutex::new(queue)), ending))
}

fn feed(
    trace: TraceReader,
    selection: Selection,
    jobs: &mpsc::Sender<Job>,
) -> Result<u64, TraceError> {
    let size_bytes_max = selection.size_bytes_max.unwrap_or(u64::MAX);
    let mut left = selection.limit.unwrap_or(u64::MAX);
    let mut infinite = InfiniteCache::default();
    let mut skipped = 0;
    for request in trace {
        if left == 0 {
            break;
        }
        let request = request?;
        if request.size_bytes > size_bytes_max {
            skipped += 1;
            continue;
        }
        let seen = infinite.ask(&request, OBJECTS_TRACKED_MAX);
        if jobs.blocking_send(Job { request, seen }).is_err() {
            break;
        }
        left -= 1;
    }
    Ok(skipped)
}

/// What a cache that never evicts would hold.
#[derive(Debug, Default)]
struct InfiniteCache {
    objects: HashSet<(u64, u64)>,
    overflown: bool,
}

impl InfiniteCache {
    /// Whether the object was asked for before; it is now. `None` from the first object on that
    /// is one more than `objects_max`.
    fn ask(&mut self, request: &Request, objects_max: usize) -> Option<bool> {
        if self.overflown {
            return None;
        }
        let object = (request.id, request.size_bytes);
        if self.objects.contains(&object) {
            return Some(true);
        }
        if self.objects.len() >= objects_max {
            self.overflown = true;
            self.objects = HashSet::new();
            return None;
        }
        self.objects.insert(object);
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_infinite_cache_counts_until_it_is_not_infinite() {
        let mut infinite = InfiniteCache::default();
        let mut ask = |id, size_bytes| {
            let request = Request {
                timestamp_s: 0.0,
                id,
                size_bytes,
            };
            infinite.ask(&request, 2)
        };
        let asked = [
            ask(1, 10),
            ask(1, 10),
            ask(1, 11),
            ask(1, 10),
            ask(2, 10),
            ask(1, 10),
        ];
        assert_eq!(
            asked,
            [Some(false), Some(true), Some(false), Some(true), None, None]
        );
    }

    #[tokio::test]
    async fn skipped_requests_do_not_count_towards_the_limit() {
        let text = "0,1,10\n0,2,99\n0,3,10\n0,4,10\n";
        let trace = TraceReader::new("t", text.as_bytes()).unwrap();
        let selection = Selection {
            limit: Some(2),
            size_bytes_max: Some(50),
        };
        let (queue, ending) = start(trace, selection).unwrap();
        let mut ids = Vec::new();
        while let Some(job) = queue.next().await {
            ids.push(job.request.id);
        }
        assert_eq!(ids, [1, 3]);
        assert_eq!(ending.await.unwrap().unwrap(), 1);
    }
}
