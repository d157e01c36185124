//! The larder binary: arguments, configuration, application, exit code.

use std::process::ExitCode;

use clap::Parser as _;
use larder::cli::{Cli, exit, run};

fn main() -> ExitCode {
    // Wrong arguments end the process here, with exit::USAGE.
    let arguments = Cli::parse();
    exit::report(run(arguments))
}
