//! Which fields end at this hop? (RFC 9110 §7.6.1)

use larder::rules::hop::{Upgrade, strip_hop_by_hop};

use super::{Lines, headers};

fn check(upgrade: Upgrade, table: &[(Lines<'_>, Lines<'_>)]) {
    for (lines, expected) in table {
        let mut fields = headers(lines);
        strip_hop_by_hop(&mut fields, upgrade);
        assert_eq!(fields, headers(expected), "{lines:?}");
    }
}

#[test]
fn fields_of_the_connection_go() {
    check(
        Upgrade::Strip,
        &[
            (&[], &[]),
            (&[("x", "1"), ("connection", "close")], &[("x", "1")]),
            (
                &[("connection", "a, b"), ("a", "1"), ("b", "2"), ("c", "3")],
                &[("c", "3")],
            ),
            (
                &[
                    ("connection", "A"),
                    ("connection", " ,b"),
                    ("a", "1"),
                    ("b", "2"),
                ],
                &[],
            ),
            (
                &[
                    ("connection", "a b, \"c\", x"),
                    ("a", "1"),
                    ("c", "1"),
                    ("x", "1"),
                ],
                &[("a", "1"), ("c", "1")],
            ),
            (&[("keep-alive", "timeout=5"), ("x", "1")], &[("x", "1")]),
            (&[("proxy-connection", "keep-alive")], &[]),
            (&[("proxy-authenticate", "Basic")], &[]),
            (&[("proxy-authentication-info", "x")], &[]),
            (&[("proxy-authorization", "Basic x")], &[]),
            (&[("trailer", "x")], &[]),
            (
                &[
                    ("transfer-encoding", "chunked"),
                    ("transfer-encoding", "gzip"),
                ],
                &[],
            ),
            (&[("upgrade", "websocket"), ("connection", "upgrade")], &[]),
            (
                &[
                    ("upgrade", "h2c"),
                    ("connection", "upgrade, http2-settings"),
                    ("http2-settings", "x"),
                ],
                &[],
            ),
            (&[("te", "gzip")], &[]),
            (
                &[("te", "gzip;q=0.5, Trailers")],
                &[("te", "trailers"), ("connection", "te")],
            ),
            (
                &[("te", "trailers"), ("connection", "te, close")],
                &[("te", "trailers"), ("connection", "te")],
            ),
        ],
    );
}

#[test]
fn connection_cannot_take_what_others_rely_on() {
    for name in [
        "host",
        "authorization",
        "cookie",
        "cache-control",
        "content-length",
        "age",
        "date",
        "via",
        "forwarded",
        "x-forwarded-for",
        "x-forwarded-proto",
        "x-real-ip",
        "set-cookie",
        "etag",
        "vary",
        "range",
        "content-type",
        "content-encoding",
        "expires",
        "cdn-loop",
        "location",
    ] {
        let listed = name.to_ascii_uppercase();
        let mut fields = headers(&[("connection", &listed), (name, "1")]);
        strip_hop_by_hop(&mut fields, Upgrade::Strip);
        assert_eq!(fields, headers(&[(name, "1")]), "{name}");
    }
}

#[test]
fn an_upgrade_is_kept_when_it_is_asked_for_on_both_fields() {
    check(
        Upgrade::Keep,
        &[
            (
                &[
                    ("connection", "keep-alive, Upgrade, x"),
                    ("upgrade", "websocket"),
                    ("x", "1"),
                ],
                &[("connection", "upgrade"), ("upgrade", "websocket")],
            ),
            (&[("upgrade", "websocket")], &[]),
            (&[("connection", "upgrade")], &[]),
            (
                &[
                    ("connection", "upgrade, te"),
                    ("upgrade", "a"),
                    ("upgrade", "b"),
                    ("te", "trailers"),
                ],
                &[
                    ("te", "trailers"),
                    ("connection", "te"),
                    ("connection", "upgrade"),
                    ("upgrade", "a"),
                    ("upgrade", "b"),
                ],
            ),
        ],
    );
}
