//! A trace as an iterator of requests.

use std::{
    fmt,
    fs::File,
    io::{BufRead, Read},
    path::{Path, PathBuf},
};

use super::{
    decompress::decompress,
    error::{LineError, TraceError},
    request::{Request, excerpt},
};

/// Longest line, in bytes. A request takes at most 64: three numbers of 20 digits, two commas, the
/// line's end. The rest is patience with spaces and fractions.
pub const LINE_BYTES_MAX: usize = 256;

/// A first line that is skipped.
const HEADER: &[u8] = b"timestamp,object_id,size_bytes";

/// Reads a trace request by request. Ends with the trace or after the first error.
///
/// Reads block. Memory is bounded by the buffers, one line, and the window of the compression
/// ([`ZSTD_WINDOW_LOG_MAX`](super::ZSTD_WINDOW_LOG_MAX)), whatever the file holds.
pub struct TraceReader {
    input: Box<dyn BufRead + Send>,
    path: PathBuf,
    line: Vec<u8>,
    line_number: u64,
    ended: bool,
}

impl TraceReader {
    /// Opens a trace file.
    ///
    /// # Errors
    ///
    /// [`TraceError::Open`] if the file cannot be opened, [`TraceError::Read`] if its first bytes
    /// cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let path = path.as_ref();
        match File::open(path) {
            Ok(file) => Self::new(path, file),
            Err(cause) => {
                let path = path.to_owned();
                Err(TraceError::Open { path, cause })
            }
        }
    }

    /// Reads a trace from anywhere; errors call it `name`.
    ///
    /// # Errors
    ///
    /// [`TraceError::Read`] if the first bytes cannot be read.
    pub fn new(
        name: impl AsRef<Path>,
        input: impl Read + Send + 'static,
    ) -> Result<Self, TraceError> {
        let path = name.as_ref().to_owned();
        match decompress(input) {
            Ok(input) => Ok(Self {
                input,
                path,
                line: Vec::with_capacity(LINE_BYTES_MAX + 1),
                line_number: 0,
                ended: false,
            }),
            Err(cause) => Err(TraceError::Read {
                path,
                line: 1,
                cause,
            }),
        }
    }

    /// The next line, without its end, is in `self.line`; `false` at the end of the trace.
    fn advance(&mut self) -> Result<bool, TraceError> {
        self.line.clear();
        self.line_number += 1;
        let mut bounded = self.input.by_ref().take(LINE_BYTES_MAX as u64 + 1);
        if let Err(cause) = bounded.read_until(b'\n', &mut self.line) {
            let (path, line) = (self.path.clone(), self.line_number);
            return Err(TraceError::Read { path, line, cause });
        }
        if self.line.is_empty() {
            return if self.line_number == 1 {
                Err(self.blame(LineError::Empty))
            } else {
                Ok(false)
            };
        }
        if self.line.len() > LINE_BYTES_MAX {
            let (max_bytes, text) = (LINE_BYTES_MAX, excerpt(&self.line));
            return Err(self.blame(LineError::TooLong { max_bytes, text }));
        }
        for end in *b"\n\r" {
            self.line.pop_if(|byte| *byte == end);
        }
        Ok(true)
    }

    fn read(&mut self) -> Result<Option<Request>, TraceError> {
        let mut more = self.advance()?;
        if self.line_number == 1 && self.line == HEADER {
            more = self.advance()?;
        }
        if !more {
            return Ok(None);
        }
        let request = Request::parse(&self.line);
        request.map(Some).map_err(|cause| self.blame(cause))
    }

    fn blame(&self, cause: LineError) -> TraceError {
        let (path, line) = (self.path.clone(), self.line_number);
        TraceError::Line { path, line, cause }
    }
}

impl Iterator for TraceReader {
    type Item = Result<Request, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.read().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

impl std::iter::FusedIterator for TraceReader {}

impl fmt::Debug for TraceReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceReader")
            .field("path", &self.path)
            .field("line_number", &self.line_number)
            .finish_non_exhaustive()
    }
}
