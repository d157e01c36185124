//! The client side over real sockets: reuse, what is sent, and how each failure is told.

#![allow(
    clippy::unwrap_used,
    reason = "what only tests call may say what it expects"
)]

mod edge_support;

use std::time::Duration;

use edge_support::origin::{HELLO, Origin, channel, client, fetch, get, next_head, post, send};
use edge_support::{body, read_until, until, within};
use http::{Request, StatusCode, Version, header};
use http_body_util::BodyExt;
use larder::origin::{Blame, HostPolicy, OriginClient, OriginError, OriginLimits};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

const SHORT: Duration = Duration::from_millis(60);

/// An origin that answers hello, and what it was asked.
async fn listening() -> (Origin, mpsc::UnboundedReceiver<String>) {
    let (heads, asked) = mpsc::unbounded_channel();
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
    (origin, asked)
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let origin = Origin::answering(HELLO).await;
    let client = origin.client(OriginLimits::default());
    for _ in 0..5 {
        assert_eq!(fetch(&client, get("/")).await.unwrap(), "hello");
    }
    assert_eq!(origin.connections(), 1);
}

#[tokio::test]
async fn an_answer_without_a_body_gives_its_connection_back_at_once() {
    let origin = Origin::answering("HTTP/1.1 304 Not Modified\r\n\r\n").await;
    let client = origin.client(OriginLimits {
        connections_max: 1,
        ..OriginLimits::default()
    });
    let kept: Vec<_> = [
        send(&client, get("/")).await.unwrap(),
        send(&client, get("/")).await.unwrap(),
    ]
    .into();
    assert_eq!(kept.len(), 2);
    assert_eq!(origin.connections(), 1);
}

#[tokio::test]
async fn an_unused_connection_is_closed() {
    let origin = Origin::answering(HELLO).await;
    let client = origin.client(OriginLimits {
        idle_timeout: SHORT,
        ..OriginLimits::default()
    });
    fetch(&client, get("/")).await.unwrap();
    tokio::time::sleep(SHORT * 3).await;
    fetch(&client, get("/")).await.unwrap();
    assert_eq!(origin.connections(), 2);
}

#[tokio::test]
async fn what_the_origin_is_asked() {
    let (origin, mut asked) = listening().await;
    let client = origin.client(OriginLimits::default());
    let request = Request::get("http://front.example/a?b=c")
        .version(Version::HTTP_2)
        .header("host", "front.example")
        .header("connection", "x-hop")
        .header("x-hop", "1")
        .header("te", "trailers")
        .header("upgrade", "h2c")
        .header("content-length", "7")
        .header("x-end", "2")
        .body(body(""))
        .unwrap();
    fetch(&client, request).await.unwrap();
    let head = asked.recv().await.unwrap();
    assert_eq!(
        head,
        "get /a?b=c http/1.1\r\nhost: front.example\r\nx-end: 2\r\n\r\n"
    );

    // HTTP/2 has no Host, and an absolute target is stronger than one.
    for stale in [None, Some("stale.example")] {
        let mut request = Request::get("http://u@front.example:81")
            .body(body(""))
            .unwrap();
        if let Some(stale) = stale {
            request.headers_mut().insert("host", stale.parse().unwrap());
        }
        fetch(&client, request).await.unwrap();
        let head = asked.recv().await.unwrap();
        assert_eq!(head, "get / http/1.1\r\nhost: front.example:81\r\n\r\n");
    }

    fetch(&client, post("")).await.unwrap();
    let head = asked.recv().await.unwrap();
    assert!(
        head.contains(&format!("host: {}\r\n", origin.addr)),
        "{head}"
    );
    assert!(head.contains("content-length: 0\r\n"), "{head}");

    let address = format!("http://{}", origin.addr).parse().unwrap();
    let fixed = HostPolicy::Fixed("fixed.example".parse().unwrap());
    let client = OriginClient::new(address, OriginLimits::default(), fixed);
    let request = Request::get("/")
        .header(header::HOST, "front.example")
        .body(body(""))
        .unwrap();
    fetch(&client, request).await.unwrap();
    assert!(
        asked
            .recv()
            .await
            .unwrap()
            .contains("host: fixed.example\r\n")
    );
}

