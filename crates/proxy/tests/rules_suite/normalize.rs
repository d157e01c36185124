//! Which resource does a request ask for? (RFC 9110 §7.1)

use http::{Method, Uri, Version};
use larder::rules::key::primary_key;
use larder::rules::normalize::{BadRequest, Scheme, TARGET_BYTES_MAX, Target, normalize};
use larder_store::Key;

use super::{Lines, headers};

fn target(
    version: Version,
    method: &str,
    uri: &str,
    lines: Lines<'_>,
) -> Result<Target, BadRequest> {
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let uri: Uri = uri.parse().unwrap_or_else(|error| panic!("{uri}: {error}"));
    normalize(&method, &uri, version, &headers(lines), Scheme::Http)
}

fn key(version: Version, method: &str, uri: &str, lines: Lines<'_>) -> Result<String, BadRequest> {
    let target = target(version, method, uri, lines)?;
    Ok(String::from_utf8(primary_key(&target).to_vec()).unwrap())
}

/// Request target, `Host`, and the key or what is wrong.
const HTTP_1: &[(&str, &str, Result<&str, BadRequest>)] = &[
    ("/", "a.example", Ok("http://a.example/")),
    ("/", "A.Example", Ok("http://a.example/")),
    ("/", "a.example:80", Ok("http://a.example/")),
    ("/", "a.example:", Ok("http://a.example/")),
    ("/", "a.example:0080", Ok("http://a.example/")),
    ("/", "a.example:8080", Ok("http://a.example:8080/")),
    ("/", "a.example:443", Ok("http://a.example:443/")),
    ("/", "10.0.0.1:81", Ok("http://10.0.0.1:81/")),
    ("/", "[::1]", Ok("http://[::1]/")),
    ("/", "[2001:DB8::1]:81", Ok("http://[2001:db8::1]:81/")),
    ("/", "under_score", Ok("http://under_score/")),
    (
        "/A/%2f/../b//?x=%41&Y",
        "a",
        Ok("http://a/A/%2f/../b//?x=%41&Y"),
    ),
    ("/?", "a", Ok("http://a/?")),
    (
        "/a;b=c,d:e@f!$'()*+~",
        "a",
        Ok("http://a/a;b=c,d:e@f!$'()*+~"),
    ),
    ("/{a}|b^c?[d]`", "a", Ok("http://a/{a}|b^c?[d]`")),
    ("/%00", "a", Ok("http://a/%00")),
    (
        "http://a.example/b?c",
        "a.example",
        Ok("http://a.example/b?c"),
    ),
    (
        "HTTP://A.example:80/b",
        "a.EXAMPLE",
        Ok("http://a.example/b"),
    ),
    ("http://a.example", "a.example", Ok("http://a.example/")),
    ("http://a.example?q", "a.example", Ok("http://a.example/?q")),
    ("https://a.example/", "a.example", Ok("http://a.example/")),
    (
        "http://a.example/",
        "b.example",
        Err(BadRequest::HostMismatch),
    ),
    (
        "http://a.example:81/",
        "a.example",
        Err(BadRequest::HostMismatch),
    ),
    (
        "http://u@a.example/",
        "a.example",
        Err(BadRequest::Userinfo),
    ),
    (
        "http://u:p@a.example/",
        "u:p@a.example",
        Err(BadRequest::Userinfo),
    ),
    (
        "ftp://a.example/",
        "a.example",
        Err(BadRequest::TargetInvalid),
    ),
    ("a.example", "a.example", Err(BadRequest::TargetInvalid)),
    ("*", "a", Err(BadRequest::TargetInvalid)),
    ("/", "", Err(BadRequest::HostInvalid)),
    ("/", " ", Err(BadRequest::HostInvalid)),
    ("/", ":80", Err(BadRequest::HostInvalid)),
    ("/", "a b", Err(BadRequest::HostInvalid)),
    ("/", "a,b", Err(BadRequest::HostInvalid)),
    ("/", "a/b", Err(BadRequest::HostInvalid)),
    ("/", "a?b", Err(BadRequest::HostInvalid)),
    ("/", "a#b", Err(BadRequest::HostInvalid)),
    ("/", "a%41", Err(BadRequest::HostInvalid)),
    ("/", "a\\b", Err(BadRequest::HostInvalid)),
    ("/", "http://a", Err(BadRequest::HostInvalid)),
    ("/", "u@a", Err(BadRequest::Userinfo)),
    ("/", "a:+80", Err(BadRequest::HostInvalid)),
    ("/", "a:80x", Err(BadRequest::HostInvalid)),
    ("/", "a:65536", Err(BadRequest::HostInvalid)),
    ("/", "a:80:80", Err(BadRequest::HostInvalid)),
    ("/", "::1", Err(BadRequest::HostInvalid)),
    ("/", "[::1", Err(BadRequest::HostInvalid)),
    ("/", "[::1]x", Err(BadRequest::HostInvalid)),
    ("/", "[a]", Err(BadRequest::HostInvalid)),
    ("/", "\u{fc}.example", Err(BadRequest::HostInvalid)),
    ("/\"", "a", Err(BadRequest::TargetCharacter)),
    ("/a\u{fc}", "a", Err(BadRequest::TargetCharacter)),
];

