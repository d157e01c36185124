//! A body on its way in.

use std::sync::Arc;

use bytes::Bytes;

use crate::ram::{Gather, Ticket};
use crate::ssd::SsdWriter;
use crate::version::Version;
use crate::{Meta, RamReject, SsdVerdict, Stored};

/// Stores one object, piece by piece. Dropped before [`finish`](Self::finish) is done, it stores
/// nothing.
///
/// Nothing that goes wrong here is the caller's business: each tier keeps its own verdict, and the
/// body goes on to whoever reads it.
pub struct Writer<M: Meta> {
    ticket: Ticket<M>,
    version: Version,
    ram: Result<Gather, RamReject>,
    ssd: Option<SsdWriter>,
    /// Every piece that was handed over has arrived.
    whole: bool,
}

impl<M: Meta> Writer<M> {
    pub(crate) fn new(
        ticket: Ticket<M>,
        seed: u64,
        ram: Result<Gather, RamReject>,
        ssd: Option<SsdWriter>,
    ) -> Self {
        Self {
            ticket,
            version: Version::start(seed),
            ram,
            ssd,
            whole: true,
        }
    }

    /// Appends `piece`: at most [`PIECE_BYTES`](crate::PIECE_BYTES), in an allocation of its own,
    /// because memory may keep it as it is. Waits for flash, a bounded time.
    ///
    /// Cancel safety: none. After its future was dropped half-way, or before its first poll,
    /// [`finish`](Self::finish) stores nothing.
    pub fn write(&mut self, piece: Bytes) -> impl Future<Output = ()> + Send {
        // Not in the future: a piece must not go missing because that was never polled.
        let whole = std::mem::replace(&mut self.whole, false);
        self.version.push(&piece);
        self.gather(piece.clone());
        async move {
            if let Some(ssd) = &mut self.ssd {
                ssd.write(piece).await;
            }
            self.whole = whole;
        }
    }

    fn gather(&mut self, piece: Bytes) {
        if let Ok(gather) = &mut self.ram
            && let Err(reject) = gather.push(piece)
        {
            self.ram = Err(reject);
        }
    }

    /// Commits the object with its metadata: to flash first, then to memory.
    ///
    /// The newest finished write of a key is what lookups find, unless the key was removed after
    /// [`Store::writer`](crate::Store::writer) was called: then nothing is stored. A tier that
    /// does not take it gives up what it had of the key.
    ///
    /// Cancel safety: dropping the future leaves this object or what flash had before, never a mix.
    pub async fn finish(mut self, meta: impl Into<Arc<M>>) -> Stored {
        if !self.whole {
            return Stored {
                ram: Err(RamReject::Interrupted),
                ssd: self
                    .ssd
                    .map_or(SsdVerdict::Off, |_| SsdVerdict::Interrupted),
            };
        }
        let meta = meta.into();
        let ssd = match self.ssd {
            Some(ssd) => {
                self.ticket.commit();
                ssd.finish(self.version, meta.as_ref()).await
            }
            None => SsdVerdict::Off,
        };
        let body = self
            .ram
            .map(|gather| gather.into_body().with_version(self.version));
        let ram = self.ticket.put(meta, body);
        Stored { ram, ssd }
    }
}
