//! May a stored response answer this request now? (RFC 9111 §4, §4.2.4, §5.2.1; RFC 5861 §3)

use http::StatusCode;

use super::cache_control::{MaxStale, RequestDirectives};
use super::cache_status::Fwd;
use super::date::Millis;
use super::fresh::{current_age_ms, current_age_s};
use crate::meta::{Flags, StoredMeta};

/// What to do with a stored response.
///
/// `ttl_s` is the remaining lifetime in seconds, negative when it is over, as Cache-Status
/// reports it (RFC 9211 §2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Answer with it.
    Fresh {
        /// Value of the Age field, seconds.
        age_s: u32,
        /// Remaining lifetime, seconds.
        ttl_s: i64,
    },
    /// It is stale; answer with it because the client's `max-stale` takes it.
    Stale {
        /// Value of the Age field, seconds.
        age_s: u32,
        /// Remaining lifetime, seconds: not positive.
        ttl_s: i64,
    },
    /// It is stale; answer with it and revalidate it behind the client's back.
    StaleWhileRevalidate {
        /// Value of the Age field, seconds.
        age_s: u32,
        /// Remaining lifetime, seconds: not positive.
        ttl_s: i64,
    },
    /// Ask the origin first.
    Revalidate {
        /// Why it may not be used as it is.
        reason: Reason,
    },
    /// It may not be used and the client forbids to ask the origin: answer with
    /// [`ONLY_IF_CACHED_STATUS`]. The same goes for a miss with `only-if-cached`.
    OnlyIfCached,
}

/// The answer to `only-if-cached` when nothing stored will do (§5.2.1.7).
pub const ONLY_IF_CACHED_STATUS: StatusCode = StatusCode::GATEWAY_TIMEOUT;

/// Why a stored response needs the origin's word before it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The response said `no-cache`.
    NoCache,
    /// The request said `no-cache`.
    RequestNoCache,
    /// It is older than the request's `max-age`.
    RequestMaxAge,
    /// It stays fresh for less than the request's `min-fresh`.
    RequestMinFresh,
    /// Its lifetime is over and nothing allows to use it stale.
    Stale,
}

impl Reason {
    /// Every reason, in the order of the documentation.
    pub const ALL: [Self; 5] = [
        Self::NoCache,
        Self::RequestNoCache,
        Self::RequestMaxAge,
        Self::RequestMinFresh,
        Self::Stale,
    ];

    /// The name in the log, the metric and the `detail` of Cache-Status.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoCache => "no-cache",
            Self::RequestNoCache => "request-no-cache",
            Self::RequestMaxAge => "request-max-age",
            Self::RequestMinFresh => "request-min-fresh",
            Self::Stale => "stale",
        }
    }

    /// The `fwd` parameter of a request forwarded for this reason (RFC 9211 §2.2).
    pub const fn fwd(self) -> Fwd {
        match self {
            Self::NoCache | Self::Stale => Fwd::Stale,
            Self::RequestNoCache | Self::RequestMaxAge | Self::RequestMinFresh => Fwd::Request,
        }
    }
}

impl Decision {
    /// The name in the log and the metric.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Fresh { .. } => "fresh",
            Self::Stale { .. } => "max-stale",
            Self::StaleWhileRevalidate { .. } => "stale-while-revalidate",
            Self::Revalidate { reason } => reason.as_str(),
            Self::OnlyIfCached => "only-if-cached",
        }
    }
}

/// Decides about a stored response that was found by its full key.
///
/// `no-store` in the request plays no part: it forbids to store, not to answer (§5.2.1.5).
pub fn decide(meta: &StoredMeta, req: &RequestDirectives, now: Millis) -> Decision {
    let clock = Clock::of(meta, now);
    match refusal(meta, req, clock) {
        None if clock.is_fresh() => Decision::Fresh {
            age_s: clock.age_s,
            ttl_s: clock.ttl_s(),
        },
        None if max_stale_allows(meta, req, clock) => Decision::Stale {
            age_s: clock.age_s,
            ttl_s: clock.ttl_s(),
        },
        None if while_revalidate_allows(meta, req, clock) => Decision::StaleWhileRevalidate {
            age_s: clock.age_s,
            ttl_s: clock.ttl_s(),
        },
        _ if req.only_if_cached => Decision::OnlyIfCached,
        reason => Decision::Revalidate {
            reason: reason.unwrap_or(Reason::Stale),
        },
    }
}

