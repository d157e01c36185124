//! Which bytes does a `Range` field ask for? RFC 9110 section 14.

use http::{HeaderMap, header};

/// What a `Range` field means for a body of known length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// No range, one that is not understood, or several: the whole body.
    Whole,
    /// The bytes from `first` to `last`, both within the body.
    Part { first: u64, last: u64 },
    /// A valid range of which no byte exists.
    Unsatisfiable,
}

impl Wanted {
    /// Reads the request's `Range` against a body of `size_bytes`.
    pub(super) fn read(headers: &HeaderMap, size_bytes: u64) -> Self {
        let field = headers
            .get(header::RANGE)
            .and_then(|field| field.to_str().ok());
        field.map_or(Self::Whole, |field| Self::parse(field, size_bytes))
    }

    fn parse(field: &str, size_bytes: u64) -> Self {
        // RFC 9110 section 14.2: an unknown unit or a malformed range is ignored, not refused.
        let Some((unit, spec)) = field.split_once('=') else {
            return Self::Whole;
        };
        let Some((first, last)) = spec.trim().split_once('-') else {
            return Self::Whole;
        };
        if !unit.eq_ignore_ascii_case("bytes") || spec.contains(',') {
            return Self::Whole;
        }
        match (position(first), position(last)) {
            (Position::Absent, Position::At(suffix)) => Self::suffix(suffix, size_bytes),
            (Position::At(first), Position::Absent) => Self::part(first, u64::MAX, size_bytes),
            (Position::At(first), Position::At(last)) if first <= last => {
                Self::part(first, last, size_bytes)
            }
            _ => Self::Whole,
        }
    }

    fn part(first: u64, last: u64, size_bytes: u64) -> Self {
        if first >= size_bytes {
            return Self::Unsatisfiable;
        }
        let last = last.min(size_bytes - 1);
        Self::Part { first, last }
    }

    fn suffix(suffix_bytes: u64, size_bytes: u64) -> Self {
        if suffix_bytes == 0 {
            return Self::Unsatisfiable;
        }
        Self::part(
            size_bytes.saturating_sub(suffix_bytes),
            u64::MAX,
            size_bytes,
        )
    }
}

enum Position {
    Absent,
    At(u64),
    Malformed,
}

/// Only digits: `parse` alone would take a sign. Too many digits lie behind any end.
fn position(text: &str) -> Position {
    if text.is_empty() {
        Position::Absent
    } else if text.bytes().all(|byte| byte.is_ascii_digit()) {
        Position::At(text.parse().unwrap_or(u64::MAX))
    } else {
        Position::Malformed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_a_body_of_ten_bytes() {
        use Wanted::{Part, Unsatisfiable, Whole};
        let cases = [
            ("bytes=0-0", Part { first: 0, last: 0 }),
            ("bytes=3-5", Part { first: 3, last: 5 }),
            ("Bytes=3-", Part { first: 3, last: 9 }),
            (
                "bytes=3-99999999999999999999999",
                Part { first: 3, last: 9 },
            ),
            ("bytes=-4", Part { first: 6, last: 9 }),
            ("bytes=-40", Part { first: 0, last: 9 }),
            ("bytes=10-", Unsatisfiable),
            ("bytes=-0", Unsatisfiable),
            ("bytes=5-3", Whole),
            ("bytes=0-1,4-5", Whole),
            ("bytes=+1-2", Whole),
            ("bytes=-", Whole),
            ("bytes=", Whole),
            ("bytes", Whole),
            ("lines=0-1", Whole),
        ];
        for (field, wanted) in cases {
            assert_eq!(Wanted::parse(field, 10), wanted, "{field}");
        }
        assert_eq!(Wanted::parse("bytes=0-", 0), Unsatisfiable);
        assert_eq!(Wanted::parse("bytes=-5", 0), Unsatisfiable);
    }
}
