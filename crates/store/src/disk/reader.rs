//! Streaming a body: fragment by fragment, verified before it leaves, two in flight.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;

use super::ReadError;
use super::body::{BodyInner, Content};
use super::format::{FRAGMENT_BYTES, Fault, FragmentTable, HEADER_BYTES, RecordView};
use super::read::{Stretch, begin_read};

/// Fragments in flight per reader, the one that is waited for included: the device works on the
/// next while the client takes this one, and a slow client holds half a mebibyte.
const FRAGMENTS_IN_FLIGHT: usize = 2;

/// A stream of a body's bytes. Ends after the first error.
pub struct DiskReader {
    body: Arc<BodyInner>,
    /// Bytes of the body still to be given out.
    left: Range<u64>,
    /// The next fragment to ask for.
    next: u64,
    in_flight: VecDeque<PendingFragment>,
}

struct PendingFragment {
    index: u64,
    /// The sequence number of its segment when the read began.
    seq: u64,
    read: Pin<Box<dyn Future<Output = io::Result<Stretch>> + Send>>,
}

impl DiskReader {
    pub(super) fn new(body: Arc<BodyInner>, range: Range<u64>) -> Self {
        Self {
            next: range.start / FRAGMENT_BYTES as u64,
            body,
            left: range,
            in_flight: VecDeque::new(),
        }
    }

    /// Asks for fragments until enough are on their way.
    fn begin_reads(&mut self, table: &FragmentTable) -> Result<(), ReadError> {
        while self.in_flight.len() < FRAGMENTS_IN_FLIGHT && start_of(self.next) < self.left.end {
            let index = self.next;
            let fragment = table.fragments.get(index as usize);
            let fragment = fragment.ok_or(ReadError::Overwritten)?;
            let position = fragment.position();
            let seq = self.body.core.segments.seq_at(position);
            let seq = seq.filter(|seq| fragment.is_of(*seq));
            // What is on its way already is given out first; then this is asked again.
            let Some(seq) = seq else {
                return match self.in_flight.is_empty() {
                    true => Err(ReadError::Overwritten),
                    false => Ok(()),
                };
            };
            let bytes = HEADER_BYTES as u64 + self.body.fragment_bytes(index);
            let read = Box::pin(begin_read(&self.body.core, seq, position, bytes));
            self.in_flight
                .push_back(PendingFragment { index, seq, read });
            self.next += 1;
        }
        Ok(())
    }

    fn poll_fragment(
        &mut self,
        table: &FragmentTable,
        context: &mut Context<'_>,
    ) -> Poll<Result<Bytes, ReadError>> {
        self.begin_reads(table)?;
        let Some(first) = self.in_flight.front_mut() else {
            return Poll::Ready(Err(ReadError::Overwritten));
        };
        let stretch = ready!(first.read.as_mut().poll(context));
        let (index, seq) = (first.index, first.seq);
        self.in_flight.pop_front();
        let payload = self.body.verify(table, index, seq, &stretch?)?;
        let from = self.left.start.saturating_sub(start_of(index)) as usize;
        let to = (self.left.end - start_of(index)).min(payload.len() as u64) as usize;
        self.left.start = start_of(index) + to as u64;
        // The device goes on while the caller has these bytes; an error here comes up again then.
        let _ = self.begin_reads(table);
        Poll::Ready(Ok(payload.slice(from..to)))
    }
}

impl Stream for DiskReader {
    type Item = Result<Bytes, ReadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.left.is_empty() {
            return Poll::Ready(None);
        }
        let body = Arc::clone(&this.body);
        let result = match &body.content {
            Content::Inline(whole) => {
                let range = this.left.start as usize..this.left.end as usize;
                this.left.start = this.left.end;
                Ok(whole.slice(range))
            }
            Content::Fragments(table) => ready!(this.poll_fragment(table, context)),
        };
        if result.is_err() {
            this.left.start = this.left.end;
            this.in_flight.clear();
        }
        Poll::Ready(Some(result))
    }
}

impl BodyInner {
    /// Bytes of the body in a fragment: all but the last are full.
    fn fragment_bytes(&self, index: u64) -> u64 {
        let rest = self.len().saturating_sub(start_of(index));
        rest.min(FRAGMENT_BYTES as u64)
    }

    /// The payload of a fragment, if it is this object's, this one and as it was written.
    fn verify(
        &self,
        table: &FragmentTable,
        index: u64,
        seq: u64,
        stretch: &Stretch,
    ) -> Result<Bytes, ReadError> {
        match self.check(table, index, seq, stretch) {
            Ok(payload) => {
                let payload = stretch.at + payload.start..stretch.at + payload.end;
                Ok(stretch.buf.slice(payload))
            }
            Err(_) if !self.core.segments.holds(seq) => Err(ReadError::Overwritten),
            Err(fault) => {
                let (got, expected) = fault.numbers();
                self.drop_from_index();
                Err(ReadError::Corrupt { got, expected })
            }
        }
    }

    fn check(
        &self,
        table: &FragmentTable,
        index: u64,
        seq: u64,
        stretch: &Stretch,
    ) -> Result<Range<usize>, Fault> {
        let view = RecordView::read(self.core.seed, seq, stretch.bytes())?;
        let header = &view.header;
        let noted = table.fragments.get(index as usize);
        let noted = noted.map_or(0, |fragment| fragment.checksum());
        let pairs = [
            (header.payload_checksum(), noted),
            (header.total(), index),
            (header.hash() as u64, table.object_id as u64),
            ((header.hash() >> 64) as u64, (table.object_id >> 64) as u64),
            (view.body.len() as u64, self.fragment_bytes(index)),
        ];
        match pairs.into_iter().find(|(got, expected)| got != expected) {
            None => Ok(view.body),
            Some((got, expected)) => Err(Fault::Payload { got, expected }),
        }
    }
}

/// Where a fragment begins in the body.
fn start_of(index: u64) -> u64 {
    index * FRAGMENT_BYTES as u64
}
