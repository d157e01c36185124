//! May a stale response stand in for a failed origin? (RFC 5861 §4, RFC 9111 §4.2.4)

use http::StatusCode;

use super::cache_control::RequestDirectives;
use super::date::Millis;
use super::fresh::current_age_ms;
use crate::meta::{Flags, StoredMeta};

/// What the operator decides about stale answers that the origin did not mention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StalePolicy {
    /// Seconds past its lifetime for which a response without `stale-if-error` may stand in for a
    /// failed origin (the "out-of-band contract" of §4.2.4). 0: only where the origin allows it.
    pub on_error_s: u32,
}

/// How the origin failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginFailure {
    /// No answer: refused, reset, timed out.
    Unreachable,
    /// An answer with this status.
    Status(StatusCode),
}

impl OriginFailure {
    /// Whether a status is an error that a stale response may hide: "500, 502, 503, or 504"
    /// (RFC 5861 §4).
    pub fn from_status(status: StatusCode) -> Option<Self> {
        matches!(status.as_u16(), 500 | 502 | 503 | 504).then_some(Self::Status(status))
    }

    fn counts(self) -> bool {
        match self {
            Self::Unreachable => true,
            Self::Status(status) => Self::from_status(status).is_some(),
        }
    }
}

/// Whether the stored response may answer although the origin failed.
///
/// Prohibited whatever anybody allows: by `no-cache` on either side, by must-revalidate and
/// proxy-revalidate, and by s-maxage unless the origin sent `stale-if-error` beside it. Request
/// `max-age` and `min-fresh` do not matter: RFC 5861 allows the answer "regardless of other
/// freshness information".
pub fn stale_if_error_allows(
    meta: &StoredMeta,
    req: &RequestDirectives,
    now: Millis,
    failure: OriginFailure,
    policy: &StalePolicy,
) -> bool {
    if !failure.counts() || req.no_cache {
        return false;
    }
    if meta
        .flags
        .intersects(Flags::NO_CACHE | Flags::MUST_REVALIDATE)
    {
        return false;
    }
    let lifetime_ms = u64::from(meta.ttl_s) * 1000;
    let stale_for_ms = current_age_ms(meta, now).saturating_sub(lifetime_ms);
    let within = |window_s: u32| window_s > 0 && stale_for_ms <= u64::from(window_s) * 1000;
    // `stale-if-error=0` from the origin is its word, and beats the operator's default.
    match meta.sie_s {
        Some(window_s) => within(window_s),
        None if meta.flags.contains(Flags::S_MAXAGE) => false,
        None => within(policy.on_error_s) || req.stale_if_error.is_some_and(within),
    }
}
