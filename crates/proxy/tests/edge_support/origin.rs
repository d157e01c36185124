//! An origin that does what a script says, byte by byte.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::Request;
use http_body_util::BodyExt;
use larder::origin::{HostPolicy, OriginBody, OriginClient, OriginError, OriginLimits};
use larder::{BoxBody, BoxError};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tower_service::Service;

use super::{body, read_until, within};

pub const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// A listening socket and how many connections it has taken.
pub struct Origin {
    pub addr: SocketAddr,
    pub connections: Arc<AtomicUsize>,
}

impl Origin {
    /// Runs `script` for each connection, with its number.
    pub async fn start<F, R>(script: F) -> Self
    where
        F: Fn(usize, TcpStream) -> R + Send + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(script(count.fetch_add(1, Ordering::SeqCst), stream));
            }
        });
        Self { addr, connections }
    }

    /// Answers every request head with `answer`.
    pub async fn answering(answer: &'static str) -> Self {
        Self::start(move |_, mut stream| async move {
            loop {
                next_head(&mut stream).await;
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        })
        .await
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub fn client(&self, limits: OriginLimits) -> OriginClient {
        client(self.addr, limits)
    }
}

pub fn client(addr: SocketAddr, limits: OriginLimits) -> OriginClient {
    let address = format!("http://{addr}").parse().unwrap();
    OriginClient::new(address, limits, HostPolicy::Client)
}

/// Reads one request head; waits for ever when the client has closed.
pub async fn next_head(stream: &mut TcpStream) -> String {
    let mut byte = [0];
    if stream.peek(&mut byte).await.unwrap_or(0) == 0 {
        std::future::pending::<()>().await;
    }
    read_until(stream, "\r\n\r\n").await
}

pub fn get(path: &str) -> Request<BoxBody> {
    Request::get(path).body(body("")).unwrap()
}

pub fn post(text: &str) -> Request<BoxBody> {
    Request::post("/").body(body(text)).unwrap()
}

pub async fn send(
    client: &OriginClient,
    request: Request<BoxBody>,
) -> Result<http::Response<OriginBody>, OriginError> {
    within(client.clone().call(request)).await
}

/// Sends `request` and reads the whole answer.
pub async fn fetch(
    client: &OriginClient,
    request: Request<BoxBody>,
) -> Result<String, OriginError> {
    let response = send(client, request).await?;
    let body = within(response.into_body().collect()).await?.to_bytes();
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// A body that is what the sender sends, until it is dropped.
pub fn channel() -> (tokio::sync::mpsc::Sender<&'static str>, BoxBody) {
    let (sender, mut receiver) = tokio::sync::mpsc::channel::<&'static str>(1);
    let frames = futures_util::stream::poll_fn(move |cx| {
        receiver.poll_recv(cx).map(|text| {
            text.map(|text| Ok::<_, BoxError>(http_body::Frame::data(bytes::Bytes::from(text))))
        })
    });
    (
        sender,
        http_body_util::StreamBody::new(frames).boxed_unsync(),
    )
}
