//! What the edge tests share: a server around a closure, and a client that speaks raw bytes.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file is a crate that uses its part"
)]
#![allow(
    clippy::unwrap_used,
    reason = "what only tests call may say what it expects"
)]

pub mod origin;

use std::convert::Infallible;
use std::future::{Future, ready};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use larder::listen::{ListenLimits, ListenStats, RequestBody, Sharing, Stopped, bind, serve};
use larder::{BoxBody, BoxError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Longer than anything here takes: a test that waits for it has failed.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub type Answer = Pin<Box<dyn Future<Output = Result<Response<BoxBody>, Infallible>> + Send>>;

/// A closure as a service.
#[derive(Clone)]
pub struct Handler<F>(F);

impl<F: Fn(Request<RequestBody>) -> Answer> tower_service::Service<Request<RequestBody>>
    for Handler<F>
{
    type Response = Response<BoxBody>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Answer {
        (self.0)(request)
    }
}

/// A running server.
pub struct Server {
    pub addr: SocketAddr,
    pub stats: Arc<ListenStats>,
    stop: oneshot::Sender<()>,
    running: JoinHandle<std::io::Result<Stopped>>,
}

impl Server {
    pub fn start<F>(limits: ListenLimits, handler: F) -> Self
    where
        F: Fn(Request<RequestBody>) -> Answer + Clone + Send + 'static,
    {
        let listener = bind("127.0.0.1:0".parse().unwrap(), Sharing::Exclusive).unwrap();
        let addr = listener.local_addr().unwrap();
        let stats = Arc::new(ListenStats::default());
        let (stop, stopped) = oneshot::channel();
        let shutdown = async {
            let _ = stopped.await;
        };
        let serving = serve(
            vec![listener],
            Handler(handler),
            limits,
            Arc::clone(&stats),
            shutdown,
        );
        Self {
            addr,
            stats,
            stop,
            running: tokio::spawn(serving),
        }
    }

    /// Answers each request with its method, target and body.
    pub fn echo(limits: ListenLimits) -> Self {
        Self::start(limits, |request| {
            Box::pin(async move {
                let start = format!("{} {} ", request.method(), request.uri());
                Ok(match request.into_body().collect().await {
                    Ok(body) => {
                        let body = String::from_utf8_lossy(&body.to_bytes()).into_owned();
                        text(&format!("{start}{body}"))
                    }
                    Err(error) => status(error.status()),
                })
            })
        })
    }

    /// Tells it to stop; the result says how it did.
    pub fn stop(self) -> JoinHandle<std::io::Result<Stopped>> {
        let _ = self.stop.send(());
        self.running
    }

    pub async fn stopped(self) -> Stopped {
        within(self.stop()).await.unwrap().unwrap()
    }
}

pub fn body(text: &str) -> BoxBody {
    Full::new(Bytes::from(text.to_owned()))
        .map_err(|never| match never {})
        .boxed_unsync()
}

pub fn text(text: &str) -> Response<BoxBody> {
    Response::new(body(text))
}

pub fn status(status: http::StatusCode) -> Response<BoxBody> {
    let mut response = text("");
    *response.status_mut() = status;
    response
}

pub fn answer(response: Response<BoxBody>) -> Answer {
    Box::pin(ready(Ok(response)))
}

/// A body that goes on for as long as somebody reads.
pub fn endless() -> BoxBody {
    let frames = std::iter::repeat_with(|| {
        Ok::<_, BoxError>(http_body::Frame::data(Bytes::from_static(
            &[b'x'; 64 * 1024],
        )))
    });
    http_body_util::StreamBody::new(futures_util::stream::iter(frames)).boxed_unsync()
}

pub async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future)
        .await
        .expect("took too long")
}

/// Waits until `condition` holds.
pub async fn until(mut condition: impl FnMut() -> bool) {
    within(async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
}

/// Sends `bytes`, keeps its side open, and reads until the server closes.
pub async fn talk(addr: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    // The server may answer and close before it has taken everything.
    let _ = within(stream.write_all(bytes)).await;
    rest(&mut stream).await
}

/// Reads until the server closes.
pub async fn rest(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    within(stream.read_to_end(&mut answer)).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// Reads until what has come ends with `end`.
pub async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut answer = Vec::new();
    while !answer.ends_with(end.as_bytes()) {
        let mut byte = [0];
        let read = within(stream.read(&mut byte)).await.unwrap();
        assert!(
            read > 0,
            "closed after {:?}",
            String::from_utf8_lossy(&answer)
        );
        answer.push(byte[0]);
    }
    String::from_utf8_lossy(&answer).into_owned()
}
