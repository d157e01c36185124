//! Which variant of an object answers a request? (RFC 9111 §4.1)

use bytes::Bytes;
use http::HeaderName;
use larder::rules::vary::{VARY_NAMES_MAX, Vary, VarySpec, variant_key};
use proptest::prelude::*;

use super::{Lines, headers};

fn spec(names: &[&'static str]) -> VarySpec {
    VarySpec::new(names.iter().map(|name| HeaderName::from_static(name))).unwrap()
}

fn key(names: &[&'static str], request: Lines<'_>) -> Bytes {
    variant_key(b"http://a/", 7, &spec(names), &headers(request)).unwrap()
}

#[test]
fn vary_fields() {
    let names = |names| Vary::Names(spec(names));
    let table: &[(&[&str], Vary)] = &[
        (&[], Vary::Absent),
        (&[""], Vary::Absent),
        (&[" , "], Vary::Absent),
        (&["Accept"], names(&["accept"])),
        (&["Foo, Bar, foo"], names(&["bar", "foo"])),
        (&["foo", "", "BAR"], names(&["bar", "foo"])),
        (&["*"], Vary::Star),
        (&["*, *"], Vary::Star),
        (&["*", "*"], Vary::Star),
        (&[", *"], Vary::Star),
        (&["", "*"], Vary::Star),
        (&["*, foo"], Vary::Star),
        (&["foo, *"], Vary::Star),
        (&["foo", "*"], Vary::Star),
        (&["foo bar"], Vary::Star),
        (&["\"foo\""], Vary::Star),
    ];
    for (lines, expected) in table {
        let lines: Vec<_> = lines.iter().map(|line| ("vary", *line)).collect();
        assert_eq!(Vary::parse(&headers(&lines)), *expected, "{lines:?}");
    }
}

#[test]
fn names_are_bounded() {
    let list = |count: usize| {
        (0..count)
            .map(|n| format!("f{n}"))
            .collect::<Vec<_>>()
            .join(",")
    };
    assert!(matches!(
        Vary::parse(&headers(&[("vary", &list(VARY_NAMES_MAX))])),
        Vary::Names(_)
    ));
    assert_eq!(
        Vary::parse(&headers(&[("vary", &list(VARY_NAMES_MAX + 1))])),
        Vary::Star
    );
    assert_eq!(VarySpec::new([]), None);
}

#[test]
fn requests_that_say_the_same_share_a_variant() {
    let table: &[(&[&str], Lines<'_>, Lines<'_>)] = &[
        (&["foo"], &[("foo", "1")], &[("foo", "1"), ("other", "3")]),
        (&["foo"], &[], &[("other", "3")]),
        (&["foo"], &[("foo", "1,2")], &[("foo", " 1, 2 ")]),
        (&["foo"], &[("foo", "1, 2")], &[("foo", "1"), ("foo", "2")]),
        (&["foo"], &[("foo", "")], &[("foo", " , ")]),
        (
            &["foo", "bar"],
            &[("foo", "1"), ("bar", "2")],
            &[("bar", "2"), ("foo", "1")],
        ),
        (
            &["accept-encoding"],
            &[("accept-encoding", "gzip, br")],
            &[("accept-encoding", "BR,GZip")],
        ),
        (
            &["accept-encoding"],
            &[("accept-encoding", "gzip;q=1.0, br")],
            &[("accept-encoding", "br , gzip")],
        ),
        (
            &["accept-encoding"],
            &[("accept-encoding", "br;q=0.50")],
            &[("accept-encoding", "br ; Q=0.5")],
        ),
        (
            &["accept-encoding"],
            &[("accept-encoding", "br;q=0.000")],
            &[("accept-encoding", "br;q=0")],
        ),
        (
            &["accept-encoding"],
            &[("accept-encoding", "x-gzip")],
            &[("accept-encoding", "gzip, gzip")],
        ),
        (
            &["accept-encoding"],
            &[("accept-encoding", "gzip"), ("accept-encoding", "br")],
            &[("accept-encoding", "br, gzip")],
        ),
        (
            &["accept-language"],
            &[("accept-language", "EN-us, de;q=0.80")],
            &[("accept-language", "en-US,de; q=0.8")],
        ),
        (
            &["cookie"],
            &[("cookie", "a=1"), ("cookie", "b=2")],
            &[("cookie", "a=1; b=2")],
        ),
    ];
    for (names, one, other) in table {
        assert_eq!(key(names, one), key(names, other), "{one:?} {other:?}");
    }
}

#[test]
fn requests_that_differ_do_not() {
    let table: &[(&[&str], Lines<'_>, Lines<'_>)] = &[
        (&["foo"], &[("foo", "1")], &[("foo", "2")]),
        (&["foo"], &[("foo", "1")], &[]),
        (&["foo"], &[("foo", "")], &[]),
        (&["foo"], &[("foo", "a")], &[("foo", "A")]),
        (&["foo"], &[("foo", "1, 2")], &[("foo", "2, 1")]),
        (&["foo"], &[("foo", "\"1, 2\"")], &[("foo", "\"1,2\"")]),
        (&["foo", "bar"], &[("foo", "1")], &[("bar", "1")]),
        (
            &["foo", "bar"],
            &[("foo", "1"), ("bar", "")],
            &[("foo", "1")],
        ),
        (
            &["accept-encoding"],
            &[("accept-encoding", "br;q=0")],
            &[("accept-encoding", "br")],
        ),
        (
            &["accept-encoding"],
            &[("accept-encoding", "br;q=0.5")],
            &[("accept-encoding", "br;q=0.55")],
        ),
        (
            &["accept-encoding"],
            &[("accept-encoding", "br;q=2")],
            &[("accept-encoding", "br")],
        ),
        (
            &["accept-encoding"],
            &[("accept-encoding", "br;q=1.001")],
            &[("accept-encoding", "br")],
        ),
        (&["accept-encoding"], &[("accept-encoding", "")], &[]),
        (
            &["accept-encoding"],
            &[("accept-encoding", "x-gzipped")],
            &[("accept-encoding", "gzipped")],
        ),
        (
            &["accept-language"],
            &[("accept-language", "en, de")],
            &[("accept-language", "de, en")],
        ),
        (
            &["user-agent"],
            &[("user-agent", "a,b")],
            &[("user-agent", "a, b")],
        ),
    ];
    for (names, one, other) in table {
        assert_ne!(key(names, one), key(names, other), "{one:?} {other:?}");
    }
}

#[test]
fn primary_generation_and_length_are_part_of_it() {
    let spec = spec(&["foo"]);
    let none = headers(&[]);
    let key = |primary: &[u8], generation| variant_key(primary, generation, &spec, &none).unwrap();
    assert_ne!(key(b"http://a/", 1), key(b"http://a/", 2));
    assert_ne!(key(b"http://a/", 1), key(b"http://a/b", 1));
    assert!(
        key(b"http://a/", 1).contains(&0),
        "no primary key has a NUL"
    );
    let long = "x".repeat(larder_store::Key::MAX_BYTES);
    assert_eq!(
        variant_key(b"http://a/", 1, &spec, &headers(&[("foo", &long)])),
        None
    );
}

fn list() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[a-z0-9]{1,4}", 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn lines_and_spaces_never_matter(members in list(), cut in 0usize..5, space in "[ \t]{0,2}") {
        let joined = members.join(",");
        let cut = cut.min(members.len());
        let spaced = |part: &[String]| part.join(&format!("{space},{space}"));
        let (first, second) = (spaced(&members[..cut]), spaced(&members[cut..]));
        let one = key(&["foo"], &[("foo", &joined)]);
        prop_assert_eq!(one, key(&["foo"], &[("foo", &first), ("foo", &second)]));
    }

    #[test]
    fn values_never_run_into_each_other(a in "[a-b]{0,3}", b in "[a-b]{0,3}", c in "[a-b]{0,3}", d in "[a-b]{0,3}") {
        let one = key(&["x", "y"], &[("x", &a), ("y", &b)]);
        let other = key(&["x", "y"], &[("x", &c), ("y", &d)]);
        prop_assert_eq!(one == other, (a, b) == (c, d));
    }

    #[test]
    fn hostile_codings_are_read_without_panic(value in "[ -~]{0,40}") {
        key(&["accept-encoding"], &[("accept-encoding", &value)]);
        key(&["accept-language"], &[("accept-language", &value)]);
    }
}
