//! Removing a key so that neither an open writer nor a restart brings it back.

use std::time::Duration;

use super::DiskError;
use super::core::Core;
use super::format::Record;
use crate::Key;

/// How long a removal waits for room in the log. Unlike an object it is worth waiting for; the
/// drive that takes nothing for so long is soon found broken by its writer.
const REMOVE_PATIENCE: Duration = Duration::from_secs(10);

/// True if the index knew the key. See [`Disk::remove`](super::Disk::remove).
pub(super) async fn remove(core: &Core, key: &Key) -> Result<bool, DiskError> {
    let hash = key.hash();
    let found = {
        // Writers commit and heads are refreshed under this lock: each of them is wholly before
        // the removal, and removed, or wholly after its mark, and void.
        let _tail = core.log.lock();
        core.writers.removed(hash);
        core.index.remove(hash)
    };
    let tombstone = Record::tombstone(core.seed, hash);
    // An object that a later writer commits before the tombstone is appended is served now and
    // gone after a restart: a miss, never a resurrection.
    {
        let mut tail = core.log.reserve(tombstone.bytes(), REMOVE_PATIENCE).await?;
        core.append(&mut tail, &tombstone);
    }
    core.counters.tombstones.add(1);
    core.log.flush().await?;
    Ok(found)
}
