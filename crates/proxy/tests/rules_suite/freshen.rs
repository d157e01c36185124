//! What does a 304 change in a stored response? (RFC 9111 §3.2, §4.3.4)

use larder::meta::{Flags, StoredMeta};
use larder::rules::cacheable::NoStore;
use larder::rules::date::Millis;
use larder::rules::fresh::{FreshPolicy, current_age_s};
use larder::rules::freshen::{freshen, matches_304};

use super::{Lines, after, headers, stored};

const FRESH: (&str, &str) = ("cache-control", "max-age=60");

#[test]
fn a_304_must_speak_of_what_is_stored() {
    let table: &[(Lines<'_>, Lines<'_>, bool)] = &[
        (&[("etag", "\"a\"")], &[("etag", "\"a\"")], true),
        (&[("etag", "\"a\"")], &[("etag", "\"b\"")], false),
        (&[("etag", "\"a\"")], &[("etag", "W/\"a\"")], true),
        (&[("etag", "W/\"a\"")], &[("etag", "W/\"a\"")], true),
        (&[("etag", "W/\"a\"")], &[("etag", "\"a\"")], false),
        (&[("etag", "W/\"a\"")], &[("etag", "W/\"b\"")], false),
        (&[("etag", "a")], &[("etag", "a")], true),
        (&[("etag", "\"a\"")], &[], true),
        (
            &[("etag", "\"a\""), ("last-modified", "@-9")],
            &[("last-modified", "@-9")],
            true,
        ),
        (
            &[("etag", "\"a\""), ("last-modified", "@-9")],
            &[("last-modified", "@-8")],
            false,
        ),
        (
            &[("etag", "\"a\""), ("last-modified", "@-9")],
            &[("etag", "\"a\""), ("last-modified", "@-8")],
            true,
        ),
        (
            &[("etag", "\"a\""), ("last-modified", "@-9")],
            &[("etag", "\"b\""), ("last-modified", "@-9")],
            false,
        ),
        (&[("etag", "\"a\"")], &[("last-modified", "@-9")], false),
        (
            &[("last-modified", "@-9")],
            &[("last-modified", "@-9")],
            true,
        ),
        (
            &[("last-modified", "@-9")],
            &[("last-modified", "@-8")],
            false,
        ),
        (&[("last-modified", "@-9")], &[], true),
        (&[("last-modified", "@-9")], &[("etag", "\"a\"")], false),
        (&[("last-modified", "@-9")], &[("etag", "W/\"a\"")], false),
        (
            &[("last-modified", "@-9")],
            &[("etag", "\"a\""), ("last-modified", "@-9")],
            true,
        ),
        (
            &[("last-modified", "@0"), ("date", "@0")],
            &[("etag", "\"a\""), ("last-modified", "@0")],
            false,
        ),
        (
            &[("last-modified", "@0"), ("date", "@0")],
            &[("etag", "W/\"a\""), ("last-modified", "@0")],
            true,
        ),
        (&[], &[], true),
    ];
    for (lines, from_304, expected) in table {
        let mut all = vec![FRESH];
        all.extend_from_slice(lines);
        let matches = matches_304(&stored(&all), &headers(from_304));
        assert_eq!(matches, *expected, "{lines:?} after {from_304:?}");
    }
}

#[test]
fn fields_are_replaced_added_or_kept() {
    let table: &[(Lines<'_>, Lines<'_>, Lines<'_>)] = &[
        (&[("x", "1")], &[], &[("x", "1")]),
        (&[("x", "1")], &[("x", "2")], &[("x", "2")]),
        (&[("x", "1"), ("x", "2")], &[("x", "3")], &[("x", "3")]),
        (
            &[("x", "1")],
            &[("x", "2"), ("x", "3")],
            &[("x", "2"), ("x", "3")],
        ),
        (&[("x", "1")], &[("y", "2")], &[("x", "1"), ("y", "2")]),
        (
            &[("content-type", "text/plain")],
            &[("content-type", "text/html")],
            &[("content-type", "text/html")],
        ),
        (
            &[("content-foo", "1")],
            &[("content-foo", "2")],
            &[("content-foo", "2")],
        ),
        (
            &[("set-cookie", "a=1")],
            &[("set-cookie", "a=2"), ("set-cookie", "b=3")],
            &[("set-cookie", "a=2"), ("set-cookie", "b=3")],
        ),
        (
            &[("content-length", "5")],
            &[("content-length", "0")],
            &[("content-length", "5")],
        ),
        (&[], &[("content-length", "0")], &[]),
        (
            &[("content-encoding", "gzip")],
            &[("content-encoding", "br")],
            &[("content-encoding", "gzip")],
        ),
        (&[], &[("content-range", "bytes 0-1/2")], &[]),
        (
            &[],
            &[
                ("transfer-encoding", "chunked"),
                ("keep-alive", "5"),
                ("connection", "x"),
                ("x", "1"),
            ],
            &[],
        ),
        (
            &[("x", "1")],
            &[("connection", "x"), ("x", "2")],
            &[("x", "1")],
        ),
    ];
    for (lines, from_304, expected) in table {
        let mut fields = headers(lines);
        freshen(&mut fields, &headers(from_304));
        assert_eq!(fields, headers(expected), "{lines:?} after {from_304:?}");
    }
}

fn freshened(meta: &StoredMeta, lines: Lines<'_>, at_s: u64) -> Result<StoredMeta, NoStore> {
    meta.freshened(
        &headers(lines),
        after(at_s),
        after(at_s),
        &FreshPolicy::default(),
    )
}

#[test]
fn age_and_lifetime_are_counted_anew() {
    let meta = stored(&[
        ("cache-control", "max-age=60, must-revalidate"),
        ("etag", "\"a\""),
        ("age", "30"),
        ("x", "1"),
    ]);
    // (304, seconds after arrival, lifetime, age)
    let table: &[(Lines<'_>, u32, u32)] = &[
        (&[], 60, 0),
        (&[("date", "@100")], 60, 0),
        (&[("date", "@90")], 60, 10),
        (&[("age", "7")], 60, 7),
        (&[("cache-control", "max-age=5")], 5, 0),
        (&[("cdn-cache-control", "max-age=9")], 9, 0),
    ];
    for (from_304, ttl_s, age_s) in table {
        let fresh = freshened(&meta, from_304, 100).unwrap();
        assert_eq!(
            (fresh.ttl_s, current_age_s(&fresh, after(100))),
            (*ttl_s, *age_s),
            "{from_304:?}"
        );
        assert!(!fresh.headers.contains_key("age"));
        assert_eq!(fresh.headers["x"], "1");
        assert!(
            fresh.date().unwrap() >= Millis(after(90).0 - 500),
            "{from_304:?}"
        );
    }
    assert_eq!(
        freshened(&meta, &[], 100).unwrap().flags,
        Flags::MUST_REVALIDATE
    );
    let replaced = freshened(&meta, &[("cache-control", "s-maxage=5")], 100).unwrap();
    assert_eq!(replaced.flags, Flags::S_MAXAGE);
}
