//! The bound on an origin's connections: never more, never longer than said.

mod edge_support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use edge_support::origin::{HELLO, Origin, fetch, get, next_head, send};
use edge_support::until;
use futures_util::future::join_all;
use http::StatusCode;
use larder::origin::{Blame, OriginError, OriginLimits};
use tokio::io::AsyncWriteExt;

const SHORT: Duration = Duration::from_millis(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_requests_share_few_connections() {
    let (busy, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (running, peak) = (Arc::clone(&busy), Arc::clone(&most));
    let origin = Origin::start(move |_, mut stream| {
        let (running, peak) = (Arc::clone(&running), Arc::clone(&peak));
        async move {
            loop {
                next_head(&mut stream).await;
                peak.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                running.fetch_sub(1, Ordering::SeqCst);
                stream.write_all(HELLO.as_bytes()).await.unwrap();
            }
        }
    })
    .await;
    let client = origin.client(OriginLimits {
        connections_max: 4,
        ..OriginLimits::default()
    });
    let answers = join_all((0..200).map(|_| fetch(&client, get("/")))).await;
    assert!(
        answers
            .into_iter()
            .all(|answer| answer.is_ok_and(|text| text == "hello"))
    );
    assert!(
        origin.connections() <= 4,
        "{} connections",
        origin.connections()
    );
    assert!(most.load(Ordering::SeqCst) <= 4);
}

#[tokio::test]
async fn a_request_waits_for_a_connection_but_not_for_ever() {
    let origin = Origin::answering(HELLO).await;
    let limits = OriginLimits {
        connections_max: 1,
        wait_timeout: SHORT,
        ..OriginLimits::default()
    };
    let client = origin.client(limits);
    let unread = send(&client, get("/")).await.unwrap();
    let error = fetch(&client, get("/")).await.unwrap_err();
    assert!(
        matches!(
            error,
            OriginError::TooManyConnections {
                connections_max: 1,
                waited_ms: 60
            }
        ),
        "{error}"
    );
    assert_eq!(
        (error.status(), error.blame()),
        (StatusCode::SERVICE_UNAVAILABLE, Blame::Proxy)
    );
    drop(unread);
    assert_eq!(fetch(&client, get("/")).await.unwrap(), "hello");
}

#[tokio::test]
async fn a_waiting_request_gets_the_connection_that_is_given_back() {
    let origin = Origin::answering(HELLO).await;
    let client = origin.client(OriginLimits {
        connections_max: 1,
        ..OriginLimits::default()
    });
    let first = send(&client, get("/")).await.unwrap();
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { fetch(&client, get("/")).await }
    });
    tokio::task::yield_now().await;
    http_body_util::BodyExt::collect(first.into_body())
        .await
        .unwrap();
    assert_eq!(waiting.await.unwrap().unwrap(), "hello");
    assert_eq!(origin.connections(), 1);
}

#[tokio::test]
async fn too_many_waiters_are_told_at_once() {
    let origin = Origin::answering(HELLO).await;
    let limits = OriginLimits {
        connections_max: 1,
        waiters_max: 0,
        ..OriginLimits::default()
    };
    let client = origin.client(limits);
    let _unread = send(&client, get("/")).await.unwrap();
    let error = fetch(&client, get("/")).await.unwrap_err();
    assert!(
        matches!(error, OriginError::TooManyConnections { waited_ms: 0, .. }),
        "{error}"
    );
}

#[tokio::test]
async fn a_request_that_is_given_up_frees_its_slot() {
    let origin = Origin::start(|number, mut stream| async move {
        next_head(&mut stream).await;
        if number == 0 {
            std::future::pending::<()>().await;
        }
        stream.write_all(HELLO.as_bytes()).await.unwrap();
    })
    .await;
    let client = origin.client(OriginLimits {
        connections_max: 1,
        ..OriginLimits::default()
    });
    let hanging = tokio::spawn({
        let client = client.clone();
        async move { fetch(&client, get("/")).await }
    });
    until(|| origin.connections() == 1).await;
    hanging.abort();
    assert_eq!(fetch(&client, get("/")).await.unwrap(), "hello");
}
