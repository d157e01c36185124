//! The life of a request that memory alone does not answer, from lookup to response.

use std::marker::PhantomData;
use std::sync::Arc;

use http::header::RANGE;
use http::{Response, StatusCode, request};
use larder_store::{Key, Object};
use tokio::sync::oneshot;

use super::body::{Body, Resume};
use super::core::Core;
use super::failure::OriginFailure;
use super::fill::{Fetch, Origin, OriginBody, Unshared, fill};
use super::flight::{Flight, Join, Phase, Release, Streaming, Variant};
use super::lookup::{Found, find};
use super::outcome::{Decision, From, Outcome};
use super::request::{FetchRequest, wants_far_range};
use super::respond::{Asked, Content, from_content, own};
use super::resume::Elsewhere;
use super::{pass, status};
use crate::BoxBody;
use crate::meta::StoredMeta;
use crate::rules::cache_control::RequestDirectives;
use crate::rules::cache_status::{CacheStatus, Fwd};
use crate::rules::date::Millis;
use crate::rules::decide::{self, ONLY_IF_CACHED_STATUS, decide};
use crate::rules::detail::Detail;
use crate::rules::fresh::current_age_s;
use crate::rules::normalize::Target;
use crate::rules::stale::{self, stale_if_error_allows};
use crate::rules::vary::variant_key;

/// How often a request may wait for a fetch (its own or another's) before it goes alone.
const ROUNDS_MAX: u32 = 3;

/// A request on its way through the cache.
pub(super) struct Exchange<S, B> {
    pub(super) core: Arc<Core>,
    pub(super) origin: S,
    pub(super) parts: request::Parts,
    pub(super) target: Target,
    pub(super) directives: RequestDirectives,
    pub(super) key: Key,
    pub(super) now: Millis,
    pub(super) origin_body: PhantomData<fn() -> B>,
}

/// What is stored but may not be served as it is.
struct Stale {
    key: Key,
    object: Object<StoredMeta>,
    reason: Fwd,
}

/// What a round of waiting came to.
#[expect(
    clippy::large_enum_variant,
    reason = "lives for one match; a box would be an allocation for each answer"
)]
enum Turn {
    Answer(Response<Body>),
    /// Try once more: lead, or follow another.
    Again(Option<OriginFailure>),
    /// As `Again`, with an ear on the one that said nothing so far.
    Stalled(Arc<Flight>),
    /// Nothing can be shared.
    Alone(Detail),
}