#[test]
fn targets_of_http_1() {
    for (uri, host, expected) in HTTP_1 {
        let key = key(Version::HTTP_11, "GET", uri, &[("host", host)]);
        assert_eq!(
            key.as_deref(),
            expected.as_ref().map(|key| *key),
            "{uri} on {host}"
        );
    }
}

#[test]
fn exactly_one_host() {
    let twice = [("host", "a"), ("host", "a")];
    let table: &[(Version, &str, Lines<'_>, Result<&str, BadRequest>)] = &[
        (Version::HTTP_11, "/", &[], Err(BadRequest::HostMissing)),
        (
            Version::HTTP_11,
            "http://a/",
            &[],
            Err(BadRequest::HostMissing),
        ),
        (Version::HTTP_11, "/", &twice, Err(BadRequest::HostRepeated)),
        (Version::HTTP_10, "/", &[], Err(BadRequest::HostMissing)),
        (Version::HTTP_10, "/", &[("host", "a")], Ok("http://a/")),
        (Version::HTTP_2, "http://a/", &[], Ok("http://a/")),
        (
            Version::HTTP_2,
            "http://A:80/",
            &[("host", "a")],
            Ok("http://a/"),
        ),
        (
            Version::HTTP_2,
            "http://a/",
            &[("host", "b")],
            Err(BadRequest::HostMismatch),
        ),
        (
            Version::HTTP_2,
            "http://a/",
            &twice,
            Err(BadRequest::HostRepeated),
        ),
        (Version::HTTP_2, "/", &[("host", "a")], Ok("http://a/")),
        (Version::HTTP_2, "/", &[], Err(BadRequest::HostMissing)),
    ];
    for (version, uri, lines, expected) in table {
        let key = key(*version, "GET", uri, lines);
        assert_eq!(
            key.as_deref(),
            expected.as_ref().map(|key| *key),
            "{version:?} {uri} {lines:?}"
        );
    }
}

#[test]
fn methods() {
    let host = [("host", "a")];
    let table: &[(&str, &str, Result<&str, BadRequest>)] = &[
        ("CONNECT", "a:80", Err(BadRequest::Connect)),
        ("TRACE", "/", Err(BadRequest::Trace)),
        ("OPTIONS", "*", Ok("http://a*")),
        ("OPTIONS", "/x", Ok("http://a/x")),
        ("PUT", "/x", Ok("http://a/x")),
        ("M-SEARCH", "/x", Ok("http://a/x")),
    ];
    for (method, uri, expected) in table {
        let key = key(Version::HTTP_11, method, uri, &host);
        assert_eq!(
            key.as_deref(),
            expected.as_ref().map(|key| *key),
            "{method} {uri}"
        );
    }
}

#[test]
fn the_longest_target_has_a_key() {
    let host = format!("{}:65535", "a".repeat(253));
    let longest = format!("/{}", "x".repeat(TARGET_BYTES_MAX - 1));
    let key = key(Version::HTTP_11, "GET", &longest, &[("host", &host)]).unwrap();
    assert!(key.len() <= Key::MAX_BYTES);
    let longer = format!("{longest}x");
    let refused = target(Version::HTTP_11, "GET", &longer, &[("host", &host)]).unwrap_err();
    assert_eq!(
        (refused, refused.status().as_u16()),
        (BadRequest::TargetTooLong, 414)
    );
    let long_host = [("host", host.as_str().replace('a', "aa"))];
    let lines = [("host", long_host[0].1.as_str())];
    assert_eq!(
        target(Version::HTTP_11, "GET", "/", &lines),
        Err(BadRequest::HostInvalid)
    );
}

#[test]
fn https_has_its_own_default_port() {
    for (host, expected) in [("a:443", "https://a/"), ("a:80", "https://a:80/")] {
        let uri = Uri::from_static("/");
        let lines = headers(&[("host", host)]);
        let target = normalize(&Method::GET, &uri, Version::HTTP_11, &lines, Scheme::Https);
        assert_eq!(primary_key(&target.unwrap()), expected, "{host}");
    }
}
