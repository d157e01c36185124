//! The body of a running fetch: one producer fills it, any number of readers follow.
//!
//! While the whole body fits into the limit nothing is dropped and a newcomer reads from its
//! start. Beyond that the window slides: the producer waits for the slowest reader, which is
//! the back-pressure on the origin, unless a faster reader starves meanwhile; then, after
//! [`LAG_PATIENCE`], the slow one is left behind and continues on its own (`resume`).

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use slab::Slab;
use tokio::sync::Notify;

/// How long a reader may hold up readers that are faster than it.
const LAG_PATIENCE: Duration = Duration::from_secs(1);

/// How a body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All of it came.
    Complete,
    /// The origin failed, and could not be asked for the rest.
    Failed,
}

/// Why a reader cannot go on here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadGap {
    /// The window slid past this reader.
    #[error("the reader fell behind at byte {offset}")]
    Lagged {
        /// The next byte that the reader needs.
        offset: u64,
    },
    /// The fetch failed.
    #[error("the fetch failed at byte {offset}")]
    Failed {
        /// The next byte that the reader needs.
        offset: u64,
    },
}

/// A sliding window over a body in flight.
#[derive(Debug)]
pub struct Window {
    limit_bytes: u64,
    state: Mutex<State>,
    ended: Notify,
}

#[derive(Debug, Default)]
struct State {
    pieces: VecDeque<Bytes>,
    /// Number of the piece at the front; invariant: zero until the window first slid.
    first: u64,
    retained_bytes: u64,
    end: Option<End>,
    readers: Slab<Cursor>,
    producer: Option<Waker>,
}

#[derive(Debug)]
struct Cursor {
    /// Number of the piece to read next.
    next: u64,
    waker: Option<Waker>,
}

/// One reader's place. Dropping it releases what it held back.
#[derive(Debug)]
pub struct WindowReader {
    window: Arc<Window>,
    id: usize,
    /// Offset in the body of the next byte of the next piece.
    position: u64,
    /// First byte wanted.
    from: u64,
    /// First byte not wanted.
    until: u64,
}

impl Window {
    /// A window that holds at most `limit_bytes`, or one piece if that is larger.
    pub fn new(limit_bytes: u64) -> Arc<Self> {
        Arc::new(Self {
            limit_bytes,
            state: Mutex::default(),
            ended: Notify::new(),
        })
    }

    /// Appends a piece and wakes the readers that wait for it. Waits for room first, as the
    /// module describes. Cancel safe: a dropped call has appended nothing.
    pub async fn push(&self, piece: Bytes) {
        let len = piece.len() as u64;
        while tokio::time::timeout(LAG_PATIENCE, self.room(len))
            .await
            .is_err()
        {
            if self
                .state
                .lock()
                .leave_laggards_behind(self.limit_bytes, len)
            {
                break;
            }
        }
        let wakers = self.state.lock().append(piece);
        wakers.into_iter().for_each(Waker::wake);
    }

