//! One request on one connection, with a bound on the silence before the response.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;

use super::OriginError;
use crate::listen::stall::StallTimer;
use crate::{BoxBody, BoxError};

/// A request that got no response.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: OriginError,
    /// The request, when not a byte of it was written.
    pub(super) unsent: Option<Request<BoxBody>>,
}

/// Sends `request` and waits for the response's head.
///
/// Dropping the future closes the connection.
pub(super) async fn exchange(
    sender: &mut SendRequest<BoxBody>,
    request: Request<BoxBody>,
    header_timeout: Duration,
) -> Result<Response<Incoming>, Failure> {
    let has_moved = Arc::new(AtomicBool::new(false));
    let request = if request.body().is_end_stream() {
        request
    } else {
        let has_moved = Arc::clone(&has_moved);
        request.map(|body| Upload { body, has_moved }.boxed_unsync())
    };
    let mut answer = pin!(sender.try_send_request(request));
    let mut stall = StallTimer::new(header_timeout);
    let answer = poll_fn(|cx| {
        if let Poll::Ready(answer) = answer.as_mut().poll(cx) {
            return Poll::Ready(Ok(answer));
        }
        if has_moved.swap(false, Ordering::Relaxed) {
            stall.progress();
        }
        stall.poll_stalled(cx).map(Err)
    });
    match answer.await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(mut failed)) => {
            let unsent = failed.take_message();
            Err(Failure {
                error: OriginError::of_request(failed.into_error()),
                unsent,
            })
        }
        Err(()) => {
            let after_ms = header_timeout.as_millis();
            Err(Failure {
                error: OriginError::HeaderTimeout { after_ms },
                unsent: None,
            })
        }
    }
}

/// A request body that tells when the origin takes some of it.
struct Upload {
    body: BoxBody,
    has_moved: Arc<AtomicBool>,
}

impl Body for Upload {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.has_moved.store(true, Ordering::Relaxed);
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
