//! One fetch from the origin for all who want the object, and the fill of both tiers with it.
//!
//! Runs as a task of its own: the client's going away does not end a fill that is worth
//! finishing. Dropping it unfinished leaves nothing to be found.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use larder_store::{Key, Object, Writer};
use tokio::sync::oneshot;
use tower_service::Service;

use super::core::Core;
use super::failure::{OriginFailure, OriginFault};
use super::flight::{End, FlightPermit, Phase, Release, Streaming, Variant, Window};
use super::pieces::Pieces;
use super::request::{FetchRequest, send};
use crate::meta::StoredMeta;
use crate::rules::cache_control::{RequestDirectives, ResponseDirectives};
use crate::rules::cacheable::{NoStore, storable};
use crate::rules::date::Millis;
use crate::rules::detail::Detail;
use crate::rules::freshen::matches_304;
use crate::rules::vary::{Vary, VarySpec, variant_key};
use crate::rules::via;
use crate::{BoxBody, BoxError};

/// How often a body that broke off is continued by a range request.
const CONTINUATIONS_MAX: u32 = 2;

/// What is to be fetched, and what is known already.
pub(super) struct Fetch {
    pub(super) request: FetchRequest,
    /// The URL's key.
    pub(super) primary: Key,
    /// Where the URL is known to vary.
    pub(super) variant: Option<Variant>,
    /// What is stored, and under which key, to be revalidated.
    pub(super) stale: Option<(Key, Object<StoredMeta>)>,
}

/// An answer that cannot be shared, for the one whose request brought it.
pub(super) type Unshared<B> = (Response<B>, Detail);

/// A service that can stand for the origin.
pub trait Origin<B>:
    Service<Request<BoxBody>, Response = Response<B>, Error: OriginFault, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<B, S> Origin<B> for S where
    S: Service<Request<BoxBody>, Response = Response<B>, Error: OriginFault, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// A body of the origin's.
pub trait OriginBody:
    http_body::Body<Data = Bytes, Error: Into<BoxError> + OriginFault> + Send + Unpin + 'static
{
}

impl<B> OriginBody for B where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError> + OriginFault> + Send + Unpin + 'static
{
}

/// Runs the fetch to its end.
pub(super) async fn fill<S, B>(
    core: Arc<Core>,
    origin: S,
    fetch: Fetch,
    permit: FlightPermit,
    leader: Option<oneshot::Sender<Unshared<B>>>,
) where
    S: Origin<B>,
    B: OriginBody,
{
    // Opened before the request leaves: a purge from now on forbids what it brings.
    let writer = core.store.writer(fetch.primary.clone(), None);
    let sent = core.now();
    let answer = match ask(&core, &origin, &fetch).await {
        Ok(answer) => answer,
        Err(failure) => return permit.release(Release::Failed(failure)),
    };
    let received = core.now();
    let (mut parts, body) = answer.into_parts();
    if let Some((key, stale)) = &fetch.stale
        && parts.status == StatusCode::NOT_MODIFIED
    {
        let object = freshen(&core, key, stale, &parts.headers, (sent, received)).await;
        return permit.publish(Phase::Object(object));
    }
    let body_bytes = content_length(&parts.headers, &body);
    let storing = may_store(&core, &fetch, &parts, body_bytes, (sent, received));
    let (mut meta, vary) = match storing {
        Ok(storing) => storing,
        Err(why) => {
            core.hit_for_miss
                .insert(&fetch.primary, received, remembered_s(&core, why));
            permit.release(Release::Uncacheable(why));
            if let Some(leader) = leader {
                let _ = leader.send((Response::from_parts(parts, body), why));
            }
            return;
        }
    };
    core.hit_for_miss.remove(&fetch.primary);
    via::append_to_response(&mut meta.headers, parts.version, &core.policy.name);
    parts.headers.clear();
    let Some((variant, writer)) = place(&core, &fetch, vary, writer, received).await else {
        permit.release(Release::Uncacheable(Detail::KeyTooLong));
        return;
    };
    stream(
        core,
        origin,
        fetch,
        permit,
        Arc::new(meta),
        Parts {
            body,
            body_bytes,
            variant,
            writer,
        },
    )
    .await;
}

