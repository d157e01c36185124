//! The outermost service: WebSockets pass by the cache, and every answer is counted and logged.

use std::convert::Infallible;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use tower_service::Service;

use crate::BoxError;
use crate::cache::{Answer, Body, Cache, Decision, From, Outcome};
use crate::listen::{ClientAddr, RequestBody};
use crate::observe::access_log::{AccessLog, AccessRecord, Text};
use crate::observe::metrics::RequestCounters;
use crate::origin::{OriginBody, OriginClient};
use crate::rules::via;
use crate::upgrade;

/// Who is told of every answer.
#[derive(Debug)]
pub struct Telling {
    /// Requests by decision and by who gave the bytes.
    pub requests: RequestCounters,
    log: Option<AccessLog>,
}

impl Telling {
    /// Counters at zero, and a log if there is one.
    pub fn new(log: Option<AccessLog>) -> Self {
        Self {
            requests: RequestCounters::new(&Decision::NAMES, &From::NAMES),
            log,
        }
    }

    /// The access log.
    pub fn log(&self) -> Option<&AccessLog> {
        self.log.as_ref()
    }

    pub(super) fn reopen_log(&self) {
        if let Some(log) = &self.log {
            log.reopen();
        }
    }
}

/// The service that listeners serve.
#[derive(Clone, Debug)]
pub struct Observed {
    cache: Cache<OriginClient, OriginBody>,
    client: OriginClient,
    telling: Arc<Telling>,
    upgrade_timeout: Duration,
}

impl Observed {
    /// Before `cache`, with `client` for what passes by it.
    pub fn new(
        cache: Cache<OriginClient, OriginBody>,
        client: OriginClient,
        telling: Arc<Telling>,
        upgrade_timeout: Duration,
    ) -> Self {
        Self {
            cache,
            client,
            telling,
            upgrade_timeout,
        }
    }

    /// A WebSocket's request, if the cache would not refuse it.
    fn tunnel(&mut self, request: Request<RequestBody>) -> Pending {
        let (mut parts, body) = request.into_parts();
        if self.cache.examine(&parts).is_err() {
            return Pending::Cache(self.cache.call(Request::from_parts(parts, body)));
        }
        let name = &self.cache.core().policy.name;
        via::append_to_request(&mut parts.headers, parts.version, name);
        let client = self.client.clone();
        let timeout = self.upgrade_timeout;
        let body = body.map_err(Into::into).boxed_unsync();
        let request = Request::from_parts(parts, body);
        Pending::Tunnel(Box::pin(async move {
            match upgrade::forward(request, &client, timeout).await {
                Ok(response) => response
                    .map(|body| Body::relayed(body, Outcome::new(Decision::Pass, From::Origin))),
                Err(error) => {
                    tracing::debug!(%error, "an upgrade was not passed through");
                    let outcome = Outcome::new(Decision::Failed, From::None);
                    let mut response = Response::new(Body::empty(outcome));
                    *response.status_mut() = error.status();
                    response
                }
            }
        }))
    }
}

impl Service<Request<RequestBody>> for Observed {
    type Response = Response<Told>;
    type Error = Infallible;
    type Future = Observing;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Observing {
        let story = Story::begin(&self.telling, &request);
        let pending = if upgrade::is_wanted(&request) {
            self.tunnel(request)
        } else {
            Pending::Cache(self.cache.call(request))
        };
        Observing {
            pending,
            story: Some(story),
        }
    }
}

#[expect(
    clippy::large_enum_variant,
    reason = "the large variant is nearly every request; a box would be an allocation for each"
)]
enum Pending {
    Cache(Answer),
    Tunnel(Pin<Box<dyn Future<Output = Response<Body>> + Send>>),
}

/// An answer on its way.
pub struct Observing {
    pending: Pending,
    story: Option<Story>,
}

impl Future for Observing {
    type Output = Result<Response<Told>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let response = match &mut this.pending {
            Pending::Cache(answer) => ready!(Pin::new(answer).poll(cx))?,
            Pending::Tunnel(answer) => ready!(answer.as_mut().poll(cx)),
        };
        let mut story = this.story.take();
        if let Some(story) = &mut story {
            story.head(response.status(), response.body().outcome());
        }
        Poll::Ready(Ok(response.map(|body| Told { body, story })))
    }
}

/// A body whose end is told.
#[derive(Debug)]
pub struct Told {
    body: Body,
    story: Option<Story>,
}

impl http_body::Body for Told {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if let (Some(Ok(frame)), Some(story)) = (&frame, &mut self.story) {
            story.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// One request from its head to its answer's end; dropping it tells.
#[derive(Debug)]
struct Story {
    telling: Arc<Telling>,
    begun: Instant,
    outcome: Outcome,
    bytes: u64,
    /// Only when there is a log.
    record: Option<Box<AccessRecord>>,
}

impl Story {
    fn begin(telling: &Arc<Telling>, request: &Request<RequestBody>) -> Self {
        let record = telling.log.as_ref().map(|_| Box::new(record(request)));
        Self {
            telling: Arc::clone(telling),
            begun: Instant::now(),
            outcome: Outcome::default(),
            bytes: 0,
            record,
        }
    }

    fn head(&mut self, status: StatusCode, outcome: &Outcome) {
        self.outcome = *outcome;
        if let Some(record) = &mut self.record {
            record.status = status.as_u16();
            record.ttfb_us = micros(self.begun.elapsed());
        }
    }
}

impl Drop for Story {
    fn drop(&mut self) {
        let Outcome { decision, from } = self.outcome;
        let took = self.begun.elapsed();
        self.telling
            .requests
            .record(decision.index(), from.index(), self.bytes, took);
        let (Some(mut record), Some(log)) = (self.record.take(), &self.telling.log) else {
            return;
        };
        record.duration_us = micros(took);
        record.response_bytes = self.bytes;
        record.decision = decision.as_str();
        record.tier = from.as_str();
        log.record(*record);
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn record(request: &Request<RequestBody>) -> AccessRecord {
    let client = request.extensions().get::<ClientAddr>();
    let text = |headers: &HeaderMap, name| headers.get(name).map(Text::from);
    let headers = request.headers();
    let target = request
        .uri()
        .path_and_query()
        .map_or("*", |target| target.as_str());
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    AccessRecord {
        time_ms: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
        client: client.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ClientAddr(addr)| {
            addr.ip()
        }),
        method: request.method().clone(),
        target: Text::from(target),
        version: request.version(),
        status: 0,
        response_bytes: 0,
        referer: text(headers, header::REFERER),
        user_agent: text(headers, header::USER_AGENT),
        host: text(headers, header::HOST),
        duration_us: 0,
        ttfb_us: 0,
        decision: "",
        tier: "",
    }
}
