//! What does one cache directive say? (RFC 9111 §5.2)

use std::borrow::Cow;

use http::header::{AsHeaderName, HeaderMap, HeaderName};
use smallvec::SmallVec;

use super::lists::{Escapes, quote_end, quoted_members, trim};

/// Seconds at which an over-long delta stops: "2147483648 (2^31) or the greatest positive
/// integer" (RFC 9111 §1.2.2).
pub const DELTA_SECS_MAX: u32 = 1 << 31;

/// Field names that one `no-cache` or `private` may list. A longer list counts as none at all,
/// which forbids the whole response: the stricter reading.
pub const FIELDS_MAX: usize = 64;

/// Names of header fields, mostly none.
pub type FieldNames = SmallVec<[HeaderName; 2]>;

/// One directive as it was written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Directive<'a> {
    /// In any case; see [`name_lower`](Self::name_lower).
    name: &'a [u8],
    argument: Argument<'a>,
}

/// What stands behind the name.
#[derive(Debug, PartialEq, Eq)]
enum Argument<'a> {
    /// No `=`.
    None,
    /// A token, or the content of a quoted string: both forms are to be accepted (§5.2).
    Text(Cow<'a, [u8]>),
    /// Spaces around the `=`, text behind a closing quote, an unclosed quote.
    Malformed,
}

/// All directives of all lines of field `name`, in their order.
pub(crate) fn directives(
    headers: &HeaderMap,
    name: impl AsHeaderName,
) -> impl Iterator<Item = Directive<'_>> {
    headers
        .get_all(name)
        .iter()
        .flat_map(|line| quoted_members(line.as_bytes(), Escapes::Backslash))
        .map(Directive::read)
}

impl<'a> Directive<'a> {
    fn read(member: &'a [u8]) -> Self {
        let Some(equals) = member.iter().position(|&byte| byte == b'=') else {
            return Self {
                name: member,
                argument: Argument::None,
            };
        };
        let (name, value) = member.split_at(equals);
        let value = value.get(1..).unwrap_or_default();
        let spaced = trim(name) != name || trim(value) != value;
        let argument = if spaced {
            Argument::Malformed
        } else {
            argument(value)
        };
        Self {
            name: trim(name),
            argument,
        }
    }

    /// The name in lower case.
    pub(crate) fn name_lower(&self) -> Cow<'a, [u8]> {
        if self.name.iter().any(u8::is_ascii_uppercase) {
            Cow::Owned(self.name.to_ascii_lowercase())
        } else {
            Cow::Borrowed(self.name)
        }
    }

    /// Whether there is no argument at all.
    pub(crate) fn is_bare(&self) -> bool {
        self.argument == Argument::None
    }

    /// The argument as seconds; `None` when it is missing or not a non-negative integer.
    pub(crate) fn delta_s(&self) -> Option<u32> {
        match &self.argument {
            Argument::Text(text) => parse_delta_s(text),
            Argument::None | Argument::Malformed => None,
        }
    }

    /// The argument as a list of field names; `None` when there is none, or it is empty, or
    /// anything in it is not a name: the caller then takes the directive as unqualified.
    pub(crate) fn fields(&self) -> Option<FieldNames> {
        match &self.argument {
            Argument::Text(text) => parse_fields(text),
            Argument::None | Argument::Malformed => None,
        }
    }
}

/// Seconds of `1*DIGIT`, saturating at [`DELTA_SECS_MAX`].
pub(crate) fn parse_delta_s(text: &[u8]) -> Option<u32> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let secs = text.iter().fold(0u32, |secs, digit| {
        secs.saturating_mul(10)
            .saturating_add(u32::from(digit - b'0'))
    });
    Some(secs.min(DELTA_SECS_MAX))
}

/// The names in a comma-separated list.
pub(crate) fn parse_fields(text: &[u8]) -> Option<FieldNames> {
    let mut names = FieldNames::new();
    for member in text.split(|&byte| byte == b',').map(trim) {
        if member.is_empty() {
            continue;
        }
        if names.len() == FIELDS_MAX {
            return None;
        }
        names.push(HeaderName::from_bytes(member).ok()?);
    }
    (!names.is_empty()).then_some(names)
}