/// A storable answer's body and where it goes.
struct Parts<B> {
    body: B,
    body_bytes: Option<u64>,
    variant: Option<Variant>,
    writer: Writer<StoredMeta>,
}

/// Asks the origin; an answer 304 to a condition that does not match what is stored is asked
/// again without the condition (RFC 9111 §4.3.3).
async fn ask<S, B>(
    core: &Arc<Core>,
    origin: &S,
    fetch: &Fetch,
) -> Result<Response<B>, OriginFailure>
where
    S: Origin<B>,
    B: OriginBody,
{
    let Some((_, stale)) = &fetch.stale else {
        return send(core, origin, fetch.request.plain()).await;
    };
    let answer = send(core, origin, fetch.request.conditional(&stale.meta)).await?;
    let mismatch =
        answer.status() == StatusCode::NOT_MODIFIED && !matches_304(&stale.meta, answer.headers());
    if mismatch {
        send(core, origin, fetch.request.plain()).await
    } else {
        Ok(answer)
    }
}

/// What was stored, with the header fields that the origin confirmed (RFC 9111 §4.3.4).
async fn freshen(
    core: &Core,
    key: &Key,
    stale: &Object<StoredMeta>,
    confirmed: &http::HeaderMap,
    (sent, received): (Millis, Millis),
) -> Object<StoredMeta> {
    let same = |meta| Object {
        meta,
        body: stale.body.clone(),
        tier: stale.tier,
    };
    let Ok(meta) = stale
        .meta
        .freshened(confirmed, sent, received, &core.policy.fresh)
    else {
        // What the origin says now forbids keeping it: this answer is still what it confirmed.
        super::purge::invalidate(core, key).await;
        return same(Arc::clone(&stale.meta));
    };
    let meta = Arc::new(meta);
    // When the store cannot keep it, this answer is none the worse for that.
    let _ = core.store.update_meta(key, Arc::clone(&meta), stale).await;
    same(meta)
}

/// What to keep of the answer, and by which request fields it varies; or why nothing.
fn may_store(
    core: &Core,
    fetch: &Fetch,
    parts: &http::response::Parts,
    body_bytes: Option<u64>,
    (sent, received): (Millis, Millis),
) -> Result<(StoredMeta, Option<VarySpec>), Detail> {
    let asked_headers = fetch.request.headers();
    let asked = RequestDirectives::parse(asked_headers);
    let said = ResponseDirectives::parse(&parts.headers);
    let (status, headers) = (parts.status, &parts.headers);
    storable(
        &Method::GET,
        asked_headers,
        &asked,
        status,
        headers,
        &said,
        &core.policy.store,
    )
    .map_err(Detail::NoStore)?;
    if body_bytes.is_some_and(|len| len > core.policy.object_bytes_max) {
        return Err(Detail::TooLarge);
    }
    let vary = match Vary::parse(headers) {
        Vary::Absent => None,
        Vary::Star => return Err(Detail::NoStore(NoStore::VaryStar)),
        Vary::Names(spec) => Some(spec),
    };
    StoredMeta::from_response(status, headers, &said, sent, received, &core.policy.fresh)
        .map(|meta| (meta, vary))
        .map_err(Detail::NoStore)
}

/// An error passes soon; what forbids storing by its nature lasts.
fn remembered_s(core: &Core, why: Detail) -> u64 {
    match why {
        Detail::NoStore(NoStore::Status) => 1,
        _ => core.policy.hit_for_miss.as_secs(),
    }
}

/// The length of a body, if the origin told it.
pub(super) fn content_length<B: http_body::Body>(
    headers: &http::HeaderMap,
    body: &B,
) -> Option<u64> {
    let named = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|len| len.to_str().ok()?.parse().ok());
    body.size_hint().exact().or(named)
}

