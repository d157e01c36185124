//! Which variant of an object answers a request? (RFC 9111 §4.1, RFC 9110 §12.5.5)

use bytes::{BufMut, Bytes, BytesMut};
use http::header::VARY;
use http::{HeaderMap, HeaderName};
use larder_store::Key;
use smallvec::SmallVec;

use super::lists::tokens;
use super::request_value::normalized;

/// Request fields that one Vary may name. A response that needs more counts as `Vary: *`: hardly
/// two requests would ever share a variant of it.
pub const VARY_NAMES_MAX: usize = 16;

/// What the Vary of a response says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Vary {
    /// It is absent or empty: one variant for all.
    Absent,
    /// `*`, alone or among names, or something that cannot be read: never reused.
    Star,
    /// These request fields select the variant.
    Names(VarySpec),
}

/// The request fields that select a variant: in lower case, sorted, each once, at most
/// [`VARY_NAMES_MAX`], at least one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct VarySpec {
    names: SmallVec<[HeaderName; 2]>,
}

impl Vary {
    /// Reads all Vary lines of a response.
    pub fn parse(headers: &HeaderMap) -> Self {
        let mut names = Vec::new();
        for member in tokens(headers, VARY) {
            // "*" is a valid token, so it would pass for a name.
            match HeaderName::from_bytes(member) {
                Ok(name) if member != b"*" && names.len() < VARY_NAMES_MAX => names.push(name),
                _ => return Self::Star,
            }
        }
        match VarySpec::new(names) {
            Some(spec) => Self::Names(spec),
            None => Self::Absent,
        }
    }
}

impl VarySpec {
    /// The canonical form of `names`; `None` when there are none or too many.
    pub fn new(names: impl IntoIterator<Item = HeaderName>) -> Option<Self> {
        let mut names: SmallVec<[HeaderName; 2]> = names.into_iter().collect();
        names.sort_unstable_by(|a, b| a.as_str().cmp(b.as_str()));
        names.dedup();
        (1..=VARY_NAMES_MAX)
            .contains(&names.len())
            .then_some(Self { names })
    }

    /// The names, sorted.
    pub fn names(&self) -> &[HeaderName] {
        &self.names
    }
}

/// The key of the variant of object `primary` that answers a request with these headers; `None`
/// when it would be longer than a key may be.
///
/// ```text
/// primary 00 generation:8 { 00 | 01 length:4 value }*      one of the latter for each name
/// ```
///
/// No primary key has a NUL, so no variant has the key of an object. `generation` is that of the
/// primary entry: a new one cuts off every variant at once. An absent field (`00`) differs from
/// an empty one (`01` and length 0). Numbers are little-endian.
pub fn variant_key(
    primary: &[u8],
    generation: u64,
    spec: &VarySpec,
    req_headers: &HeaderMap,
) -> Option<Bytes> {
    let mut key = BytesMut::with_capacity(primary.len() + 64);
    key.put_slice(primary);
    key.put_u8(0);
    key.put_u64_le(generation);
    for name in &spec.names {
        match normalized(name, req_headers) {
            None => key.put_u8(0),
            Some(value) => {
                key.put_u8(1);
                key.put_u32_le(u32::try_from(value.len()).ok()?);
                key.put_slice(&value);
            }
        }
    }
    (key.len() <= Key::MAX_BYTES).then(|| key.freeze())
}
