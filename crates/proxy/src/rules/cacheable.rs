//! May this response be stored? (RFC 9111 §3)

use http::header::{AUTHORIZATION, EXPIRES, SET_COOKIE};
use http::{HeaderMap, Method, StatusCode};

use super::cache_control::{RequestDirectives, ResponseDirectives};
use super::conditional::has_validator;
use super::vary::Vary;

/// What the operator decides about storing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorePolicy {
    /// Whether responses with Set-Cookie are stored, cookie and all. Off by default: a cookie
    /// that one client was given must not reach another.
    pub set_cookie: bool,
}

/// Why a response is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoStore {
    /// The method is not GET.
    Method,
    /// The request said `no-store`.
    RequestNoStore,
    /// The response said `no-store`.
    ResponseNoStore,
    /// The response said `private`.
    Private,
    /// The request was authorized and the response does not allow sharing it.
    Authorization,
    /// The response sets a cookie.
    SetCookie,
    /// The status is not final, or is one that this cache must understand and does not.
    Status,
    /// 206: parts are not stored.
    Partial,
    /// 304: it updates what is stored and is nothing by itself.
    NotModified,
    /// `Vary: *`, or a Vary that cannot be read.
    VaryStar,
    /// Nothing says how long it is fresh, and nothing could revalidate it.
    NoFreshness,
    /// Stale on arrival, with no validator and no permission to be served stale.
    Expired,
    /// More header lines or bytes than an entry may hold.
    HeadersTooLarge,
}

impl NoStore {
    /// Every reason, in the order of the documentation.
    pub const ALL: [Self; 13] = [
        Self::Method,
        Self::RequestNoStore,
        Self::ResponseNoStore,
        Self::Private,
        Self::Authorization,
        Self::SetCookie,
        Self::Status,
        Self::Partial,
        Self::NotModified,
        Self::VaryStar,
        Self::NoFreshness,
        Self::Expired,
        Self::HeadersTooLarge,
    ];

    /// The name in the log, the metric and the `detail` of Cache-Status.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Method => "method",
            Self::RequestNoStore => "request-no-store",
            Self::ResponseNoStore => "no-store",
            Self::Private => "private",
            Self::Authorization => "authorization",
            Self::SetCookie => "set-cookie",
            Self::Status => "status",
            Self::Partial => "partial",
            Self::NotModified => "not-modified",
            Self::VaryStar => "vary-star",
            Self::NoFreshness => "no-freshness",
            Self::Expired => "expired",
            Self::HeadersTooLarge => "headers-too-large",
        }
    }
}

/// Whether a response may be stored by a shared cache, or the first reason why not.
///
/// `resp` and `req` are the parsed directives of `headers` and `req_headers`.
pub fn storable(
    req_method: &Method,
    req_headers: &HeaderMap,
    req: &RequestDirectives,
    status: StatusCode,
    headers: &HeaderMap,
    resp: &ResponseDirectives,
    policy: &StorePolicy,
) -> Result<(), NoStore> {
    // §3: "the request method is understood by the cache". HEAD is answered from GET.
    if req_method != Method::GET {
        return Err(NoStore::Method);
    }
    // §5.2.1.5.
    if req.no_store {
        return Err(NoStore::RequestNoStore);
    }
    check_status(status, resp)?;
    check_directives(resp)?;
    check_authorization(req_headers, resp)?;
    // Withheld fields are not stored, so they cannot leak.
    let cookie = headers.contains_key(SET_COOKIE) && !resp.withheld.contains(&SET_COOKIE);
    if cookie && !policy.set_cookie {
        return Err(NoStore::SetCookie);
    }
    // §4.1: "*" always fails to match.
    if Vary::parse(headers) == Vary::Star {
        return Err(NoStore::VaryStar);
    }
    check_freshness(status, headers, resp)
}

/// Whether a status may get a heuristic lifetime (RFC 9110 §15.1). 206 is one of them, but parts
/// are not stored.
pub(crate) fn is_heuristically_cacheable(status: StatusCode) -> bool {
    matches!(
        status.as_u16(),
        200 | 203 | 204 | 300 | 301 | 308 | 404 | 405 | 410 | 414 | 501
    )
}

/// §3: "the response status code is final", and understood where that is asked for.
fn check_status(status: StatusCode, resp: &ResponseDirectives) -> Result<(), NoStore> {
    match status.as_u16() {
        100..200 => Err(NoStore::Status),
        206 => Err(NoStore::Partial),
        304 => Err(NoStore::NotModified),
        _ if resp.must_understand && !is_understood(status) => Err(NoStore::Status),
        _ => Ok(()),
    }
}

/// Statuses whose caching needs nothing beyond RFC 9111, as registered in RFC 9110 §15.
fn is_understood(status: StatusCode) -> bool {
    matches!(
        status.as_u16(),
        200..=205 | 300..=303 | 305 | 307 | 308 | 400..=417 | 421 | 422 | 426 | 500..=505
    )
}

fn check_directives(resp: &ResponseDirectives) -> Result<(), NoStore> {
    // §5.2.2.3: "the cache SHOULD ignore the no-store directive if it understands and implements
    // the status code's caching requirements"; `check_status` ran before.
    if resp.no_store && !resp.must_understand {
        return Err(NoStore::ResponseNoStore);
    }
    // §5.2.2.7.
    if resp.private {
        return Err(NoStore::Private);
    }
    Ok(())
}

/// §3.5: stored only with `must-revalidate`, `public` or `s-maxage`.
fn check_authorization(req_headers: &HeaderMap, resp: &ResponseDirectives) -> Result<(), NoStore> {
    let shareable = resp.must_revalidate || resp.public || resp.s_maxage.is_some();
    if req_headers.contains_key(AUTHORIZATION) && !shareable {
        return Err(NoStore::Authorization);
    }
    Ok(())
}

/// §3, last item: `public`, an explicit lifetime, or a heuristically cacheable status. The latter
/// is of use only with a validator: it gives the lifetime or saves the body.
fn check_freshness(
    status: StatusCode,
    headers: &HeaderMap,
    resp: &ResponseDirectives,
) -> Result<(), NoStore> {
    let expires = !resp.targeted && headers.contains_key(EXPIRES);
    if resp.max_age.is_some() || resp.s_maxage.is_some() || expires {
        return Ok(());
    }
    if (resp.public || is_heuristically_cacheable(status)) && has_validator(headers) {
        return Ok(());
    }
    Err(NoStore::NoFreshness)
}
