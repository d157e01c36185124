//! Stands between the socket and hyper and lets only well-framed HTTP/1 requests through.

mod doom;
pub(super) mod framing;
mod gate;
mod head_timer;
mod linger;
mod violation;

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use doom::Doom;
use framing::{Breach, Fed, Framing};
pub(super) use gate::UpgradeGate;
use head_timer::HeadTimer;
use linger::Linger;
pub use violation::{Violation, ViolationCounts};

use super::activity::Activity;
use super::limits::ListenLimits;

/// What a client reads whose request head took too long (RFC 9110 §15.5.9).
const REQUEST_TIMEOUT: &[u8] =
    b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// A client's socket that passes on what [`Framing`] finds good, and nothing from the first byte on
/// that it does not.
#[derive(Debug)]
pub(super) struct Guard<IO> {
    io: IO,
    framing: Framing,
    doom: Option<Doom>,
    /// Read behind a request that waits for the decision of an upgrade. At most one read's worth:
    /// nothing more is read before that.
    held: Vec<u8>,
    is_waiting: bool,
    is_shut: bool,
    head_timer: HeadTimer,
    linger: Linger,
    activity: Arc<Activity>,
    counts: Arc<ViolationCounts>,
}

impl<IO: AsyncRead + AsyncWrite + Unpin> Guard<IO> {
    pub(super) fn new(
        io: IO,
        limits: &ListenLimits,
        activity: Arc<Activity>,
        counts: Arc<ViolationCounts>,
    ) -> Self {
        Self {
            io,
            framing: Framing::new(limits.head_bytes_max),
            doom: None,
            held: Vec::new(),
            is_waiting: false,
            is_shut: false,
            head_timer: HeadTimer::new(limits.head_timeout),
            linger: Linger::default(),
            activity,
            counts,
        }
    }

    /// Reads what was held back, else from the socket.
    fn poll_source(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.held.is_empty() {
            return Pin::new(&mut self.io).poll_read(cx, buf);
        }
        let taken = self.held.len().min(buf.remaining());
        buf.put_slice(&self.held[..taken]);
        self.held.drain(..taken);
        if self.held.is_empty() {
            self.held = Vec::new();
        }
        Poll::Ready(Ok(()))
    }

    /// Looks at what `buf` holds from `before` on, and takes back what must not be passed on.
    fn inspect(&mut self, buf: &mut ReadBuf<'_>, before: usize) -> io::Result<()> {
        let fresh = &buf.filled()[before..];
        match self.framing.feed(fresh) {
            Ok(Fed::All) => Ok(()),
            Ok(Fed::Held { at }) => {
                self.is_waiting = true;
                self.held.splice(..0, fresh[at..].iter().copied());
                buf.set_filled(before + at);
                Ok(())
            }
            Err(Breach { at, violation }) => {
                self.counts.add(violation);
                tracing::debug!(violation = violation.as_str(), "refused a request");
                let doom = self
                    .doom
                    .insert(Doom::of(violation, self.framing.is_within_body()));
                buf.set_filled(before + at);
                if at == 0 { doom.read(buf) } else { Ok(()) }
            }
        }
    }

    fn note(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = &written {
            self.activity.wrote(*bytes);
        }
        written
    }

    /// The socket has nothing more for now: is a head overdue?
    fn poll_overdue(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(
            self.head_timer
                .poll_overdue(cx, &self.framing, &self.activity)
        );
        // Nothing is being answered, so nothing else is being written: if the socket does not take
        // these few bytes at once, the client does not read anyway.
        let _ = Pin::new(&mut self.io).poll_write(cx, REQUEST_TIMEOUT);
        let why = "the client took too long to send a request head";
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, why)))
    }
}

impl<IO: AsyncRead + AsyncWrite + Unpin> AsyncRead for Guard<IO> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if let Some(doom) = &mut this.doom {
            return Poll::Ready(doom.read(buf));
        }
        if this.is_waiting {
            let is_accepted = ready!(this.activity.gate.poll_decision(cx));
            this.framing.decide(is_accepted);
            this.is_waiting = false;
        }
        let before = buf.filled().len();
        match this.poll_source(cx, buf) {
            Poll::Pending => this.poll_overdue(cx),
            Poll::Ready(Ok(())) => Poll::Ready(this.inspect(buf, before)),
            failed @ Poll::Ready(Err(_)) => failed,
        }
    }
}

impl<IO: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Guard<IO> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.note(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, slices);
        self.note(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.is_shut {
            ready!(Pin::new(&mut this.io).poll_shutdown(cx))?;
            this.is_shut = true;
        }
        if this.framing.is_opaque() || (this.doom.is_none() && this.framing.is_between_requests()) {
            return Poll::Ready(Ok(()));
        }
        this.linger.poll(&mut this.io, cx)
    }
}

#[cfg(test)]
mod tests;
