//! A request's body, with a bound on its bytes and on its pauses.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::StatusCode;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use thiserror::Error;

use super::Violation;
use super::limits::ListenLimits;
use super::stall::StallTimer;

/// The body of a client's request.
///
/// It asks hyper for nothing (and so no `100 Continue` is sent) when the declared length is already
/// beyond the limit. Dropping it unread lets hyper close the connection after the response.
#[derive(Debug)]
pub struct RequestBody {
    incoming: Incoming,
    bytes_max: u64,
    bytes_read: u64,
    stall: StallTimer,
}

/// Why a request's body failed: always the client's doing.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BodyError {
    /// More than the limit, declared or sent.
    #[error("the request body is larger than {bytes_max} bytes")]
    TooLarge {
        /// The limit.
        bytes_max: u64,
    },
    /// Nothing came for too long.
    #[error("the request body paused for more than {after_ms} ms")]
    Stalled {
        /// The limit.
        after_ms: u128,
    },
    /// The client broke the framing.
    #[error("the request body is {0}")]
    Malformed(Violation),
    /// The client went away, or broke HTTP/2.
    #[error("the request body broke off")]
    Broken(#[source] hyper::Error),
}

impl RequestBody {
    pub(super) const fn new(incoming: Incoming, limits: &ListenLimits) -> Self {
        Self {
            incoming,
            bytes_max: limits.body_bytes_max,
            bytes_read: 0,
            stall: StallTimer::new(limits.body_idle_timeout),
        }
    }

    /// Whether the length that the client declared is beyond the limit: answer 413 at once.
    pub fn is_declared_too_large(&self) -> bool {
        self.bytes_read
            .saturating_add(self.incoming.size_hint().lower())
            > self.bytes_max
    }

    fn count(&mut self, frame: Frame<Bytes>) -> Result<Frame<Bytes>, BodyError> {
        let bytes = frame.data_ref().map_or(0, Bytes::len) as u64;
        self.bytes_read = self.bytes_read.saturating_add(bytes);
        if self.bytes_read > self.bytes_max {
            return Err(BodyError::TooLarge {
                bytes_max: self.bytes_max,
            });
        }
        Ok(frame)
    }
}

impl BodyError {
    /// The name in logs and metrics.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "request-body-too-large",
            Self::Stalled { .. } => "request-body-stalled",
            Self::Malformed(_) => "request-body-malformed",
            Self::Broken(_) => "request-body-broken",
        }
    }

    /// The status that tells the client so.
    pub const fn status(&self) -> StatusCode {
        match self {
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Stalled { .. } => StatusCode::REQUEST_TIMEOUT,
            Self::Malformed(_) | Self::Broken(_) => StatusCode::BAD_REQUEST,
        }
    }

    fn of_hyper(error: hyper::Error) -> Self {
        let mut source: Option<&(dyn Error + 'static)> = Some(&error);
        while let Some(cause) = source {
            let inner = cause
                .downcast_ref::<std::io::Error>()
                .and_then(|io| io.get_ref());
            if let Some(violation) = inner.and_then(|inner| inner.downcast_ref::<Violation>()) {
                return Self::Malformed(*violation);
            }
            source = cause.source();
        }
        Self::Broken(error)
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.is_declared_too_large() {
            return Poll::Ready(Some(Err(BodyError::TooLarge {
                bytes_max: self.bytes_max,
            })));
        }
        let Poll::Ready(frame) = Pin::new(&mut self.incoming).poll_frame(cx) else {
            ready!(self.stall.poll_stalled(cx));
            let after_ms = self.stall.after().as_millis();
            return Poll::Ready(Some(Err(BodyError::Stalled { after_ms })));
        };
        self.stall.progress();
        Poll::Ready(frame.map(|frame| {
            frame
                .map_err(BodyError::of_hyper)
                .and_then(|f| self.count(f))
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}
