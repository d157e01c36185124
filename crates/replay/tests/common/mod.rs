//! An origin on loopback and a client of one request, for the tests on sockets.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping"
)]

pub(crate) mod meddler;

use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Empty};
use hyper::{body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use larder_replay::origin::{OriginStats, serve_counted};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinHandle,
};

/// A running origin; it ends with the test's runtime, or when told to.
pub(crate) struct Origin {
    pub(crate) address: SocketAddr,
    pub(crate) stats: OriginStats,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Origin {
    pub(crate) async fn start() -> Self {
        Self::start_on(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    pub(crate) fn start_on(listener: TcpListener) -> Self {
        let address = listener.local_addr().unwrap();
        let stats = OriginStats::default();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(serve_counted(listener, stats.clone(), stopped));
        Self {
            address,
            stats,
            stop,
            task,
        }
    }

    pub(crate) async fn stop(self) {
        let _ = self.stop.send(());
        self.task.await.unwrap();
    }

    pub(crate) fn url(&self) -> url::Url {
        format!("http://{}", self.address).parse().unwrap()
    }
}

/// One request on a connection of its own.
pub(crate) async fn request(
    address: SocketAddr,
    request: http::request::Builder,
) -> hyper::Result<Response<Incoming>> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let request: Request<Empty<Bytes>> =
        request.header("host", "origin").body(Empty::new()).unwrap();
    sender.send_request(request).await
}

/// A GET whose body is read to its end.
pub(crate) async fn get(address: SocketAddr, path: &str) -> hyper::Result<(u16, HeaderMap, Bytes)> {
    let answer = request(address, Request::get(path)).await?;
    let (head, body) = answer.into_parts();
    let body = body.collect().await?.to_bytes();
    Ok((head.status.as_u16(), head.headers, body))
}
