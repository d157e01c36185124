//! The administration server over real sockets: what each path answers, and what it refuses.
#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping"
)]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use http::{Method, StatusCode};
use larder::admin::{
    AdminServer, BODY_BYTES_MAX, CONNECTIONS_MAX, PurgeError, PurgeFuture, PurgeReport,
    PurgeRequest, Purger, Readiness, Routes, Times, health_routes, json, metrics_route,
    purge_route,
};
use larder::observe::metrics::{CONTENT_TYPE, Metrics};
use serde_json::{Value, json as value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Long enough for a busy machine; a test that passes does not wait for it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Knows one URL, and one that the disk refuses.
struct OneUrl;

impl Purger for OneUrl {
    fn purge(&self, request: PurgeRequest) -> PurgeFuture<'_> {
        Box::pin(async move {
            match request.url.as_str() {
                "http://a/stored" => Ok(PurgeReport { found: true }),
                "http://a/unwritten" => Err(PurgeError::NotDurable("EIO".to_owned())),
                url if url.starts_with("http://") => Ok(PurgeReport { found: false }),
                url => Err(PurgeError::BadUrl {
                    url: url.to_owned(),
                    reason: "no scheme".to_owned(),
                }),
            }
        })
    }
}

struct Running {
    address: SocketAddr,
    readiness: Arc<AtomicU8>,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

async fn start(times: Times) -> Running {
    let readiness = Arc::new(AtomicU8::new(0));
    let mut routes = Routes::new();
    let state = Arc::clone(&readiness);
    health_routes(&mut routes, move || match state.load(Ordering::SeqCst) {
        0 => Readiness::Starting,
        1 => Readiness::Ready,
        _ => Readiness::Draining,
    });
    metrics_route(&mut routes, Arc::new(Metrics::new("9.9.9")));
    purge_route(&mut routes, Arc::new(OneUrl));
    routes.add(Method::GET, "/never", |_| async {
        std::future::pending::<()>().await;
        json(StatusCode::OK, &())
    });
    let server = AdminServer::bind("127.0.0.1:0".parse().unwrap())
        .await
        .unwrap();
    let server = server.with_times(times);
    let address = server.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let served = tokio::spawn(server.serve(routes, async {
        let _ = stopped.await;
    }));
    Running {
        address,
        readiness,
        stop,
        served,
    }
}

/// Sends `text` and reads until the server closes.
async fn exchange(address: SocketAddr, text: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may answer and close before it has read everything.
    let _ = stream.write_all(text).await;
    let mut answer = Vec::new();
    let read = timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
    let _ = read.expect("the server answers in time");
    String::from_utf8(answer).unwrap()
}

fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).unwrap_or("0").parse().unwrap()
}

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}

async fn get(address: SocketAddr, path: &str) -> String {
    let text = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    exchange(address, text.as_bytes()).await
}

async fn post(address: SocketAddr, path: &str, fields: &str, body: &str) -> (u16, Value) {
    let len = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n{fields}content-length: {len}\r\n\r\n"
    );
    let answer = exchange(address, format!("{head}{body}").as_bytes()).await;
    let text = self::body(&answer);
    (
        status(&answer),
        serde_json::from_str(text).unwrap_or_default(),
    )
}

#[tokio::test]
async fn metrics_are_scraped() {
    let running = start(Times::default()).await;
    let answer = get(running.address, "/metrics").await;
    assert_eq!(status(&answer), 200);
    assert!(
        answer.contains(&format!("content-type: {CONTENT_TYPE}\r\n")),
        "{answer}"
    );
    assert!(
        answer.contains("larder_build_info{version=\"9.9.9\"} 1\n"),
        "{answer}"
    );
    assert!(answer.ends_with("# EOF\n"));
}

#[tokio::test]
async fn health_is_life_and_readiness_is_a_state() {
    let running = start(Times::default()).await;
    for (state, code, name) in [
        (0, 503, "starting"),
        (1, 200, "ready"),
        (2, 503, "draining"),
    ] {
        running.readiness.store(state, Ordering::SeqCst);
        let ready = get(running.address, "/readyz").await;
        assert_eq!(status(&ready), code);
        assert_eq!(body(&ready), format!("{{\"status\":\"{name}\"}}\n"));
        assert_eq!(status(&get(running.address, "/healthz").await), 200);
    }
}

