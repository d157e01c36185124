//! Whatever the moment of a crash: what was flushed is found, what was removed is not, and no
//! byte is served that was not written for its key.
//!
//! A recorder keeps every write of a life. The story is crashed after any of its events, by a kill
//! (the last write torn) or a power loss (anything since the last sync missing or torn), opened
//! again, and goes on into a second life, which is crashed as well.
#![allow(
    clippy::unwrap_used,
    reason = "a story says what it expects by unwrapping"
)]

mod disk_support;

use std::collections::BTreeMap;
use std::sync::Arc;

use disk_support::recorder::{Crash, Event, Recorder};
use disk_support::*;
use larder_store::{Disk, MissReason};

const KEYS: u64 = 24;
const DEVICE_BYTES: usize = 9 * MIB;
/// Bytes of log after a flushed object within which it cannot have been overwritten: the device
/// has 8 MiB, of which up to half a MiB per MiB may lie idle before a long record.
const SAFE_BYTES: u64 = 3 << 20;

/// What the story says it did.
#[derive(Clone, Debug)]
enum Mark {
    PutBegun {
        name: String,
        version: u64,
    },
    PutDone {
        name: String,
        version: u64,
        len: u64,
    },
    RemoveBegun {
        name: String,
    },
    RemoveDone {
        name: String,
        version: u64,
    },
    FlushBegun,
    FlushDone,
}

/// What must hold of one key.
#[derive(Clone, Debug, Default)]
struct Expected {
    /// Versions up to this one were removed, durably.
    removed: u64,
    /// Versions that a put began to write.
    begun: Vec<u64>,
    done: u64,
    flushing: u64,
    /// This version or a newer one must be found, if the log still has it.
    flushed: u64,
    /// Bytes of log since `done`.
    age_bytes: u64,
}

#[derive(Clone, Debug, Default)]
struct Expectations(BTreeMap<String, Expected>);

impl Expectations {
    fn of(&mut self, name: &str) -> &mut Expected {
        self.0.entry(name.into()).or_default()
    }

    fn apply(&mut self, mark: &Mark) {
        match mark {
            Mark::PutBegun { name, version } => self.of(name).begun.push(*version),
            Mark::PutDone { name, version, len } => {
                // Head, tombstone, padding and the segment's own blocks come on top of the body.
                let written = len + len / 8 + 16_384;
                self.0.values_mut().for_each(|key| key.age_bytes += written);
                let key = self.of(name);
                (key.done, key.age_bytes) = (*version, 0);
            }
            Mark::RemoveBegun { name } => {
                let key = self.of(name);
                (key.done, key.flushing, key.flushed) = (0, 0, 0);
            }
            Mark::RemoveDone { name, version } => self.of(name).removed = *version,
            Mark::FlushBegun => self.0.values_mut().for_each(|key| key.flushing = key.done),
            Mark::FlushDone => {
                let done = |key: &mut Expected| key.flushed = key.flushed.max(key.flushing);
                self.0.values_mut().for_each(done);
            }
        }
    }

    /// What was not flushed may be lost, and then an older version is the newest.
    fn crashed(&mut self) {
        for key in self.0.values_mut() {
            key.done = key.flushed;
            key.flushing = key.flushed;
        }
    }

    async fn check(&self, disk: &Disk, why: &str) {
        for (name, key) in &self.0 {
            let found = fetch(disk, name).await;
            let Ok((meta, body)) = found else {
                let lost = key.flushed > 0 && key.age_bytes < SAFE_BYTES;
                assert!(!lost, "{why}: {name} was flushed and is lost: {key:?}");
                continue;
            };
            let version: u64 = meta.parse().unwrap();
            assert!(key.begun.contains(&version), "{why}: {name} {version}");
            assert!(
                version > key.removed,
                "{why}: {name} {version} is back, {key:?}"
            );
            assert!(
                version >= key.flushed,
                "{why}: {name} {version} is old, {key:?}"
            );
            assert_eq!(body, body_of(name, version), "{why}: {name}");
        }
        assert_ne!(disk.stats().misses[MissReason::ReadError as usize], 1);
    }
}

fn body_of(name: &str, version: u64) -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(version);
    let len = match rng.u8(..10) {
        0 => rng.usize(..600_000),
        1..4 => rng.usize(..60_000),
        _ => rng.usize(..5_000),
    };
    bytes(name, version, len).to_vec()
}

