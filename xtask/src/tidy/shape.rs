//! How long a file and a function may be.

use super::exceptions::{self, Exceptions};
use super::source::{Source, Token};
use super::{Finding, Rule};

/// Production lines of a file. Aim for 80 to 300.
pub(crate) const FILE_LINES_MAX: usize = 600;

/// Lines of a function, from its `fn` to its closing brace. Aim for less than 40.
pub(crate) const FUNCTION_LINES_MAX: usize = 70;

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
struct Function<'a> {
    name: &'a str,
    line: usize,
    lines: usize,
}

/// Checks all `sources` at once, because an exception that no file needs is a finding too.
pub(crate) fn check(sources: &[Source], exceptions: &Exceptions) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for source in sources {
        found.extend(check_file(source, exceptions));
        found.extend(check_functions(source, exceptions));
    }
    found.extend(stale_files(sources, exceptions));
    found.extend(stale_functions(sources, exceptions));
    found
}

fn check_file(source: &Source, exceptions: &Exceptions) -> Option<Finding> {
    let exception = exceptions.files.iter().find(|e| e.path == source.path);
    let limit = exception.map_or(FILE_LINES_MAX, |e| e.lines);
    let lines = source.production_lines();
    let text = format!("{lines} lines before its tests, {limit} allowed: split it by question");
    (lines > limit).then(|| Finding::new(&source.path, 1, Rule::FileLength, text))
}

fn check_functions(source: &Source, exceptions: &Exceptions) -> Vec<Finding> {
    let tokens = source.tokens();
    let limit_of = |name: &str| {
        let mut listed = exceptions.functions.iter();
        let exception = listed.find(|e| e.path == source.path && e.name == name);
        exception.map_or(FUNCTION_LINES_MAX, |e| e.lines)
    };
    functions(&tokens)
        .iter()
        .filter(|f| f.lines > limit_of(f.name))
        .map(|f| {
            let limit = limit_of(f.name);
            let text = format!("fn {} has {} lines, {limit} allowed", f.name, f.lines);
            Finding::new(&source.path, f.line, Rule::FunctionLength, text)
        })
        .collect()
}

fn stale_files(sources: &[Source], exceptions: &Exceptions) -> Vec<Finding> {
    let needed = |path: &str| {
        let mut named = sources.iter().filter(|s| s.path == path);
        named.any(|s| s.production_lines() > FILE_LINES_MAX)
    };
    let unneeded = exceptions.files.iter().filter(|e| !needed(&e.path));
    unneeded
        .map(|e| stale(&format!("file {}", e.path)))
        .collect()
}

fn stale_functions(sources: &[Source], exceptions: &Exceptions) -> Vec<Finding> {
    let needed = |path: &str, name: &str| {
        let mut named = sources.iter().filter(|s| s.path == path);
        named.any(|s| {
            let tokens = s.tokens();
            let found = functions(&tokens);
            let mut long = found.iter().filter(|f| f.lines > FUNCTION_LINES_MAX);
            long.any(|f| f.name == name)
        })
    };
    let unneeded = exceptions
        .functions
        .iter()
        .filter(|e| !needed(&e.path, &e.name));
    unneeded
        .map(|e| stale(&format!("function {} of {}", e.name, e.path)))
        .collect()
}

fn stale(what: &str) -> Finding {
    let text = format!("the exception for {what} is not needed any more: remove it");
    Finding::new(exceptions::PATH, 1, Rule::StaleException, text)
}

fn functions<'a>(tokens: &[Token<'a>]) -> Vec<Function<'a>> {
    let mut found = Vec::new();
    for (at, pair) in tokens.windows(2).enumerate() {
        let [keyword, name] = pair else { continue };
        if keyword.text != "fn" || !name.is_word() {
            continue;
        }
        if let Some(end) = body_end(&tokens[at + 2..]) {
            found.push(Function {
                name: name.text,
                line: keyword.line,
                lines: end - keyword.line + 1,
            });
        }
    }
    found
}

