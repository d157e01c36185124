//! A Cargo.toml, as far as the rules care: whose it is and what it depends on.

use anyhow::{Context, Result};
use toml::{Table, Value};

const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// A package's manifest.
#[derive(Debug)]
pub(crate) struct Manifest {
    /// Path from the repository's root.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) package: String,
    /// Packages of all kinds and targets, by their own names and not by their aliases.
    pub(crate) dependencies: Vec<String>,
}

impl Manifest {
    pub(crate) fn parse(path: &str, text: &str) -> Result<Self> {
        let table: Table = text
            .parse()
            .with_context(|| format!("cannot parse {path}"))?;
        let package = table.get("package").and_then(|p| p.get("name"));
        let package = package.and_then(Value::as_str);
        let mut dependencies = names(&table);
        let targets = table.get("target").and_then(Value::as_table);
        for target in targets.into_iter().flatten() {
            dependencies.extend(target.1.as_table().map(names).unwrap_or_default());
        }
        Ok(Self {
            path: path.to_owned(),
            text: text.to_owned(),
            package: package.unwrap_or_default().to_owned(),
            dependencies,
        })
    }
}

fn names(table: &Table) -> Vec<String> {
    let tables = KINDS.iter().filter_map(|kind| table.get(*kind)?.as_table());
    tables
        .flatten()
        .map(|(key, value)| name(key, value))
        .collect()
}

fn name(key: &str, value: &Value) -> String {
    let package = value.get("package").and_then(Value::as_str);
    package.unwrap_or(key).to_owned()
}

/// The first line, from 1, that names `package`.
pub(crate) fn line_of(text: &str, package: &str) -> usize {
    let named = |line: &str| {
        let words = line.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'));
        !line.trim_start().starts_with("name") && words.into_iter().any(|w| w == package)
    };
    text.lines().position(named).map_or(1, |at| at + 1)
}
