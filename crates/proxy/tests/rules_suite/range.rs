//! Which part of a stored object does a request want? (RFC 9110 §14)

use http::StatusCode;
use larder::rules::range::{
    RANGES_MAX, RangeOutcome, evaluate, partial_headers, unsatisfiable_headers,
};
use proptest::prelude::*;

use super::{Lines, headers, stored, stored_as};

const FRESH: (&str, &str) = ("cache-control", "max-age=60");

fn outcome(range: &str, body_bytes: u64) -> RangeOutcome {
    evaluate(&headers(&[("range", range)]), &stored(&[FRESH]), body_bytes)
}

#[test]
fn ranges_of_ten_bytes() {
    use RangeOutcome::{Full, Partial, Unsatisfiable};
    let table: &[(&str, RangeOutcome)] = &[
        ("bytes=0-1", Partial(0..2)),
        ("bytes=0-0", Partial(0..1)),
        ("bytes=1-", Partial(1..10)),
        ("bytes=0-", Partial(0..10)),
        ("bytes=9-", Partial(9..10)),
        ("bytes=5-99", Partial(5..10)),
        ("bytes=5-99999999999999999999999", Partial(5..10)),
        ("bytes=-1", Partial(9..10)),
        ("bytes=-10", Partial(0..10)),
        ("bytes=-99", Partial(0..10)),
        ("BYTES=0-1", Partial(0..2)),
        ("bytes= 0-1 ", Partial(0..2)),
        ("bytes=,0-1,", Partial(0..2)),
        ("bytes=10-", Unsatisfiable),
        ("bytes=10-20", Unsatisfiable),
        ("bytes=99999999999999999999999-", Unsatisfiable),
        ("bytes=-0", Unsatisfiable),
        ("bytes=10-, -0", Unsatisfiable),
        ("bytes=0-1, 10-20", Partial(0..2)),
        ("bytes=0-1,2-3", Partial(0..4)),
        ("bytes=2-3,0-1", Partial(0..4)),
        ("bytes=0-5,3-8", Partial(0..9)),
        ("bytes=0-9,3-4", Partial(0..10)),
        ("bytes=0-4,-5", Partial(0..10)),
        ("bytes=0-1,3-4", Full),
        ("bytes=0-1,-1", Full),
        ("bytes=5-4", Full),
        ("bytes=0-1,5-4", Full),
        ("bytes=", Full),
        ("bytes=-", Full),
        ("bytes=,", Full),
        ("bytes", Full),
        ("bytes 0-1", Full),
        ("bytes =0-1", Full),
        ("bytes=a-b", Full),
        ("bytes=0x0-1", Full),
        ("bytes=+0-1", Full),
        ("bytes=0 -1", Full),
        ("bytes=0-1-2", Full),
        ("bytes=--1", Full),
        ("bytes=0-1;2-3", Full),
        ("seconds=0-1", Full),
        ("", Full),
    ];
    for (range, expected) in table {
        assert_eq!(outcome(range, 10), *expected, "{range}");
    }
}

#[test]
fn ranges_of_nothing() {
    use RangeOutcome::{Full, Unsatisfiable};
    for (range, expected) in [
        ("bytes=0-", Unsatisfiable),
        ("bytes=0-0", Unsatisfiable),
        ("bytes=-0", Unsatisfiable),
        ("bytes=-5", Full),
        ("bytes=0-, -5", Full),
    ] {
        assert_eq!(outcome(range, 0), expected, "{range}");
    }
    assert_eq!(
        outcome("bytes=0-18446744073709551615", u64::MAX),
        RangeOutcome::Partial(0..u64::MAX)
    );
}

#[test]
fn many_ranges_and_lines_get_the_whole() {
    let ranges = |count: u64| {
        let list: Vec<_> = (0..count).map(|at| format!("{at}-{at}")).collect();
        format!("bytes={}", list.join(","))
    };
    let max = RANGES_MAX as u64;
    assert_eq!(outcome(&ranges(max), 99), RangeOutcome::Partial(0..max));
    assert_eq!(outcome(&ranges(max + 1), 99), RangeOutcome::Full);
    let two = headers(&[("range", "bytes=0-1"), ("range", "bytes=0-1")]);
    assert_eq!(evaluate(&two, &stored(&[FRESH]), 10), RangeOutcome::Full);
}