#[tokio::test]
async fn a_length_beside_a_coding_is_not_believed() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\
                  Connection: keep-alive, x-hop\r\nX-Hop: 1\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    let origin = Origin::answering(answer).await;
    let response = send(&origin.client(OriginLimits::default()), get("/"))
        .await
        .unwrap();
    assert!(response.headers().is_empty(), "{:?}", response.headers());
    assert_eq!(
        response.into_body().collect().await.unwrap().to_bytes(),
        "ok"
    );
}

#[tokio::test]
async fn a_name_is_looked_up_and_each_address_tried() {
    let origin = Origin::answering(HELLO).await;
    let address = format!("http://localhost:{}", origin.addr.port())
        .parse()
        .unwrap();
    let client = OriginClient::new(address, OriginLimits::default(), HostPolicy::Origin);
    assert_eq!(fetch(&client, get("/")).await.unwrap(), "hello");
}

#[tokio::test]
async fn an_origin_that_is_down_is_502() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = closed.local_addr().unwrap();
    drop(closed);
    let error = fetch(&client(addr, OriginLimits::default()), get("/"))
        .await
        .unwrap_err();
    assert!(
        matches!(error, OriginError::Connect { addr: tried, .. } if tried == addr),
        "{error}"
    );
    assert_eq!(
        (error.status(), error.as_str()),
        (StatusCode::BAD_GATEWAY, "connect")
    );
    assert_eq!(error.blame(), Blame::Origin);
}

#[tokio::test]
async fn an_origin_that_is_silent_is_504() {
    let origin = Origin::start(|_, mut stream| async move {
        next_head(&mut stream).await;
        std::future::pending::<()>().await;
    })
    .await;
    let limits = OriginLimits {
        header_timeout: SHORT,
        ..OriginLimits::default()
    };
    let error = fetch(&origin.client(limits), get("/")).await.unwrap_err();
    assert!(
        matches!(error, OriginError::HeaderTimeout { after_ms: 60 }),
        "{error}"
    );
    assert_eq!(error.status(), StatusCode::GATEWAY_TIMEOUT);
}

#[tokio::test]
async fn a_body_that_pauses_is_504() {
    let origin = Origin::answering("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello").await;
    let limits = OriginLimits {
        body_timeout: SHORT,
        ..OriginLimits::default()
    };
    let error = fetch(&origin.client(limits), get("/")).await.unwrap_err();
    assert!(matches!(error, OriginError::BodyTimeout { .. }), "{error}");
    assert_eq!(error.status(), StatusCode::GATEWAY_TIMEOUT);
}

#[tokio::test]
async fn an_answer_that_breaks_off_or_makes_no_sense_is_502() {
    let large = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(100_000));
    for (answer, name) in [
        ("", "closed"),
        ("HTTP/1.1 200 O", "closed"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello",
            "closed",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
            "closed",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            "protocol",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
            "protocol",
        ),
        ("SSH-2.0-OpenSSH_9.2\r\n", "protocol"),
        (
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
            "unasked-upgrade",
        ),
        (&large, "protocol"),
    ] {
        let answer = answer.to_owned();
        let origin = Origin::start(move |_, mut stream| {
            let answer = answer.clone();
            async move {
                next_head(&mut stream).await;
                let _ = stream.write_all(answer.as_bytes()).await;
                let _ = stream.shutdown().await;
            }
        })
        .await;
        let error = fetch(&origin.client(OriginLimits::default()), get("/"))
            .await
            .unwrap_err();
        assert_eq!(error.as_str(), name, "{error}");
        assert_eq!(error.status(), StatusCode::BAD_GATEWAY);
        assert_eq!(
            origin.connections(),
            1,
            "a new connection was given a second chance"
        );
    }
}

