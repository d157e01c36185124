//! Where do requests go? A URL, checked once.

use bytes::Bytes;
use http::{HeaderValue, Request, Uri, header};
use http_body_util::Empty;
use url::{Host, Position, Url};

/// A server, and the path below which to ask.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// A name, or an address without brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// The value of `Host`.
    authority: HeaderValue,
    /// Path and query, as given.
    base: String,
}

/// Why a URL cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a URL as in http://127.0.0.1:8080, found {found:?}: {reason}")]
pub struct TargetError {
    /// What was given.
    pub found: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Target {
    /// A page to ask for, with [`request`](Self::request)`("")`.
    pub(super) fn page(text: &str) -> Result<Self, TargetError> {
        Self::check(text).map_err(|reason| TargetError {
            found: text.to_owned(),
            reason,
        })
    }

    /// A place below which objects are: no query, and no slash at its end.
    pub(super) fn root(text: &str) -> Result<Self, TargetError> {
        let mut target = Self::page(text)?;
        if target.base.contains('?') {
            return Err(TargetError {
                found: text.to_owned(),
                reason: "a query cannot have paths below it".to_owned(),
            });
        }
        target
            .base
            .truncate(target.base.trim_end_matches('/').len());
        Ok(target)
    }

    fn check(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|error| error.to_string())?;
        if url.scheme() != "http" {
            return Err(format!("the scheme is {}, not http", url.scheme()));
        }
        let host = match url.host() {
            Some(Host::Domain(name)) => name.to_owned(),
            Some(Host::Ipv4(address)) => address.to_string(),
            Some(Host::Ipv6(address)) => address.to_string(),
            None => return Err("no host".to_owned()),
        };
        let authority = &url[Position::BeforeHost..Position::AfterPort];
        let authority = HeaderValue::from_str(authority).map_err(|error| error.to_string())?;
        let base = url[Position::BeforePath..Position::AfterQuery].to_owned();
        // The longest path that will be appended: what parses with it parses with any other.
        let longest = format!("{base}/s/{}/{}", u64::MAX, u64::MAX);
        longest.parse::<Uri>().map_err(|error| error.to_string())?;
        Ok(Self {
            host,
            port: url.port_or_known_default().unwrap_or(80),
            authority,
            base,
        })
    }

    /// A GET of `path`, an object's path or nothing, below the target.
    pub(super) fn request(&self, path: &str) -> Request<Empty<Bytes>> {
        Request::get(format!("{}{path}", self.base))
            .header(header::HOST, &self.authority)
            .body(Empty::new())
            .expect("invariant: the base was checked with the longest path after it")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_that_can_be_asked() {
        let cases = [
            (
                "http://127.0.0.1:8080",
                "127.0.0.1",
                8080,
                "127.0.0.1:8080",
                "/s/1/2",
            ),
            ("http://[::1]:81/", "::1", 81, "[::1]:81", "/s/1/2"),
            (
                "http://edge.example/a/b/",
                "edge.example",
                80,
                "edge.example",
                "/a/b/s/1/2",
            ),
        ];
        for (url, host, port, authority, path) in cases {
            let target = Target::root(url).unwrap();
            let request = target.request("/s/1/2");
            assert_eq!((target.host.as_str(), target.port), (host, port), "{url}");
            assert_eq!(request.headers()[header::HOST], authority, "{url}");
            assert_eq!(request.uri(), path, "{url}");
        }
        let page = Target::page("http://h:1/metrics?x=1").unwrap();
        assert_eq!(page.request("").uri(), "/metrics?x=1");
    }

    #[test]
    fn urls_that_cannot() {
        let cases = [
            ("https://h/", "the scheme is https, not http"),
            ("127.0.0.1:8080", "relative URL without a base"),
            ("http://", "empty host"),
            ("http://h/?q", "a query cannot have paths below it"),
        ];
        for (url, reason) in cases {
            let error = Target::root(url).unwrap_err();
            assert_eq!((error.found.as_str(), error.reason.as_str()), (url, reason));
        }
    }
}
