//! One line of a trace.

use std::str::FromStr;

use super::error::LineError;

/// Characters of a faulty text that an error repeats.
const TEXT_CHARS_MAX: usize = 40;

/// One request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// When, in seconds on the trace's own clock. Finite, not negative.
    pub timestamp_s: f64,
    /// The object's number. Not the whole key: see [`path`](Self::path).
    pub id: u64,
    /// Bytes of the whole object.
    pub size_bytes: u64,
}

impl Request {
    /// The object's path on the synthetic origin, and the name of its content.
    pub fn path(&self) -> String {
        format!("/s/{}/{}", self.size_bytes, self.id)
    }

    /// Reads a line without its end.
    pub(super) fn parse(line: &[u8]) -> Result<Self, LineError> {
        let mut fields = line.split(|byte| *byte == b',');
        let (Some(timestamp), Some(id), Some(size), None) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            let found = line.split(|byte| *byte == b',').count();
            let found = if line.is_empty() { 0 } else { found };
            let text = excerpt(line);
            return Err(LineError::Fields { found, text });
        };
        let seconds = "a number of seconds";
        let whole = "a whole number below 2^64";
        Ok(Self {
            timestamp_s: number("timestamp", seconds, timestamp, |s: &f64| {
                s.is_finite() && *s >= 0.0
            })?,
            id: number("object_id", whole, id, |_| true)?,
            size_bytes: number("size_bytes", whole, size, |_| true)?,
        })
    }
}

fn number<T: FromStr>(
    field: &'static str,
    expected: &'static str,
    bytes: &[u8],
    valid: impl Fn(&T) -> bool,
) -> Result<T, LineError> {
    let text = str::from_utf8(bytes).ok().map(str::trim);
    let number = text.and_then(|text| text.parse().ok()).filter(valid);
    number.ok_or_else(|| LineError::Number {
        field,
        expected,
        text: excerpt(bytes),
    })
}

/// The beginning of a text for an error's message.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    // A character has at most four bytes: what is cut off here could not be shown anyhow.
    let shown = &bytes[..bytes.len().min(4 * TEXT_CHARS_MAX)];
    String::from_utf8_lossy(shown)
        .chars()
        .take(TEXT_CHARS_MAX)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_requests() {
        let request = |timestamp_s, id, size_bytes| Request {
            timestamp_s,
            id,
            size_bytes,
        };
        assert_eq!(Request::parse(b"0,1,21987"), Ok(request(0.0, 1, 21987)));
        assert_eq!(Request::parse(b"1.5, 2, 0"), Ok(request(1.5, 2, 0)));
        assert_eq!(request(0.0, 42, 1024).path(), "/s/1024/42");
    }

    #[test]
    fn lines_that_are_not() {
        let fields = "expected 3 fields `timestamp,object_id,size_bytes`, found";
        let cases: [(&[u8], String); 8] = [
            (b"", format!("{fields} 0 (\"\")")),
            (b"hello", format!("{fields} 1 (\"hello\")")),
            (b"1,2", format!("{fields} 2 (\"1,2\")")),
            (b"1,2,3,4", format!("{fields} 4 (\"1,2,3,4\")")),
            (
                b"x,2,3",
                "expected timestamp to be a number of seconds, found \"x\"".to_owned(),
            ),
            (
                b"nan,2,3",
                "expected timestamp to be a number of seconds, found \"nan\"".to_owned(),
            ),
            (
                b"1,a,3",
                "expected object_id to be a whole number below 2^64, found \"a\"".to_owned(),
            ),
            (
                b"1,2,-3",
                "expected size_bytes to be a whole number below 2^64, found \"-3\"".to_owned(),
            ),
        ];
        for (line, text) in cases {
            assert_eq!(Request::parse(line).unwrap_err().to_string(), text);
        }
        let LineError::Fields { text, .. } = Request::parse(&[0xff; 500]).unwrap_err() else {
            panic!("expected a complaint about the fields");
        };
        assert_eq!(text.chars().count(), TEXT_CHARS_MAX);
    }
}