impl<S, B> Exchange<S, B>
where
    S: Origin<B>,
    B: OriginBody,
{
    /// lookup → decide → respond, or flight → origin → fill → respond.
    pub(super) async fn answer(self, body: BoxBody) -> Response<Body> {
        let mut failure = None;
        let mut stalled = None;
        for round in 0..ROUNDS_MAX {
            let found = find(&self.core, &self.key, &self.parts.headers).await;
            let (variant, stale) = match found {
                Found::KeyTooLong => {
                    return pass::pass(self, body, Fwd::VaryMiss, Some(Detail::KeyTooLong)).await;
                }
                Found::Nothing { variant } => (variant, None),
                Found::Object {
                    key,
                    object,
                    variant,
                } => match self.serve(&key, &object, variant.as_ref(), round) {
                    Ok(response) => return response,
                    Err(reason) => (
                        variant,
                        Some(Stale {
                            key,
                            object,
                            reason,
                        }),
                    ),
                },
            };
            if self.directives.only_if_cached {
                return self.only_if_cached();
            }
            if self.goes_alone(stale.as_ref()) {
                let why = pass_reason(stale.as_ref(), variant.as_ref());
                return pass::pass(self, body, why, Some(Detail::HitForMiss)).await;
            }
            match self.turn(variant, stale.as_ref(), stalled.as_ref()).await {
                Turn::Answer(response) => return response,
                Turn::Alone(why) => {
                    let fwd = pass_reason(stale.as_ref(), None);
                    return pass::pass(self, body, fwd, Some(why)).await;
                }
                Turn::Stalled(flight) => stalled = Some(flight),
                Turn::Again(Some(cause)) if !cause.may_retry() || round + 1 == ROUNDS_MAX => {
                    return self.failed(cause, stale.as_ref());
                }
                Turn::Again(cause) => failure = cause.or(failure),
            }
        }
        match failure {
            Some(failure) => self.failed(failure, None),
            None => pass::pass(self, body, Fwd::UriMiss, Some(Detail::CollapseTimeout)).await,
        }
    }

    /// Serves what is stored if the rules allow it; else why the origin must be asked.
    fn serve(
        &self,
        key: &Key,
        object: &Object<StoredMeta>,
        variant: Option<&Variant>,
        round: u32,
    ) -> Result<Response<Body>, Fwd> {
        let now = if round == 0 {
            self.now
        } else {
            self.core.now()
        };
        let (decision, status) = match decide(&object.meta, &self.directives, now) {
            decide::Decision::Fresh { ttl_s, .. } => {
                (Decision::Hit, status::stored(ttl_s, object.tier))
            }
            decide::Decision::Stale { ttl_s, .. } => {
                (Decision::Stale, status::stale(ttl_s, Detail::MaxStale))
            }
            decide::Decision::StaleWhileRevalidate { ttl_s, .. } => {
                self.refresh(key, object, variant);
                let why = Detail::StaleWhileRevalidate;
                (Decision::Stale, status::stale(ttl_s, why))
            }
            decide::Decision::Revalidate { reason } => return Err(reason.fwd()),
            decide::Decision::OnlyIfCached => return Ok(self.only_if_cached()),
        };
        let outcome = Outcome::new(decision, From::from(object.tier));
        self.respond(key, &Content::Stored(object), &status, outcome)
            .ok_or(Fwd::Miss)
    }

    /// Asks the origin behind the client's back; at most once at a time for a key.
    fn refresh(&self, key: &Key, object: &Object<StoredMeta>, variant: Option<&Variant>) {
        let Join::Lead(permit) = self.core.flights.join(key, &self.key) else {
            return;
        };
        self.core.events.background_refreshes.add();
        let fetch = self.fetch(variant.cloned(), Some((key.clone(), object.clone())));
        tokio::spawn(fill(
            Arc::clone(&self.core),
            self.origin.clone(),
            fetch,
            permit,
            None,
        ));
    }

    fn fetch(&self, variant: Option<Variant>, stale: Option<(Key, Object<StoredMeta>)>) -> Fetch {
        let request = FetchRequest::new(&self.core, &self.target, &self.parts);
        Fetch {
            request,
            primary: self.key.clone(),
            variant,
            stale,
        }
    }

    /// Leads or follows a fetch, up to its head.
    async fn turn(
        &self,
        variant: Option<Variant>,
        stale: Option<&Stale>,
        stalled: Option<&Arc<Flight>>,
    ) -> Turn {
        let flight_key = variant.as_ref().map_or(&self.key, |variant| &variant.key);
        match self.core.flights.join(flight_key, &self.key) {
            Join::Full => Turn::Alone(Detail::CollapseTimeout),
            Join::Lead(permit) => {
                let flight = Arc::clone(permit.flight());
                let (sender, receiver) = oneshot::channel();
                let old = stale.map(|stale| (stale.key.clone(), stale.object.clone()));
                let fetch = self.fetch(variant, old);
                let core = Arc::clone(&self.core);
                tokio::spawn(fill(core, self.origin.clone(), fetch, permit, Some(sender)));
                match first_head(&flight, stalled).await {
                    (phase, false) => self.led(phase, receiver, stale).await,
                    (phase, true) => self.followed(phase, stale),
                }
            }
            // The second leader in a row is waited for as long as the origin itself would be.
            Join::Follow(flight) if stalled.is_some() => {
                self.followed(first_head(&flight, stalled).await.0, stale)
            }
            Join::Follow(flight) => {
                match tokio::time::timeout(self.core.policy.collapse_wait, flight.head()).await {
                    Ok(phase) => self.followed(phase, stale),
                    Err(_) => self.stalled(flight),
                }
            }
        }
    }

    /// A leader that says nothing holds nobody: the first of its followers leads anew, and the
    /// others follow whichever of the two speaks first.
    fn stalled(&self, flight: Arc<Flight>) -> Turn {
        self.core.events.stalled_leaders.add();
        self.core.flights.detach(&flight);
        Turn::Stalled(flight)
    }

    /// The one who led gets what there is, be it nothing: only its followers may try anew.
    async fn led(
        &self,
        phase: Phase,
        unshared: oneshot::Receiver<Unshared<B>>,
        stale: Option<&Stale>,
    ) -> Turn {
        if let Phase::Released(Release::Uncacheable(_)) = phase
            && let Ok((response, why)) = unshared.await
        {
            // A part was asked for, and the whole is not worth keeping: ask for the part alone.
            if self.parts.headers.contains_key(RANGE) && response.status() == StatusCode::OK {
                return Turn::Alone(why);
            }
            return Turn::Answer(self.unshared(response, why, stale));
        }
        match self.joined(phase, stale, Decision::Miss) {
            Turn::Again(Some(cause)) => Turn::Answer(self.failed(cause, stale)),
            turn => turn,
        }
    }

    fn followed(&self, phase: Phase, stale: Option<&Stale>) -> Turn {
        if let Phase::Streaming(streaming) = &phase
            && !self.is_meant(streaming)
        {
            return Turn::Again(None);
        }
        let turn = self.joined(phase, stale, Decision::Collapsed);
        if matches!(turn, Turn::Answer(_)) {
            self.core.events.collapsed.add();
        }
        turn
    }

    /// Whether an answer that another asked for is this request's too (RFC 9111 §4.1).
    fn is_meant(&self, streaming: &Streaming) -> bool {
        streaming.variant.as_ref().is_none_or(|variant| {
            let (generation, spec) = (variant.generation, &variant.spec);
            let own = variant_key(self.key.bytes(), generation, spec, &self.parts.headers);
            own.as_ref() == Some(variant.key.bytes())
        })
    }

    fn joined(&self, phase: Phase, stale: Option<&Stale>, decision: Decision) -> Turn {
        let collapsed = decision == Decision::Collapsed;
        match phase {
            Phase::Streaming(streaming) => {
                let fwd = stale.map_or(Fwd::UriMiss, |stale| stale.reason);
                let status = status::fetched(fwd, &streaming.meta, collapsed);
                let key = streaming
                    .variant
                    .as_ref()
                    .map_or(&self.key, |variant| &variant.key);
                let outcome = Outcome::new(decision, From::Origin);
                match self.respond(key, &Content::Flight(&streaming), &status, outcome) {
                    Some(response) => Turn::Answer(response),
                    None => Turn::Alone(Detail::CollapseTimeout),
                }
            }
            Phase::Object(object) => {
                let fwd = stale.map_or(Fwd::Stale, |stale| stale.reason);
                let status = status::revalidated(fwd, &object.meta, object.tier, collapsed);
                let outcome = Outcome::new(Decision::Revalidated, From::from(object.tier));
                let key = stale.map_or(&self.key, |stale| &stale.key);
                match self.respond(key, &Content::Stored(&object), &status, outcome) {
                    Some(response) => Turn::Answer(response),
                    None => Turn::Again(None),
                }
            }
            Phase::Released(Release::Uncacheable(why)) => Turn::Alone(why),
            Phase::Released(Release::Failed(cause)) => self.turn_on_failure(cause, stale),
            Phase::Waiting => Turn::Again(None),
        }
    }

    fn turn_on_failure(&self, cause: OriginFailure, stale: Option<&Stale>) -> Turn {
        match stale.and_then(|stale| self.stale_instead(stale, stale::OriginFailure::Unreachable)) {
            Some(response) => Turn::Answer(response),
            None => Turn::Again(Some(cause)),
        }
    }

    /// An answer that only this request gets; a server error gives way to what is stored where
    /// `stale-if-error` allows it (RFC 5861 §4).
    fn unshared(
        &self,
        response: Response<B>,
        why: Detail,
        stale: Option<&Stale>,
    ) -> Response<Body> {
        if let Some(stale) = stale
            && let Some(failure) = stale::OriginFailure::from_status(response.status())
            && let Some(instead) = self.stale_instead(stale, failure)
        {
            return instead;
        }
        let fwd = pass_reason(stale, None);
        pass::relay(&self.core, response, fwd, Some(why), Decision::Miss)
    }

    fn stale_instead(
        &self,
        stale: &Stale,
        failure: stale::OriginFailure,
    ) -> Option<Response<Body>> {
        let now = self.core.now();
        let meta = &stale.object.meta;
        let policy = &self.core.policy.stale;
        if !stale_if_error_allows(meta, &self.directives, now, failure, policy) {
            return None;
        }
        let status = status::stale_on_error(meta, current_age_s(meta, now));
        let outcome = Outcome::new(Decision::Stale, From::from(stale.object.tier));
        self.respond(
            &stale.key,
            &Content::Stored(&stale.object),
            &status,
            outcome,
        )
    }

    fn respond(
        &self,
        key: &Key,
        content: &Content<'_>,
        status: &CacheStatus<'_>,
        outcome: Outcome,
    ) -> Option<Response<Body>> {
        let asked = Asked {
            method: &self.parts.method,
            headers: &self.parts.headers,
            now: self.now,
        };
        from_content(&self.core, asked, content, status, outcome, || {
            self.elsewhere(key, content)
        })
    }

    /// A way to go on when the source of the body fails: only bodies that are not in memory
    /// already can.
    fn elsewhere(&self, key: &Key, content: &Content<'_>) -> Option<Arc<dyn Resume>> {
        let (meta, window) = match content {
            Content::Stored(object) if object.body.as_single().is_some() => return None,
            Content::Stored(object) => (&object.meta, None),
            Content::Flight(streaming) => (&streaming.meta, Some(&streaming.window)),
        };
        Some(Arc::new(Elsewhere {
            core: Arc::clone(&self.core),
            origin: self.origin.clone(),
            key: key.clone(),
            meta: Arc::clone(meta),
            window: window.cloned(),
            request: FetchRequest::new(&self.core, &self.target, &self.parts),
            body: PhantomData,
        }))
    }

    /// Whether collapsing would only make clients queue for nothing: a HEAD fetches no body to
    /// share, and some keys proved uncacheable.
    fn goes_alone(&self, stale: Option<&Stale>) -> bool {
        let head = self.parts.method == http::Method::HEAD;
        head || wants_far_range(&self.parts.headers)
            || stale.is_none() && self.core.hit_for_miss.contains(&self.key, self.now)
    }

    fn only_if_cached(&self) -> Response<Body> {
        let status = status::refused(Some(Detail::OnlyIfCached));
        let sentence = "nothing fresh is stored, and the request forbids asking the origin";
        own(
            &self.core,
            ONLY_IF_CACHED_STATUS,
            sentence,
            &status,
            Decision::Refused,
        )
    }

    fn failed(&self, failure: OriginFailure, stale: Option<&Stale>) -> Response<Body> {
        let unreachable = stale::OriginFailure::Unreachable;
        if let Some(response) = stale.and_then(|s| self.stale_instead(s, unreachable)) {
            return response;
        }
        pass::failed(&self.core, failure, pass_reason(stale, None))
    }
}

fn pass_reason(stale: Option<&Stale>, variant: Option<&Variant>) -> Fwd {
    match (stale, variant) {
        (Some(stale), _) => stale.reason,
        (None, Some(_)) => Fwd::VaryMiss,
        (None, None) => Fwd::UriMiss,
    }
}

/// The head of `flight`, or of the stalled one before it if that has something to share first:
/// then with `true`.
async fn first_head(flight: &Flight, stalled: Option<&Arc<Flight>>) -> (Phase, bool) {
    let Some(stalled) = stalled else {
        return (flight.head().await, false);
    };
    let late = async {
        match stalled.head().await {
            Phase::Released(_) | Phase::Waiting => std::future::pending().await,
            phase => phase,
        }
    };
    tokio::select! {
        phase = flight.head() => (phase, false),
        phase = late => (phase, true),
    }
}
