//! Objects go in and come out: from memory, from the device, and after a restart.
#![allow(
    clippy::unwrap_used,
    reason = "a story says what it expects by unwrapping"
)]

mod disk_support;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use disk_support::*;
use larder_store::device::MemDevice;
use larder_store::{
    Disk, DiskError, DiskOptions, MissReason, RecoveryState, SkipReason, WriteError,
};

const SIZES: [usize; 9] = [
    0,
    1,
    100,
    4_000,
    65_536,
    262_143,
    262_144,
    262_145,
    3 * MIB + 7,
];

async fn put_all(disk: &Disk) {
    for len in SIZES {
        let name = format!("object-{len}");
        put(
            disk,
            &name,
            &format!("meta of {name}"),
            &bytes(&name, 0, len),
        )
        .await
        .unwrap();
    }
}

async fn check_all(disk: &Disk) {
    for len in SIZES {
        let name = format!("object-{len}");
        let (meta, body) = fetch(disk, &name).await.unwrap();
        assert_eq!(meta, format!("meta of {name}"));
        assert_eq!(body, bytes(&name, 0, len), "{name}");
    }
}

#[tokio::test]
async fn objects_are_found_in_memory_on_the_device_and_after_a_restart() {
    let device = Arc::new(MemDevice::new(64 * MIB));
    let disk = open(device.clone()).await;
    assert_eq!(disk.seed(), SEED);
    put_all(&disk).await;
    check_all(&disk).await;
    disk.flush().await.unwrap();
    check_all(&disk).await;
    disk.close().await.unwrap();
    assert!(!disk.is_healthy());
    assert_eq!(
        get(&disk, "object-1").await.unwrap_err(),
        MissReason::OutOfService
    );

    let disk = open(device).await;
    assert_eq!(disk.stats().recovered, SIZES.len() as u64);
    assert_eq!(disk.stats().recovery, RecoveryState::Complete);
    check_all(&disk).await;
    put_all(&disk).await;
    check_all(&disk).await;
    let stats = disk.stats();
    assert_eq!((stats.corrupt, stats.read_errors), (0, 0));
    assert_eq!(stats.stored, SIZES.len() as u64);
}

#[tokio::test]
async fn small_bodies_come_with_the_head_and_large_ones_do_not() {
    let disk = open(Arc::new(MemDevice::new(64 * MIB))).await;
    put_all(&disk).await;
    for len in SIZES {
        let found = get(&disk, &format!("object-{len}")).await.unwrap();
        assert_eq!(found.body.in_memory().is_some(), len <= 256 << 10, "{len}");
        assert_eq!(found.body.len(), len as u64);
    }
}

#[tokio::test]
async fn an_idle_disk_writes_what_waits() {
    let device = Arc::new(MemDevice::new(64 * MIB));
    let soon = DiskOptions {
        flush_after: Duration::from_millis(1),
        ..options()
    };
    let disk = Disk::open(device.clone(), soon).await.unwrap();
    put(&disk, "a", "", &bytes("a", 0, 500)).await.unwrap();
    // The header of the segment alone is less than three blocks.
    while disk.stats().bytes_written < 3 * 4096 {
        tokio::task::yield_now().await;
    }
    let crashed = open(Arc::new(MemDevice::from_image(device.image()))).await;
    assert!(fetch(&crashed, "a").await.is_ok());
}

#[tokio::test]
async fn an_unfinished_writer_leaves_nothing() {
    let disk = open(Arc::new(MemDevice::new(64 * MIB))).await;
    let mut writer = disk.writer(key("a"));
    writer.write(bytes("a", 0, MIB)).await.unwrap();
    drop(writer);
    assert_eq!(get(&disk, "a").await.unwrap_err(), MissReason::Absent);
}

#[tokio::test]
async fn the_newest_version_wins_and_a_removal_ends_it() {
    let disk = open(Arc::new(MemDevice::new(64 * MIB))).await;
    for version in 0..5 {
        let body = bytes("a", version, 10_000);
        put(&disk, "a", "", &body).await.unwrap();
        assert_eq!(fetch(&disk, "a").await.unwrap().1, body);
    }
    assert_eq!(disk.remove(&key("a")).await, Ok(true));
    assert_eq!(disk.remove(&key("a")).await, Ok(false));
    assert_eq!(get(&disk, "a").await.unwrap_err(), MissReason::Absent);
    assert_eq!(disk.stats().tombstones, 2);
}

