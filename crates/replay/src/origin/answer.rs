//! What is the answer to a request? Pure: request parts in, a plan out.

use std::{fmt, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};

use crate::Content;

use super::{
    options::{EtagKind, OPTIONS_HELP, Options, SIZE_BYTES_MAX},
    range::Wanted,
    validators::Validators,
};

/// How long an object of `/s/` is fresh: a day.
const SIZED_MAX_AGE_S: u64 = 86_400;

/// What to send, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The kind of path that was asked for.
    pub kind: PathKind,
    /// Status of the answer.
    pub status: StatusCode,
    /// All fields but those that the connection adds (`Date`, `Transfer-Encoding`).
    pub headers: HeaderMap,
    /// The body.
    pub payload: Payload,
    /// When to send it, and whether to the end.
    pub pacing: Pacing,
}

/// The kinds of path that the origin knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// `/s/<size>/<id>`
    Sized,
    /// `/object/<id>`
    Object,
    /// Anything else.
    Unknown,
}

/// A body that has not been made yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// These bytes, perhaps none.
    Text(Bytes),
    /// `len_bytes` of an object, from `offset` on.
    Content {
        /// Whose bytes.
        content: Content,
        /// The first one's place in the object.
        offset: u64,
        /// How many.
        len_bytes: u64,
    },
}

/// Delays and the end of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Pacing {
    /// Wait before the headers.
    pub delay: Duration,
    /// Wait after the first half of the body.
    pub body_delay: Duration,
    /// What follows the first half of the body.
    pub ending: Ending,
}

/// What follows the first half of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ending {
    /// The second half.
    #[default]
    Whole,
    /// Nothing, until the client goes.
    Hang,
    /// The end of the connection.
    Fail,
}

/// The parts of an object's answer that do not depend on the condition or the range.
struct Object {
    content: Content,
    validators: Validators,
    headers: HeaderMap,
}

/// Plans the answer to a request.
pub fn answer(method: &Method, uri: &Uri, headers: &HeaderMap) -> Plan {
    let path = uri.path();
    if let Some(rest) = path.strip_prefix("/s/") {
        sized(method, path, rest, headers)
    } else if path
        .strip_prefix("/object/")
        .is_some_and(|id| !id.is_empty())
    {
        object(method, path, uri.query().unwrap_or_default(), headers)
    } else {
        let known = "not found: try /s/<size>/<id> or /object/<id>?size=N\n";
        Plan::text(PathKind::Unknown, StatusCode::NOT_FOUND, known)
    }
}

fn sized(method: &Method, path: &str, rest: &str, headers: &HeaderMap) -> Plan {
    let size = rest.split_once('/').filter(|(_, id)| !id.is_empty());
    let size = size.and_then(|(size, _)| size.parse().ok());
    let Some(size_bytes) = size.filter(|size| *size <= SIZE_BYTES_MAX) else {
        let text = format!("expected /s/<size>/<id> with a size of at most {SIZE_BYTES_MAX}\n");
        return Plan::text(PathKind::Sized, StatusCode::BAD_REQUEST, text);
    };
    if !is_read(method) {
        return method_not_allowed(PathKind::Sized, "GET, HEAD");
    }
    let options = Options {
        size_bytes,
        max_age_s: Some(SIZED_MAX_AGE_S),
        ..Options::default()
    };
    let object = Object::new(path, &options, headers);
    object.plan(PathKind::Sized, method, headers, &options)
}

fn object(method: &Method, path: &str, query: &str, headers: &HeaderMap) -> Plan {
    let options = match Options::parse(query) {
        Ok(options) => options,
        Err(error) => {
            let text = format!("{error}; the options are:\n{OPTIONS_HELP}");
            return Plan::text(PathKind::Object, StatusCode::BAD_REQUEST, text);
        }
    };
    if method == Method::POST {
        let mut plan = Plan::text(PathKind::Object, options.status, "");
        plan.pacing.delay = options.delay;
        return plan;
    }
    if !is_read(method) {
        return method_not_allowed(PathKind::Object, "GET, HEAD, POST");
    }
    let object = Object::new(path, &options, headers);
    object.plan(PathKind::Object, method, headers, &options)
}

fn is_read(method: &Method) -> bool {
    method == Method::GET || method == Method::HEAD
}

fn method_not_allowed(kind: PathKind, allowed: &'static str) -> Plan {
    let text = format!("method not allowed: {allowed}\n");
    let mut plan = Plan::text(kind, StatusCode::METHOD_NOT_ALLOWED, text);
    plan.headers
        .insert(header::ALLOW, HeaderValue::from_static(allowed));
    plan
}

impl Object {
    fn new(path: &str, options: &Options, request: &HeaderMap) -> Self {
        let content = Content::new(&variant_name(path, &options.vary, request), options.version);
        let etag = if options.status == StatusCode::OK {
            options.etag
        } else {
            EtagKind::None
        };
        let dated = options.status == StatusCode::OK && options.last_modified;
        let (size_bytes, version) = (options.size_bytes, options.version);
        let validators = Validators::new(&content, size_bytes, version, etag, dated);
        let mut headers = HeaderMap::new();
        put(&mut headers, header::CACHE_CONTROL, options.cache_control());
        for (name, value) in validators.fields() {
            put(&mut headers, name, Some(value));
        }
        put_options(&mut headers, options);
        Self {
            content,
            validators,
            headers,
        }
    }

