//! xtask/tidy-exceptions.toml: what the rules let pass, each with its reason.

use anyhow::{Context, Result};
use serde::Deserialize;

/// Where the exceptions are, from the repository's root.
pub(crate) const PATH: &str = "xtask/tidy-exceptions.toml";

/// The checked list.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exceptions {
    /// Modules that may say `unsafe`.
    #[serde(default, rename = "unsafe")]
    pub(crate) unsafety: Vec<UnsafeModule>,
    /// Files that may be longer than others.
    #[serde(default, rename = "file")]
    pub(crate) files: Vec<LongFile>,
    /// Functions that may be longer than others.
    #[serde(default, rename = "function")]
    pub(crate) functions: Vec<LongFunction>,
}

/// A module that may say `unsafe`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnsafeModule {
    pub(crate) path: String,
    pub(crate) reason: String,
}

/// A file that may be longer than [`super::shape::FILE_LINES_MAX`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LongFile {
    pub(crate) path: String,
    /// Its own limit: it may shrink, not grow.
    pub(crate) lines: usize,
    pub(crate) reason: String,
}

/// A function that may be longer than [`super::shape::FUNCTION_LINES_MAX`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LongFunction {
    pub(crate) path: String,
    pub(crate) name: String,
    /// Its own limit: it may shrink, not grow.
    pub(crate) lines: usize,
    pub(crate) reason: String,
}

impl Exceptions {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        toml::from_str(text).with_context(|| format!("cannot read {PATH}"))
    }

    /// Names of the entries whose reason is empty.
    pub(crate) fn without_reason(&self) -> Vec<&str> {
        let files = self.files.iter().map(|e| (&e.path, &e.reason));
        let functions = self.functions.iter().map(|e| (&e.name, &e.reason));
        let modules = self.unsafety.iter().map(|e| (&e.path, &e.reason));
        let all = files.chain(functions).chain(modules);
        all.filter(|(_, reason)| reason.trim().is_empty())
            .map(|(name, _)| name.as_str())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_without_a_reason_is_none() {
        assert!(Exceptions::parse("[[file]]\npath = \"a.rs\"\nlines = 700\n").is_err());
        let text = "[[file]]\npath = \"a.rs\"\nlines = 700\nreason = \" \"\n";
        let exceptions = Exceptions::parse(text).unwrap();
        assert_eq!(exceptions.without_reason(), ["a.rs"]);
        assert!(Exceptions::parse("[[files]]\n").is_err());
    }
}
