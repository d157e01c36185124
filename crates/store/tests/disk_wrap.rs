//! The log comes round again and again: a hit is always the newest version, whole.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a story says what it expects by unwrapping"
)]

mod disk_support;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use disk_support::*;
use larder_store::device::MemDevice;
use larder_store::{Disk, MissReason, SkipReason};

fn random_len(rng: &mut fastrand::Rng) -> usize {
    match rng.u8(..4) {
        0 => rng.usize(..MIB),
        1 => rng.usize(..100_000),
        _ => rng.usize(..8_000),
    }
}

async fn check(disk: &Disk, name: &str, newest: Option<&Bytes>, seed: u64) -> bool {
    match (fetch(disk, name).await, newest) {
        (Err(MissReason::Absent | MissReason::Overwritten), _) => false,
        (Ok((_, body)), Some(newest)) => {
            assert!(
                body == *newest,
                "seed {seed}: {name} is not its newest version"
            );
            true
        }
        (other, newest) => panic!("seed {seed}: {name}: {other:?} for {}", newest.is_some()),
    }
}

#[tokio::test]
async fn each_hit_is_the_newest_version_through_many_laps() {
    let seed = 42;
    let mut rng = fastrand::Rng::with_seed(seed);
    let device = Arc::new(MemDevice::new(17 * MIB));
    let mut disk = open(device.clone()).await;
    let mut model: HashMap<String, Bytes> = HashMap::new();
    let (mut version, mut hits, mut lookups) = (0, 0, 0);
    while disk.stats().laps < 6 {
        version += 1;
        let name = format!("key-{}", rng.u32(..300));
        match rng.u8(..20) {
            0 => {
                disk.remove(&key(&name)).await.unwrap();
                model.remove(&name);
            }
            1 => {
                if let Ok(found) = get(&disk, &name).await {
                    // Overtaken while it is refreshed is the only way to fail.
                    let _ = disk.refresh(&key(&name), Bytes::new(), &found.body).await;
                }
            }
            2 if version % 10 == 0 => {
                disk.close().await.unwrap();
                disk = open(device.clone()).await;
            }
            _ => {
                let body = bytes(&name, version, random_len(&mut rng));
                put(&disk, &name, "", &body).await.unwrap();
                model.insert(name, body);
            }
        }
        let name = format!("key-{}", rng.u32(..300));
        hits += u32::from(check(&disk, &name, model.get(&name), seed).await);
        lookups += 1;
    }
    assert!(hits > lookups / 10, "seed {seed}: {hits} hits of {lookups}");
    assert_eq!(disk.stats().corrupt, 0, "seed {seed}");
}

/// Readers and writers on all cores at once, on a device that wraps under their feet.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn readers_see_no_version_older_than_they_saw() {
    let disk = open(Arc::new(MemDevice::new(17 * MIB))).await;
    // The newest version that a finished put left for each key.
    let newest: Arc<Vec<AtomicU64>> = Arc::new((0..64).map(|_| AtomicU64::new(0)).collect());
    let writers = (0..2).map(|w| tokio::spawn(write_many(disk.clone(), newest.clone(), w)));
    let readers = (0..2).map(|r| tokio::spawn(read_many(disk.clone(), newest.clone(), r)));
    for task in writers.chain(readers).collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let stats = disk.stats();
    assert_eq!(stats.corrupt, 0);
    assert!(stats.laps >= 1, "{stats:?}");
    assert!(stats.hits > 0, "{stats:?}");
}

async fn write_many(disk: Disk, newest: Arc<Vec<AtomicU64>>, writer: usize) {
    let mut rng = fastrand::Rng::with_seed(writer as u64);
    for version in 1..600 {
        // Each key has one writer, so that its versions have an order.
        let at = rng.usize(..newest.len() / 2) * 2 + writer;
        let body = bytes(&at.to_string(), version, random_len(&mut rng) / 4);
        match put(&disk, &at.to_string(), &version.to_string(), &body).await {
            Ok(()) => newest[at].store(version, Ordering::SeqCst),
            Err(error) => assert_eq!(error.reason(), SkipReason::Busy),
        }
    }
}

async fn read_many(disk: Disk, newest: Arc<Vec<AtomicU64>>, reader: u64) {
    let mut rng = fastrand::Rng::with_seed(100 + reader);
    for _ in 0..3000 {
        let at = rng.usize(..newest.len());
        let least = newest[at].load(Ordering::SeqCst);
        let Ok(found) = get(&disk, &at.to_string()).await else {
            continue;
        };
        let version: u64 = std::str::from_utf8(&found.meta).unwrap().parse().unwrap();
        assert!(
            version >= least,
            "key {at}: version {version}, {least} was there"
        );
        // Overtaken by the log is fine; other bytes are not.
        if let Ok(body) = read_all(&found.body).await {
            let expected = bytes(&at.to_string(), version, body.len());
            assert!(body == expected, "key {at}, version {version}");
        }
        tokio::task::yield_now().await;
    }
}
