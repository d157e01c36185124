//! A body on its way in.

use std::sync::Arc;

use bytes::Bytes;

use crate::ram::{Gather, Ticket};
use crate::version::Version;
use crate::{Meta, RamReject, SsdVerdict, Stored};

/// Stores one object, piece by piece. Dropped before [`finish`](Self::finish) is done, it stores
/// nothing.
///
/// Nothing that goes wrong here is the caller's business: each tier keeps its own verdict, and the
/// body goes on to whoever reads it.
pub struct Writer<M: Meta> {
    ticket: Ticket<M>,
    ram: Result<Gather, RamReject>,
    version: Version,
}

impl<M: Meta> Writer<M> {
    pub(crate) fn new(ticket: Ticket<M>, ram: Result<Gather, RamReject>, seed: u64) -> Self {
        Self {
            ticket,
            ram,
            version: Version::start(seed),
        }
    }

    /// Appends `piece`: at most [`PIECE_BYTES`](crate::PIECE_BYTES), in an allocation of its own,
    /// because memory may keep it as it is.
    ///
    /// Cancel safety: dropping the future may leave the piece half written; drop the writer too.
    pub async fn write(&mut self, piece: Bytes) {
        self.version.push(&piece);
        if let Ok(gather) = &mut self.ram
            && let Err(reject) = gather.push(piece)
        {
            self.ram = Err(reject);
        }
    }

    /// Commits the object with its metadata: to flash first, then to memory.
    ///
    /// The newest finished write of a key is what lookups find, unless the key was removed after
    /// [`Store::writer`](crate::Store::writer) was called: then nothing is stored.
    ///
    /// Cancel safety: dropping the future leaves this object or what flash had before, never a mix.
    pub async fn finish(self, meta: impl Into<Arc<M>>) -> Stored {
        let body = self
            .ram
            .map(|gather| gather.into_body().with_version(self.version));
        Stored {
            ram: self.ticket.put(meta.into(), body),
            ssd: SsdVerdict::Off,
        }
    }
}
