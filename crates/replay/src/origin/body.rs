//! The body of an answer, made while the connection takes it.

use std::{
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Bytes, BytesMut};
use http::header;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

use super::{
    answer::{Ending, Pacing, Payload, Plan},
    stats::OriginStats,
};

/// Bytes made at a time. The connection asks for the next frame when it has room: this is all
/// that an answer holds in memory beside the connection's own buffer.
pub const FRAME_BYTES: u64 = 64 << 10;

/// A plan's body. Its only error is the abort that `fail=half` asks for.
#[derive(Debug)]
pub struct PlanBody {
    payload: Payload,
    sent_bytes: u64,
    stage: Stage,
    pacing: Pacing,
    /// Whether `Content-Length` tells the length.
    sized: bool,
    stats: OriginStats,
}

#[derive(Debug)]
enum Stage {
    /// Bytes up to the middle.
    FirstHalf,
    /// The delay in the middle.
    Pause(Pin<Box<Sleep>>),
    /// The decision what follows.
    Middle,
    /// The error: the connection has been polled since the last byte, so that it could send it.
    Abort,
    /// Bytes up to the end.
    Rest,
}

impl PlanBody {
    /// The body of `plan`, counted in `stats`.
    pub fn new(plan: &Plan, stats: OriginStats) -> Self {
        let halved = plan.pacing.ending != Ending::Whole || !plan.pacing.body_delay.is_zero();
        Self {
            payload: plan.payload.clone(),
            sent_bytes: 0,
            stage: if halved {
                Stage::FirstHalf
            } else {
                Stage::Rest
            },
            pacing: plan.pacing,
            sized: plan.headers.contains_key(header::CONTENT_LENGTH),
            stats,
        }
    }

    /// The next frame of those that end at `end`.
    fn frame(&mut self, end: u64) -> Frame<Bytes> {
        let len_bytes = (end - self.sent_bytes).min(FRAME_BYTES);
        let bytes = self.payload.bytes(self.sent_bytes, len_bytes as usize);
        self.sent_bytes += len_bytes;
        self.stats.body(len_bytes);
        Frame::data(bytes)
    }
}

impl Payload {
    /// `len` bytes from `start` on; both within the payload.
    fn bytes(&self, start: u64, len: usize) -> Bytes {
        match self {
            Self::Text(text) => text.slice(start as usize..start as usize + len),
            Self::Content {
                content, offset, ..
            } => {
                let mut bytes = BytesMut::zeroed(len);
                content.fill(offset + start, &mut bytes);
                bytes.freeze()
            }
        }
    }
}

impl Body for PlanBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let this = self.get_mut();
        let len_bytes = this.payload.len_bytes();
        let middle = len_bytes / 2;
        loop {
            match &mut this.stage {
                Stage::FirstHalf if this.sent_bytes < middle => {
                    return Poll::Ready(Some(Ok(this.frame(middle))));
                }
                Stage::FirstHalf => {
                    this.stage = Stage::Pause(Box::pin(sleep(this.pacing.body_delay)));
                }
                Stage::Pause(delay) => {
                    ready!(delay.as_mut().poll(cx));
                    this.stage = Stage::Middle;
                }
                Stage::Middle => match this.pacing.ending {
                    Ending::Whole => this.stage = Stage::Rest,
                    Ending::Hang => return Poll::Pending,
                    Ending::Fail => {
                        this.stage = Stage::Abort;
                        cx.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                },
                Stage::Abort => {
                    return Poll::Ready(Some(Err(io::ErrorKind::ConnectionAborted.into())));
                }
                Stage::Rest if this.sent_bytes < len_bytes => {
                    return Poll::Ready(Some(Ok(this.frame(len_bytes))));
                }
                Stage::Rest => return Poll::Ready(None),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.stage, Stage::Rest) && self.sent_bytes == self.payload.len_bytes()
    }

    fn size_hint(&self) -> SizeHint {
        if self.sized {
            SizeHint::with_exact(self.payload.len_bytes() - self.sent_bytes)
        } else {
            SizeHint::default()
        }
    }
}