/// Where the answer goes: under the URL's key, or under a variant's, whose names and generation
/// the URL's key then holds. `None` when that key would be too long.
async fn place(
    core: &Core,
    fetch: &Fetch,
    vary: Option<VarySpec>,
    writer: Writer<StoredMeta>,
    received: Millis,
) -> Option<(Option<Variant>, Writer<StoredMeta>)> {
    let Some(spec) = vary else {
        return Some((None, writer));
    };
    let (generation, known) = match &fetch.variant {
        Some(known) if known.spec == spec => (known.generation, true),
        _ => (fastrand::u64(..), false),
    };
    let key = variant_key(
        fetch.primary.bytes(),
        generation,
        &spec,
        fetch.request.headers(),
    )?;
    let key = core.key(key);
    if !known {
        writer
            .finish(StoredMeta::vary_index(generation, spec.clone(), received))
            .await;
    }
    let writer = core.store.writer(key.clone(), None);
    Some((
        Some(Variant {
            generation,
            spec,
            key,
        }),
        writer,
    ))
}

/// Streams the body to the followers and into the store.
async fn stream<S, B>(
    core: Arc<Core>,
    origin: S,
    fetch: Fetch,
    permit: FlightPermit,
    meta: Arc<StoredMeta>,
    parts: Parts<B>,
) where
    S: Origin<B>,
    B: OriginBody,
{
    let share = core.fills.share(parts.body_bytes);
    let window = Window::new(share.window_bytes);
    permit.publish(Phase::Streaming(Streaming {
        meta: Arc::clone(&meta),
        window: Arc::clone(&window),
        body_bytes: parts.body_bytes,
        variant: parts.variant,
    }));
    let ending = EndOnDrop(&window);
    let mut writer = Some(parts.writer);
    let mut source = Pieces::new(parts.body, parts.body_bytes);
    let mut written = 0;
    let mut continuations = 0;
    loop {
        match source.next().await {
            Some(Ok(piece)) => {
                written += piece.len() as u64;
                if written > core.policy.object_bytes_max && writer.take().is_some() {
                    turns_out_too_large(&core, &fetch, &permit);
                }
                if writer.is_none() && window.is_abandoned() {
                    return;
                }
                if let Some(writer) = &mut writer
                    && !permit.flight().is_purged()
                {
                    writer.write(piece.clone()).await;
                }
                window.push(piece).await;
            }
            None if parts.body_bytes.is_none_or(|expected| expected == written) => break,
            // Who waited for as long as a silence may last is not asked to wait once more.
            Some(Err(error)) if error.failure() == OriginFailure::Timeout => return,
            _ if continuations == CONTINUATIONS_MAX => return,
            _ => {
                continuations += 1;
                let Some(expected) = parts.body_bytes else {
                    return;
                };
                let rest = fetch.request.rest(&meta, written, Some(expected));
                let Some(rest) = rest else { return };
                let Ok(body) = super::resume::ask_rest(&core, &origin, rest, written).await else {
                    return;
                };
                source = Pieces::new(body, Some(expected - written));
            }
        }
    }
    if let Some(writer) = writer
        && !permit.flight().is_purged()
    {
        writer.finish(meta).await;
    }
    // Only now: who comes between the end of the stream and the store's knowing it, follows.
    ending.complete();
    drop(permit);
}

/// A body whose length nobody told has become larger than what is kept: it goes on for those who
/// read it, and whoever comes from now on asks by himself.
fn turns_out_too_large(core: &Core, fetch: &Fetch, permit: &FlightPermit) {
    core.flights.detach(permit.flight());
    let seconds = remembered_s(core, Detail::TooLarge);
    core.hit_for_miss
        .insert(&fetch.primary, core.now(), seconds);
}

/// Whatever ends the fill ends its readers too.
struct EndOnDrop<'a>(&'a Window);

impl EndOnDrop<'_> {
    fn complete(&self) {
        self.0.end(End::Complete);
    }
}

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.end(End::Failed);
    }
}
