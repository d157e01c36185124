//! `POST /purge`: make a URL forgotten.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use serde::{Deserialize, Serialize};

use super::answer::{Answer, error, json};
use super::routes::Routes;

/// The body of the request: `{"url": "http://host/path?query"}`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct PurgeRequest {
    /// Whose copies are forgotten, all variants of them.
    pub url: String,
}

/// What a purge did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PurgeReport {
    /// Something was stored, or about to be.
    pub found: bool,
}

/// Why a purge did not happen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PurgeError {
    /// The URL has no key: 400.
    #[error("cannot purge {url}: {reason}")]
    BadUrl {
        /// As it was given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It could not be made durable: 500. Ask again.
    #[error("the purge is not durable: {0}")]
    NotDurable(String),
}

/// A purge under way. Dropping it leaves open whether the purge happens.
pub type PurgeFuture<'a> =
    Pin<Box<dyn Future<Output = Result<PurgeReport, PurgeError>> + Send + 'a>>;

/// Who can purge.
pub trait Purger: Send + Sync + 'static {
    /// Forgets the URL. When this says `Ok`, nothing that was stored before is served again, by
    /// this process or a later one.
    fn purge(&self, request: PurgeRequest) -> PurgeFuture<'_>;
}

/// The body of the answer.
#[derive(Serialize)]
struct Done<'a> {
    url: &'a str,
    #[serde(flatten)]
    report: PurgeReport,
}

/// Adds `POST /purge`. A URL that was not stored is 200 with `"found": false`: it is forgotten.
pub fn purge_route(routes: &mut Routes, purger: Arc<dyn Purger>) {
    routes.add(Method::POST, "/purge", move |request| {
        let purger = Arc::clone(&purger);
        async move { purge(&*purger, &request).await }
    });
}

async fn purge(purger: &dyn Purger, request: &Request<Bytes>) -> Answer {
    let asked: PurgeRequest = match serde_json::from_slice(request.body()) {
        Ok(asked) => asked,
        Err(e) => {
            let text = format!("the body must be {{\"url\": \"http://host/path\"}}: {e}");
            return error(StatusCode::BAD_REQUEST, &text);
        }
    };
    let url = asked.url.clone();
    match purger.purge(asked).await {
        Ok(report) => json(StatusCode::OK, &Done { url: &url, report }),
        Err(e) => error(status_of(&e), &e.to_string()),
    }
}

fn status_of(error: &PurgeError) -> StatusCode {
    match error {
        PurgeError::BadUrl { .. } => StatusCode::BAD_REQUEST,
        PurgeError::NotDurable(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
