//! May this response be stored? (RFC 9111 §3)

use http::{Method, StatusCode};
use larder::rules::cache_control::{RequestDirectives, ResponseDirectives};
use larder::rules::cacheable::{NoStore, StorePolicy, storable};

use super::{Lines, headers};

fn verdict(
    method: &Method,
    request: Lines<'_>,
    status: u16,
    response: Lines<'_>,
) -> Result<(), NoStore> {
    with_policy(method, request, status, response, StorePolicy::default())
}

fn with_policy(
    method: &Method,
    request: Lines<'_>,
    status: u16,
    response: Lines<'_>,
    policy: StorePolicy,
) -> Result<(), NoStore> {
    let (request, response) = (headers(request), headers(response));
    storable(
        method,
        &request,
        &RequestDirectives::parse(&request),
        StatusCode::from_u16(status).unwrap(),
        &response,
        &ResponseDirectives::parse(&response),
        &policy,
    )
}

const FRESH: (&str, &str) = ("cache-control", "max-age=3600");

#[test]
fn only_get_is_stored() {
    for method in [
        "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "M-SEARCH", "get",
    ] {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        assert_eq!(
            verdict(&method, &[], 200, &[FRESH]),
            Err(NoStore::Method),
            "{method}"
        );
    }
    assert_eq!(verdict(&Method::GET, &[], 200, &[FRESH]), Ok(()));
}

#[test]
fn any_final_status_with_an_explicit_lifetime() {
    for status in [
        200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 499, 500, 502, 503, 504, 599,
    ] {
        assert_eq!(
            verdict(&Method::GET, &[], status, &[FRESH]),
            Ok(()),
            "{status}"
        );
    }
    for (status, reason) in [
        (100, NoStore::Status),
        (103, NoStore::Status),
        (206, NoStore::Partial),
        (304, NoStore::NotModified),
    ] {
        assert_eq!(
            verdict(&Method::GET, &[], status, &[FRESH]),
            Err(reason),
            "{status}"
        );
    }
}

#[test]
fn statuses_without_an_explicit_lifetime() {
    let validated = [("last-modified", "@-1000"), ("date", "@0")];
    for status in [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501] {
        assert_eq!(
            verdict(&Method::GET, &[], status, &validated),
            Ok(()),
            "{status}"
        );
        let bare = verdict(&Method::GET, &[], status, &[]);
        assert_eq!(bare, Err(NoStore::NoFreshness), "{status}");
    }
    for status in [
        201, 202, 302, 303, 307, 400, 403, 416, 500, 502, 503, 504, 599,
    ] {
        let lines = &validated;
        let verdict = verdict(&Method::GET, &[], status, lines);
        assert_eq!(verdict, Err(NoStore::NoFreshness), "{status}");
        let public = [validated[0], validated[1], ("cache-control", "public")];
        assert_eq!(
            super::storable::verdict(&Method::GET, &[], status, &public),
            Ok(()),
            "{status}"
        );
    }
}

