//! A device that fails, lies or hangs: misses and errors, no panic, no wrong byte, no waiting.
#![allow(
    clippy::unwrap_used,
    reason = "a story says what it expects by unwrapping"
)]

mod disk_support;

use std::future::{pending, ready};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use disk_support::*;
use larder_store::device::{AlignedBuf, Device, IoFuture, MemDevice};
use larder_store::{DiskError, MissReason, ReadError, RecoveryState, SkipReason, WriteError};

/// A device in memory with switches for what goes wrong.
struct Faulty {
    device: MemDevice,
    reads_fail: AtomicBool,
    writes_fail: AtomicBool,
    syncs_fail: AtomicBool,
    writes_hang: AtomicBool,
}

impl Faulty {
    fn new(image: Vec<u8>) -> Arc<Self> {
        Arc::new(Self {
            device: MemDevice::from_image(image),
            reads_fail: AtomicBool::new(false),
            writes_fail: AtomicBool::new(false),
            syncs_fail: AtomicBool::new(false),
            writes_hang: AtomicBool::new(false),
        })
    }
}

fn broken() -> io::Result<()> {
    Err(io::Error::other("switched off"))
}

impl Device for Faulty {
    fn len_bytes(&self) -> u64 {
        self.device.len_bytes()
    }

    fn read(&self, offset: u64, buf: AlignedBuf) -> IoFuture {
        match self.reads_fail.load(Ordering::SeqCst) {
            true => Box::pin(ready((buf, broken()))),
            false => self.device.read(offset, buf),
        }
    }

    fn write(&self, offset: u64, buf: AlignedBuf) -> IoFuture {
        if self.writes_hang.load(Ordering::SeqCst) {
            return Box::pin(pending());
        }
        match self.writes_fail.load(Ordering::SeqCst) {
            true => Box::pin(ready((buf, broken()))),
            false => self.device.write(offset, buf),
        }
    }

    fn sync(&self) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send>> {
        match self.syncs_fail.load(Ordering::SeqCst) {
            true => Box::pin(ready(broken())),
            false => self.device.sync(),
        }
    }

    fn name(&self) -> &'static str {
        "faulty"
    }
}

#[tokio::test]
async fn a_failed_write_or_sync_ends_the_service() {
    for what in ["write", "sync"] {
        let device = Faulty::new(vec![0; 16 * MIB]);
        let disk = open(device.clone()).await;
        put(&disk, "a", "", &bytes("a", 0, 1000)).await.unwrap();
        let mut writer = disk.writer(key("b"));
        let switch = match what {
            "write" => &device.writes_fail,
            _ => &device.syncs_fail,
        };
        switch.store(true, Ordering::SeqCst);
        assert_eq!(disk.flush().await, Err(DiskError::OutOfService), "{what}");
        assert!(!disk.is_healthy());
        assert_eq!(get(&disk, "a").await.unwrap_err(), MissReason::OutOfService);
        let refused = writer.write(Bytes::from_static(b"b")).await;
        assert_eq!(refused, Err(WriteError::OutOfService));
        assert_eq!(disk.remove(&key("a")).await, Err(DiskError::OutOfService));
        assert_eq!(disk.close().await, Err(DiskError::OutOfService));
        assert_eq!(disk.stats().skipped_for(SkipReason::OutOfService), 1);
    }
}

#[tokio::test]
async fn reads_that_keep_failing_end_the_service_and_one_that_fails_does_not() {
    let device = Faulty::new(vec![0; 16 * MIB]);
    let disk = open(device.clone()).await;
    put(&disk, "a", "", &bytes("a", 0, 1000)).await.unwrap();
    disk.flush().await.unwrap();
    for round in 0..3 {
        device.reads_fail.store(true, Ordering::SeqCst);
        for _ in 0..7 {
            assert_eq!(get(&disk, "a").await.unwrap_err(), MissReason::ReadError);
        }
        device.reads_fail.store(false, Ordering::SeqCst);
        assert!(get(&disk, "a").await.is_ok(), "round {round}");
    }
    device.reads_fail.store(true, Ordering::SeqCst);
    for _ in 0..8 {
        let _ = get(&disk, "a").await;
    }
    assert!(!disk.is_healthy());
    assert_eq!(get(&disk, "a").await.unwrap_err(), MissReason::OutOfService);
    assert_eq!(disk.stats().read_errors, 29);
}

