//! The command line: what may be asked for, and who answers it.
//!
//! Each command is one file with its arguments, its examples, and its `run`.

mod check;
mod config_args;
mod dump;
pub mod exit;
mod origin;
mod output;
mod purge;
mod replay;
mod runtime;
mod serve;

use anyhow::Result;
use clap::{Parser, Subcommand};

pub use config_args::ConfigArgs;

const EXAMPLES: &str = "\
Examples:
  larder serve                                  a demo origin, and requests to try
  larder serve --origin http://127.0.0.1:3000   before an origin of yours
  larder config dump --defaults > larder.toml   every setting, its default, and why
  larder check --config larder.toml             what is wrong with it, or how memory is divided
  larder origin --listen 127.0.0.1:9000         an origin to try things with
  larder replay --trace day.csv --target http://127.0.0.1:8080
                                                ask for what a trace asks, and measure
  larder purge --url http://example.org/a       forget one object, everywhere

Exit codes: 0 success, 1 error at run time, 2 wrong usage, 75 try again (port in use, data
directory locked), 78 wrong configuration.";

/// A caching HTTP reverse proxy for the edge.
#[derive(Debug, Parser)]
#[command(name = "larder", version, after_help = EXAMPLES, arg_required_else_help = true)]
#[command(disable_help_subcommand = false, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve: a caching reverse proxy
    Serve(serve::ServeArgs),
    /// Validate the configuration and print how memory and flash are divided
    Check(check::CheckArgs),
    /// Run a synthetic origin: objects of the size asked for
    Origin(origin::OriginArgs),
    /// Ask a server for what a trace asks, and measure what comes back
    Replay(replay::ReplayArgs),
    /// Make a running larder forget an object
    Purge(purge::PurgeArgs),
    /// Print configuration
    #[command(subcommand)]
    Config(dump::ConfigCommand),
    /// Print the version
    Version,
}

/// Carries a command out.
///
/// # Errors
/// Whatever kept the command from its end; [`exit::code_of`] knows the exit code.
pub fn run(cli: Cli) -> Result<()> {
    match cli.command {
        Command::Serve(args) => serve::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Origin(args) => origin::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Purge(args) => purge::run(&args),
        Command::Config(command) => dump::run(&command),
        Command::Version => output::print(concat!("larder ", env!("CARGO_PKG_VERSION"), "\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_definition_is_consistent_and_every_command_has_examples() {
        let mut command = Cli::command();
        command.build();
        command.clone().debug_assert();
        for command in command.get_subcommands() {
            let name = command.get_name();
            if ["help", "version"].contains(&name) {
                continue;
            }
            let help = command
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(
                help.contains(&format!("larder {name}")),
                "no example for {name}"
            );
        }
    }
}
