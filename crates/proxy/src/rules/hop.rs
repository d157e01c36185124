//! Which fields end at this hop? (RFC 9110 §7.6.1)

use http::header::{
    CONNECTION, HeaderName, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderValue};

use super::lists::{tokens, trim};

/// What becomes of an upgrade that the message asks for or grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upgrade {
    /// It ends here, like everything in Connection.
    Strip,
    /// It goes on: `Upgrade` and `Connection: upgrade` stay, if both were there.
    Keep,
}

/// Fields that end here whether Connection names them or not.
const ALWAYS: [HeaderName; 10] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    HeaderName::from_static("proxy-authentication-info"),
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Fields that Connection cannot take away.
///
/// RFC 9110 §7.6.1 forbids senders to list end-to-end fields, but a client that does it anyway
/// would have a proxy remove them: what tells the origin who asks, what routes, frames or keys the
/// message, what keeps a response private, or what stops a loop.
const PROTECTED: [&str; 35] = [
    // Who asks: without them the origin takes the client for somebody else, or for the proxy.
    "authorization",
    "cookie",
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-proto",
    "x-real-ip",
    "origin",
    "referer",
    // Which resource and variant: the key was made with them.
    "host",
    "accept",
    "accept-encoding",
    "accept-language",
    "range",
    // Where the message ends and what its bytes are.
    "content-encoding",
    "content-length",
    "content-range",
    "content-type",
    // Whether and for how long it may be stored, and for whom.
    "age",
    "cache-control",
    "cdn-cache-control",
    "date",
    "etag",
    "expires",
    "last-modified",
    "pragma",
    "set-cookie",
    "vary",
    // Where the client is sent, and what invalidates.
    "location",
    "content-location",
    // Which way it came: loop detection.
    "via",
    "cdn-loop",
    "cache-status",
    "max-forwards",
];

/// Removes what concerns only the connection that a message came over.
///
/// `TE: trailers` is renewed for the next connection, together with its Connection option (RFC
/// 9110 §10.1.4); any other TE goes. Work is linear in the Connection field, whose length the
/// message's header limit bounds.
pub fn strip_hop_by_hop(headers: &mut HeaderMap, upgrade: Upgrade) {
    let protocols = kept_upgrade(headers, upgrade);
    let trailers = tokens(headers, TE).any(is_trailers);
    let listed: Vec<HeaderName> = tokens(headers, CONNECTION)
        .filter_map(|option| HeaderName::from_bytes(option).ok())
        .filter(|name| !PROTECTED.contains(&name.as_str()))
        .collect();
    for name in listed.iter().chain(&ALWAYS) {
        headers.remove(name);
    }
    if trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
        headers.append(CONNECTION, HeaderValue::from_static("te"));
    }
    if !protocols.is_empty() {
        headers.append(CONNECTION, HeaderValue::from_static("upgrade"));
    }
    for protocol in protocols {
        headers.append(UPGRADE, protocol);
    }
}

fn kept_upgrade(headers: &HeaderMap, upgrade: Upgrade) -> Vec<HeaderValue> {
    let listed = || tokens(headers, CONNECTION).any(|t| t.eq_ignore_ascii_case(b"upgrade"));
    if upgrade == Upgrade::Keep && headers.contains_key(UPGRADE) && listed() {
        headers.get_all(UPGRADE).iter().cloned().collect()
    } else {
        Vec::new()
    }
}

/// `trailers`, with or without parameters.
fn is_trailers(member: &[u8]) -> bool {
    let token = member
        .split(|&byte| byte == b';')
        .next()
        .unwrap_or_default();
    trim(token).eq_ignore_ascii_case(b"trailers")
}
