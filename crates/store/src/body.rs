//! A body at rest, and the reading of it.

use std::fmt;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;

use crate::{DiskBody, DiskReader, ReadError};
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
    Disk(DiskBody),
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

    pub(crate) fn from_disk(body: DiskBody) -> Self {
        Self {
            form: Form::Disk(body),
            version: None,
        }
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        match &self.form {
            Form::Single(bytes) => bytes.len() as u64,
            Form::Pieces(pieces) => pieces.last().map_or(0, Piece::end),
            Form::Disk(body) => body.len(),
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
            Form::Disk(body) => body.in_memory(),
        }
    }

    /// Reads `range`, cut to the body's length.
    pub fn read(&self, range: Range<u64>) -> BodyReader {
        let end = range.end.min(self.len());
        let at = range.start.min(end);
        let source = match &self.form {
            Form::Single(bytes) => Source::Single(bytes.clone()),
            Form::Pieces(pieces) => Source::Pieces(Arc::clone(pieces)),
            Form::Disk(body) => Source::Disk(body.read(at..end)),
        };
        BodyReader { source, at, end }
    }

    /// The body as the disk knows it.
    pub(crate) fn on_disk(&self) -> Option<&DiskBody> {
        match &self.form {
            Form::Disk(body) => Some(body),
            _ => None,
        }
    }

    pub(crate) fn with_version(mut self, version: Version) -> Self {
        self.version = Some(version);
        self
    }

    pub(crate) fn version(&self) -> Option<Version> {
        self.version
    }

    /// The same bytes, in allocations that hold nothing else.
    pub(crate) fn compact(&self) -> Self {
        let Some(bytes) = self.as_single() else {
            return self.clone();
        };
        let pieces = bytes.chunks(PIECE_BYTES).map(Bytes::copy_from_slice);
        Self {
            version: self.version,
            ..Self::from_pieces(pieces.collect())
        }
    }

    /// In how many pieces it is, or will be when [compact](Self::compact).
    pub(crate) fn pieces(&self) -> usize {
        match &self.form {
            Form::Pieces(pieces) => pieces.len(),
            _ => self.len().div_ceil(PIECE_BYTES as u64) as usize,
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
/// Ends after an error; [`remaining`](Self::remaining) then says how many bytes were not given
/// out. Dropping it at any time is fine.
pub struct BodyReader {
    source: Source,
    at: u64,
    end: u64,
}

enum Source {
    Single(Bytes),
    Pieces(Arc<[Piece]>),
    Disk(DiskReader),
}

impl BodyReader {
    /// Bytes still to come.
    pub fn remaining(&self) -> u64 {
        self.end - self.at
    }
}

impl Stream for BodyReader {
    type Item = Result<Bytes, ReadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { source, at, end } = self.get_mut();
        let next = match source {
            Source::Single(bytes) => part(bytes, 0, *at..*end).map(Ok),
            Source::Pieces(pieces) => {
                let piece = pieces.partition_point(|piece| piece.end() <= *at);
                let piece = pieces.get(piece);
                piece.and_then(|piece| part(&piece.bytes, piece.start, *at..*end).map(Ok))
            }
            Source::Disk(reader) => ready!(Pin::new(reader).poll_next(context)),
        };
        if let Some(Ok(bytes)) = &next {
            *at += bytes.len() as u64;
        }
        Poll::Ready(next)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::from(self.remaining() > 0), None)
    }
}

impl fmt::Debug for BodyReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BodyReader")
            .field("at", &self.at)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

/// What of the body's `wanted` bytes is in `bytes`, which start at `start` and not after them.
fn part(bytes: &Bytes, start: u64, wanted: Range<u64>) -> Option<Bytes> {
    let upto = wanted.end.min(start + bytes.len() as u64);
    (wanted.start < upto)
        .then(|| bytes.slice((wanted.start - start) as usize..(upto - start) as usize))
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
