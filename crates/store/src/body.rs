//! A body at rest, and the reading of it.

use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;

use crate::ReadError;
use crate::version::Version;

/// Most bytes of one piece of a body in memory.
///
/// Half of what makes the common allocators map pages for a single allocation (128 KiB): what
/// an evicted body leaves is reused for the next one.
pub const PIECE_BYTES: usize = 64 << 10;

/// A body. A clone is a reference.
#[derive(Clone, Debug)]
pub struct Body {
    form: Form,
    version: Option<Version>,
}

#[derive(Clone, Debug)]
enum Form {
    Single(Bytes),
    Pieces(Arc<[Piece]>),
}

/// A piece and where in the body it starts. None is empty.
#[derive(Debug)]
struct Piece {
    start: u64,
    bytes: Bytes,
}

impl Body {
    /// No bytes.
    pub fn empty() -> Self {
        Self::from_bytes(Bytes::new())
    }

    /// A body in one piece. It keeps whatever allocation `bytes` is a part of.
    pub fn from_bytes(bytes: Bytes) -> Self {
        Self {
            form: Form::Single(bytes),
            version: None,
        }
    }

    /// A body in several pieces.
    pub fn from_pieces(mut pieces: Vec<Bytes>) -> Self {
        pieces.retain(|piece| !piece.is_empty());
        if pieces.len() <= 1 {
            return Self::from_bytes(pieces.pop().unwrap_or_default());
        }
        let mut start = 0;
        let place = |bytes: Bytes| {
            let piece = Piece { start, bytes };
            start += piece.bytes.len() as u64;
            piece
        };
        Self {
            form: Form::Pieces(pieces.into_iter().map(place).collect()),
            version: None,
        }
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        match &self.form {
            Form::Single(bytes) => bytes.len() as u64,
            Form::Pieces(pieces) => pieces.last().map_or(0, Piece::end),
        }
    }

    /// Are there no bytes?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The whole body, if it is in memory and in one piece: nothing to stream then.
    pub fn as_single(&self) -> Option<&Bytes> {
        match &self.form {
            Form::Single(bytes) => Some(bytes),
            Form::Pieces(_) => None,
        }
    }

    /// Reads `range`, cut to the body's length.
    pub fn read(&self, range: Range<u64>) -> BodyReader {
        let end = range.end.min(self.len());
        BodyReader {
            form: self.form.clone(),
            at: range.start.min(end),
            end,
        }
    }

    pub(crate) fn with_version(mut self, version: Version) -> Self {
        self.version = Some(version);
        self
    }

    pub(crate) fn version(&self) -> Option<Version> {
        self.version
    }

    /// In how many pieces it is.
    pub(crate) fn pieces(&self) -> usize {
        match &self.form {
            Form::Single(bytes) => usize::from(!bytes.is_empty()),
            Form::Pieces(pieces) => pieces.len(),
        }
    }
}

impl Piece {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

/// The bytes of a range of a body, in order.
///
/// Ends after an error. Dropping it at any time is fine.
#[derive(Debug)]
pub struct BodyReader {
    form: Form,
    at: u64,
    end: u64,
}

impl BodyReader {
    /// Bytes still to come.
    pub fn remaining(&self) -> u64 {
        self.end - self.at
    }

    fn next_in_memory(&mut self) -> Option<Bytes> {
        if self.at == self.end {
            return None;
        }
        let (start, bytes) = match &self.form {
            Form::Single(bytes) => (0, bytes),
            Form::Pieces(pieces) => {
                let after = pieces.partition_point(|piece| piece.start <= self.at);
                let piece = pieces.get(after.checked_sub(1)?)?;
                (piece.start, &piece.bytes)
            }
        };
        let upto = self.end.min(start + bytes.len() as u64);
        let next = bytes.slice((self.at - start) as usize..(upto - start) as usize);
        self.at = upto;
        Some(next)
    }
}

impl Stream for BodyReader {
    type Item = Result<Bytes, ReadError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.next_in_memory().map(Ok))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::from(self.remaining() > 0), None)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt, StreamExt};
    use proptest::prelude::*;

    use super::*;

    fn read(body: &Body, range: Range<u64>) -> Vec<u8> {
        let mut reader = body.read(range);
        let mut all = Vec::new();
        let mut remaining = reader.remaining();
        while let Some(piece) = reader.next().now_or_never().expect("memory is ready") {
            let piece = piece.expect("memory does not fail");
            assert!(!piece.is_empty());
            remaining -= piece.len() as u64;
            assert_eq!(reader.remaining(), remaining);
            all.extend_from_slice(&piece);
        }
        assert_eq!(remaining, 0);
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_range_is_the_slice(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..12),
            start in 0_u64..260,
            end in 0_u64..260,
        ) {
            let whole = pieces.concat();
            let body = Body::from_pieces(pieces.into_iter().map(Bytes::from).collect());
            prop_assert_eq!(body.len(), whole.len() as u64);
            let to = (end as usize).min(whole.len());
            let from = (start as usize).min(to);
            prop_assert_eq!(read(&body, start..end), &whole[from..to]);
            if let Some(single) = body.as_single() {
                prop_assert_eq!(single, &whole);
            }
        }
    }

    #[test]
    fn an_empty_body_reads_as_nothing() {
        let body = Body::from_pieces(vec![Bytes::new()]);
        assert!(body.is_empty());
        assert_eq!(body.as_single(), Some(&Bytes::new()));
        assert!(read(&body, 0..10).is_empty());
    }
}
