//! Fits a tower service to hyper: one clone per connection, one request at a time through it.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::{Request, Response, StatusCode, Version, header};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use pin_project_lite::pin_project;
use tower_service::Service;

use super::activity::{Activity, InFlight};
use super::limits::ListenLimits;
use super::request_body::RequestBody;
use super::stage::Lifetime;
use crate::BoxError;

/// Who sent a request, in its extensions: the peer of the TCP connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ClientAddr(pub SocketAddr);

/// What [`serve`](super::serve) can serve: any clonable tower service over [`RequestBody`].
///
/// It should not fail: an error closes the connection without an answer. It is implemented for
/// everything that fits.
pub trait EdgeService:
    Service<
        Request<RequestBody>,
        Response = Response<Self::Body>,
        Error = Self::Failure,
        Future = Self::Answer,
    > + Clone
    + Send
    + 'static
{
    /// The body of its responses.
    type Body: Body<Data: Send, Error: Into<BoxError>> + Send + 'static;
    /// Its error.
    type Failure: Into<BoxError>;
    /// Its future.
    type Answer: Future<Output = Result<Response<Self::Body>, Self::Failure>> + Send + 'static;
}

impl<S, B> EdgeService for S
where
    S: Service<Request<RequestBody>, Response = Response<B>> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
    B: Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
{
    type Body = B;
    type Failure = S::Error;
    type Answer = S::Future;
}

/// The service of one connection.
#[derive(Debug)]
pub(super) struct ConnectionService<S> {
    pub(super) service: S,
    pub(super) client: ClientAddr,
    pub(super) lifetime: Lifetime,
    pub(super) limits: Arc<ListenLimits>,
    pub(super) activity: Arc<Activity>,
}

pin_project! {
    /// Waits for the service to be ready, then for its response.
    pub(super) struct Respond<S: EdgeService> {
        #[pin]
        step: Step<S>,
        in_flight: Option<InFlight>,
        wants_upgrade: bool,
    }
}

pin_project! {
    #[project = StepProj]
    enum Step<S: EdgeService> {
        Readying { service: S, request: Option<Request<RequestBody>> },
        Answering { #[pin] answer: S::Answer },
    }
}

pin_project! {
    /// A response body that tells its connection when it is read and when it is done.
    pub(super) struct TrackedBody<B> {
        #[pin]
        body: B,
        in_flight: InFlight,
    }
}

impl<S: EdgeService> hyper::service::Service<Request<Incoming>> for ConnectionService<S> {
    type Response = Response<TrackedBody<S::Body>>;
    type Error = S::Failure;
    type Future = Respond<S>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let in_flight = InFlight::begin(Arc::clone(&self.activity));
        // The guard holds the stream on exactly this condition.
        let wants_upgrade = request.version() == Version::HTTP_11
            && request.headers().contains_key(header::UPGRADE);
        let mut request = request.map(|incoming| RequestBody::new(incoming, &self.limits));
        request.extensions_mut().insert(self.client);
        if wants_upgrade {
            request.extensions_mut().insert(self.lifetime.clone());
        }
        let step = Step::Readying {
            service: self.service.clone(),
            request: Some(request),
        };
        Respond {
            step,
            in_flight: Some(in_flight),
            wants_upgrade,
        }
    }
}

impl<S: EdgeService> Future for Respond<S> {
    type Output = Result<Response<TrackedBody<S::Body>>, S::Failure>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let answer = match this.step.as_mut().project() {
                StepProj::Readying { service, request } => {
                    ready!(service.poll_ready(cx))?;
                    let request = request
                        .take()
                        .expect("invariant: taken once, then answering");
                    service.call(request)
                }
                StepProj::Answering { answer } => {
                    let response = ready!(answer.poll(cx))?;
                    let in_flight = this.in_flight.take().expect("invariant: answered once");
                    if *this.wants_upgrade {
                        open_gate(in_flight.activity(), response.status());
                    }
                    return Poll::Ready(Ok(response.map(|body| TrackedBody { body, in_flight })));
                }
            };
            this.step.set(Step::Answering { answer });
        }
    }
}

fn open_gate(activity: &Activity, status: StatusCode) {
    match status {
        StatusCode::SWITCHING_PROTOCOLS => activity.gate.accepted(),
        _ => activity.gate.refused(),
    }
}

impl<B: Body> Body for TrackedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let mut this = self.project();
        this.in_flight.asked();
        let frame = ready!(this.body.as_mut().poll_frame(cx));
        if matches!(frame, Some(Ok(_))) && !this.body.is_end_stream() {
            this.in_flight.handed_out();
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
