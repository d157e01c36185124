//! How long is a response fresh, and how old is it? (RFC 9111 §4.2)

use http::StatusCode;
use larder::rules::cache_control::{DELTA_SECS_MAX, ResponseDirectives};
use larder::rules::date::Millis;
use larder::rules::fresh::{
    FreshPolicy, Lifetime, LifetimeSource as Source, current_age_s, initial_age_ms, lifetime,
};

use super::{ARRIVAL, Lines, after, headers, stored};

const DAY_S: u32 = 24 * 60 * 60;

fn of(status: u16, lines: Lines<'_>) -> (u32, Source) {
    with_policy(status, lines, &FreshPolicy::default())
}

fn with_policy(status: u16, lines: Lines<'_>, policy: &FreshPolicy) -> (u32, Source) {
    let headers = headers(lines);
    let status = StatusCode::from_u16(status).unwrap();
    let directives = ResponseDirectives::parse(&headers);
    let Lifetime { ttl_s, source } = lifetime(status, &headers, &directives, ARRIVAL, policy);
    (ttl_s, source)
}

/// Fields, and the lifetime in seconds that they give, with its source.
const EXPLICIT: &[(Lines<'static>, (u32, Source))] = &[
    (&[], (0, Source::None)),
    (&[("cache-control", "max-age=60")], (60, Source::MaxAge)),
    (
        &[("cache-control", "max-age=60, s-maxage=1")],
        (1, Source::SMaxage),
    ),
    (
        &[
            ("cache-control", "s-maxage=3600"),
            ("cache-control", "max-age=1"),
        ],
        (3600, Source::SMaxage),
    ),
    (
        &[("cache-control", "s-maxage=x, max-age=60")],
        (0, Source::SMaxage),
    ),
    (
        &[("cache-control", "max-age=99999999999")],
        (DELTA_SECS_MAX, Source::MaxAge),
    ),
    (
        &[
            ("cache-control", "max-age=60"),
            ("expires", "@-9"),
            ("date", "@0"),
        ],
        (60, Source::MaxAge),
    ),
    (
        &[("cache-control", "max-age=60"), ("expires", "0")],
        (60, Source::MaxAge),
    ),
    (
        &[("cache-control", "max-age=0"), ("expires", "@60")],
        (0, Source::MaxAge),
    ),
    (
        &[("cache-control", "max-age=-1"), ("expires", "@60")],
        (0, Source::MaxAge),
    ),
    (&[("expires", "@60"), ("date", "@0")], (60, Source::Expires)),
    (&[("expires", "@60")], (60, Source::Expires)),
    (
        &[("expires", "@60"), ("date", "foo")],
        (60, Source::Expires),
    ),
    (&[("expires", "@0"), ("date", "@0")], (0, Source::Expires)),
    (&[("expires", "@-60"), ("date", "@0")], (0, Source::Expires)),
    (
        &[("expires", "@300"), ("date", "@400")],
        (0, Source::Expires),
    ),
    (
        &[("expires", "@10"), ("date", "@-10")],
        (20, Source::Expires),
    ),
    (&[("expires", "0"), ("date", "@0")], (0, Source::Expires)),
    (&[("expires", "-1"), ("date", "@0")], (0, Source::Expires)),
    (&[("expires", ""), ("date", "@0")], (0, Source::Expires)),
    (
        &[("expires", "@60"), ("expires", "@60"), ("date", "@0")],
        (60, Source::Expires),
    ),
    (
        &[("expires", "@60"), ("expires", "@90"), ("date", "@0")],
        (0, Source::Expires),
    ),
    (
        &[("expires", "Fri, 31 Dec 9999 23:59:59 GMT")],
        (DELTA_SECS_MAX, Source::Expires),
    ),
    (
        &[
            ("expires", "0"),
            ("last-modified", "@-1000"),
            ("date", "@0"),
        ],
        (0, Source::Expires),
    ),
    (
        &[
            ("cdn-cache-control", "max-age=60"),
            ("cache-control", "s-maxage=1"),
        ],
        (60, Source::Targeted),
    ),
    (
        &[("cdn-cache-control", "max-age=1, s-maxage=60")],
        (60, Source::Targeted),
    ),
    (
        &[
            ("cdn-cache-control", "foo"),
            ("expires", "@60"),
            ("date", "@0"),
        ],
        (0, Source::None),
    ),
];

#[test]
fn explicit_lifetimes() {
    for (lines, expected) in EXPLICIT {
        assert_eq!(of(200, lines), *expected, "{lines:?}");
    }
}

#[test]
fn heuristic_lifetimes() {
    use Source::{Heuristic, None};
    let table: &[(u16, Lines<'_>, (u32, Source))] = &[
        (
            200,
            &[("last-modified", "@-1000"), ("date", "@0")],
            (100, Heuristic),
        ),
        (200, &[("last-modified", "@-1000")], (100, Heuristic)),
        (
            200,
            &[("last-modified", "@-1000"), ("date", "@-500")],
            (50, Heuristic),
        ),
        (
            200,
            &[("last-modified", "@-5"), ("date", "@0")],
            (0, Heuristic),
        ),
        (
            200,
            &[("last-modified", "@500"), ("date", "@0")],
            (0, Heuristic),
        ),
        (
            200,
            &[("last-modified", "@-900000000"), ("date", "@0")],
            (DAY_S, Heuristic),
        ),
        (
            200,
            &[("last-modified", "long ago"), ("date", "@0")],
            (0, None),
        ),
        (200, &[("etag", "\"a\"")], (0, None)),
        (
            200,
            &[("last-modified", "@-1000"), ("pragma", "no-cache")],
            (0, None),
        ),
        (404, &[("last-modified", "@-1000")], (100, Heuristic)),
        (501, &[("last-modified", "@-1000")], (100, Heuristic)),
        (201, &[("last-modified", "@-1000")], (0, None)),
        (302, &[("last-modified", "@-1000")], (0, None)),
        (403, &[("last-modified", "@-1000")], (0, None)),
        (503, &[("last-modified", "@-1000")], (0, None)),
        (
            599,
            &[("last-modified", "@-1000"), ("cache-control", "public")],
            (100, Heuristic),
        ),
        (
            200,
            &[("last-modified", "@-1000"), ("cdn-cache-control", "foo")],
            (100, Heuristic),
        ),
    ];
    for (status, lines, expected) in table {
        assert_eq!(of(*status, lines), *expected, "{status} {lines:?}");
    }
}

#[test]
fn the_operator_limits_heuristics() {
    let lines = [("last-modified", "@-1000"), ("date", "@0")];
    for (heuristic_fraction, heuristic_max_s, ttl_s) in [
        (0.5, DAY_S, 500),
        (0.1, 60, 60),
        (0.1, 0, 0),
        (7.0, DAY_S, 1000),
        (-1.0, DAY_S, 0),
        (f64::NAN, DAY_S, 0),
    ] {
        let policy = FreshPolicy {
            heuristic_fraction,
            heuristic_max_s,
        };
        assert_eq!(with_policy(200, &lines, &policy).0, ttl_s, "{policy:?}");
    }
}

#[test]
fn initial_ages() {
    // (fields, delay of the response in ms, age in ms)
    let table: &[(Lines<'_>, u64, u64)] = &[
        (&[], 0, 0),
        (&[("date", "@0")], 0, 0),
        (&[("date", "@0")], 2_300, 2_300),
        (&[("date", "@-10")], 0, 10_000),
        (&[("date", "@-10")], 12_000, 12_000),
        (&[("date", "@10")], 0, 0),
        (&[("date", "foo")], 0, 0),
        (&[("age", "30")], 0, 30_000),
        (&[("age", "30")], 2_000, 32_000),
        (&[("age", "30"), ("date", "@-10")], 2_000, 32_000),
        (&[("age", "5"), ("date", "@-10")], 2_000, 10_000),
        (&[("age", "7200, 0")], 0, 7_200_000),
        (&[("age", "7200"), ("age", "0")], 0, 7_200_000),
        (&[("age", "0,7200")], 0, 0),
        (&[("age", "007")], 0, 7_000),
        (&[("age", "abc")], 0, 0),
        (&[("age", "-7200")], 0, 0),
        (&[("age", "7200.0")], 0, 0),
        (&[("age", "")], 0, 0),
        (&[("age", ", 5")], 0, 0),
        (&[("age", "\"5\"")], 0, 0),
        (
            &[("age", "99999999999999999999")],
            0,
            u64::from(DELTA_SECS_MAX) * 1000,
        ),
        (
            &[("date", "Thu, 01 Jan 1970 00:00:00 GMT")],
            0,
            1_000_000_000_000,
        ),
    ];
    for (lines, delay_ms, expected) in table {
        let age_ms = initial_age_ms(&headers(lines), Millis(ARRIVAL.0 - delay_ms), ARRIVAL);
        assert_eq!(age_ms, *expected, "{lines:?} after {delay_ms} ms");
    }
    // A clock that went backwards between request and response.
    assert_eq!(
        initial_age_ms(&headers(&[("age", "3")]), after(60), ARRIVAL),
        3_000
    );
}

#[test]
fn age_grows_with_time_and_stops_at_its_limit() {
    let meta = stored(&[("cache-control", "max-age=60"), ("age", "30")]);
    assert_eq!(current_age_s(&meta, ARRIVAL), 30);
    assert_eq!(current_age_s(&meta, Millis(ARRIVAL.0 + 999)), 30);
    assert_eq!(current_age_s(&meta, after(1)), 31);
    assert_eq!(current_age_s(&meta, Millis(0)), 30);
    assert_eq!(current_age_s(&meta, Millis(u64::MAX)), DELTA_SECS_MAX);
}