/// Some random operations, told to the recorder before and after.
async fn live(
    disk: &Disk,
    recorder: &Recorder<Mark>,
    rng: &mut fastrand::Rng,
    versions: &mut u64,
    steps: usize,
) {
    for _ in 0..steps {
        let name = format!("key-{}", rng.u64(..KEYS));
        match rng.u8(..10) {
            0..7 => {
                *versions += 1;
                let version = *versions;
                recorder.mark(Mark::PutBegun {
                    name: name.clone(),
                    version,
                });
                let body = body_of(&name, version);
                let len = body.len() as u64;
                put(disk, &name, &version.to_string(), &body.into())
                    .await
                    .unwrap();
                recorder.mark(Mark::PutDone { name, version, len });
            }
            7 => {
                recorder.mark(Mark::RemoveBegun { name: name.clone() });
                disk.remove(&key(&name)).await.unwrap();
                let version = *versions;
                recorder.mark(Mark::RemoveDone { name, version });
            }
            8 => {
                recorder.mark(Mark::FlushBegun);
                disk.flush().await.unwrap();
                recorder.mark(Mark::FlushDone);
            }
            _ => tokio::task::yield_now().await,
        }
    }
}

/// Opens what a crash after `count` events left, and checks it.
async fn crash(
    recorder: &Recorder<Mark>,
    count: usize,
    how: Crash,
    expectations: &mut Expectations,
    rng: &mut fastrand::Rng,
    why: &str,
) -> (Disk, Arc<Recorder<Mark>>) {
    for event in &recorder.events()[..count] {
        if let Event::Mark(mark) = event {
            expectations.apply(mark);
        }
    }
    expectations.crashed();
    let next = Arc::new(Recorder::new(recorder.image_after(count, how, rng)));
    let disk = open(next.clone()).await;
    expectations.check(&disk, why).await;
    (disk, next)
}

async fn lives(seed: u64, how: Crash, steps: usize, points: usize) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut versions = 0;
    let first = Arc::new(Recorder::new(vec![0; DEVICE_BYTES]));
    let disk = open(first.clone()).await;
    live(&disk, &first, &mut rng, &mut versions, steps).await;
    drop(disk);
    let total = first.events().len();
    // Before the superblock's first copy is durable there is nothing to open twice.
    let formatted = 6.min(total);
    for _ in 0..points {
        let count = rng.usize(formatted..=total);
        let why = format!("seed {seed}, {how:?} after {count} of {total}");
        let mut expectations = Expectations::default();
        let (disk, second) = crash(&first, count, how, &mut expectations, &mut rng, &why).await;
        live(&disk, &second, &mut rng, &mut versions, 12).await;
        drop(disk);
        let count = rng.usize(..=second.events().len());
        let why = format!("{why}, then after {count}");
        let (disk, third) = crash(&second, count, how, &mut expectations, &mut rng, &why).await;
        drop(disk);
        let count = third.events().len();
        crash(&third, count, how, &mut expectations, &mut rng, &why).await;
    }
}

#[tokio::test]
async fn a_short_life_killed_after_each_write() {
    let mut rng = fastrand::Rng::with_seed(1);
    let first = Arc::new(Recorder::new(vec![0; DEVICE_BYTES]));
    let disk = open(first.clone()).await;
    live(&disk, &first, &mut rng, &mut 0, 40).await;
    disk.close().await.unwrap();
    for count in 0..=first.events().len() {
        let why = format!("after {count} events");
        let mut expectations = Expectations::default();
        crash(
            &first,
            count,
            Crash::Kill,
            &mut expectations,
            &mut rng,
            &why,
        )
        .await;
    }
}

#[tokio::test]
async fn lives_that_are_killed() {
    for seed in 0..4 {
        lives(seed, Crash::Kill, 60, 12).await;
    }
}

#[tokio::test]
async fn lives_that_lose_power() {
    for seed in 10..14 {
        lives(seed, Crash::PowerLoss, 60, 12).await;
    }
}

#[tokio::test]
async fn lives_that_wrap_and_lose_power() {
    for seed in 20..23 {
        lives(seed, Crash::PowerLoss, 700, 12).await;
    }
}
