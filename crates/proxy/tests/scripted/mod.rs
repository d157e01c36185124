//! The cache core before an origin that follows a script, under a clock that the test moves.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file is a crate that uses its part"
)]
#![allow(
    clippy::unwrap_used,
    reason = "what only tests call may say what it expects"
)]

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, Empty, StreamBody};
use larder::cache::{Cache, CachePolicy, Clock, Core, OriginFailure, OriginFault};
use larder::listen::ClientAddr;
use larder::meta::StoredMeta;
use larder::{BoxBody, BoxError};
use larder_store::{Store, StoreOptions};
use parking_lot::Mutex;
use tower_service::Service;

/// What the origin does next.
pub enum Step {
    /// Answers after a while: the step after this one, and so on.
    Wait(Duration),
    /// Never answers.
    Hang,
    /// Closes the connection.
    Fail,
    /// Gives up on the origin after its own time.
    TimeOut,
    /// Answers. The body breaks off after `broken` bytes.
    Answer {
        status: u16,
        headers: HeaderMap,
        body: Bytes,
        broken: Option<usize>,
    },
}

impl Step {
    pub fn answer(status: u16, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Self {
        Self::Answer {
            status,
            headers: header_map(headers),
            body: body.into(),
            broken: None,
        }
    }

    pub fn broken(status: u16, headers: &[(&str, &str)], body: &'static str, after: usize) -> Self {
        let body = Bytes::from_static(body.as_bytes());
        Self::Answer {
            status,
            headers: header_map(headers),
            body,
            broken: Some(after),
        }
    }
}

fn header_map(lines: &[(&str, &str)]) -> HeaderMap {
    let line = |(name, value): &(&str, &str)| {
        (
            HeaderName::try_from(*name).unwrap(),
            HeaderValue::try_from(*value).unwrap(),
        )
    };
    lines.iter().map(line).collect()
}

#[derive(Debug)]
pub struct Fault(OriginFailure);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the script says fail")
    }
}

impl OriginFault for Fault {
    fn failure(&self) -> OriginFailure {
        self.0
    }
}

#[derive(Clone)]
pub struct ScriptedOrigin {
    script: Arc<Mutex<VecDeque<Step>>>,
    delay: Option<Duration>,
    seen: Arc<Mutex<Vec<HeaderMap>>>,
}

impl Service<Request<BoxBody>> for ScriptedOrigin {
    type Response = Response<BoxBody>;
    type Error = Fault;
    type Future = Pin<Box<dyn Future<Output = Result<Response<BoxBody>, Fault>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<BoxBody>) -> Self::Future {
        self.seen.lock().push(request.headers().clone());
        let origin = self.clone();
        Box::pin(async move {
            if let Some(delay) = origin.delay {
                tokio::time::sleep(delay).await;
            }
            loop {
                let step = origin
                    .script
                    .lock()
                    .pop_front()
                    .expect("the script goes on");
                match step {
                    Step::Wait(time) => tokio::time::sleep(time).await,
                    Step::Hang => std::future::pending().await,
                    Step::Fail => return Err(Fault(OriginFailure::Protocol)),
                    Step::TimeOut => return Err(Fault(OriginFailure::Timeout)),
                    Step::Answer {
                        status,
                        headers,
                        body,
                        broken,
                    } => {
                        return Ok(answer(status, headers, &body, broken));
                    }
                }
            }
        })
    }
}

fn answer(
    status: u16,
    mut headers: HeaderMap,
    body: &Bytes,
    broken: Option<usize>,
) -> Response<BoxBody> {
    headers.insert("content-length", HeaderValue::from(body.len()));
    let mut frames = vec![Ok(Frame::data(body.slice(..broken.unwrap_or(body.len()))))];
    if broken.is_some() {
        frames.push(Err(BoxError::from("broken off")));
    }
    let mut response = Response::new(StreamBody::new(stream::iter(frames).boxed()).boxed_unsync());
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    *response.headers_mut() = headers;
    response
}

