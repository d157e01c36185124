//! A response's body, with a bound on its pauses; at its end the connection goes back to the pool.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::OriginError;
use super::pool::Lease;
use crate::listen::stall::StallTimer;

/// The body of an origin's response.
///
/// Read to its end it gives its connection back; dropped before, it closes it.
#[derive(Debug)]
pub struct OriginBody {
    incoming: Incoming,
    lease: Option<Lease>,
    stall: StallTimer,
}

impl OriginBody {
    pub(super) fn new(incoming: Incoming, lease: Lease, stall: StallTimer) -> Self {
        let mut body = Self {
            incoming,
            lease: Some(lease),
            stall,
        };
        body.release_at_end();
        body
    }

    /// The body of a response that switches protocols: the connection stays its own.
    pub(super) const fn of_tunnel(incoming: Incoming, lease: Lease, stall: StallTimer) -> Self {
        Self {
            incoming,
            lease: Some(lease),
            stall,
        }
    }

    fn release_at_end(&mut self) {
        if self.incoming.is_end_stream()
            && let Some(lease) = self.lease.take()
        {
            lease.give_back();
        }
    }
}

impl Body for OriginBody {
    type Data = Bytes;
    type Error = OriginError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, OriginError>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.incoming).poll_frame(cx) else {
            ready!(self.stall.poll_stalled(cx));
            self.lease = None;
            let after_ms = self.stall.after().as_millis();
            return Poll::Ready(Some(Err(OriginError::BodyTimeout { after_ms })));
        };
        self.stall.progress();
        match &frame {
            Some(Ok(_)) => self.release_at_end(),
            Some(Err(_)) => self.lease = None,
            None => {
                if let Some(lease) = self.lease.take() {
                    lease.give_back();
                }
            }
        }
        Poll::Ready(frame.map(|frame| frame.map_err(OriginError::of_response)))
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}
