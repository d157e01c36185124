//! The paths that a file names: `a::b::c` in code, and each leaf of a `use` tree.

use super::source::{Source, Token};

/// A path with the line on which it ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NamedPath {
    /// `a::b::c`; a glob import ends in `::*`.
    pub(crate) text: String,
    pub(crate) line: usize,
}

impl NamedPath {
    /// Is the path `prefix` itself, or something within it?
    pub(crate) fn is_within(&self, prefix: &str) -> bool {
        match self.text.strip_prefix(prefix) {
            Some(rest) => rest.is_empty() || rest.starts_with("::"),
            None => false,
        }
    }
}

/// All paths of `source`: those of two segments and more, and every leaf of a `use`.
pub(crate) fn paths(source: &Source) -> Vec<NamedPath> {
    let tokens = source.tokens();
    let mut found = Vec::new();
    let mut rest = tokens.as_slice();
    while let Some(token) = rest.first() {
        rest = match token.text {
            "use" => use_tree(&rest[1..], "", &mut found),
            "extern" => extern_crate(rest, &mut found),
            _ if token.is_word() => plain_path(rest, &mut found),
            _ => &rest[1..],
        };
    }
    found
}

/// `extern crate name`.
fn extern_crate<'a, 'b>(tokens: &'b [Token<'a>], found: &mut Vec<NamedPath>) -> &'b [Token<'a>] {
    if let [_, word, name, ..] = tokens
        && word.text == "crate"
    {
        found.push(NamedPath {
            text: name.text.to_owned(),
            line: name.line,
        });
    }
    &tokens[1..]
}

fn plain_path<'a, 'b>(tokens: &'b [Token<'a>], found: &mut Vec<NamedPath>) -> &'b [Token<'a>] {
    let (text, line, rest) = segments(tokens);
    if text.contains("::") {
        found.push(NamedPath { text, line });
    }
    rest
}

/// Joins `a :: b :: c`, and leaves off before a `::` that is followed by no word.
fn segments<'a, 'b>(tokens: &'b [Token<'a>]) -> (String, usize, &'b [Token<'a>]) {
    let Some((first, mut rest)) = tokens.split_first() else {
        return (String::new(), 0, tokens);
    };
    let (mut text, mut line) = (first.text.to_owned(), first.line);
    while let [colons, word, after @ ..] = rest
        && colons.text == "::"
        && word.is_word()
    {
        text = format!("{text}::{}", word.text);
        line = word.line;
        rest = after;
    }
    (text, line, rest)
}

/// One tree after `use` or within a group: a path, a glob or a group. Returns what follows it.
fn use_tree<'a, 'b>(
    tokens: &'b [Token<'a>],
    prefix: &str,
    found: &mut Vec<NamedPath>,
) -> &'b [Token<'a>] {
    let mut rest = tokens;
    if rest.first().is_some_and(|t| t.text == "::") {
        rest = &rest[1..];
    }
    let mut path = prefix.to_owned();
    let mut line = rest.first().map_or(0, |t| t.line);
    if rest.first().is_some_and(Token::is_word) {
        let (text, end, after) = segments(rest);
        (path, line, rest) = (join(prefix, &text), end, after);
        if rest.first().is_some_and(|t| t.text == "::") {
            rest = &rest[1..];
        }
    }
    match rest.first().map(|t| t.text) {
        Some("{") => return use_group(&rest[1..], &path, found),
        Some("*") => {
            path = join(&path, "*");
            rest = &rest[1..];
        }
        _ => {}
    }
    let text = path.strip_suffix("::self").unwrap_or(&path).to_owned();
    if !text.is_empty() {
        found.push(NamedPath { text, line }); // empty: the `use<'a>` of a bound
    }
    match rest {
        [word, _, after @ ..] if word.text == "as" => after,
        _ => rest,
    }
}

fn use_group<'a, 'b>(
    tokens: &'b [Token<'a>],
    prefix: &str,
    found: &mut Vec<NamedPath>,
) -> &'b [Token<'a>] {
    let mut rest = tokens;
    while let Some(token) = rest.first() {
        rest = match token.text {
            "}" => return &rest[1..],
            _ if token.is_word() || token.text == "*" || token.text == "{" => {
                use_tree(rest, prefix, found)
            }
            _ => &rest[1..],
        };
    }
    rest
}

fn join(prefix: &str, text: &str) -> String {
    if prefix.is_empty() {
        text.to_owned()
    } else {
        format!("{prefix}::{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let found = paths(&Source::new("a.rs", text));
        found.into_iter().map(|p| p.text).collect()
    }

    #[test]
    fn every_way_to_name_a_path() {
        let cases: [(&str, &[&str]); 9] = [
            ("use a::b;", &["a::b"]),
            ("use a;", &["a"]),
            (
                "use std::{fs, net::{self, TcpStream as T}, time::*};",
                &["std::fs", "std::net", "std::net::TcpStream", "std::time::*"],
            ),
            ("use ::a::b as c; d()", &["a::b"]),
            ("fn f() { tokio::spawn(x); y }", &["tokio::spawn"]),
            (
                "let x: a::B<c::D> = a::B::<E>::new();",
                &["a::B", "c::D", "a::B"],
            ),
            ("extern crate a;", &["a"]),
            ("#[tokio::test] fn f() {}", &["tokio::test"]),
            ("// use a::b;\nf(\"a::b\")", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(names(text), expected, "{text}");
        }
    }

    #[test]
    fn broken_text_ends() {
        for text in [
            "use",
            "use a::",
            "use a::{b",
            "use ::",
            "a::",
            "use {{}",
            "extern",
        ] {
            names(text);
        }
    }

    #[test]
    fn within_is_by_segments() {
        let path = NamedPath {
            text: "std::fs::File".to_owned(),
            line: 1,
        };
        assert!(path.is_within("std::fs"));
        assert!(path.is_within("std::fs::File"));
        assert!(!path.is_within("std::f"));
    }
}