/// Age against lifetime. Compared in milliseconds, so that two roundings cannot add a second.
#[derive(Clone, Copy)]
struct Clock {
    age_ms: u64,
    lifetime_ms: u64,
    age_s: u32,
}

impl Clock {
    fn of(meta: &StoredMeta, now: Millis) -> Self {
        Self {
            age_ms: current_age_ms(meta, now),
            lifetime_ms: u64::from(meta.ttl_s) * 1000,
            age_s: current_age_s(meta, now),
        }
    }

    /// §4.2: `response_is_fresh = (freshness_lifetime > current_age)`.
    fn is_fresh(self) -> bool {
        self.lifetime_ms > self.age_ms
    }

    fn remaining_ms(self) -> u64 {
        self.lifetime_ms.saturating_sub(self.age_ms)
    }

    fn stale_for_ms(self) -> u64 {
        self.age_ms.saturating_sub(self.lifetime_ms)
    }

    fn ttl_s(self) -> i64 {
        i64::try_from(self.lifetime_ms / 1000).unwrap_or(i64::MAX) - i64::from(self.age_s)
    }
}

/// What forbids to use the response whether it is fresh or not.
fn refusal(meta: &StoredMeta, req: &RequestDirectives, clock: Clock) -> Option<Reason> {
    // §5.2.2.4.
    if meta.flags.contains(Flags::NO_CACHE) {
        return Some(Reason::NoCache);
    }
    // §5.2.1.4.
    if req.no_cache {
        return Some(Reason::RequestNoCache);
    }
    // §5.2.1.1: "age is less than or equal to".
    if req
        .max_age
        .is_some_and(|max_age_s| clock.age_ms > ms(max_age_s))
    {
        return Some(Reason::RequestMaxAge);
    }
    // §5.2.1.3: "freshness lifetime is no less than its current age plus the specified time".
    // A stale response never is, not even with min-fresh=0.
    let too_short = |min_fresh_s| !clock.is_fresh() || clock.remaining_ms() < ms(min_fresh_s);
    if req.min_fresh.is_some_and(too_short) {
        return Some(if clock.is_fresh() {
            Reason::RequestMinFresh
        } else {
            Reason::Stale
        });
    }
    None
}

/// §5.2.1.2, within §4.2.4: not against must-revalidate, proxy-revalidate or s-maxage.
fn max_stale_allows(meta: &StoredMeta, req: &RequestDirectives, clock: Clock) -> bool {
    if meta
        .flags
        .intersects(Flags::MUST_REVALIDATE | Flags::S_MAXAGE)
    {
        return false;
    }
    match req.max_stale {
        Some(MaxStale::Any) => true,
        Some(MaxStale::Seconds(max_s)) => clock.stale_for_ms() <= ms(max_s),
        None => false,
    }
}

/// RFC 5861 §3.
///
/// s-maxage alone forbids stale answers (§5.2.2.10), but an origin that sends it together with
/// stale-while-revalidate has said what it wants. must-revalidate and proxy-revalidate leave no
/// such room.
fn while_revalidate_allows(meta: &StoredMeta, req: &RequestDirectives, clock: Clock) -> bool {
    // §5.2.1.1: with max-age and without max-stale, "the client does not wish to receive a stale
    // response".
    let client_minds = req.max_age.is_some() && req.max_stale.is_none();
    !client_minds
        && !meta.flags.contains(Flags::MUST_REVALIDATE)
        && meta.swr_s > 0
        && clock.stale_for_ms() <= ms(meta.swr_s)
}

fn ms(secs: u32) -> u64 {
    u64::from(secs) * 1000
}
