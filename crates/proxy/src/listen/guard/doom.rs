//! What hyper is given instead of a request that broke the rules, so that it refuses it itself.

use std::io;

use tokio::io::ReadBuf;

use super::violation::Violation;

/// Ends any head that is not complete yet in a way that no parser accepts. It carries the end of a
/// head because hyper, having parsed once in vain, waits for one before it parses again.
const POISON: &[u8] = b"\0\r\n\r\n";

/// How the rest of a connection reads after a violation. Nothing of the client's is in it.
#[derive(Debug)]
pub(super) enum Doom {
    /// hyper answers 400, in its turn behind the responses that are still due: so many bytes of
    /// the poison are given, then the end of the stream.
    Poison { given: usize },
    /// hyper answers 431: its buffer is filled up to its own limit.
    Fill,
    /// hyper fails the body: the service decides what to answer.
    Fail(Violation),
}

impl Doom {
    pub(super) const fn of(violation: Violation, is_within_body: bool) -> Self {
        match violation {
            Violation::HeadTooLarge => Self::Fill,
            _ if is_within_body => Self::Fail(violation),
            _ => Self::Poison { given: 0 },
        }
    }

    pub(super) fn read(&mut self, buf: &mut ReadBuf<'_>) -> io::Result<()> {
        match self {
            Self::Poison { given } => {
                let left = POISON.get(*given..).unwrap_or_default();
                let part = &left[..left.len().min(buf.remaining())];
                buf.put_slice(part);
                *given += part.len();
                Ok(())
            }
            Self::Fill => {
                buf.initialize_unfilled().fill(b'x');
                buf.advance(buf.remaining());
                Ok(())
            }
            Self::Fail(violation) => Err(io::Error::new(io::ErrorKind::InvalidData, *violation)),
        }
    }
}
