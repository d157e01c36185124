//! One fetch for all who want a key, and nobody held by a leader that does not deliver.

mod scripted;

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use scripted::{Bench, Step, get};

const CACHEABLE: &[(&str, &str)] = &[("cache-control", "max-age=60"), ("etag", "\"1\"")];

#[tokio::test(start_paused = true)]
async fn a_thousand_clients_share_one_fetch() {
    let body = Bytes::from(vec![b'x'; 1 << 20]);
    let bench = Bench::new(vec![
        Step::Wait(Duration::from_millis(500)),
        Step::answer(200, CACHEABLE, body.clone()),
    ]);
    let clients: Vec<_> = (0..1000)
        .map(|_| tokio::spawn(bench.ask(get("/a"))))
        .collect();
    let mut collapsed = 0;
    for client in clients {
        let answer = client.await.unwrap();
        assert_eq!(
            (answer.status, &answer.body),
            (StatusCode::OK, &Some(body.clone()))
        );
        collapsed += usize::from(answer.cache_status.contains("collapsed"));
    }
    assert_eq!((bench.fetches(), collapsed), (1, 999));
    let hit = bench.ask(get("/a")).await;
    assert!(
        hit.cache_status.starts_with("larder;hit"),
        "{}",
        hit.cache_status
    );
    assert_eq!(bench.fetches(), 1);
}

