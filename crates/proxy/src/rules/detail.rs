//! What else is there to say about an answer? The `detail` of Cache-Status (RFC 9211 §2.8).
//!
//! `docs/cache-status.md` lists the same names; a test compares the two.

use super::cacheable::NoStore;
use super::decide::Reason;
use super::normalize::BadRequest;
use super::via::Loop;

/// Everything that `detail` can say. The log and the metrics use the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Detail {
    /// The body came from memory.
    Ram,
    /// The body came from flash.
    Ssd,
    /// The body came from another node of the cluster.
    Peer,
    /// Stale, while a revalidation runs.
    StaleWhileRevalidate,
    /// Stale, as the origin failed.
    StaleIfError,
    /// Stale, as the client takes it.
    MaxStale,
    /// Nothing usable is stored and the client said `only-if-cached`.
    OnlyIfCached,
    /// The key was not cacheable lately, so nobody waited for anybody.
    HitForMiss,
    /// The object is larger than the cache takes.
    TooLarge,
    /// The URL has as many variants as it may have.
    TooManyVariants,
    /// The key is longer than a key may be.
    KeyTooLong,
    /// The waiting request went to the origin by itself.
    CollapseTimeout,
    /// The origin could not be reached.
    OriginUnreachable,
    /// The origin did not answer in time.
    OriginTimeout,
    /// The origin answered with an error.
    OriginError,
    /// The origin's 304 was about something else; the object was fetched anew.
    MismatchedNotModified,
    /// The response is not stored, for this reason.
    NoStore(NoStore),
    /// The stored response had to be revalidated, for this reason.
    Revalidate(Reason),
    /// The request was refused, for this reason.
    BadRequest(BadRequest),
    /// The request runs in a loop.
    Loop(Loop),
}

impl Detail {
    /// Every detail. `method` and the like stand for several only in their type: names are
    /// unique.
    pub fn all() -> impl Iterator<Item = Self> {
        [
            Self::Ram,
            Self::Ssd,
            Self::Peer,
            Self::StaleWhileRevalidate,
            Self::StaleIfError,
            Self::MaxStale,
            Self::OnlyIfCached,
            Self::HitForMiss,
            Self::TooLarge,
            Self::TooManyVariants,
            Self::KeyTooLong,
            Self::CollapseTimeout,
            Self::OriginUnreachable,
            Self::OriginTimeout,
            Self::OriginError,
            Self::MismatchedNotModified,
        ]
        .into_iter()
        .chain(NoStore::ALL.map(Self::NoStore))
        .chain(Reason::ALL.map(Self::Revalidate))
        .chain(BadRequest::ALL.map(Self::BadRequest))
        .chain(Loop::ALL.map(Self::Loop))
    }

    /// The name: a token of structured fields.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ram => "ram",
            Self::Ssd => "ssd",
            Self::Peer => "peer",
            Self::StaleWhileRevalidate => "stale-while-revalidate",
            Self::StaleIfError => "stale-if-error",
            Self::MaxStale => "max-stale",
            Self::OnlyIfCached => "only-if-cached",
            Self::HitForMiss => "hit-for-miss",
            Self::TooLarge => "too-large",
            Self::TooManyVariants => "too-many-variants",
            Self::KeyTooLong => "key-too-long",
            Self::CollapseTimeout => "collapse-timeout",
            Self::OriginUnreachable => "origin-unreachable",
            Self::OriginTimeout => "origin-timeout",
            Self::OriginError => "origin-error",
            Self::MismatchedNotModified => "mismatched-304",
            Self::NoStore(reason) => reason.as_str(),
            Self::Revalidate(reason) => reason.as_str(),
            Self::BadRequest(reason) => reason.as_str(),
            Self::Loop(kind) => kind.as_str(),
        }
    }
}

impl From<NoStore> for Detail {
    fn from(reason: NoStore) -> Self {
        Self::NoStore(reason)
    }
}

impl From<Reason> for Detail {
    fn from(reason: Reason) -> Self {
        Self::Revalidate(reason)
    }
}

impl From<BadRequest> for Detail {
    fn from(reason: BadRequest) -> Self {
        Self::BadRequest(reason)
    }
}

impl From<Loop> for Detail {
    fn from(kind: Loop) -> Self {
        Self::Loop(kind)
    }
}