    fn plan(self, kind: PathKind, method: &Method, request: &HeaderMap, options: &Options) -> Plan {
        let mut plan = self.resolve(kind, method, request, options);
        plan.pacing = Pacing {
            delay: options.delay,
            body_delay: options.body_delay,
            ending: options.ending,
        };
        let bodiless = matches!(plan.status.as_u16(), 204 | 205 | 304);
        if !options.chunked && !bodiless {
            put(
                &mut plan.headers,
                header::CONTENT_LENGTH,
                Some(plan.payload.len_bytes()),
            );
        }
        if bodiless || method == Method::HEAD {
            plan.payload = Payload::default();
        }
        plan
    }

    /// Status, fields and bytes, by condition and range.
    fn resolve(
        self,
        kind: PathKind,
        method: &Method,
        request: &HeaderMap,
        options: &Options,
    ) -> Plan {
        let whole = Wanted::Whole;
        let wanted = match options.status {
            StatusCode::OK if self.validators.not_modified(request) => {
                return self.part(kind, StatusCode::NOT_MODIFIED, 0, 0);
            }
            // RFC 9110 section 14.2: a range is a matter of GET alone.
            StatusCode::OK if method == Method::GET && self.validators.range_applies(request) => {
                Wanted::read(request, options.size_bytes)
            }
            _ => whole,
        };
        let size_bytes = options.size_bytes;
        match wanted {
            Wanted::Whole => self.part(kind, options.status, 0, size_bytes),
            Wanted::Part { first, last } => {
                let status = StatusCode::PARTIAL_CONTENT;
                let mut plan = self.part(kind, status, first, last - first + 1);
                let range = format!("bytes {first}-{last}/{size_bytes}");
                put(&mut plan.headers, header::CONTENT_RANGE, Some(range));
                plan
            }
            Wanted::Unsatisfiable => {
                let mut plan = Plan::text(kind, StatusCode::RANGE_NOT_SATISFIABLE, "");
                let range = format!("bytes */{size_bytes}");
                put(&mut plan.headers, header::CONTENT_RANGE, Some(range));
                plan
            }
        }
    }

    fn part(self, kind: PathKind, status: StatusCode, offset: u64, len_bytes: u64) -> Plan {
        let content = self.content;
        let mut headers = self.headers;
        if status != StatusCode::NOT_MODIFIED {
            let octets = HeaderValue::from_static("application/octet-stream");
            headers.insert(header::CONTENT_TYPE, octets);
            headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        }
        Plan {
            kind,
            status,
            headers,
            payload: Payload::Content {
                content,
                offset,
                len_bytes,
            },
            pacing: Pacing::default(),
        }
    }
}

impl Plan {
    fn text(kind: PathKind, status: StatusCode, text: impl Into<Bytes>) -> Self {
        let text = text.into();
        let mut headers = HeaderMap::new();
        put(&mut headers, header::CONTENT_LENGTH, Some(text.len()));
        if !text.is_empty() {
            let plain = HeaderValue::from_static("text/plain; charset=utf-8");
            headers.insert(header::CONTENT_TYPE, plain);
        }
        Self {
            kind,
            status,
            headers,
            payload: Payload::Text(text),
            pacing: Pacing::default(),
        }
    }
}

impl Payload {
    /// Bytes of the body.
    pub fn len_bytes(&self) -> u64 {
        match self {
            Self::Text(text) => text.len() as u64,
            Self::Content { len_bytes, .. } => *len_bytes,
        }
    }
}

impl Default for Payload {
    fn default() -> Self {
        Self::Text(Bytes::new())
    }
}

/// The name whose content a variant has.
fn variant_name(path: &str, vary: &[HeaderName], request: &HeaderMap) -> String {
    let mut name = path.to_owned();
    for field in vary {
        let value = request.get(field).and_then(|value| value.to_str().ok());
        name.extend(["\n", field.as_str(), ":", value.unwrap_or_default()]);
    }
    name
}

fn put_options(headers: &mut HeaderMap, options: &Options) {
    let joined =
        |list: &[String], separator: &str| (!list.is_empty()).then(|| list.join(separator));
    let vary: Vec<String> = options.vary.iter().map(ToString::to_string).collect();
    put(headers, header::VARY, joined(&vary, ", "));
    put(
        headers,
        HeaderName::from_static("surrogate-key"),
        joined(&options.tags, " "),
    );
    put(
        headers,
        HeaderName::from_static("cache-tag"),
        joined(&options.tags, ","),
    );
    put(
        headers,
        header::SET_COOKIE,
        options.set_cookie.then_some("session=1; Path=/"),
    );
}

/// Inserts the field if there is a value. What no field may hold was refused with the options.
fn put(headers: &mut HeaderMap, name: HeaderName, value: Option<impl fmt::Display>) {
    let value = value.and_then(|value| HeaderValue::try_from(value.to_string()).ok());
    if let Some(value) = value {
        headers.insert(name, value);
    }
}
