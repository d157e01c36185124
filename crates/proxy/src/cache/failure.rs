//! Whose fault it is, and what follows from that: status, log level, retry, in one table.

use std::convert::Infallible;

use http::StatusCode;

/// Who is to blame for an answer that could not be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The request is wrong.
    Client,
    /// The origin did not do its part.
    Origin,
    /// larder is at its limit.
    Load,
    /// larder is wrong.
    Bug,
}

/// How the origin failed, as far as the cache cares. The names are used in `Cache-Status`
/// details, logs and metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OriginFailure {
    /// No connection could be made: refused, unreachable, name not found.
    Connect,
    /// No answer, or no more of it, within the time.
    Timeout,
    /// The connection closed or spoke something else than HTTP.
    Protocol,
    /// All connections to the origin are busy, for too long.
    Busy,
    /// The client's body broke off or was not understood.
    RequestBody,
    /// The client's body is larger than allowed.
    RequestTooLarge,
    /// The fetch that was waited for went away without a word.
    Abandoned,
}

impl OriginFailure {
    /// All, in the order of the variants.
    pub const ALL: [Self; 7] = [
        Self::Connect,
        Self::Timeout,
        Self::Protocol,
        Self::Busy,
        Self::RequestBody,
        Self::RequestTooLarge,
        Self::Abandoned,
    ];

    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        self.row().0
    }

    /// The status that the client gets when nothing stored may stand in (RFC 9110 §15.6).
    pub const fn status(self) -> StatusCode {
        self.row().1
    }

    /// Who is to blame.
    pub const fn blame(self) -> Blame {
        self.row().2
    }

    /// Whether another fetch may follow at once for those who waited.
    pub const fn may_retry(self) -> bool {
        self.row().3
    }

    /// Name, status, blame, and whether those who waited may try anew.
    const fn row(self) -> (&'static str, StatusCode, Blame, bool) {
        match self {
            Self::Connect => (
                "origin-connect",
                StatusCode::BAD_GATEWAY,
                Blame::Origin,
                true,
            ),
            Self::Timeout => (
                "origin-timeout",
                StatusCode::GATEWAY_TIMEOUT,
                Blame::Origin,
                false,
            ),
            Self::Protocol => (
                "origin-protocol",
                StatusCode::BAD_GATEWAY,
                Blame::Origin,
                true,
            ),
            Self::Busy => (
                "origin-busy",
                StatusCode::SERVICE_UNAVAILABLE,
                Blame::Load,
                false,
            ),
            Self::RequestBody => (
                "request-body",
                StatusCode::BAD_REQUEST,
                Blame::Client,
                false,
            ),
            Self::RequestTooLarge => (
                "request-too-large",
                StatusCode::PAYLOAD_TOO_LARGE,
                Blame::Client,
                false,
            ),
            Self::Abandoned => ("abandoned", StatusCode::BAD_GATEWAY, Blame::Bug, true),
        }
    }
}

impl Blame {
    /// At which level a failure is logged: what an operator can mend is a warning, what a
    /// client does is not.
    pub const fn level(self) -> tracing::Level {
        match self {
            Self::Client => tracing::Level::DEBUG,
            Self::Origin | Self::Load => tracing::Level::WARN,
            Self::Bug => tracing::Level::ERROR,
        }
    }
}

/// An error of the service behind the cache, seen as a failure of the origin.
pub trait OriginFault: std::fmt::Display + Send + 'static {
    /// Which.
    fn failure(&self) -> OriginFailure;
}

impl OriginFault for crate::BoxError {
    /// A service that says no more than that it failed.
    fn failure(&self) -> OriginFailure {
        OriginFailure::Protocol
    }
}

impl OriginFault for Infallible {
    fn failure(&self) -> OriginFailure {
        match *self {}
    }
}
