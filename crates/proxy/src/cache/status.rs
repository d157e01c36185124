//! What `Cache-Status` says of each kind of answer (RFC 9211).

use larder_store::Tier;

use crate::meta::StoredMeta;
use crate::rules::cache_status::{CacheStatus, Fwd};
use crate::rules::detail::Detail;

fn detail_of(tier: Tier) -> Detail {
    match tier {
        Tier::Ram => Detail::Ram,
        Tier::Ssd => Detail::Ssd,
    }
}

fn ttl_s(meta: &StoredMeta, age_s: u32) -> Option<i64> {
    Some(i64::from(meta.ttl_s) - i64::from(age_s))
}

/// Served from the store without asking.
pub(super) fn stored(ttl_s: i64, tier: Tier) -> CacheStatus<'static> {
    CacheStatus {
        hit: true,
        ttl: Some(ttl_s),
        detail: Some(detail_of(tier)),
        ..CacheStatus::default()
    }
}

/// Served from the store past its lifetime, and why that is allowed.
pub(super) fn stale(ttl_s: i64, why: Detail) -> CacheStatus<'static> {
    CacheStatus {
        hit: true,
        ttl: Some(ttl_s),
        detail: Some(why),
        ..CacheStatus::default()
    }
}

/// Fetched, and being stored.
pub(super) fn fetched(fwd: Fwd, meta: &StoredMeta, collapsed: bool) -> CacheStatus<'static> {
    CacheStatus {
        fwd: Some(fwd),
        fwd_status: Some(meta.status),
        ttl: ttl_s(meta, 0),
        stored: true,
        collapsed,
        ..CacheStatus::default()
    }
}

/// Served from the store after the origin confirmed it.
pub(super) fn revalidated(
    fwd: Fwd,
    meta: &StoredMeta,
    tier: Tier,
    collapsed: bool,
) -> CacheStatus<'static> {
    CacheStatus {
        fwd: Some(fwd),
        fwd_status: Some(http::StatusCode::NOT_MODIFIED),
        ttl: ttl_s(meta, 0),
        stored: true,
        collapsed,
        detail: Some(detail_of(tier)),
        ..CacheStatus::default()
    }
}

/// Served stale since the origin failed.
pub(super) fn stale_on_error(meta: &StoredMeta, age_s: u32) -> CacheStatus<'static> {
    CacheStatus {
        hit: true,
        ttl: ttl_s(meta, age_s),
        detail: Some(Detail::StaleIfError),
        ..CacheStatus::default()
    }
}

/// Answered by larder without the origin and without the store.
pub(super) fn refused(detail: Option<Detail>) -> CacheStatus<'static> {
    CacheStatus {
        detail,
        ..CacheStatus::default()
    }
}

/// Handed to the origin, not stored.
pub(super) fn passed(
    fwd: Fwd,
    fwd_status: Option<http::StatusCode>,
    detail: Option<Detail>,
) -> CacheStatus<'static> {
    CacheStatus {
        fwd: Some(fwd),
        fwd_status,
        detail,
        ..CacheStatus::default()
    }
}
