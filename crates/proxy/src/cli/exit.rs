//! With which number the process ends, and why.

use std::io;
use std::process::ExitCode;

use thiserror::Error;

use crate::config::Problems;

/// Everything went well.
pub const OK: u8 = 0;

/// An error at run time.
pub const RUN_TIME: u8 = 1;

/// The command line makes no sense; clap uses the same number.
pub const USAGE: u8 = 2;

/// The same command may work later: the port is in use, the data directory is locked by another
/// process (`EX_TEMPFAIL` of sysexits.h).
pub const TRY_AGAIN: u8 = 75;

/// The configuration is wrong (`EX_CONFIG` of sysexits.h); starting again does not help.
pub const CONFIG: u8 = 78;

/// Marks an error after which the same command may work later. Put into an error's chain, it makes
/// the process end with [`TRY_AGAIN`].
#[derive(Debug, Error)]
#[error("{what}")]
pub struct TryAgain {
    /// What is in the way, for instance `the data directory /x is locked by another larder`.
    pub what: String,
}

/// The exit code for an error, by what its chain of causes contains.
pub fn code_of(error: &anyhow::Error) -> u8 {
    let in_use = |error: &io::Error| error.kind() == io::ErrorKind::AddrInUse;
    for cause in error.chain() {
        if cause.is::<Problems>() {
            return CONFIG;
        }
        if cause.is::<TryAgain>() || cause.downcast_ref().is_some_and(in_use) {
            return TRY_AGAIN;
        }
    }
    RUN_TIME
}

/// Reports how a command ended, on standard error if it failed.
pub fn report(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::from(OK),
        Err(error) => {
            let code = code_of(&error);
            eprintln!("larder: {error:#}");
            ExitCode::from(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{Context, anyhow};

    #[test]
    fn codes() {
        let locked = TryAgain {
            what: "locked".to_owned(),
        };
        let problems = Problems {
            path: None,
            problems: Vec::new(),
        };
        let in_use = io::Error::from(io::ErrorKind::AddrInUse);
        for (error, code) in [
            (anyhow!("x"), RUN_TIME),
            (anyhow!(io::Error::from(io::ErrorKind::NotFound)), RUN_TIME),
            (anyhow!(locked).context("opening the store"), TRY_AGAIN),
            (anyhow!(in_use).context("listening"), TRY_AGAIN),
            (anyhow!(problems), CONFIG),
        ] {
            assert_eq!(code_of(&error), code, "{error:#}");
        }
        let context = Err::<(), _>(io::Error::from(io::ErrorKind::AddrInUse)).context("listening");
        assert_eq!(context.map_err(|error| code_of(&error)), Err(TRY_AGAIN));
    }
}