#[tokio::test(start_paused = true)]
async fn waiters_of_an_uncacheable_answer_are_released_at_once() {
    let steps = (0..10)
        .map(|_| Step::answer(200, &[("cache-control", "no-store")], "x"))
        .collect();
    let bench = Bench::with(steps, Some(Duration::from_millis(500)));
    let clients: Vec<_> = (0..10)
        .map(|_| tokio::spawn(bench.ask(get("/a"))))
        .collect();
    let start = tokio::time::Instant::now();
    for client in clients {
        assert_eq!(client.await.unwrap().status, StatusCode::OK);
    }
    // The leader's half second, then all the others' at once.
    assert!(
        start.elapsed() < Duration::from_millis(1100),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(bench.fetches(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_proved_uncacheable_is_not_collapsed_again() {
    let no_store = || Step::answer(200, &[("cache-control", "no-store")], "x");
    let bench = Bench::new(vec![no_store(), no_store()]);
    bench.ask(get("/a")).await;
    let second = bench.ask(get("/a")).await;
    assert!(
        second.cache_status.contains("hit-for-miss"),
        "{}",
        second.cache_status
    );
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_says_nothing_holds_nobody_beyond_the_wait() {
    let bench = Bench::new(vec![Step::Hang, Step::answer(200, CACHEABLE, "x")]);
    let leader = tokio::spawn(bench.ask(get("/a")));
    bench.until_fetches(1).await;
    let start = tokio::time::Instant::now();
    let answer = bench.ask(get("/a")).await;
    assert_eq!(answer.body.unwrap(), "x");
    assert!(start.elapsed() <= bench.collapse_wait() * 2);
    assert_eq!(bench.fetches(), 2);
    leader.abort();
}

#[tokio::test(start_paused = true)]
async fn a_silent_origin_is_asked_twice_however_many_wait() {
    let bench = Bench::new(vec![
        Step::Hang,
        Step::Wait(Duration::from_secs(30)),
        Step::TimeOut,
    ]);
    let leader = tokio::spawn(bench.ask(get("/a")));
    bench.until_fetches(1).await;
    let others: Vec<_> = (0..50)
        .map(|_| tokio::spawn(bench.ask(get("/a"))))
        .collect();
    for other in others {
        let status = other.await.unwrap().status;
        assert_eq!(status, StatusCode::GATEWAY_TIMEOUT);
    }
    assert_eq!(bench.fetches(), 2);
    leader.abort();
}

#[tokio::test(start_paused = true)]
async fn followers_of_a_stalled_leader_take_its_answer_when_it_comes_after_all() {
    let late = Duration::from_secs(11);
    let bench = Bench::new(vec![
        Step::Wait(late),
        Step::Hang,
        Step::answer(200, CACHEABLE, "x"),
    ]);
    let leader = tokio::spawn(bench.ask(get("/a")));
    bench.until_fetches(1).await;
    let others: Vec<_> = (0..5).map(|_| tokio::spawn(bench.ask(get("/a")))).collect();
    bench.until_fetches(2).await;
    assert_eq!(leader.await.unwrap().body.unwrap(), "x");
    for other in others {
        assert_eq!(other.await.unwrap().body.unwrap(), "x");
    }
    assert_eq!(bench.fetches(), 2);
}

#[tokio::test(start_paused = true)]
async fn waiters_of_a_failed_leader_elect_another() {
    let bench = Bench::new(vec![
        Step::Wait(Duration::from_millis(10)),
        Step::Fail,
        Step::answer(200, CACHEABLE, "x"),
    ]);
    let leader = tokio::spawn(bench.ask(get("/a")));
    bench.until_fetches(1).await;
    let others: Vec<_> = (0..5).map(|_| tokio::spawn(bench.ask(get("/a")))).collect();
    assert_eq!(leader.await.unwrap().status, StatusCode::BAD_GATEWAY);
    for other in others {
        assert_eq!(other.await.unwrap().status, StatusCode::OK);
    }
    assert_eq!(bench.fetches(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_breaks_off_is_continued_by_a_range() {
    let bench = Bench::new(vec![
        Step::broken(200, CACHEABLE, "0123456789", 4),
        Step::answer(
            206,
            &[("content-range", "bytes 4-9/10"), ("etag", "\"1\"")],
            "456789",
        ),
    ]);
    assert_eq!(bench.ask(get("/a")).await.body.unwrap(), "0123456789");
    assert_eq!(bench.last_header("range"), Some("bytes=4-9".to_owned()));
    assert_eq!(bench.last_header("if-range"), Some("\"1\"".to_owned()));
    assert!(bench.ask(get("/a")).await.cache_status.contains("hit"));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_breaks_off_for_good_is_an_error_and_is_not_stored() {
    let bench = Bench::new(vec![
        Step::broken(200, CACHEABLE, "0123456789", 4),
        Step::answer(200, &[("etag", "\"2\"")], "other bytes"),
        Step::answer(200, CACHEABLE, "0123456789"),
    ]);
    assert_eq!(bench.ask(get("/a")).await.body, None);
    let again = bench.ask(get("/a")).await;
    assert_eq!(again.body.unwrap(), "0123456789");
    assert!(
        again.cache_status.contains("fwd=uri-miss"),
        "{}",
        again.cache_status
    );
}

#[tokio::test(start_paused = true)]
async fn the_client_going_away_does_not_end_the_fill() {
    let bench = Bench::with(
        vec![Step::answer(200, CACHEABLE, "x")],
        Some(Duration::from_secs(1)),
    );
    let client = tokio::spawn(bench.ask(get("/a")));
    bench.until_fetches(1).await;
    client.abort();
    bench.until_stored("/a").await;
    assert!(bench.ask(get("/a")).await.cache_status.contains("hit"));
}

#[tokio::test(start_paused = true)]
async fn a_purge_overtakes_a_fill() {
    let bench = Bench::with(
        vec![
            Step::answer(200, CACHEABLE, "old"),
            Step::answer(200, CACHEABLE, "new"),
        ],
        Some(Duration::from_secs(1)),
    );
    let client = tokio::spawn(bench.ask(get("/a")));
    bench.until_fetches(1).await;
    assert_eq!(
        bench
            .ask(scripted::request("PURGE", "/a", &[]))
            .await
            .status,
        StatusCode::OK
    );
    assert_eq!(client.await.unwrap().body.unwrap(), "old");
    assert_eq!(bench.ask(get("/a")).await.body.unwrap(), "new");
    assert_eq!(bench.ask(get("/a")).await.body.unwrap(), "new");
}
