//! Which part of a stored object does a request want? (RFC 9110 §14)

use std::ops::Range;

use http::header::{
    ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_RANGE,
    LAST_MODIFIED, RANGE,
};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::conditional::{last_modified_is_strong, strong_eq};
use super::date;
use super::lists::trim;
use crate::meta::StoredMeta;

/// Ranges in one request beyond which the whole object is sent: RFC 9110 §17.15 on "many small
/// ranges". Browsers and players send one.
pub const RANGES_MAX: usize = 16;

/// What part to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RangeOutcome {
    /// The whole object with its own status: no range, or one that does not apply.
    Full,
    /// 206 with these bytes: not empty, within the object.
    Partial(Range<u64>),
    /// 416.
    Unsatisfiable,
}

/// One range as it was written (RFC 9110 §14.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spec {
    /// `first-` or `first-last`, both inclusive.
    From(u64, Option<u64>),
    /// `-length`: the last bytes.
    Suffix(u64),
}

/// Evaluates Range and If-Range of a GET against a stored object of `body_bytes` bytes.
///
/// Call it after the other preconditions (RFC 9110 §13.2.2). Several ranges are served when they
/// make one contiguous range together; otherwise the whole object is, which §14.2 allows.
pub fn evaluate(req_headers: &HeaderMap, meta: &StoredMeta, body_bytes: u64) -> RangeOutcome {
    let mut lines = req_headers.get_all(RANGE).iter();
    let (Some(line), None) = (lines.next(), lines.next()) else {
        return RangeOutcome::Full;
    };
    // §14.2: a Range applies to what would otherwise be a 200.
    if meta.status != StatusCode::OK || !if_range_holds(req_headers, &meta.headers) {
        return RangeOutcome::Full;
    }
    match parse(line.as_bytes()) {
        Some(specs) => resolve(&specs, body_bytes),
        None => RangeOutcome::Full,
    }
}

/// Makes the fields of a whole object those of a 206 with `range` of its `body_bytes`.
pub fn partial_headers(headers: &mut HeaderMap, range: &Range<u64>, body_bytes: u64) {
    let last = range.end.saturating_sub(1);
    let content_range = format!("bytes {}-{last}/{body_bytes}", range.start);
    headers.insert(CONTENT_RANGE, visible(content_range));
    let length = range.end.saturating_sub(range.start);
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
}

/// Makes the fields of a whole object those of a 416 without a body.
pub fn unsatisfiable_headers(headers: &mut HeaderMap, body_bytes: u64) {
    for name in [CONTENT_TYPE, CONTENT_ENCODING, ETAG, LAST_MODIFIED] {
        headers.remove(name);
    }
    headers.insert(CONTENT_RANGE, visible(format!("bytes */{body_bytes}")));
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(0));
}

/// RFC 9110 §13.1.5: an entity tag by strong comparison, or a date that is exactly the stored
/// Last-Modified, where that is strong.
fn if_range_holds(req_headers: &HeaderMap, stored: &HeaderMap) -> bool {
    let mut lines = req_headers.get_all(IF_RANGE).iter();
    let Some(wanted) = lines.next() else {
        return true;
    };
    if lines.next().is_some() {
        return false;
    }
    let wanted = wanted.as_bytes();
    if let Some(date) = date::parse(wanted) {
        return last_modified_is_strong(stored) && date::field(stored, LAST_MODIFIED) == Some(date);
    }
    stored
        .get(ETAG)
        .is_some_and(|etag| strong_eq(wanted, etag.as_bytes()))
}

/// §14.2: "A server that supports range requests MAY ignore" one that is invalid, of another
/// unit, or of too many ranges: `None`.
fn parse(line: &[u8]) -> Option<Vec<Spec>> {
    let equals = line.iter().position(|&byte| byte == b'=')?;
    let (unit, set) = line.split_at(equals);
    if !unit.eq_ignore_ascii_case(b"bytes") {
        return None;
    }
    let mut specs = Vec::new();
    for member in set.get(1..)?.split(|&byte| byte == b',').map(trim) {
        if member.is_empty() {
            continue;
        }
        if specs.len() == RANGES_MAX {
            return None;
        }
        specs.push(parse_spec(member)?);
    }
    (!specs.is_empty()).then_some(specs)
}

fn parse_spec(member: &[u8]) -> Option<Spec> {
    let dash = member.iter().position(|&byte| byte == b'-')?;
    let (first, last) = member.split_at(dash);
    let last = last.get(1..)?;
    match (first.is_empty(), last.is_empty()) {
        (true, true) => None,
        (true, false) => number(last).map(Spec::Suffix),
        (false, true) => Some(Spec::From(number(first)?, None)),
        (false, false) => {
            let (first, last) = (number(first)?, number(last)?);
            // §14.1.1: "invalid if the last-pos value is present and less than first-pos".
            (first <= last).then_some(Spec::From(first, Some(last)))
        }
    }
}

/// `1*DIGIT`, saturating: any position beyond 2^64 is beyond the object.
fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().all(u8::is_ascii_digit).then(|| {
        digits.iter().fold(0u64, |number, digit| {
            number
                .saturating_mul(10)
                .saturating_add(u64::from(digit - b'0'))
        })
    })
}

fn resolve(specs: &[Spec], body_bytes: u64) -> RangeOutcome {
    // An empty object has no byte to name in a Content-Range, yet a suffix of it is satisfiable.
    let suffix = |spec: &Spec| matches!(spec, Spec::Suffix(1..));
    if body_bytes == 0 && specs.iter().any(suffix) {
        return RangeOutcome::Full;
    }
    let mut ranges: Vec<_> = specs
        .iter()
        .filter_map(|spec| spec.within(body_bytes))
        .collect();
    ranges.sort_unstable_by_key(|range| range.start);
    let Some(mut whole) = ranges.first().cloned() else {
        return RangeOutcome::Unsatisfiable;
    };
    for range in ranges {
        if range.start > whole.end {
            return RangeOutcome::Full;
        }
        whole.end = whole.end.max(range.end);
    }
    RangeOutcome::Partial(whole)
}

impl Spec {
    /// The bytes that it names of an object; `None` when there are none (§14.1.2).
    fn within(self, body_bytes: u64) -> Option<Range<u64>> {
        let (start, end) = match self {
            Self::From(first, None) => (first, body_bytes),
            Self::From(first, Some(last)) => (first, last.saturating_add(1).min(body_bytes)),
            Self::Suffix(length) => (body_bytes.saturating_sub(length), body_bytes),
        };
        (start < end).then_some(start..end)
    }
}

fn visible(text: String) -> HeaderValue {
    HeaderValue::try_from(text).expect("invariant: digits and punctuation are visible ASCII")
}
