//! Field lines up to the empty line (RFC 9112 §5): of a head, or of the trailers of a chunked body.

use super::scan;
use super::value::Value;
use super::{Breach, Run, Violation};

/// The longest name that this looks for: `transfer-encoding`.
const NAME_BYTES: usize = 17;

/// Follows the field lines of one section and collects what frames the message.
#[derive(Debug)]
pub(super) struct Fields {
    section: Section,
    state: State,
    name: [u8; NAME_BYTES],
    name_bytes: usize,
    value: Value,
    facts: Facts,
}

/// What the fields of a head say about the message.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    /// The number of `Content-Length`, in bytes.
    pub(super) length: Option<u64>,
    /// `Transfer-Encoding: chunked`.
    pub(super) is_chunked: bool,
    /// The client would like another protocol.
    pub(super) wants_upgrade: bool,
    has_host: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Section {
    Head { is_version_11: bool },
    Trailers,
}

#[derive(Clone, Copy, Debug)]
enum State {
    LineStart,
    Name,
    Value,
    LineLf,
    EndLf,
}

impl Fields {
    pub(super) const fn of_head(is_version_11: bool) -> Self {
        Self::new(Section::Head { is_version_11 })
    }

    pub(super) const fn of_trailers() -> Self {
        Self::new(Section::Trailers)
    }

    const fn new(section: Section) -> Self {
        Self {
            section,
            state: State::LineStart,
            name: [0; NAME_BYTES],
            name_bytes: 0,
            value: Value::Free,
            facts: Facts { length: None, is_chunked: false, wants_upgrade: false, has_host: false },
        }
    }

    /// What the section, now done, said.
    pub(super) const fn facts(&self) -> Facts {
        self.facts
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<Run, Breach> {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let breach = |violation| Breach { at, violation };
            at += match self.state {
                State::Name => self.name(rest).map_err(|breach| breach.after(at))?,
                State::Value => self.value(rest).map_err(|breach| breach.after(at))?,
                State::LineStart if rest[0] == b'\r' => self.enter(State::EndLf),
                State::LineStart => {
                    self.start_name(rest[0]).map_err(breach)?;
                    0
                }
                State::LineLf | State::EndLf if rest[0] != b'\n' => {
                    return Err(breach(Violation::BareCr));
                }
                State::LineLf => self.enter(State::LineStart),
                State::EndLf => {
                    self.finish().map_err(breach)?;
                    return Ok(Run::Done(at + 1));
                }
            };
        }
        Ok(Run::More)
    }

    /// Goes on in `state`, one byte further.
    const fn enter(&mut self, state: State) -> usize {
        self.state = state;
        1
    }

    fn start_name(&mut self, byte: u8) -> Result<(), Violation> {
        if matches!(byte, b' ' | b'\t') {
            return Err(Violation::Fold);
        }
        self.name_bytes = 0;
        self.state = State::Name;
        Ok(())
    }

    fn name(&mut self, bytes: &[u8]) -> Result<usize, Breach> {
        let run = scan::token_run(bytes);
        if let Some(free) = self.name.get_mut(self.name_bytes..) {
            for (slot, byte) in free.iter_mut().zip(&bytes[..run]) {
                *slot = byte.to_ascii_lowercase();
            }
        }
        self.name_bytes = self.name_bytes.saturating_add(run);
        let violation = match bytes.get(run) {
            None => return Ok(run),
            Some(b':') if self.name_bytes > 0 => match self.start_value() {
                Ok(()) => return Ok(run + 1),
                Err(violation) => violation,
            },
            Some(b' ' | b'\t') => Violation::SpaceBeforeColon,
            Some(&byte) => Violation::of_byte(byte, Violation::FieldName),
        };
        Err(Breach { at: run, violation })
    }

    /// Chooses how the value of the named field is judged; refuses what must not come (again).
    fn start_value(&mut self) -> Result<(), Violation> {
        let name = self.name.get(..self.name_bytes).unwrap_or_default();
        let facts = &mut self.facts;
        self.value = match (name, self.section) {
            (b"content-length" | b"transfer-encoding" | b"host", Section::Trailers) => {
                return Err(Violation::TrailerForbidden);
            }
            (b"content-length", _) if facts.length.is_some() => {
                return Err(Violation::LengthRepeated);
            }
            (b"content-length", _) if facts.is_chunked => return Err(Violation::LengthWithCoding),
            (b"content-length", _) => Value::length(),
            (b"transfer-encoding", _) if facts.is_chunked => return Err(Violation::CodingRepeated),
            (b"transfer-encoding", _) if facts.length.is_some() => {
                return Err(Violation::LengthWithCoding);
            }
            (b"transfer-encoding", Section::Head { is_version_11: false }) => {
                return Err(Violation::CodingInOldVersion);
            }
            (b"transfer-encoding", _) => Value::coding(),
            (b"host", _) if facts.has_host => return Err(Violation::HostRepeated),
            (b"host", _) => Value::host(),
            (b"upgrade", Section::Head { is_version_11: true }) => {
                facts.wants_upgrade = true;
                Value::Free
            }
            _ => Value::Free,
        };
        self.state = State::Value;
        Ok(())
    }

    fn value(&mut self, bytes: &[u8]) -> Result<usize, Breach> {
        let mut run = scan::value_run(bytes);
        if !matches!(self.value, Value::Free) {
            for (at, &byte) in bytes[..run].iter().enumerate() {
                self.value.push(byte).map_err(|violation| Breach { at, violation })?;
            }
        }
        match bytes.get(run) {
            None => {}
            Some(b'\r') => {
                self.end_value().map_err(|violation| Breach { at: run, violation })?;
                self.state = State::LineLf;
                run += 1;
            }
            Some(&byte) => {
                let violation = Violation::of_byte(byte, Violation::Control);
                return Err(Breach { at: run, violation });
            }
        }
        Ok(run)
    }

    fn end_value(&mut self) -> Result<(), Violation> {
        self.value.finish()?;
        match self.value {
            Value::Free => {}
            Value::Length { bytes, .. } => self.facts.length = Some(bytes),
            Value::Coding { .. } => self.facts.is_chunked = true,
            Value::Host { .. } => self.facts.has_host = true,
        }
        Ok(())
    }

    fn finish(&self) -> Result<(), Violation> {
        match self.section {
            Section::Head { is_version_11: true } if !self.facts.has_host => {
                Err(Violation::HostMissing)
            }
            _ => Ok(()),
        }
    }
}
