//! Making a URL forgotten: every variant, the fetches under way, memory and flash.

use http::StatusCode;
use larder_store::{Key, RemoveError};

use super::core::Core;

/// What a purge did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purged {
    /// Something was stored, or about to be.
    pub found: bool,
    /// Fetches under way that will store nothing.
    pub flights: usize,
}

/// Forgets the URL under `key`. When this returns nothing that was stored before the call is
/// served again, by this process or a later one: the flash has noted it durably.
///
/// # Errors
/// When the flash could not note it; memory has forgotten it all the same.
pub async fn purge(core: &Core, key: &Key) -> Result<Purged, RemoveError> {
    let flights = core.flights.purge(key);
    let removed = core.store.remove(key).await;
    core.events.purged.add();
    let removed = removed?;
    Ok(Purged {
        found: removed.ram || removed.ssd || flights > 0,
        flights,
    })
}

/// As [`purge`], for an invalidation that no client waits to hear about (RFC 9111 §4.4).
pub(super) async fn invalidate(core: &Core, key: &Key) {
    if let Err(error) = purge(core, key).await {
        tracing::warn!(%error, "an invalidation could not be noted on flash");
    }
}

/// The status that answers a purge.
pub fn status_of(purged: &Result<Purged, RemoveError>) -> StatusCode {
    match purged {
        Ok(Purged { found: true, .. }) => StatusCode::OK,
        Ok(Purged { found: false, .. }) => StatusCode::NOT_FOUND,
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
