//! How does an answer say what the cache did? The Cache-Status field (RFC 9211)

use std::fmt::Write;

use http::header::CACHE_STATUS;
use http::{HeaderMap, HeaderValue, StatusCode};

use super::detail::Detail;
use super::pseudonym::Pseudonym;

/// Largest number in a structured field (RFC 9651 §3.3.1).
const INTEGER_MAX: i64 = 999_999_999_999_999;

/// Longest `key` parameter, in bytes; a longer key is left out rather than cut.
pub const KEY_BYTES_MAX: usize = 1024;

/// What the cache did with one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStatus<'a> {
    /// The answer came from the store, without asking the origin (§2.1). Excludes `fwd`.
    pub hit: bool,
    /// Why the request went to the origin (§2.2).
    pub fwd: Option<Fwd>,
    /// What the origin answered, where the client got another status (§2.3).
    pub fwd_status: Option<StatusCode>,
    /// Remaining lifetime of the answer, in seconds, negative when it is stale (§2.4).
    pub ttl: Option<i64>,
    /// The origin's answer went into the store (§2.5).
    pub stored: bool,
    /// The request waited for another one's answer (§2.6).
    pub collapsed: bool,
    /// The key, where it is shown; left out when it is not printable or too long (§2.7).
    pub key: Option<&'a str>,
    /// What else there is to say (§2.8).
    pub detail: Option<Detail>,
}

/// Why a request went to the origin (RFC 9211 §2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fwd {
    /// The cache is configured not to handle the request.
    Bypass,
    /// The method's semantics need it.
    Method,
    /// Nothing is stored for the URI.
    UriMiss,
    /// Something is stored for the URI, but no variant for this request.
    VaryMiss,
    /// Nothing is stored, and it is not known which of the two it was.
    Miss,
    /// What is stored is fresh, but the request does not take it.
    Request,
    /// What is stored is stale.
    Stale,
    /// What is stored is a part of what was asked for.
    Partial,
}

impl Fwd {
    /// The token in the field.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bypass => "bypass",
            Self::Method => "method",
            Self::UriMiss => "uri-miss",
            Self::VaryMiss => "vary-miss",
            Self::Miss => "miss",
            Self::Request => "request",
            Self::Stale => "stale",
            Self::Partial => "partial",
        }
    }
}

impl CacheStatus<'_> {
    /// The field value, as a structured field serializes it: one allocation.
    pub fn to_value(&self, own: &Pseudonym) -> HeaderValue {
        let mut text = String::with_capacity(own.cache_status().len() + 96);
        text.push_str(own.cache_status());
        self.write_parameters(&mut text);
        HeaderValue::try_from(text).expect("invariant: parameters are printable ASCII")
    }

    /// Adds the field after those of the caches nearer to the origin (§2).
    pub fn append_to(&self, headers: &mut HeaderMap, own: &Pseudonym) {
        headers.append(CACHE_STATUS, self.to_value(own));
    }

    fn write_parameters(&self, text: &mut String) {
        if self.hit {
            text.push_str(";hit");
        } else if let Some(fwd) = self.fwd {
            text.push_str(";fwd=");
            text.push_str(fwd.as_str());
        }
        // Writing to a String cannot fail.
        if let Some(status) = self.fwd_status {
            let _ = write!(text, ";fwd-status={}", status.as_u16());
        }
        if let Some(ttl) = self.ttl {
            let _ = write!(text, ";ttl={}", ttl.clamp(-INTEGER_MAX, INTEGER_MAX));
        }
        if self.stored {
            text.push_str(";stored");
        }
        if self.collapsed {
            text.push_str(";collapsed");
        }
        if let Some(key) = self.key.filter(|key| is_showable(key)) {
            text.push_str(";key=");
            push_string(text, key);
        }
        if let Some(detail) = self.detail {
            text.push_str(";detail=");
            text.push_str(detail.as_str());
        }
    }
}

fn is_showable(key: &str) -> bool {
    key.len() <= KEY_BYTES_MAX && key.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// RFC 9651 §4.1.6.
fn push_string(text: &mut String, content: &str) {
    text.push('"');
    for character in content.chars() {
        if matches!(character, '"' | '\\') {
            text.push('\\');
        }
        text.push(character);
    }
    text.push('"');
}