fn argument(value: &[u8]) -> Argument<'_> {
    if value.first() != Some(&b'"') {
        return Argument::Text(Cow::Borrowed(value));
    }
    match quote_end(value, 1, Escapes::Backslash) {
        Some(end) if end + 1 == value.len() => {
            Argument::Text(unescape(value.get(1..end).unwrap_or_default()))
        }
        _ => Argument::Malformed,
    }
}

fn unescape(content: &[u8]) -> Cow<'_, [u8]> {
    if !content.contains(&b'\\') {
        return Cow::Borrowed(content);
    }
    let mut text = Vec::with_capacity(content.len());
    let mut bytes = content.iter();
    while let Some(&byte) = bytes.next() {
        text.extend(if byte == b'\\' {
            bytes.next().copied()
        } else {
            Some(byte)
        });
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn deltas() {
        let table: &[(&str, Option<u32>)] = &[
            ("n=0", Some(0)),
            ("n=003600", Some(3600)),
            ("n=\"3600\"", Some(3600)),
            ("n=\"36\\00\"", Some(3600)),
            ("n=2147483647", Some(DELTA_SECS_MAX - 1)),
            ("n=2147483648", Some(DELTA_SECS_MAX)),
            ("n=2147483649", Some(DELTA_SECS_MAX)),
            ("n=4294967296", Some(DELTA_SECS_MAX)),
            ("n=99999999999999999999999999", Some(DELTA_SECS_MAX)),
            ("n", None),
            ("n=", None),
            ("n=\"\"", None),
            ("n=-1", None),
            ("n=+1", None),
            ("n=1.0", None),
            ("n=1e3", None),
            ("n=0x10", None),
            ("n=a1", None),
            ("n=1a", None),
            ("n='1'", None),
            ("n =1", None),
            ("n= 1", None),
            ("n=1 2", None),
            ("n=\"1\"2", None),
            ("n=\"1", None),
            ("n=1=2", None),
        ];
        for (text, expected) in table {
            assert_eq!(
                Directive::read(text.as_bytes()).delta_s(),
                *expected,
                "{text}"
            );
        }
    }

    #[test]
    fn field_lists() {
        let table: &[(&str, Option<&[&str]>)] = &[
            ("no-cache", None),
            ("no-cache=\"\"", None),
            ("no-cache=\", ,\"", None),
            ("no-cache=\"a\"", Some(&["a"])),
            ("no-cache=\"A, Set-Cookie\"", Some(&["a", "set-cookie"])),
            ("no-cache=set-cookie", Some(&["set-cookie"])),
            ("no-cache=\"a, b c\"", None),
            ("no-cache=\"a", None),
            ("no-cache = \"a\"", None),
        ];
        for (text, expected) in table {
            let fields = Directive::read(text.as_bytes()).fields();
            let fields = fields
                .as_ref()
                .map(|f| f.iter().map(HeaderName::as_str).collect());
            assert_eq!(fields, expected.map(<[_]>::to_vec), "{text}");
        }
        let many = format!("no-cache=\"{}\"", vec!["a"; FIELDS_MAX + 1].join(","));
        assert_eq!(Directive::read(many.as_bytes()).fields(), None);
    }

    #[test]
    fn directives_come_in_order_from_all_lines() {
        let mut headers = HeaderMap::new();
        for line in [
            "Max-Age=1, ext=\"max-age=2, no-store\"",
            "",
            "no-cache ,, x",
        ] {
            headers.append("cache-control", HeaderValue::from_static(line));
        }
        let names: Vec<_> = directives(&headers, "cache-control")
            .map(|d| String::from_utf8(d.name_lower().into_owned()).unwrap())
            .collect();
        assert_eq!(names, ["max-age", "ext", "no-cache", "x"]);
    }
}