    async fn room(&self, len: u64) {
        poll_fn(|cx| {
            let mut state = self.state.lock();
            if state.slide(self.limit_bytes, len) {
                return Poll::Ready(());
            }
            state.producer = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Ends the body; readers get what is left, then the end.
    pub fn end(&self, end: End) {
        let wakers = {
            let mut state = self.state.lock();
            state.end.get_or_insert(end);
            state.take_wakers()
        };
        wakers.into_iter().for_each(Waker::wake);
        self.ended.notify_waiters();
    }

    /// Waits for the body's end, of whatever kind. Cancel safe.
    pub async fn ended(&self) {
        loop {
            // Made before the look: it does not miss an end that comes after.
            let ended = self.ended.notified();
            if self.state.lock().end.is_some() {
                return;
            }
            ended.await;
        }
    }

    /// A reader of bytes `from..until`, or `None` when the window has slid past the start.
    pub fn reader(self: &Arc<Self>, from: u64, until: u64) -> Option<WindowReader> {
        let mut state = self.state.lock();
        if state.first != 0 {
            return None;
        }
        let id = state.readers.insert(Cursor {
            next: 0,
            waker: None,
        });
        Some(WindowReader {
            window: Arc::clone(self),
            id,
            position: 0,
            from,
            until,
        })
    }

    /// Whether nobody reads but those who were left behind, and nobody can begin to: the start is
    /// gone.
    pub fn is_abandoned(&self) -> bool {
        let state = self.state.lock();
        state.first != 0 && state.readers.iter().all(|(_, c)| c.next < state.first)
    }

    /// How many readers follow now.
    pub fn readers(&self) -> usize {
        self.state.lock().readers.len()
    }
}

impl State {
    fn next_number(&self) -> u64 {
        self.first + self.pieces.len() as u64
    }

    /// Drops what every reader has read until `len` more bytes fit. False if they do not.
    fn slide(&mut self, limit_bytes: u64, len: u64) -> bool {
        if self.retained_bytes + len <= limit_bytes {
            return true;
        }
        let first = self.first;
        let following = self.readers.iter().map(|(_, c)| c.next);
        // Who was left behind holds nothing back any more, though it may be slow to notice.
        let slowest = following.filter(|next| *next >= first).min();
        let slowest = slowest.unwrap_or(u64::MAX);
        while self.retained_bytes + len > limit_bytes && self.first < slowest {
            if !self.drop_front() {
                break;
            }
        }
        self.pieces.is_empty() || self.retained_bytes + len <= limit_bytes
    }

    /// Makes room at the cost of slow readers, if there is a reader that starves meanwhile.
    fn leave_laggards_behind(&mut self, limit_bytes: u64, len: u64) -> bool {
        let newest = self.next_number();
        if !self.readers.iter().any(|(_, c)| c.next == newest) {
            return false;
        }
        while self.retained_bytes + len > limit_bytes && self.drop_front() {}
        let first = self.first;
        for (_, cursor) in &mut self.readers {
            if cursor.next < first
                && let Some(waker) = cursor.waker.take()
            {
                waker.wake();
            }
        }
        true
    }

    fn drop_front(&mut self) -> bool {
        let Some(piece) = self.pieces.pop_front() else {
            return false;
        };
        self.retained_bytes -= piece.len() as u64;
        self.first += 1;
        true
    }

    fn append(&mut self, piece: Bytes) -> Vec<Waker> {
        self.retained_bytes += piece.len() as u64;
        self.pieces.push_back(piece);
        self.take_wakers()
    }

    fn take_wakers(&mut self) -> Vec<Waker> {
        self.readers
            .iter_mut()
            .filter_map(|(_, c)| c.waker.take())
            .collect()
    }
}

impl WindowReader {
    /// The next bytes; `None` at the end of the body or of the wanted range.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, ReadGap>>> {
        loop {
            if self.position >= self.until {
                return Poll::Ready(None);
            }
            let piece = match self.poll_piece(cx) {
                Poll::Ready(Some(Ok(piece))) => piece,
                other => return other,
            };
            let start = self.position;
            self.position += piece.len() as u64;
            if let Some(wanted) = cut(&piece, start, self.from, self.until) {
                return Poll::Ready(Some(Ok(wanted)));
            }
        }
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, ReadGap>>> {
        let mut guard = self.window.state.lock();
        let state = &mut *guard;
        let offset = self.position.max(self.from);
        let first = state.first;
        let cursor = &mut state.readers[self.id];
        let Some(index) = cursor.next.checked_sub(first) else {
            return Poll::Ready(Some(Err(ReadGap::Lagged { offset })));
        };
        if let Some(piece) = state.pieces.get(index as usize) {
            cursor.next += 1;
            let piece = piece.clone();
            let producer = state.producer.take();
            drop(guard);
            if let Some(producer) = producer {
                producer.wake();
            }
            return Poll::Ready(Some(Ok(piece)));
        }
        match state.end {
            Some(End::Complete) => Poll::Ready(None),
            Some(End::Failed) => Poll::Ready(Some(Err(ReadGap::Failed { offset }))),
            None => {
                cursor.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// The part of `piece`, which begins at `start`, that lies in `from..until`.
fn cut(piece: &Bytes, start: u64, from: u64, until: u64) -> Option<Bytes> {
    let len = piece.len() as u64;
    let low = from.saturating_sub(start).min(len);
    let high = until.saturating_sub(start).min(len);
    (low < high).then(|| piece.slice(low as usize..high as usize))
}

impl Drop for WindowReader {
    fn drop(&mut self) {
        let producer = {
            let mut state = self.window.state.lock();
            state.readers.remove(self.id);
            state.producer.take()
        };
        if let Some(producer) = producer {
            producer.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    async fn next(reader: &mut WindowReader) -> Option<Result<Bytes, ReadGap>> {
        poll_fn(|cx| reader.poll_next(cx)).await
    }

    async fn collect(mut reader: WindowReader) -> Result<Vec<u8>, ReadGap> {
        let mut out = Vec::new();
        while let Some(piece) = next(&mut reader).await {
            out.extend_from_slice(&piece?);
        }
        Ok(out)
    }

    #[tokio::test]
    async fn late_and_early_readers_see_the_same_bytes() {
        let window = Window::new(100);
        let early = tokio::spawn(collect(window.reader(0, u64::MAX).unwrap()));
        window.push(Bytes::from_static(b"hello ")).await;
        let late = window.reader(0, u64::MAX).unwrap();
        window.push(Bytes::from_static(b"world")).await;
        window.end(End::Complete);
        assert_eq!(early.await.unwrap().unwrap(), b"hello world");
        assert_eq!(collect(late).await.unwrap(), b"hello world");
    }

    #[tokio::test]
    async fn ranges_cut_pieces() {
        for (from, until, want) in [
            (0, 3, "abc"),
            (2, 5, "cde"),
            (4, 6, "ef"),
            (6, 6, ""),
            (7, 99, "h"),
            (0, 99, "abcdefgh"),
        ] {
            let window = Window::new(100);
            let reader = window.reader(from, until).unwrap();
            for piece in ["abc", "", "d", "efg", "h"] {
                window.push(Bytes::from_static(piece.as_bytes())).await;
            }
            window.end(End::Complete);
            assert_eq!(
                collect(reader).await.unwrap(),
                want.as_bytes(),
                "{from}..{until}"
            );
        }
    }

    #[tokio::test]
    async fn a_window_is_abandoned_when_nobody_can_read_it_any_more() {
        let window = Window::new(4);
        window.push(Bytes::from_static(b"head")).await;
        assert!(!window.is_abandoned(), "a reader may still come");
        let mut reader = window.reader(0, u64::MAX).unwrap();
        next(&mut reader).await;
        window.push(Bytes::from_static(b"tail")).await;
        assert!(!window.is_abandoned(), "one still reads");
        next(&mut reader).await;
        assert!(!window.is_abandoned(), "and has not been left behind");
        drop(reader);
        assert!(window.is_abandoned());
    }

    #[tokio::test]
    async fn a_failure_reaches_the_reader_after_what_came() {
        let window = Window::new(100);
        let mut reader = window.reader(0, u64::MAX).unwrap();
        window.push(Bytes::from_static(b"half")).await;
        window.end(End::Failed);
        assert_eq!(
            next(&mut reader).await,
            Some(Ok(Bytes::from_static(b"half")))
        );
        assert_eq!(
            next(&mut reader).await,
            Some(Err(ReadGap::Failed { offset: 4 }))
        );
    }

    #[tokio::test]
    async fn nobody_joins_a_window_that_slid() {
        let window = Window::new(4);
        window.push(Bytes::from_static(b"abcd")).await;
        window.push(Bytes::from_static(b"e")).await;
        assert!(window.reader(0, u64::MAX).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn one_slow_reader_holds_the_producer_back() {
        let window = Window::new(4);
        let mut reader = window.reader(0, u64::MAX).unwrap();
        window.push(Bytes::from_static(b"abcd")).await;
        let pushed = tokio::time::timeout(LAG_PATIENCE * 20, window.push(Bytes::from_static(b"e")));
        assert!(pushed.await.is_err());
        assert_eq!(
            next(&mut reader).await,
            Some(Ok(Bytes::from_static(b"abcd")))
        );
        window.push(Bytes::from_static(b"e")).await;
        assert_eq!(next(&mut reader).await, Some(Ok(Bytes::from_static(b"e"))));
    }

    #[tokio::test(start_paused = true)]
    async fn a_laggard_is_left_behind_for_the_sake_of_a_starving_reader() {
        let window = Window::new(4);
        let mut slow = window.reader(0, u64::MAX).unwrap();
        let fast = tokio::spawn(collect(window.reader(0, u64::MAX).unwrap()));
        let begun = tokio::time::Instant::now();
        for _ in 0..4 {
            window.push(Bytes::from_static(b"abcd")).await;
        }
        assert_eq!(begun.elapsed(), LAG_PATIENCE, "it is waited for once");
        window.end(End::Complete);
        window.ended().await;
        assert_eq!(fast.await.unwrap().unwrap().len(), 16);
        assert_eq!(
            next(&mut slow).await,
            Some(Err(ReadGap::Lagged { offset: 0 }))
        );
    }

    #[tokio::test]
    async fn a_reader_that_leaves_frees_the_producer() {
        let window = Window::new(4);
        let reader = window.reader(0, u64::MAX).unwrap();
        window.push(Bytes::from_static(b"abcd")).await;
        let (pushed, ()) = tokio::join!(window.push(Bytes::from_static(b"e")), async {
            drop(reader);
        });
        let () = pushed;
        assert_eq!(window.readers(), 0);
    }
}
