//! One closed loop: take a request, send it, compare the answer, count, again.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::trace::Request;

use super::{
    dial::Dialer,
    exchange::{Received, exchange},
    feed::Queue,
    link::Link,
    tally::Tally,
};

/// What all workers share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) dialer: Arc<Dialer>,
    pub(super) queue: Queue,
    pub(super) tally: Mutex<Tally>,
    /// Texts on what went wrong. As many as fit are kept, the rest is only counted.
    pub(super) notes: mpsc::Sender<String>,
}

/// Works until the queue is empty.
pub(super) async fn work(shared: Arc<Shared>) {
    let mut link = Link::new(Arc::clone(&shared.dialer));
    while let Some(job) = shared.queue.next().await {
        let received = exchange(&mut link, &job.request).await;
        if let Some(note) = note(&job.request, &received) {
            let _ = shared.notes.try_send(note);
        }
        let reconnects = link.take_reconnects();
        shared.tally.lock().add(&job, &received, reconnects);
    }
}

fn note(request: &Request, received: &Received) -> Option<String> {
    let path = request.path();
    if let Some(at) = received.first_wrong {
        let (wrong, cache) = (received.wrong_bytes, &received.cache);
        let source = if cache.hit { "a hit" } else { "no hit" };
        let tier = cache.tier.as_deref().unwrap_or("no tier");
        return Some(format!(
            "{path}: {wrong} wrong bytes from offset {at} on ({source}, {tier})"
        ));
    }
    received
        .fault
        .as_ref()
        .map(|fault| format!("{path}: {}: {fault}", fault.as_str()))
}
