//! A replay through a proxy that meddles: each kind of damage is found, and nothing else is.
#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping"
)]

mod common;

use std::{path::PathBuf, time::Duration};

use larder_replay::{ReplayOptions, Report, http::Silent, replay};

use common::{
    Origin,
    meddler::{self, Meddle},
};

/// Replays the small trace through a proxy with this script, over one connection so that the
/// script's numbers are the trace's.
async fn through(script: fn(usize) -> Meddle) -> Report {
    let origin = Origin::start().await;
    let proxy = meddler::start(origin.address, script).await;
    let trace = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/tiny.csv.gz");
    let mut options = ReplayOptions::new(trace, format!("http://{proxy}"));
    options.connections = 1;
    options.stall_limit = Duration::from_millis(500);
    options.metrics = Some(format!("http://{proxy}/metrics"));
    let report = replay(options, Silent).await.unwrap();
    assert_eq!(report.requests, 300);
    report
}

fn at(n: usize, nth: usize, meddle: Meddle) -> Meddle {
    if n == nth { meddle } else { Meddle::Nothing }
}

#[tokio::test]
async fn hits_are_learnt_from_cache_status() {
    let report = through(|_| Meddle::Nothing).await;
    assert_eq!((report.errors, report.wrong_bytes), (0, 0));
    assert_eq!(
        Some(report.object_hit_ratio),
        report.infinite_object_hit_ratio
    );
    assert_eq!(Some(report.byte_hit_ratio), report.infinite_byte_hit_ratio);
    assert_eq!((report.tiers["ram"], report.tiers["ssd"]), (report.hits, 0));
    assert_eq!(report.origin_requests, Some(300 - report.hits));
    assert_eq!(report.ssd_written_bytes, None);
}

#[tokio::test]
async fn one_flipped_byte_is_one_wrong_byte() {
    let report = through(|n| at(n, 1, Meddle::Flip(70_000))).await;
    assert_eq!((report.errors, report.wrong_bytes), (0, 1));
}

#[tokio::test]
async fn half_a_body_is_an_error() {
    let report = through(|n| at(n, 1, Meddle::Cut)).await;
    assert_eq!((report.errors, report.wrong_bytes), (1, 0));
    assert_eq!(report.errors_by["early-end"], 1);
}

#[tokio::test]
async fn too_long_a_body_and_a_bad_status_are_errors() {
    let report = through(|n| match n {
        5 => Meddle::Longer(1),
        6 => Meddle::Status(503),
        _ => Meddle::Nothing,
    })
    .await;
    assert_eq!((report.errors, report.wrong_bytes), (2, 0));
    assert_eq!(
        (report.errors_by["wrong-length"], report.errors_by["status"]),
        (1, 1)
    );
}

#[tokio::test]
async fn a_stalled_body_is_an_error() {
    let report = through(|n| at(n, 1, Meddle::Hang)).await;
    assert_eq!((report.errors, report.errors_by["stalled"]), (1, 1));
}

#[tokio::test]
async fn a_kept_connection_that_was_closed_is_replaced() {
    let report = through(|n| at(n, 10, Meddle::Close)).await;
    assert_eq!((report.errors, report.reconnects), (0, 1));
}

#[tokio::test]
async fn a_fresh_connection_that_was_closed_is_an_error() {
    let report = through(|n| {
        if n == 10 || n == 11 {
            Meddle::Close
        } else {
            Meddle::Nothing
        }
    })
    .await;
    assert_eq!(
        (
            report.errors,
            report.errors_by["connection"],
            report.reconnects
        ),
        (1, 1, 1)
    );
}
