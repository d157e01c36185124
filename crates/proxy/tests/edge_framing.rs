//! Requests that break the framing rules are answered 400 and never reach the service.

mod edge_support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use edge_support::{Server, answer, talk, text};
use larder::listen::{ListenLimits, Violation};
use tokio::io::AsyncWriteExt;

const GOOD: &str = "GET /good HTTP/1.1\r\nHost: a\r\n\r\n";

const BAD: &[(&str, Violation)] = &[
    (
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
        Violation::LengthRepeated,
    ),
    (
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        Violation::LengthWithCoding,
    ),
    (
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        Violation::CodingUnknown,
    ),
    ("GET / HTTP/1.1\nHost: a\n\n", Violation::BareLf),
    (
        "GET / HTTP/1.1\r\nHost: a\r\nX: b\nY: c\r\n\r\n",
        Violation::BareLf,
    ),
    (
        "GET / HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n",
        Violation::Control,
    ),
    (
        "GET / HTTP/1.1\r\nHost: a\r\nX: b\rc\r\n\r\n",
        Violation::BareCr,
    ),
    (
        "GET / HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n",
        Violation::SpaceBeforeColon,
    ),
    (
        "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n",
        Violation::Fold,
    ),
    ("GET / HTTP/1.1\r\nX: b\r\n\r\n", Violation::HostMissing),
    (
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        Violation::HostRepeated,
    ),
    (
        "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n",
        Violation::Connect,
    ),
    ("PRI * HTTP/2.0\r\n\r\nNO\r\n\r\n", Violation::Target),
];

fn counting() -> (Server, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&calls);
    let server = Server::start(ListenLimits::default(), move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
        answer(text("fine"))
    });
    (server, calls)
}

#[tokio::test]
async fn each_is_answered_400_and_closed() {
    let (server, calls) = counting();
    for (request, violation) in BAD {
        let answer = talk(server.addr, request.as_bytes()).await;
        assert!(
            answer.starts_with("HTTP/1.1 400 "),
            "{request:?}: {answer:?}"
        );
        assert_eq!(
            answer.matches("HTTP/1.1").count(),
            1,
            "{request:?}: {answer:?}"
        );
        let counts = server.stats.violations();
        assert!(
            counts
                .iter()
                .any(|(kind, count)| kind == *violation && count > 0),
            "{request:?}"
        );
    }
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn however_slowly_it_comes() {
    let (server, calls) = counting();
    for (request, _) in BAD {
        let mut stream = tokio::net::TcpStream::connect(server.addr).await.unwrap();
        stream.set_nodelay(true).unwrap();
        for byte in request.as_bytes() {
            if stream.write_all(&[*byte]).await.is_err() {
                break;
            }
            tokio::task::yield_now().await;
        }
        let answer = edge_support::rest(&mut stream).await;
        assert!(
            answer.starts_with("HTTP/1.1 400 "),
            "{request:?}: {answer:?}"
        );
    }
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn what_came_before_it_is_answered_first() {
    let (server, calls) = counting();
    for (request, _) in BAD {
        let pipeline = format!("{GOOD}{GOOD}{request}{GOOD}");
        let answer = talk(server.addr, pipeline.as_bytes()).await;
        let statuses: Vec<&str> = answer.lines().filter(|l| l.contains("HTTP/1.1")).collect();
        assert_eq!(statuses.len(), 3, "{request:?}: {answer:?}");
        assert!(
            statuses[2].contains("HTTP/1.1 400"),
            "{request:?}: {answer:?}"
        );
    }
    assert_eq!(calls.load(Ordering::Relaxed), 2 * BAD.len());
}

#[tokio::test]
async fn the_answer_survives_a_client_that_talks_on() {
    let (server, _) = counting();
    let request = format!("GET / HTTP/1.1\r\nX: a\nb\r\n\r\n{}", "x".repeat(400_000));
    let answer = talk(server.addr, request.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer:?}");
}

#[tokio::test]
async fn a_bad_body_fails_the_request_that_reads_it() {
    let server = Server::echo(ListenLimits::default());
    let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    for body in [
        "5\nhello\r\n0\r\n\r\n",
        "5\r\nhelloX\r\n0\r\n\r\n",
        "0\r\nHost: b\r\n\r\n",
    ] {
        let answer = talk(server.addr, format!("{head}{body}{GOOD}").as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{body:?}: {answer:?}");
        assert!(!answer.contains("/good"), "{body:?}: {answer:?}");
    }
}
