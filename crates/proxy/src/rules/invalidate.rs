//! What does an unsafe request make invalid? (RFC 9111 §4.4)

use bytes::Bytes;
use http::header::{CONTENT_LOCATION, LOCATION};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use smallvec::SmallVec;

use super::key::primary_key;
use super::normalize::{TARGET_BYTES_MAX, Target, is_target_byte, parse_authority};

/// Keys that one response can invalidate: its own, Location and Content-Location.
pub const KEYS_MAX: usize = 3;

/// The primary keys that a response makes invalid, none twice.
///
/// Only a non-error answer to an unsafe method does, "including methods whose safety is unknown".
/// Location and Content-Location count within the target's origin alone: "a cache MUST NOT
/// trigger an invalidation under these conditions if the origin of the URI to be invalidated
/// differs".
pub fn invalidated(
    method: &Method,
    status: StatusCode,
    target: &Target,
    headers: &HeaderMap,
) -> SmallVec<[Bytes; KEYS_MAX]> {
    let mut keys = SmallVec::new();
    if is_safe(method) || !(status.is_success() || status.is_redirection()) {
        return keys;
    }
    keys.push(primary_key(target));
    for name in [LOCATION, CONTENT_LOCATION] {
        if let Some(other) = headers.get(name).and_then(|value| resolve(target, value)) {
            let key = primary_key(&other);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    keys
}

/// RFC 9110 §9.2.1.
pub fn is_safe(method: &Method) -> bool {
    matches!(
        *method,
        Method::GET | Method::HEAD | Method::OPTIONS | Method::TRACE
    )
}

/// The target of a URI reference within the origin of `base` (RFC 3986 §5.2); `None` elsewhere.
fn resolve(base: &Target, reference: &HeaderValue) -> Option<Target> {
    let reference = reference.to_str().ok()?;
    // A fragment is no part of what is stored.
    let reference = reference.split('#').next().unwrap_or_default();
    let path_and_query = match after_scheme(base, reference)? {
        Reference::Network(rest) => {
            let end = rest.find(['/', '?']).unwrap_or(rest.len());
            let (authority, path) = rest.split_at_checked(end)?;
            if parse_authority(authority.as_bytes(), base.scheme).ok()? != base.authority {
                return None;
            }
            absolute(path)
        }
        Reference::Path(path) => merged(base.path_and_query.as_str(), path),
    };
    if path_and_query.len() > TARGET_BYTES_MAX || !path_and_query.bytes().all(is_target_byte) {
        return None;
    }
    let path_and_query = PathAndQuery::try_from(path_and_query).ok()?;
    Some(Target {
        path_and_query,
        ..base.clone()
    })
}

enum Reference<'a> {
    /// What follows `//`.
    Network(&'a str),
    /// A path or a query, relative or not.
    Path(&'a str),
}

/// `None` for another scheme.
fn after_scheme<'a>(base: &Target, reference: &'a str) -> Option<Reference<'a>> {
    let path_end = reference.find(['/', '?']).unwrap_or(reference.len());
    let rest = match reference.get(..path_end)?.find(':') {
        Some(colon) => {
            let (scheme, rest) = reference.split_at_checked(colon)?;
            if !scheme.eq_ignore_ascii_case(base.scheme.as_str()) {
                return None;
            }
            // With a scheme, http needs an authority.
            return rest.strip_prefix("://").map(Reference::Network);
        }
        None => reference,
    };
    Some(
        rest.strip_prefix("//")
            .map_or(Reference::Path(rest), Reference::Network),
    )
}

/// A path after an authority: `` → `/`, `?q` → `/?q`.
fn absolute(path: &str) -> String {
    let slash = if path.starts_with('/') { "" } else { "/" };
    without_dots(&format!("{slash}{path}"))
}

/// RFC 3986 §5.2.3 for a reference without authority.
fn merged(base: &str, path: &str) -> String {
    let base_path = base.split('?').next().unwrap_or_default();
    match path.as_bytes().first() {
        None => base.to_owned(),
        Some(b'/') => without_dots(path),
        Some(b'?') => format!("{base_path}{path}"),
        Some(_) => {
            let folder_end = base_path.rfind('/').map_or(0, |slash| slash + 1);
            let folder = base_path.get(..folder_end).unwrap_or_default();
            without_dots(&format!("{folder}{path}"))
        }
    }
}

/// RFC 3986 §5.2.4, for a path that starts with a slash; the query stays as it is.
fn without_dots(path_and_query: &str) -> String {
    let (path, query) = match path_and_query.find('?') {
        Some(at) => path_and_query.split_at(at),
        None => (path_and_query, ""),
    };
    let mut segments: Vec<&str> = Vec::new();
    let mut input = path.split('/').skip(1).peekable();
    while let Some(segment) = input.next() {
        let is_last = input.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    segments.pop();
                }
                // `/a/..` is the folder `/`, not the file `/`'s parent.
                if is_last {
                    segments.push("");
                }
            }
            _ => segments.push(segment),
        }
    }
    format!("/{}{query}", segments.join("/"))
}
