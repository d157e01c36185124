//! Storing an object, piece by piece. The head comes last and is the commit.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::WriteError;
use super::body::{Content, DiskBody};
use super::core::{Core, WRITE_PATIENCE};
use super::format::{
    FRAGMENT_BYTES, FragmentRef, FragmentTable, HEADER_BYTES, Kind, META_BYTES_MAX, Record,
};
use super::lookup::starts_live;
use super::open_writers::WriterTicket;
use super::stats::SkipReason;
use crate::Key;

/// Writes one object. Dropping it unfinished is the failure of the write: nothing can be found.
pub struct DiskWriter {
    core: Arc<Core>,
    key: Key,
    ticket: Option<WriterTicket>,
    /// The body's end that no fragment holds yet.
    buffer: BytesMut,
    /// Named once the body outgrows a record.
    object: Option<FragmentTable>,
    body_bytes: u64,
    failed: Option<WriteError>,
}

impl DiskWriter {
    pub(super) fn new(core: Arc<Core>, key: Key) -> Self {
        let ticket = core.writers.enter(key.hash());
        let mut writer = Self {
            core,
            key,
            ticket,
            buffer: BytesMut::new(),
            object: None,
            body_bytes: 0,
            failed: None,
        };
        let key_bytes = writer.key.bytes().len();
        if ticket.is_none() {
            writer.fail(WriteError::Busy { waited_ms: 0 });
        } else if let Err(error) = bounded("key", key_bytes as u64, Key::MAX_BYTES as u64) {
            writer.fail(error);
        }
        writer
    }

    /// Appends to the body. Waits for the device at most 50 ms per fragment of 256 KiB.
    ///
    /// After an error the object is lost, and every later call says so again. Not cancel safe:
    /// after a call was dropped, so is the object.
    pub async fn write(&mut self, mut piece: Bytes) -> Result<(), WriteError> {
        self.check()?;
        let body_bytes = self.body_bytes + piece.len() as u64;
        if let Err(error) = bounded("body", body_bytes, self.core.geometry.body_bytes_max()) {
            return Err(self.fail(error));
        }
        self.failed = Some(WriteError::Interrupted);
        while !piece.is_empty() {
            // A full buffer is written only when more comes: what ends here may be inline.
            if self.buffer.len() == FRAGMENT_BYTES {
                let written = self.write_fragment().await;
                written.map_err(|error| self.fail(error))?;
            }
            let free = FRAGMENT_BYTES - self.buffer.len();
            let now = piece.split_to(free.min(piece.len()));
            self.buffer.extend_from_slice(&now);
            self.body_bytes += now.len() as u64;
        }
        self.failed = None;
        Ok(())
    }

    /// Commits the object with its metadata. It is found from now on; it is durable after the next
    /// [`flush`](super::Disk::flush), or when its run has been written.
    ///
    /// # Errors
    /// [`WriteError::Purged`] if the key was removed since the writer was made.
    pub async fn finish(mut self, meta: Bytes) -> Result<(), WriteError> {
        self.check()?;
        let result = self.commit(&meta).await;
        result.map_err(|error| self.fail(error))
    }

    async fn commit(&mut self, meta: &[u8]) -> Result<(), WriteError> {
        bounded("metadata", meta.len() as u64, META_BYTES_MAX as u64)?;
        if self.object.is_some() {
            self.write_fragment().await?;
        }
        let table = self.object.as_ref().map(FragmentTable::encode);
        let (kind, body) = match &table {
            None => (Kind::Object, &self.buffer[..]),
            Some(table) => (Kind::Fragmented, &table[..]),
        };
        let (hash, key) = (self.key.hash(), &self.key.bytes()[..]);
        let parts = [key, meta, body];
        let record = Record::new(self.core.seed, kind, hash, self.body_bytes, parts);
        let mut tail = self
            .core
            .log
            .reserve(record.bytes(), WRITE_PATIENCE)
            .await?;
        let void = |ticket| self.core.writers.is_void(hash, ticket);
        if self.ticket.is_none_or(void) {
            return Err(WriteError::Purged);
        }
        let overtaken = |table| !starts_live(&self.core, table);
        if self.object.as_ref().is_some_and(overtaken) {
            return Err(WriteError::Lapped);
        }
        let place = self.core.commit(&mut tail, &record);
        place.map(|_| ()).ok_or_else(|| too_long(&record))
    }

