//! What is kept with a stored body, and how it is written down.

mod codec;

use std::ops::{BitOr, BitOrAssign};

use bytes::{Bytes, BytesMut};
use http::header::{AGE, DATE, ETAG, LAST_MODIFIED};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::rules::cache_control::ResponseDirectives;
use crate::rules::cacheable::NoStore;
use crate::rules::conditional::has_validator;
use crate::rules::date::{self, Millis};
use crate::rules::fresh::{FreshPolicy, LifetimeSource, initial_age_ms, lifetime};
use crate::rules::freshen::freshen;
use crate::rules::hop::{Upgrade, strip_hop_by_hop};
use crate::rules::vary::VarySpec;

/// Header lines of an entry: what the origin client takes from a response is fewer.
pub const HEADER_LINES_MAX: usize = 256;

/// Bytes of all header names and values of an entry.
pub const HEADER_BYTES_MAX: usize = 64 << 10;

/// Heap bytes of one line in a [`HeaderMap`]: a bucket (hash, name, value, links) of 104 bytes
/// and its part of the index, which is kept at most three quarters full.
const HEADER_LINE_BYTES: usize = 112;

/// What is kept with a body: enough to answer, to revalidate and to explain.
///
/// `headers` are what an answer sends: hop-by-hop fields, Age and withheld fields are gone, and a
/// Date is always there. Cloning them copies no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMeta {
    /// What the entry is.
    pub kind: Kind,
    /// Status of the response.
    pub status: StatusCode,
    /// Fields of the response.
    pub headers: HeaderMap,
    /// When the request went to the origin.
    pub request_time: Millis,
    /// When the head of its response came back.
    pub response_time: Millis,
    /// Age of the response at `response_time`, in milliseconds (RFC 9111 §4.2.3).
    pub initial_age_ms: u64,
    /// Freshness lifetime, in seconds of age.
    pub ttl_s: u32,
    /// Where the lifetime comes from.
    pub ttl_source: LifetimeSource,
    /// `stale-while-revalidate`, in seconds past the lifetime; 0 without.
    pub swr_s: u32,
    /// `stale-if-error`, in seconds past the lifetime, where the origin sent it.
    pub sie_s: Option<u32>,
    /// What restricts its use.
    pub flags: Flags,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A response with its body.
    Object,
    /// The primary entry of a URL whose responses vary: no body, no fields.
    VaryIndex {
        /// Part of every variant's key; a new one cuts off all variants.
        generation: u64,
        /// Which request fields select the variant.
        spec: VarySpec,
    },
}