#[tokio::test]
async fn a_hanging_device_refuses_writers_in_time_and_memory_stays_bounded() {
    let device = Faulty::new(vec![0; 16 * MIB]);
    let disk = open(device.clone()).await;
    device.writes_hang.store(true, Ordering::SeqCst);
    let mut stored = 0;
    let refused = loop {
        let name = format!("key-{stored}");
        match put(&disk, &name, "", &bytes(&name, 0, 200_000)).await {
            Ok(()) => stored += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(refused, WriteError::Busy { waited_ms: 50 });
    // Eight runs of 256 KiB hold ten objects of 200 kB.
    assert!((5..=11).contains(&stored), "{stored}");
    assert!(get(&disk, "key-0").await.is_ok(), "served from memory");
    assert!(disk.is_healthy());
    assert_eq!(disk.stats().skipped_for(SkipReason::Busy), 1);
}

/// An image with small objects and a large one.
async fn filled() -> Vec<u8> {
    let device = Arc::new(MemDevice::new(16 * MIB));
    let disk = open(device.clone()).await;
    for n in 0..30 {
        let name = format!("key-{n}");
        let body = bytes(&name, 0, 1000 * n);
        put(&disk, &name, "meta", &body).await.unwrap();
    }
    put(&disk, "film", "meta", &bytes("film", 0, 2 * MIB))
        .await
        .unwrap();
    disk.close().await.unwrap();
    device.image()
}

#[tokio::test]
async fn damaged_bytes_are_never_served() {
    let seed = 5;
    let mut rng = fastrand::Rng::with_seed(seed);
    let whole = filled().await;
    for _ in 0..40 {
        let mut image = whole.clone();
        for _ in 0..20 {
            let at = rng.usize(MIB + 8192..4 * MIB);
            image[at] ^= 1 << rng.u8(..8);
        }
        let disk = open(Arc::new(MemDevice::from_image(image))).await;
        for n in 0..30 {
            let name = format!("key-{n}");
            if let Ok((meta, body)) = fetch(&disk, &name).await {
                assert_eq!(meta, "meta", "seed {seed}");
                assert!(body == bytes(&name, 0, 1000 * n), "seed {seed}: {name}");
            }
        }
        if let Ok(found) = get(&disk, "film").await {
            match read_all(&found.body).await {
                Ok(body) => assert!(body == bytes("film", 0, 2 * MIB), "seed {seed}"),
                Err(error) => assert!(matches!(error, ReadError::Corrupt { .. }), "{error:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_corrupt_record_is_counted_and_dropped() {
    let mut image = filled().await;
    let body = bytes("key-29", 0, 29_000);
    let at = image
        .windows(64)
        .position(|w| w == &body[100..164])
        .unwrap();
    image[at] ^= 1;
    let disk = open(Arc::new(MemDevice::from_image(image))).await;
    assert_eq!(get(&disk, "key-29").await.unwrap_err(), MissReason::Corrupt);
    assert_eq!(get(&disk, "key-29").await.unwrap_err(), MissReason::Absent);
    assert_eq!(disk.stats().corrupt, 1);
}

#[tokio::test]
async fn another_key_with_the_same_hash_is_a_false_read() {
    let disk = open(Arc::new(MemDevice::new(16 * MIB))).await;
    let (one, other) = colliding_keys();
    let mut writer = disk.writer(one.clone());
    writer.write(Bytes::from_static(b"one")).await.unwrap();
    writer.finish(Bytes::new()).await.unwrap();
    let lookup = disk.get(&other).await;
    assert!(matches!(
        lookup,
        larder_store::DiskLookup::Miss(MissReason::FalseRead)
    ));
    assert!(matches!(
        disk.get(&one).await,
        larder_store::DiskLookup::Hit(_)
    ));
}

/// Two keys that share the index's set and tag: found by trying.
fn colliding_keys() -> (larder_store::Key, larder_store::Key) {
    let slot = |key: &larder_store::Key| {
        let sets = larder_store::index::Index::sets_for(15 * MIB as u64 / 4096);
        let set = (u128::from(key.hash() as u64) * sets as u128) >> 64;
        (set, key.hash() >> 114)
    };
    let mut seen = std::collections::HashMap::new();
    for n in 0.. {
        let key = key(&format!("key {n}"));
        if let Some(other) = seen.insert(slot(&key), key.clone()) {
            return (other, key);
        }
    }
    unreachable!("some two of 2^26 keys share one of 2^25 slots")
}

#[tokio::test]
async fn a_segment_with_a_hole_hides_what_is_older_and_a_lost_footer_nothing() {
    let device = Arc::new(MemDevice::new(16 * MIB));
    let disk = open(device.clone()).await;
    put(&disk, "old", "", &bytes("old", 0, 1000)).await.unwrap();
    for n in 0..4 {
        let name = format!("new-{n}");
        put(&disk, &name, "", &bytes(&name, 0, MIB * 3 / 4))
            .await
            .unwrap();
    }
    disk.close().await.unwrap();
    let mut image = device.image();
    // The end of the second segment: its footer.
    image[3 * MIB - 10] ^= 1;
    let disk = open(Arc::new(MemDevice::from_image(image.clone()))).await;
    assert_eq!(disk.stats().recovery, RecoveryState::Complete);
    assert!(fetch(&disk, "old").await.is_ok());
    assert!(fetch(&disk, "new-3").await.is_ok());
    // Its first record.
    image[2 * MIB + 8192] ^= 1;
    let disk = open(Arc::new(MemDevice::from_image(image))).await;
    assert_eq!(disk.stats().recovery, RecoveryState::CutShort);
    assert_eq!(get(&disk, "old").await.unwrap_err(), MissReason::Absent);
    assert!(fetch(&disk, "new-3").await.is_ok());
}

#[tokio::test]
async fn a_removal_beyond_damage_holds() {
    let device = Arc::new(MemDevice::new(16 * MIB));
    let disk = open(device.clone()).await;
    put(&disk, "gone", "", &bytes("gone", 0, 1000))
        .await
        .unwrap();
    put(&disk, "kept", "", &bytes("kept", 0, 1000))
        .await
        .unwrap();
    put(&disk, "hurt", "", &bytes("hurt", 0, 1000))
        .await
        .unwrap();
    disk.remove(&key("gone")).await.unwrap();
    let mut image = device.image();
    let hurt = bytes("hurt", 0, 1000);
    let at = image.windows(64).position(|w| w == &hurt[..64]).unwrap();
    image[at] ^= 1;
    let disk = open(Arc::new(MemDevice::from_image(image))).await;
    assert!(get(&disk, "kept").await.is_ok());
    assert_eq!(get(&disk, "gone").await.unwrap_err(), MissReason::Absent);
    assert_eq!(get(&disk, "hurt").await.unwrap_err(), MissReason::Absent);
}
