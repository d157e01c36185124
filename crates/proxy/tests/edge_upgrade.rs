//! WebSockets through the proxy: nothing passes before both sides have switched.

#![allow(
    clippy::unwrap_used,
    reason = "what only tests call may say what it expects"
)]

mod edge_support;

use std::time::Duration;

use edge_support::origin::{HELLO, Origin, next_head};
use edge_support::{Server, read_until, rest, status};
use http_body_util::BodyExt;
use larder::listen::{ListenLimits, Stopped};
use larder::origin::OriginLimits;
use larder::upgrade;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

const HANDSHAKE: &str = "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\n\
                         Upgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n";
const SWITCH: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\
                      Upgrade: websocket\r\nSec-WebSocket-Accept: a\r\n\r\n";
const LONG: Duration = Duration::from_secs(60);

fn proxy(origin: &Origin, limits: ListenLimits, idle_timeout: Duration) -> Server {
    let client = origin.client(OriginLimits::default());
    Server::start(limits, move |request| {
        let client = client.clone();
        Box::pin(async move {
            let request = request.map(|body| body.map_err(Into::into).boxed_unsync());
            let answer = upgrade::forward(request, &client, idle_timeout).await;
            Ok(answer.unwrap_or_else(|error| status(error.status())))
        })
    })
}

/// Switches, then echoes in upper case; tells what it was asked.
async fn shouting() -> (Origin, mpsc::UnboundedReceiver<String>) {
    let (heads, asked) = mpsc::unbounded_channel();
    let origin = Origin::start(move |_, mut stream| {
        let heads = heads.clone();
        async move {
            let _ = heads.send(next_head(&mut stream).await.to_lowercase());
            stream.write_all(SWITCH.as_bytes()).await.unwrap();
            let mut bytes = [0; 1024];
            while let Ok(read @ 1..) = stream.read(&mut bytes).await {
                bytes[..read].make_ascii_uppercase();
                stream.write_all(&bytes[..read]).await.unwrap();
            }
        }
    })
    .await;
    (origin, asked)
}

#[tokio::test]
async fn bytes_go_both_ways_once_both_have_switched() {
    let (origin, mut asked) = shouting().await;
    let server = proxy(&origin, ListenLimits::default(), LONG);
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    // An eager client, whose first frame would not pass as HTTP.
    stream
        .write_all(format!("{HANDSHAKE}\0early\n").as_bytes())
        .await
        .unwrap();
    let head = read_until(&mut stream, "\r\n\r\n").await.to_lowercase();
    assert!(head.starts_with("http/1.1 101 "), "{head}");
    assert!(head.contains("upgrade: websocket\r\n"), "{head}");
    assert!(head.contains("sec-websocket-accept: a\r\n"), "{head}");
    read_until(&mut stream, "\0EARLY\n").await;
    stream.write_all(b"\r\n\r\rhello\x7f").await.unwrap();
    read_until(&mut stream, "\r\n\r\rHELLO\x7f").await;
    let asked = asked.recv().await.unwrap();
    assert!(
        asked.contains("connection: upgrade\r\nupgrade: websocket\r\n"),
        "{asked}"
    );
    assert!(asked.contains("sec-websocket-key: k\r\n"), "{asked}");
    stream.shutdown().await.unwrap();
    assert_eq!(rest(&mut stream).await, "");
}

#[tokio::test]
async fn a_large_exchange_arrives_whole() {
    let (origin, _asked) = shouting().await;
    let server = proxy(&origin, ListenLimits::default(), LONG);
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(HANDSHAKE.as_bytes()).await.unwrap();
    read_until(&mut stream, "\r\n\r\n").await;
    let (mut reading, mut writing) = stream.into_split();
    let sent = vec![b'a'; 4 * 1024 * 1024];
    let length = sent.len();
    tokio::spawn(async move {
        writing.write_all(&sent).await.unwrap();
        writing.shutdown().await.unwrap();
    });
    let mut received = Vec::new();
    edge_support::within(reading.read_to_end(&mut received))
        .await
        .unwrap();
    assert_eq!(received.len(), length);
    assert!(received.iter().all(|&byte| byte == b'A'));
}

#[tokio::test]
async fn a_refusal_is_an_answer_and_what_follows_is_http() {
    let origin = Origin::answering(HELLO).await;
    let server = proxy(&origin, ListenLimits::default(), LONG);
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    let plain = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    stream
        .write_all(format!("{HANDSHAKE}{plain}\0smuggled").as_bytes())
        .await
        .unwrap();
    let answer = rest(&mut stream).await;
    assert_eq!(answer.matches("HTTP/1.1 200 OK").count(), 2, "{answer}");
    assert!(answer.contains("HTTP/1.1 400 "), "{answer}");
}

#[tokio::test]
async fn no_other_protocol_is_passed_on() {
    let (heads, mut asked) = mpsc::unbounded_channel();
    let origin = Origin::start(move |_, mut stream| {
        let heads = heads.clone();
        async move {
            loop {
                let _ = heads.send(next_head(&mut stream).await.to_lowercase());
                stream.write_all(HELLO.as_bytes()).await.unwrap();
            }
        }
    })
    .await;
    let server = proxy(&origin, ListenLimits::default(), LONG);
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    let h2c = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\n\
               Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\n\r\n";
    stream.write_all(h2c.as_bytes()).await.unwrap();
    read_until(&mut stream, "hello").await;
    let head = asked.recv().await.unwrap();
    assert!(
        !head.contains("upgrade") && !head.contains("http2"),
        "{head}"
    );
}

#[tokio::test]
async fn an_origin_that_switches_to_something_else_is_502() {
    let origin =
        Origin::answering("HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\n\r\n").await;
    let server = proxy(&origin, ListenLimits::default(), LONG);
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(HANDSHAKE.as_bytes()).await.unwrap();
    let head = read_until(&mut stream, "\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 502 "), "{head}");
}

#[tokio::test]
async fn an_idle_tunnel_is_closed_and_a_busy_one_is_not() {
    let idle_timeout = Duration::from_millis(100);
    let (origin, _asked) = shouting().await;
    // A tunnel has its own timeout, whatever that of idle connections is.
    let limits = ListenLimits {
        idle_timeout: Duration::from_millis(10),
        ..ListenLimits::default()
    };
    let server = proxy(&origin, limits, idle_timeout);
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(HANDSHAKE.as_bytes()).await.unwrap();
    read_until(&mut stream, "\r\n\r\n").await;
    for _ in 0..10 {
        stream.write_all(b"x").await.unwrap();
        read_until(&mut stream, "X").await;
        tokio::time::sleep(idle_timeout / 4).await;
    }
    assert_eq!(rest(&mut stream).await, "");
}

#[tokio::test]
async fn a_tunnel_is_cut_when_the_server_stops() {
    let (origin, _asked) = shouting().await;
    let limits = ListenLimits {
        stop_timeout: Duration::from_millis(50),
        ..ListenLimits::default()
    };
    let server = proxy(&origin, limits, LONG);
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(HANDSHAKE.as_bytes()).await.unwrap();
    read_until(&mut stream, "\r\n\r\n").await;
    assert_eq!(server.stopped().await, Stopped { open: 1, cut: 1 });
    assert_eq!(rest(&mut stream).await, "");
}
