//! How sizes and durations are written: a number and a unit, `64MiB`, `30s`.
//!
//! Units of size follow IEC 80000-13: `KiB` is 1024 bytes and `KB` is 1000. A bare letter (`64M`)
//! means one to some programs and the other to the rest, so it is refused with both readings.
//! There is one spelling for the configuration file, the command line and every report.

use std::fmt;
use std::time::Duration;

use thiserror::Error;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;

/// Units of size in bytes, lower case, the larger first among those that reports use.
const SIZE_UNITS: [(&str, u64); 9] = [
    ("tib", TIB),
    ("gib", GIB),
    ("mib", MIB),
    ("kib", KIB),
    ("b", 1),
    ("tb", 1_000_000_000_000),
    ("gb", 1_000_000_000),
    ("mb", 1_000_000),
    ("kb", 1_000),
];

/// Units of duration in milliseconds, the larger first.
const DURATION_UNITS: [(&str, u64); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

/// The longest quantity that is looked at: `u64::MAX` has 20 digits, the rest is unit and fraction.
const QUANTITY_CHARS_MAX: usize = 40;

/// What is wrong with a size or a duration. The message ends with how to write it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum QuantityError {
    /// There is no leading number.
    #[error("`{0}` does not begin with a number")]
    NoNumber(String),
    /// A number, and nothing that says of what.
    #[error("`{0}` has no unit")]
    NoUnit(String),
    /// A unit that is not in the table.
    #[error("`{unit}` in `{text}` is not a unit")]
    UnknownUnit {
        /// The whole text.
        text: String,
        /// What stands where the unit should.
        unit: String,
    },
    /// `64M`: a million or 2^20?
    #[error("`{text}` is ambiguous: write {binary} (powers of 1024) or {decimal} (powers of 1000)")]
    Ambiguous {
        /// The whole text.
        text: String,
        /// The same number in binary units.
        binary: String,
        /// The same number in decimal units.
        decimal: String,
    },
    /// More than 64 bits hold.
    #[error("`{0}` is too large")]
    TooLarge(String),
}

/// Reads a size in bytes: `64MiB`, `1.5GiB`, `10GB`, or a plain number of bytes.
///
/// # Errors
/// [`QuantityError`] says which part is wrong.
pub fn parse_size(text: &str) -> Result<u64, QuantityError> {
    let (number, unit) = split(text)?;
    if unit.is_empty() && !number.contains('.') {
        return number
            .parse()
            .map_err(|_| QuantityError::TooLarge(shorten(text)));
    }
    let lower = unit.to_ascii_lowercase();
    if let [letter @ (b'k' | b'm' | b'g' | b't')] = lower.as_bytes() {
        let letter = letter.to_ascii_uppercase() as char;
        return Err(QuantityError::Ambiguous {
            text: shorten(text),
            binary: format!("{number}{letter}iB"),
            decimal: format!("{number}{letter}B"),
        });
    }
    scale(text, number, unit_of(text, &lower, &SIZE_UNITS)?)
}

/// Reads a duration: `100ms`, `30s`, `5m`, `24h`, `7d`. A bare number is refused, `0` excepted.
///
/// # Errors
/// [`QuantityError`] says which part is wrong.
pub fn parse_duration(text: &str) -> Result<Duration, QuantityError> {
    let (number, unit) = split(text)?;
    if unit.is_empty() && number == "0" {
        return Ok(Duration::ZERO);
    }
    let unit = unit_of(text, unit, &DURATION_UNITS)?;
    scale(text, number, unit).map(Duration::from_millis)
}

/// A size in bytes as reports and messages write it: exact where one unit divides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [(&str, u64); 4] = [("TiB", TIB), ("GiB", GIB), ("MiB", MIB), ("KiB", KIB)];
        for (name, unit) in NAMES {
            if self.0 >= unit {
                let text = format!("{:.1}", self.0 as f64 / unit as f64);
                return f.pad(&format!("{}{name}", text.trim_end_matches(".0")));
            }
        }
        f.pad(&format!("{}B", self.0))
    }
}

/// A duration as the configuration file writes it, in the largest unit that divides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span(pub Duration);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total_ms = self.0.as_millis();
        if total_ms == 0 {
            return f.pad("0s");
        }
        for (name, unit_ms) in DURATION_UNITS {
            let unit_ms = u128::from(unit_ms);
            if total_ms.is_multiple_of(unit_ms) {
                return f.pad(&format!("{}{name}", total_ms / unit_ms));
            }
        }
        f.pad(&format!("{total_ms}ms"))
    }
}

/// `"64 MiB"` → `("64", "MiB")`.
fn split(text: &str) -> Result<(&str, &str), QuantityError> {
    let trimmed = text.trim();
    let end = trimmed
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(end);
    if !number.starts_with(|c: char| c.is_ascii_digit()) || trimmed.len() > QUANTITY_CHARS_MAX {
        return Err(QuantityError::NoNumber(shorten(text)));
    }
    Ok((number, unit.trim_start()))
}

