//! The request line (RFC 9112 §3): `method SP target SP HTTP/1.x CRLF`, one space each.

use super::scan;
use super::{Breach, Run, Violation};

/// Longest method: the longest registered one has 17 characters.
const METHOD_BYTES_MAX: usize = 32;
/// Empty lines tolerated before a request line: RFC 9112 §2.2 asks for "at least one".
const EMPTY_LINES_MAX: u8 = 1;
/// How much of a target tells its form: the length of `https://`.
const FORM_BYTES: usize = 8;
const VERSION: &[u8] = b"HTTP/1.";

/// Follows one request line.
#[derive(Debug)]
pub(super) struct RequestLine {
    state: State,
    empty_lines: u8,
    method: Prefix,
    target: Prefix,
    version_11: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Start,
    EmptyLf,
    Method,
    Target,
    Version(usize),
    Cr,
    Lf,
}

/// The first bytes of something, and how long it is in all.
#[derive(Debug)]
struct Prefix {
    first: [u8; FORM_BYTES],
    bytes: usize,
}

impl RequestLine {
    pub(super) const fn new() -> Self {
        Self {
            state: State::Start,
            empty_lines: 0,
            method: Prefix::new(),
            target: Prefix::new(),
            version_11: false,
        }
    }

    /// Whether no byte of the line has come yet.
    pub(super) fn is_untouched(&self) -> bool {
        matches!(self.state, State::Start) && self.empty_lines == 0
    }

    /// Whether the line, now done, says HTTP/1.1.
    pub(super) fn is_version_11(&self) -> bool {
        self.version_11
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<Run, Breach> {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let breach = |violation| Breach { at, violation };
            at += match self.state {
                State::Method => self.method(rest).map_err(|breach| breach.after(at))?,
                State::Target => self.target(rest).map_err(|breach| breach.after(at))?,
                _ => {
                    self.byte(rest[0]).map_err(breach)?;
                    if matches!(self.state, State::Lf) && rest[0] == b'\n' {
                        return Ok(Run::Done(at + 1));
                    }
                    1
                }
            };
        }
        Ok(Run::More)
    }

    fn byte(&mut self, byte: u8) -> Result<(), Violation> {
        let (next, otherwise) = match (self.state, byte) {
            (State::Start, b'\r') => (Some(State::EmptyLf), Violation::Method),
            (State::Start, _) => return self.start_method(byte),
            (State::EmptyLf, b'\n') => return self.empty_line(),
            (State::EmptyLf, _) => return Err(Violation::BareCr),
            (State::Version(at), _) if at < VERSION.len() => {
                let expected = VERSION.get(at) == Some(&byte);
                (expected.then_some(State::Version(at + 1)), Violation::Version)
            }
            (State::Version(_), b'0' | b'1') => {
                self.version_11 = byte == b'1';
                (Some(State::Cr), Violation::Version)
            }
            (State::Cr, b'\r') | (State::Lf, b'\n') => (Some(State::Lf), Violation::Version),
            (State::Lf, _) => return Err(Violation::BareCr),
            _ => (None, Violation::Version),
        };
        self.state = next.ok_or_else(|| match byte {
            b'\r' => otherwise,
            _ => Violation::of_byte(byte, otherwise),
        })?;
        Ok(())
    }

    fn start_method(&mut self, byte: u8) -> Result<(), Violation> {
        if scan::token_run(&[byte]) == 0 {
            return Err(Violation::of_byte(byte, Violation::Method));
        }
        self.method.push(&[byte]);
        self.state = State::Method;
        Ok(())
    }

    fn empty_line(&mut self) -> Result<(), Violation> {
        if self.empty_lines == EMPTY_LINES_MAX {
            return Err(Violation::Method);
        }
        self.empty_lines += 1;
        self.state = State::Start;
        Ok(())
    }

    fn method(&mut self, bytes: &[u8]) -> Result<usize, Breach> {
        let run = scan::token_run(bytes);
        self.method.push(&bytes[..run]);
        if self.method.bytes > METHOD_BYTES_MAX {
            return Err(Breach { at: 0, violation: Violation::Method });
        }
        match bytes.get(run) {
            None => Ok(run),
            Some(b' ') if self.method.is(b"CONNECT") => {
                Err(Breach { at: run, violation: Violation::Connect })
            }
            Some(b' ') => {
                self.state = State::Target;
                Ok(run + 1)
            }
            Some(&byte) => {
                Err(Breach { at: run, violation: Violation::of_byte(byte, Violation::Method) })
            }
        }
    }

    fn target(&mut self, bytes: &[u8]) -> Result<usize, Breach> {
        let run = scan::target_run(bytes);
        self.target.push(&bytes[..run]);
        let violation = match bytes.get(run) {
            None => return Ok(run),
            Some(b' ') if self.has_known_form() => {
                self.state = State::Version(0);
                return Ok(run + 1);
            }
            Some(b' ') => Violation::Target,
            // HTTP/0.9, or a target that ends the line.
            Some(b'\r') => Violation::Version,
            Some(&byte) => Violation::of_byte(byte, Violation::Target),
        };
        Err(Breach { at: run, violation })
    }

    /// Origin-form, absolute-form of this scheme family, or the asterisk of OPTIONS (RFC 9112
    /// §3.2). Anything else the URI parser would take for an authority.
    fn has_known_form(&self) -> bool {
        let target = &self.target;
        target.first[0] == b'/'
            || target.starts_with_ignoring_case(b"http://")
            || target.starts_with_ignoring_case(b"https://")
            || (target.is(b"*") && self.method.is(b"OPTIONS"))
    }
}

impl Prefix {
    const fn new() -> Self {
        Self { first: [0; FORM_BYTES], bytes: 0 }
    }

    fn push(&mut self, bytes: &[u8]) {
        if let Some(free) = self.first.get_mut(self.bytes..) {
            let taken = bytes.len().min(free.len());
            free[..taken].copy_from_slice(&bytes[..taken]);
        }
        self.bytes = self.bytes.saturating_add(bytes.len());
    }

    fn is(&self, whole: &[u8]) -> bool {
        self.bytes == whole.len() && self.first.starts_with(whole)
    }

    fn starts_with_ignoring_case(&self, start: &[u8]) -> bool {
        self.bytes >= start.len()
            && self.first.get(..start.len()).is_some_and(|first| first.eq_ignore_ascii_case(start))
    }
}
