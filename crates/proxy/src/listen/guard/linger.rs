//! Closes a connection on which the client still talks without losing our last words.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How long a client may go on talking to a connection that has been answered and half closed.
const LINGER: Duration = Duration::from_secs(2);
/// How much of that is read and thrown away.
const LINGER_BYTES_MAX: usize = 1024 * 1024;

/// Reads and discards until the client has seen the end of our side.
///
/// Closing a socket that holds unread bytes resets the connection, and a reset may overtake the
/// response (RFC 9112 §9.6): the client would see a broken connection instead of its 400 or 413.
#[derive(Debug, Default)]
pub(super) struct Linger {
    deadline: Option<Pin<Box<Sleep>>>,
    bytes: usize,
}

impl Linger {
    pub(super) fn poll<IO>(&mut self, io: &mut IO, cx: &mut Context<'_>) -> Poll<io::Result<()>>
    where
        IO: AsyncRead + Unpin,
    {
        let mut scratch = [0; 4096];
        while self.bytes < LINGER_BYTES_MAX {
            let mut buf = ReadBuf::new(&mut scratch);
            match Pin::new(&mut *io).poll_read(cx, &mut buf) {
                Poll::Ready(Ok(())) if !buf.filled().is_empty() => self.bytes += buf.filled().len(),
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending => {
                    let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(LINGER)));
                    return deadline.as_mut().poll(cx).map(Ok);
                }
            }
        }
        Poll::Ready(Ok(()))
    }
}
