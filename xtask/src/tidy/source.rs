//! A file of the repository as the rules see it: its text, its code, its comments, its tokens.

use super::lexer::{self, Views};

/// A Rust file.
#[derive(Debug)]
pub(crate) struct Source {
    /// Path from the repository's root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    views: Views,
}

/// A word, a `::` or one other character of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    /// From 1.
    pub(crate) line: usize,
}

impl Token<'_> {
    /// An identifier, a keyword or a number.
    pub(crate) fn is_word(&self) -> bool {
        self.text.starts_with(is_word_char)
    }
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            views: lexer::split(text),
        }
    }

    /// The lines of the comments, from 1, blank where there is none.
    pub(crate) fn comment_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.views.comments.lines())
    }

    /// The tokens of the code, comments and contents of literals left out.
    pub(crate) fn tokens(&self) -> Vec<Token<'_>> {
        tokens(&self.views.code)
    }

    /// Lines before the first `#[cfg(test)] mod … {`, or all of them.
    pub(crate) fn production_lines(&self) -> usize {
        let tokens = self.tokens();
        let starts = |at: &usize| is_test_module(&tokens[*at..]);
        let cut = (0..tokens.len()).find(starts).map(|at| tokens[at].line - 1);
        cut.unwrap_or_else(|| self.text.lines().count())
    }
}

fn is_word_char(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    for (line, text) in (1..).zip(code.lines()) {
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (token, after) = rest.split_at(first_token_len(rest));
            found.push(Token { text: token, line });
            rest = after.trim_start();
        }
    }
    found
}

/// Length in bytes of the token that `text`, not empty, begins with.
fn first_token_len(text: &str) -> usize {
    if text.starts_with("::") {
        return 2;
    }
    match text.find(|c| !is_word_char(c)) {
        Some(0) => text.chars().next().map_or(text.len(), char::len_utf8),
        Some(len) => len,
        None => text.len(),
    }
}

/// Do the tokens begin with `#[cfg(test)]`, further attributes, and `mod name {`?
fn is_test_module(tokens: &[Token<'_>]) -> bool {
    const CFG_TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let head = tokens.iter().map(|t| t.text).take(CFG_TEST.len());
    if !head.eq(CFG_TEST) {
        return false;
    }
    let mut rest = &tokens[CFG_TEST.len()..];
    while rest.first().is_some_and(|t| t.text == "#") {
        let end = rest.iter().position(|t| t.text == "]");
        let Some(end) = end else { return false };
        rest = &rest[end + 1..];
    }
    matches!(rest, [m, name, open, ..] if m.text == "mod" && name.is_word() && open.text == "{")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn production_ends_at_the_inline_tests() {
        let cases = [
            ("//! a\nfn a() {}\n", 2),
            ("//! a\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n", 2),
            (
                "//! a\n#[cfg(test)]\n#[allow(x, reason = \"]\")]\nmod t {\n}\n",
                1,
            ),
            ("//! a\n#[cfg(test)]\nmod tests;\nfn c() {}\n", 4),
            ("//! a\n#[cfg(test)]\nuse b;\nfn c() {}\n", 4),
            ("//! a\n// #[cfg(test)] mod tests {\nfn c() {}\n", 3),
        ];
        for (text, lines) in cases {
            let source = Source::new("a.rs", text);
            assert_eq!(source.production_lines(), lines, "{text}");
        }
    }

    #[test]
    fn tokens_are_words_and_marks() {
        let source = Source::new("a.rs", "use a::b_1;\nx[é+2]");
        let texts: Vec<&str> = source.tokens().iter().map(|t| t.text).collect();
        let expected = ["use", "a", "::", "b_1", ";", "x", "[", "é", "+", "2", "]"];
        assert_eq!(texts, expected);
        assert_eq!(source.tokens().last().map(|t| t.line), Some(2));
    }
}
