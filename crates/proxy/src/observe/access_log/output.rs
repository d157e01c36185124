//! Where the lines go.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

/// Where the lines go, as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// The process's standard output, unbuffered.
    Stdout,
    /// A file, appended to, made if there is none.
    File(PathBuf),
}

/// An open destination.
pub(super) trait Output: Send {
    /// Writes whole lines.
    fn write_lines(&mut self, lines: &[u8]) -> io::Result<()>;

    /// Opens the same destination anew: its file may have been renamed.
    fn reopen(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Stdout;

struct LogFile {
    path: PathBuf,
    file: File,
}

impl Destination {
    pub(super) fn open(self) -> io::Result<Box<dyn Output>> {
        Ok(match self {
            Self::Stdout => Box::new(Stdout),
            Self::File(path) => Box::new(LogFile {
                file: append_to(&path)?,
                path,
            }),
        })
    }
}

fn append_to(path: &PathBuf) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

impl Output for Stdout {
    fn write_lines(&mut self, lines: &[u8]) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(lines)?;
        stdout.flush()
    }
}

impl Output for LogFile {
    fn write_lines(&mut self, lines: &[u8]) -> io::Result<()> {
        self.file.write_all(lines)
    }

    fn reopen(&mut self) -> io::Result<()> {
        self.file = append_to(&self.path)?;
        Ok(())
    }
}
