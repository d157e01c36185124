//! A trace through the real thing, `larder origin` ─► `larder serve` ─► `larder replay`: every byte
//! right, as many hits as an infinite cache has, no more memory than allowed.

#![allow(
    clippy::unwrap_used,
    reason = "what only tests call may say what it expects"
)]

mod support;

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;
use support::larder::Larder;
use support::objects::Object;
use support::origin::Origin;
use support::process::Process;

const SEED: u64 = 0x1a4d;
const MIB: u64 = 1 << 20;

/// Clients at once.
const CONNECTIONS: &str = "4";

/// Requests for objects of 0 B to 1 MiB.
struct Trace {
    csv: String,
    /// Bytes of all objects, each once.
    unique_bytes: u64,
}

impl Trace {
    /// `requests` for `objects` objects, whose popularity falls with the square of their rank's share:
    /// half of the requests go to the first quarter.
    fn popular(requests: u64, objects: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(SEED);
        let objects = Object::many(&mut rng, objects, MIB);
        let mut csv = String::from("timestamp,object_id,size_bytes\n");
        for time in 0..requests {
            let rank = rng.f64().powi(2) * objects.len() as f64;
            row(&mut csv, time, &objects, rank as usize);
        }
        Self::new(csv, &objects)
    }

    /// Each object once, in order, and then some of the latest again, over and over.
    fn passing(objects: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(SEED + 1);
        let objects = Object::many(&mut rng, objects, MIB);
        let mut csv = String::from("timestamp,object_id,size_bytes\n");
        for id in 0..objects.len() {
            row(&mut csv, id as u64, &objects, id);
            row(
                &mut csv,
                id as u64,
                &objects,
                id - rng.usize(..=id.min(400)),
            );
        }
        Self::new(csv, &objects)
    }

    fn new(csv: String, objects: &[Object]) -> Self {
        Self {
            csv,
            unique_bytes: objects.iter().map(|object| object.size_bytes).sum(),
        }
    }

    fn replay(&self, dir: &Path, larder: &Larder) -> Value {
        let path = dir.join("trace.csv");
        std::fs::write(&path, &self.csv).unwrap();
        let (path, target) = (path.to_str().unwrap(), format!("http://{}", larder.address));
        let what = ["replay", "--trace", path, "--target", &target];
        let how = ["--connections", CONNECTIONS, "--json"];
        let replay = Process::run(&[&what[..], &how].concat());
        assert_eq!(replay.code, Some(0), "{}", replay.said);
        let report = replay.said.lines().find(|line| line.starts_with('{'));
        serde_json::from_str(report.unwrap()).unwrap()
    }
}

fn row(csv: &mut String, time: u64, objects: &[Object], id: usize) {
    writeln!(csv, "{time},{id},{}", objects[id].size_bytes).unwrap();
}

fn larder(dir: &Path, origin: &Origin, ram: &str, disk: &str) -> Larder {
    let data_dir = dir.join("data");
    let place = ["--data-dir", data_dir.to_str().unwrap(), "--disk", disk];
    Larder::start(&[&place[..], &["--origin", &origin.url(), "--ram", ram]].concat())
}

#[test]
fn what_fits_is_fetched_once() {
    let (dir, origin) = (support::disk_dir(), Origin::start());
    let larder = larder(dir.path(), &origin, "64MiB", "256MiB");
    let trace = Trace::popular(4000, 800);
    let fits = 48 * MIB..192 * MIB;
    assert!(fits.contains(&trace.unique_bytes), "{}", trace.unique_bytes);

    let report = trace.replay(dir.path(), &larder);
    eprintln!("seed {SEED:#x}: {report}");
    assert_eq!(report["requests"], 4000);
    assert_eq!(report["errors"], 0, "{report}");
    assert_eq!(report["wrong_bytes"], 0, "{report}");
    // Who waits for another one's fetch is no hit, but no request to the origin either. A disk that
    // is too slow for a write is spared it, and the object may be fetched once more for that.
    let count = |name: &str| report[name].as_f64().unwrap();
    let spared = count("hits") + count("collapsed");
    let skipped = larder.metric("larder_ssd_skipped_writes_total", "") as f64;
    let infinite = count("infinite_object_hit_ratio") * count("requests");
    let lost = infinite - spared - skipped;
    assert!(
        lost < 0.005 * count("requests"),
        "{skipped} skipped: {report}"
    );
    for tier in ["ram", "ssd"] {
        assert!(report["tiers"][tier].as_u64() > Some(100), "{report}");
    }
    let peak_bytes = larder.resident_bytes_max();
    assert!(peak_bytes < 64 * MIB, "{peak_bytes}");
}

#[test]
fn a_disk_that_wraps_several_times_never_gives_a_wrong_byte() {
    let (dir, origin) = (support::disk_dir(), Origin::start());
    let larder = larder(dir.path(), &origin, "64MiB", "64MiB");
    let trace = Trace::passing(3000);

    let report = trace.replay(dir.path(), &larder);
    eprintln!("seed {:#x}: {report}", SEED + 1);
    assert_eq!(report["errors"], 0, "{report}");
    assert_eq!(report["wrong_bytes"], 0, "{report}");
    let laps = larder.metric("larder_ssd_laps_total", "");
    assert!(laps >= 3, "{laps} laps for {} bytes", trace.unique_bytes);
    for tier in ["ram", "ssd"] {
        assert!(report["tiers"][tier].as_u64() > Some(100), "{report}");
    }
    assert_eq!(larder.metric("larder_ssd_healthy", ""), 1);
    let peak_bytes = larder.resident_bytes_max();
    assert!(peak_bytes < 64 * MIB, "{peak_bytes}");
}
