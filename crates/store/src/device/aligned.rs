//! Heap memory at addresses that O_DIRECT accepts.
#![allow(
    unsafe_code,
    reason = "std has no aligned byte buffer; three uses, each proved here"
)]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::BLOCK_BYTES;

/// An owned, zeroed byte buffer whose address is a multiple of [`BLOCK_BYTES`].
///
/// `bytes::Bytes::from_owner` turns it into shared bytes without a copy.
#[derive(Debug)]
pub struct AlignedBuf {
    ptr: NonNull<u8>,
    len: usize,
}

impl AlignedBuf {
    /// `len` zero bytes, rounded up to whole blocks and at least one.
    ///
    /// # Panics
    /// When `len` is near `isize::MAX`: a bug of the caller, who bounds every length.
    pub fn zeroed(len: usize) -> Self {
        let len = len.max(1).next_multiple_of(BLOCK_BYTES);
        let layout = Self::layout(len);
        // SAFETY: the layout's size is at least one block, hence not zero.
        let raw = unsafe { alloc_zeroed(layout) };
        let Some(ptr) = NonNull::new(raw) else {
            handle_alloc_error(layout)
        };
        Self { ptr, len }
    }

    fn layout(len: usize) -> Layout {
        Layout::from_size_align(len, BLOCK_BYTES)
            .expect("invariant: lengths are bounded by callers")
    }
}

impl Deref for AlignedBuf {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `ptr` points to `len` initialised (zeroed) bytes that this value alone owns.
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr(), self.len) }
    }
}

impl DerefMut for AlignedBuf {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and `&mut self` makes the borrow exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.ptr.as_ptr(), self.len) }
    }
}

impl AsRef<[u8]> for AlignedBuf {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Drop for AlignedBuf {
    fn drop(&mut self) {
        // SAFETY: `ptr` came from `alloc_zeroed` with this very layout and is freed once.
        unsafe { dealloc(self.ptr.as_ptr(), Self::layout(self.len)) }
    }
}

// SAFETY: the buffer is plain owned memory; nothing in it is tied to a thread.
unsafe impl Send for AlignedBuf {}
// SAFETY: shared access only reads; there is no interior mutability.
unsafe impl Sync for AlignedBuf {}
