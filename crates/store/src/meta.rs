//! What a user of the store keeps beside a body.

use bytes::Bytes;

/// Metadata of an object: kept decoded in memory, encoded on flash.
pub trait Meta: Send + Sync + Sized + 'static {
    /// Appends the encoded form to `out`.
    fn encode(&self, out: &mut Vec<u8>);

    /// Reads what [`encode`](Self::encode) wrote; `None` if the bytes are of another make, which
    /// the store counts and treats as a miss.
    fn decode(bytes: &[u8]) -> Option<Self>;

    /// Heap bytes that the decoded form holds, for the memory budget.
    fn weight_bytes(&self) -> usize;
}

impl Meta for Bytes {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        Some(Self::copy_from_slice(bytes))
    }

    fn weight_bytes(&self) -> usize {
        self.len()
    }
}
