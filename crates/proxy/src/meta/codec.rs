//! The written form of [`StoredMeta`]: compact, versioned, and bounded when read back.
//!
//! ```text
//! version:1 kind:1 flags:1 source:1 status:2
//! request_time response_time - request_time  initial_age  ttl  swr  sie + 1      varints
//! kind 1: generation  count { length name }*                                      varints
//! count { name_length value_length name value }*                                  varints
//! ```
//!
//! Varints are little-endian base 128, fixed numbers little-endian. The store checks the bytes
//! before it hands them over, so a reader meets hostile bytes only through a defect; it still must
//! not panic or allocate beyond its bounds.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use super::{Flags, HEADER_BYTES_MAX, HEADER_LINES_MAX, Kind, StoredMeta};
use crate::rules::date::Millis;
use crate::rules::fresh::LifetimeSource;
use crate::rules::vary::{VARY_NAMES_MAX, VarySpec};

/// Changes with every change of the layout: entries of another version are misses.
const VERSION: u8 = 1;

const KIND_OBJECT: u8 = 0;
const KIND_VARY_INDEX: u8 = 1;

/// Bytes of a varint of 64 bits.
const VARINT_BYTES_MAX: usize = 10;

pub(super) fn encode(meta: &StoredMeta, out: &mut Vec<u8>) {
    let kind = match meta.kind {
        Kind::Object => KIND_OBJECT,
        Kind::VaryIndex { .. } => KIND_VARY_INDEX,
    };
    out.extend([VERSION, kind, meta.flags.0, source_code(meta.ttl_source)]);
    out.extend(meta.status.as_u16().to_le_bytes());
    put_varint(out, meta.request_time.0);
    put_varint(out, meta.response_time.since(meta.request_time));
    put_varint(out, meta.initial_age_ms);
    put_varint(out, u64::from(meta.ttl_s));
    put_varint(out, u64::from(meta.swr_s));
    put_varint(
        out,
        meta.sie_s.map_or(0, |window_s| u64::from(window_s) + 1),
    );
    if let Kind::VaryIndex { generation, spec } = &meta.kind {
        put_varint(out, *generation);
        put_varint(out, spec.names().len() as u64);
        for name in spec.names() {
            put_varint(out, name.as_str().len() as u64);
            out.extend_from_slice(name.as_str().as_bytes());
        }
    }
    put_varint(out, meta.headers.len() as u64);
    for (name, value) in &meta.headers {
        put_varint(out, name.as_str().len() as u64);
        put_varint(out, value.len() as u64);
        out.extend_from_slice(name.as_str().as_bytes());
        out.extend_from_slice(value.as_bytes());
    }
}

/// `None` for another version, a bound exceeded, bytes missing or left over.
pub(super) fn decode(bytes: &[u8]) -> Option<StoredMeta> {
    let (&[version, kind, flags, source], rest) = bytes.split_first_chunk()?;
    let (&status, rest) = rest.split_first_chunk()?;
    if version != VERSION || flags & !Flags::ALL.0 != 0 {
        return None;
    }
    let mut reader = Reader { rest };
    let request_time = reader.varint()?;
    let response_time = request_time.checked_add(reader.varint()?)?;
    let meta = StoredMeta {
        kind: Kind::Object,
        status: StatusCode::from_u16(u16::from_le_bytes(status)).ok()?,
        headers: HeaderMap::new(),
        request_time: Millis(request_time),
        response_time: Millis(response_time),
        initial_age_ms: reader.varint()?,
        ttl_s: reader.u32()?,
        ttl_source: LifetimeSource::ALL.get(usize::from(source)).copied()?,
        swr_s: reader.u32()?,
        sie_s: reader.optional_u32()?,
        flags: Flags(flags),
    };
    let kind = match kind {
        KIND_OBJECT => Kind::Object,
        KIND_VARY_INDEX => reader.vary_index()?,
        _ => return None,
    };
    let headers = reader.headers()?;
    reader.rest.is_empty().then_some(StoredMeta {
        kind,
        headers,
        ..meta
    })
}

/// Index in [`LifetimeSource::ALL`].
fn source_code(source: LifetimeSource) -> u8 {
    match source {
        LifetimeSource::SMaxage => 0,
        LifetimeSource::MaxAge => 1,
        LifetimeSource::Expires => 2,
        LifetimeSource::Heuristic => 3,
        LifetimeSource::Targeted => 4,
        LifetimeSource::None => 5,
    }
}

fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for at in 0..VARINT_BYTES_MAX {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            let bits = u64::from(byte & 0x7f);
            let shift = 7 * at as u32;
            let placed = bits << shift;
            // The tenth byte has room for one bit.
            if placed >> shift != bits {
                return None;
            }
            number |= placed;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn u32(&mut self) -> Option<u32> {
        self.varint()?.try_into().ok()
    }

    fn optional_u32(&mut self) -> Option<Option<u32>> {
        match self.varint()? {
            0 => Some(None),
            number => Some(Some(u32::try_from(number - 1).ok()?)),
        }
    }

    fn count(&mut self, max: usize) -> Option<usize> {
        usize::try_from(self.varint()?)
            .ok()
            .filter(|count| *count <= max)
    }

    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(bytes)
    }

    fn name(&mut self, length: usize) -> Option<HeaderName> {
        HeaderName::from_bytes(self.bytes(length)?).ok()
    }

    fn vary_index(&mut self) -> Option<Kind> {
        let generation = self.varint()?;
        let count = self.count(VARY_NAMES_MAX)?;
        let mut names = Vec::with_capacity(count);
        for _ in 0..count {
            let length = self.count(HEADER_BYTES_MAX)?;
            names.push(self.name(length)?);
        }
        Some(Kind::VaryIndex {
            generation,
            spec: VarySpec::new(names)?,
        })
    }

    /// All values become slices of one copy of what is left.
    fn headers(&mut self) -> Option<HeaderMap> {
        let count = self.count(HEADER_LINES_MAX)?;
        if self.rest.len() > HEADER_BYTES_MAX + count * 2 * VARINT_BYTES_MAX {
            return None;
        }
        let text = Bytes::copy_from_slice(self.rest);
        let mut headers = HeaderMap::with_capacity(count);
        for _ in 0..count {
            let name_bytes = self.count(HEADER_BYTES_MAX)?;
            let value_bytes = self.count(HEADER_BYTES_MAX)?;
            let name = self.name(name_bytes)?;
            let start = text.len() - self.rest.len();
            self.bytes(value_bytes)?;
            let value = text.slice(start..start + value_bytes);
            headers.append(name, HeaderValue::from_maybe_shared(value).ok()?);
        }
        Some(headers)
    }
}
