//! An origin's error as the cache sees it: the one place where the two tables meet.

use http::StatusCode;

use super::OriginError;
use crate::cache::{OriginFailure, OriginFault};

impl OriginFault for OriginError {
    fn failure(&self) -> OriginFailure {
        match self {
            Self::Resolve { .. } | Self::NoAddress { .. } | Self::Connect { .. } => {
                OriginFailure::Connect
            }
            Self::ConnectTimeout { .. } | Self::HeaderTimeout { .. } | Self::BodyTimeout { .. } => {
                OriginFailure::Timeout
            }
            Self::TooManyConnections { .. } => OriginFailure::Busy,
            Self::RequestBody(_) if self.status() == StatusCode::PAYLOAD_TOO_LARGE => {
                OriginFailure::RequestTooLarge
            }
            Self::RequestBody(_) => OriginFailure::RequestBody,
            Self::Closed(_) | Self::Protocol(_) | Self::UnaskedUpgrade => OriginFailure::Protocol,
        }
    }
}