/// The line of the brace that closes the body after a function's name; none for a declaration.
fn body_end(tokens: &[Token<'_>]) -> Option<usize> {
    let mut nested = 0_usize; // in the signature's parentheses and brackets
    let mut braces = 0_usize;
    for token in tokens {
        match token.text {
            "(" | "[" if braces == 0 => nested += 1,
            ")" | "]" if braces == 0 => nested = nested.saturating_sub(1),
            ";" if braces == 0 && nested == 0 => return None,
            "{" if nested == 0 => braces += 1,
            "}" if nested == 0 && braces == 1 => return Some(token.line),
            "}" if nested == 0 => braces = braces.saturating_sub(1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str, exceptions: &str) -> Vec<String> {
        let exceptions = Exceptions::parse(exceptions).unwrap();
        let found = check(&[Source::new(path, text)], &exceptions);
        found.iter().map(ToString::to_string).collect()
    }

    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    a();\n".repeat(lines - 2))
    }

    #[test]
    fn a_long_function_is_refused() {
        assert!(found("a.rs", &function(FUNCTION_LINES_MAX), "").is_empty());
        let refused = found("a.rs", &function(FUNCTION_LINES_MAX + 1), "");
        assert_eq!(
            refused,
            ["a.rs:1: function length: fn long has 71 lines, 70 allowed"]
        );
    }

    #[test]
    fn a_long_file_is_refused_and_tests_do_not_count() {
        let tests = "#[cfg(test)]\nmod tests {\n\n}\n";
        let fits = "// x\n".repeat(FILE_LINES_MAX);
        assert!(found("a.rs", &format!("{fits}{tests}"), "").is_empty());
        let refused = found("a.rs", &format!("{fits}\n{tests}"), "");
        assert_eq!(refused.len(), 1);
        assert!(refused[0].starts_with("a.rs:1: file length: 601 lines"));
    }

    #[test]
    fn an_exception_is_a_ratchet() {
        let exception =
            "[[function]]\npath = \"a.rs\"\nname = \"long\"\nlines = 80\nreason = \"r\"\n";
        assert!(found("a.rs", &function(80), exception).is_empty());
        assert_eq!(found("a.rs", &function(81), exception).len(), 1);
        assert_eq!(found("b.rs", &function(80), exception).len(), 2);
        let file = "[[file]]\npath = \"a.rs\"\nlines = 620\nreason = \"r\"\n";
        assert!(found("a.rs", &"// x\n".repeat(620), file).is_empty());
        assert_eq!(found("a.rs", &"// x\n".repeat(621), file).len(), 1);
    }

    #[test]
    fn a_stale_exception_is_refused() {
        let function_entry =
            "[[function]]\npath = \"a.rs\"\nname = \"long\"\nlines = 80\nreason = \"r\"\n";
        let stale = found("a.rs", &function(70), function_entry);
        assert!(stale[0].contains("stale exception"), "{stale:?}");
        let file = "[[file]]\npath = \"gone.rs\"\nlines = 620\nreason = \"r\"\n";
        assert!(found("a.rs", "", file)[0].contains("gone.rs"));
    }

    #[test]
    fn functions_are_found_in_every_dress() {
        let text = "pub const fn a<const N: usize>(x: [u8; 2]) -> [u8; N]\nwhere\n    F: Fn(),\n{\n\
                    {\n}\n}\ntrait T { fn b(&self); fn c(&self) {\n} }\nlet f: fn(u8) = x;\n\
                    fn d() { \"{\"; '{'; }\n";
        let source = Source::new("a.rs", text);
        let tokens = source.tokens();
        let lengths: Vec<_> = functions(&tokens)
            .iter()
            .map(|f| (f.name, f.lines))
            .collect();
        assert_eq!(lengths, [("a", 7), ("c", 2), ("d", 1)]);
    }
}