#[test]
fn only_a_200_has_parts() {
    for status in [203, 301, 404] {
        let meta = stored_as(StatusCode::from_u16(status).unwrap(), &[FRESH]);
        let outcome = evaluate(&headers(&[("range", "bytes=0-1")]), &meta, 10);
        assert_eq!(outcome, RangeOutcome::Full, "{status}");
    }
}

#[test]
fn if_range_compares_strongly() {
    let table: &[(Lines<'_>, &str, bool)] = &[
        (&[("etag", "\"a\"")], "\"a\"", true),
        (&[("etag", "\"a\"")], "\"b\"", false),
        (&[("etag", "\"a\"")], "W/\"a\"", false),
        (&[("etag", "W/\"a\"")], "W/\"a\"", false),
        (&[("etag", "W/\"a\"")], "\"a\"", false),
        (&[("etag", "\"a\"")], "\"b\", \"a\"", false),
        (&[("etag", "\"a\"")], "*", false),
        (&[("etag", "a")], "a", false),
        (&[], "\"a\"", false),
        (&[("last-modified", "@-9"), ("date", "@0")], "@-9", true),
        (&[("last-modified", "@-1"), ("date", "@0")], "@-1", true),
        (&[("last-modified", "@0"), ("date", "@0")], "@0", false),
        (&[("last-modified", "@-9"), ("date", "@0")], "@-8", false),
        (&[("last-modified", "@-9"), ("date", "@0")], "@-10", false),
        (&[("date", "@0")], "@0", false),
        (
            &[("last-modified", "@-9"), ("etag", "\"a\"")],
            "soon",
            false,
        ),
    ];
    for (lines, condition, holds) in table {
        let mut all = vec![FRESH];
        all.extend_from_slice(lines);
        let request = headers(&[("range", "bytes=0-1"), ("if-range", condition)]);
        let expected = if *holds {
            RangeOutcome::Partial(0..2)
        } else {
            RangeOutcome::Full
        };
        assert_eq!(
            evaluate(&request, &stored(&all), 10),
            expected,
            "{lines:?} {condition}"
        );
    }
}

#[test]
fn fields_of_parts_and_refusals() {
    let whole = [
        ("content-length", "10"),
        ("content-type", "text/plain"),
        ("etag", "\"a\""),
    ];
    let mut part = headers(&whole);
    partial_headers(&mut part, &(2..5), 10);
    assert_eq!(
        part,
        headers(&[
            ("content-length", "3"),
            ("content-type", "text/plain"),
            ("etag", "\"a\""),
            ("content-range", "bytes 2-4/10"),
        ])
    );
    let mut refusal = headers(&whole);
    unsatisfiable_headers(&mut refusal, 10);
    assert_eq!(
        refusal,
        headers(&[
            ("content-length", "0"),
            ("content-range", "bytes */10"),
            ("accept-ranges", "bytes"),
        ])
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_part_is_within_the_object(range in "bytes=[0-9,\\- ]{0,24}", body_bytes in 0u64..2000) {
        if let RangeOutcome::Partial(part) = outcome(&range, body_bytes) {
            prop_assert!(part.start < part.end && part.end <= body_bytes);
        }
    }

    #[test]
    fn one_range_is_what_a_slice_would_be(first in 0u64..20, last in 0u64..20, body_bytes in 0u64..16) {
        let body: Vec<u64> = (0..body_bytes).collect();
        let named: Vec<u64> = body.iter().copied().filter(|at| (first..=last).contains(at)).collect();
        let expected = match (first <= last, named.first(), named.last()) {
            (false, ..) => RangeOutcome::Full,
            (true, Some(start), Some(end)) => RangeOutcome::Partial(*start..end + 1),
            (true, ..) => RangeOutcome::Unsatisfiable,
        };
        prop_assert_eq!(outcome(&format!("bytes={first}-{last}"), body_bytes), expected);
    }
}
