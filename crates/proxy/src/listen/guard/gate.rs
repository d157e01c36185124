//! Whether a request for another protocol was granted: asked by the reader, answered by the response.

use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

/// Holds back what a client sends after a request with `Upgrade` until the response is known
/// (CVE-2026-2833 passed it on before).
#[derive(Debug, Default)]
pub(in crate::listen) struct UpgradeGate(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    is_accepted: Option<bool>,
    reader: Option<Waker>,
}

impl UpgradeGate {
    /// The response is `101 Switching Protocols`: what follows is the new protocol's.
    pub(in crate::listen) fn accepted(&self) {
        self.decide(true);
    }

    /// Any other response: what follows is HTTP.
    pub(in crate::listen) fn refused(&self) {
        self.decide(false);
    }

    fn decide(&self, is_accepted: bool) {
        let reader = {
            let mut state = self.0.lock();
            state.is_accepted = Some(is_accepted);
            state.reader.take()
        };
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    /// Takes the decision, once there is one. It counts for one request.
    pub(super) fn poll_decision(&self, cx: &mut Context<'_>) -> Poll<bool> {
        let mut state = self.0.lock();
        match state.is_accepted.take() {
            Some(is_accepted) => Poll::Ready(is_accepted),
            None => {
                state.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}
