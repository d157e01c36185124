//! `/metrics`: what Prometheus scrapes.

use std::sync::Arc;

use http::{Method, StatusCode};

use super::answer::{error, with_body};
use super::routes::Routes;
use crate::observe::metrics::{CONTENT_TYPE, Metrics};

/// Adds `GET /metrics`.
pub fn metrics_route(routes: &mut Routes, metrics: Arc<Metrics>) {
    routes.add(Method::GET, "/metrics", move |_| {
        let metrics = Arc::clone(&metrics);
        async move {
            match metrics.encode() {
                Ok(text) => with_body(StatusCode::OK, CONTENT_TYPE, text),
                Err(e) => error(StatusCode::INTERNAL_SERVER_ERROR, &e.to_string()),
            }
        }
    });
}