#[tokio::test]
async fn a_purge_says_what_it_did() {
    let running = start(Times::default()).await;
    let cases = [
        (
            r#"{"url":"http://a/stored"}"#,
            200,
            value!({"url": "http://a/stored", "found": true}),
        ),
        (
            r#"{"url":"http://a/other"}"#,
            200,
            value!({"url": "http://a/other", "found": false}),
        ),
        (
            r#"{"url":"nonsense"}"#,
            400,
            value!({"error": "cannot purge nonsense: no scheme"}),
        ),
        (
            r#"{"url":"http://a/unwritten"}"#,
            500,
            value!({"error": "the purge is not durable: EIO"}),
        ),
    ];
    for (body, code, expected) in cases {
        let answered = post(running.address, "/purge", "", body).await;
        assert_eq!(answered, (code, expected), "{body}");
    }
}

#[tokio::test]
async fn a_bad_request_is_told_so() {
    let running = start(Times::default()).await;
    let address = running.address;
    for body in ["", "{}", "[]", r#"{"uri":"x"}"#, r#"{"url":1}"#, "\u{0}"] {
        let (code, answer) = post(address, "/purge", "", body).await;
        assert_eq!(code, 400, "{body}");
        assert!(
            answer["error"].as_str().unwrap().contains("\"url\""),
            "{answer}"
        );
    }
    let stored = r#"{"url":"http://a/stored"}"#;
    let (code, _) = post(address, "/purge", "origin: http://evil.example\r\n", stored).await;
    assert_eq!(code, 403);
    let (code, _) = post(address, "/nowhere", "", stored).await;
    assert_eq!(code, 404);
    let (code, _) = post(address, "/metrics", "", stored).await;
    assert_eq!(code, 405);
    assert_eq!(status(&get(address, "/purge").await), 405);
}

#[tokio::test]
async fn a_large_body_is_refused() {
    let running = start(Times::default()).await;
    let large = "x".repeat(BODY_BYTES_MAX + 1);
    // In chunks: no length says beforehand that it is too much.
    let text = format!(
        "POST /purge HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n\
         {:x}\r\n{large}\r\n0\r\n\r\n",
        large.len()
    );
    assert_eq!(
        status(&exchange(running.address, text.as_bytes()).await),
        413
    );
    let (code, _) = post(running.address, "/purge", "", &large[1..]).await;
    assert_eq!(code, 400, "at the bound it is read, and is no JSON");
}

#[tokio::test]
async fn nobody_takes_for_ever() {
    let running = start(Times {
        head: Duration::from_millis(20),
        request: Duration::from_millis(20),
        connection: Duration::from_millis(200),
    })
    .await;
    let half_a_head = exchange(running.address, b"GET /healthz HTTP/1.1\r\nhost:").await;
    assert!(!half_a_head.contains("200 OK"), "{half_a_head}");
    assert_eq!(status(&get(running.address, "/never").await), 503);
}

#[tokio::test]
async fn one_connection_too_many_is_turned_away() {
    let running = start(Times::default()).await;
    let mut idle = Vec::new();
    for _ in 0..CONNECTIONS_MAX {
        idle.push(TcpStream::connect(running.address).await.unwrap());
    }
    let refused = get(running.address, "/healthz").await;
    assert_eq!(refused, "", "closed without an answer");
    idle.clear();
    let again = async {
        while get(running.address, "/healthz").await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, again).await.expect("a slot comes back");
}

#[tokio::test]
async fn the_end_waits_for_requests_but_not_for_ever() {
    let running = start(Times::default()).await;
    let never = tokio::spawn(async move { get(running.address, "/never").await });
    assert_eq!(status(&get(running.address, "/healthz").await), 200);
    running.stop.send(()).unwrap();
    timeout(PATIENCE, running.served)
        .await
        .expect("it ends")
        .unwrap();
    assert!(
        TcpStream::connect(running.address).await.is_err(),
        "nobody listens"
    );
    never.abort();
}
