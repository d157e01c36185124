//! May a stale response stand in for a failed origin? (RFC 5861 §4)

use http::StatusCode;
use larder::rules::stale::{OriginFailure, StalePolicy, stale_if_error_allows};

use super::{after, request, stored};

fn allows(age_s: u64, response: &str, req: &str, failure: OriginFailure, on_error_s: u32) -> bool {
    let meta = stored(&[("cache-control", response), ("etag", "\"a\"")]);
    let policy = StalePolicy { on_error_s };
    stale_if_error_allows(&meta, &request(req), after(age_s), failure, &policy)
}

#[test]
fn statuses_that_count_as_errors() {
    for (status, counts) in [
        (200, false),
        (404, false),
        (429, false),
        (499, false),
        (500, true),
        (501, false),
        (502, true),
        (503, true),
        (504, true),
        (505, false),
        (599, false),
    ] {
        let status = StatusCode::from_u16(status).unwrap();
        assert_eq!(
            OriginFailure::from_status(status).is_some(),
            counts,
            "{status}"
        );
        let failure = OriginFailure::Status(status);
        assert_eq!(
            allows(61, "max-age=60, stale-if-error=9", "", failure, 0),
            counts,
            "{status}"
        );
    }
}

#[test]
fn who_allows_and_who_forbids() {
    // (age, response, request, operator's seconds, allowed)
    let table: &[(u64, &str, &str, u32, bool)] = &[
        (61, "max-age=60", "", 0, false),
        (69, "max-age=60, stale-if-error=9", "", 0, true),
        (70, "max-age=60, stale-if-error=9", "", 0, false),
        (61, "max-age=60, stale-if-error=0", "", 99, false),
        (61, "max-age=60, stale-if-error=x", "", 99, false),
        (159, "max-age=60", "", 99, true),
        (160, "max-age=60", "", 99, false),
        (61, "max-age=60", "stale-if-error=9", 0, true),
        (70, "max-age=60", "stale-if-error=9", 0, false),
        (61, "max-age=60, stale-if-error=9", "max-age=0", 0, true),
        (61, "max-age=60, stale-if-error=9", "min-fresh=5", 0, true),
        (61, "max-age=60, stale-if-error=9", "no-cache", 0, false),
        (61, "max-age=60", "max-stale", 0, false),
        (
            61,
            "max-age=60, must-revalidate, stale-if-error=9",
            "",
            99,
            false,
        ),
        (
            61,
            "max-age=60, proxy-revalidate, stale-if-error=9",
            "",
            99,
            false,
        ),
        (61, "max-age=60, no-cache, stale-if-error=9", "", 99, false),
        (61, "s-maxage=60", "", 99, false),
        (61, "s-maxage=60", "stale-if-error=9", 99, false),
        (61, "s-maxage=60, stale-if-error=9", "", 0, true),
        (
            61,
            "max-age=60, must-revalidate",
            "stale-if-error=9",
            99,
            false,
        ),
        // Not stale, but the origin was asked: the request wanted it fresher.
        (30, "max-age=60, stale-if-error=9", "max-age=5", 0, true),
    ];
    for (age_s, response, req, on_error_s, expected) in table {
        let allowed = allows(
            *age_s,
            response,
            req,
            OriginFailure::Unreachable,
            *on_error_s,
        );
        assert_eq!(
            allowed, *expected,
            "{response} / {req} / {on_error_s} s at {age_s} s"
        );
    }
}
