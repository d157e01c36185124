//! When do two requests say the same in one field? (RFC 9111 §4.1)
//!
//! Normalization is limited to what has "identical semantics, according to the header field's
//! specification". The order of Accept-Language stays: RFC 9110 §12.5.4 knows origins that read a
//! priority from it.

use std::borrow::Cow;

use http::header::{
    ACCEPT_ENCODING, ACCEPT_LANGUAGE, AUTHORIZATION, COOKIE, HOST, ORIGIN, REFERER, USER_AGENT,
};
use http::{HeaderMap, HeaderName};

use super::lists::{Escapes, quoted_members, trim};

/// Fields that are not lists: a comma in them is text, and so is the space behind it.
const SINGLETONS: [HeaderName; 5] = [AUTHORIZATION, HOST, ORIGIN, REFERER, USER_AGENT];

/// The value of field `name` with lines combined and optional whitespace removed; `None` when
/// the request has no such field.
pub(crate) fn normalized<'a>(name: &HeaderName, headers: &'a HeaderMap) -> Option<Cow<'a, [u8]>> {
    let mut lines = headers.get_all(name).iter().map(|line| line.as_bytes());
    let first = lines.next()?;
    // RFC 9113 §8.2.3: a cookie may come in pieces, which "; " joins.
    if name == COOKIE {
        return Some(joined(first, lines, b"; "));
    }
    if SINGLETONS.contains(name) {
        return Some(joined(first, lines, b","));
    }
    let mut members: Vec<Cow<'_, [u8]>> = std::iter::once(first)
        .chain(lines)
        .flat_map(|line| quoted_members(line, Escapes::Backslash))
        .map(Cow::Borrowed)
        .collect();
    if name == ACCEPT_ENCODING {
        for coding in &mut members {
            *coding = Cow::Owned(canonical_coding(coding));
        }
        members.sort_unstable();
        members.dedup();
    } else if name == ACCEPT_LANGUAGE {
        for range in &mut members {
            *range = Cow::Owned(canonical_weighted(range));
        }
    }
    Some(match members.as_slice() {
        [Cow::Borrowed(only)] => Cow::Borrowed(*only),
        _ => Cow::Owned(members.join(&b','.to_owned())),
    })
}

fn joined<'a>(
    first: &'a [u8],
    rest: impl Iterator<Item = &'a [u8]>,
    separator: &[u8],
) -> Cow<'a, [u8]> {
    let mut value = Cow::Borrowed(first);
    for line in rest {
        let value = value.to_mut();
        value.extend_from_slice(separator);
        value.extend_from_slice(line);
    }
    value
}

/// A coding in lower case with its weight; `x-gzip` and `x-compress` are other names of `gzip`
/// and `compress` (RFC 9110 §8.4.1).
fn canonical_coding(member: &[u8]) -> Vec<u8> {
    let canonical = canonical_weighted(member);
    let known = [&b"x-gzip"[..], b"x-compress"].iter().any(|old| {
        canonical
            .strip_prefix(*old)
            .is_some_and(|rest| rest.is_empty() || rest[0] == b';')
    });
    if known {
        canonical.get(2..).unwrap_or_default().to_vec()
    } else {
        canonical
    }
}

/// `GZIP ; Q=0.50` → `gzip;q=0.5`. A weight of 1 is the same as none, and goes. A member with
/// other parameters or an invalid weight is only lowercased.
fn canonical_weighted(member: &[u8]) -> Vec<u8> {
    let lower = member.to_ascii_lowercase();
    let mut parts = lower.split(|&byte| byte == b';').map(trim);
    let token = parts.next().unwrap_or_default();
    let weight = match (parts.next(), parts.next()) {
        (None, None) => Some(&b"1"[..]),
        (Some(only), None) => only.strip_prefix(b"q=").and_then(canonical_weight),
        _ => None,
    };
    match weight {
        None => lower,
        Some(b"1") => token.to_vec(),
        Some(weight) => [token, b";q=", weight].concat(),
    }
}

/// A valid weight (RFC 9110 §12.4.2) without its trailing zeros: `0.50` → `0.5`, `1.0` → `1`.
fn canonical_weight(weight: &[u8]) -> Option<&[u8]> {
    let (whole, fraction) = weight.split_first()?;
    let digits = match fraction {
        [] | [b'.'] => &[],
        [b'.', digits @ ..] if digits.len() <= 3 => digits,
        _ => return None,
    };
    let significant = digits
        .iter()
        .rposition(|&digit| digit != b'0')
        .map_or(0, |at| at + 1);
    match whole {
        b'0' if digits.iter().all(u8::is_ascii_digit) => {
            weight.get(..if significant == 0 { 1 } else { significant + 2 })
        }
        b'1' if significant == 0 => weight.get(..1),
        _ => None,
    }
}
