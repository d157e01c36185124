//! `larder config dump`: every setting, to begin a configuration with.

use anyhow::Result;
use clap::{Args, Subcommand};

use super::output;
use crate::config::DEFAULTS_TOML;

const EXAMPLES: &str = "\
Examples:
  larder config dump --defaults > larder.toml";

/// Print configuration.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum ConfigCommand {
    /// Print every setting, commented out, with its default and the reason for it
    #[command(after_help = EXAMPLES)]
    Dump(DumpArgs),
}

/// What to print.
#[derive(Debug, Args)]
pub struct DumpArgs {
    /// The defaults, as a file to edit
    #[arg(long, required = true)]
    pub defaults: bool,
}

pub(super) fn run(command: &ConfigCommand) -> Result<()> {
    match command {
        ConfigCommand::Dump(_) => output::print(DEFAULTS_TOML),
    }
}
