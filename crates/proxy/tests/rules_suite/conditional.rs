//! What of the client's conditions, and the cache's own? (RFC 9110 §13, RFC 9111 §4.3)

use http::StatusCode;
use larder::meta::StoredMeta;
use larder::rules::conditional::{Outcome, evaluate, revalidation_headers, strip_conditionals};

use super::{Lines, headers, lines_of, stored, stored_as};

const FRESH: (&str, &str) = ("cache-control", "max-age=60");

fn is_304(meta: &StoredMeta, request: Lines<'_>) -> bool {
    evaluate(&headers(request), meta) == Outcome::NotModified
}

#[test]
fn if_none_match_compares_weakly() {
    let table: &[(&str, &str, bool)] = &[
        ("\"a\"", "\"a\"", true),
        ("\"a\"", "W/\"a\"", true),
        ("W/\"a\"", "\"a\"", true),
        ("W/\"a\"", "W/\"a\"", true),
        ("\"a\"", "\"b\"", false),
        ("\"a\"", "\"A\"", false),
        ("\"a\"", "\"a\", \"b\"", true),
        ("\"a\"", "\"b\",\"a\" , \"c\"", true),
        ("\"a\"", "\"b\", W/\"a\"", true),
        ("\"a,b\"", "\"a,b\"", true),
        ("\"a\"", "\"b,a\"", false),
        ("\"b\\\"", "\"b\\\", \"c\"", true),
        ("\"\u{fc}\"", "\"\u{fc}\"", true),
        ("\"\"", "\"\"", true),
        ("\"a\"", "*", true),
        ("\"a\"", "\"b\", *", true),
        ("\"*\"", "\"a\"", false),
        ("\"a\"", "", false),
        ("\"a\"", "a", false),
        ("a", "a", true),
        ("\"a\"", "\"a", false),
    ];
    for (etag, condition, expected) in table {
        let meta = stored(&[FRESH, ("etag", etag)]);
        let is_304 = is_304(&meta, &[("if-none-match", condition)]);
        assert_eq!(is_304, *expected, "{etag} against {condition}");
    }
    let two_lines = [("if-none-match", "\"x\""), ("if-none-match", "\"a\"")];
    assert!(is_304(&stored(&[FRESH, ("etag", "\"a\"")]), &two_lines));
}

#[test]
fn without_an_entity_tag_only_the_star_matches() {
    let meta = stored(&[FRESH, ("last-modified", "@-100")]);
    assert!(is_304(&meta, &[("if-none-match", "*")]));
    assert!(!is_304(&meta, &[("if-none-match", "\"a\"")]));
}

#[test]
fn if_modified_since() {
    const AS_RFC_850: &str = "Sunday, 09-Sep-01 01:46:40 GMT";
    let table: &[(Lines<'_>, &str, bool)] = &[
        (&[("last-modified", "@-100")], "@-100", true),
        (&[("last-modified", "@-100")], "@-99", true),
        (&[("last-modified", "@-100")], "@-101", false),
        (&[("last-modified", "@-100")], "@100", true),
        (&[("last-modified", "@0")], AS_RFC_850, true),
        (&[("last-modified", "@1")], AS_RFC_850, false),
        (&[("last-modified", "@-100")], "0", false),
        (&[("last-modified", "@-100")], "", false),
        (&[("last-modified", "never")], "@100", false),
        (&[("date", "@-10")], "@-10", true),
        (&[("date", "@-10")], "@-11", false),
        (&[], "@0", true),
        (&[], "@-1", false),
    ];
    for (lines, since, expected) in table {
        let mut all = vec![FRESH];
        all.extend_from_slice(lines);
        let is_304 = is_304(&stored(&all), &[("if-modified-since", since)]);
        assert_eq!(is_304, *expected, "{lines:?} since {since}");
    }
}

#[test]
fn if_none_match_comes_first_and_the_origins_conditions_do_not_count() {
    let meta = stored(&[FRESH, ("etag", "\"a\""), ("last-modified", "@-100")]);
    let table: &[(Lines<'_>, bool)] = &[
        (&[], false),
        (
            &[("if-none-match", "\"a\""), ("if-modified-since", "@-999")],
            true,
        ),
        (
            &[("if-none-match", "\"b\""), ("if-modified-since", "@0")],
            false,
        ),
        (&[("if-none-match", ""), ("if-modified-since", "@0")], false),
        (&[("if-match", "\"b\"")], false),
        (&[("if-unmodified-since", "@-999")], false),
        (&[("if-match", "\"b\""), ("if-none-match", "\"a\"")], true),
    ];
    for (request, expected) in table {
        assert_eq!(is_304(&meta, request), *expected, "{request:?}");
    }
}

#[test]
fn only_a_200_has_a_304() {
    for status in [203, 204, 301, 404, 500] {
        let status = StatusCode::from_u16(status).unwrap();
        let meta = stored_as(status, &[FRESH, ("etag", "\"a\"")]);
        assert!(!is_304(&meta, &[("if-none-match", "\"a\"")]), "{status}");
    }
}

#[test]
fn a_revalidation_replaces_the_clients_conditions() {
    let asked = [
        ("if-none-match", "\"x\""),
        ("if-none-match", "\"y\""),
        ("if-modified-since", "@-1"),
        ("if-match", "\"x\""),
        ("if-unmodified-since", "@-1"),
        ("if-range", "\"x\""),
        ("range", "bytes=0-1"),
        ("accept", "*/*"),
    ];
    let table: &[(Lines<'_>, Lines<'_>)] = &[
        (
            &[("etag", "W/\"a\""), ("last-modified", "@-9")],
            &[
                ("if-none-match", "W/\"a\""),
                ("if-modified-since", "@-9"),
                ("accept", "*/*"),
            ],
        ),
        (
            &[("etag", "a")],
            &[("if-none-match", "a"), ("accept", "*/*")],
        ),
        (
            &[("last-modified", "@-9")],
            &[("if-modified-since", "@-9"), ("accept", "*/*")],
        ),
        (&[], &[("accept", "*/*")]),
    ];
    for (validators, expected) in table {
        let mut all = vec![FRESH];
        all.extend_from_slice(validators);
        let mut out = headers(&asked);
        revalidation_headers(&stored(&all), &mut out);
        assert_eq!(out, headers(expected), "{validators:?}");
    }
    let mut out = headers(&asked);
    strip_conditionals(&mut out);
    assert_eq!(lines_of(&out), [("accept".to_owned(), "*/*".to_owned())]);
}
