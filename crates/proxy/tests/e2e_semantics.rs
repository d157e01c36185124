//! What HTTP promises of a cache, by the real binary: conditions, ranges, variants, staleness, and
//! purges by whoever may.

#![allow(
    clippy::unwrap_used,
    reason = "what only tests call may say what it expects"
)]

mod support;

use std::time::{Duration, Instant};

use larder_replay::Content;
use support::client::Answer;
use support::larder::Larder;
use support::objects::Object;
use support::origin::Origin;
use support::process::Process;

fn larder(config: &str, origin: &Origin) -> Larder {
    let args = ["--origin", &origin.url(), "--ram", "128MiB"];
    Larder::configured(config, &args)
}

#[test]
fn the_cache_answers_head_conditions_and_ranges() {
    let origin = Origin::start();
    let larder = larder("", &origin);
    let object = Object::new(100_000, 1);
    let whole = larder.get(&object.path);
    object.assert_whole(&whole);
    let etag = whole.header("etag").unwrap();
    let modified = whole.header("last-modified").unwrap();
    let ask = |method, headers: &[_]| {
        let answer = larder.ask(method, &object.path, headers);
        assert!(answer.is_hit(), "{headers:?}: {answer:?}");
        answer
    };

    let head = ask("HEAD", &[]);
    let told = (head.status, head.header("content-length"));
    assert_eq!(told, (200, Some("100000")));
    assert_eq!(ask("GET", &[("If-None-Match", etag)]).status, 304);
    assert_eq!(ask("GET", &[("If-None-Match", "\"other\"")]).status, 200);
    assert_eq!(ask("GET", &[("If-Modified-Since", modified)]).status, 304);

    for (range, first, last) in [
        ("bytes=0-99", 0, 99),
        ("bytes=99000-", 99_000, 99_999),
        ("bytes=-1", 99_999, 99_999),
    ] {
        let part = ask("GET", &[("Range", range)]);
        assert_eq!(part.status, 206, "{range}: {part:?}");
        assert_eq!(part.body.len(), last - first + 1, "{range}");
        assert_eq!(object.content().verify(first as u64, &part.body), None);
    }
    let beyond = ask("GET", &[("Range", "bytes=100000-")]);
    assert_eq!(beyond.status, 416, "{beyond:?}");
    let other = ask("GET", &[("Range", "bytes=0-9"), ("If-Range", "\"other\"")]);
    object.assert_whole(&other);
    assert_eq!(origin.requests(), 1);
}

const VARIED: &str = "/object/page?size=5000&max_age=60&vary=accept-language";

fn in_language(larder: &Larder, language: &str) -> Answer {
    let answer = larder.ask("GET", VARIED, &[("Accept-Language", language)]);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.body.len(), 5000);
    let name = format!("/object/page\naccept-language:{language}");
    let content = Content::new(&name, 0);
    assert_eq!(content.verify(0, &answer.body), None, "somebody else's");
    answer
}

#[test]
fn each_gets_its_own_variant_and_a_purge_takes_all() {
    let origin = Origin::start();
    let larder = larder("", &origin);
    for expected_hit in [false, true] {
        for language in ["de", "en", "fr"] {
            let answer = in_language(&larder, language);
            assert_eq!(answer.is_hit(), expected_hit, "{language}: {answer:?}");
        }
    }
    assert_eq!(larder.ask("PURGE", VARIED, &[]).status, 200);
    for language in ["fr", "en", "de"] {
        let answer = in_language(&larder, language);
        assert!(!answer.is_hit(), "{language}: {answer:?}");
    }
    assert_eq!(origin.requests(), 6);
}

#[test]
fn a_purge_is_for_those_who_may() {
    let origin = Origin::start();
    let object = Object::new(1000, 1);
    let open = larder("", &origin);
    open.get(&object.path);
    assert!(open.get(&object.path).is_hit());
    assert_eq!(open.ask("PURGE", &object.path, &[]).status, 200);
    assert_eq!(open.ask("PURGE", &object.path, &[]).status, 404);
    assert!(!open.get(&object.path).is_hit());

    let closed = larder("[server]\npurge_allow = ['192.0.2.0/24']\n", &origin);
    closed.get(&object.path);
    assert_eq!(closed.ask("PURGE", &object.path, &[]).status, 403);
    assert!(closed.get(&object.path).is_hit());
}

#[test]
fn the_command_purges_too() {
    let origin = Origin::start();
    let larder = larder("[server]\npurge_allow = []\n", &origin);
    let object = Object::new(1000, 1);
    let (url, admin) = (
        format!("http://test.example{}", object.path),
        larder.admin.to_string(),
    );
    let purge = || Process::run(&["purge", "--url", &url, "--admin", &admin]);
    larder.get(&object.path);
    assert!(larder.get(&object.path).is_hit());
    for found in ["\"found\":true", "\"found\":false"] {
        let purged = purge();
        assert_eq!(purged.code, Some(0), "{}", purged.said);
        assert!(purged.said.contains(found), "{}", purged.said);
    }
    assert!(!larder.get(&object.path).is_hit());
    larder.stop();
    assert_eq!(purge().code, Some(1));
}

#[test]
fn stale_while_revalidate_keeps_nobody_waiting() {
    // Counts as age when it has passed (RFC 9111 section 4.2.3), so the lifetime has to be longer.
    const DELAY: Duration = Duration::from_secs(1);
    let origin = Origin::start();
    let larder = larder("", &origin);
    let path = format!(
        "/object/news?max_age=2&swr=60&delay_ms={}",
        DELAY.as_millis()
    );
    assert_eq!(larder.get(&path).status, 200);
    support::until("its lifetime to be over", || {
        let begun = Instant::now();
        let answer = larder.get(&path);
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.is_hit(), "{answer:?}");
        assert!(begun.elapsed() < DELAY, "it waited for the origin");
        answer.cache_status().contains("stale-while-revalidate")
    });
    support::until("the revalidation", || origin.requests() == 2);
    support::until("the fresh object", || larder.get(&path).is_hit_from("ram"));
}

#[test]
fn stale_if_error_stands_in_for_a_dead_origin() {
    let origin = Origin::start();
    let larder = larder("", &origin);
    let (forgiving, strict) = (
        "/object/a?max_age=0&sie=60&size=2000",
        "/object/b?max_age=0&size=2000",
    );
    for path in [forgiving, strict] {
        assert_eq!(larder.get(path).status, 200);
        let again = larder.get(path);
        assert_eq!(again.status, 200);
        assert!(again.cache_status().contains("fwd-status=304"), "{again:?}");
    }
    origin.kill();
    let stale = larder.get(forgiving);
    assert_eq!(stale.status, 200, "{stale:?}");
    assert!(stale.is_hit_from("stale-if-error"), "{stale:?}");
    let content = Content::new("/object/a", 0);
    assert_eq!(content.verify(0, &stale.body), None);
    let failed = larder.get(strict);
    assert_eq!(failed.status, 502, "{failed:?}");
    let only = [("Cache-Control", "max-stale=60")];
    let stale = larder.ask("GET", strict, &only);
    assert!(stale.is_hit_from("max-stale"), "{stale:?}");
}