/// An answer, read to its end.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub cache_status: String,
    /// `None` when it broke off.
    pub body: Option<Bytes>,
}

/// The cache core on the bench.
pub struct Bench {
    cache: Cache<ScriptedOrigin, BoxBody>,
    origin: ScriptedOrigin,
    clock: Arc<AtomicU64>,
    asked: AtomicUsize,
}

impl Bench {
    pub fn new(script: Vec<Step>) -> Self {
        Self::with(script, None)
    }

    /// Every fetch takes `delay`.
    pub fn with(script: Vec<Step>, delay: Option<Duration>) -> Self {
        let origin = ScriptedOrigin {
            script: Arc::new(Mutex::new(script.into())),
            delay,
            seen: Arc::default(),
        };
        let clock = Arc::new(AtomicU64::new(1_800_000_000_000));
        let open = Store::<StoredMeta>::open(StoreOptions::new(64 << 20));
        let store = futures_util::FutureExt::now_or_never(open)
            .unwrap()
            .unwrap();
        let time = Clock::Manual(Arc::clone(&clock));
        let core = Core::with_clock(store, CachePolicy::default(), 16 << 20, time);
        let cache = Cache::new(core, origin.clone());
        Self {
            cache,
            origin,
            clock,
            asked: AtomicUsize::new(0),
        }
    }

    /// Asks, and reads the answer to its end. Runs when it is polled.
    pub fn ask(&self, request: Request<Empty<Bytes>>) -> impl Future<Output = Answer> + use<> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut cache = self.cache.clone();
        async move {
            let response = cache.call(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let cache_status = parts.headers.get_all("cache-status").iter().next_back();
            Answer {
                status: parts.status,
                cache_status: cache_status
                    .map(|value| value.to_str().unwrap().to_owned())
                    .unwrap_or_default(),
                headers: parts.headers,
                body: body
                    .collect()
                    .await
                    .ok()
                    .map(http_body_util::Collected::to_bytes),
            }
        }
    }

    pub fn pass_seconds(&self, seconds: u64) {
        self.clock.fetch_add(seconds * 1000, Ordering::SeqCst);
    }

    /// Requests that the origin has seen.
    pub fn fetches(&self) -> usize {
        self.origin.seen.lock().len()
    }

    pub fn last_header(&self, name: &str) -> Option<String> {
        let seen = self.origin.seen.lock();
        Some(seen.last()?.get(name)?.to_str().unwrap().to_owned())
    }

    pub fn collapse_wait(&self) -> Duration {
        self.cache.core().policy.collapse_wait
    }

    /// Waits until the origin has seen so many requests. Time passes meanwhile.
    pub async fn until_fetches(&self, count: usize) {
        while self.fetches() < count {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Waits until no fetch runs. Time passes meanwhile.
    pub async fn until_idle(&self) {
        while !self.cache.core().flights.is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    pub async fn until_stored(&self, path: &str) {
        self.until_idle().await;
        let key = format!("http://test.example{path}");
        let key = self.cache.core().store.key(Bytes::from(key));
        assert!(
            self.cache.core().store.get_ram(&key).is_some(),
            "{path} is not stored"
        );
    }
}

pub fn get(path: &str) -> Request<Empty<Bytes>> {
    request("GET", path, &[])
}

pub fn request(method: &str, path: &str, headers: &[(&str, &str)]) -> Request<Empty<Bytes>> {
    let mut request = Request::new(Empty::new());
    *request.method_mut() = method.parse().unwrap();
    *request.uri_mut() = path.parse().unwrap();
    *request.headers_mut() = header_map(headers);
    request
        .headers_mut()
        .insert("host", HeaderValue::from_static("test.example"));
    request
        .extensions_mut()
        .insert(ClientAddr(([127, 0, 0, 1], 9).into()));
    request
}
