//! How long is a response fresh, and how old is it? (RFC 9111 §4.2)

use http::header::{AGE, DATE, EXPIRES, LAST_MODIFIED, PRAGMA};
use http::{HeaderMap, StatusCode};

use super::cache_control::{DELTA_SECS_MAX, ResponseDirectives};
use super::cacheable::is_heuristically_cacheable;
use super::date::{self, Millis};
use super::lexer::parse_delta_s;
use super::lists::{tokens, trim};
use crate::meta::StoredMeta;

/// What the operator decides about lifetimes that the origin did not give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreshPolicy {
    /// Part of the time since Last-Modified that counts as fresh, 0 to 1 (§4.2.2: "a typical
    /// setting of this fraction might be 10%").
    pub heuristic_fraction: f64,
    /// Longest heuristic lifetime, in seconds; 0 switches heuristics off.
    pub heuristic_max_s: u32,
}

/// How long a response is fresh, counted from the moment the origin made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// Seconds.
    pub ttl_s: u32,
    /// Where the number comes from.
    pub source: LifetimeSource,
}

/// What gave a response its lifetime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LifetimeSource {
    /// `Cache-Control: s-maxage`.
    SMaxage,
    /// `Cache-Control: max-age`.
    MaxAge,
    /// `Expires` minus `Date`.
    Expires,
    /// A fraction of the time since Last-Modified.
    Heuristic,
    /// `CDN-Cache-Control`.
    Targeted,
    /// Nothing: stale at once.
    #[default]
    None,
}

impl Default for FreshPolicy {
    fn default() -> Self {
        Self {
            heuristic_fraction: 0.1,
            heuristic_max_s: 24 * 60 * 60,
        }
    }
}

impl LifetimeSource {
    /// Every source.
    pub const ALL: [Self; 6] = [
        Self::SMaxage,
        Self::MaxAge,
        Self::Expires,
        Self::Heuristic,
        Self::Targeted,
        Self::None,
    ];

    /// The name in the log and in explanations.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SMaxage => "s-maxage",
            Self::MaxAge => "max-age",
            Self::Expires => "expires",
            Self::Heuristic => "heuristic",
            Self::Targeted => "targeted",
            Self::None => "none",
        }
    }
}

/// The freshness lifetime of a response for a shared cache (§4.2.1).
pub fn lifetime(
    status: StatusCode,
    headers: &HeaderMap,
    directives: &ResponseDirectives,
    response_time: Millis,
    policy: &FreshPolicy,
) -> Lifetime {
    if let Some(ttl_s) = directives.s_maxage.or(directives.max_age) {
        let source = match directives {
            ResponseDirectives { targeted: true, .. } => LifetimeSource::Targeted,
            ResponseDirectives {
                s_maxage: Some(_), ..
            } => LifetimeSource::SMaxage,
            _ => LifetimeSource::MaxAge,
        };
        return Lifetime { ttl_s, source };
    }
    // A Date that is missing or unreadable is the time of receipt (RFC 9110 §6.6.1).
    let made = date::field(headers, DATE).unwrap_or(response_time);
    // RFC 9213 §2.2: a targeted field replaces Expires, too.
    if !directives.targeted && headers.contains_key(EXPIRES) {
        // RFC 9111 §5.3: an invalid date, "especially the value 0", is a time in the past. So are two
        // lines that differ.
        let expires = date::field(headers, EXPIRES).unwrap_or_default();
        return Lifetime {
            ttl_s: delta_s(made, expires),
            source: LifetimeSource::Expires,
        };
    }
    match heuristic_s(status, headers, directives, made, policy) {
        Some(ttl_s) => Lifetime {
            ttl_s,
            source: LifetimeSource::Heuristic,
        },
        None => Lifetime {
            ttl_s: 0,
            source: LifetimeSource::None,
        },
    }
}

/// The age of a response when it arrived, in milliseconds (§4.2.3):
///
/// ```text
/// apparent_age        = max(0, response_time - date_value)
/// corrected_age_value = age_value + (response_time - request_time)
/// initial_age         = max(apparent_age, corrected_age_value)
/// ```
///
/// Dates have whole seconds, so the first line is computed in whole seconds.
pub fn initial_age_ms(headers: &HeaderMap, request_time: Millis, response_time: Millis) -> u64 {
    let made = date::field(headers, DATE).unwrap_or(response_time);
    let apparent_age_s = response_time.as_secs().saturating_sub(made.as_secs());
    let response_delay_ms = response_time.since(request_time);
    let age_value_ms = u64::from(age_value_s(headers)).saturating_mul(1000);
    let corrected_age_ms = age_value_ms.saturating_add(response_delay_ms);
    corrected_age_ms.max(apparent_age_s.saturating_mul(1000))
}

/// The age of a stored response at `now`, in milliseconds (§4.2.3: initial age plus resident
/// time).
pub fn current_age_ms(meta: &StoredMeta, now: Millis) -> u64 {
    meta.initial_age_ms
        .saturating_add(now.since(meta.response_time))
}

/// The same in whole seconds, as the Age field says it (§5.1).
pub fn current_age_s(meta: &StoredMeta, now: Millis) -> u32 {
    u32::try_from(current_age_ms(meta, now) / 1000)
        .map_or(DELTA_SECS_MAX, |s| s.min(DELTA_SECS_MAX))
}

/// The first member of Age; 0 when that is not a non-negative integer (§5.1: a cache "SHOULD use
/// the first member" of a list, and "SHOULD ignore the field" when it is invalid).
fn age_value_s(headers: &HeaderMap) -> u32 {
    headers
        .get(AGE)
        .and_then(|line| line.as_bytes().split(|&byte| byte == b',').next())
        .and_then(|member| parse_delta_s(trim(member)))
        .unwrap_or(0)
}

/// §4.2.2. `Pragma: no-cache` in a response means nothing by RFC 9111 §5.4, but whoever sends it
/// does not expect a lifetime to be guessed.
fn heuristic_s(
    status: StatusCode,
    headers: &HeaderMap,
    directives: &ResponseDirectives,
    made: Millis,
    policy: &FreshPolicy,
) -> Option<u32> {
    if !(directives.public || is_heuristically_cacheable(status)) {
        return None;
    }
    if tokens(headers, PRAGMA).any(|token| token.eq_ignore_ascii_case(b"no-cache")) {
        return None;
    }
    let modified = date::field(headers, LAST_MODIFIED)?;
    let unchanged_s = f64::from(delta_s(modified, made));
    let fraction = policy.heuristic_fraction.clamp(0.0, 1.0);
    // The cast saturates, and both factors are finite and not negative.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "see above"
    )]
    let guess_s = (unchanged_s * fraction) as u32;
    Some(guess_s.min(policy.heuristic_max_s))
}

/// Seconds from `from` to `to`, 0 when `to` is earlier, at most [`DELTA_SECS_MAX`].
fn delta_s(from: Millis, to: Millis) -> u32 {
    u32::try_from(to.since(from) / 1000).map_or(DELTA_SECS_MAX, |s| s.min(DELTA_SECS_MAX))
}
