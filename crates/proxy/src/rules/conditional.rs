//! What of conditional requests: the client's to the cache, and the cache's to the origin?
//! (RFC 9110 §13, RFC 9111 §4.3)

use http::header::{
    DATE, ETAG, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE,
    LAST_MODIFIED, RANGE,
};
use http::{HeaderMap, StatusCode};

use super::date;
use super::lists::{Escapes, quoted_members};
use crate::meta::StoredMeta;

/// What a client's preconditions make of a stored response.
///
/// There is no 412: If-Match and If-Unmodified-Since "are not applicable to a cache" (RFC 9111
/// §4.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Send it.
    Full,
    /// The client has it: send 304.
    NotModified,
}

/// Evaluates the preconditions of a GET or HEAD against a stored response that may be used now.
pub fn evaluate(req_headers: &HeaderMap, meta: &StoredMeta) -> Outcome {
    // RFC 9110 §13.2.1: preconditions count where the answer without them would be a 2xx; of
    // these only 200 has a 304.
    if meta.status != StatusCode::OK {
        return Outcome::Full;
    }
    // RFC 9110 §13.2.2: If-Modified-Since counts only without If-None-Match.
    let unchanged = if req_headers.contains_key(IF_NONE_MATCH) {
        none_match_has(req_headers, meta)
    } else {
        unmodified_since(req_headers, meta)
    };
    if unchanged {
        Outcome::NotModified
    } else {
        Outcome::Full
    }
}

/// Makes a request to revalidate `meta`: both validators where both are there (RFC 9111 §4.3.1),
/// instead of whatever the client asked.
pub fn revalidation_headers(meta: &StoredMeta, out: &mut HeaderMap) {
    strip_conditionals(out);
    if let Some(etag) = meta.headers.get(ETAG) {
        out.insert(IF_NONE_MATCH, etag.clone());
    }
    if let Some(modified) = meta.headers.get(LAST_MODIFIED) {
        out.insert(IF_MODIFIED_SINCE, modified.clone());
    }
}

/// Removes what would make the origin's answer less than the whole object.
pub fn strip_conditionals(headers: &mut HeaderMap) {
    for name in [
        IF_MATCH,
        IF_NONE_MATCH,
        IF_MODIFIED_SINCE,
        IF_UNMODIFIED_SINCE,
        IF_RANGE,
        RANGE,
    ] {
        headers.remove(name);
    }
}

/// Whether a response can be revalidated at all.
pub(crate) fn has_validator(headers: &HeaderMap) -> bool {
    headers.contains_key(ETAG) || date::field(headers, LAST_MODIFIED).is_some()
}

/// Weak comparison (RFC 9110 §8.8.3.2): the opaque parts are the same. What is not an entity tag
/// is equal to itself only.
pub(crate) fn weak_eq(one: &[u8], other: &[u8]) -> bool {
    opaque(one) == opaque(other)
}

/// Strong comparison: the same, and neither is weak.
pub(crate) fn strong_eq(one: &[u8], other: &[u8]) -> bool {
    is_strong(one) && one == other
}

/// Whether an entity tag is well-formed and not weak.
pub(crate) fn is_strong(etag: &[u8]) -> bool {
    matches!(etag, [b'"', .., b'"'])
}

/// Whether Last-Modified is a strong validator: the response was made at least a second later
/// (RFC 9110 §8.8.2.2), so it cannot have changed again within that second.
pub(crate) fn last_modified_is_strong(headers: &HeaderMap) -> bool {
    match (
        date::field(headers, LAST_MODIFIED),
        date::field(headers, DATE),
    ) {
        (Some(modified), Some(made)) => made.since(modified) >= 1000,
        _ => false,
    }
}

fn opaque(etag: &[u8]) -> &[u8] {
    etag.strip_prefix(b"W/").unwrap_or(etag)
}

/// RFC 9110 §13.1.2. `*` is true of any stored representation, even one without a tag.
fn none_match_has(req_headers: &HeaderMap, meta: &StoredMeta) -> bool {
    let etag = meta.headers.get(ETAG).map(|etag| etag.as_bytes());
    req_headers
        .get_all(IF_NONE_MATCH)
        .iter()
        .flat_map(|line| quoted_members(line.as_bytes(), Escapes::None))
        .any(|member| member == b"*" || etag.is_some_and(|etag| weak_eq(member, etag)))
}

/// RFC 9110 §13.1.3, with RFC 9111 §4.3.2 for what has no Last-Modified: its Date, or the time
/// of its receipt.
fn unmodified_since(req_headers: &HeaderMap, meta: &StoredMeta) -> bool {
    let Some(since) = date::field(req_headers, IF_MODIFIED_SINCE) else {
        return false;
    };
    let modified = if meta.headers.contains_key(LAST_MODIFIED) {
        date::field(&meta.headers, LAST_MODIFIED)
    } else {
        Some(meta.date().unwrap_or(meta.response_time))
    };
    modified.is_some_and(|modified| modified.as_secs() <= since.as_secs())
}
