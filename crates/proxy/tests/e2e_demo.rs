//! The first minute with larder: `larder serve` with nothing configured.

#![allow(
    clippy::unwrap_used,
    reason = "what only tests call may say what it expects"
)]

mod support;

use support::larder::Larder;
use support::process::Process;

const SMALL: [&str; 2] = ["--ram", "128MiB"];

#[test]
fn it_says_what_to_try_and_what_it_says_is_so() {
    let mut larder = Larder::start(&SMALL);
    let prefix = format!("    curl -si http://{}", larder.address);
    let first = larder.line(&prefix);
    assert!(first.starts_with("/ "), "{first}");

    let miss = larder.get("/");
    assert_eq!(miss.status, 200);
    assert!(miss.cache_status().contains(";fwd=uri-miss"), "{miss:?}");
    let hit = larder.get("/");
    assert_eq!(hit.status, 200);
    assert!(hit.is_hit_from("ram"), "{hit:?}");
    let age: u64 = hit.header("age").and_then(|age| age.parse().ok()).unwrap();
    assert!(age < 60, "{hit:?}");
    assert_eq!(hit.body, miss.body);

    let picture = larder.get("/picture.svg");
    let etag = picture.header("etag").unwrap();
    let same = larder.ask("GET", "/picture.svg", &[("If-None-Match", etag)]);
    assert_eq!(same.status, 304, "{same:?}");
    assert!(same.is_hit(), "{same:?}");

    for _ in 0..3 {
        let private = larder.get("/private");
        assert_eq!(private.status, 200);
        assert!(!private.is_hit(), "{private:?}");
        assert_eq!(private.header("age"), None, "{private:?}");
    }
}

#[test]
fn it_tells_operators_how_it_is() {
    let larder = Larder::start(&SMALL);
    for path in ["/", "/", "/private"] {
        larder.get(path);
    }
    let requests = |labels| larder.metric("larder_requests_total", labels);
    // The answer is counted when its last byte is sent, which the client may see first.
    support::until("three requests", || requests("") == 3);
    assert_eq!(requests("decision=\"hit\""), 1);
    assert_eq!(larder.metric("larder_origin_requests_total", ""), 2);
    for path in ["/healthz", "/readyz"] {
        let answer = support::client::get(larder.admin, path);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
    }
}

#[test]
fn it_stops_when_told() {
    let larder = Larder::start(&SMALL);
    assert_eq!(larder.get("/").status, 200);
    assert_eq!(larder.stop().code(), Some(0));
}

#[test]
fn a_second_one_on_the_same_port_is_told_to_try_again() {
    let larder = Larder::start(&SMALL);
    let (taken, free) = (larder.address.to_string(), "127.0.0.1:0");
    let admin_taken = larder.admin.to_string();
    for (listen, admin) in [(&*taken, free), (free, &*admin_taken)] {
        let args = ["serve", "--listen", listen, "--admin", admin];
        let second = Process::run(&[&args[..], &SMALL].concat());
        assert_eq!(second.code, Some(75), "{}", second.said);
        let named = if listen == free { admin } else { listen };
        assert!(second.said.contains(named), "{}", second.said);
    }
    assert_eq!(larder.get("/").status, 200);
}
