//! One request and its answer, compared byte by byte.

use std::{io, time::Duration};

use http::StatusCode;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::time::Instant;

use crate::{Content, trace::Request};

use super::{cache_status::CacheAnswer, link::Link};

/// What came back for one request.
#[derive(Debug, Default)]
pub(super) struct Received {
    /// Body bytes of an answer with the right status.
    pub(super) bytes: u64,
    /// Of these, those that are not the object's.
    pub(super) wrong_bytes: u64,
    /// Where in the object the first of those is.
    pub(super) first_wrong: Option<u64>,
    /// From the beginning to the answer's head.
    pub(super) ttfb: Duration,
    /// From the beginning to the end.
    pub(super) latency: Duration,
    /// What the target says of its cache.
    pub(super) cache: CacheAnswer,
    /// Why the request is an error, if it is.
    pub(super) fault: Option<Fault>,
}

/// Why a request is an error.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("no connection: {0}")]
    Connect(io::Error),
    #[error("the connection failed: {0}")]
    Connection(hyper::Error),
    #[error("expected status 200, found {}", .0.as_u16())]
    Status(StatusCode),
    #[error("expected {expected} body bytes, found {found}")]
    Length { expected: u64, found: u64 },
    #[error("expected {expected} body bytes, the answer ended after {received}: {cause}")]
    EarlyEnd {
        expected: u64,
        received: u64,
        cause: hyper::Error,
    },
    #[error("no byte for {0:?}")]
    Stalled(Duration),
}

impl Fault {
    /// The stable name, as in the report's `errors_by`.
    pub(super) const fn as_str(&self) -> &'static str {
        match self {
            Self::Connect(_) => "connect",
            Self::Connection(_) => "connection",
            Self::Status(_) => "status",
            Self::Length { .. } => "wrong-length",
            Self::EarlyEnd { .. } => "early-end",
            Self::Stalled(_) => "stalled",
        }
    }
}

/// Sends `request` on `link` and reads the answer. Times begin before the connection is opened,
/// if one must be: that is what a user waits for.
pub(super) async fn exchange(link: &mut Link, request: &Request) -> Received {
    let began = Instant::now();
    let mut received = Received::default();
    received.fault = converse(link, request, began, &mut received).await.err();
    received.latency = began.elapsed();
    received
}

async fn converse(
    link: &mut Link,
    request: &Request,
    began: Instant,
    received: &mut Received,
) -> Result<(), Fault> {
    let path = request.path();
    let (answer, sender) = link.send(&path).await?;
    received.ttfb = began.elapsed();
    if answer.status() != StatusCode::OK {
        return Err(Fault::Status(answer.status()));
    }
    received.cache = CacheAnswer::read(answer.headers());
    let body = answer.into_body();
    let expected = request.size_bytes;
    if let Some(found) = body.size_hint().exact().filter(|found| *found != expected) {
        return Err(Fault::Length { expected, found });
    }
    compare(link, body, &Content::new(&path, 0), expected, received).await?;
    link.keep(sender);
    Ok(())
}

/// Reads `body`, which should be the first `expected` bytes of `content`, and no byte after them.
async fn compare(
    link: &Link,
    mut body: Incoming,
    content: &Content,
    expected: u64,
    received: &mut Received,
) -> Result<(), Fault> {
    while let Some(frame) = link.patiently(body.frame()).await? {
        let frame = frame.map_err(|cause| Fault::EarlyEnd {
            expected,
            received: received.bytes,
            cause,
        })?;
        if let Some(data) = frame.data_ref() {
            received.take(content, data);
        }
        if received.bytes > expected {
            break;
        }
    }
    let found = received.bytes;
    if found == expected {
        Ok(())
    } else {
        Err(Fault::Length { expected, found })
    }
}

impl Received {
    fn take(&mut self, content: &Content, data: &[u8]) {
        let wrong_bytes = content.wrong_bytes(self.bytes, data);
        if wrong_bytes > 0 {
            let first = content.verify(self.bytes, data);
            self.first_wrong = self.first_wrong.or(first);
            self.wrong_bytes += wrong_bytes;
        }
        self.bytes += data.len() as u64;
    }
}
