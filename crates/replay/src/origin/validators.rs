//! Does a conditional request still name the object? RFC 9110 sections 8.8 and 13.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, header};

use crate::Content;

use super::options::EtagKind;

/// When version 0 of every object was last modified: 2024-01-01 00:00:00 GMT, in seconds.
const EPOCH_S: u64 = 1_704_067_200;

/// Versions with a `Last-Modified` of their own, a second apart. Later ones share the last: only
/// the entity tag tells those apart, and the date stays in the past.
const DATED_VERSIONS_MAX: u64 = 1_000_000;

/// The validators of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Validators {
    etag: Option<String>,
    last_modified: Option<SystemTime>,
}

impl Validators {
    pub(super) fn new(
        content: &Content,
        size_bytes: u64,
        version: u64,
        etag: EtagKind,
        dated: bool,
    ) -> Self {
        let opaque = format!("\"{:016x}-{size_bytes:x}\"", content.seed());
        let age_s = EPOCH_S + version.min(DATED_VERSIONS_MAX);
        Self {
            etag: match etag {
                EtagKind::Strong => Some(opaque),
                EtagKind::Weak => Some(format!("W/{opaque}")),
                EtagKind::None => None,
            },
            last_modified: dated.then(|| SystemTime::UNIX_EPOCH + Duration::from_secs(age_s)),
        }
    }

    /// The fields to send.
    pub(super) fn fields(&self) -> impl Iterator<Item = (HeaderName, String)> {
        let etag = self.etag.clone().map(|etag| (header::ETAG, etag));
        let date = self.last_modified.map(httpdate::fmt_http_date);
        etag.into_iter()
            .chain(date.map(|date| (header::LAST_MODIFIED, date)))
    }

    /// Is 304 the answer to a GET or HEAD with these fields? `If-None-Match` outranks
    /// `If-Modified-Since` (RFC 9110 section 13.2.2).
    pub(super) fn not_modified(&self, headers: &HeaderMap) -> bool {
        if headers.contains_key(header::IF_NONE_MATCH) {
            let fields = headers.get_all(header::IF_NONE_MATCH).iter();
            return fields
                .filter_map(|field| field.to_str().ok())
                .flat_map(|field| field.split(','))
                .any(|candidate| self.matches_weakly(candidate.trim()));
        }
        let since = date(headers, &header::IF_MODIFIED_SINCE);
        matches!((self.last_modified, since), (Some(modified), Some(since)) if modified <= since)
    }

    /// May a `Range` be honoured? Without `If-Range` always; else only on a strong match
    /// (RFC 9110 section 13.1.5).
    pub(super) fn range_applies(&self, headers: &HeaderMap) -> bool {
        let Some(field) = headers.get(header::IF_RANGE) else {
            return true;
        };
        let strong_etag = self.etag.as_deref().filter(|etag| !etag.starts_with("W/"));
        if strong_etag.is_some_and(|etag| field.as_bytes() == etag.as_bytes()) {
            return true;
        }
        let validator = date(headers, &header::IF_RANGE);
        validator.is_some() && validator == self.last_modified
    }

    fn matches_weakly(&self, candidate: &str) -> bool {
        let opaque = |etag: &str| etag.strip_prefix("W/").unwrap_or(etag).to_owned();
        let mine = self.etag.as_deref().map(opaque);
        candidate == "*" || mine.is_some_and(|mine| mine == opaque(candidate))
    }
}

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<SystemTime> {
    let field = headers.get(name)?.to_str().ok()?;
    httpdate::parse_http_date(field).ok()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const MODIFIED: &str = "Mon, 01 Jan 2024 00:00:00 GMT";
    const EARLIER: &str = "Sun, 31 Dec 2023 23:59:59 GMT";

    fn validators(etag: EtagKind) -> (Validators, String) {
        let validators = Validators::new(&Content::new("/object/a", 0), 10, 0, etag, true);
        let etag = validators.etag.clone().unwrap_or_default();
        (validators, etag)
    }

    fn headers(fields: &[(HeaderName, &str)]) -> HeaderMap {
        let value = |text: &str| HeaderValue::from_str(text).unwrap();
        fields
            .iter()
            .map(|(name, text)| (name.clone(), value(text)))
            .collect()
    }

    #[test]
    fn conditions() {
        use header::{IF_MODIFIED_SINCE, IF_NONE_MATCH};
        let (strong, etag) = validators(EtagKind::Strong);
        let cases: [(&[(HeaderName, &str)], bool); 8] = [
            (&[], false),
            (&[(IF_NONE_MATCH, &etag)], true),
            (&[(IF_NONE_MATCH, &format!("\"x\", W/{etag}"))], true),
            (&[(IF_NONE_MATCH, "*")], true),
            (
                &[(IF_NONE_MATCH, "\"x\""), (IF_MODIFIED_SINCE, MODIFIED)],
                false,
            ),
            (&[(IF_MODIFIED_SINCE, MODIFIED)], true),
            (&[(IF_MODIFIED_SINCE, EARLIER)], false),
            (&[(IF_MODIFIED_SINCE, "yesterday")], false),
        ];
        for (fields, expected) in cases {
            assert_eq!(
                strong.not_modified(&headers(fields)),
                expected,
                "{fields:?}"
            );
        }
    }

    #[test]
    fn ranges_need_a_strong_match() {
        let range = |validators: &Validators, text: &str| {
            validators.range_applies(&headers(&[(header::IF_RANGE, text)]))
        };
        let (strong, etag) = validators(EtagKind::Strong);
        assert!(strong.range_applies(&HeaderMap::new()));
        assert!(range(&strong, &etag));
        assert!(range(&strong, MODIFIED));
        assert!(!range(&strong, EARLIER));
        assert!(!range(&strong, "\"x\""));
        let (weak, etag) = validators(EtagKind::Weak);
        assert!(!range(&weak, &etag));
    }

    #[test]
    fn a_new_version_has_new_validators() {
        let fields = |version| {
            let content = Content::new("/object/a", version);
            let validators = Validators::new(&content, 10, version, EtagKind::Strong, true);
            validators
                .fields()
                .map(|(_, value)| value)
                .collect::<Vec<_>>()
        };
        let (old, new) = (fields(0), fields(1));
        assert!(
            old.iter().zip(&new).all(|(old, new)| old != new),
            "{old:?} {new:?}"
        );
        assert_eq!(fields(u64::MAX).len(), 2);
    }
}
