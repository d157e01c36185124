//! Which resource does a request ask for? (RFC 9110 §7.1, RFC 9112 §3.2, RFC 9113 §8.3.1)
//!
//! Path and query stay byte for byte: what two origins make of `%2F`, `..` or `//` differs, and a
//! cache that decides for them answers with the wrong object.

use http::header::HOST;
use http::uri::{Authority, PathAndQuery};
use http::{HeaderMap, Method, StatusCode, Uri, Version};

/// Longest path and query, in bytes. RFC 9110 §4.1 asks for 8000 at least.
pub const TARGET_BYTES_MAX: usize = 16 << 10;

/// Longest authority, in bytes: a DNS name has 253, a port 6 with its colon.
pub const AUTHORITY_BYTES_MAX: usize = 259;

/// What a request is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// How the client reached this server.
    pub scheme: Scheme,
    /// Host in lower case, and the port unless it is the scheme's default.
    pub authority: String,
    /// As it was sent; `*` for `OPTIONS *`; `/` where an absolute form has none.
    pub path_and_query: PathAndQuery,
}

/// The scheme of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Without TLS.
    Http,
    /// With TLS.
    Https,
}

/// Why a request is refused before anything else happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BadRequest {
    /// CONNECT: this is no forward proxy.
    Connect,
    /// TRACE: it would show what proxies add to requests.
    Trace,
    /// No Host and no authority.
    HostMissing,
    /// More than one Host, even of the same value.
    HostRepeated,
    /// Host is no host with an optional port.
    HostInvalid,
    /// Host is not the authority of the request target.
    HostMismatch,
    /// The authority names a user.
    Userinfo,
    /// The target is not a path, or `*` without OPTIONS, or of a scheme that is not HTTP.
    TargetInvalid,
    /// The target has a byte that no URI has.
    TargetCharacter,
    /// The target is longer than [`TARGET_BYTES_MAX`].
    TargetTooLong,
}

impl Scheme {
    /// `http` or `https`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port that goes without saying.
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl BadRequest {
    /// Every reason, in the order of the documentation.
    pub const ALL: [Self; 10] = [
        Self::Connect,
        Self::Trace,
        Self::HostMissing,
        Self::HostRepeated,
        Self::HostInvalid,
        Self::HostMismatch,
        Self::Userinfo,
        Self::TargetInvalid,
        Self::TargetCharacter,
        Self::TargetTooLong,
    ];

    /// The name in the log, the metric and the `detail` of Cache-Status.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Trace => "trace",
            Self::HostMissing => "host-missing",
            Self::HostRepeated => "host-repeated",
            Self::HostInvalid => "host-invalid",
            Self::HostMismatch => "host-mismatch",
            Self::Userinfo => "userinfo",
            Self::TargetInvalid => "target-invalid",
            Self::TargetCharacter => "target-character",
            Self::TargetTooLong => "target-too-long",
        }
    }

    /// The status to answer with.
    pub const fn status(self) -> StatusCode {
        match self {
            // Not 405, which would have to list what the resource allows (RFC 9110 §15.5.6).
            Self::Connect | Self::Trace => StatusCode::NOT_IMPLEMENTED,
            Self::TargetTooLong => StatusCode::URI_TOO_LONG,
            _ => StatusCode::BAD_REQUEST,
        }
    }
}

/// The target of a request that came over `scheme`.
///
/// HTTP/1.1 needs exactly one Host. HTTP/2 may send an authority instead; whoever sends both must
/// send the same (RFC 9113 §8.3.1). HTTP/1.0 without Host is refused, too: there is no resource
/// to find without one.
pub fn normalize(
    method: &Method,
    uri: &Uri,
    version: Version,
    headers: &HeaderMap,
    scheme: Scheme,
) -> Result<Target, BadRequest> {
    match *method {
        Method::CONNECT => return Err(BadRequest::Connect),
        Method::TRACE => return Err(BadRequest::Trace),
        _ => {}
    }
    check_scheme(uri)?;
    let host = host(headers, scheme)?;
    let written = uri
        .authority()
        .map(|authority| authority_of(authority, scheme))
        .transpose()?;
    let authority = match (written, host) {
        (Some(written), Some(host)) if written != host => return Err(BadRequest::HostMismatch),
        (Some(_), None) if version <= Version::HTTP_11 => return Err(BadRequest::HostMissing),
        (Some(authority), _) | (None, Some(authority)) => authority,
        (None, None) => return Err(BadRequest::HostMissing),
    };
    Ok(Target {
        scheme,
        authority,
        path_and_query: path_and_query(method, uri)?,
    })
}

