//! One connection of the administration server: few, small, and never for ever.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::answer::{Answer, error};
use super::routes::Routes;

/// A few scrapers, probes and people. One more is turned away.
pub const CONNECTIONS_MAX: usize = 64;

/// A purge names one URL; no URL that a client can send is longer than a key, 64 KiB.
pub const BODY_BYTES_MAX: usize = 96 << 10;

/// From the opening, or the last answer, to the end of the next head.
pub const HEAD_TIME_MAX: Duration = Duration::from_secs(10);

/// From a request's head to its answer: a purge waits for the disk.
pub const REQUEST_TIME_MAX: Duration = Duration::from_secs(30);

/// A connection's life: nobody who reads slowly has it for ever.
pub const CONNECTION_TIME_MAX: Duration = Duration::from_secs(600);

/// Header fields of a request.
const HEADERS_MAX: usize = 64;

/// Bytes of a request's head: hyper's buffer, which takes no less than 8 KiB.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// How long things may take. The defaults are the constants of the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// [`HEAD_TIME_MAX`].
    pub head: Duration,
    /// [`REQUEST_TIME_MAX`].
    pub request: Duration,
    /// [`CONNECTION_TIME_MAX`].
    pub connection: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            head: HEAD_TIME_MAX,
            request: REQUEST_TIME_MAX,
            connection: CONNECTION_TIME_MAX,
        }
    }
}

/// All that are open.
pub(super) struct Connections {
    routes: Arc<Routes>,
    times: Times,
    slots: Arc<Semaphore>,
    graceful: GracefulShutdown,
}

impl Connections {
    pub(super) fn new(routes: Routes, times: Times) -> Self {
        Self {
            routes: Arc::new(routes),
            times,
            slots: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
            graceful: GracefulShutdown::new(),
        }
    }

    /// Serves `stream` in a task of its own, or closes it when there are too many.
    pub(super) fn open(&self, stream: TcpStream) {
        let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() else {
            return;
        };
        let (routes, times) = (Arc::clone(&self.routes), self.times);
        let service = service_fn(move |request| {
            let routes = Arc::clone(&routes);
            async move { Ok::<_, Infallible>(answer(&routes, request, times).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(times.head)
            .max_headers(HEADERS_MAX)
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), service);
        let connection = self.graceful.watch(connection);
        tokio::spawn(async move {
            let _slot = slot;
            // A connection's failure is its client's affair.
            let _ = timeout(times.connection, connection).await;
        });
    }

    /// Waits until all have answered what they are at.
    pub(super) async fn drain(self) {
        self.graceful.shutdown().await;
    }
}

async fn answer(routes: &Routes, request: Request<Incoming>, times: Times) -> Answer {
    let handler = match routes.find(&request) {
        Ok(handler) => Arc::clone(handler),
        Err(refusal) => return *refusal,
    };
    let answered = async {
        match whole(request).await {
            Ok(request) => handler(request).await,
            Err(refusal) => *refusal,
        }
    };
    timeout(times.request, answered)
        .await
        .unwrap_or_else(|_| error(StatusCode::SERVICE_UNAVAILABLE, "took too long"))
}

/// Reads the body.
async fn whole(request: Request<Incoming>) -> Result<Request<Bytes>, Box<Answer>> {
    let (head, body) = request.into_parts();
    match Limited::new(body, BODY_BYTES_MAX).collect().await {
        Ok(body) => Ok(Request::from_parts(head, body.to_bytes())),
        Err(e) if e.is::<LengthLimitError>() => {
            let text = format!("the body has more than {BODY_BYTES_MAX} bytes");
            Err(Box::new(error(StatusCode::PAYLOAD_TOO_LARGE, &text)))
        }
        Err(e) => Err(Box::new(error(StatusCode::BAD_REQUEST, &e.to_string()))),
    }
}