fn unit_of(text: &str, unit: &str, units: &[(&str, u64)]) -> Result<u64, QuantityError> {
    if unit.is_empty() {
        return Err(QuantityError::NoUnit(shorten(text)));
    }
    units
        .iter()
        .find(|(name, _)| *name == unit)
        .map(|(_, scale)| *scale)
        .ok_or_else(|| QuantityError::UnknownUnit {
            text: shorten(text),
            unit: shorten(unit),
        })
}

/// number × unit in integers: a float would lose bytes from 8 PiB on.
fn scale(text: &str, number: &str, unit: u64) -> Result<u64, QuantityError> {
    let too_large = || QuantityError::TooLarge(shorten(text));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || number.ends_with('.') {
        return Err(QuantityError::NoNumber(shorten(text)));
    }
    let whole = whole.parse::<u128>().map_err(|_| too_large())?;
    let mut total = whole.checked_mul(u128::from(unit)).ok_or_else(too_large)?;
    if !fraction.is_empty() {
        let digits = u32::try_from(fraction.len()).map_err(|_| too_large())?;
        let scale = 10_u128.checked_pow(digits).ok_or_else(too_large)?;
        let part = fraction.parse::<u128>().map_err(|_| too_large())?;
        let part = part.checked_mul(u128::from(unit)).ok_or_else(too_large)? / scale;
        total = total.checked_add(part).ok_or_else(too_large)?;
    }
    u64::try_from(total).map_err(|_| too_large())
}

/// The text for a message: hostile lengths do not fill the terminal.
fn shorten(text: &str) -> String {
    text.chars().take(QUANTITY_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("1B", 1),
            ("512KiB", 512 << 10),
            ("64MiB", 64 << 20),
            ("64 mib", 64 << 20),
            (" 1GiB ", 1 << 30),
            ("1.5GiB", 3 << 29),
            ("2TiB", 2 << 40),
            ("10GB", 10_000_000_000),
            ("1kb", 1_000),
            ("16777215TiB", 16_777_215 << 40),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn sizes_that_are_none() {
        for (text, message) in [
            ("", "`` does not begin with a number"),
            ("MiB", "`MiB` does not begin with a number"),
            ("-1", "`-1` does not begin with a number"),
            ("1.MiB", "`1.MiB` does not begin with a number"),
            ("1.2.3MiB", "`1.2.3MiB` does not begin with a number"),
            ("1.5", "`1.5` has no unit"),
            ("12parsecs", "`parsecs` in `12parsecs` is not a unit"),
            (
                "1g",
                "`1g` is ambiguous: write 1GiB (powers of 1024) or 1GB (powers of 1000)",
            ),
            ("99999999TiB", "`99999999TiB` is too large"),
            (
                "99999999999999999999",
                "`99999999999999999999` is too large",
            ),
        ] {
            let got = parse_size(text).map_err(|e| e.to_string());
            assert_eq!(got, Err(message.to_owned()), "{text}");
        }
    }

    #[test]
    fn durations() {
        for (text, ms) in [
            ("0", 0),
            ("100ms", 100),
            ("30s", 30_000),
            ("0.5s", 500),
            ("5m", 300_000),
            ("24h", 86_400_000),
            ("7d", 604_800_000),
        ] {
            assert_eq!(
                parse_duration(text),
                Ok(Duration::from_millis(ms)),
                "{text}"
            );
        }
        for text in [
            "30",
            "5 minutes",
            "1M",
            "s",
            "",
            "-5s",
            "1h30m",
            "99999999999999999999d",
        ] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn written_as_read() {
        for (bytes, text) in [
            (0, "0B"),
            (1 << 20, "1MiB"),
            (1536, "1.5KiB"),
            (1023, "1023B"),
        ] {
            assert_eq!(Size(bytes).to_string(), text);
        }
        for (ms, text) in [
            (0, "0s"),
            (1500, "1500ms"),
            (90_000, "90s"),
            (86_400_000, "1d"),
        ] {
            assert_eq!(Span(Duration::from_millis(ms)).to_string(), text);
        }
        assert_eq!(format!("[{:>8}]", Size(1 << 20)), "[    1MiB]");
    }

    proptest! {
        #[test]
        fn a_duration_survives_its_own_writing(ms in 0..u64::from(u32::MAX) * 1000) {
            let duration = Duration::from_millis(ms);
            prop_assert_eq!(parse_duration(&Span(duration).to_string()), Ok(duration));
        }

        #[test]
        fn no_text_panics(text in ".{0,60}") {
            let _ = parse_size(&text);
            let _ = parse_duration(&text);
        }
    }
}
