//! What can go wrong with the two tiers together, by operation.

/// Why new metadata was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// No tier holds this version of the object any more: it was evicted, replaced or removed.
    #[error("the object is not stored any more")]
    NotStored,
}

/// Why a removal is not certain. The RAM tier has forgotten the object all the same.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoveError {}
