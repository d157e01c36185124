//! What the cache core does with validators, variants, ranges and staleness.

mod scripted;

use http::StatusCode;
use scripted::{Bench, Step, get, request};

/// Names and values of header fields.
type Lines = &'static [(&'static str, &'static str)];

#[tokio::test(start_paused = true)]
async fn a_stale_object_is_confirmed_by_a_304() {
    let headers = [
        ("cache-control", "max-age=10"),
        ("etag", "\"1\""),
        ("x", "old"),
    ];
    let bench = Bench::new(vec![
        Step::answer(200, &headers, "body"),
        Step::answer(
            304,
            &[
                ("cache-control", "max-age=10"),
                ("etag", "\"1\""),
                ("x", "new"),
            ],
            "",
        ),
    ]);
    bench.ask(get("/a")).await;
    bench.pass_seconds(11);
    let answer = bench.ask(get("/a")).await;
    assert_eq!(answer.body.unwrap(), "body");
    assert_eq!(answer.headers["x"], "new");
    assert_eq!(bench.last_header("if-none-match"), Some("\"1\"".to_owned()));
    assert!(
        answer.cache_status.contains("fwd=stale"),
        "{}",
        answer.cache_status
    );
    assert!(bench.ask(get("/a")).await.cache_status.contains("hit"));
    assert_eq!(bench.fetches(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_stale_object_may_be_served_while_it_is_refreshed() {
    let headers = [
        ("cache-control", "max-age=10, stale-while-revalidate=60"),
        ("etag", "\"1\""),
    ];
    let bench = Bench::new(vec![
        Step::answer(200, &headers, "old"),
        Step::answer(200, &headers, "new"),
    ]);
    bench.ask(get("/a")).await;
    bench.pass_seconds(20);
    let stale = bench.ask(get("/a")).await;
    assert_eq!(stale.body.unwrap(), "old");
    bench.until_fetches(2).await;
    bench.until_idle().await;
    assert_eq!(bench.ask(get("/a")).await.body.unwrap(), "new");
}

#[tokio::test(start_paused = true)]
async fn a_stale_object_stands_in_for_a_failing_origin_with_permission() {
    let headers = [("cache-control", "max-age=10, stale-if-error=60")];
    for failure in [Step::Fail, Step::answer(503, &[], "sorry")] {
        let bench = Bench::new(vec![Step::answer(200, &headers, "kept"), failure]);
        bench.ask(get("/a")).await;
        bench.pass_seconds(20);
        let answer = bench.ask(get("/a")).await;
        assert_eq!(
            (answer.status, answer.body.unwrap()),
            (StatusCode::OK, "kept".into())
        );
        assert!(
            answer.cache_status.contains("stale-if-error"),
            "{}",
            answer.cache_status
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_failing_origin_is_an_error_without_permission() {
    let bench = Bench::new(vec![
        Step::answer(
            200,
            &[("cache-control", "max-age=10, must-revalidate")],
            "kept",
        ),
        Step::Fail,
    ]);
    bench.ask(get("/a")).await;
    bench.pass_seconds(20);
    assert_eq!(bench.ask(get("/a")).await.status, StatusCode::BAD_GATEWAY);
}

#[tokio::test(start_paused = true)]
async fn variants_are_kept_apart_and_purged_together() {
    let vary = [("cache-control", "max-age=60"), ("vary", "accept-language")];
    let bench = Bench::new(vec![
        Step::answer(200, &vary, "hallo"),
        Step::answer(200, &vary, "hello"),
        Step::answer(200, &vary, "hallo 2"),
        Step::answer(200, &vary, "hello 2"),
    ]);
    let ask = |language| bench.ask(request("GET", "/a", &[("accept-language", language)]));
    for (language, want, hit) in [
        ("de", "hallo", false),
        ("en", "hello", false),
        ("de", "hallo", true),
        ("en", "hello", true),
    ] {
        let answer = ask(language).await;
        assert_eq!(answer.body.unwrap(), want);
        assert_eq!(
            answer.cache_status.contains(";hit"),
            hit,
            "{}",
            answer.cache_status
        );
    }
    bench.ask(request("PURGE", "/a", &[])).await;
    assert_eq!(ask("de").await.body.unwrap(), "hallo 2");
    assert_eq!(ask("en").await.body.unwrap(), "hello 2");
}

#[tokio::test(start_paused = true)]
async fn concurrent_variants_do_not_get_each_others_body() {
    let vary = [("cache-control", "max-age=60"), ("vary", "x")];
    let wait = std::time::Duration::from_millis(100);
    let steps = ["one", "two"]
        .map(|body| Step::answer(200, &vary, body))
        .into();
    let bench = Bench::with(steps, Some(wait));
    let one = tokio::spawn(bench.ask(request("GET", "/a", &[("x", "1")])));
    bench.until_fetches(1).await;
    let two = bench.ask(request("GET", "/a", &[("x", "2")])).await;
    assert_eq!(one.await.unwrap().body.unwrap(), "one");
    assert_eq!(two.body.unwrap(), "two");
}

#[tokio::test(start_paused = true)]
async fn conditions_and_ranges_are_answered_from_the_store() {
    let headers = [("cache-control", "max-age=60"), ("etag", "\"1\"")];
    let bench = Bench::new(vec![Step::answer(200, &headers, "0123456789")]);
    let rows: [(Lines, u16, &str); 6] = [
        (&[("range", "bytes=2-4")], 206, "234"),
        (&[], 200, "0123456789"),
        (&[("if-none-match", "\"1\"")], 304, ""),
        (&[("range", "bytes=-3")], 206, "789"),
        (&[("range", "bytes=20-")], 416, ""),
        (
            &[("range", "bytes=0-1"), ("if-range", "\"2\"")],
            200,
            "0123456789",
        ),
    ];
    for (headers, status, body) in rows {
        let answer = bench.ask(request("GET", "/a", headers)).await;
        assert_eq!(
            (answer.status.as_u16(), answer.body.unwrap()),
            (status, body.into())
        );
    }
    let head = bench.ask(request("HEAD", "/a", &[])).await;
    assert_eq!(head.headers["content-length"], "10");
    assert_eq!(bench.fetches(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_unsafe_method_invalidates_what_it_changed() {
    let headers = [("cache-control", "max-age=60")];
    let bench = Bench::new(vec![
        Step::answer(200, &headers, "before"),
        Step::answer(204, &[], ""),
        Step::answer(200, &headers, "after"),
    ]);
    bench.ask(get("/a")).await;
    bench.ask(request("POST", "/a", &[])).await;
    assert_eq!(bench.ask(get("/a")).await.body.unwrap(), "after");
}

#[tokio::test(start_paused = true)]
async fn what_may_not_be_asked_for_is_said_so() {
    let bench = Bench::new(vec![]);
    let answer = bench
        .ask(request("GET", "/a", &[("cache-control", "only-if-cached")]))
        .await;
    assert_eq!(answer.status, StatusCode::GATEWAY_TIMEOUT);
    let answer = bench
        .ask(request("GET", "/a", &[("via", "1.1 larder")]))
        .await;
    assert_eq!(answer.status, StatusCode::LOOP_DETECTED);
    assert_eq!(bench.fetches(), 0);
}

#[tokio::test(start_paused = true)]
async fn strangers_may_not_purge() {
    let bench = Bench::new(vec![Step::answer(
        200,
        &[("cache-control", "max-age=60")],
        "x",
    )]);
    bench.ask(get("/a")).await;
    let mut purge = request("PURGE", "/a", &[]);
    purge
        .extensions_mut()
        .insert(larder::listen::ClientAddr(([192, 0, 2, 1], 1).into()));
    assert_eq!(bench.ask(purge).await.status, StatusCode::FORBIDDEN);
    assert!(bench.ask(get("/a")).await.cache_status.contains("hit"));
}

#[tokio::test(start_paused = true)]
async fn a_part_of_what_is_not_kept_is_asked_for_as_a_part() {
    let part = [("content-range", "bytes 0-1/10")];
    let bench = Bench::new(vec![
        Step::answer(200, &[("cache-control", "no-store")], "0123456789"),
        Step::answer(206, &part, "01"),
        Step::answer(206, &part, "01"),
    ]);
    for _ in 0..2 {
        let answer = bench
            .ask(request("GET", "/a", &[("range", "bytes=0-1")]))
            .await;
        assert_eq!(
            (answer.status.as_u16(), answer.body.unwrap()),
            (206, "01".into())
        );
        assert_eq!(bench.last_header("range"), Some("bytes=0-1".to_owned()));
    }
    assert_eq!(bench.fetches(), 3);
}
