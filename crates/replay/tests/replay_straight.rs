//! A replay straight against the origin: nothing lost, nothing wrong, each count explained.
#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping"
)]

mod common;

use std::{path::PathBuf, time::Duration};

use larder_replay::{
    ReplayError, ReplayOptions,
    http::{Progress, Silent, Snapshot},
    replay,
    trace::{Request, TraceReader},
};
use tokio::net::TcpListener;

use common::Origin;

fn trace() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/tiny.csv.zst")
}

fn requests() -> Vec<Request> {
    TraceReader::open(trace())
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_byte_of_every_object_arrives() {
    let origin = Origin::start().await;
    let mut options = ReplayOptions::new(trace(), origin.url());
    options.connections = 4;
    let report = replay(options, Silent).await.unwrap();
    println!("{report}");

    let requests = requests();
    let objects: std::collections::HashSet<_> = requests.iter().map(Request::path).collect();
    let bytes: u64 = requests.iter().map(|request| request.size_bytes).sum();
    assert_eq!(
        (report.requests, report.errors, report.wrong_bytes),
        (300, 0, 0)
    );
    assert_eq!(
        (report.bytes, report.hits, report.skipped, report.reconnects),
        (bytes, 0, 0, 0)
    );
    let infinite = (300 - objects.len()) as f64 / 300.0;
    assert_eq!(report.infinite_object_hit_ratio, Some(infinite));
    assert!(report.infinite_byte_hit_ratio.unwrap() > 0.0);
    let latency = report.latency_us;
    assert!(latency.p50 > 0 && latency.p50 <= latency.p99 && latency.p99 <= latency.max);
    assert_eq!(
        (
            report.origin_requests,
            report.tiers["ram"],
            report.tiers["ssd"]
        ),
        (None, 0, 0)
    );

    let counts = origin.stats.counts();
    assert_eq!(
        (counts.requests, counts.by_kind.s, counts.bytes),
        (300, 300, bytes)
    );
    assert_eq!(
        counts.connections, 5,
        "one for each worker, one to see that the origin is there"
    );
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    assert_eq!(
        (&json["requests"], &json["latency_us"]["p999"]),
        (&300.into(), &latency.p999.into())
    );
}

#[tokio::test]
async fn limits_are_on_what_is_sent() {
    let origin = Origin::start().await;
    let mut options = ReplayOptions::new(trace(), origin.url());
    options.size_bytes_max = Some(2000);
    let small = replay(options.clone(), Silent).await.unwrap();
    let expected = requests()
        .iter()
        .filter(|request| request.size_bytes <= 2000)
        .count() as u64;
    assert_eq!(
        (small.requests, small.skipped, small.errors),
        (expected, 300 - expected, 0)
    );
    options.limit = Some(20);
    assert_eq!(replay(options, Silent).await.unwrap().requests, 20);
}

#[tokio::test]
async fn an_origin_that_restarts_midway_costs_no_request() {
    let origin = Origin::start().await;
    let address = origin.address;
    let options = ReplayOptions::new(trace(), origin.url());
    let replaying = tokio::spawn(replay(options, Silent));
    let first = origin.stats.clone();
    while first.counts().requests < 100 {
        tokio::task::yield_now().await;
    }
    origin.stop().await;
    let second = Origin::start_on(TcpListener::bind(address).await.unwrap());
    let report = replaying.await.unwrap().unwrap();
    assert_eq!(
        (report.requests, report.errors, report.wrong_bytes),
        (300, 0, 0)
    );
    assert!(report.reconnects > 0);
    assert_eq!(
        first.counts().requests + second.stats.counts().requests,
        300
    );
}

#[tokio::test]
async fn what_cannot_be_replayed_is_refused() {
    let mut options = ReplayOptions::new(trace(), "http://127.0.0.1:1");
    options.connect_patience = Duration::ZERO;
    let refused = |options| async { replay(options, Silent).await.unwrap_err() };
    assert!(matches!(
        refused(options.clone()).await,
        ReplayError::Unreachable { .. }
    ));
    let none = ReplayOptions {
        connections: 0,
        ..options.clone()
    };
    assert!(matches!(
        refused(none).await,
        ReplayError::Connections { found: 0 }
    ));
    let tls = ReplayOptions {
        target: "https://h".to_owned(),
        ..options.clone()
    };
    assert!(matches!(refused(tls).await, ReplayError::Target(_)));
    let lost = ReplayOptions {
        trace: "/no/such/trace".into(),
        ..options
    };
    assert!(matches!(refused(lost).await, ReplayError::Trace(_)));
}

#[tokio::test]
async fn a_trace_that_breaks_off_is_an_error_with_its_line() {
    let origin = Origin::start().await;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("broken.csv");
    std::fs::write(&path, "0,1,10\n0,2,10\nhello\n").unwrap();
    let error = replay(ReplayOptions::new(&path, origin.url()), Silent)
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("line 3: expected 3 fields"),
        "{error}"
    );
    assert_eq!(origin.stats.counts().requests, 2);
}

/// Remembers what it was told.
struct Told<'a>(&'a mut Vec<String>);

impl Progress for Told<'_> {
    fn begin(&mut self, requests_max: Option<u64>) {
        self.0.push(format!("begin {requests_max:?}"));
    }

    fn advance(&mut self, now: &Snapshot) {
        if now.requests == 300 {
            self.0.push("at 300".to_owned());
        }
    }

    fn note(&mut self, line: &str) {
        self.0.push(line.to_owned());
    }

    fn end(&mut self) {
        self.0.push("end".to_owned());
    }
}

#[tokio::test]
async fn progress_is_told_from_the_beginning_to_the_end() {
    let origin = Origin::start().await;
    let mut lines = Vec::new();
    let options = ReplayOptions::new(trace(), origin.url());
    replay(options, Told(&mut lines)).await.unwrap();
    lines.dedup();
    assert_eq!(lines, ["begin None", "at 300", "end"]);
}