/// Answers the first request of its first connection; then every connection takes one and dies.
async fn forgetful(dies: usize) -> Origin {
    Origin::start(move |number, mut stream| async move {
        if number == 0 {
            next_head(&mut stream).await;
            stream.write_all(HELLO.as_bytes()).await.unwrap();
        }
        next_head(&mut stream).await;
        if number > dies {
            stream.write_all(HELLO.as_bytes()).await.unwrap();
        }
    })
    .await
}

#[tokio::test]
async fn a_request_that_met_a_dying_connection_is_sent_again() {
    let origin = forgetful(0).await;
    let client = origin.client(OriginLimits::default());
    fetch(&client, get("/")).await.unwrap();
    assert_eq!(fetch(&client, get("/")).await.unwrap(), "hello");
    assert_eq!(origin.connections(), 2);
}

#[tokio::test]
async fn but_only_once() {
    let origin = forgetful(9).await;
    let client = origin.client(OriginLimits::default());
    fetch(&client, get("/")).await.unwrap();
    let error = fetch(&client, get("/")).await.unwrap_err();
    assert!(matches!(error, OriginError::Closed(_)), "{error}");
    assert_eq!(origin.connections(), 2);
}

#[tokio::test]
async fn and_only_what_may_be_sent_twice() {
    for request in [post("text"), post("")] {
        let origin = forgetful(0).await;
        let client = origin.client(OriginLimits::default());
        fetch(&client, get("/")).await.unwrap();
        let error = fetch(&client, request).await.unwrap_err();
        assert!(matches!(error, OriginError::Closed(_)), "{error}");
        assert_eq!(origin.connections(), 1);
    }
}

#[tokio::test]
async fn an_upload_has_time_for_as_long_as_it_moves() {
    let origin = Origin::start(|_, mut stream| async move {
        read_until(&mut stream, "0\r\n\r\n").await;
        stream.write_all(HELLO.as_bytes()).await.unwrap();
        std::future::pending::<()>().await;
    })
    .await;
    let limits = OriginLimits {
        header_timeout: SHORT,
        ..OriginLimits::default()
    };
    let client = origin.client(limits);
    let (parts, body) = channel();
    let upload =
        tokio::spawn(async move { fetch(&client, Request::post("/").body(body).unwrap()).await });
    for _ in 0..8 {
        parts.send("part").await.unwrap();
        tokio::time::sleep(SHORT / 3).await;
    }
    drop(parts);
    assert_eq!(upload.await.unwrap().unwrap(), "hello");
}

#[tokio::test]
async fn a_body_that_fails_is_its_clients_fault() {
    let (origin, _asked) = listening().await;
    let client = origin.client(OriginLimits::default());
    let failing = futures_util::stream::iter([Err::<http_body::Frame<bytes::Bytes>, _>(
        larder::BoxError::from("gone"),
    )]);
    let body = http_body_util::StreamBody::new(failing).boxed_unsync();
    let origin_answers_late = Request::post("/").body(body).unwrap();
    match fetch(&client, origin_answers_late).await {
        Err(error) => {
            assert_eq!(error.blame(), Blame::Client, "{error}");
            assert_eq!(error.status(), StatusCode::BAD_REQUEST);
        }
        Ok(answer) => panic!("answered {answer}"),
    }
}

#[tokio::test]
async fn a_body_that_is_dropped_closes_its_connection() {
    let origin = Origin::answering("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello").await;
    let client = origin.client(OriginLimits {
        connections_max: 1,
        ..OriginLimits::default()
    });
    for turn in 1..=3 {
        drop(send(&client, get("/")).await.unwrap());
        until(|| origin.connections() == turn).await;
    }
}

#[tokio::test]
async fn an_early_answer_does_not_leave_half_a_request_behind() {
    let (origin, _asked) = listening().await;
    let client = origin.client(OriginLimits::default());
    let (parts, body) = channel();
    parts.send("never finished").await.unwrap();
    assert_eq!(
        fetch(&client, Request::post("/").body(body).unwrap())
            .await
            .unwrap(),
        "hello"
    );
    // The next request must not be written behind the unfinished one.
    assert_eq!(within(fetch(&client, get("/"))).await.unwrap(), "hello");
    assert_eq!(origin.connections(), 2);
    drop(parts);
}
