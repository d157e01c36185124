//! What is asked of the origin.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::TryFutureExt;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, Uri, header};
use http_body_util::{BodyExt, Empty};
use tower::util::Oneshot;

use super::core::Core;
use super::failure::{OriginFailure, OriginFault};
use super::fill::{Origin, OriginBody};
use crate::BoxBody;
use crate::listen::ClientAddr;
use crate::meta::StoredMeta;
use crate::rules::normalize::Target;
use crate::rules::{conditional, hop, via};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// A client's GET, made fit to fetch the whole object for everybody: no conditions, no ranges.
#[derive(Clone, Debug)]
pub(super) struct FetchRequest {
    uri: Uri,
    headers: HeaderMap,
}

impl FetchRequest {
    /// From the client's request for `target`.
    pub(super) fn new(core: &Core, target: &Target, parts: &http::request::Parts) -> Self {
        let mut headers = forwarded_headers(core, target, parts);
        conditional::strip_conditionals(&mut headers);
        headers.remove(header::RANGE);
        headers.remove(header::IF_RANGE);
        headers.remove(header::CONTENT_LENGTH);
        Self {
            uri: Uri::from(target.path_and_query.clone()),
            headers,
        }
    }

    /// The header fields that the origin sees, apart from conditions.
    pub(super) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The whole object.
    pub(super) fn plain(&self) -> Request<BoxBody> {
        let mut request = Request::new(no_body());
        *request.uri_mut() = self.uri.clone();
        request.headers_mut().clone_from(&self.headers);
        request
    }

    /// The whole object, unless it is still what `meta` describes (RFC 9111 §4.3.1).
    pub(super) fn conditional(&self, meta: &StoredMeta) -> Request<BoxBody> {
        let mut request = self.plain();
        conditional::revalidation_headers(meta, request.headers_mut());
        request
    }

    /// Bytes `from..until` (to the end when unknown) of the representation that `meta` describes;
    /// `None` when it has no strong validator to name it by (RFC 9110 §13.1.5).
    pub(super) fn rest(
        &self,
        meta: &StoredMeta,
        from: u64,
        until: Option<u64>,
    ) -> Option<Request<BoxBody>> {
        let etag = meta.headers.get(header::ETAG)?;
        if until.is_some_and(|until| from >= until) || etag.as_bytes().starts_with(b"W/") {
            return None;
        }
        let mut request = self.plain();
        let range = match until {
            Some(until) => format!("bytes={from}-{}", until - 1),
            None => format!("bytes={from}-"),
        };
        request
            .headers_mut()
            .insert(header::RANGE, range.try_into().ok()?);
        request.headers_mut().insert(header::IF_RANGE, etag.clone());
        Some(request)
    }
}

/// A client's request as the origin sees it (RFC 9110 §7.6).
pub(super) fn forwarded_headers(
    core: &Core,
    target: &Target,
    parts: &http::request::Parts,
) -> HeaderMap {
    let mut headers = parts.headers.clone();
    hop::strip_hop_by_hop(&mut headers, hop::Upgrade::Strip);
    via::append_to_request(&mut headers, parts.version, &core.policy.name);
    if let Ok(host) = target.authority.as_str().try_into() {
        headers.insert(header::HOST, host);
    }
    if let Some(ClientAddr(client)) = parts.extensions.get::<ClientAddr>() {
        append_forwarded_for(&mut headers, client.ip());
    }
    headers
}

/// An answer of the origin's on its way.
pub(super) type Sent<B> = Pin<Box<dyn Future<Output = Result<Response<B>, OriginFailure>> + Send>>;

/// Sends `request`, and counts it.
pub(super) fn send<S, B>(core: &Arc<Core>, origin: &S, request: Request<BoxBody>) -> Sent<B>
where
    S: Origin<B>,
    B: OriginBody,
{
    core.events.origin_requests.add();
    let core = Arc::clone(core);
    Box::pin(Oneshot::new(origin.clone(), request).map_err(move |error| {
        core.events.origin_failures.add();
        let failure = error.failure();
        tracing::debug!(%error, failure = failure.as_str(), "the origin failed");
        failure
    }))
}

/// An empty body.
pub(super) fn no_body() -> BoxBody {
    Empty::new().map_err(|never| match never {}).boxed_unsync()
}

/// Whether a method asks for a stored object.
pub(super) fn is_lookup(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Adds the client to `X-Forwarded-For`, behind those who forwarded for it before.
fn append_forwarded_for(headers: &mut HeaderMap, client: IpAddr) {
    let lines = headers.get_all(X_FORWARDED_FOR);
    let mut list: Vec<u8> = lines
        .iter()
        .map(HeaderValue::as_bytes)
        .collect::<Vec<_>>()
        .join(&b", "[..]);
    if !list.is_empty() {
        list.extend_from_slice(b", ");
    }
    list.extend_from_slice(client.to_string().as_bytes());
    if let Ok(list) = HeaderValue::from_bytes(&list) {
        headers.insert(X_FORWARDED_FOR, list);
    }
}

/// A range that begins this far into an object is passed on rather than waited for, when the
/// object is not stored: nobody wants the gigabytes before it first.
const FAR_BYTES: u64 = 8 << 20;

/// Whether a request asks for a part that a fetch from the start would reach late.
pub(super) fn wants_far_range(headers: &HeaderMap) -> bool {
    let Some(range) = headers
        .get(header::RANGE)
        .and_then(|range| range.to_str().ok())
    else {
        return false;
    };
    let first = range
        .trim_start_matches("bytes=")
        .split(['-', ','])
        .next()
        .unwrap_or_default();
    match first.trim().parse::<u64>() {
        Ok(first) => first >= FAR_BYTES,
        // A suffix, whose place is unknown; or nonsense, which the origin may answer.
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_ranges_are_told_from_near_ones() {
        for (range, far) in [
            ("bytes=0-", false),
            ("bytes=0-99,200-300", false),
            ("bytes=8388607-", false),
            ("bytes=8388608-", true),
            ("bytes=-500", true),
            ("lines=x", true),
        ] {
            let headers = HeaderMap::from_iter([(header::RANGE, HeaderValue::from_static(range))]);
            assert_eq!(wants_far_range(&headers), far, "{range}");
        }
        assert!(!wants_far_range(&HeaderMap::new()));
    }

    #[test]
    fn the_client_stands_last_among_the_forwarded() {
        let mut headers = HeaderMap::new();
        append_forwarded_for(&mut headers, IpAddr::from([127, 0, 0, 1]));
        assert_eq!(headers[X_FORWARDED_FOR], "127.0.0.1");
        headers.append(X_FORWARDED_FOR, HeaderValue::from_static("10.0.0.1"));
        append_forwarded_for(&mut headers, IpAddr::from([127, 0, 0, 2]));
        assert_eq!(headers[X_FORWARDED_FOR], "127.0.0.1, 10.0.0.1, 127.0.0.2");
    }
}
