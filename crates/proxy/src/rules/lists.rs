//! How does a list of a header field fall apart into members? (RFC 9110 §5.6.1)

use http::header::{AsHeaderName, HeaderMap};

/// What a backslash inside a quoted string does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// It takes the next byte as it is (`quoted-string`, RFC 9110 §5.6.4).
    Backslash,
    /// Nothing: it is a byte like any other (`entity-tag`, RFC 9110 §8.8.3).
    None,
}

/// The members of all lines of field `name`: tokens without quotes, trimmed, empty ones skipped.
pub(crate) fn tokens(headers: &HeaderMap, name: impl AsHeaderName) -> impl Iterator<Item = &[u8]> {
    headers
        .get_all(name)
        .iter()
        .flat_map(|line| line.as_bytes().split(|&byte| byte == b','))
        .map(trim)
        .filter(|member| !member.is_empty())
}

/// The members of one line, split at the commas outside of quotes; trimmed, empty ones skipped.
///
/// A quote that nothing closes is a byte like any other: what follows it is still read, so a
/// sender's mistake cannot hide a directive behind it.
pub(crate) fn quoted_members(line: &[u8], escapes: Escapes) -> QuotedMembers<'_> {
    QuotedMembers {
        rest: line,
        escapes,
        quotes: true,
    }
}

/// See [`quoted_members`].
pub(crate) struct QuotedMembers<'a> {
    rest: &'a [u8],
    escapes: Escapes,
    /// False after an unclosed quote. Keeps the scan linear: no later quote is looked up again.
    quotes: bool,
}

impl<'a> Iterator for QuotedMembers<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        while !self.rest.is_empty() {
            let end = self.member_end();
            let (member, rest) = self.rest.split_at(end);
            self.rest = rest.get(1..).unwrap_or_default();
            let member = trim(member);
            if !member.is_empty() {
                return Some(member);
            }
        }
        None
    }
}

impl QuotedMembers<'_> {
    /// Index of the comma that ends the first member, or the length of what is left.
    fn member_end(&mut self) -> usize {
        let mut at = 0;
        while let Some(&byte) = self.rest.get(at) {
            match byte {
                b',' => return at,
                b'"' if self.quotes => match quote_end(self.rest, at + 1, self.escapes) {
                    Some(end) => at = end,
                    None => self.quotes = false,
                },
                _ => {}
            }
            at += 1;
        }
        self.rest.len()
    }
}

/// Index of the quote that closes the string whose content starts at `start`.
pub(crate) fn quote_end(text: &[u8], start: usize, escapes: Escapes) -> Option<usize> {
    let mut at = start;
    loop {
        match text.get(at)? {
            b'"' => return Some(at),
            b'\\' if escapes == Escapes::Backslash => at += 2,
            _ => at += 1,
        }
    }
}

/// `text` without the spaces and tabs around it.
pub(crate) fn trim(text: &[u8]) -> &[u8] {
    text.trim_ascii()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn split(line: &str, escapes: Escapes) -> Vec<&str> {
        quoted_members(line.as_bytes(), escapes)
            .map(|member| std::str::from_utf8(member).unwrap())
            .collect()
    }

    #[test]
    fn commas_in_quotes_do_not_split() {
        let table: &[(&str, &[&str])] = &[
            ("", &[]),
            (" , ,, ", &[]),
            ("a", &["a"]),
            ("a, b ,\tc", &["a", "b", "c"]),
            (r#"a="x, y", b"#, &[r#"a="x, y""#, "b"]),
            (r#"a="x\", y", b"#, &[r#"a="x\", y""#, "b"]),
            (r#"a="x, no-store"#, &[r#"a="x"#, "no-store"]),
            (r#"a="x\", no-store"#, &[r#"a="x\""#, "no-store"]),
            (r#"a="", b"#, &[r#"a="""#, "b"]),
            (r#""a,b" , "c""#, &[r#""a,b""#, r#""c""#]),
        ];
        for (line, expected) in table {
            assert_eq!(split(line, Escapes::Backslash), *expected, "{line}");
        }
    }

    #[test]
    fn a_backslash_is_plain_in_entity_tags() {
        assert_eq!(
            split(r#""a\", "b,c""#, Escapes::None),
            [r#""a\""#, r#""b,c""#]
        );
    }

    #[test]
    fn hostile_quotes_take_linear_time() {
        let line = r#"\""#.repeat(1 << 20);
        assert_eq!(split(&format!("\"{line}"), Escapes::Backslash).len(), 1);
    }

    #[test]
    fn tokens_come_from_all_lines() {
        let mut headers = HeaderMap::new();
        headers.append("vary", HeaderValue::from_static("a, b,"));
        headers.append("vary", HeaderValue::from_static(""));
        headers.append("vary", HeaderValue::from_static(" ,c"));
        let members: Vec<_> = tokens(&headers, "vary").collect();
        assert_eq!(members, [b"a", b"b", b"c"]);
    }
}
