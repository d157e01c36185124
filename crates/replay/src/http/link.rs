//! A worker's keep-alive connection, replaced when the target closes it.

use std::{future::Future, sync::Arc};

use http::Response;
use hyper::body::Incoming;
use tokio::time::timeout;

use super::{
    dial::{Dialer, Sender},
    exchange::Fault,
};

/// One connection at a time, or none. A connection that is not given back by
/// [`keep`](Self::keep) is closed: only a whole answer leaves it fit for the next request.
#[derive(Debug)]
pub(super) struct Link {
    dialer: Arc<Dialer>,
    idle: Option<Sender>,
    reconnects: u64,
}

impl Link {
    pub(super) fn new(dialer: Arc<Dialer>) -> Self {
        Self {
            dialer,
            idle: None,
            reconnects: 0,
        }
    }

    /// Asks for `path`: on the kept connection or, if the target has closed that one before any
    /// byte of an answer, once more on a fresh one.
    pub(super) async fn send(&mut self, path: &str) -> Result<(Response<Incoming>, Sender), Fault> {
        if let Some(mut kept) = self.idle.take() {
            match self.ask(&mut kept, path).await {
                Ok(answer) => return Ok((answer, kept)),
                Err(Fault::Connection(error)) if closed_before_answer(&error) => {
                    self.reconnects += 1;
                }
                Err(fault) => return Err(fault),
            }
        }
        let mut fresh = self.dialer.dial().await.map_err(Fault::Connect)?;
        let answer = self.ask(&mut fresh, path).await?;
        Ok((answer, fresh))
    }

    /// Gives the connection back after an answer that was read to its end.
    pub(super) fn keep(&mut self, sender: Sender) {
        self.idle = Some(sender);
    }

    /// How often a kept connection had to be replaced since the last call.
    pub(super) fn take_reconnects(&mut self) -> u64 {
        std::mem::take(&mut self.reconnects)
    }

    /// Waits for `step` of an answer, as long as the answer may stall.
    pub(super) async fn patiently<T>(&self, step: impl Future<Output = T>) -> Result<T, Fault> {
        let limit = self.dialer.stall_limit();
        timeout(limit, step)
            .await
            .map_err(|_| Fault::Stalled(limit))
    }

    async fn ask(&self, sender: &mut Sender, path: &str) -> Result<Response<Incoming>, Fault> {
        let request = self.dialer.target.request(path);
        let answer = async {
            sender.ready().await?;
            sender.send_request(request).await
        };
        self.patiently(answer).await?.map_err(Fault::Connection)
    }
}

/// Whether the connection ended rather than the target answered something wrong. On a kept
/// connection this is the ordinary race between a request and the target's close (RFC 9112
/// section 9.3.1): a GET may be sent again.
fn closed_before_answer(error: &hyper::Error) -> bool {
    !error.is_parse() && !error.is_user()
}
