//! Names of hosts that are served: exact, or everything below a domain.

use std::fmt;
use std::str::FromStr;

/// The longest name (RFC 1035 section 2.3.4), and the longest label in it.
const HOST_BYTES_MAX: usize = 253;
const LABEL_BYTES_MAX: usize = 63;

/// A host, or all hosts below one, in lower case and without a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostPattern {
    /// `example.org`, or the literal of an address.
    Exact(String),
    /// `*.example.org`: any number of labels below it, the domain itself not.
    Below(String),
}

impl HostPattern {
    /// Whether `host` (lower case, no port, no trailing dot) is meant.
    pub fn matches(&self, host: &str) -> bool {
        match self {
            Self::Exact(name) => name == host,
            Self::Below(domain) => host
                .strip_suffix(domain.as_str())
                .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.')),
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(name) => f.write_str(name),
            Self::Below(domain) => write!(f, "*.{domain}"),
        }
    }
}

impl FromStr for HostPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.to_ascii_lowercase();
        if let Some(domain) = lower.strip_prefix("*.") {
            check_name(domain).map_err(|why| format!("`{text}` {why}"))?;
            return Ok(Self::Below(domain.to_owned()));
        }
        let literal = lower
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        if literal.is_some_and(|literal| literal.parse::<std::net::Ipv6Addr>().is_ok()) {
            return Ok(Self::Exact(lower));
        }
        check_name(&lower).map_err(|why| format!("`{text}` {why}"))?;
        Ok(Self::Exact(lower))
    }
}

fn check_name(name: &str) -> Result<(), &'static str> {
    if name.contains(':') {
        return Err("has a port or a scheme; ports are not compared");
    }
    if name.contains('/') {
        return Err("has a path");
    }
    // An underscore is no host name's, but served by many.
    let is_label = |label: &str| {
        (1..=LABEL_BYTES_MAX).contains(&label.len())
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    if name.len() > HOST_BYTES_MAX || !name.split('.').all(is_label) {
        return Err("is not a host name");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matches() {
        for (pattern, host, matches) in [
            ("example.org", "example.org", true),
            ("Example.ORG", "example.org", true),
            ("example.org", "www.example.org", false),
            ("*.example.org", "www.example.org", true),
            ("*.example.org", "a.b.example.org", true),
            ("*.example.org", "example.org", false),
            ("*.example.org", ".example.org", false),
            ("*.example.org", "badexample.org", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("[::1]", "[::1]", true),
        ] {
            let parsed: HostPattern = pattern.parse().unwrap();
            assert_eq!(parsed.matches(host), matches, "{pattern} {host}");
            assert_eq!(parsed.to_string(), pattern.to_ascii_lowercase());
        }
    }

    #[test]
    fn what_is_no_host() {
        let long = "a".repeat(64);
        for text in [
            "", "*", "*.", "a..b", "a.", "a b", "http://a", "a:80", "a/b", "ä.de", "[::g]", &long,
        ] {
            assert!(text.parse::<HostPattern>().is_err(), "{text}");
        }
    }
}
