//! `kill -9`: what was on flash is served again, without the origin, and nothing that was purged is.

#![allow(
    clippy::unwrap_used,
    reason = "what only tests call may say what it expects"
)]

mod support;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use support::client::Client;
use support::larder::Larder;
use support::objects::Object;
use support::origin::Origin;

/// Written data waits so long for more before it is written: short, as the tests wait for it.
const CONFIG: &str = "[store]\nflush_after = '20ms'\n";

fn larder(dir: &Path, origin: &str) -> Larder {
    let dir = dir.to_str().unwrap();
    let size = ["--ram", "64MiB", "--disk", "128MiB"];
    let args = ["--data-dir", dir, "--origin", origin];
    Larder::configured(CONFIG, &[&size[..], &args].concat())
}

/// Fills, and waits until all of it is on flash.
fn fill(larder: &Larder, objects: &[Object]) {
    let mut client = Client::connect(larder.address);
    for object in objects {
        object.assert_whole(&client.ask("GET", &object.path, &[]));
    }
    let bytes: u64 = objects.iter().map(|object| object.size_bytes).sum();
    let written = || larder.metric("larder_ssd_written_bytes_total", "");
    support::until("the flush", || written() > bytes);
    // Objects of a few bytes may still wait: until a look twice as late as they may wait sees no more.
    let mut last = (written(), Instant::now());
    support::until("the end of the flush", || {
        let now = written();
        if now != last.0 {
            last = (now, Instant::now());
        }
        last.1.elapsed() > Duration::from_millis(50)
    });
}

#[test]
fn what_was_flushed_is_served_without_the_origin() {
    let (dir, origin) = (support::disk_dir(), Origin::start());
    let first = larder(dir.path(), &origin.url());
    let objects = Object::many(&mut fastrand::Rng::with_seed(1), 500, 2 << 20);
    fill(&first, &objects);
    let (purged, kept) = objects.split_at(20);
    for object in purged {
        let answer = first.purge(&object.path);
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(
            answer.text().contains("\"found\":true"),
            "{}",
            answer.text()
        );
    }
    let url = origin.url();
    first.kill();
    origin.kill();

    let begun = Instant::now();
    let second = larder(dir.path(), &url);
    let found = |object: &Object| second.get(&object.path).is_hit_from("ssd");
    let newest = kept.last().unwrap();
    support::until("the first hit", || found(newest));
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
    let recovered = || second.metric("larder_ssd_recovered_objects_total", "");
    support::until("the recovery", || recovered() >= kept.len() as u64 * 9 / 10);

    let mut hits = 0;
    for object in kept {
        let answer = second.get(&object.path);
        if answer.is_hit() {
            object.assert_whole(&answer);
            hits += 1;
        } else {
            assert_eq!(answer.status, 502, "{answer:?}");
        }
    }
    assert!(hits * 10 >= kept.len() * 9, "{hits} of {}", kept.len());
    for object in purged {
        let answer = second.get(&object.path);
        assert_eq!(answer.status, 502, "resurrected: {answer:?}");
    }
}

/// What clients and a purger do until the process is gone.
struct Load<'a> {
    objects: &'a [Object],
    answers: AtomicU64,
}

impl Load<'_> {
    /// Asks at random until the connection breaks; what comes whole has to be right.
    fn client(&self, address: SocketAddr, mut rng: fastrand::Rng) {
        let Ok(mut client) = Client::try_connect(address) else {
            return;
        };
        while let Some(object) = rng.choice(self.objects) {
            let Some(answer) = client.try_get(&object.path) else {
                return;
            };
            object.assert_whole(&answer);
            self.answers.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_kill_at_any_moment_leaves_a_store_without_a_wrong_byte() {
    let seed = fastrand::u64(..);
    eprintln!("seed {seed:#x}");
    let mut rng = fastrand::Rng::with_seed(seed);
    let (dir, origin) = (support::disk_dir(), Origin::start());
    let objects = Object::many(&mut rng, 600, 1 << 20);
    // Half of them are asked for all the time; the others once, and purged some time later.
    let (loaded, doomed) = objects.split_at(300);
    let mut purged = HashSet::new();
    for round in doomed.chunks(100) {
        let larder = larder(dir.path(), &origin.url());
        let load = Load {
            objects: loaded,
            answers: AtomicU64::new(0),
        };
        let answers_wanted = rng.u64(50..600);
        std::thread::scope(|scope| {
            let (load, address) = (&load, larder.address);
            for _ in 0..4 {
                let rng = rng.fork();
                scope.spawn(move || load.client(address, rng));
            }
            for object in round {
                if load.answers.load(Ordering::Relaxed) > answers_wanted {
                    break;
                }
                object.assert_whole(&larder.get(&object.path));
                if rng.bool() {
                    assert_eq!(larder.purge(&object.path).status, 200);
                    purged.insert(&*object.path);
                }
            }
            support::until("the moment", || {
                load.answers.load(Ordering::Relaxed) > answers_wanted
            });
            larder.kill_under_load();
        });
        larder.kill();
    }
    let url = origin.url();
    origin.kill();
    let larder = larder(dir.path(), &url);
    support::until("some recovery", || {
        larder.metric("larder_ssd_recovered_objects_total", "") > 0
    });
    let mut hits = 0;
    for object in &objects {
        let answer = larder.get(&object.path);
        if answer.status == 200 {
            object.assert_whole(&answer);
            assert!(!purged.contains(&*object.path), "resurrected: {answer:?}");
            hits += 1;
        }
    }
    eprintln!("{hits} of {} found, {} purged", objects.len(), purged.len());
    assert!(hits > 0);
}
