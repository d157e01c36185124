//! What a file looks like as text: its first line, its blanks, its width, and what was left in it.

use super::source::Source;
use super::{Finding, Rule};

/// Columns of a line. rustfmt wraps code at 100; this holds for what it leaves alone.
pub(crate) const COLUMNS_MAX: usize = 120;

/// Marks of unfinished work in a comment.
const COMMENT_LEFTOVERS: [&str; 3] = ["TODO", "FIXME", "XXX"];

/// Macros that are no part of finished work.
const MACRO_LEFTOVERS: [&str; 2] = ["dbg", "todo"];

/// Checks a Rust file.
pub(crate) fn check_source(source: &Source) -> Vec<Finding> {
    let mut found = check_blanks(&source.path, &source.text);
    found.extend(check_first_line(source));
    found.extend(check_width(source));
    found.extend(check_comments(source));
    found.extend(check_macros(source));
    found
}

/// Checks any text file for tabs and for spaces at the ends of lines.
pub(crate) fn check_blanks(path: &str, text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    for (line, content) in (1..).zip(text.split('\n')) {
        if content.ends_with([' ', '\t', '\r']) {
            found.push(Finding::new(
                path,
                line,
                Rule::Blank,
                "a blank at the end".to_owned(),
            ));
        }
        if content.trim_end().contains('\t') {
            found.push(Finding::new(path, line, Rule::Blank, "a tab".to_owned()));
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        let text_lines = text.lines().count();
        found.push(Finding::new(
            path,
            text_lines,
            Rule::Blank,
            "no newline at the end".to_owned(),
        ));
    }
    found
}

fn check_first_line(source: &Source) -> Option<Finding> {
    let says = source
        .text
        .strip_prefix("//!")
        .and_then(|rest| rest.lines().next());
    let answer = says.is_some_and(|line| !line.trim().is_empty());
    let text = "begin with `//!` and the question that the file answers".to_owned();
    (!answer).then(|| Finding::new(&source.path, 1, Rule::ModuleDoc, text))
}

/// A line with a link may be as long as the link.
fn check_width(source: &Source) -> Vec<Finding> {
    let wide = |line: &str| line.chars().count() > COLUMNS_MAX && !line.contains("://");
    let lines = (1..).zip(source.text.lines());
    lines
        .filter(|(_, line)| wide(line))
        .map(|(at, line)| {
            let columns = line.chars().count();
            let text = format!("{columns} columns, {COLUMNS_MAX} allowed");
            Finding::new(&source.path, at, Rule::Width, text)
        })
        .collect()
}

fn check_comments(source: &Source) -> Vec<Finding> {
    let mut found = Vec::new();
    for (line, comment) in source.comment_lines() {
        let words = comment.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        for word in words.filter(|word| COMMENT_LEFTOVERS.contains(word)) {
            let text = format!("{word}: finish it or leave it out");
            found.push(Finding::new(&source.path, line, Rule::Leftover, text));
        }
    }
    found
}

fn check_macros(source: &Source) -> Vec<Finding> {
    let tokens = source.tokens();
    let calls = tokens.windows(2).filter(|pair| {
        matches!(pair, [name, bang] if bang.text == "!" && MACRO_LEFTOVERS.contains(&name.text))
    });
    calls
        .map(|pair| {
            let text = format!("{}!: finish it or leave it out", pair[0].text);
            Finding::new(&source.path, pair[0].line, Rule::Leftover, text)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let found = check_source(&Source::new("a.rs", text));
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_clean_file_passes() {
        let text = "//! Says what it is for.\n\nfn todo() { f(\"TODO todo!()\") } // todos\n";
        assert!(found(text).is_empty());
    }

    #[test]
    fn a_file_says_first_what_it_is_for() {
        for text in ["fn a() {}\n", "// a\n", "\n//! a\n", "//!\n", "/// a\n"] {
            assert_eq!(found(text).len(), 1, "{text}");
            assert!(found(text)[0].starts_with("a.rs:1: module doc"));
        }
    }

    #[test]
    fn blanks_are_refused() {
        let cases = [
            ("//! a \n", "a.rs:1: blank: a blank at the end"),
            ("//! a\n\tb\n", "a.rs:2: blank: a tab"),
            ("//! a\r\n", "a.rs:1: blank: a blank at the end"),
            ("//! a", "a.rs:1: blank: no newline at the end"),
        ];
        for (text, expected) in cases {
            assert_eq!(found(text), [expected], "{text:?}");
        }
    }

    #[test]
    fn wide_lines_are_refused_unless_they_link() {
        let line = |len: usize| format!("//! a\n// {}\n", "é".repeat(len - 3));
        assert!(found(&line(COLUMNS_MAX)).is_empty());
        assert_eq!(
            found(&line(COLUMNS_MAX + 1)),
            ["a.rs:2: width: 121 columns, 120 allowed"]
        );
        let link = format!(
            "//! a\n// https://example.org/{}\n",
            "x".repeat(COLUMNS_MAX)
        );
        assert!(found(&link).is_empty());
    }

    #[test]
    fn unfinished_work_is_refused() {
        let bad = [
            "// TODO: later",
            "/// FIXME",
            "/* a\n XXX b */",
            "fn f() { todo!() }",
            "let a = dbg!(b);",
        ];
        for text in bad {
            let refused = found(&format!("//! a\n{text}\n"));
            assert_eq!(refused.len(), 1, "{text}");
            assert!(refused[0].contains("leftover"));
        }
    }
}
