//! An arriving body, cut into pieces that own exactly their bytes.
//!
//! What hyper hands out are slices of its read buffers: keeping one alive keeps the whole buffer,
//! of up to some 400 KB. What is kept is therefore copied once, into allocations of the right
//! size. A piece is handed on as soon as the origin pauses, so a slow origin delays nobody.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use bytes::{Buf, Bytes};
use http_body::Body;
use larder_store::PIECE_BYTES;

/// A body read piece by piece.
#[derive(Debug)]
pub(super) struct Pieces<B> {
    body: B,
    /// What the last frame held beyond the last piece.
    rest: Bytes,
    piece: Vec<u8>,
    /// Bytes still to come, when the origin said how many.
    expected: Option<u64>,
}

impl<B> Pieces<B>
where
    B: Body<Data = Bytes> + Unpin,
{
    /// Reads `body`, of `expected` bytes if that is known.
    pub(super) fn new(body: B, expected: Option<u64>) -> Self {
        Self {
            body,
            rest: Bytes::new(),
            piece: Vec::new(),
            expected,
        }
    }

    /// The next piece; `None` at the end. Trailers are dropped. Cancel safe: what was read stays.
    pub(super) async fn next(&mut self) -> Option<Result<Bytes, B::Error>> {
        poll_fn(|cx| {
            loop {
                self.take_rest();
                if self.piece.len() >= PIECE_BYTES {
                    return Poll::Ready(Some(Ok(self.finish_piece())));
                }
                match Pin::new(&mut self.body).poll_frame(cx) {
                    Poll::Ready(Some(Ok(frame))) => {
                        if let Ok(data) = frame.into_data() {
                            self.rest = data;
                        }
                    }
                    Poll::Ready(Some(Err(error))) if self.piece.is_empty() => {
                        return Poll::Ready(Some(Err(error)));
                    }
                    Poll::Ready(None) if self.piece.is_empty() => return Poll::Ready(None),
                    Poll::Pending if self.piece.is_empty() => return Poll::Pending,
                    _ => return Poll::Ready(Some(Ok(self.finish_piece()))),
                }
            }
        })
        .await
    }

    fn take_rest(&mut self) {
        if self.rest.is_empty() {
            return;
        }
        if self.piece.capacity() == 0 {
            let expected = self.expected.unwrap_or(self.rest.len() as u64);
            let room = expected.clamp(1, PIECE_BYTES as u64) as usize;
            self.piece.reserve_exact(room);
        }
        let take = self.rest.len().min(PIECE_BYTES - self.piece.len());
        self.piece.extend_from_slice(&self.rest[..take]);
        self.rest.advance(take);
    }

    fn finish_piece(&mut self) -> Bytes {
        let piece = std::mem::take(&mut self.piece);
        if let Some(expected) = &mut self.expected {
            *expected = expected.saturating_sub(piece.len() as u64);
        }
        if piece.len() == piece.capacity() {
            piece.into()
        } else {
            Bytes::copy_from_slice(&piece)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream;
    use http_body::Frame;
    use http_body_util::StreamBody;

    use super::*;

    async fn cut(frames: &[usize], expected: Option<u64>) -> Vec<usize> {
        let frames: Vec<_> = frames
            .iter()
            .map(|len| Ok::<_, Infallible>(Frame::data(Bytes::from(vec![7; *len]))))
            .collect();
        let mut pieces = Pieces::new(StreamBody::new(stream::iter(frames)), expected);
        let mut lens = Vec::new();
        while let Some(piece) = pieces.next().await {
            lens.push(piece.unwrap().len());
        }
        lens
    }

    #[tokio::test]
    async fn frames_become_full_pieces() {
        const P: usize = PIECE_BYTES;
        let rows: [(&[usize], Option<u64>, &[usize]); 6] = [
            (&[], Some(0), &[]),
            (&[1, 2, 3], Some(6), &[6]),
            (&[P], None, &[P]),
            (&[P - 1, 2], None, &[P, 1]),
            (&[3 * P + 5], Some(3 * P as u64 + 5), &[P, P, P, 5]),
            (&[10], Some(4), &[10]),
        ];
        for (frames, expected, want) in rows {
            assert_eq!(cut(frames, expected).await, want, "{frames:?} {expected:?}");
        }
    }
}