    /// Moves the buffer to the log, as the object's next fragment.
    async fn write_fragment(&mut self) -> Result<(), WriteError> {
        let core = &self.core;
        let object = self.object.get_or_insert_with(|| FragmentTable {
            object_id: core.next_object_id(),
            fragments: Vec::new(),
        });
        let index = object.fragments.len() as u64;
        let parts = [&[], &[], &self.buffer[..]];
        let record = Record::new(core.seed, Kind::Fragment, object.object_id, index, parts);
        let mut tail = core.log.reserve(record.bytes(), WRITE_PATIENCE).await?;
        let at = core
            .append(&mut tail, &record)
            .ok_or_else(|| too_long(&record))?;
        drop(tail);
        let checksum = record.payload_checksum();
        object
            .fragments
            .push(FragmentRef::new(at.position, at.seq, checksum));
        self.buffer.clear();
        Ok(())
    }

    fn check(&mut self) -> Result<(), WriteError> {
        match self.failed {
            Some(error) => Err(error),
            None if !self.core.health.is_healthy() => Err(self.fail(WriteError::OutOfService)),
            None => Ok(()),
        }
    }

    /// Notes the failure, and counts it once.
    fn fail(&mut self, error: WriteError) -> WriteError {
        if self.failed.is_none_or(|was| was == WriteError::Interrupted) {
            self.core.counters.skipped(error.reason());
        }
        self.failed = Some(error);
        self.buffer = BytesMut::new();
        error
    }
}

impl Drop for DiskWriter {
    fn drop(&mut self) {
        if self.failed == Some(WriteError::Interrupted) {
            self.core.counters.skipped(SkipReason::Interrupted);
        }
        if self.ticket.is_some() {
            self.core.writers.leave(self.key.hash());
        }
    }
}

/// Writes a new head for a body that is stored already.
pub(super) async fn refresh(
    core: &Core,
    key: &Key,
    meta: &[u8],
    body: &DiskBody,
) -> Result<(), WriteError> {
    let result = write_head(core, key, meta, body).await;
    match result {
        Ok(()) => core.counters.refreshed.add(1),
        Err(error) => core.counters.skipped(error.reason()),
    }
    result
}

async fn write_head(
    core: &Core,
    key: &Key,
    meta: &[u8],
    body: &DiskBody,
) -> Result<(), WriteError> {
    bounded("key", key.bytes().len() as u64, Key::MAX_BYTES as u64)?;
    bounded("metadata", meta.len() as u64, META_BYTES_MAX as u64)?;
    let table;
    let (kind, bytes) = match &body.inner.content {
        Content::Inline(bytes) => (Kind::Object, &bytes[..]),
        Content::Fragments(fragments) => {
            table = fragments.encode();
            (Kind::Fragmented, &table[..])
        }
    };
    let parts = [&key.bytes()[..], meta, bytes];
    let record = Record::new(core.seed, kind, key.hash(), body.len(), parts);
    let mut tail = core.log.reserve(record.bytes(), WRITE_PATIENCE).await?;
    // Under the log's lock: neither a removal nor a newer object can come between.
    if !body.inner.is_current() {
        return Err(WriteError::Purged);
    }
    if let Content::Fragments(table) = &body.inner.content
        && !starts_live(core, table)
    {
        return Err(WriteError::Lapped);
    }
    let home = core
        .commit(&mut tail, &record)
        .ok_or_else(|| too_long(&record))?;
    body.inner.moved(home);
    Ok(())
}

fn bounded(what: &'static str, bytes: u64, limit_bytes: u64) -> Result<(), WriteError> {
    if bytes <= limit_bytes {
        return Ok(());
    }
    Err(WriteError::TooLarge {
        what,
        bytes,
        limit_bytes,
    })
}

/// No segment holds the record. The other bounds make sure that this is never the answer.
fn too_long(record: &Record<'_>) -> WriteError {
    WriteError::TooLarge {
        what: "record",
        bytes: record.bytes() as u64,
        limit_bytes: (super::format::RECORD_BYTES_MAX - HEADER_BYTES) as u64,
    }
}
