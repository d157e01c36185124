//! The field values that frame or route a message, judged byte by byte: `Content-Length`,
//! `Transfer-Encoding`, `Host`.

use super::Violation;
use super::scan;

/// Most digits of a `Content-Length`: 18 digits are an exabyte and cannot overflow a `u64`.
const LENGTH_DIGITS_MAX: u8 = 18;
const CHUNKED: &[u8] = b"chunked";

/// What is known of the value so far.
#[derive(Debug)]
pub(super) enum Value {
    /// Any text.
    Free,
    /// `1*DIGIT` (RFC 9110 §8.6): the number, its digits, and whether it has ended.
    Length { bytes: u64, digits: u8, ended: bool },
    /// Exactly `chunked`: how much of it has come, and whether it has ended.
    Coding { matched: usize, ended: bool },
    /// `uri-host [ ":" port ]`: whether it has begun and whether it has ended.
    Host { begun: bool, ended: bool },
}

impl Value {
    pub(super) const fn length() -> Self {
        Self::Length { bytes: 0, digits: 0, ended: false }
    }

    pub(super) const fn coding() -> Self {
        Self::Coding { matched: 0, ended: false }
    }

    pub(super) const fn host() -> Self {
        Self::Host { begun: false, ended: false }
    }

    /// The next byte of the value, optional whitespace around it included (RFC 9110 §5.5).
    pub(super) fn push(&mut self, byte: u8) -> Result<(), Violation> {
        let is_blank = matches!(byte, b' ' | b'\t');
        let fits = match self {
            Self::Free => true,
            Self::Length { digits, ended, .. } if is_blank => {
                *ended = *digits > 0;
                true
            }
            Self::Length { bytes, digits, ended } => {
                let fits = byte.is_ascii_digit() && !*ended && *digits < LENGTH_DIGITS_MAX;
                if fits {
                    *bytes = *bytes * 10 + u64::from(byte - b'0');
                    *digits += 1;
                }
                fits
            }
            Self::Coding { matched, ended } if is_blank => {
                *ended = *matched > 0;
                true
            }
            Self::Coding { matched, ended } => {
                let expected = CHUNKED.get(*matched).filter(|_| !*ended);
                *matched += 1;
                expected == Some(&byte.to_ascii_lowercase())
            }
            Self::Host { begun, ended } if is_blank => {
                *ended = *begun;
                true
            }
            Self::Host { begun, ended } => {
                *begun = true;
                scan::is_host(byte) && !*ended
            }
        };
        if fits { Ok(()) } else { Err(Violation::of_byte(byte, self.violation())) }
    }

    /// Whether the value is whole, now that its line ends.
    pub(super) fn finish(&self) -> Result<(), Violation> {
        let whole = match self {
            Self::Free | Self::Host { .. } => true,
            Self::Length { digits, .. } => *digits > 0,
            Self::Coding { matched, .. } => *matched == CHUNKED.len(),
        };
        if whole { Ok(()) } else { Err(self.violation()) }
    }

    const fn violation(&self) -> Violation {
        match self {
            Self::Free => Violation::Control,
            Self::Length { .. } => Violation::LengthInvalid,
            Self::Coding { .. } => Violation::CodingUnknown,
            Self::Host { .. } => Violation::HostInvalid,
        }
    }
}