/// A set of restrictions on the use of a stored response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// `no-cache`: never without revalidation.
    pub const NO_CACHE: Self = Self(1);
    /// `must-revalidate` or `proxy-revalidate`: never stale.
    pub const MUST_REVALIDATE: Self = Self(2);
    /// `s-maxage`: stale only where the origin's RFC 5861 directives say so.
    pub const S_MAXAGE: Self = Self(4);

    const ALL: Self = Self(7);

    /// Whether all of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any of `other` is set.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn of(directives: &ResponseDirectives) -> Self {
        let mut flags = Self::default();
        if directives.no_cache {
            flags |= Self::NO_CACHE;
        }
        if directives.forbids_stale() {
            flags |= Self::MUST_REVALIDATE;
        }
        if directives.s_maxage.is_some() {
            flags |= Self::S_MAXAGE;
        }
        flags
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl StoredMeta {
    /// What to keep of a response that [`storable`](crate::rules::cacheable::storable) lets
    /// through.
    ///
    /// # Errors
    ///
    /// [`NoStore::HeadersTooLarge`], and [`NoStore::Expired`] when it could never be used: without a
    /// validator, and either `no-cache` or stale on arrival and not to be served stale.
    pub fn from_response(
        status: StatusCode,
        headers: &HeaderMap,
        directives: &ResponseDirectives,
        request_time: Millis,
        response_time: Millis,
        policy: &FreshPolicy,
    ) -> Result<Self, NoStore> {
        let initial_age_ms = initial_age_ms(headers, request_time, response_time);
        let headers = kept(headers, directives, response_time)?;
        let lifetime = lifetime(status, &headers, directives, response_time, policy);
        let meta = Self {
            kind: Kind::Object,
            status,
            headers,
            request_time,
            response_time,
            initial_age_ms,
            ttl_s: lifetime.ttl_s,
            ttl_source: lifetime.source,
            swr_s: directives.stale_while_revalidate.unwrap_or(0),
            sie_s: directives.stale_if_error,
            flags: Flags::of(directives),
        };
        if meta.is_usable() {
            Ok(meta)
        } else {
            Err(NoStore::Expired)
        }
    }

    /// The primary entry of a URL whose responses vary, made at `now`. It has no lifetime of its
    /// own.
    pub fn vary_index(generation: u64, spec: VarySpec, now: Millis) -> Self {
        Self {
            kind: Kind::VaryIndex { generation, spec },
            status: StatusCode::OK,
            headers: HeaderMap::new(),
            request_time: now,
            response_time: now,
            initial_age_ms: 0,
            ttl_s: 0,
            ttl_source: LifetimeSource::None,
            swr_s: 0,
            sie_s: None,
            flags: Flags::default(),
        }
    }

    /// This response after a 304 that [`matches_304`](crate::rules::freshen::matches_304): fields
    /// updated, age and lifetime counted anew.
    ///
    /// # Errors
    ///
    /// As [`from_response`](Self::from_response). Whether the updated response may still be
    /// stored is for `storable` to say, with `ResponseDirectives::parse(&meta.headers)`.
    pub fn freshened(
        &self,
        from_304: &HeaderMap,
        request_time: Millis,
        response_time: Millis,
        policy: &FreshPolicy,
    ) -> Result<Self, NoStore> {
        let mut headers = self.headers.clone();
        // The stored Date and Age belong to the earlier response; without one of its own, the 304
        // was made when it came.
        headers.remove(DATE);
        freshen(&mut headers, from_304);
        let directives = ResponseDirectives::parse(&headers);
        let meta = Self::from_response(
            self.status,
            &headers,
            &directives,
            request_time,
            response_time,
            policy,
        )?;
        Ok(Self {
            kind: self.kind.clone(),
            ..meta
        })
    }

    /// The entity tag, as the origin wrote it.
    pub fn etag(&self) -> Option<&HeaderValue> {
        self.headers.get(ETAG)
    }

    /// When the origin says that it last changed.
    pub fn last_modified(&self) -> Option<Millis> {
        date::field(&self.headers, LAST_MODIFIED)
    }

    /// When the origin made the response.
    pub fn date(&self) -> Option<Millis> {
        date::field(&self.headers, DATE)
    }

    fn is_usable(&self) -> bool {
        let revalidates = has_validator(&self.headers);
        if self.flags.contains(Flags::NO_CACHE) {
            return revalidates;
        }
        let arrives_fresh = u64::from(self.ttl_s) * 1000 > self.initial_age_ms;
        let may_be_stale = self.swr_s > 0 || self.sie_s.is_some_and(|window_s| window_s > 0);
        arrives_fresh || may_be_stale || revalidates
    }
}

impl larder_store::Meta for StoredMeta {
    fn encode(&self, out: &mut Vec<u8>) {
        codec::encode(self, out);
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        codec::decode(bytes)
    }

    fn weight_bytes(&self) -> usize {
        let names = match &self.kind {
            Kind::Object => 0,
            Kind::VaryIndex { spec, .. } => size_of_val(spec.names()),
        };
        let text: usize = self.headers.iter().map(line_bytes).sum();
        names + text + self.headers.capacity() * HEADER_LINE_BYTES
    }
}

/// The fields to keep, with all values in one piece of memory of their own: as they came, they
/// are slices of the connection's read buffer and would keep all of it.
fn kept(
    headers: &HeaderMap,
    directives: &ResponseDirectives,
    response_time: Millis,
) -> Result<HeaderMap, NoStore> {
    let mut headers = headers.clone();
    strip_hop_by_hop(&mut headers, Upgrade::Strip);
    for name in &directives.withheld {
        headers.remove(name);
    }
    // Each answer gets an Age of its own.
    headers.remove(AGE);
    // RFC 9110 §6.6.1: without a usable Date, it is the time of receipt.
    if date::field(&headers, DATE).is_none() {
        headers.insert(DATE, date::format(response_time));
    }
    let bytes: usize = headers.iter().map(line_bytes).sum();
    if headers.len() > HEADER_LINES_MAX || bytes > HEADER_BYTES_MAX {
        return Err(NoStore::HeadersTooLarge);
    }
    Ok(compacted(&headers))
}

fn compacted(headers: &HeaderMap) -> HeaderMap {
    let bytes = headers.values().map(HeaderValue::len).sum();
    let mut text = BytesMut::with_capacity(bytes);
    for value in headers.values() {
        text.extend_from_slice(value.as_bytes());
    }
    let mut text: Bytes = text.freeze();
    let mut compacted = HeaderMap::with_capacity(headers.keys_len());
    for (name, value) in headers {
        let copy = HeaderValue::from_maybe_shared(text.split_to(value.len()));
        compacted.append(
            name,
            copy.expect("invariant: the same bytes were a value before"),
        );
    }
    compacted
}

fn line_bytes((name, value): (&HeaderName, &HeaderValue)) -> usize {
    name.as_str().len() + value.len()
}
