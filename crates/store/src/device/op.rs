//! One I/O on its way through an engine, and what a return of the kernel means for it.

use std::io;

use rustix::io::Errno;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::{AlignedBuf, BLOCK_BYTES, Completion};

/// Most bytes asked of the kernel at once: read(2) itself stops at 2^31 - 4096, and a multiple of
/// [`BLOCK_BYTES`] keeps what follows aligned.
const PIECE_BYTES_MAX: usize = 1 << 30;
const _: () = assert!(PIECE_BYTES_MAX.is_multiple_of(BLOCK_BYTES));

/// Returns without progress (EINTR, EAGAIN) that one I/O survives. Such a return means that a
/// signal or a shortage came in between; sixteen in a row mean that something is broken.
const RETRIES_MAX: u8 = 16;

/// Which way the bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
}

/// Room in the device's queue, given back when the I/O has ended.
pub(super) type Room = OwnedSemaphorePermit;

/// An accepted I/O and whom to tell.
#[derive(Debug)]
pub(super) enum Op {
    Transfer(Transfer, oneshot::Sender<Completion>, Room),
    Sync(oneshot::Sender<io::Result<()>>, Room),
}

impl Op {
    /// Tells the caller. One that no longer listens is fine: the buffer is freed here.
    pub(super) fn finish(self, result: io::Result<()>) {
        match self {
            Self::Transfer(transfer, reply, room) => {
                drop(room);
                let _ = reply.send((transfer.buf, result));
            }
            Self::Sync(reply, room) => {
                drop(room);
                let _ = reply.send(result);
            }
        }
    }

    /// Gives the buffer up without freeing it, for when the kernel may still be using it. The
    /// caller is told by the loss of its reply.
    #[cfg(target_os = "linux")]
    pub(super) fn abandon(self) {
        if let Self::Transfer(transfer, ..) = self {
            std::mem::forget(transfer.buf);
        }
    }
}

/// The answer to whatever comes after the end of the engine.
pub(super) fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the device is closed")
}

/// A read or write, and how far it has come.
#[derive(Debug)]
pub(super) struct Transfer {
    pub(super) direction: Direction,
    offset: u64,
    buf: AlignedBuf,
    done_bytes: usize,
    retries: u8,
}

/// What is next for a transfer.
#[derive(Debug)]
pub(super) enum Step {
    /// Ask the kernel for what is left.
    Again,
    /// It has ended.
    Done(io::Result<()>),
}

impl Transfer {
    pub(super) fn new(direction: Direction, offset: u64, buf: AlignedBuf) -> Self {
        Self {
            direction,
            offset,
            buf,
            done_bytes: 0,
            retries: 0,
        }
    }

    /// Where the bytes not yet moved belong on the device.
    pub(super) fn rest_offset(&self) -> u64 {
        self.offset + self.done_bytes as u64
    }

    /// The bytes not yet moved, at most [`PIECE_BYTES_MAX`].
    pub(super) fn rest(&mut self) -> &mut [u8] {
        let end = self.buf.len().min(self.done_bytes + PIECE_BYTES_MAX);
        &mut self.buf[self.done_bytes..end]
    }

    /// Takes the kernel's answer about [`Self::rest`]: a count of bytes, or its error.
    ///
    /// A short count goes on from its last whole block, since O_DIRECT starts at no other place.
    pub(super) fn advance(&mut self, answer: Result<usize, Errno>) -> Step {
        match answer {
            Ok(0) => Step::Done(Err(self.cut_short())),
            Ok(count) => {
                let moved_bytes = count.min(self.rest().len());
                if self.done_bytes + moved_bytes == self.buf.len() {
                    return Step::Done(Ok(()));
                }
                let whole_bytes = moved_bytes - moved_bytes % BLOCK_BYTES;
                self.done_bytes += whole_bytes;
                match whole_bytes {
                    0 => self.retry(self.cut_short()),
                    _ => Step::Again,
                }
            }
            Err(errno @ (Errno::INTR | Errno::AGAIN)) => self.retry(errno.into()),
            Err(errno) => Step::Done(Err(errno.into())),
        }
    }

    fn retry(&mut self, error: io::Error) -> Step {
        self.retries += 1;
        match self.retries {
            ..RETRIES_MAX => Step::Again,
            _ => Step::Done(Err(error)),
        }
    }

    fn cut_short(&self) -> io::Error {
        let kind = match self.direction {
            Direction::Read => io::ErrorKind::UnexpectedEof,
            Direction::Write => io::ErrorKind::WriteZero,
        };
        let what = format!(
            "{} of {} bytes at {}",
            self.done_bytes,
            self.buf.len(),
            self.offset
        );
        io::Error::new(kind, what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: usize = BLOCK_BYTES;

    fn transfer(direction: Direction, blocks: usize) -> Transfer {
        Transfer::new(direction, 0, AlignedBuf::zeroed(blocks * BLOCK))
    }

    fn kind(step: Step) -> Option<io::ErrorKind> {
        match step {
            Step::Again => None,
            Step::Done(result) => Some(result.expect_err("not an error").kind()),
        }
    }

    #[test]
    fn a_short_count_goes_on_from_its_last_whole_block() {
        // (counts that the kernel returns, where the rest then begins)
        let table: [(&[usize], u64); 4] = [
            (&[BLOCK], BLOCK as u64),
            (&[BLOCK + 1], BLOCK as u64),
            (&[BLOCK, 2 * BLOCK], 3 * BLOCK as u64),
            (&[BLOCK - 1], 0),
        ];
        for (counts, rest_offset) in table {
            let mut transfer = transfer(Direction::Read, 4);
            for &count in counts {
                assert!(matches!(transfer.advance(Ok(count)), Step::Again));
            }
            assert_eq!(transfer.rest_offset(), rest_offset);
            let rest_bytes = transfer.rest().len();
            assert_eq!(rest_bytes as u64 + rest_offset, 4 * BLOCK as u64);
            assert!(matches!(
                transfer.advance(Ok(rest_bytes)),
                Step::Done(Ok(()))
            ));
        }
    }

    #[test]
    fn nothing_moved_is_the_end() {
        let read = transfer(Direction::Read, 1).advance(Ok(0));
        assert_eq!(kind(read), Some(io::ErrorKind::UnexpectedEof));
        let write = transfer(Direction::Write, 1).advance(Ok(0));
        assert_eq!(kind(write), Some(io::ErrorKind::WriteZero));
    }

    #[test]
    fn interruptions_are_survived_up_to_the_bound() {
        let mut transfer = transfer(Direction::Read, 1);
        for _ in 1..RETRIES_MAX {
            assert!(matches!(transfer.advance(Err(Errno::INTR)), Step::Again));
        }
        let last = transfer.advance(Err(Errno::INTR));
        assert_eq!(kind(last), Some(io::ErrorKind::Interrupted));
    }

    #[test]
    fn a_kernel_error_is_passed_on() {
        let step = transfer(Direction::Write, 1).advance(Err(Errno::NOSPC));
        assert_eq!(kind(step), Some(io::ErrorKind::StorageFull));
    }
}