#[tokio::test]
async fn a_removal_voids_the_writer_that_began_before_it() {
    let disk = open(Arc::new(MemDevice::new(64 * MIB))).await;
    let mut before = disk.writer(key("a"));
    before.write(bytes("a", 0, 100)).await.unwrap();
    disk.remove(&key("a")).await.unwrap();
    assert_eq!(before.finish(Bytes::new()).await, Err(WriteError::Purged));
    assert_eq!(get(&disk, "a").await.unwrap_err(), MissReason::Absent);
    assert_eq!(disk.stats().skipped_for(SkipReason::Purged), 1);
    put(&disk, "a", "", &bytes("a", 1, 100)).await.unwrap();
    assert!(get(&disk, "a").await.is_ok());
}

#[tokio::test]
async fn a_refresh_changes_the_metadata_and_moves_no_large_body() {
    let device = Arc::new(MemDevice::new(64 * MIB));
    let disk = open(device.clone()).await;
    for len in [1000, 5 * MIB] {
        let body = bytes("a", 0, len);
        put(&disk, "a", "old", &body).await.unwrap();
        let found = get(&disk, "a").await.unwrap();
        let before = disk.stats().bytes_appended;
        for meta in ["newer", "newest"] {
            let refreshed = disk.refresh(&key("a"), meta.into(), &found.body).await;
            assert_eq!(refreshed, Ok(()));
            assert_eq!(
                fetch(&disk, "a").await.unwrap(),
                (meta.into(), body.to_vec())
            );
        }
        assert!(disk.stats().bytes_appended - before < 3000);
    }
    disk.close().await.unwrap();
    let disk = open(device).await;
    assert_eq!(fetch(&disk, "a").await.unwrap().0, "newest");
}

#[tokio::test]
async fn a_refresh_resurrects_nothing() {
    let disk = open(Arc::new(MemDevice::new(64 * MIB))).await;
    let purged = Err(WriteError::Purged);
    put(&disk, "a", "old", &bytes("a", 0, 1000)).await.unwrap();
    let old = get(&disk, "a").await.unwrap();
    put(&disk, "a", "new", &bytes("a", 1, 1000)).await.unwrap();
    assert_eq!(
        disk.refresh(&key("a"), Bytes::new(), &old.body).await,
        purged
    );
    assert_eq!(fetch(&disk, "a").await.unwrap().0, "new");
    let new = get(&disk, "a").await.unwrap();
    disk.remove(&key("a")).await.unwrap();
    assert_eq!(
        disk.refresh(&key("a"), Bytes::new(), &new.body).await,
        purged
    );
    assert_eq!(get(&disk, "a").await.unwrap_err(), MissReason::Absent);
}

#[tokio::test]
async fn what_is_too_large_is_refused_with_its_bound() {
    let disk = open(Arc::new(MemDevice::new(64 * MIB))).await;
    let limit = disk.body_bytes_max();
    assert_eq!(limit, 63 * MIB as u64 / 2);
    let mut writer = disk.writer(key("a"));
    let body = Bytes::from(vec![0; limit as usize + 1]);
    let refused = writer.write(body).await.unwrap_err();
    assert_eq!(refused.reason(), SkipReason::TooLarge);
    assert_eq!(writer.finish(Bytes::new()).await, Err(refused));
    let meta = Bytes::from(vec![0; MIB]);
    let refused = disk.writer(key("a")).finish(meta).await.unwrap_err();
    assert_eq!(refused.reason(), SkipReason::TooLarge);
    assert_eq!(disk.stats().skipped_for(SkipReason::TooLarge), 2);
}

#[tokio::test]
async fn the_longest_head_fits_the_smallest_segment() {
    let disk = open(Arc::new(MemDevice::new(64 * MIB))).await;
    let long = "k".repeat(larder_store::Key::MAX_BYTES);
    let meta = "m".repeat(128 << 10);
    let body = bytes("a", 0, 256 << 10);
    put(&disk, &long, &meta, &body).await.unwrap();
    assert_eq!(fetch(&disk, &long).await.unwrap(), (meta, body.to_vec()));
}

#[tokio::test]
async fn a_closed_disk_refuses_everything() {
    let disk = open(Arc::new(MemDevice::new(64 * MIB))).await;
    let mut writer = disk.writer(key("a"));
    disk.close().await.unwrap();
    let refused = writer.write(Bytes::from_static(b"a")).await;
    assert_eq!(refused, Err(WriteError::OutOfService));
    // Nothing was stored that is not durable.
    assert_eq!(disk.flush().await, Ok(()));
    assert_eq!(disk.remove(&key("a")).await, Err(DiskError::OutOfService));
    assert_eq!(disk.close().await, Err(DiskError::OutOfService));
}
