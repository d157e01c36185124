//! `[origin]`: whom larder asks for what it does not have.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use url::{Host, Url};

use super::document::Section;
use super::value;

/// Bounds of every timeout on the origin.
const TIMEOUTS: RangeInclusive<Duration> = Duration::from_millis(10)..=Duration::from_secs(3600);

/// Whom larder asks for what it does not have.
#[derive(Debug, Clone, PartialEq)]
pub struct OriginConfig {
    /// The origin server.
    pub url: Upstream,
    /// Time to open a connection, all addresses of the name included.
    pub connect_timeout: Duration,
    /// Time from the end of the request to the end of the response's head.
    pub response_timeout: Duration,
    /// Longest silence inside a response's body.
    pub idle_timeout: Duration,
    /// Connections to the origin at once.
    pub connections_max: u32,
    /// Longest wait for one of them to become free.
    pub connection_wait: Duration,
    /// How long an idle connection is kept.
    pub keepalive_timeout: Duration,
    /// Which `Host` the origin sees.
    pub host_header: HostHeader,
    /// Bytes of a response's head.
    pub header_bytes_max: u64,
}

/// The origin server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Upstream {
    /// The origin that is built in, on a loopback port of its own: for a first look.
    Demo,
    /// An `http` URL without path, query, fragment or user.
    Url(Url),
}

/// Which `Host` the origin sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostHeader {
    /// The client's.
    Pass,
    /// The origin URL's own.
    Origin,
}

impl HostHeader {
    /// The name in the configuration and in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Origin => "origin",
        }
    }
}

impl Default for OriginConfig {
    fn default() -> Self {
        Self {
            url: Upstream::Demo,
            connect_timeout: Duration::from_secs(5),
            response_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(30),
            connections_max: 256,
            connection_wait: Duration::from_secs(5),
            keepalive_timeout: Duration::from_secs(4),
            host_header: HostHeader::Pass,
            header_bytes_max: 64 << 10,
        }
    }
}

impl OriginConfig {
    pub(super) fn read(section: &mut Section<'_, '_>) -> Self {
        let d = Self::default();
        let timeout = || value::duration(TIMEOUTS);
        let upstream = value::parsed(Upstream::EXPECTED, str::parse::<Upstream>);
        Self {
            url: section.get("url", d.url, upstream),
            connect_timeout: section.get("connect_timeout", d.connect_timeout, timeout()),
            response_timeout: section.get("response_timeout", d.response_timeout, timeout()),
            idle_timeout: section.get("idle_timeout", d.idle_timeout, timeout()),
            connections_max: section.get(
                "connections_max",
                d.connections_max,
                value::integer(1..=65_536),
            ),
            connection_wait: section.get("connection_wait", d.connection_wait, timeout()),
            keepalive_timeout: section.get("keepalive_timeout", d.keepalive_timeout, timeout()),
            host_header: section.get(
                "host_header",
                d.host_header,
                value::choice(&[("pass", HostHeader::Pass), ("origin", HostHeader::Origin)]),
            ),
            header_bytes_max: section.get(
                "header_bytes_max",
                d.header_bytes_max,
                value::size(8 << 10..=1 << 20),
            ),
        }
    }
}

impl Upstream {
    pub(super) const EXPECTED: &'static str = "\"http://host:port\", or \"demo\"";
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Demo => f.write_str("demo"),
            Self::Url(url) => f.write_str(url.as_str()),
        }
    }
}

impl FromStr for Upstream {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "demo" {
            return Ok(Self::Demo);
        }
        let wrong = |why: &str| Err(format!("`{text}` {why}"));
        let url = match Url::parse(text) {
            Ok(url) => url,
            Err(error) => return wrong(&format!("is not a URL: {error}")),
        };
        match url.scheme() {
            "http" => {}
            "https" => return wrong("asks for TLS, which larder does not speak to origins yet"),
            // `localhost:9000` parses as the scheme `localhost`.
            _ if !text.contains("://") => return wrong("has no scheme"),
            scheme => return wrong(&format!("has the scheme {scheme}")),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return wrong("has a user or a password, which larder does not send");
        }
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            return wrong(
                "has more than a host and a port; paths are passed as the client sent them",
            );
        }
        match url.host() {
            Some(Host::Domain("")) | None => wrong("has no host"),
            Some(_) => Ok(Self::Url(url)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins() {
        for text in [
            "demo",
            "http://a/",
            "http://a:9000/",
            "http://[::1]:80/",
            "http://127.0.0.1/",
        ] {
            assert!(text.parse::<Upstream>().is_ok(), "{text}");
        }
        assert_eq!(
            "http://A.example".parse::<Upstream>().unwrap().to_string(),
            "http://a.example/"
        );
    }

    #[test]
    fn no_origins() {
        for (text, part) in [
            ("", "not a URL"),
            ("a.example", "not a URL"),
            ("localhost:9000", "no scheme"),
            ("https://a/", "TLS"),
            ("ftp://a/", "scheme ftp"),
            ("http://", "not a URL"),
            ("http://u:p@a/", "password"),
            ("http://a/base", "more than a host"),
            ("http://a/?q", "more than a host"),
            ("http://a:99999", "not a URL"),
        ] {
            let error = text.parse::<Upstream>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
