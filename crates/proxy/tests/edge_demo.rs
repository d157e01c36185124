//! The demo site answers each request that it suggests.

mod edge_support;

use edge_support::body;
use edge_support::origin::{client, fetch, get, send};
use http::{Request, StatusCode};
use larder::demo;
use larder::origin::OriginLimits;

#[tokio::test]
async fn each_request_to_try_works() {
    let (addr, serving) = demo::start().await.unwrap();
    assert!(addr.ip().is_loopback());
    let client = client(addr, OriginLimits::default());
    let home = fetch(&client, get("/")).await.unwrap();
    for attempt in demo::TRY {
        let response = send(&client, get(attempt.path)).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{}", attempt.path);
        assert!(
            response.headers().contains_key("cache-control"),
            "{}",
            attempt.path
        );
        assert!(
            home.contains(&format!("href=\"{}\"", attempt.path)),
            "{}",
            attempt.path
        );
    }
    let missing = send(&client, get("/missing")).await.unwrap();
    assert_eq!(missing.status(), StatusCode::NOT_FOUND);
    serving.abort();
}

#[tokio::test]
async fn the_picture_can_be_revalidated() {
    let (addr, _serving) = demo::start().await.unwrap();
    let client = client(addr, OriginLimits::default());
    let picture = send(&client, get("/picture.svg")).await.unwrap();
    let etag = picture.headers()["etag"].clone();
    let again = Request::get("/picture.svg")
        .header("if-none-match", &etag)
        .body(body(""))
        .unwrap();
    let answer = send(&client, again).await.unwrap();
    assert_eq!(answer.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(answer.headers()["etag"], etag);
}
