//! What does an unsafe request make invalid? (RFC 9111 §4.4)

use http::uri::PathAndQuery;
use http::{Method, StatusCode};
use larder::rules::invalidate::invalidated;
use larder::rules::normalize::{Scheme, Target};

use super::{Lines, headers};

fn keys(method: &str, status: u16, lines: Lines<'_>) -> Vec<String> {
    let target = Target {
        scheme: Scheme::Http,
        authority: "a.example".to_owned(),
        path_and_query: PathAndQuery::from_static("/b/c/d?q"),
    };
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let status = StatusCode::from_u16(status).unwrap();
    invalidated(&method, status, &target, &headers(lines))
        .into_iter()
        .map(|key| String::from_utf8(key.to_vec()).unwrap())
        .collect()
}

const OWN: &str = "http://a.example/b/c/d?q";

#[test]
fn a_successful_unsafe_request_invalidates_its_target() {
    for method in ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "post", "get"] {
        for (status, invalidates) in [
            (200, true),
            (201, true),
            (204, true),
            (206, true),
            (301, true),
            (303, true),
            (304, true),
            (400, false),
            (404, false),
            (412, false),
            (500, false),
            (503, false),
        ] {
            let keys = keys(method, status, &[("location", "/x")]);
            assert_eq!(!keys.is_empty(), invalidates, "{method} {status}");
            assert!(!invalidates || keys[0] == OWN, "{keys:?}");
        }
    }
    for method in ["GET", "HEAD", "OPTIONS", "TRACE"] {
        assert!(
            keys(method, 200, &[("location", "/x")]).is_empty(),
            "{method}"
        );
    }
}

#[test]
fn locations_resolve_within_the_origin() {
    // (reference, what it invalidates beside the target)
    let table: &[(&str, Option<&str>)] = &[
        ("/x", Some("http://a.example/x")),
        ("/x?y", Some("http://a.example/x?y")),
        ("/x#f", Some("http://a.example/x")),
        ("x", Some("http://a.example/b/c/x")),
        ("x/y?z", Some("http://a.example/b/c/x/y?z")),
        ("./x", Some("http://a.example/b/c/x")),
        ("../x", Some("http://a.example/b/x")),
        ("../../../x", Some("http://a.example/x")),
        ("..", Some("http://a.example/b/")),
        (".", Some("http://a.example/b/c/")),
        ("/x/./y/../z", Some("http://a.example/x/z")),
        ("/x//y", Some("http://a.example/x//y")),
        ("?z", Some("http://a.example/b/c/d?z")),
        ("x?a=/../b:c", Some("http://a.example/b/c/x?a=/../b:c")),
        ("", None),
        ("#f", None),
        ("d?q", None),
        ("http://a.example/x", Some("http://a.example/x")),
        ("HTTP://A.EXAMPLE:80/x", Some("http://a.example/x")),
        ("http://a.example", Some("http://a.example/")),
        ("http://a.example?y", Some("http://a.example/?y")),
        ("//a.example/x", Some("http://a.example/x")),
        ("//a.example/x/..", Some("http://a.example/")),
        ("https://a.example/x", None),
        ("http://a.example:81/x", None),
        ("http://b.example/x", None),
        ("//b.example/x", None),
        ("http://u@a.example/x", None),
        ("http:/x", None),
        ("http:x", None),
        ("mailto:a@a.example", None),
        ("x:y", None),
        ("./x:y", Some("http://a.example/b/c/x:y")),
        ("/a b", None),
        ("/\u{fc}", None),
        ("/a\\b", None),
    ];
    for (reference, other) in table {
        for name in ["location", "content-location"] {
            let expected: Vec<_> = std::iter::once(OWN).chain(*other).collect();
            assert_eq!(
                keys("POST", 201, &[(name, reference)]),
                expected,
                "{name}: {reference}"
            );
        }
    }
}

#[test]
fn both_locations_count_and_none_twice() {
    let two = keys(
        "POST",
        201,
        &[("location", "/x"), ("content-location", "/y")],
    );
    assert_eq!(two, [OWN, "http://a.example/x", "http://a.example/y"]);
    let same = keys(
        "POST",
        201,
        &[("location", "/x"), ("content-location", "/x")],
    );
    assert_eq!(same, [OWN, "http://a.example/x"]);
    let long = format!("/{}", "x".repeat(20 << 10));
    assert_eq!(keys("POST", 201, &[("location", &long)]), [OWN]);
}
