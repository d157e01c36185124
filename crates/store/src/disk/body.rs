//! The body of an object found on disk.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

use super::core::Core;
use super::format::FragmentTable;
use super::index::Place;
use super::reader::DiskReader;

/// A handle to a body: cheap to clone, and all that it holds of a large body is the fragment
/// table, 16 bytes per 256 KiB.
///
/// It pins nothing on the device: a reader that the log overtakes ends with
/// [`ReadError::Overwritten`](super::ReadError::Overwritten).
#[derive(Clone)]
pub struct DiskBody {
    pub(super) inner: Arc<BodyInner>,
}

pub(super) struct BodyInner {
    pub(super) core: Arc<Core>,
    pub(super) content: Content,
    len: u64,
    hash: u128,
    /// The object's head; moves when the object is refreshed.
    home: Mutex<Place>,
}

/// Where a body's bytes are.
pub(super) enum Content {
    /// They came with the head.
    Inline(Bytes),
    Fragments(FragmentTable),
}

impl DiskBody {
    pub(super) fn new(
        core: Arc<Core>,
        content: Content,
        len: u64,
        hash: u128,
        home: Place,
    ) -> Self {
        Self {
            inner: Arc::new(BodyInner {
                core,
                content,
                len,
                hash,
                home: Mutex::new(home),
            }),
        }
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.inner.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.inner.len == 0
    }

    /// Streams a range of the body, in bytes; what lies beyond its end is left out. Each piece was
    /// verified before it leaves.
    pub fn read(&self, range: Range<u64>) -> DiskReader {
        let end = range.end.min(self.inner.len);
        DiskReader::new(Arc::clone(&self.inner), range.start.min(end)..end)
    }

    /// The whole body, if it came with the head.
    pub fn in_memory(&self) -> Option<&Bytes> {
        match &self.inner.content {
            Content::Inline(body) => Some(body),
            Content::Fragments(_) => None,
        }
    }
}

impl fmt::Debug for DiskBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskBody")
            .field("body_bytes", &self.inner.len)
            .field("inline", &self.in_memory().is_some())
            .finish()
    }
}

impl BodyInner {
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Whether the index still leads to this object.
    pub(super) fn is_current(&self) -> bool {
        self.core.index.peek(self.hash) == Some(*self.home.lock())
    }

    pub(super) fn moved(&self, home: Place) {
        *self.home.lock() = home;
    }

    /// Forgets the object: its bytes are not what was written.
    pub(super) fn drop_from_index(&self) {
        self.core.counters.corrupt.add(1);
        self.core.index.remove_at(self.hash, *self.home.lock());
    }
}
