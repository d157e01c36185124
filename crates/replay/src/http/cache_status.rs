//! Did the target answer from its cache, and from which tier? `Cache-Status`, RFC 9211.

use http::HeaderMap;
use sfv::{BareItem, List, ListEntry, Parameters, Parser};

/// What the target says of one answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CacheAnswer {
    /// Whether its cache satisfied the request.
    pub(super) hit: bool,
    /// The first token of `detail`, on a hit.
    pub(super) tier: Option<String>,
    /// Whether the request waited for another one's forward.
    pub(super) collapsed: bool,
}

impl CacheAnswer {
    /// Reads the field. Absent or malformed, it says nothing: no hit.
    pub(super) fn read(headers: &HeaderMap) -> Self {
        let mut lines = Vec::new();
        for line in headers.get_all("cache-status") {
            lines.push(line.as_bytes());
        }
        // RFC 9651 section 4.2: the lines of a list are one list.
        let list = Parser::new(&lines.join(&b", "[..])).parse::<List>();
        // RFC 9211 section 2: each cache appends itself, so the last one is the target.
        let last = list.ok().and_then(|mut list| list.pop());
        last.map(|member| match member {
            ListEntry::Item(item) => Self::of(&item.params),
            ListEntry::InnerList(list) => Self::of(&list.params),
        })
        .unwrap_or_default()
    }

    fn of(params: &Parameters) -> Self {
        let is_set = |name| params.get(name).and_then(BareItem::as_boolean) == Some(true);
        let hit = is_set("hit");
        let detail = params.get("detail").and_then(|detail| match detail {
            BareItem::Token(token) => Some(token.as_str()),
            BareItem::String(string) => Some(string.as_str()),
            _ => None,
        });
        let tier = detail.and_then(|detail| detail.split([' ', ',', ';']).next());
        Self {
            hit,
            tier: tier
                .filter(|tier| hit && !tier.is_empty())
                .map(str::to_owned),
            collapsed: is_set("collapsed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn read(lines: &[&'static str]) -> (bool, Option<String>, bool) {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append("cache-status", HeaderValue::from_static(line));
        }
        let answer = CacheAnswer::read(&headers);
        (answer.hit, answer.tier, answer.collapsed)
    }

    #[test]
    fn what_targets_say() {
        let hit = |tier: &str| (true, Some(tier.to_owned()), false);
        let miss = (false, None, false);
        let cases: [(&[&str], _); 12] = [
            (&[], miss.clone()),
            (&["larder; hit; ttl=86399; detail=ram"], hit("ram")),
            (&["larder;hit;detail=ssd"], hit("ssd")),
            (&["larder; hit; detail=\"ssd set-log\""], hit("ssd")),
            (&["larder; hit"], (true, None, false)),
            (&["\"edge.example\"; hit; detail=ram"], hit("ram")),
            (&["larder; fwd=uri-miss; stored; detail=ram"], miss.clone()),
            (&["larder; fwd=uri-miss; collapsed"], (false, None, true)),
            (&["larder; hit=?0"], miss.clone()),
            (&["origin; fwd=miss, larder; hit; detail=ram"], hit("ram")),
            (
                &["origin; hit; detail=ram", "larder; fwd=stale"],
                miss.clone(),
            ),
            (&["larder; hit; ="], miss),
        ];
        for (lines, expected) in cases {
            assert_eq!(read(lines), expected, "{lines:?}");
        }
    }
}
