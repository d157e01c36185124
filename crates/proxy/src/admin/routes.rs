//! Which path is answered by whom.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ALLOW, ORIGIN};
use http::{HeaderValue, Method, Request, StatusCode};

use super::answer::{Answer, error};

/// A handler's answer, later. The server drops it at [`super::REQUEST_TIME_MAX`].
pub type AnswerFuture = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// Answers requests, whose bodies have been read.
pub type Handler = Arc<dyn Fn(Request<Bytes>) -> AnswerFuture + Send + Sync>;

/// The table. Each path has one method; `HEAD` goes where `GET` goes.
#[derive(Clone, Default)]
pub struct Routes {
    routes: Vec<Route>,
}

#[derive(Clone)]
struct Route {
    method: Method,
    path: &'static str,
    handler: Handler,
}

impl Routes {
    /// An empty table: everything is 404.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a route. The first of two for one path is the one that is asked.
    pub fn add<F, A>(&mut self, method: Method, path: &'static str, handler: F)
    where
        F: Fn(Request<Bytes>) -> A + Send + Sync + 'static,
        A: Future<Output = Answer> + Send + 'static,
    {
        self.routes.push(Route {
            method,
            path,
            handler: Arc::new(move |request| Box::pin(handler(request))),
        });
    }

    /// The handler for a request.
    ///
    /// # Errors
    /// The answer to a request that has none: 404 for an unknown path, 405 for another method, 403
    /// for a change that a web page asks for. Browsers send `Origin` with whatever is no `GET`
    /// (Fetch standard, 3.1), so that no page can make its visitor's browser purge a cache on
    /// loopback.
    pub(super) fn find<B>(&self, request: &Request<B>) -> Result<&Handler, Box<Answer>> {
        let path = request.uri().path();
        let Some(route) = self.routes.iter().find(|route| route.path == path) else {
            let text = format!("no such path; there are {}", self.paths().join(", "));
            return Err(Box::new(error(StatusCode::NOT_FOUND, &text)));
        };
        let method = match request.method() {
            &Method::HEAD => &Method::GET,
            method => method,
        };
        if *method != route.method {
            return Err(Box::new(not_allowed(route)));
        }
        if *method != Method::GET && request.headers().contains_key(ORIGIN) {
            let text = "not for web pages: the request has an Origin";
            return Err(Box::new(error(StatusCode::FORBIDDEN, text)));
        }
        Ok(&route.handler)
    }

    fn paths(&self) -> Vec<&'static str> {
        self.routes.iter().map(|route| route.path).collect()
    }
}

impl fmt::Debug for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.paths()).finish()
    }
}

fn not_allowed(route: &Route) -> Answer {
    let text = format!("{} takes {}", route.path, route.method);
    let mut answer = error(StatusCode::METHOD_NOT_ALLOWED, &text);
    let allowed = match route.method {
        Method::GET => "GET, HEAD",
        ref method => method.as_str(),
    };
    if let Ok(allowed) = HeaderValue::from_str(allowed) {
        answer.headers_mut().insert(ALLOW, allowed);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::super::answer::json;
    use super::*;

    fn routes() -> Routes {
        let mut routes = Routes::new();
        let ok = |_| async { json(StatusCode::OK, &"ok") };
        routes.add(Method::GET, "/look", ok);
        routes.add(Method::POST, "/change", ok);
        routes
    }

    #[test]
    fn every_request_is_answered_by_somebody() {
        let cases = [
            ("GET", "/look", false, None),
            ("GET", "/look?x=1", true, None),
            ("HEAD", "/look", false, None),
            ("POST", "/change", false, None),
            ("POST", "/change", true, Some(403)),
            ("POST", "/look", false, Some(405)),
            ("GET", "/change", false, Some(405)),
            ("DELETE", "/change", false, Some(405)),
            ("GET", "/look/", false, Some(404)),
            ("GET", "/", false, Some(404)),
        ];
        let routes = routes();
        for (method, uri, from_page, expected) in cases {
            let mut request = Request::builder().method(method).uri(uri);
            if from_page {
                request = request.header(ORIGIN, "https://evil.example");
            }
            let found = routes.find(&request.body(()).unwrap());
            let status = found.err().map(|answer| answer.status().as_u16());
            assert_eq!(status, expected, "{method} {uri}");
        }
    }

    #[test]
    fn a_refusal_says_what_is_allowed() {
        let routes = routes();
        for (method, uri, allowed) in [("PUT", "/look", "GET, HEAD"), ("GET", "/change", "POST")] {
            let request = Request::builder().method(method).uri(uri);
            let answer = routes.find(&request.body(()).unwrap()).err().unwrap();
            assert_eq!(answer.headers()[ALLOW], allowed);
        }
    }
}
