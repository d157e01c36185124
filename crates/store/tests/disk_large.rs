//! Large objects: fragments, ranges, and a log that overtakes their readers.
#![allow(
    clippy::unwrap_used,
    reason = "a story says what it expects by unwrapping"
)]

mod disk_support;

use std::sync::Arc;

use bytes::Bytes;
use disk_support::*;
use futures_util::{FutureExt, StreamExt};
use larder_store::device::MemDevice;
use larder_store::{MissReason, ReadError, SkipReason, WriteError};

#[tokio::test]
async fn forty_mebibytes_come_back_whole_and_in_ranges() {
    let device = Arc::new(MemDevice::new(128 * MIB));
    let disk = open(device.clone()).await;
    let body = bytes("film", 0, 40 * MIB + 12_345);
    put(&disk, "film", "meta", &body).await.unwrap();
    disk.close().await.unwrap();
    let disk = open(device).await;
    let film = get(&disk, "film").await.unwrap().body;
    assert_eq!((film.len(), film.in_memory()), (body.len() as u64, None));
    assert!(read_all(&film).await.unwrap() == body);

    let fragment = 256 << 10;
    let len = body.len();
    let ranges = [
        (0, 0),
        (0, 1),
        (fragment - 1, fragment + 1),
        (fragment, 2 * fragment),
        (5 * fragment + 17, 9 * fragment + 4),
        (len - 1, len),
        (len - 12_345, len + 99),
        (len + 5, len + 9),
    ];
    for (from, to) in ranges {
        let before = disk.stats().bytes_read;
        let got = read(&film, from as u64, to as u64).await.unwrap();
        assert!(got == body[from.min(len)..to.min(len)], "{from}..{to}");
        // Only the fragments touched are read, each with at most two blocks around it.
        let touched = to
            .min(len)
            .div_ceil(fragment)
            .saturating_sub(from / fragment);
        let most = touched * (fragment + 3 * 4096);
        assert!(
            disk.stats().bytes_read - before <= most as u64,
            "{from}..{to}"
        );
    }
}

#[tokio::test]
async fn a_reader_that_the_log_overtakes_ends_with_an_error_after_right_bytes() {
    let disk = open(Arc::new(MemDevice::new(17 * MIB))).await;
    let body = bytes("film", 0, 6 * MIB);
    put(&disk, "film", "", &body).await.unwrap();
    disk.flush().await.unwrap();
    let film = get(&disk, "film").await.unwrap().body;
    let mut reader = film.read(0..film.len());
    let mut got = reader.next().await.unwrap().unwrap().to_vec();
    for n in 0..40 {
        put(&disk, "other", "", &bytes("other", n, MIB / 2))
            .await
            .unwrap();
    }
    let error = loop {
        match reader.next().await.unwrap() {
            Ok(piece) => got.extend_from_slice(&piece),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, ReadError::Overwritten), "{error:?}");
    assert!(reader.next().await.is_none());
    assert!(!got.is_empty() && got.len() < body.len());
    assert!(got[..] == body[..got.len()]);
    let reason = get(&disk, "film").await.unwrap_err();
    assert!(matches!(
        reason,
        MissReason::Absent | MissReason::Overwritten
    ));
    assert_eq!(disk.stats().corrupt, 0);
}

#[tokio::test]
async fn a_refresh_does_not_make_an_old_body_younger() {
    let disk = open(Arc::new(MemDevice::new(17 * MIB))).await;
    put(&disk, "film", "", &bytes("film", 0, 2 * MIB))
        .await
        .unwrap();
    let mut refreshed = 0;
    let mut round = 0;
    while let Ok(found) = get(&disk, "film").await {
        assert!(round < 100, "the body outlived the log");
        let body = bytes("other", round, MIB);
        put(&disk, "other", "", &body).await.unwrap();
        let result = disk.refresh(&key("film"), Bytes::new(), &found.body).await;
        refreshed += u64::from(result.is_ok());
        round += 1;
    }
    assert_eq!(disk.stats().refreshed, refreshed);
    assert!(refreshed >= 8, "{refreshed}");
}

#[tokio::test]
async fn an_object_that_the_log_overtakes_is_not_stored() {
    let disk = open(Arc::new(MemDevice::new(17 * MIB))).await;
    let mut writer = disk.writer(key("film"));
    writer.write(bytes("film", 0, MIB)).await.unwrap();
    for n in 0..40 {
        let body = bytes("other", n, MIB / 2);
        put(&disk, "other", "", &body).await.unwrap();
    }
    let finished = writer.finish(Bytes::new()).await;
    assert_eq!(finished, Err(WriteError::Lapped));
    assert_eq!(get(&disk, "film").await.unwrap_err(), MissReason::Absent);
}

#[tokio::test]
async fn a_writer_that_was_dropped_half_way_stores_nothing() {
    let disk = open(Arc::new(MemDevice::new(17 * MIB))).await;
    let mut writer = disk.writer(key("film"));
    // More than the write buffers hold: the call has to wait, and is dropped while it does.
    let piece = bytes("film", 0, 4 * MIB);
    assert!(writer.write(piece).now_or_never().is_none());
    let finished = writer.finish(Bytes::new()).await;
    assert_eq!(finished, Err(WriteError::Interrupted));
    assert_eq!(get(&disk, "film").await.unwrap_err(), MissReason::Absent);
    assert_eq!(disk.stats().skipped_for(SkipReason::Interrupted), 1);
}
