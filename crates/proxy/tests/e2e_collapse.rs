//! Many clients of one cold object: one request to the origin, and nobody who waits longer than
//! configured when the origin is slow, silent, broken, or says what nobody may share.

#![allow(
    clippy::unwrap_used,
    reason = "what only tests call may say what it expects"
)]

mod support;

use std::ops::RangeInclusive;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use larder_replay::Content;
use support::client::Client;
use support::larder::Larder;
use support::origin::Origin;

/// Every wait is short, and none is repeated.
const CONFIG: &str = "
[cache]
collapse_wait = '1s'
[origin]
response_timeout = '1500ms'
idle_timeout = '300ms'
";

/// What a request may take beyond what is configured, on a busy machine.
const SLACK: Duration = Duration::from_secs(5);

/// What one of many clients got.
struct Got {
    status: u16,
    /// Body bytes, all of them right.
    body_bytes: u64,
    took: Duration,
}

struct World {
    origin: Origin,
    larder: Larder,
}

impl World {
    fn new() -> Self {
        let origin = Origin::start();
        let args = ["--origin", &origin.url(), "--ram", "128MiB"];
        let larder = Larder::configured(CONFIG, &args);
        Self { origin, larder }
    }

    /// As many clients as asked for, each on a connection that is open already, ask at once.
    fn crowd(&self, clients: usize, path: &str) -> Vec<Got> {
        let (name, _) = path.split_once('?').unwrap_or((path, ""));
        let content = Content::new(name, 0);
        let start = Barrier::new(clients);
        std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for _ in 0..clients {
                let client = Client::connect(self.larder.address);
                threads.push(scope.spawn(|| ask(client, path, content, &start)));
            }
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        })
    }
}

fn ask(mut client: Client, path: &str, content: Content, start: &Barrier) -> Got {
    start.wait();
    let begun = Instant::now();
    client.send_request("GET", path, &[]);
    let answer = client.head().unwrap();
    let length = answer.header("content-length");
    let length: u64 = length.and_then(|length| length.parse().ok()).unwrap();
    let mut body_bytes = 0;
    let mut buffer = vec![0; 16 << 10];
    while answer.status == 200 && body_bytes < length {
        // A broken answer ends with its connection.
        let Ok(read @ 1..) = client.read_some(&mut buffer) else {
            break;
        };
        assert_eq!(content.verify(body_bytes, &buffer[..read]), None);
        body_bytes += read as u64;
    }
    Got {
        status: answer.status,
        body_bytes,
        took: begun.elapsed(),
    }
}

/// Asserts that all got as much, within so many milliseconds and the slack.
fn assert_all(crowd: &[Got], status: u16, body_bytes: RangeInclusive<u64>, wait_ms: u64) {
    let wait_max = Duration::from_millis(wait_ms) + SLACK;
    for got in crowd {
        assert_eq!(got.status, status);
        let right = body_bytes.contains(&got.body_bytes);
        assert!(right, "{} bytes of {body_bytes:?}", got.body_bytes);
        assert!(got.took < wait_max, "{:?} of {wait_max:?}", got.took);
    }
}

#[test]
fn one_fetch_serves_all_who_wait_for_it() {
    let world = World::new();
    let crowd = world.crowd(200, "/object/cold?size=100000&max_age=60&delay_ms=500");
    assert_all(&crowd, 200, 100_000..=100_000, 500);
    assert_eq!(world.origin.requests(), 1);
    let requests = |labels| world.larder.metric("larder_requests_total", labels);
    support::until("all are counted", || requests("") == 200);
    assert_eq!(requests("decision=\"miss\""), 1);
    // Who came late found it stored.
    let shared = requests("decision=\"collapsed\"") + requests("decision=\"hit\"");
    assert_eq!(shared, 199);
}

#[test]
fn an_origin_that_falls_silent_midway_ends_the_wait_for_all() {
    let world = World::new();
    let crowd = world.crowd(
        50,
        "/object/mute?size=200000&max_age=60&delay_ms=500&hang=half",
    );
    assert_all(&crowd, 200, 1..=100_000, 500 + 500);
    assert_eq!(
        world.origin.requests(),
        1,
        "what is silent is not asked again"
    );
    let cached = [("Cache-Control", "only-if-cached")];
    let half = world.larder.ask(
        "GET",
        "/object/mute?size=200000&max_age=60&delay_ms=500&hang=half",
        &cached,
    );
    assert_eq!(half.status, 504, "half an object is none: {half:?}");
}

#[test]
fn an_origin_that_breaks_off_is_continued_once_for_all() {
    let world = World::new();
    let crowd = world.crowd(
        50,
        "/object/broken?size=240000&max_age=60&delay_ms=500&fail=half",
    );
    // It breaks off at half of what it is asked for, each time: 1/2, then 1/4, then 1/8. The end of a
    // broken answer is a reset, which may overtake the last bytes.
    assert_all(&crowd, 200, 120_001..=240_000 / 8 * 7, 500);
    assert_eq!(world.origin.requests(), 3);
}

#[test]
fn what_nobody_may_share_is_fetched_by_each_without_a_queue() {
    let world = World::new();
    let path = "/object/own?size=10000&no_store=1&delay_ms=500";
    // All learn from the first answer that they have to ask by themselves.
    assert_all(&world.crowd(50, path), 200, 10_000..=10_000, 500 + 500);
    assert_eq!(world.origin.requests(), 50);
    // Next time they know.
    assert_all(&world.crowd(50, path), 200, 10_000..=10_000, 500);
    assert_eq!(world.origin.requests(), 100);
}

#[test]
fn an_error_is_everybodys_and_is_not_kept() {
    let world = World::new();
    let path = "/object/ill?size=100&status=503&delay_ms=500";
    assert_all(&world.crowd(50, path), 503, 0..=0, 500 + 500);
    let asked = world.origin.requests();
    assert!((1..=50).contains(&asked), "{asked}");
    assert_eq!(world.larder.get(path).status, 503);
    assert_eq!(world.origin.requests(), asked + 1);
}

#[test]
fn an_origin_that_says_nothing_is_asked_twice_however_many_wait() {
    let world = World::new();
    let crowd = world.crowd(50, "/object/never?max_age=60&delay_ms=60000");
    assert_all(&crowd, 504, 0..=0, 1000 + 1500);
    let asked = world.origin.requests();
    assert!((1..=2).contains(&asked), "{asked}");
}
