//! Has this request been here before? (RFC 9110 §7.6.3, RFC 8586)

use http::header::VIA;
use http::{HeaderMap, HeaderName, StatusCode, Version};

use super::lists::{Escapes, quoted_members, tokens, trim};
use super::pseudonym::Pseudonym;

/// Proxies that a request may have passed. More is a loop through servers that hide themselves.
pub const HOPS_MAX: usize = 20;

const CDN_LOOP: HeaderName = HeaderName::from_static("cdn-loop");

/// How a loop shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Loop {
    /// Via names this server.
    Via,
    /// CDN-Loop names this server.
    CdnLoop,
    /// More than [`HOPS_MAX`] hops.
    Hops,
}

impl Loop {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 3] = [Self::Via, Self::CdnLoop, Self::Hops];

    /// The name in the log, the metric and the `detail` of Cache-Status.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Via => "via-loop",
            Self::CdnLoop => "cdn-loop",
            Self::Hops => "too-many-hops",
        }
    }

    /// 508 Loop Detected.
    pub const fn status(self) -> StatusCode {
        StatusCode::LOOP_DETECTED
    }
}

/// Looks for this server among those that a request has passed.
pub fn check(req_headers: &HeaderMap, own: &Pseudonym) -> Result<(), Loop> {
    let mut via_hops = 0;
    for line in req_headers.get_all(VIA) {
        for hop in quoted_members(line.as_bytes(), Escapes::Backslash) {
            if received_by(hop).is_some_and(|name| is_own(name, own)) {
                return Err(Loop::Via);
            }
            via_hops += 1;
        }
    }
    let mut cdn_hops = 0;
    for hop in tokens(req_headers, CDN_LOOP) {
        let id = trim(hop.split(|&byte| byte == b';').next().unwrap_or_default());
        if is_own(id, own) {
            return Err(Loop::CdnLoop);
        }
        cdn_hops += 1;
    }
    if via_hops.max(cdn_hops) > HOPS_MAX {
        Err(Loop::Hops)
    } else {
        Ok(())
    }
}

/// Adds this server to a request that goes to the origin: Via and CDN-Loop.
pub fn append_to_request(headers: &mut HeaderMap, received: Version, own: &Pseudonym) {
    headers.append(VIA, own.via(received).clone());
    headers.append(CDN_LOOP, own.cdn_loop().clone());
}

/// Adds this server to a response that goes to the client: Via.
pub fn append_to_response(headers: &mut HeaderMap, received: Version, own: &Pseudonym) {
    headers.append(VIA, own.via(received).clone());
}

/// The second word of `[protocol/]version received-by [comment]`.
fn received_by(hop: &[u8]) -> Option<&[u8]> {
    hop.split(|byte| byte.is_ascii_whitespace())
        .filter(|word| !word.is_empty())
        .nth(1)
}

/// Pseudonyms may be host names, so letters match in any case.
fn is_own(name: &[u8], own: &Pseudonym) -> bool {
    name.eq_ignore_ascii_case(own.as_str().as_bytes())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn verdict(name: &'static str, lines: &[&str]) -> Result<(), Loop> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(name, HeaderValue::from_str(line).unwrap());
        }
        check(&headers, &Pseudonym::new("larder").unwrap())
    }

    #[test]
    fn own_name_in_via() {
        let table: &[(&[&str], bool)] = &[
            (&[], false),
            (&["1.1 fred"], false),
            (&["1.1 larder"], true),
            (&["1.0 fred, 1.1 Larder (0.1)"], true),
            (&["1.0 fred", "HTTP/2.0 larder"], true),
            (&["1.1  larder"], true),
            (&["1.1 larder.example"], false),
            (&["1.1 fred (via larder, of course)"], false),
            (&["larder"], false),
            (&[","], false),
        ];
        for (lines, is_loop) in table {
            let expected = if *is_loop { Err(Loop::Via) } else { Ok(()) };
            assert_eq!(verdict("via", lines), expected, "{lines:?}");
        }
    }

    #[test]
    fn own_name_in_cdn_loop() {
        let table: &[(&[&str], bool)] = &[
            (&["fred"], false),
            (&["fred; foo=bar, LARDER"], true),
            (&["larder; v=1"], true),
            (&["fred", "larder"], true),
            (&["larder.example"], false),
            (&["fred;larder"], false),
        ];
        for (lines, is_loop) in table {
            let expected = if *is_loop { Err(Loop::CdnLoop) } else { Ok(()) };
            assert_eq!(verdict("cdn-loop", lines), expected, "{lines:?}");
        }
    }

    #[test]
    fn hops_are_bounded() {
        let hops = |count| vec!["1.1 fred"; count].join(", ");
        assert_eq!(verdict("via", &[&hops(HOPS_MAX)]), Ok(()));
        assert_eq!(verdict("via", &[&hops(HOPS_MAX), "1.1 x"]), Err(Loop::Hops));
        assert_eq!(
            verdict("cdn-loop", &[&vec!["x"; HOPS_MAX + 1].join(",")]),
            Err(Loop::Hops)
        );
    }

    #[test]
    fn what_is_appended_is_found() {
        let own = Pseudonym::new("larder").unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(VIA, HeaderValue::from_static("1.0 fred"));
        append_to_request(&mut headers, Version::HTTP_2, &own);
        let lines: Vec<_> = headers.get_all(VIA).iter().collect();
        assert_eq!(lines, ["1.0 fred", "2.0 larder"]);
        assert_eq!(check(&headers, &own), Err(Loop::Via));
        headers.remove(VIA);
        assert_eq!(check(&headers, &own), Err(Loop::CdnLoop));
        let mut response = HeaderMap::new();
        append_to_response(&mut response, Version::HTTP_11, &own);
        assert_eq!(response.len(), 1);
    }
}
