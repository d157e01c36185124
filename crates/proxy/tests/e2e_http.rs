//! What goes over a client's connection: requests that are refused, kept connections, pipelines,
//! HTTP/2 by prior knowledge, WebSockets.

#![allow(
    clippy::unwrap_used,
    reason = "what only tests call may say what it expects"
)]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use support::client::Client;
use support::larder::Larder;
use support::objects::Object;
use support::origin::Origin;

const RAM: [&str; 2] = ["--ram", "128MiB"];

fn larder(origin: &str) -> Larder {
    Larder::start(&[&["--origin", origin], &RAM[..]].concat())
}

/// Requests that are nobody's, each with what is wrong with it.
const BAD: [(&str, &str); 13] = [
    (
        "two lengths",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
    ),
    (
        "a length and a coding",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ),
    (
        "a negative length",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -4\r\n\r\nabcd",
    ),
    (
        "a coding that is not chunked",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n",
    ),
    ("bare line feeds", "GET / HTTP/1.1\nHost: a\n\n"),
    (
        "a bare line feed in a field",
        "GET / HTTP/1.1\r\nHost: a\r\nX: b\nY: c\r\n\r\n",
    ),
    (
        "a NUL in a field",
        "GET / HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n",
    ),
    (
        "a space before the colon",
        "GET / HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n",
    ),
    (
        "a quote in the target",
        "GET /\"a HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "a control in the target",
        "GET /\x01a HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    (
        "the target of a foreign host",
        "GET http://elsewhere.example/ HTTP/1.1\r\nHost: a\r\n\r\n",
    ),
    ("no host", "GET / HTTP/1.1\r\nX: b\r\n\r\n"),
    ("two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
];

#[test]
fn a_bad_request_gets_400_and_no_second_chance() {
    let origin = Origin::start();
    let larder = larder(&origin.url());
    for (what, request) in BAD {
        let mut client = Client::connect(larder.address);
        // Nothing that follows on the connection is looked at.
        client.send(format!("{request}GET /s/10/1 HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes());
        let answer = client.answer(false).expect(what);
        assert_eq!(answer.status, 400, "{what}: {answer:?}");
        assert!(client.is_closed(), "{what}");
    }
    assert_eq!(origin.requests(), 0);
    let object = Object::new(10, 1);
    object.assert_whole(&larder.get(&object.path));
}

#[test]
fn a_connection_carries_many_requests_also_all_at_once() {
    let origin = Origin::start();
    let larder = larder(&origin.url());
    let mut client = Client::connect(larder.address);
    let (small, large, empty) = (
        Object::new(10, 1),
        Object::new(300_000, 2),
        Object::new(0, 3),
    );
    for object in [&small, &large, &empty, &small] {
        object.assert_whole(&client.ask("GET", &object.path, &[]));
    }
    let get =
        |object: &Object| format!("GET {} HTTP/1.1\r\nHost: test.example\r\n\r\n", object.path);
    let head = get(&large).replace("GET", "HEAD");
    let pipeline = [get(&small), head, get(&large), get(&empty), get(&small)].concat();
    client.send(pipeline.as_bytes());
    small.assert_whole(&client.answer(false).unwrap());
    let head = client.answer(true).unwrap();
    assert_eq!(head.header("content-length"), Some("300000"), "{head:?}");
    for object in [&large, &empty, &small] {
        let answer = client.answer(false).unwrap();
        object.assert_whole(&answer);
        assert!(answer.is_hit(), "{answer:?}");
    }
    assert_eq!(origin.requests(), 3);
}

#[test]
fn a_client_that_asks_for_the_end_gets_it() {
    let origin = Origin::start();
    let larder = larder(&origin.url());
    let object = Object::new(1000, 1);
    let mut client = Client::connect(larder.address);
    let answer = client.ask("GET", &object.path, &[("Connection", "close")]);
    object.assert_whole(&answer);
    assert!(client.is_closed());
}

#[tokio::test]
async fn http2_by_prior_knowledge_shares_the_cache() {
    let origin = Origin::start();
    let larder = larder(&origin.url());
    let object = Object::new(200_000, 1);
    object.assert_whole(&larder.get(&object.path));

    let stream = tokio::net::TcpStream::connect(larder.address)
        .await
        .unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    let connection = tokio::spawn(connection);
    for _ in 0..2 {
        let request = Request::get(format!("http://test.example{}", object.path));
        let request = request.body(Empty::<Bytes>::new()).unwrap();
        let answer = sender.send_request(request).await.unwrap();
        assert_eq!(answer.status(), 200);
        let status = answer.headers()["cache-status"].to_str().unwrap();
        assert!(status.contains(";hit"), "{status}");
        assert!(answer.headers().contains_key(header::AGE));
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(object.content().verify(0, &body), None);
        assert_eq!(body.len(), 200_000);
    }
    assert_eq!(origin.requests(), 1);
    drop(sender);
    connection.await.unwrap().unwrap();
}

/// An origin that switches to WebSocket and sends back what it gets, in upper case.
fn shouting() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            std::thread::spawn(move || shout(stream));
        }
    });
    address
}

fn shout(mut stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    while reader.read_line(&mut line).unwrap_or(0) > 2 {
        line.clear();
    }
    let switch = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                  Sec-WebSocket-Accept: a\r\n\r\n";
    stream.write_all(switch.as_bytes()).unwrap();
    while let Ok(bytes @ [_, ..]) = reader.fill_buf() {
        let shouted = bytes.to_ascii_uppercase();
        stream.write_all(&shouted).unwrap();
        reader.consume(shouted.len());
    }
}

#[test]
fn a_websocket_passes_through() {
    let larder = larder(&format!("http://{}", shouting()));
    let mut client = Client::connect(larder.address);
    let wish = [
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    let switched = client.ask("GET", "/chat", &wish);
    assert_eq!(switched.status, 101, "{switched:?}");
    assert_eq!(switched.header("upgrade"), Some("websocket"));
    let mut echo = [0; 6];
    for word in [b"hello\x01", b"\r\n\r\n\0z"] {
        client.send(word);
        client.read_all(&mut echo);
        assert_eq!(echo.to_vec(), word.to_ascii_uppercase());
    }
    client.finish();
    assert!(client.is_closed());
    support::until("it is counted", || {
        larder.metric("larder_requests_total", "decision=\"pass\"") == 1
    });
}
