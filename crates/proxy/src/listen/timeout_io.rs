//! Drops a client that takes nothing: a write that is stuck for too long is an error.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::stall::StallTimer;

/// A socket whose writes fail with [`io::ErrorKind::TimedOut`] when the peer's window has stayed
/// closed for the timeout. Reads are passed through.
#[derive(Debug)]
pub(super) struct TimeoutIo<IO> {
    io: IO,
    stall: StallTimer,
}

impl<IO> TimeoutIo<IO> {
    /// Wraps `io`.
    pub(super) const fn new(io: IO, write_stall: Duration) -> Self {
        Self {
            io,
            stall: StallTimer::new(write_stall),
        }
    }

    fn judge(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Pending => self.stall.poll_stalled(cx).map(|()| {
                let after_ms = self.stall.after().as_millis();
                let why = format!("the client took nothing for {after_ms} ms");
                Err(io::Error::new(io::ErrorKind::TimedOut, why))
            }),
            Poll::Ready(written) => {
                self.stall.progress();
                Poll::Ready(written)
            }
        }
    }
}

impl<IO: AsyncRead + Unpin> AsyncRead for TimeoutIo<IO> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl<IO: AsyncWrite + Unpin> AsyncWrite for TimeoutIo<IO> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.judge(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, slices);
        self.judge(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_takes_something_now_and_then_is_kept() {
        let (near, mut far) = tokio::io::duplex(16);
        let mut near = TimeoutIo::new(near, Duration::from_secs(10));
        let reader = tokio::spawn(async move {
            let mut taken = [0; 16];
            for _ in 0..10 {
                tokio::time::sleep(Duration::from_secs(8)).await;
                far.read_exact(&mut taken).await.unwrap();
            }
            far
        });
        near.write_all(&[0; 160]).await.unwrap();
        drop(reader.await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_takes_nothing_is_dropped() {
        let (near, _far) = tokio::io::duplex(16);
        let mut near = TimeoutIo::new(near, Duration::from_secs(10));
        let error = near.write_all(&[0; 32]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
