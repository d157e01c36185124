//! What does a 304 change in a stored response? (RFC 9111 §3.2, §4.3.4)

use http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, ETAG, Entry, LAST_MODIFIED, TRANSFER_ENCODING,
};
use http::{HeaderMap, HeaderName};

use super::conditional::{is_strong, last_modified_is_strong, strong_eq, weak_eq};
use super::hop::{Upgrade, strip_hop_by_hop};
use crate::meta::StoredMeta;

/// Fields that describe the stored bytes as they are: a 304 carries no bytes, so it cannot change
/// them (§3.2: Content-Length, and what the stored response depends upon). Content-Type is not
/// among them: it is metadata, and origins do correct it.
const OF_THE_BYTES: [HeaderName; 4] = [
    CONTENT_ENCODING,
    CONTENT_LENGTH,
    CONTENT_RANGE,
    TRANSFER_ENCODING,
];

/// Whether a 304 speaks of this stored response (§4.3.4). If not, the object has to be fetched
/// anew, without conditions.
///
/// - Entity tags on both sides decide alone: a strong one must be the same, a weak one match.
/// - A 304 with a tag that the stored response lacks, or with a date alone, must repeat the
///   stored Last-Modified; beside a strong tag, that has to be a strong validator itself.
/// - A 304 without validators answers the only condition that was sent: the stored response's.
pub fn matches_304(meta: &StoredMeta, headers: &HeaderMap) -> bool {
    let stored = &meta.headers;
    let modified_again = headers.get(LAST_MODIFIED);
    let same_date = modified_again.is_some() && modified_again == stored.get(LAST_MODIFIED);
    match (headers.get(ETAG), stored.get(ETAG)) {
        (Some(new), Some(old)) if is_strong(new.as_bytes()) => {
            strong_eq(new.as_bytes(), old.as_bytes())
        }
        (Some(new), Some(old)) => weak_eq(new.as_bytes(), old.as_bytes()),
        (Some(new), None) if is_strong(new.as_bytes()) => {
            same_date && last_modified_is_strong(stored)
        }
        (Some(_), None) => same_date,
        (None, _) => modified_again.is_none() || same_date,
    }
}

/// Updates the stored fields from a 304 (§3.2): each field that it has replaces the stored one
/// with all its lines, the others stay.
///
/// Left out are hop-by-hop fields (§3.1) and those that describe the stored bytes.
pub fn freshen(stored: &mut HeaderMap, from_304: &HeaderMap) {
    let mut update = from_304.clone();
    strip_hop_by_hop(&mut update, Upgrade::Strip);
    for name in OF_THE_BYTES {
        update.remove(name);
    }
    let mut current = None;
    for (name, value) in update {
        // Only the first line of a field comes with its name.
        if let Some(name) = name {
            stored.insert(&name, value);
            current = Some(name);
        } else if let Some(Entry::Occupied(mut lines)) =
            current.as_ref().map(|name| stored.entry(name))
        {
            lines.append(value);
        }
    }
}
