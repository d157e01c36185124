//! An object many times as large as memory: right, whole, by ranges, and whoever goes away.

#![allow(
    clippy::unwrap_used,
    reason = "what only tests call may say what it expects"
)]

mod support;

use std::path::Path;
use std::time::Instant;

use larder_replay::Content;
use support::PATIENCE;
use support::client::Client;
use support::larder::Larder;
use support::objects::Object;
use support::origin::Origin;

const MIB: u64 = 1 << 20;

/// Hardly more than the least that `larder check` accepts for such a disk: 42 MiB with two workers.
const RAM: &str = "48MiB";
const RAM_BYTES: u64 = 48 * MIB;

const CONFIG: &str = "[server]\nworkers = 2\n[cache]\nobject_size_max = '512MiB'\n";

fn larder(dir: &Path, origin: &Origin) -> Larder {
    let disk = ["--data-dir", dir.to_str().unwrap(), "--disk", "1GiB"];
    let args = ["--origin", &origin.url(), "--ram", RAM];
    Larder::configured(CONFIG, &[&disk[..], &args].concat())
}

/// Asks for bytes `first..=last`, which have to come from flash, and compares them.
fn assert_range(larder: &Larder, object: &Object, first: u64, last: u64) {
    let range = format!("bytes={first}-{last}");
    let part = larder.ask("GET", &object.path, &[("Range", &range)]);
    assert_eq!(part.status, 206, "{range}: {part:?}");
    assert!(part.is_hit_from("ssd"), "{range}: {part:?}");
    let content_range = format!("bytes {first}-{last}/{}", object.size_bytes);
    assert_eq!(part.header("content-range"), Some(&*content_range));
    assert_eq!(part.body.len() as u64, last - first + 1, "{range}");
    assert_eq!(object.content().verify(first, &part.body), None, "{range}");
}

#[test]
fn it_passes_through_little_memory_and_is_read_again_from_flash() {
    let (dir, origin) = (support::disk_dir(), Origin::start());
    let larder = larder(dir.path(), &origin);
    let object = Object::new(300 * MIB, 1);

    let miss = object.stream(larder.address);
    assert!(!miss.is_hit(), "{miss:?}");
    let hit = object.stream(larder.address);
    assert!(hit.is_hit_from("ssd"), "{hit:?}");

    let end = object.size_bytes - 1;
    assert_range(&larder, &object, 0, 0);
    assert_range(&larder, &object, end, end);
    assert_range(&larder, &object, 256 * 1024 - 1, 256 * 1024);
    let mut rng = fastrand::Rng::with_seed(7);
    for _ in 0..20 {
        let first = rng.u64(0..end);
        let last = end.min(first + rng.u64(0..2 * MIB));
        assert_range(&larder, &object, first, last);
    }
    assert_eq!(origin.requests(), 1);
    let peak_bytes = larder.resident_bytes_max();
    assert!(peak_bytes < RAM_BYTES, "{} KiB", peak_bytes >> 10);
}

#[test]
fn clients_that_go_away_midway_do_not_stop_the_fill() {
    let (dir, origin) = (support::disk_dir(), Origin::start());
    let larder = larder(dir.path(), &origin);
    let object = Object::new(64 * MIB, 2);
    let mut clients: Vec<_> = (0..4).map(|_| Client::connect(larder.address)).collect();
    for client in &mut clients {
        client.send_request("GET", &object.path, &[]);
        assert_eq!(client.head().unwrap().status, 200);
        client.read_all(&mut [0; 100_000]);
    }
    drop(clients);

    let cached = [("Cache-Control", "only-if-cached"), ("Range", "bytes=0-0")];
    support::until("the object on flash", || {
        larder.ask("GET", &object.path, &cached).status == 206
    });
    let hit = object.stream(larder.address);
    assert!(hit.is_hit_from("ssd"), "{hit:?}");
    assert_eq!((origin.requests(), origin.bytes()), (1, object.size_bytes));
}

#[test]
fn what_is_too_large_to_be_kept_is_relayed_whole() {
    let (dir, origin) = (support::disk_dir(), Origin::start());
    let data_dir = [
        "--data-dir",
        dir.path().to_str().unwrap(),
        "--disk",
        "64MiB",
    ];
    let args = ["--origin", &origin.url(), "--ram", "64MiB"];
    let config = "[cache]\nobject_size_max = '1MiB'\n";
    let larder = Larder::configured(config, &[&data_dir[..], &args].concat());
    for length in ["", "&chunked=1"] {
        let path = format!("/object/whale?max_age=60&size=5000000{length}");
        for fwd in ["fwd=uri-miss", "detail=hit-for-miss"] {
            let answer = larder.get(&path);
            assert_eq!(answer.status, 200, "{path}: {answer:?}");
            assert_eq!(answer.body.len(), 5_000_000, "{path}: {answer:?}");
            let content = Content::new("/object/whale", 0);
            assert_eq!(content.verify(0, &answer.body), None, "{path}");
            assert!(answer.cache_status().contains(fwd), "{path}: {answer:?}");
        }
    }
    // What tells its length is known for what it is, however often it is asked for.
    let again = larder.get("/object/whale?max_age=60&size=5000000");
    let status = again.cache_status();
    assert!(status.contains("detail=hit-for-miss"), "{again:?}");
}

#[test]
fn a_slow_reader_beside_a_fast_one_gets_all_of_it_too() {
    let (dir, origin) = (support::disk_dir(), Origin::start());
    let larder = larder(dir.path(), &origin);
    // Whether the rest is to be had from the origin, of a body that told its length or did not, or
    // only from flash when all has come.
    for kind in ["", "&chunked=1", "&etag=none", "&chunked=1&etag=none"] {
        let path = format!("/object/beside?max_age=60&size=40000000{kind}");
        let mut slow = Client::connect(larder.address);
        slow.send_request("GET", &path, &[]);
        let head = slow.head().unwrap();
        assert_eq!(head.status, 200, "{head:?}");
        // As late as can be: when the other has it all.
        let begun = Instant::now();
        let fast = larder.get(&path);
        assert_eq!(fast.body.len(), 40_000_000, "{path}: {fast:?}");
        assert!(begun.elapsed() < PATIENCE / 3, "{:?}", begun.elapsed());
        let late = slow.body(&head).expect("the rest");
        assert!(late == fast.body, "{path}: {} bytes", late.len());
        assert_eq!(Content::new("/object/beside", 0).verify(0, &late), None);
    }
}
