//! An answer, from what is stored or from what arrives.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use larder_store::Object;

use super::body::{Body, Resume, Source};
use super::core::Core;
use super::flight::Streaming;
use super::outcome::{Decision, From, Outcome};
use crate::meta::StoredMeta;
use crate::rules::cache_status::CacheStatus;
use crate::rules::date::Millis;
use crate::rules::range::{self, RangeOutcome};
use crate::rules::{conditional, fresh};

/// What an answer needs to know of the request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) method: &'a Method,
    pub(super) headers: &'a HeaderMap,
    pub(super) now: Millis,
}

/// Where an answer's body comes from.
pub(super) enum Content<'a> {
    /// A stored object.
    Stored(&'a Object<StoredMeta>),
    /// A fetch under way.
    Flight(&'a Streaming),
}

impl Content<'_> {
    fn meta(&self) -> &Arc<StoredMeta> {
        match self {
            Self::Stored(object) => &object.meta,
            Self::Flight(streaming) => &streaming.meta,
        }
    }

    fn body_bytes(&self) -> Option<u64> {
        match self {
            Self::Stored(object) => Some(object.body.len()),
            Self::Flight(streaming) => streaming.body_bytes,
        }
    }

    /// A source of `from..until`; `None` if the fetch has moved on too far to be joined.
    fn source(&self, from: u64, until: u64) -> Option<Source> {
        match self {
            Self::Stored(object) => Some(match object.body.as_single() {
                Some(bytes) => Source::Once(bytes.slice(from as usize..until as usize)),
                None => Source::Store(object.body.read(from..until)),
            }),
            Self::Flight(streaming) => streaming.window.reader(from, until).map(Source::Flight),
        }
    }
}

/// Answers `asked` from `content`: whole, in part, or not at all (304, 416), as the request's
/// conditions and ranges say. `None` if a fetch cannot be joined any more.
pub(super) fn from_content(
    core: &Core,
    asked: Asked<'_>,
    content: &Content<'_>,
    status: &CacheStatus<'_>,
    outcome: Outcome,
    resume: impl FnOnce() -> Option<Arc<dyn Resume>>,
) -> Option<Response<Body>> {
    let meta = Arc::clone(content.meta());
    let mut headers = meta.headers.clone();
    let age_s = fresh::current_age_s(&meta, asked.now);
    headers.insert(header::AGE, HeaderValue::from(age_s));
    finish_headers(core, &mut headers, status);
    if conditional::evaluate(asked.headers, &meta) == conditional::Outcome::NotModified {
        return Some(bodiless(StatusCode::NOT_MODIFIED, headers, outcome));
    }
    let len = content.body_bytes();
    let wanted = match len {
        Some(len) if *asked.method == Method::GET => range::evaluate(asked.headers, &meta, len),
        _ => RangeOutcome::Full,
    };
    let (code, from, until) = match wanted {
        RangeOutcome::Full => (meta.status, 0, len),
        RangeOutcome::Partial(part) => {
            range::partial_headers(&mut headers, &part, len.unwrap_or(part.end));
            (StatusCode::PARTIAL_CONTENT, part.start, Some(part.end))
        }
        RangeOutcome::Unsatisfiable => {
            range::unsatisfiable_headers(&mut headers, len.unwrap_or(0));
            return Some(bodiless(
                StatusCode::RANGE_NOT_SATISFIABLE,
                headers,
                outcome,
            ));
        }
    };
    if let Some(until) = until {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(until - from));
    }
    let body = if *asked.method == Method::HEAD {
        Body::empty(outcome)
    } else {
        let source = content.source(from, until.unwrap_or(u64::MAX))?;
        let body = Body::new(source, from, until, outcome);
        match resume() {
            Some(resume) => body.or_resume(resume),
            None => body,
        }
    };
    Some(assemble(code, headers, body))
}

/// `Cache-Status`, and nothing that was meant for caches alone.
pub(super) fn finish_headers(core: &Core, headers: &mut HeaderMap, status: &CacheStatus<'_>) {
    status.append_to(headers, &core.policy.name);
}

fn bodiless(code: StatusCode, mut headers: HeaderMap, outcome: Outcome) -> Response<Body> {
    if code == StatusCode::NOT_MODIFIED {
        // RFC 9110 §15.4.5: what describes the body that is not sent stays away.
        for name in [
            header::CONTENT_LENGTH,
            header::CONTENT_TYPE,
            header::CONTENT_ENCODING,
        ] {
            headers.remove(name);
        }
    } else {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(0));
    }
    assemble(code, headers, Body::empty(outcome))
}

fn assemble(code: StatusCode, headers: HeaderMap, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    *response.headers_mut() = headers;
    response
}

/// An answer of larder's own: a status and a sentence.
pub(super) fn own(
    core: &Core,
    code: StatusCode,
    sentence: &str,
    status: &CacheStatus<'_>,
    decision: Decision,
) -> Response<Body> {
    let text = Bytes::from(format!("{sentence}\n"));
    let mut headers = HeaderMap::new();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(text.len()));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    finish_headers(core, &mut headers, status);
    assemble(
        code,
        headers,
        Body::once(text, Outcome::new(decision, From::None)),
    )
}