/// An absolute form may name either scheme: TLS may have ended in front of this server.
fn check_scheme(uri: &Uri) -> Result<(), BadRequest> {
    match uri.scheme_str() {
        None | Some("http" | "https") => Ok(()),
        Some(_) => Err(BadRequest::TargetInvalid),
    }
}

fn host(headers: &HeaderMap, scheme: Scheme) -> Result<Option<String>, BadRequest> {
    let mut lines = headers.get_all(HOST).iter();
    let Some(line) = lines.next() else {
        return Ok(None);
    };
    if lines.next().is_some() {
        return Err(BadRequest::HostRepeated);
    }
    parse_authority(line.as_bytes(), scheme).map(Some)
}

fn authority_of(authority: &Authority, scheme: Scheme) -> Result<String, BadRequest> {
    parse_authority(authority.as_str().as_bytes(), scheme)
}

/// `host[:port]` in lower case, without the default port (RFC 9110 §4.2.3).
pub(crate) fn parse_authority(text: &[u8], scheme: Scheme) -> Result<String, BadRequest> {
    if text.contains(&b'@') {
        return Err(BadRequest::Userinfo);
    }
    let text = std::str::from_utf8(text).map_err(|_| BadRequest::HostInvalid)?;
    let (host, port) = split_port(text).ok_or(BadRequest::HostInvalid)?;
    if text.len() > AUTHORITY_BYTES_MAX || !is_host(host) {
        return Err(BadRequest::HostInvalid);
    }
    let mut authority = host.to_ascii_lowercase();
    // RFC 3986 §3.2.3: an empty port is the default one.
    if !port.is_empty() {
        let number = parse_port(port).ok_or(BadRequest::HostInvalid)?;
        if number != scheme.default_port() {
            authority.push(':');
            authority.push_str(&number.to_string());
        }
    }
    Ok(authority)
}

/// Host and port text; the colons of an IPv6 literal stand in brackets.
fn split_port(text: &str) -> Option<(&str, &str)> {
    let host_end = if text.starts_with('[') {
        text.find(']')? + 1
    } else {
        text.find(':').unwrap_or(text.len())
    };
    let (host, rest) = text.split_at_checked(host_end)?;
    if rest.is_empty() {
        Some((host, ""))
    } else {
        Some((host, rest.strip_prefix(':')?))
    }
}

fn parse_port(digits: &str) -> Option<u16> {
    // `parse` would take a sign, too.
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| digits.parse().ok())
        .flatten()
}

/// A DNS name or an address. RFC 3986 allows more in a `reg-name`; nothing that is served does,
/// and a comma or a percent sign in a Host is somebody's attempt.
fn is_host(host: &str) -> bool {
    if let Some(address) = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        return address.parse::<std::net::Ipv6Addr>().is_ok();
    }
    !host.is_empty()
        && host
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~'))
}

fn path_and_query(method: &Method, uri: &Uri) -> Result<PathAndQuery, BadRequest> {
    let Some(written) = uri.path_and_query() else {
        return Err(BadRequest::TargetInvalid);
    };
    let text = written.as_str();
    if text.len() > TARGET_BYTES_MAX {
        return Err(BadRequest::TargetTooLong);
    }
    if !text.bytes().all(is_target_byte) {
        return Err(BadRequest::TargetCharacter);
    }
    match text.as_bytes().first() {
        Some(b'/') => Ok(written.clone()),
        Some(b'*') if text == "*" && method == Method::OPTIONS => Ok(written.clone()),
        // RFC 9110 §4.2.3: an empty path is "/"; here before a query.
        Some(b'?') => {
            PathAndQuery::try_from(format!("/{text}")).map_err(|_| BadRequest::TargetInvalid)
        }
        _ => Err(BadRequest::TargetInvalid),
    }
}

/// Visible ASCII without `"`, `#`, `<`, `>` and `\`. RFC 3986 also excludes `^`, `` ` ``, `{`, `|`
/// and `}`, but clients send them, and origins serve them.
pub(crate) fn is_target_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'#' | b'<' | b'>' | b'\\')
}
