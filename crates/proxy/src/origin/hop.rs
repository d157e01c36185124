//! Fields that are for one connection only (RFC 9110 §7.6.1).

use http::header::{self, HeaderMap, HeaderName};

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");
const HTTP2_SETTINGS: HeaderName = HeaderName::from_static("http2-settings");

/// Fields that end here whether `Connection` names them or not.
const HOP_BY_HOP: [HeaderName; 9] = [
    header::CONNECTION,
    HTTP2_SETTINGS,
    KEEP_ALIVE,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    PROXY_CONNECTION,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Fields that `Connection` cannot take away: they are for all recipients, and a client that names
/// them is after what the origin does without them (CVE-2022-31813).
const END_TO_END: [HeaderName; 6] = [
    header::AUTHORIZATION,
    header::CACHE_CONTROL,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::COOKIE,
    header::HOST,
];

/// Removes the fields of this connection, and those that its `Connection` names.
///
/// To be called on what a client sent *before* fields are added for the origin: else the client
/// could have them removed.
pub fn strip_hop_by_hop(fields: &mut HeaderMap) {
    let named: Vec<HeaderName> = fields
        .get_all(header::CONNECTION)
        .iter()
        .flat_map(|value| value.as_bytes().split(|&byte| byte == b','))
        .filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok())
        .filter(|name| !END_TO_END.contains(name))
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        fields.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let line = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), value.parse().unwrap())
        };
        lines.iter().map(line).collect()
    }

    #[test]
    fn what_belongs_to_one_connection_ends_there() {
        let mut stripped = fields(&[
            ("connection", "close, X-Mine,, bad name"),
            ("connection", "x-other"),
            ("x-mine", "1"),
            ("x-other", "2"),
            ("keep-alive", "timeout=5"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "websocket"),
            ("proxy-authorization", "Basic x"),
            ("accept", "*/*"),
        ]);
        strip_hop_by_hop(&mut stripped);
        assert_eq!(stripped, fields(&[("accept", "*/*")]));
    }

    #[test]
    fn what_is_for_everybody_stays() {
        let kept = [("host", "a"), ("authorization", "x"), ("cookie", "y")];
        let mut stripped = fields(&kept);
        stripped.insert(
            header::CONNECTION,
            "Host, Authorization, Cookie".parse().unwrap(),
        );
        strip_hop_by_hop(&mut stripped);
        assert_eq!(stripped, fields(&kept));
    }
}
