//! How a request to an origin fails, and whose fault it is.

use std::error::Error;
use std::io;
use std::net::SocketAddr;

use http::StatusCode;
use thiserror::Error;

use crate::listen::BodyError;

/// Why there is no response, or no more of it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OriginError {
    /// The name could not be looked up.
    #[error("cannot resolve {host}: {source}")]
    Resolve {
        /// The name.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// The name has no address.
    #[error("{host} has no address")]
    NoAddress {
        /// The name.
        host: String,
    },
    /// The last of the addresses tried refused.
    #[error("cannot connect to {addr}: {source}")]
    Connect {
        /// The address.
        addr: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// No address answered in time.
    #[error("no connection to {host} within {after_ms} ms")]
    ConnectTimeout {
        /// The name or address.
        host: String,
        /// The limit.
        after_ms: u128,
    },
    /// All connections are in use.
    #[error("all {connections_max} connections are in use; waited {waited_ms} ms for one")]
    TooManyConnections {
        /// The limit.
        connections_max: usize,
        /// How long the request waited; 0 when too many waited already.
        waited_ms: u128,
    },
    /// The origin took the request and was silent.
    #[error("no response head within {after_ms} ms")]
    HeaderTimeout {
        /// The limit.
        after_ms: u128,
    },
    /// The origin paused within a body.
    #[error("the response body paused for more than {after_ms} ms")]
    BodyTimeout {
        /// The limit.
        after_ms: u128,
    },
    /// The origin closed the connection before the response was complete.
    #[error("the origin closed the connection: {0}")]
    Closed(#[source] hyper::Error),
    /// What came is not HTTP, or beyond the limits.
    #[error("the origin broke the protocol: {0}")]
    Protocol(#[source] hyper::Error),
    /// The origin switched to a protocol that was not asked for.
    #[error("the origin switched protocols unasked")]
    UnaskedUpgrade,
    /// The client's body failed on the way.
    #[error("the request body failed: {0}")]
    RequestBody(#[source] hyper::Error),
}

/// Whose fault an error is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Blame {
    /// The client's.
    Client,
    /// The origin's.
    Origin,
    /// Ours: a limit of this proxy.
    Proxy,
}

impl Blame {
    /// The name in logs and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Origin => "origin",
            Self::Proxy => "proxy",
        }
    }
}

impl OriginError {
    /// The name in logs, metrics and headers.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Resolve { .. } => "resolve",
            Self::NoAddress { .. } => "no-address",
            Self::Connect { .. } => "connect",
            Self::ConnectTimeout { .. } => "connect-timeout",
            Self::TooManyConnections { .. } => "too-many-connections",
            Self::HeaderTimeout { .. } => "header-timeout",
            Self::BodyTimeout { .. } => "body-timeout",
            Self::Closed(_) => "closed",
            Self::Protocol(_) => "protocol",
            Self::UnaskedUpgrade => "unasked-upgrade",
            Self::RequestBody(_) => "request-body",
        }
    }

    /// Whose fault it is.
    pub const fn blame(&self) -> Blame {
        match self {
            Self::RequestBody(_) => Blame::Client,
            Self::TooManyConnections { .. } => Blame::Proxy,
            _ => Blame::Origin,
        }
    }

    /// The status that tells the client so (RFC 9110 §15.6).
    pub fn status(&self) -> StatusCode {
        match self {
            Self::ConnectTimeout { .. } | Self::HeaderTimeout { .. } | Self::BodyTimeout { .. } => {
                StatusCode::GATEWAY_TIMEOUT
            }
            Self::TooManyConnections { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Self::RequestBody(error) => of_request_body(error),
            _ => StatusCode::BAD_GATEWAY,
        }
    }

    /// Sorts an error of a request that hyper sent.
    pub(super) fn of_request(error: hyper::Error) -> Self {
        if error.is_user() {
            Self::RequestBody(error)
        } else {
            Self::of_response(error)
        }
    }

    /// Sorts an error of a response that hyper reads.
    pub(super) fn of_response(error: hyper::Error) -> Self {
        if error.is_parse() || is_invalid_data(&error) {
            Self::Protocol(error)
        } else {
            Self::Closed(error)
        }
    }
}

/// Whether a body's framing is broken; when the connection is, the kind is another.
fn is_invalid_data(error: &hyper::Error) -> bool {
    find::<io::Error>(error).is_some_and(|io| {
        matches!(
            io.kind(),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput
        )
    })
}

fn of_request_body(error: &hyper::Error) -> StatusCode {
    find::<BodyError>(error).map_or(StatusCode::BAD_REQUEST, BodyError::status)
}

fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut source = Some(error);
    while let Some(cause) = source {
        if let Some(found) = cause.downcast_ref() {
            return Some(found);
        }
        source = cause.source();
    }
    None
}
