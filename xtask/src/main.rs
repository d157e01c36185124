//! Chores of the workspace: `cargo xtask ci` and `cargo xtask tidy`.

mod ci;
mod tidy;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;

/// Chores of the workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Chore {
    /// Run every check that a change must pass, cheapest first
    Ci {
        /// Run these steps only
        steps: Vec<String>,
    },
    /// Check the rules of the house: arrows between crates, lengths, unsafe, leftovers
    Tidy,
}

fn main() -> ExitCode {
    match run(&Chore::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        // Without the backtrace that returning the error would show: a finding is no crash.
        Err(error) => {
            eprintln!("\n{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(chore: &Chore) -> Result<()> {
    let root = root()?;
    match chore {
        Chore::Ci { steps } => ci::run(&root, steps),
        Chore::Tidy => tidy::run(&root),
    }
}

/// The repository's root: the parent of this package.
fn root() -> Result<PathBuf> {
    let package = env::var_os("CARGO_MANIFEST_DIR").context("run it as `cargo xtask`")?;
    let root = Path::new(&package)
        .parent()
        .context("xtask has no parent folder")?;
    Ok(root.to_owned())
}
