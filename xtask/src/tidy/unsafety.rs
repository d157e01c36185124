//! Where `unsafe` may be said: in small modules that are listed with a reason.

use super::exceptions::{self, Exceptions};
use super::source::Source;
use super::{Finding, Rule};

/// Production lines of a module that says `unsafe`: small enough to be proved in one sitting.
pub(crate) const UNSAFE_MODULE_LINES_MAX: usize = 300;

/// Checks all `sources` at once, because a listed module that says no `unsafe` is a finding too.
pub(crate) fn check(sources: &[Source], exceptions: &Exceptions) -> Vec<Finding> {
    let mut found: Vec<Finding> = sources
        .iter()
        .filter_map(|source| check_source(source, exceptions))
        .collect();
    let says = |path: &str| {
        let mut named = sources.iter().filter(|s| s.path == path);
        named.any(|s| first_unsafe(s).is_some())
    };
    let unneeded = exceptions.unsafety.iter().filter(|e| !says(&e.path));
    found.extend(unneeded.map(|e| {
        let text = format!("{} says no `unsafe`: remove it from the list", e.path);
        Finding::new(exceptions::PATH, 1, Rule::StaleException, text)
    }));
    found
}

fn check_source(source: &Source, exceptions: &Exceptions) -> Option<Finding> {
    let line = first_unsafe(source)?;
    let lines = source.production_lines();
    let text = if !exceptions.unsafety.iter().any(|e| e.path == source.path) {
        format!(
            "`unsafe` outside of the modules listed in {}",
            exceptions::PATH
        )
    } else if lines > UNSAFE_MODULE_LINES_MAX {
        format!("a module with `unsafe` has {lines} lines, {UNSAFE_MODULE_LINES_MAX} allowed")
    } else {
        return None;
    };
    Some(Finding::new(&source.path, line, Rule::Unsafe, text))
}

fn first_unsafe(source: &Source) -> Option<usize> {
    let tokens = source.tokens();
    tokens.iter().find(|t| t.text == "unsafe").map(|t| t.line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: &str = "[[unsafe]]\npath = \"a.rs\"\nreason = \"r\"\n";

    fn found(text: &str, exceptions: &str) -> Vec<String> {
        let exceptions = Exceptions::parse(exceptions).unwrap();
        let found = check(&[Source::new("a.rs", text)], &exceptions);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn unsafe_is_refused_unless_listed() {
        for text in [
            "//! a\nfn f() { unsafe { g() } }\n",
            "//! a\nunsafe impl Send for A {}\n",
            "//! a\n#[unsafe(no_mangle)]\nfn f() {}\n",
        ] {
            let refused = found(text, "");
            assert_eq!(refused.len(), 1, "{text}");
            assert!(refused[0].starts_with("a.rs:2: unsafe: "), "{refused:?}");
            assert!(found(text, LISTED).is_empty());
        }
    }

    #[test]
    fn other_mentions_pass() {
        let text = "//! unsafe\n#![forbid(unsafe_code)]\nconst A: &str = \"unsafe\";\n";
        assert!(found(text, "").is_empty());
    }

    #[test]
    fn a_listed_module_says_it_and_stays_small() {
        assert!(found("//! a\n", LISTED)[0].contains("stale exception"));
        let long = format!(
            "//! a\nunsafe fn f() {{}}\n{}",
            "\n".repeat(UNSAFE_MODULE_LINES_MAX)
        );
        assert!(found(&long, LISTED)[0].contains("302 lines"));
    }
}
