//! `cargo xtask ci`: what a change must pass, step by step, and how to repeat the step that failed.

use std::env;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// One check: a cargo command.
struct Step {
    name: &'static str,
    args: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
    /// What to do when the command itself is missing.
    missing: &'static str,
}

const RUSTUP: &str = "rustup installs it with the toolchain of rust-toolchain.toml";

/// Cheap and most often broken first.
const STEPS: [Step; 6] = [
    Step {
        name: "format",
        args: &["fmt", "--all", "--check"],
        env: &[],
        missing: RUSTUP,
    },
    Step {
        name: "tidy",
        args: &["xtask", "tidy"],
        env: &[],
        missing: "run it from the repository",
    },
    Step {
        name: "clippy",
        args: &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
        env: &[],
        missing: RUSTUP,
    },
    Step {
        name: "deny",
        // No advisories: their database is not on a package registry.
        args: &["deny", "check", "bans", "licenses", "sources"],
        env: &[],
        missing: "cargo install cargo-deny --version 0.20.2 --locked",
    },
    Step {
        name: "test",
        args: &["test", "--workspace"],
        env: &[],
        missing: RUSTUP,
    },
    Step {
        name: "doc",
        args: &["doc", "--workspace", "--no-deps", "--quiet"],
        env: &[("RUSTDOCFLAGS", "-D warnings")],
        missing: RUSTUP,
    },
];

/// Runs all steps, or those named, in their order. Stops at the first that fails.
pub(crate) fn run(root: &Path, only: &[String]) -> Result<()> {
    if let Some(name) = only
        .iter()
        .find(|name| !STEPS.iter().any(|s| s.name == **name))
    {
        let names = STEPS.map(|s| s.name).join(", ");
        bail!("no step is called {name}; there are {names}");
    }
    let chosen = |step: &&Step| only.is_empty() || only.iter().any(|name| name == step.name);
    let mut times = Vec::new();
    for step in STEPS.iter().filter(chosen) {
        println!("\n== {}: {}", step.name, step.command_line());
        let started = Instant::now();
        step.run(root)?;
        times.push((step.name, started.elapsed()));
    }
    print_times(&times);
    Ok(())
}

fn print_times(times: &[(&str, Duration)]) {
    println!();
    for (name, time) in times {
        println!("{name:8} ok {:8.1} s", time.as_secs_f64());
    }
}

impl Step {
    /// What to type to run the step alone.
    fn command_line(&self) -> String {
        let env = self
            .env
            .iter()
            .map(|(key, value)| format!("{key}='{value}' "));
        format!("{}cargo {}", env.collect::<String>(), self.args.join(" "))
    }

    fn run(&self, root: &Path) -> Result<()> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(self.args)
            .envs(self.env.iter().copied())
            .current_dir(root)
            .status()
            .context("cannot start cargo")?;
        if status.success() {
            return Ok(());
        }
        bail!(
            "{} failed ({status}). Repeat it with:\n    {}\nIf the command is missing: {}",
            self.name,
            self.command_line(),
            self.missing
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_can_be_repeated_as_printed() {
        let doc = STEPS.iter().find(|s| s.name == "doc").unwrap();
        let expected = "RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --quiet";
        assert_eq!(doc.command_line(), expected);
    }

    #[test]
    fn an_unknown_step_is_refused_with_the_known_ones() {
        let error = run(Path::new("."), &["lint".to_owned()])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("lint") && error.contains("clippy"),
            "{error}"
        );
    }

    #[test]
    fn a_failed_step_stops_with_its_command() {
        let step = Step {
            name: "nonsense",
            args: &["--no-such-flag"],
            env: &[],
            missing: "nothing",
        };
        let error = step.run(Path::new(".")).unwrap_err().to_string();
        assert!(error.contains("nonsense failed"), "{error}");
        assert!(error.contains("cargo --no-such-flag"), "{error}");
    }
}
