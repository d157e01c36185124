//! Standard output, whose reader may leave before the end (`larder help | head -1`).

use std::io::{self, Write as _};

use anyhow::{Context as _, Result};

/// Prints text to standard output. That nobody reads it any more is no error.
pub(super) fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("standard output"),
    }
}
