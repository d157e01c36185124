//! The cache as a service over a service.

use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response, StatusCode, request};
use http_body_util::BodyExt;
use larder_store::{Key, Object, Tier};
use tower_service::Service;

use super::body::Body;
use super::core::Core;
use super::fill::{Origin, OriginBody};
use super::outcome::{Decision, From, Outcome};
use super::pipeline::Exchange;
use super::purge::{purge, status_of};
use super::request::is_lookup;
use super::respond::{Asked, Content, from_content, own};
use super::{lookup, pass, status};
use crate::listen::ClientAddr;
use crate::meta::StoredMeta;
use crate::rules::cache_control::RequestDirectives;
use crate::rules::cache_status::Fwd;
use crate::rules::date::Millis;
use crate::rules::decide::{self, decide};
use crate::rules::detail::Detail;
use crate::rules::normalize::{BadRequest, Scheme, Target, normalize};
use crate::rules::via::{self, Loop};
use crate::{BoxBody, BoxError};

/// A shared HTTP cache (RFC 9111) before the service `S`, which stands for the origin.
///
/// Never fails: what goes wrong is an answer. Dropping the future of a call abandons that
/// answer, not a fetch that others follow or that is worth storing.
#[derive(Debug)]
pub struct Cache<S, B> {
    core: Arc<Core>,
    origin: S,
    origin_body: PhantomData<fn() -> B>,
}

impl<S: Clone, B> Clone for Cache<S, B> {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.core), self.origin.clone())
    }
}

impl<S, B> Cache<S, B> {
    /// A cache with `core`'s state before `origin`.
    pub fn new(core: Arc<Core>, origin: S) -> Self {
        Self {
            core,
            origin,
            origin_body: PhantomData,
        }
    }

    /// The shared state.
    pub fn core(&self) -> &Arc<Core> {
        &self.core
    }
}

/// An answer: at once from memory, or after a while.
#[expect(
    clippy::large_enum_variant,
    reason = "the large variant is the hit in memory, which allocates nothing"
)]
pub enum Answer {
    /// At once.
    Ready(Ready<Response<Body>>),
    /// After a lookup on flash, or a fetch.
    Later(Pin<Box<dyn Future<Output = Response<Body>> + Send>>),
}

impl Future for Answer {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.get_mut() {
            Self::Ready(response) => Pin::new(response).poll(cx).map(Ok),
            Self::Later(response) => response.as_mut().poll(cx).map(Ok),
        }
    }
}

impl<S, B, R> Service<Request<R>> for Cache<S, B>
where
    S: Origin<B>,
    B: OriginBody,
    R: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    /// normalize → key → lookup in memory → decide → respond; all else is `pipeline`.
    fn call(&mut self, request: Request<R>) -> Answer {
        let (parts, body) = request.into_parts();
        let core = &self.core;
        let target = match self.examine(&parts) {
            Ok(target) => target,
            Err(refusal) => return now(refuse(core, refusal)),
        };
        let key = core.key_of(&target);
        if parts.method.as_str() == "PURGE" {
            return self.purge(&parts, key);
        }
        let directives = RequestDirectives::parse(&parts.headers);
        let instant = core.now();
        if is_lookup(&parts.method)
            && let Some(object) = lookup::find_in_memory(core, &key, &parts.headers)
            && let Some(response) = hit(core, &parts, &directives, &object, instant)
        {
            return now(response);
        }
        let exchange = Exchange {
            core: Arc::clone(core),
            origin: self.origin.clone(),
            parts,
            target,
            directives,
            key,
            now: instant,
            origin_body: PhantomData,
        };
        Answer::Later(Box::pin(slow(exchange, boxed(body))))
    }
}

/// Everything that memory does not answer.
async fn slow<S, B>(exchange: Exchange<S, B>, body: BoxBody) -> Response<Body>
where
    S: Origin<B>,
    B: OriginBody,
{
    if !is_lookup(&exchange.parts.method) {
        return pass::pass(exchange, body, Fwd::Method, None).await;
    }
    exchange.answer(body).await
}

/// A fresh hit in memory: no await, no body copied, nothing boxed.
fn hit(
    core: &Core,
    parts: &request::Parts,
    directives: &RequestDirectives,
    object: &Object<StoredMeta>,
    now: Millis,
) -> Option<Response<Body>> {
    let decide::Decision::Fresh { ttl_s, .. } = decide(&object.meta, directives, now) else {
        return None;
    };
    let status = status::stored(ttl_s, Tier::Ram);
    let outcome = Outcome::new(Decision::Hit, From::Ram);
    let asked = Asked {
        method: &parts.method,
        headers: &parts.headers,
        now,
    };
    from_content(
        core,
        asked,
        &Content::Stored(object),
        &status,
        outcome,
        || None,
    )
}

/// Why a request is refused before anything is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is not one that can be answered.
    Bad(BadRequest),
    /// It has been here before.
    Loop(Loop),
}

impl<S, B> Cache<S, B> {
    /// What a request is about, or why it is refused. [`Service::call`] asks this by itself; it is
    /// for requests that pass by the cache.
    ///
    /// # Errors
    /// When it is refused.
    pub fn examine(&self, parts: &request::Parts) -> Result<Target, Refusal> {
        let policy = &self.core.policy;
        let (method, uri, headers) = (&parts.method, &parts.uri, &parts.headers);
        let target =
            normalize(method, uri, parts.version, headers, Scheme::Http).map_err(Refusal::Bad)?;
        if !policy.serves(target.host()) {
            return Err(Refusal::Bad(BadRequest::HostUnknown));
        }
        via::check(headers, &policy.name).map_err(Refusal::Loop)?;
        Ok(target)
    }

    fn purge(&self, parts: &request::Parts, key: Key) -> Answer {
        let core = Arc::clone(&self.core);
        let client = parts
            .extensions
            .get::<ClientAddr>()
            .map(|ClientAddr(client)| client.ip());
        let allowed =
            client.is_some_and(|ip| core.policy.purge_allow.iter().any(|net| net.contains(&ip)));
        if !allowed {
            let status = status::refused(None);
            let sentence = "purging is not allowed from this address";
            return now(own(
                &core,
                StatusCode::FORBIDDEN,
                sentence,
                &status,
                Decision::Refused,
            ));
        }
        Answer::Later(Box::pin(async move {
            let purged = purge(&core, &key).await;
            let sentence = match &purged {
                Ok(purged) if purged.found => "purged".to_owned(),
                Ok(_) => "nothing was stored".to_owned(),
                Err(error) => error.to_string(),
            };
            let status = status::refused(None);
            own(
                &core,
                status_of(&purged),
                &sentence,
                &status,
                Decision::Purge,
            )
        }))
    }
}

fn boxed<R>(body: R) -> BoxBody
where
    R: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    body.map_err(Into::into).boxed_unsync()
}

fn now(response: Response<Body>) -> Answer {
    Answer::Ready(ready(response))
}

fn refuse(core: &Core, refusal: Refusal) -> Response<Body> {
    let (code, sentence, detail) = match refusal {
        Refusal::Bad(bad) => (bad.status(), bad.as_str(), Detail::BadRequest(bad)),
        Refusal::Loop(looped) => (looped.status(), looped.as_str(), Detail::Loop(looped)),
    };
    let status = status::refused(Some(detail));
    let mut response = own(core, code, sentence, &status, Decision::Refused);
    // What cannot be told apart from an attack gets no second request on this connection.
    let close = http::HeaderValue::from_static("close");
    response
        .headers_mut()
        .insert(http::header::CONNECTION, close);
    response
}
