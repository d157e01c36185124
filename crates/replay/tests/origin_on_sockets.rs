//! The origin on a socket: bytes, faults, counters, both protocols.

mod common;

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Version};
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use larder_replay::{Content, origin::OriginCounts};
use tokio::{net::TcpStream, time::timeout};

use common::{Origin, get, request};

/// How long a client waits to be sure that nothing more comes.
const SILENCE: Duration = Duration::from_millis(200);

#[tokio::test]
async fn bodies_are_the_content_of_their_path() {
    let origin = Origin::start().await;
    for path in [
        "/s/200000/a",
        "/object/b?size=200000",
        "/object/c?size=200000&chunked=1",
    ] {
        let (status, headers, body) = get(origin.address, path).await.unwrap();
        let name = path.split('?').next().unwrap();
        assert_eq!((status, body.len()), (200, 200_000), "{path}");
        assert_eq!(Content::new(name, 0).verify(0, &body), None, "{path}");
        assert_eq!(
            headers.contains_key("content-length"),
            !path.contains("chunked"),
            "{path}"
        );
    }
}

#[tokio::test]
async fn http2_without_tls_is_understood() {
    let origin = Origin::start().await;
    let stream = TcpStream::connect(origin.address).await.unwrap();
    let io = TokioIo::new(stream);
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
    tokio::spawn(connection);
    let uri = format!("http://{}/s/300000/a", origin.address);
    let request = Request::get(uri).body(Empty::<Bytes>::new()).unwrap();
    let answer = sender.send_request(request).await.unwrap();
    assert_eq!(answer.version(), Version::HTTP_2);
    let body = answer.collect().await.unwrap().to_bytes();
    assert_eq!(
        (body.len(), Content::new("/s/300000/a", 0).verify(0, &body)),
        (300_000, None)
    );
}

#[tokio::test]
async fn head_and_304_have_fields_and_no_body() {
    let origin = Origin::start().await;
    let head = request(origin.address, Request::head("/s/1000/a"))
        .await
        .unwrap();
    assert_eq!(head.headers()["content-length"], "1000");
    let etag = head.headers()["etag"].clone();
    let conditional = Request::get("/s/1000/a").header("if-none-match", etag);
    let answer = request(origin.address, conditional).await.unwrap();
    assert_eq!(answer.status(), 304);
    assert!(!answer.headers().contains_key("content-length"));
    assert_eq!(origin.stats.counts().not_modified, 1);
    assert_eq!(origin.stats.counts().bytes, 0);
}

#[tokio::test]
async fn fail_aborts_after_half_of_the_body() {
    let origin = Origin::start().await;
    let answer = request(
        origin.address,
        Request::get("/object/a?size=2000&fail=half"),
    )
    .await;
    let mut body = answer.unwrap().into_body();
    let mut received = 0;
    let error = loop {
        match body.frame().await.expect("the body never ends well") {
            Ok(frame) => received += frame.into_data().unwrap().len(),
            Err(error) => break error,
        }
    };
    assert_eq!(received, 1000, "{error}");
}

#[tokio::test]
async fn hang_gives_half_of_the_body_and_then_nothing() {
    let origin = Origin::start().await;
    let answer = request(
        origin.address,
        Request::get("/object/a?size=2000&hang=half"),
    )
    .await;
    let mut body = answer.unwrap().into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(first.len(), 1000);
    assert!(timeout(SILENCE, body.frame()).await.is_err());
    drop(body);
    origin.stop().await;
}

#[tokio::test]
async fn delays_are_kept() {
    let origin = Origin::start().await;
    let before = std::time::Instant::now();
    let path = "/object/a?size=10&delay_ms=60&body_delay_ms=60";
    let (_, _, body) = get(origin.address, path).await.unwrap();
    assert_eq!(body.len(), 10);
    assert!(before.elapsed() >= Duration::from_millis(120));
}

#[tokio::test]
async fn counters_are_told_and_reset() {
    let origin = Origin::start().await;
    for path in ["/s/1000/a", "/object/a?size=10", "/nothing"] {
        get(origin.address, path).await.unwrap();
    }
    let (_, _, json) = get(origin.address, "/_stats").await.unwrap();
    let told: OriginCounts = serde_json::from_slice(&json).unwrap();
    assert_eq!(
        (
            told.requests,
            told.by_kind.s,
            told.by_kind.object,
            told.by_kind.unknown
        ),
        (3, 1, 1, 1)
    );
    assert!(told.bytes >= 1010);
    assert_eq!(told.connections, 4);
    let answer = request(origin.address, Request::post("/_reset"))
        .await
        .unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(origin.stats.counts().requests, 0);
}