/// Fields of a response, and whether they let it be stored.
const RESPONSE_FIELDS: &[(Lines<'static>, Result<(), NoStore>)] = &[
    (&[], Err(NoStore::NoFreshness)),
    (&[("cache-control", "foo")], Err(NoStore::NoFreshness)),
    (&[("etag", "\"a\"")], Ok(())),
    (&[("last-modified", "@-9")], Ok(())),
    (&[("last-modified", "yesterday")], Err(NoStore::NoFreshness)),
    (&[("expires", "@60")], Ok(())),
    (&[("expires", "0")], Ok(())),
    (&[("cache-control", "s-maxage=1")], Ok(())),
    (&[("cache-control", "max-age=x")], Ok(())),
    (
        &[("cache-control", "no-store")],
        Err(NoStore::ResponseNoStore),
    ),
    (
        &[("cache-control", "max-age=9, No-Store"), ("expires", "@9")],
        Err(NoStore::ResponseNoStore),
    ),
    (
        &[
            ("cache-control", "max-age=9"),
            ("cache-control", "no-store"),
        ],
        Err(NoStore::ResponseNoStore),
    ),
    (&[("cache-control", "max-age=9, x=\"no-store\"")], Ok(())),
    (
        &[("cache-control", "private, max-age=9")],
        Err(NoStore::Private),
    ),
    (
        &[("cache-control", "private, s-maxage=9, public")],
        Err(NoStore::Private),
    ),
    (
        &[("cache-control", "private=\"x-user\", max-age=9")],
        Ok(()),
    ),
    (
        &[("cache-control", "private=\"\", max-age=9")],
        Err(NoStore::Private),
    ),
    (&[("cache-control", "no-cache"), ("etag", "\"a\"")], Ok(())),
    (
        &[("cache-control", "no-store, must-understand, max-age=9")],
        Ok(()),
    ),
    (&[("pragma", "no-cache"), FRESH], Ok(())),
    (&[("vary", "*"), FRESH], Err(NoStore::VaryStar)),
    (&[("vary", "accept, *"), FRESH], Err(NoStore::VaryStar)),
    (&[("vary", "accept, accept-encoding"), FRESH], Ok(())),
    (&[("vary", "not a name"), FRESH], Err(NoStore::VaryStar)),
    (
        &[
            ("cdn-cache-control", "max-age=9"),
            ("cache-control", "no-store"),
        ],
        Ok(()),
    ),
    (
        &[
            ("cdn-cache-control", "max-age=9"),
            ("cache-control", "private"),
        ],
        Ok(()),
    ),
    (
        &[("cdn-cache-control", "no-store"), FRESH],
        Err(NoStore::ResponseNoStore),
    ),
    (
        &[("cdn-cache-control", "private"), FRESH],
        Err(NoStore::Private),
    ),
    (
        &[("cdn-cache-control", "foo"), FRESH, ("expires", "@9")],
        Err(NoStore::NoFreshness),
    ),
    (
        &[
            ("cdn-cache-control", "max-age=9, &"),
            ("cache-control", "no-store"),
        ],
        Err(NoStore::ResponseNoStore),
    ),
];

#[test]
fn response_fields() {
    for (lines, expected) in RESPONSE_FIELDS {
        assert_eq!(
            verdict(&Method::GET, &[], 200, lines),
            *expected,
            "{lines:?}"
        );
    }
}

#[test]
fn must_understand_needs_a_known_status() {
    let lines = [("cache-control", "must-understand, no-store, max-age=9")];
    for status in [200, 301, 404, 451, 500, 503] {
        let known = status != 451;
        let expected = if known { Ok(()) } else { Err(NoStore::Status) };
        assert_eq!(
            verdict(&Method::GET, &[], status, &lines),
            expected,
            "{status}"
        );
    }
    assert_eq!(
        verdict(&Method::GET, &[], 299, &lines),
        Err(NoStore::Status)
    );
}

#[test]
fn request_fields() {
    let table: &[(Lines<'_>, &str, Result<(), NoStore>)] = &[
        (
            &[("cache-control", "no-store")],
            "max-age=9",
            Err(NoStore::RequestNoStore),
        ),
        (&[("cache-control", "no-cache")], "max-age=9", Ok(())),
        (&[("pragma", "no-store")], "max-age=9", Ok(())),
        (&[("cookie", "a=b")], "max-age=9", Ok(())),
        (
            &[("authorization", "Basic x")],
            "max-age=9",
            Err(NoStore::Authorization),
        ),
        (
            &[("authorization", "")],
            "max-age=9",
            Err(NoStore::Authorization),
        ),
        (
            &[("authorization", "Basic x")],
            "max-age=9, proxy-revalidate",
            Err(NoStore::Authorization),
        ),
        (
            &[("authorization", "Basic x")],
            "max-age=9, no-cache",
            Err(NoStore::Authorization),
        ),
        (&[("authorization", "Basic x")], "max-age=9, public", Ok(())),
        (
            &[("authorization", "Basic x")],
            "max-age=9, must-revalidate",
            Ok(()),
        ),
        (&[("authorization", "Basic x")], "s-maxage=9", Ok(())),
        (
            &[("authorization", "Basic x")],
            "public, no-store",
            Err(NoStore::ResponseNoStore),
        ),
    ];
    for (request, cache_control, expected) in table {
        let response = [("cache-control", *cache_control)];
        let verdict = verdict(&Method::GET, request, 200, &response);
        assert_eq!(verdict, *expected, "{request:?} {cache_control}");
    }
}

#[test]
fn cookies() {
    let allow = StorePolicy { set_cookie: true };
    let table: &[(&str, StorePolicy, Result<(), NoStore>)] = &[
        ("max-age=9", StorePolicy::default(), Err(NoStore::SetCookie)),
        (
            "public, s-maxage=9",
            StorePolicy::default(),
            Err(NoStore::SetCookie),
        ),
        ("max-age=9", allow, Ok(())),
        (
            "max-age=9, no-cache=\"set-cookie\"",
            StorePolicy::default(),
            Ok(()),
        ),
        (
            "max-age=9, private=\"Set-Cookie, x\"",
            StorePolicy::default(),
            Ok(()),
        ),
        (
            "max-age=9, private=\"set-cookie2\"",
            StorePolicy::default(),
            Err(NoStore::SetCookie),
        ),
        (
            "max-age=9, no-cache=\"set-cookie",
            StorePolicy::default(),
            Err(NoStore::SetCookie),
        ),
    ];
    for (cache_control, policy, expected) in table {
        let response = [("cache-control", *cache_control), ("set-cookie", "a=b")];
        let verdict = with_policy(&Method::GET, &[], 200, &response, *policy);
        assert_eq!(verdict, *expected, "{cache_control}");
    }
}
