//! `cargo xtask tidy`: the rules of the house that no other tool knows.
//!
//! Each rule is one file that takes text and returns findings; only [`tree`] reads the disk.

mod arrows;
mod exceptions;
mod lexer;
mod manifest;
mod paths;
mod purity;
mod shape;
mod source;
mod text;
mod tree;
mod unsafety;

use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};

use exceptions::Exceptions;
use manifest::Manifest;
use tree::Tree;

/// Something that a rule refuses.
#[derive(Debug)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    rule: Rule,
    text: String,
}

/// What was broken.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    Arrow,
    Purity,
    ModuleDoc,
    FileLength,
    FunctionLength,
    Leftover,
    Unsafe,
    Blank,
    Width,
    StaleException,
    NoReason,
}

impl Rule {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Arrow => "arrow",
            Self::Purity => "purity",
            Self::ModuleDoc => "module doc",
            Self::FileLength => "file length",
            Self::FunctionLength => "function length",
            Self::Leftover => "leftover",
            Self::Unsafe => "unsafe",
            Self::Blank => "blank",
            Self::Width => "width",
            Self::StaleException => "stale exception",
            Self::NoReason => "no reason",
        }
    }
}

impl Finding {
    fn new(path: &str, line: usize, rule: Rule, text: String) -> Self {
        Self {
            path: path.to_owned(),
            line,
            rule,
            text,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = self.rule.as_str();
        write!(f, "{}:{}: {rule}: {}", self.path, self.line, self.text)
    }
}

/// Checks the repository at `root` and prints each finding.
pub(crate) fn run(root: &Path) -> Result<()> {
    let tree = Tree::read(root)?;
    let mut found = check(&tree)?;
    found.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    for finding in &found {
        eprintln!("{finding}");
    }
    if !found.is_empty() {
        bail!("{} findings; the rules are in CONTRIBUTING.md", found.len());
    }
    let (files, manifests) = (tree.rust.len(), tree.manifests.len());
    println!("tidy: {files} Rust files and {manifests} manifests keep the rules");
    Ok(())
}

fn check(tree: &Tree) -> Result<Vec<Finding>> {
    let exceptions = Exceptions::parse(&tree.exceptions)?;
    let mut found = Vec::new();
    for file in &tree.manifests {
        let manifest = Manifest::parse(&file.path, &file.text)?;
        found.extend(arrows::check_manifest(&manifest));
        found.extend(purity::check_manifest(&manifest));
    }
    for source in &tree.rust {
        found.extend(arrows::check_source(source));
        found.extend(purity::check_source(source));
        found.extend(text::check_source(source));
    }
    for file in &tree.others {
        found.extend(text::check_blanks(&file.path, &file.text));
    }
    found.extend(shape::check(&tree.rust, &exceptions));
    found.extend(unsafety::check(&tree.rust, &exceptions));
    found.extend(exceptions.without_reason().iter().map(|name| {
        let text = format!("the exception for {name} gives no reason");
        Finding::new(exceptions::PATH, 1, Rule::NoReason, text)
    }));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::source::Source;
    use super::tree::TextFile;
    use super::*;

    fn file(path: &str, text: &str) -> TextFile {
        TextFile {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn every_rule_is_asked() {
        let long = "    a();\n".repeat(shape::FUNCTION_LINES_MAX);
        let bad = format!(
            "use larder_cluster::a; use http::b;\n// TODO\nunsafe fn c() {{\n{long}}}\n//{}\n{} \n",
            "x".repeat(text::COLUMNS_MAX),
            "\n".repeat(shape::FILE_LINES_MAX),
        );
        let tree = Tree {
            rust: vec![Source::new("crates/store/src/bad.rs", &bad)],
            exceptions: "[[unsafe]]\npath = \"gone.rs\"\nreason = \"\"\n".to_owned(),
            ..Tree::default()
        };
        let mut found: Vec<_> = check(&tree)
            .unwrap()
            .iter()
            .map(|f| f.rule.as_str())
            .collect();
        found.sort_unstable();
        let expected = [
            "arrow",
            "blank",
            "file length",
            "function length",
            "leftover",
            "module doc",
            "no reason",
            "purity",
            "stale exception",
            "unsafe",
            "width",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn manifests_are_asked_too() {
        let text =
            "[package]\nname = \"larder-store\"\n[dependencies]\nlarder = \"1\"\nhttp = \"1\"\n";
        let tree = Tree {
            manifests: vec![file("crates/store/Cargo.toml", text)],
            others: vec![file("README.md", "a \n")],
            ..Tree::default()
        };
        let found: Vec<_> = check(&tree)
            .unwrap()
            .iter()
            .map(|f| f.rule.as_str())
            .collect();
        assert_eq!(found, ["arrow", "purity", "blank"]);
    }
}
