//! Going on with a body whose source failed midway, from the store or by a range of the origin's.

use std::sync::Arc;

use http::{Request, StatusCode, header};
use http_body_util::BodyExt;
use larder_store::{Body, Key};

use super::body::{Failed, Resume, Resuming, Source};
use super::core::Core;
use super::fill::{Origin, OriginBody};
use super::flight::Window;
use super::request::{FetchRequest, send};
use crate::meta::StoredMeta;
use crate::{BoxBody, BoxError};

/// How to find the rest of one representation.
pub(super) struct Elsewhere<S, B> {
    pub(super) core: Arc<Core>,
    pub(super) origin: S,
    pub(super) key: Key,
    pub(super) meta: Arc<StoredMeta>,
    /// The fetch that was followed, if it was one.
    pub(super) window: Option<Arc<Window>>,
    pub(super) request: FetchRequest,
    pub(super) body: std::marker::PhantomData<fn() -> B>,
}

impl<S, B> Resume for Elsewhere<S, B>
where
    S: Origin<B>,
    B: OriginBody,
{
    fn resume(&self, failed: Failed, from: u64, until: Option<u64>) -> Resuming {
        let core = Arc::clone(&self.core);
        let origin = self.origin.clone();
        let key = self.key.clone();
        let meta = Arc::clone(&self.meta);
        let window = self.window.clone();
        let rest = self.request.rest(&meta, from, until);
        Box::pin(async move {
            core.events.resumed.add();
            // What failed on flash once is not read there again.
            if failed == Failed::Flight {
                if let Some(body) = stored(&core, &key, &meta, until).await {
                    return Ok(rest_of(&body, from, until));
                }
                if rest.is_none()
                    && let Some(window) = window
                {
                    // The origin cannot be asked for the rest: who fell behind waits until all of it
                    // is stored.
                    window.ended().await;
                    if let Some(body) = stored(&core, &key, &meta, until).await {
                        return Ok(rest_of(&body, from, until));
                    }
                }
            }
            let rest = rest.ok_or("nothing names the rest of the body")?;
            let rest = ask_rest(&core, &origin, rest, from).await?;
            Ok(Source::Origin(rest.map_err(Into::into).boxed_unsync()))
        })
    }
}

/// The body of the representation that `meta` describes, if it is stored.
async fn stored(core: &Core, key: &Key, meta: &StoredMeta, until: Option<u64>) -> Option<Body> {
    let object = core.store.get(key).await?;
    let reaches = until.is_none_or(|until| until <= object.body.len());
    (reaches && is_same_representation(&object.meta, meta)).then_some(object.body)
}

fn rest_of(body: &Body, from: u64, until: Option<u64>) -> Source {
    let until = until.unwrap_or(body.len());
    Source::Store(body.read(from.min(until)..until))
}

/// Asks the origin for a range that must begin at `from`, of the very representation that
/// `If-Range` names.
pub(super) async fn ask_rest<S, B>(
    core: &Arc<Core>,
    origin: &S,
    request: Request<BoxBody>,
    from: u64,
) -> Result<B, BoxError>
where
    S: Origin<B>,
    B: OriginBody,
{
    let answer = send(core, origin, request)
        .await
        .map_err(|failure| BoxError::from(failure.as_str()))?;
    let begins = answer
        .headers()
        .get(header::CONTENT_RANGE)
        .and_then(|range| range.to_str().ok())
        .is_some_and(|range| range.starts_with(&format!("bytes {from}-")));
    if answer.status() != StatusCode::PARTIAL_CONTENT || !begins {
        return Err("the origin has another representation by now".into());
    }
    Ok(answer.into_body())
}

/// Whether two entries describe the same bytes: one response, or one that confirmed it.
fn is_same_representation(stored: &StoredMeta, wanted: &StoredMeta) -> bool {
    let same_response =
        stored.request_time == wanted.request_time && stored.response_time == wanted.response_time;
    let strong = |meta: &StoredMeta| {
        meta.etag()
            .filter(|etag| !etag.as_bytes().starts_with(b"W/"))
            .cloned()
    };
    same_response || strong(wanted).is_some_and(|etag| strong(stored) == Some(etag))
}
