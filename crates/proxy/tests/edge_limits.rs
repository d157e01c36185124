//! What a client may not use: large heads and bodies, time, memory for what it does not read.

mod edge_support;

use std::time::{Duration, Instant};

use edge_support::{Server, answer, endless, read_until, rest, talk, text, until};
use http::Response;
use http_body_util::BodyExt;
use larder::listen::{Close, ListenLimits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const SHORT: Duration = Duration::from_millis(60);

fn closed(server: &Server, how: Close) -> u64 {
    server
        .stats
        .closed()
        .find(|(close, _)| *close == how)
        .map_or(0, |(_, count)| count)
}

#[tokio::test]
async fn a_large_head_is_answered_431() {
    for head_bytes_max in [1000, 8192, 32 * 1024] {
        let limits = ListenLimits {
            head_bytes_max,
            ..ListenLimits::default()
        };
        let server = Server::echo(limits);
        for target in [format!("/{}", "t".repeat(head_bytes_max)), "/".to_owned()] {
            let field = format!("X: {}\r\n", "f".repeat(head_bytes_max - 20)).repeat(3);
            let head = format!("GET {target} HTTP/1.1\r\nHost: a\r\n{field}\r\n");
            let answer = talk(server.addr, head.as_bytes()).await;
            assert!(
                answer.starts_with("HTTP/1.1 431 "),
                "{head_bytes_max}: {answer}"
            );
        }
    }
}

#[tokio::test]
async fn many_fields_are_answered_431() {
    for fields_max in [100, 20] {
        let limits = ListenLimits {
            fields_max,
            ..ListenLimits::default()
        };
        let server = Server::echo(limits);
        let head = |fields: usize| {
            let fields = "X: y\r\n".repeat(fields - 1);
            format!("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{fields}\r\n")
        };
        let answer = talk(server.addr, head(fields_max - 1).as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        let answer = talk(server.addr, head(fields_max).as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    }
}

#[tokio::test]
async fn a_slow_head_is_answered_408() {
    let limits = ListenLimits {
        head_timeout: SHORT,
        ..ListenLimits::default()
    };
    let server = Server::echo(limits);
    let answer = talk(server.addr, b"GET / HTTP/1.1\r\nHost: a\r\nX: sl").await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    // Also when it could still become HTTP/2, and on a connection that was good before.
    let answer = talk(server.addr, b"PRI * HT").await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    let answer = talk(server.addr, &[GET, b"GET / HT"].concat()).await;
    assert!(answer.contains("GET / HTTP/1.1 408 "), "{answer}");
    until(|| closed(&server, Close::TimedOut) == 3).await;
}

#[tokio::test]
async fn a_head_that_drips_has_no_more_time() {
    let limits = ListenLimits {
        head_timeout: SHORT * 3,
        ..ListenLimits::default()
    };
    let server = Server::echo(limits);
    let (mut reading, mut writing) = TcpStream::connect(server.addr).await.unwrap().into_split();
    let dripping = tokio::spawn(async move {
        writing.write_all(b"GET / HTTP/1.1\r\nX: ").await.unwrap();
        while writing.write_all(b"x").await.is_ok() {
            tokio::time::sleep(SHORT / 6).await;
        }
    });
    let started = Instant::now();
    let mut sink = Vec::new();
    let read = reading.read_to_end(&mut sink);
    let _ = edge_support::within(read).await;
    assert!(started.elapsed() >= SHORT * 3);
    dripping.await.unwrap();
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let limits = ListenLimits {
        idle_timeout: SHORT,
        ..ListenLimits::default()
    };
    let server = Server::echo(limits);
    let mut silent = TcpStream::connect(server.addr).await.unwrap();
    assert_eq!(rest(&mut silent).await, "");
    let mut once = TcpStream::connect(server.addr).await.unwrap();
    once.write_all(GET).await.unwrap();
    assert!(rest(&mut once).await.ends_with("GET / "));
    until(|| closed(&server, Close::Idle) == 2).await;
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_413() {
    let limits = ListenLimits {
        body_bytes_max: 10,
        ..ListenLimits::default()
    };
    let server = Server::echo(limits);
    let declared =
        "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n";
    let answer = talk(server.addr, declared.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\
                   5\r\nabcde\r\n6\r\nfghijk\r\n";
    let answer = talk(server.addr, chunked.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    let exact =
        "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 10\r\n\r\n0123456789";
    let answer = talk(server.addr, exact.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn a_body_that_pauses_is_408() {
    let limits = ListenLimits {
        body_idle_timeout: SHORT,
        ..ListenLimits::default()
    };
    let server = Server::echo(limits);
    let slow = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234";
    let answer = talk(server.addr, slow.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}

#[tokio::test]
async fn a_reader_that_takes_nothing_is_dropped() {
    let limits = ListenLimits {
        write_stall_timeout: SHORT,
        ..ListenLimits::default()
    };
    let server = Server::start(limits, |_| answer(Response::new(endless())));
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(GET).await.unwrap();
    until(|| closed(&server, Close::Stalled) + closed(&server, Close::TimedOut) == 1).await;
}

#[tokio::test]
async fn a_slow_reader_of_large_frames_is_kept() {
    const FRAME_BYTES: usize = 4 * 1024 * 1024;
    let timeout = Duration::from_millis(200);
    let limits = ListenLimits {
        write_stall_timeout: timeout,
        idle_timeout: timeout,
        ..ListenLimits::default()
    };
    let server = Server::start(limits, |_| {
        let frame =
            || Ok::<_, larder::BoxError>(http_body::Frame::data(vec![b'x'; FRAME_BYTES].into()));
        let frames = futures_util::stream::iter([frame(), frame()]);
        answer(Response::new(
            http_body_util::StreamBody::new(frames).boxed_unsync(),
        ))
    });
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").await.unwrap();
    let started = Instant::now();
    let (mut taken, mut buffer) = (0, vec![0; 64 * 1024]);
    loop {
        match edge_support::within(stream.read(&mut buffer))
            .await
            .unwrap()
        {
            0 => break,
            read => taken += read,
        }
        tokio::time::sleep(Duration::from_millis(6)).await;
    }
    assert!(started.elapsed() > timeout * 3, "the reader was not slow");
    assert!(taken > 2 * FRAME_BYTES, "cut after {taken} bytes");
}

#[tokio::test]
async fn a_stalled_http_2_reader_is_dropped() {
    use http_body_util::Empty;
    use hyper_util::rt::{TokioExecutor, TokioIo};
    let limits = ListenLimits {
        write_stall_timeout: SHORT,
        ..ListenLimits::default()
    };
    let server = Server::start(limits, |_| answer(Response::new(endless())));
    let stream = TcpStream::connect(server.addr).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    tokio::spawn(connection);
    let request = http::Request::get("http://a/")
        .body(Empty::<bytes::Bytes>::new())
        .unwrap();
    // The body is never read: its window closes, while the connection stays alive.
    let _unread = sender.send_request(request).await.unwrap();
    until(|| closed(&server, Close::Stalled) == 1).await;
}

#[tokio::test]
async fn beyond_the_bound_nobody_is_accepted() {
    let limits = ListenLimits {
        connections_max: 2,
        ..ListenLimits::default()
    };
    let server = Server::echo(limits);
    let mut open = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(server.addr).await.unwrap();
        stream.write_all(GET).await.unwrap();
        read_until(&mut stream, "GET / ").await;
        open.push(stream);
    }
    let mut third = TcpStream::connect(server.addr).await.unwrap();
    third.write_all(GET).await.unwrap();
    let mut byte = [0];
    let early = tokio::time::timeout(SHORT, third.peek(&mut byte)).await;
    assert!(early.is_err(), "served beyond the bound");
    assert_eq!(server.stats.accepted(), 2);
    open.clear();
    read_until(&mut third, "GET / ").await;
    assert_eq!(server.stats.accepted(), 3);
}

#[tokio::test]
async fn a_service_that_leaves_a_body_unread_is_still_heard() {
    let server = Server::start(ListenLimits::default(), |_| answer(text("no thanks")));
    let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n";
    let request = format!("{head}{}", "x".repeat(300_000));
    let answer = talk(server.addr, request.as_bytes()).await;
    assert!(answer.ends_with("no thanks"), "{answer}");
}
