//! Which crate of ours may know which: the arrows of docs/ARCHITECTURE.md, kept by a machine.

use super::manifest::{self, Manifest};
use super::paths;
use super::source::Source;
use super::{Finding, Rule};

/// A crate of the house and the ones of ours that it may name.
struct House {
    package: &'static str,
    dir: &'static str,
    /// What the crate is, as the subject of "… knows no …".
    subject: &'static str,
    /// What another crate would learn from it, as the object.
    object: &'static str,
    may_know: &'static [&'static str],
}

const LARDER: &str = "larder";
const ADMISSION: &str = "larder-admission";
const CLUSTER: &str = "larder-cluster";
const REPLAY: &str = "larder-replay";
const STORE: &str = "larder-store";

const HOUSE: [House; 7] = [
    House {
        package: LARDER,
        dir: "crates/proxy",
        subject: "the proxy",
        object: "policy of HTTP caching",
        may_know: &[CLUSTER, STORE, ADMISSION, REPLAY],
    },
    House {
        package: STORE,
        dir: "crates/store",
        subject: "storage",
        object: "storage",
        may_know: &[ADMISSION],
    },
    House {
        package: REPLAY,
        dir: "crates/replay",
        subject: "a trace",
        object: "traces",
        may_know: &[ADMISSION, STORE, CLUSTER],
    },
    House {
        package: ADMISSION,
        dir: "crates/admission",
        subject: "a pure decision",
        object: "admission",
        may_know: &[],
    },
    House {
        package: CLUSTER,
        dir: "crates/cluster",
        subject: "placement",
        object: "placement",
        may_know: &[],
    },
    House {
        package: "larder-benches",
        dir: "benches",
        subject: "a benchmark",
        object: "benchmarks",
        may_know: &[LARDER, ADMISSION, CLUSTER, REPLAY, STORE],
    },
    House {
        package: "xtask",
        dir: "xtask",
        subject: "a chore",
        object: "chores",
        may_know: &[],
    },
];

/// Checks the dependencies that `manifest` declares, those of tests and builds included.
pub(crate) fn check_manifest(manifest: &Manifest) -> Vec<Finding> {
    let finding = |line, text| Finding::new(&manifest.path, line, Rule::Arrow, text);
    let Some(from) = house_of(&manifest.path) else {
        let text = format!(
            "{} has no place in the house: give it one in xtask/src/tidy/arrows.rs and in \
             docs/ARCHITECTURE.md",
            manifest.package
        );
        return vec![finding(1, text)];
    };
    if manifest.package != from.package {
        let text = format!(
            "{} is the home of {}, not of {}",
            from.dir, from.package, manifest.package
        );
        return vec![finding(1, text)];
    }
    let names = manifest.dependencies.iter();
    names
        .filter_map(|name| {
            let text = refuse(from, by_package(name)?)?;
            Some(finding(manifest::line_of(&manifest.text, name), text))
        })
        .collect()
}

/// Checks the paths that `source` names.
pub(crate) fn check_source(source: &Source) -> Vec<Finding> {
    let Some(from) = house_of(&source.path) else {
        return Vec::new();
    };
    paths::paths(source)
        .iter()
        .filter_map(|path| {
            let root = path.text.split("::").next()?;
            let text = refuse(from, by_package(&root.replace('_', "-"))?)?;
            Some(Finding::new(&source.path, path.line, Rule::Arrow, text))
        })
        .collect()
}

/// The sentence against an arrow between two crates, if it is forbidden.
fn refuse(from: &House, to: &House) -> Option<String> {
    if from.package == to.package || from.may_know.contains(&to.package) {
        return None;
    }
    Some(format!(
        "{} must not know {}: {} knows no {}; see docs/ARCHITECTURE.md",
        from.package, to.package, from.subject, to.object
    ))
}

fn house_of(path: &str) -> Option<&'static House> {
    let within = |h: &&House| path.strip_prefix(h.dir).is_some_and(|r| r.starts_with('/'));
    HOUSE.iter().find(within)
}

fn by_package(package: &str) -> Option<&'static House> {
    HOUSE.iter().find(|h| h.package == package)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_manifest(path: &str, text: &str) -> Vec<String> {
        let manifest = Manifest::parse(path, text).unwrap();
        let found = check_manifest(&manifest);
        found.iter().map(ToString::to_string).collect()
    }

    fn of_source(path: &str, text: &str) -> Vec<String> {
        let found = check_source(&Source::new(path, text));
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_forbidden_dependency_is_refused_with_the_arrow() {
        let text =
            "[package]\nname = \"larder-store\"\n[dependencies]\nlarder-cluster.workspace = true\n";
        let found = of_manifest("crates/store/Cargo.toml", text);
        let expected = "crates/store/Cargo.toml:4: arrow: larder-store must not know \
                        larder-cluster: storage knows no placement; see docs/ARCHITECTURE.md";
        assert_eq!(found, [expected]);
    }

    #[test]
    fn no_kind_of_dependency_is_a_way_around() {
        let kinds = [
            "[dev-dependencies]\nlarder-store.workspace = true",
            "[build-dependencies]\nlarder-store = \"0.1\"",
            "[target.'cfg(unix)'.dependencies]\nlarder-store = { path = \"../store\" }",
            "[dependencies]\nother = { package = \"larder-store\", path = \"../store\" }",
            "[dependencies.larder-store]\npath = \"../store\"",
        ];
        for kind in kinds {
            let text = format!("[package]\nname = \"larder-cluster\"\n{kind}\n");
            assert_eq!(
                of_manifest("crates/cluster/Cargo.toml", &text).len(),
                1,
                "{kind}"
            );
        }
    }

    #[test]
    fn allowed_arrows_pass() {
        let text = "[package]\nname = \"larder-store\"\n[dependencies]\nlarder-admission = \"0.1\"\nbytes = \"1\"\n";
        assert!(of_manifest("crates/store/Cargo.toml", text).is_empty());
        let source = "use larder_admission::Policy;\nuse crate::larder;\nlet larder = 1;\n";
        assert!(of_source("crates/store/src/lib.rs", source).is_empty());
    }

    #[test]
    fn a_new_crate_needs_a_place() {
        let text = "[package]\nname = \"larder-new\"\n";
        assert!(of_manifest("crates/new/Cargo.toml", text)[0].contains("no place in the house"));
        let moved = "[package]\nname = \"larder-store\"\n";
        assert!(
            of_manifest("crates/cluster/Cargo.toml", moved)[0].contains("home of larder-cluster")
        );
    }

    #[test]
    fn a_forbidden_path_is_refused() {
        let cases = [
            ("crates/store/src/a.rs", "use larder_cluster::ring;"),
            ("crates/store/tests/a.rs", "fn f() { larder::serve(); }"),
            (
                "crates/admission/src/a.rs",
                "use {std::fmt, larder_store::Key};",
            ),
            ("crates/cluster/src/a.rs", "let k: larder_store::Key;"),
            ("crates/replay/src/a.rs", "use larder::config;"),
            ("xtask/src/a.rs", "use larder_store as s;"),
        ];
        for (path, text) in cases {
            assert_eq!(of_source(path, text).len(), 1, "{path}: {text}");
        }
        assert!(of_source("benches/benches/a.rs", "use larder_store::Key;").is_empty());
    }
}
