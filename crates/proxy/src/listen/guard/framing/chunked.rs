//! A chunked body (RFC 9112 §7.1): sizes, extensions, data, trailers, with nothing between them.

use super::fields::Fields;
use super::{Breach, Run, Violation};

/// Most digits of a chunk size: 15 make 2^60 bytes, and cannot overflow a `u64`.
const SIZE_DIGITS_MAX: u8 = 15;
/// Bytes of chunk extensions in one body. Nobody uses them; hyper would take 16 KiB.
const EXTENSION_BYTES_MAX: usize = 1024;
/// Bytes of trailers in one body; hyper would take 16 KiB.
const TRAILER_BYTES_MAX: usize = 8 * 1024;

/// Follows one chunked body.
#[derive(Debug)]
pub(super) struct Chunked {
    state: State,
    extension_bytes: usize,
    trailer_bytes: usize,
    trailers: Fields,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Size { bytes: u64, digits: u8 },
    Extension { bytes: u64 },
    SizeLf { bytes: u64 },
    Data { bytes: u64 },
    DataCr,
    DataLf,
    Trailers,
}

const NEXT_SIZE: State = State::Size { bytes: 0, digits: 0 };

impl Chunked {
    pub(super) const fn new() -> Self {
        Self {
            state: NEXT_SIZE,
            extension_bytes: 0,
            trailer_bytes: 0,
            trailers: Fields::of_trailers(),
        }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<Run, Breach> {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            at += match self.state {
                State::Data { bytes: left } => self.data(left, rest.len()),
                State::Trailers => match self.trailers(rest).map_err(|breach| breach.after(at))? {
                    Run::Done(used) => return Ok(Run::Done(at + used)),
                    Run::More => rest.len(),
                },
                _ => {
                    self.byte(rest[0]).map_err(|violation| Breach { at, violation })?;
                    1
                }
            };
        }
        Ok(Run::More)
    }

    fn byte(&mut self, byte: u8) -> Result<(), Violation> {
        self.state = match (self.state, byte) {
            (State::Size { bytes, digits }, _) if byte.is_ascii_hexdigit() => {
                size_digit(bytes, digits, byte)?
            }
            (State::Size { bytes, digits: 1.. }, b';') => self.extension(bytes)?,
            (State::Size { bytes, digits: 1.. }, b'\r') => State::SizeLf { bytes },
            (State::Size { digits: 1.., .. }, b' ' | b'\t') => {
                return Err(Violation::ChunkExtension);
            }
            (State::Size { .. }, b'\r') => return Err(Violation::ChunkSize),
            (State::Size { .. }, _) => {
                return Err(Violation::of_byte(byte, Violation::ChunkSize));
            }
            (State::Extension { bytes }, b'\r') => State::SizeLf { bytes },
            (State::Extension { bytes }, b'\t' | b' '..=b'~' | 0x80..) => self.extension(bytes)?,
            (State::Extension { .. }, _) => {
                return Err(Violation::of_byte(byte, Violation::Control));
            }
            (State::SizeLf { bytes: 0 }, b'\n') => State::Trailers,
            (State::SizeLf { bytes }, b'\n') => State::Data { bytes },
            (State::SizeLf { .. }, _) => return Err(Violation::BareCr),
            (State::DataCr, b'\r') => State::DataLf,
            (State::DataLf, b'\n') => NEXT_SIZE,
            (State::DataCr | State::DataLf | State::Data { .. } | State::Trailers, _) => {
                return Err(Violation::ChunkEnd);
            }
        };
        Ok(())
    }

    /// Counts one byte of an extension to a chunk of `bytes`.
    fn extension(&mut self, bytes: u64) -> Result<State, Violation> {
        self.extension_bytes += 1;
        if self.extension_bytes > EXTENSION_BYTES_MAX {
            return Err(Violation::ChunkExtension);
        }
        Ok(State::Extension { bytes })
    }

    /// Skips chunk data; `left` bytes of it are to come, `available` are here.
    fn data(&mut self, left: u64, available: usize) -> usize {
        let used = usize::try_from(left).map_or(available, |left| left.min(available));
        let left = left - used as u64;
        self.state = if left == 0 { State::DataCr } else { State::Data { bytes: left } };
        used
    }

    fn trailers(&mut self, bytes: &[u8]) -> Result<Run, Breach> {
        let allowed = TRAILER_BYTES_MAX - self.trailer_bytes;
        let within = &bytes[..bytes.len().min(allowed)];
        let run = self.trailers.feed(within)?;
        self.trailer_bytes += within.len();
        match run {
            Run::More if within.len() < bytes.len() => {
                Err(Breach { at: allowed, violation: Violation::TrailerTooLarge })
            }
            run => Ok(run),
        }
    }
}

fn size_digit(bytes: u64, digits: u8, digit: u8) -> Result<State, Violation> {
    if digits == SIZE_DIGITS_MAX {
        return Err(Violation::ChunkSize);
    }
    let value = char::from(digit).to_digit(16).ok_or(Violation::ChunkSize)?;
    Ok(State::Size { bytes: bytes * 16 + u64::from(value), digits: digits + 1 })
}
