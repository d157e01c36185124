//! Follows requests on a raw HTTP/1 byte stream, to the byte, and refuses what is not to the letter.
//!
//! hyper's parser is lenient where RFC 9112 allows a recipient to be (bare LF, a `Content-Length`
//! beside a `Transfer-Encoding`, repeated lengths). A proxy cannot afford that: what it takes for
//! one request the next parser may take for two. This machine keeps no bytes and no clock; it
//! says how far the stream is good.

mod chunked;
mod fields;
mod request_line;
mod scan;
mod value;

use chunked::Chunked;
use fields::{Facts, Fields};
use request_line::RequestLine;

use super::violation::Violation;

/// What a client sends first that speaks HTTP/2 by prior knowledge (RFC 9113 §3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The framing state of one client connection.
#[derive(Debug)]
pub struct Framing {
    head_bytes_max: usize,
    head_bytes: usize,
    wants_upgrade: bool,
    phase: Phase,
}

/// How far [`Framing::feed`] came.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fed {
    /// All bytes are good.
    All,
    /// The first `at` bytes complete a request that asks for another protocol. What follows is not
    /// looked at before [`Framing::decide`].
    Held {
        /// Number of good bytes.
        at: usize,
    },
}

/// The first byte that must not be passed on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Breach {
    /// Its index in the bytes that were fed: those before it are good so far.
    pub at: usize,
    /// Why.
    pub violation: Violation,
}

/// How far one part of a message came.
#[derive(Clone, Copy, Debug)]
enum Run {
    /// All bytes belong to it, and it goes on.
    More,
    /// It ended after so many bytes.
    Done(usize),
}

#[derive(Debug)]
enum Phase {
    /// The start of a connection: so many bytes of the HTTP/2 preface have come.
    Preface(usize),
    Line(RequestLine),
    Fields(Fields),
    Length(u64),
    Chunked(Chunked),
    /// Nothing is read before the upgrade is decided.
    Held,
    /// HTTP/2 or another protocol: not ours to judge.
    Opaque,
}

impl Breach {
    /// The same breach, seen from `offset` bytes earlier.
    const fn after(self, offset: usize) -> Self {
        Self { at: self.at + offset, violation: self.violation }
    }
}

impl Framing {
    /// The start of a connection, with heads of up to `head_bytes_max` bytes.
    pub const fn new(head_bytes_max: usize) -> Self {
        Self { head_bytes_max, head_bytes: 0, wants_upgrade: false, phase: Phase::Preface(0) }
    }

    /// Follows `bytes`, the next of the stream.
    ///
    /// # Errors
    ///
    /// The first byte that breaks the rules. The connection is then lost: nothing further may be
    /// fed or passed on.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Fed, Breach> {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let run = match &mut self.phase {
                Phase::Held => return Ok(Fed::Held { at }),
                Phase::Opaque => return Ok(Fed::All),
                Phase::Preface(_) => {
                    at += self.preface(rest).map_err(|breach| breach.after(at))?;
                    continue;
                }
                Phase::Line(_) | Phase::Fields(_) => self.head(rest),
                Phase::Length(left) => Ok(skip(left, rest.len())),
                Phase::Chunked(body) => body.feed(rest),
            };
            match run.map_err(|breach| breach.after(at))? {
                Run::More => return Ok(Fed::All),
                Run::Done(used) => {
                    at += used;
                    self.next();
                }
            }
        }
        let is_held = matches!(self.phase, Phase::Held);
        Ok(if is_held { Fed::Held { at } } else { Fed::All })
    }

    /// Goes on after [`Fed::Held`]: in another protocol, which is passed on unread, or with HTTP.
    pub fn decide(&mut self, is_accepted: bool) {
        self.phase = if is_accepted { Phase::Opaque } else { Phase::Line(RequestLine::new()) };
    }

    /// Whether a head has begun and not ended.
    pub fn is_within_head(&self) -> bool {
        match &self.phase {
            Phase::Preface(matched) => *matched > 0,
            Phase::Line(line) => !line.is_untouched(),
            Phase::Fields(_) => true,
            _ => false,
        }
    }

    /// Whether the client owes nothing: the stream stands between two requests.
    pub fn is_between_requests(&self) -> bool {
        match &self.phase {
            Phase::Preface(matched) => *matched == 0,
            Phase::Line(line) => line.is_untouched(),
            _ => false,
        }
    }

    /// Whether what comes is passed on unread.
    pub const fn is_opaque(&self) -> bool {
        matches!(self.phase, Phase::Opaque)
    }

    /// Follows the stream as long as it is the preface of HTTP/2, and says how many bytes it used.
    /// When it stops being that, what has come is replayed as the start of a request.
    fn preface(&mut self, bytes: &[u8]) -> Result<usize, Breach> {
        let Phase::Preface(before) = self.phase else { return Ok(0) };
        let expected = PREFACE.get(before..).unwrap_or_default();
        let same = expected.iter().zip(bytes).take_while(|(left, right)| left == right).count();
        if same == expected.len() {
            self.phase = Phase::Opaque;
            return Ok(same);
        }
        if same == bytes.len() {
            self.phase = Phase::Preface(before + same);
            return Ok(same);
        }
        self.phase = Phase::Line(RequestLine::new());
        match self.feed(PREFACE.get(..before).unwrap_or_default()) {
            // What was passed on earlier cannot be held back: refuse the very next byte.
            Err(breach) => Err(Breach { at: 0, ..breach }),
            Ok(_) => Ok(0),
        }
    }

    fn head(&mut self, bytes: &[u8]) -> Result<Run, Breach> {
        let allowed = self.head_bytes_max.saturating_sub(self.head_bytes);
        let within = &bytes[..bytes.len().min(allowed)];
        let run = match &mut self.phase {
            Phase::Line(line) => line.feed(within)?,
            Phase::Fields(fields) => fields.feed(within)?,
            _ => Run::Done(0),
        };
        match run {
            Run::Done(used) => self.head_bytes += used,
            Run::More if within.len() < bytes.len() => {
                return Err(Breach { at: allowed, violation: Violation::HeadTooLarge });
            }
            Run::More => self.head_bytes += within.len(),
        }
        Ok(run)
    }

    /// What comes after the phase that has just ended.
    fn next(&mut self) {
        self.phase = match &self.phase {
            Phase::Line(line) => Phase::Fields(Fields::of_head(line.is_version_11())),
            Phase::Fields(fields) => {
                let facts = fields.facts();
                self.head_bytes = 0;
                self.wants_upgrade = facts.wants_upgrade;
                self.after_head(facts)
            }
            Phase::Length(_) | Phase::Chunked(_) => self.after_message(),
            Phase::Preface(_) | Phase::Held | Phase::Opaque => return,
        };
    }

    const fn after_head(&self, facts: Facts) -> Phase {
        match facts {
            Facts { is_chunked: true, .. } => Phase::Chunked(Chunked::new()),
            Facts { length: Some(bytes @ 1..), .. } => Phase::Length(bytes),
            _ => self.after_message(),
        }
    }

    const fn after_message(&self) -> Phase {
        if self.wants_upgrade { Phase::Held } else { Phase::Line(RequestLine::new()) }
    }
}

/// Skips a body of which `left` bytes are to come and `available` are here.
fn skip(left: &mut u64, available: usize) -> Run {
    match usize::try_from(*left) {
        Ok(needed) if needed <= available => Run::Done(needed),
        _ => {
            *left -= available as u64;
            Run::More
        }
    }
}

#[cfg(test)]
mod tests;
