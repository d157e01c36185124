//! Past the cache: the request as it is to the origin, the answer as it is to the client.

use http::{Request, Response, Uri};
use http_body_util::BodyExt;

use super::body::{Body, Source};
use super::core::Core;
use super::failure::{Blame, OriginFailure};
use super::fill::{Origin, OriginBody, content_length};
use super::outcome::{Decision, From, Outcome};
use super::pipeline::Exchange;
use super::request::{forwarded_headers, send};
use super::respond::{finish_headers, own};
use super::{purge, status};
use crate::BoxBody;
use crate::rules::cache_control::{RequestDirectives, ResponseDirectives};
use crate::rules::cache_status::Fwd;
use crate::rules::cacheable::storable;
use crate::rules::detail::Detail;
use crate::rules::invalidate::invalidated;
use crate::rules::{hop, via};

/// Sends the request on, and relays the answer.
pub(super) async fn pass<S, B>(
    exchange: Exchange<S, B>,
    body: BoxBody,
    fwd: Fwd,
    detail: Option<Detail>,
) -> Response<Body>
where
    S: Origin<B>,
    B: OriginBody,
{
    let Exchange {
        core,
        origin,
        parts,
        target,
        key,
        ..
    } = exchange;
    let mut request = Request::new(body);
    *request.method_mut() = parts.method.clone();
    *request.uri_mut() = Uri::from(target.path_and_query.clone());
    *request.headers_mut() = forwarded_headers(&core, &target, &parts);
    let answer = match send::<S, B>(&core, &origin, request).await {
        Ok(answer) => answer,
        Err(failure) => return failed(&core, failure, fwd),
    };
    for stale in invalidated(&parts.method, answer.status(), &target, answer.headers()) {
        purge::invalidate(&core, &core.key(stale)).await;
    }
    if detail == Some(Detail::HitForMiss) && becomes_storable(&core, &parts, &answer) {
        core.hit_for_miss.remove(&key);
    }
    relay(&core, answer, fwd, detail, Decision::Pass)
}

/// Whether a key that once proved uncacheable would be stored now: its next request is
/// collapsed again.
fn becomes_storable<B: OriginBody>(
    core: &Core,
    parts: &http::request::Parts,
    answer: &Response<B>,
) -> bool {
    let body_bytes = content_length(answer.headers(), answer.body());
    if body_bytes.is_some_and(|len| len > core.policy.object_bytes_max) {
        return false;
    }
    let asked = RequestDirectives::parse(&parts.headers);
    let said = ResponseDirectives::parse(answer.headers());
    storable(
        &parts.method,
        &parts.headers,
        &asked,
        answer.status(),
        answer.headers(),
        &said,
        &core.policy.store,
    )
    .is_ok()
}

/// The origin's answer, for one client.
pub(super) fn relay<B: OriginBody>(
    core: &Core,
    answer: Response<B>,
    fwd: Fwd,
    detail: Option<Detail>,
    decision: Decision,
) -> Response<Body> {
    let (mut parts, body) = answer.into_parts();
    hop::strip_hop_by_hop(&mut parts.headers, hop::Upgrade::Strip);
    via::append_to_response(&mut parts.headers, parts.version, &core.policy.name);
    let status = status::passed(fwd, Some(parts.status), detail);
    finish_headers(core, &mut parts.headers, &status);
    let source = Source::Origin(body.map_err(Into::into).boxed_unsync());
    let mut response = Response::new(Body::new(
        source,
        0,
        None,
        Outcome::new(decision, From::Origin),
    ));
    *response.status_mut() = parts.status;
    *response.headers_mut() = parts.headers;
    response
}

/// The origin could not be asked.
pub(super) fn failed(core: &Core, failure: OriginFailure, fwd: Fwd) -> Response<Body> {
    let status = status::passed(fwd, None, detail_of(failure));
    let code = failure.status();
    let decision = match failure.blame() {
        Blame::Client => Decision::Refused,
        _ => Decision::Failed,
    };
    own(
        core,
        code,
        code.canonical_reason().unwrap_or("failed"),
        &status,
        decision,
    )
}

const fn detail_of(failure: OriginFailure) -> Option<Detail> {
    match failure {
        OriginFailure::Connect | OriginFailure::Busy => Some(Detail::OriginUnreachable),
        OriginFailure::Timeout => Some(Detail::OriginTimeout),
        OriginFailure::Protocol | OriginFailure::Abandoned => Some(Detail::OriginError),
        OriginFailure::RequestBody | OriginFailure::RequestTooLarge => None,
    }
}
