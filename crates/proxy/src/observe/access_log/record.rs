//! What the log knows of a request.

use std::fmt;
use std::net::IpAddr;

use http::{HeaderValue, Method, Version};

/// Bytes that the log keeps of one field; the rest is cut off. No URL that people share is longer,
/// and the queue's bound in bytes stays near its bound in records.
pub const FIELD_BYTES_MAX: usize = 2048;

/// A copy of bytes that a client sent, cut at [`FIELD_BYTES_MAX`].
///
/// A copy, because a shared slice would keep the connection's whole read buffer in memory for as
/// long as the line waits.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Text(Box<[u8]>);

/// One answered request. Absent fields are written as `-` or left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRecord {
    /// When the request's head was complete, in ms since 1970.
    pub time_ms: u64,
    /// The client's address, after trusted proxies.
    pub client: IpAddr,
    /// As received.
    pub method: Method,
    /// As received: path and query, or the absolute form.
    pub target: Text,
    /// The client's version of HTTP.
    pub version: Version,
    /// The status that was sent; 0 if the connection ended before.
    pub status: u16,
    /// Body bytes sent.
    pub response_bytes: u64,
    /// `Referer`.
    pub referer: Option<Text>,
    /// `User-Agent`.
    pub user_agent: Option<Text>,
    /// `Host` or `:authority`.
    pub host: Option<Text>,
    /// From the request's head to the answer's last byte, in µs.
    pub duration_us: u64,
    /// From the request's head to the answer's first byte, in µs.
    pub ttfb_us: u64,
    /// The cache's decision, by its stable name.
    pub decision: &'static str,
    /// The tier that gave the bytes, by its stable name.
    pub tier: &'static str,
}

impl AccessRecord {
    /// What the record holds in memory, in bytes.
    pub fn weight_bytes(&self) -> usize {
        let optional = [&self.referer, &self.user_agent, &self.host];
        let optional = optional.into_iter().flatten().map(|text| text.0.len());
        size_of::<Self>() + self.target.0.len() + optional.sum::<usize>()
    }
}

impl Text {
    /// The bytes, as they were sent.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<&[u8]> for Text {
    fn from(bytes: &[u8]) -> Self {
        let kept = bytes.get(..FIELD_BYTES_MAX).unwrap_or(bytes);
        Self(kept.into())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::from(text.as_bytes())
    }
}

impl From<&HeaderValue> for Text {
    fn from(value: &HeaderValue) -> Self {
        Self::from(value.as_bytes())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

/// The name of a version as request lines spell it.
pub(super) fn version_name(version: Version) -> &'static str {
    match version {
        Version::HTTP_09 => "HTTP/0.9",
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_11 => "HTTP/1.1",
        Version::HTTP_2 => "HTTP/2.0",
        Version::HTTP_3 => "HTTP/3.0",
        _ => "HTTP/?",
    }
}

#[cfg(test)]
pub(super) mod example {
    use super::*;

    /// A record like those of docs/access-log.md.
    pub(in super::super) fn record() -> AccessRecord {
        AccessRecord {
            time_ms: 1_795_267_800_123,
            client: "192.0.2.7".parse().unwrap(),
            method: Method::GET,
            target: Text::from("/logo.png?v=3"),
            version: Version::HTTP_11,
            status: 200,
            response_bytes: 5_120,
            referer: Some(Text::from("https://example.org/")),
            user_agent: Some(Text::from("curl/8.5.0")),
            host: Some(Text::from("cdn.example.org")),
            duration_us: 183,
            ttfb_us: 121,
            decision: "hit",
            tier: "ram",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_cut_at_its_bound() {
        let long = vec![b'x'; FIELD_BYTES_MAX + 1];
        assert_eq!(
            Text::from(long.as_slice()).as_bytes().len(),
            FIELD_BYTES_MAX
        );
        assert_eq!(Text::from("short").as_bytes(), b"short");
    }

    #[test]
    fn the_weight_counts_all_fields() {
        let mut record = example::record();
        let before = record.weight_bytes();
        record.host = None;
        record.target = Text::from("/");
        assert_eq!(before - record.weight_bytes(), "cdn.example.org".len() + 12);
    }
}
