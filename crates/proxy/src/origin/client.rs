//! Sends requests to one origin: prepares them, and repeats one that met a dying connection.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{self, HeaderValue};
use http::uri::{PathAndQuery, Uri};
use http::{Method, Request, Response, StatusCode, Version};
use http_body::Body;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use tower_service::Service;

use super::exchange::exchange;
use super::hop::strip_hop_by_hop;
use super::pool::{Lease, Pool};
use super::{OriginAddress, OriginBody, OriginError, OriginLimits};
use crate::BoxBody;
use crate::listen::stall::StallTimer;

/// A client of one origin. Clones share its connections.
#[derive(Clone, Debug)]
pub struct OriginClient {
    pool: Arc<Pool>,
    host: HostPolicy,
}

/// What the origin reads in `Host`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum HostPolicy {
    /// What the client asked for: the authority of an absolute target or of HTTP/2, else its `Host`
    /// (RFC 9112 §3.2.2); the origin's own address if there is neither.
    #[default]
    Client,
    /// The origin's own address.
    Origin,
    /// Always this.
    Fixed(HeaderValue),
}

/// What is asked of the origin.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Purpose {
    Response,
    Upgrade,
}

impl OriginClient {
    /// A client of the origin at `address`. Nothing is connected before the first request.
    pub fn new(address: OriginAddress, limits: OriginLimits, host: HostPolicy) -> Self {
        Self {
            pool: Arc::new(Pool::new(address, limits)),
            host,
        }
    }

    /// Where the origin is.
    pub fn address(&self) -> &OriginAddress {
        self.pool.address()
    }

    /// Asks the origin to switch to `protocol`. A response other than 101 is an answer like any
    /// other; with 101 the connection is the caller's, through [`hyper::upgrade::on`].
    ///
    /// # Errors
    ///
    /// As [`OriginClient`]'s `call`.
    pub(crate) async fn upgrade(
        &self,
        request: Request<BoxBody>,
        protocol: HeaderValue,
    ) -> Result<Response<OriginBody>, OriginError> {
        let mut request = self.prepare(request);
        let fields = request.headers_mut();
        fields.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        fields.insert(header::UPGRADE, protocol);
        self.send(request, Purpose::Upgrade).await
    }

    /// Makes `request` one of this connection: RFC 9110 §7.6.1 and RFC 9112 §3.2.1.
    fn prepare(&self, mut request: Request<BoxBody>) -> Request<BoxBody> {
        let host = self.host_for(&request);
        let target = request.uri().path_and_query().cloned();
        *request.uri_mut() = target
            .unwrap_or_else(|| PathAndQuery::from_static("/"))
            .into();
        *request.version_mut() = Version::HTTP_11;
        let needs_length = matches!(
            *request.method(),
            Method::POST | Method::PUT | Method::PATCH
        );
        let is_empty = request.body().is_end_stream();
        let fields = request.headers_mut();
        strip_hop_by_hop(fields);
        // The body is wanted and sent: its client was told to go on when it was first read.
        fields.remove(header::EXPECT);
        // The length is the body's own, never one that a field claims (RFC 9112 §6.3).
        fields.remove(header::CONTENT_LENGTH);
        if is_empty && needs_length {
            fields.insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        fields.insert(header::HOST, host);
        request
    }

    fn host_for(&self, request: &Request<BoxBody>) -> HeaderValue {
        let asked = match &self.host {
            HostPolicy::Client => {
                authority(request.uri()).or_else(|| request.headers().get(header::HOST).cloned())
            }
            HostPolicy::Origin => None,
            HostPolicy::Fixed(host) => Some(host.clone()),
        };
        asked.unwrap_or_else(|| self.address().authority().clone())
    }

    /// Sends `request`, and once more on a new connection if the one it met had been used before
    /// and died without an answer. A new connection is never given a second chance, so nothing is
    /// sent more than twice.
    async fn send(
        &self,
        request: Request<BoxBody>,
        purpose: Purpose,
    ) -> Result<Response<OriginBody>, OriginError> {
        let header_timeout = self.pool.limits().header_timeout;
        let mut lease = self.pool.lease().await?;
        let spare = lease.is_reused.then(|| spare(&request)).flatten();
        let answer = match exchange(&mut lease.sender, request, header_timeout).await {
            Ok(answer) => answer,
            Err(failure) => {
                let is_lost = lease.is_reused && matches!(failure.error, OriginError::Closed(_));
                let again = failure.unsent.or(spare).filter(|_| is_lost);
                let Some(again) = again else {
                    return Err(failure.error);
                };
                tracing::debug!(error = %failure.error, "sending a request again");
                lease.renew().await?;
                let second = exchange(&mut lease.sender, again, header_timeout).await;
                second.map_err(|failure| failure.error)?
            }
        };
        self.receive(answer, lease, purpose)
    }

    fn receive(
        &self,
        mut response: Response<Incoming>,
        lease: Lease,
        purpose: Purpose,
    ) -> Result<Response<OriginBody>, OriginError> {
        let stall = StallTimer::new(self.pool.limits().body_timeout);
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            return match purpose {
                Purpose::Response => Err(OriginError::UnaskedUpgrade),
                Purpose::Upgrade => {
                    Ok(response.map(|incoming| OriginBody::of_tunnel(incoming, lease, stall)))
                }
            };
        }
        let fields = response.headers_mut();
        if fields.contains_key(header::TRANSFER_ENCODING) {
            // The coding overrides the length, which must not be passed on (RFC 9112 §6.3).
            fields.remove(header::CONTENT_LENGTH);
        }
        strip_hop_by_hop(fields);
        Ok(response.map(|incoming| OriginBody::new(incoming, lease, stall)))
    }
}

/// `host[:port]` of an absolute target, without a user.
fn authority(uri: &Uri) -> Option<HeaderValue> {
    let authority = uri.authority()?.as_str();
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_user, host)| host);
    HeaderValue::from_str(host).ok()
}

/// A copy of a request that may be sent twice: idempotent (RFC 9110 §9.2.2) and without a body.
fn spare(request: &Request<BoxBody>) -> Option<Request<BoxBody>> {
    if !request.method().is_idempotent() || !request.body().is_end_stream() {
        return None;
    }
    let body = Empty::new().map_err(|never| match never {}).boxed_unsync();
    let mut copy = Request::new(body);
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.version_mut() = request.version();
    *copy.headers_mut() = request.headers().clone();
    Some(copy)
}

/// Sends a request with the fields of its client's connection removed and its target in origin-form.
///
/// Fails with an [`OriginError`]; each wait has a bound in [`OriginLimits`]. Always ready: the bound
/// on connections is waited for in the call. Dropping the future closes the connection in use.
impl Service<Request<BoxBody>> for OriginClient {
    type Response = Response<OriginBody>;
    type Error = OriginError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, OriginError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), OriginError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<BoxBody>) -> Self::Future {
        let client = self.clone();
        Box::pin(async move {
            let request = client.prepare(request);
            client.send(request, Purpose::Response).await
        })
    }
}
