//! How long a request head may take from its first byte to its last.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

use super::super::activity::Activity;
use super::framing::Framing;

/// A timer that exists only on connections where a head once came in pieces.
#[derive(Debug)]
pub(super) struct HeadTimer {
    after: Duration,
    sleep: Option<Pin<Box<Sleep>>>,
    /// The head that it runs for, by number.
    armed_for: Option<u64>,
}

impl HeadTimer {
    pub(super) const fn new(after: Duration) -> Self {
        Self {
            after,
            sleep: None,
            armed_for: None,
        }
    }

    /// To be called when the socket has nothing to read: ready when a head has begun too long ago.
    ///
    /// While an earlier request of the pipeline is being answered the client may take its time.
    pub(super) fn poll_overdue(
        &mut self,
        cx: &mut Context<'_>,
        framing: &Framing,
        activity: &Activity,
    ) -> Poll<()> {
        if !framing.is_within_head() {
            return Poll::Pending;
        }
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(sleep(self.after)));
        if self.armed_for.replace(framing.heads()) != Some(framing.heads()) {
            sleep.as_mut().reset(Instant::now() + self.after);
        }
        loop {
            ready!(sleep.as_mut().poll(cx));
            if !activity.is_busy() {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(Instant::now() + self.after);
        }
    }
}
