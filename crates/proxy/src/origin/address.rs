//! Where an origin is: `http://host[:port]`, and nothing else.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use http::HeaderValue;
use thiserror::Error;
use url::{Host, Url};

const HTTP_PORT: u16 = 80;

/// An origin's host and port.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OriginAddress {
    host: OriginHost,
    port: u16,
    authority: HeaderValue,
}

/// A name to be looked up, or an address.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum OriginHost {
    Name(Box<str>),
    Ip(IpAddr),
}

/// Why a text is no origin.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OriginAddressError {
    /// No URL at all.
    #[error("`{url}` is not a URL: {source}")]
    Syntax {
        /// The text.
        url: String,
        /// What is wrong with it.
        source: url::ParseError,
    },
    /// TLS towards origins is not there.
    #[error("`{url}`: https origins are not supported; use http, or a TLS tunnel beside larder")]
    Https {
        /// The text.
        url: String,
    },
    /// Another scheme.
    #[error("`{url}`: an origin is http://host[:port], not {scheme}")]
    Scheme {
        /// The text.
        url: String,
        /// Its scheme.
        scheme: String,
    },
    /// Something that an origin's address cannot have.
    #[error("`{url}`: an origin is http://host[:port], without {extra}")]
    Extra {
        /// The text.
        url: String,
        /// The part too many.
        extra: &'static str,
    },
}

impl OriginAddress {
    /// `host[:port]`, as the `Host` field says it.
    pub const fn authority(&self) -> &HeaderValue {
        &self.authority
    }

    pub(super) const fn host(&self) -> &OriginHost {
        &self.host
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }
}

impl FromStr for OriginAddress {
    type Err = OriginAddressError;

    fn from_str(text: &str) -> Result<Self, OriginAddressError> {
        let named = || text.to_owned();
        let syntax = |source| OriginAddressError::Syntax {
            url: named(),
            source,
        };
        let url = Url::parse(text).map_err(syntax)?;
        match url.scheme() {
            "http" => {}
            "https" => return Err(OriginAddressError::Https { url: named() }),
            scheme => {
                return Err(OriginAddressError::Scheme {
                    url: named(),
                    scheme: scheme.to_owned(),
                });
            }
        }
        if let Some(extra) = extra(&url) {
            return Err(OriginAddressError::Extra {
                url: named(),
                extra,
            });
        }
        let host = url
            .host()
            .ok_or_else(|| syntax(url::ParseError::EmptyHost))?;
        let authority = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_string(),
        };
        let authority = HeaderValue::from_str(&authority)
            .map_err(|_| syntax(url::ParseError::InvalidDomainCharacter))?;
        let host = match host {
            Host::Domain(name) => OriginHost::Name(name.into()),
            Host::Ipv4(ip) => OriginHost::Ip(ip.into()),
            Host::Ipv6(ip) => OriginHost::Ip(ip.into()),
        };
        Ok(Self {
            host,
            port: url.port().unwrap_or(HTTP_PORT),
            authority,
        })
    }
}

fn extra(url: &Url) -> Option<&'static str> {
    if !url.username().is_empty() || url.password().is_some() {
        Some("a user or password")
    } else if !matches!(url.path(), "" | "/") {
        Some("a path")
    } else if url.query().is_some() {
        Some("a query")
    } else if url.fragment().is_some() {
        Some("a fragment")
    } else {
        None
    }
}

impl fmt::Display for OriginAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            OriginHost::Name(name) => write!(f, "http://{name}:{}", self.port),
            OriginHost::Ip(IpAddr::V4(ip)) => write!(f, "http://{ip}:{}", self.port),
            OriginHost::Ip(IpAddr::V6(ip)) => write!(f, "http://[{ip}]:{}", self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_and_port() {
        for (text, authority, shown) in [
            ("http://a.example", "a.example", "http://a.example:80"),
            ("http://a.example:80/", "a.example", "http://a.example:80"),
            (
                "HTTP://A.Example:8080",
                "a.example:8080",
                "http://a.example:8080",
            ),
            ("http://10.0.0.1:81", "10.0.0.1:81", "http://10.0.0.1:81"),
            ("http://[::1]:81", "[::1]:81", "http://[::1]:81"),
        ] {
            let address: OriginAddress = text.parse().unwrap();
            assert_eq!(address.authority(), authority);
            assert_eq!(address.to_string(), shown);
        }
    }

    #[test]
    fn everything_else_is_refused_with_the_reason() {
        for (text, reason) in [
            ("a.example:80", "not a.example"),
            ("10.0.0.1:80", "not a URL"),
            ("https://a", "https origins"),
            ("ftp://a", "not ftp"),
            ("http://", "not a URL"),
            ("http://u@a", "without a user"),
            ("http://a/b", "without a path"),
            ("http://a?b", "without a query"),
            ("http://a#b", "without a fragment"),
            ("http://a:99999", "not a URL"),
        ] {
            let error = text.parse::<OriginAddress>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
