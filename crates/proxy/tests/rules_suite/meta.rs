//! What is kept of a response?

use http::StatusCode;
use larder::meta::{Flags, HEADER_BYTES_MAX, HEADER_LINES_MAX, Kind, StoredMeta};
use larder::rules::cache_control::ResponseDirectives;
use larder::rules::cacheable::NoStore;
use larder::rules::date::Millis;
use larder::rules::fresh::{FreshPolicy, LifetimeSource};
use larder_store::Meta;

use super::{ARRIVAL, Lines, headers, stored};

fn kept(lines: Lines<'_>) -> Result<StoredMeta, NoStore> {
    let headers = headers(lines);
    let directives = ResponseDirectives::parse(&headers);
    let sent = Millis(ARRIVAL.0 - 250);
    let policy = FreshPolicy::default();
    StoredMeta::from_response(
        StatusCode::OK,
        &headers,
        &directives,
        sent,
        ARRIVAL,
        &policy,
    )
}

#[test]
fn everything_that_decides_later() {
    let meta = kept(&[
        (
            "cache-control",
            "s-maxage=60, no-cache, stale-while-revalidate=7, stale-if-error=8",
        ),
        ("etag", "\"a\""),
        ("last-modified", "@-9"),
        ("date", "@-2"),
    ])
    .unwrap();
    assert_eq!(meta.kind, Kind::Object);
    assert_eq!(
        (meta.request_time, meta.response_time),
        (Millis(ARRIVAL.0 - 250), ARRIVAL)
    );
    assert_eq!(meta.initial_age_ms, 2000);
    assert_eq!((meta.ttl_s, meta.ttl_source), (60, LifetimeSource::SMaxage));
    assert_eq!((meta.swr_s, meta.sie_s), (7, Some(8)));
    assert_eq!(meta.flags, Flags::NO_CACHE | Flags::S_MAXAGE);
    assert_eq!(meta.etag().unwrap(), "\"a\"");
    assert_eq!(
        meta.last_modified(),
        Some(Millis::from_secs(ARRIVAL.as_secs() - 9))
    );
    assert_eq!(meta.date(), Some(Millis::from_secs(ARRIVAL.as_secs() - 2)));
}

#[test]
fn only_fields_that_answers_send() {
    const MAX_AGE: (&str, &str) = ("cache-control", "max-age=60");
    const DATE: (&str, &str) = ("date", "@-1");
    let table: &[(Lines<'_>, Lines<'_>)] = &[
        (
            &[MAX_AGE, DATE, ("x", "1"), ("x", "2")],
            &[MAX_AGE, DATE, ("x", "1"), ("x", "2")],
        ),
        (&[MAX_AGE, DATE, ("age", "7")], &[MAX_AGE, DATE]),
        (&[MAX_AGE], &[MAX_AGE, ("date", "@0")]),
        (&[MAX_AGE, ("date", "foo")], &[MAX_AGE, ("date", "@0")]),
        (
            &[MAX_AGE, DATE, ("date", "@-5")],
            &[MAX_AGE, ("date", "@0")],
        ),
        (
            &[
                MAX_AGE,
                DATE,
                ("connection", "a"),
                ("a", "1"),
                ("transfer-encoding", "chunked"),
            ],
            &[MAX_AGE, DATE],
        ),
        (
            &[MAX_AGE, DATE, ("content-length", "5")],
            &[MAX_AGE, DATE, ("content-length", "5")],
        ),
        (
            &[MAX_AGE, DATE, ("set-cookie", "a=b")],
            &[MAX_AGE, DATE, ("set-cookie", "a=b")],
        ),
        (
            &[
                MAX_AGE,
                ("cache-control", "no-cache=\"a, Set-Cookie\", private=b"),
                DATE,
                ("a", "1"),
                ("b", "2"),
                ("set-cookie", "c"),
                ("d", "4"),
            ],
            &[
                MAX_AGE,
                ("cache-control", "no-cache=\"a, Set-Cookie\", private=b"),
                DATE,
                ("d", "4"),
            ],
        ),
    ];
    for (lines, expected) in table {
        assert_eq!(kept(lines).unwrap().headers, headers(expected), "{lines:?}");
    }
}

#[test]
fn what_could_never_be_used_is_not_kept() {
    let table: &[(Lines<'_>, bool)] = &[
        (&[("cache-control", "max-age=60")], true),
        (&[("cache-control", "max-age=0")], false),
        (&[("cache-control", "max-age=60"), ("age", "60")], false),
        (&[("cache-control", "max-age=60"), ("date", "@-60")], false),
        (&[("expires", "0")], false),
        (&[("expires", "0"), ("etag", "\"a\"")], true),
        (
            &[("cache-control", "max-age=0"), ("last-modified", "@-5")],
            true,
        ),
        (
            &[("cache-control", "max-age=0"), ("last-modified", "x")],
            false,
        ),
        (
            &[("cache-control", "max-age=0, stale-while-revalidate=5")],
            true,
        ),
        (&[("cache-control", "max-age=0, stale-if-error=5")], true),
        (&[("cache-control", "max-age=0, stale-if-error=0")], false),
        (&[("cache-control", "max-age=60, no-cache")], false),
        (&[("cache-control", "no-cache"), ("etag", "\"a\"")], true),
    ];
    for (lines, expected) in table {
        let verdict = kept(lines).map(|_| ());
        assert_eq!(
            verdict,
            if *expected {
                Ok(())
            } else {
                Err(NoStore::Expired)
            },
            "{lines:?}"
        );
    }
}

#[test]
fn header_lines_and_bytes_are_bounded() {
    let mut lines = vec![("cache-control", "max-age=60"), ("date", "@0")];
    lines.resize(HEADER_LINES_MAX, ("x", "1"));
    assert!(kept(&lines).is_ok());
    lines.push(("x", "1"));
    assert_eq!(kept(&lines), Err(NoStore::HeadersTooLarge));
    let long = "x".repeat(HEADER_BYTES_MAX);
    let large = [("cache-control", "max-age=60"), ("x", long.as_str())];
    assert_eq!(kept(&large), Err(NoStore::HeadersTooLarge));
}

#[test]
fn the_weight_covers_the_text() {
    let text = "x".repeat(10_000);
    let small = stored(&[("cache-control", "max-age=60")]);
    let large = stored(&[("cache-control", "max-age=60"), ("x", &text)]);
    assert!(large.weight_bytes() >= small.weight_bytes() + text.len());
    assert!(small.weight_bytes() < 1000, "{}", small.weight_bytes());
}
