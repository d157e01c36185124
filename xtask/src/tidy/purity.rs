//! What a crate must not touch outside of our own: no clock in a decision, no HTTP in storage.

use super::manifest::{self, Manifest};
use super::paths;
use super::source::Source;
use super::{Finding, Rule};

/// Paths and packages that a crate must not name.
struct Vow {
    dir: &'static str,
    package: &'static str,
    /// Refused with everything within them.
    paths: &'static [&'static str],
    /// Refused as they stand: a module of which parts are allowed.
    modules: &'static [&'static str],
    packages: &'static [&'static str],
    because: &'static str,
}

const VOWS: [Vow; 2] = [
    Vow {
        dir: "crates/admission/",
        package: "larder-admission",
        paths: &[
            "std::fs",
            "std::net",
            "std::time::*",
            "std::time::Instant",
            "std::time::SystemTime",
            "tokio",
        ],
        modules: &["std", "std::*", "std::time"],
        packages: &["tokio"],
        because: "a decision has no I/O and no clock, so that any run can be replayed from its seed",
    },
    Vow {
        dir: "crates/store/",
        package: "larder-store",
        paths: &["http", "http_body", "http_body_util", "hyper", "hyper_util"],
        modules: &[],
        packages: &["http", "http-body", "http-body-util", "hyper", "hyper-util"],
        because: "storage knows keys, metadata bytes and body bytes",
    },
];

/// Checks the packages that `manifest` depends on.
pub(crate) fn check_manifest(manifest: &Manifest) -> Vec<Finding> {
    let Some(vow) = vow_of(&manifest.path) else {
        return Vec::new();
    };
    let names = manifest.dependencies.iter();
    names
        .filter(|name| vow.packages.contains(&name.as_str()))
        .map(|name| {
            vow.broken(
                &manifest.path,
                manifest::line_of(&manifest.text, name),
                name,
            )
        })
        .collect()
}

/// Checks the paths that `source` names.
pub(crate) fn check_source(source: &Source) -> Vec<Finding> {
    let Some(vow) = vow_of(&source.path) else {
        return Vec::new();
    };
    let found = paths::paths(source);
    found
        .iter()
        .filter(|path| vow.forbids(path))
        .map(|path| vow.broken(&source.path, path.line, &path.text))
        .collect()
}

impl Vow {
    fn forbids(&self, path: &paths::NamedPath) -> bool {
        self.modules.contains(&path.text.as_str()) || self.paths.iter().any(|p| path.is_within(p))
    }

    fn broken(&self, file: &str, line: usize, what: &str) -> Finding {
        let text = format!(
            "{} must not use {what}: {}; see docs/ARCHITECTURE.md",
            self.package, self.because
        );
        Finding::new(file, line, Rule::Purity, text)
    }
}

fn vow_of(path: &str) -> Option<&'static Vow> {
    VOWS.iter().find(|vow| path.starts_with(vow.dir))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check_source(&Source::new(path, text)).len()
    }

    #[test]
    fn a_decision_has_no_clock_and_no_io() {
        let bad = [
            "use std::time::Instant;",
            "use std::{fmt, time::{Duration, SystemTime}};",
            "use std::time::*;",
            "use std::time;",
            "let now = std::time::Instant::now();",
            "use std::fs::File;",
            "fn f() { std::net::TcpStream::connect(a); }",
            "use tokio::sync::mpsc;",
            "#[tokio::test]\nasync fn f() {}",
        ];
        for text in bad {
            assert_eq!(count("crates/admission/src/a.rs", text), 1, "{text}");
        }
        let good = "use std::time::Duration;\nuse std::fmt;\n// std::fs\nlet tokio = \"std::net\";";
        assert_eq!(count("crates/admission/src/a.rs", good), 0);
        assert_eq!(count("crates/replay/src/a.rs", bad[0]), 0);
    }

    #[test]
    fn storage_knows_no_http() {
        for text in [
            "use http::Request;",
            "use hyper;",
            "let b: http_body::Frame<B>;",
        ] {
            assert_eq!(count("crates/store/src/a.rs", text), 1, "{text}");
        }
        assert_eq!(
            count(
                "crates/store/src/a.rs",
                "use crate::http::A; use httpdate::B;"
            ),
            0
        );
    }

    #[test]
    fn nor_do_their_manifests() {
        let cases = [
            ("crates/admission/Cargo.toml", "tokio"),
            ("crates/store/Cargo.toml", "hyper"),
        ];
        for (path, package) in cases {
            let text = format!("[package]\nname = \"x\"\n[dev-dependencies]\n{package} = \"1\"\n");
            let manifest = Manifest::parse(path, &text).unwrap();
            let found = check_manifest(&manifest);
            assert_eq!(found.len(), 1);
            assert!(
                found[0]
                    .to_string()
                    .starts_with(&format!("{path}:4: purity: "))
            );
        }
        let good = "[package]\nname = \"x\"\n[dependencies]\nbytes = \"1\"\ntokio = \"1\"\n";
        let manifest = Manifest::parse("crates/store/Cargo.toml", good).unwrap();
        assert!(check_manifest(&manifest).is_empty());
    }
}
