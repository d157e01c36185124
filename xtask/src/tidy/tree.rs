//! The files of the repository: the only part of tidy that reads the disk.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::exceptions;
use super::source::Source;

/// Folders that hold no source of ours.
const SKIPPED: [&str; 2] = ["target", "node_modules"];

/// A text file that is no Rust.
#[derive(Debug)]
pub(crate) struct TextFile {
    /// Path from the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// What the rules look at.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) rust: Vec<Source>,
    /// The packages' manifests, without the workspace's own.
    pub(crate) manifests: Vec<TextFile>,
    /// All other prose and settings, manifests included.
    pub(crate) others: Vec<TextFile>,
    /// The text of the list of exceptions; empty if there is none.
    pub(crate) exceptions: String,
}

impl Tree {
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut tree = Self::default();
        tree.read_folder(root, "")?;
        Ok(tree)
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) -> Result<()> {
        let entries = fs::read_dir(folder).with_context(|| format!("cannot list {prefix}"))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            let kind = entry.file_type()?;
            if kind.is_dir() && !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
                self.read_folder(&entry.path(), &format!("{path}/"))?;
            } else if kind.is_file() {
                self.read_file(&entry.path(), path)?;
            }
        }
        Ok(())
    }

    fn read_file(&mut self, file: &Path, path: String) -> Result<()> {
        let extension = file.extension().and_then(OsStr::to_str);
        if !matches!(extension, Some("rs" | "toml" | "md")) {
            return Ok(());
        }
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {path}"))?;
        if extension == Some("rs") {
            self.rust.push(Source::new(&path, &text));
            return Ok(());
        }
        if path == exceptions::PATH {
            self.exceptions.clone_from(&text);
        }
        if path.ends_with("/Cargo.toml") {
            let (path, text) = (path.clone(), text.clone());
            self.manifests.push(TextFile { path, text });
        }
        self.others.push(TextFile { path, text });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read_and_build_products_are_not() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let tree = Tree::read(&root).unwrap();
        let manifests: Vec<_> = tree.manifests.iter().map(|m| m.path.as_str()).collect();
        assert!(
            manifests.contains(&"crates/store/Cargo.toml"),
            "{manifests:?}"
        );
        assert!(
            !manifests.contains(&"Cargo.toml"),
            "the workspace is no package"
        );
        assert!(tree.rust.iter().any(|s| s.path == "xtask/src/tidy/tree.rs"));
        assert!(!tree.rust.iter().any(|s| s.path.starts_with("target/")));
        assert!(!tree.exceptions.is_empty());
    }
}
