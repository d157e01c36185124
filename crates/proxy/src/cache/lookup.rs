//! What is stored for a request: memory, then flash, then through the index of variants.

use larder_store::{Key, Object};

use super::core::Core;
use super::flight::Variant;
use crate::meta::{Kind, StoredMeta};
use crate::rules::vary::variant_key;

/// What a lookup found.
#[derive(Debug)]
pub(super) enum Found {
    /// An object, under its own key.
    Object {
        key: Key,
        object: Object<StoredMeta>,
        variant: Option<Variant>,
    },
    /// Nothing. `variant` says under which key a variant of a known URL would be.
    Nothing { variant: Option<Variant> },
    /// The request's own headers make the variant's key longer than a key may be.
    KeyTooLong,
}

/// Looks in memory alone. `None`: ask [`find`].
pub(super) fn find_in_memory(
    core: &Core,
    primary: &Key,
    headers: &http::HeaderMap,
) -> Option<Object<StoredMeta>> {
    let object = core.store.get_ram(primary)?;
    match &object.meta.kind {
        Kind::Object => Some(object),
        Kind::VaryIndex { generation, spec } => {
            let key = variant_key(primary.bytes(), *generation, spec, headers)?;
            core.store.get_ram(&core.key(key))
        }
    }
}

/// Looks everywhere.
pub(super) async fn find(core: &Core, primary: &Key, headers: &http::HeaderMap) -> Found {
    let Some(object) = core.store.get(primary).await else {
        return Found::Nothing { variant: None };
    };
    let Kind::VaryIndex { generation, spec } = &object.meta.kind else {
        return Found::Object {
            key: primary.clone(),
            object,
            variant: None,
        };
    };
    let Some(key) = variant_key(primary.bytes(), *generation, spec, headers) else {
        return Found::KeyTooLong;
    };
    let key = core.key(key);
    let variant = Variant {
        generation: *generation,
        spec: spec.clone(),
        key: key.clone(),
    };
    match core.store.get(&key).await {
        Some(object) => Found::Object {
            key,
            object,
            variant: Some(variant),
        },
        None => Found::Nothing {
            variant: Some(variant),
        },
    }
}
