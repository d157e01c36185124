//! What can go wrong with the two tiers together, by operation.

use crate::{DiskError, WriteError};

/// Why new metadata was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// No tier holds this version of the object any more: it was evicted, replaced or removed.
    #[error("the object is not stored any more")]
    NotStored,
    /// Flash, which alone has the object, keeps the old metadata.
    #[error("flash keeps the old metadata")]
    Ssd(#[from] WriteError),
}

/// Why a removal does not last. Nothing finds the object now; after a restart, flash might.
#[derive(Debug, thiserror::Error)]
#[error("the removal may not last over a restart")]
pub struct RemoveError(#[from] DiskError);
