//! `/healthz` and `/readyz`: is the process alive, and should it be sent requests?

use std::sync::Arc;

use http::{Method, StatusCode};
use serde::Serialize;

use super::answer::{Answer, json};
use super::routes::Routes;

/// Whether a load balancer should send requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// Not yet: the listeners or the store are not open.
    Starting,
    /// Yes.
    Ready,
    /// No more: requests under way are finished, new ones belong elsewhere.
    Draining,
}

#[derive(Serialize)]
struct Status {
    status: &'static str,
}

impl Readiness {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Draining => "draining",
        }
    }

    fn answer(self) -> Answer {
        let code = match self {
            Self::Ready => StatusCode::OK,
            Self::Starting | Self::Draining => StatusCode::SERVICE_UNAVAILABLE,
        };
        let status = self.as_str();
        json(code, &Status { status })
    }
}

/// Adds `GET /healthz`, which is 200 while the process answers at all, and `GET /readyz`, which is
/// 200 while `readiness` says [`Readiness::Ready`] and 503 otherwise.
pub fn health_routes(
    routes: &mut Routes,
    readiness: impl Fn() -> Readiness + Send + Sync + 'static,
) {
    routes.add(Method::GET, "/healthz", |_| async {
        json(StatusCode::OK, &Status { status: "ok" })
    });
    let readiness = Arc::new(readiness);
    routes.add(Method::GET, "/readyz", move |_| {
        let readiness = Arc::clone(&readiness);
        async move { readiness().answer() }
    });
}
