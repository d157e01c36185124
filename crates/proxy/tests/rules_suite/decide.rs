//! May a stored response answer this request now? (RFC 9111 §4)

use larder::rules::cache_control::RequestDirectives;
use larder::rules::cache_status::Fwd;
use larder::rules::date::Millis;
use larder::rules::decide::{Decision, Reason, decide};

use super::{ARRIVAL, after, request, stored};

/// The decision about a response of `age_s` seconds with this Cache-Control.
fn at(age_s: u64, response: &str, req: &str) -> Decision {
    let meta = stored(&[("cache-control", response), ("etag", "\"a\"")]);
    decide(&meta, &request(req), after(age_s))
}

fn named(age_s: u64, response: &str, req: &str) -> &'static str {
    at(age_s, response, req).as_str()
}

#[test]
fn fresh_until_the_lifetime_is_over() {
    let meta = stored(&[("cache-control", "max-age=60"), ("age", "10")]);
    let req = RequestDirectives::default();
    let table = [
        (
            0,
            Decision::Fresh {
                age_s: 10,
                ttl_s: 50,
            },
        ),
        (
            999,
            Decision::Fresh {
                age_s: 10,
                ttl_s: 50,
            },
        ),
        (
            49_999,
            Decision::Fresh {
                age_s: 59,
                ttl_s: 1,
            },
        ),
        (
            50_000,
            Decision::Revalidate {
                reason: Reason::Stale,
            },
        ),
    ];
    for (millis, expected) in table {
        assert_eq!(
            decide(&meta, &req, Millis(ARRIVAL.0 + millis)),
            expected,
            "{millis} ms"
        );
    }
}

#[test]
fn response_directives() {
    let table: &[(u64, &str, &str)] = &[
        (0, "max-age=60", "fresh"),
        (60, "max-age=60", "stale"),
        (0, "max-age=0", "stale"),
        (0, "max-age=60, no-cache", "no-cache"),
        (90, "max-age=60, no-cache", "no-cache"),
        (0, "max-age=60, no-cache=\"a\"", "fresh"),
        (0, "max-age=60, must-revalidate", "fresh"),
        (60, "max-age=60, must-revalidate", "stale"),
        (60, "max-age=60, proxy-revalidate", "stale"),
        (
            70,
            "max-age=60, stale-while-revalidate=10",
            "stale-while-revalidate",
        ),
        (71, "max-age=60, stale-while-revalidate=10", "stale"),
        (61, "max-age=60, stale-while-revalidate=0", "stale"),
        (61, "max-age=60, stale-while-revalidate=x", "stale"),
        (
            61,
            "max-age=60, stale-while-revalidate=99, must-revalidate",
            "stale",
        ),
        (
            61,
            "max-age=60, stale-while-revalidate=99, proxy-revalidate",
            "stale",
        ),
        (
            61,
            "max-age=60, stale-while-revalidate=99, no-cache",
            "no-cache",
        ),
        (
            61,
            "s-maxage=60, stale-while-revalidate=99",
            "stale-while-revalidate",
        ),
        (61, "max-age=60, stale-if-error=99", "stale"),
    ];
    for (age_s, response, expected) in table {
        assert_eq!(
            named(*age_s, response, ""),
            *expected,
            "{response} at {age_s} s"
        );
    }
}

#[test]
fn request_directives() {
    let table: &[(u64, &str, &str, &str)] = &[
        (0, "max-age=60", "no-cache", "request-no-cache"),
        (0, "max-age=60", "no-store", "fresh"),
        (0, "max-age=60", "max-age=0", "request-max-age"),
        (1, "max-age=60", "max-age=0", "request-max-age"),
        (30, "max-age=60", "max-age=30", "fresh"),
        (31, "max-age=60", "max-age=30", "request-max-age"),
        (31, "max-age=60", "max-age=x", "request-max-age"),
        (31, "max-age=60", "max-age=30, max-stale", "request-max-age"),
        (30, "max-age=60", "min-fresh=30", "fresh"),
        (31, "max-age=60", "min-fresh=30", "request-min-fresh"),
        (60, "max-age=60", "min-fresh=0", "stale"),
        (0, "max-age=60", "min-fresh=61", "request-min-fresh"),
        (90, "max-age=60", "max-stale", "max-stale"),
        (90, "max-age=60", "max-stale=30", "max-stale"),
        (91, "max-age=60", "max-stale=30", "stale"),
        (61, "max-age=60", "max-stale=x", "stale"),
        (90, "max-age=60", "max-stale=99, max-age=90", "max-stale"),
        (90, "max-age=60", "max-stale, min-fresh=1", "stale"),
        (90, "max-age=60, must-revalidate", "max-stale", "stale"),
        (90, "max-age=60, proxy-revalidate", "max-stale", "stale"),
        (90, "s-maxage=60", "max-stale", "stale"),
        (90, "max-age=60, no-cache", "max-stale", "no-cache"),
        (
            70,
            "max-age=60, stale-while-revalidate=99",
            "max-age=90",
            "stale",
        ),
        (
            70,
            "max-age=60, stale-while-revalidate=99",
            "min-fresh=1",
            "stale",
        ),
        (
            70,
            "max-age=60, stale-while-revalidate=99",
            "no-cache",
            "request-no-cache",
        ),
        (
            70,
            "max-age=60, stale-while-revalidate=99",
            "max-stale=5",
            "stale-while-revalidate",
        ),
    ];
    for (age_s, response, req, expected) in table {
        assert_eq!(
            named(*age_s, response, req),
            *expected,
            "{response} / {req} at {age_s} s"
        );
    }
}

#[test]
fn only_if_cached_forbids_the_origin() {
    let table: &[(u64, &str, &str, &str)] = &[
        (0, "max-age=60", "only-if-cached", "fresh"),
        (60, "max-age=60", "only-if-cached", "only-if-cached"),
        (60, "max-age=60", "only-if-cached, max-stale", "max-stale"),
        (
            0,
            "max-age=60",
            "only-if-cached, no-cache",
            "only-if-cached",
        ),
        (
            60,
            "max-age=60, stale-while-revalidate=9",
            "only-if-cached",
            "stale-while-revalidate",
        ),
    ];
    for (age_s, response, req, expected) in table {
        assert_eq!(
            named(*age_s, response, req),
            *expected,
            "{response} / {req} at {age_s} s"
        );
    }
}

#[test]
fn a_stale_answer_has_a_negative_ttl() {
    let stale = at(75, "max-age=60", "max-stale");
    assert_eq!(
        stale,
        Decision::Stale {
            age_s: 75,
            ttl_s: -15
        }
    );
    let served = at(61, "max-age=60, stale-while-revalidate=9", "");
    assert_eq!(
        served,
        Decision::StaleWhileRevalidate {
            age_s: 61,
            ttl_s: -1
        }
    );
}

#[test]
fn reasons_say_why_the_request_went_on() {
    for reason in Reason::ALL {
        let by_request = reason.as_str().starts_with("request-");
        assert_eq!(
            reason.fwd(),
            if by_request { Fwd::Request } else { Fwd::Stale },
            "{reason:?}"
        );
    }
}
