//! What a client can do wrong in HTTP/1 framing: one name for the log, the metric and the error.

use std::sync::atomic::{AtomicU64, Ordering};

use thiserror::Error;

/// How a request broke the framing rules of RFC 9112. Each is a way to make two parsers disagree
/// about where a message ends; none is repaired.
#[derive(Clone, Copy, Debug, Error, Eq, Hash, PartialEq)]
#[error("malformed request: {}", self.as_str())]
#[non_exhaustive]
pub enum Violation {
    /// A carriage return without a line feed (RFC 9112 §2.2).
    BareCr,
    /// A line feed without a carriage return.
    BareLf,
    /// Chunk data that does not end with CRLF where its size says (§7.1).
    ChunkEnd,
    /// Chunk extensions that are too long, or whitespace before them (§7.1.1).
    ChunkExtension,
    /// A chunk size that is not 1 to 15 hexadecimal digits.
    ChunkSize,
    /// A transfer coding in a request of HTTP/1.0 (§6.1).
    CodingInOldVersion,
    /// More than one `Transfer-Encoding` line.
    CodingRepeated,
    /// A transfer coding other than exactly `chunked`.
    CodingUnknown,
    /// The method CONNECT: this is no tunnel.
    Connect,
    /// NUL or another control character.
    Control,
    /// A field name that is no token (RFC 9110 §5.1).
    FieldName,
    /// A continued field line (obs-fold, RFC 9112 §5.2).
    Fold,
    /// A head larger than the limit.
    HeadTooLarge,
    /// A `Host` that cannot be a host and port.
    HostInvalid,
    /// HTTP/1.1 without `Host` (§3.2).
    HostMissing,
    /// More than one `Host`.
    HostRepeated,
    /// A `Content-Length` that is not 1 to 18 digits (§6.3).
    LengthInvalid,
    /// More than one `Content-Length`, equal or not.
    LengthRepeated,
    /// `Content-Length` together with `Transfer-Encoding`.
    LengthWithCoding,
    /// A method that is no token or too long.
    Method,
    /// Whitespace between a field name and its colon (§5.1).
    SpaceBeforeColon,
    /// A request target in none of the forms that a server accepts (§3.2).
    Target,
    /// A trailer field that would frame or route the message (RFC 9110 §6.5.1).
    TrailerForbidden,
    /// Trailers larger than the limit.
    TrailerTooLarge,
    /// A version other than HTTP/1.0 and HTTP/1.1.
    Version,
}

/// How often each [`Violation`] was seen; shared by all connections.
#[derive(Debug, Default)]
pub struct ViolationCounts([AtomicU64; Violation::ALL.len()]);

impl Violation {
    /// Every violation, in the order of their numbers.
    pub const ALL: [Self; 25] = [
        Self::BareCr,
        Self::BareLf,
        Self::ChunkEnd,
        Self::ChunkExtension,
        Self::ChunkSize,
        Self::CodingInOldVersion,
        Self::CodingRepeated,
        Self::CodingUnknown,
        Self::Connect,
        Self::Control,
        Self::FieldName,
        Self::Fold,
        Self::HeadTooLarge,
        Self::HostInvalid,
        Self::HostMissing,
        Self::HostRepeated,
        Self::LengthInvalid,
        Self::LengthRepeated,
        Self::LengthWithCoding,
        Self::Method,
        Self::SpaceBeforeColon,
        Self::Target,
        Self::TrailerForbidden,
        Self::TrailerTooLarge,
        Self::Version,
    ];

    /// The name in logs and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BareCr => "bare-cr",
            Self::BareLf => "bare-lf",
            Self::ChunkEnd => "chunk-end",
            Self::ChunkExtension => "chunk-extension",
            Self::ChunkSize => "chunk-size",
            Self::CodingInOldVersion => "coding-in-old-version",
            Self::CodingRepeated => "coding-repeated",
            Self::CodingUnknown => "coding-unknown",
            Self::Connect => "connect",
            Self::Control => "control",
            Self::FieldName => "field-name",
            Self::Fold => "fold",
            Self::HeadTooLarge => "head-too-large",
            Self::HostInvalid => "host-invalid",
            Self::HostMissing => "host-missing",
            Self::HostRepeated => "host-repeated",
            Self::LengthInvalid => "length-invalid",
            Self::LengthRepeated => "length-repeated",
            Self::LengthWithCoding => "length-with-coding",
            Self::Method => "method",
            Self::SpaceBeforeColon => "space-before-colon",
            Self::Target => "target",
            Self::TrailerForbidden => "trailer-forbidden",
            Self::TrailerTooLarge => "trailer-too-large",
            Self::Version => "version",
        }
    }

    /// The violation that a byte is which may stand nowhere in a head, else `otherwise`.
    pub(super) const fn of_byte(byte: u8, otherwise: Self) -> Self {
        match byte {
            b'\n' => Self::BareLf,
            b'\r' => Self::BareCr,
            0..=8 | 11..=31 | 0x7f => Self::Control,
            _ => otherwise,
        }
    }
}

impl ViolationCounts {
    /// One more of `violation`.
    pub fn add(&self, violation: Violation) {
        self.0[violation as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Each violation with the number of times it was seen.
    pub fn iter(&self) -> impl Iterator<Item = (Violation, u64)> + '_ {
        let counts = self.0.iter().map(|count| count.load(Ordering::Relaxed));
        Violation::ALL.into_iter().zip(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_one_to_one() {
        let mut names = std::collections::HashSet::new();
        for (index, violation) in Violation::ALL.into_iter().enumerate() {
            assert_eq!(violation as usize, index);
            assert!(names.insert(violation.as_str()));
        }
        let counts = ViolationCounts::default();
        counts.add(Violation::Fold);
        let seen: Vec<_> = counts.iter().filter(|(_, count)| *count > 0).collect();
        assert_eq!(seen, [(Violation::Fold, 1)]);
    }
}
