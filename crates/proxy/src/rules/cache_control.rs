//! What do the Cache-Control directives of a response and of a request say? (RFC 9111 §5.2)
//!
//! Senders err, and RFC 9111 §4.2.1 leaves the reading open: "either the first occurrence should
//! be used or the response should be considered stale", and invalid freshness information should
//! make it stale. The choices made here, all on the safe side:
//!
//! - a lifetime that is not a non-negative integer counts as 0 seconds: stale at once;
//! - a lifetime said twice with the same value counts once, with different values as 0;
//! - `no-cache` or `private` with a list that cannot be read counts as one without a list;
//! - in a request, what cannot be read counts as what asks for the fresher answer.

use http::HeaderMap;
use http::header::{CACHE_CONTROL, PRAGMA};

pub use super::lexer::{DELTA_SECS_MAX, FIELDS_MAX, FieldNames};
use super::lexer::{Directive, directives};
use super::lists::tokens;
use super::targeted;

/// The directives of a response that this cache knows.
///
/// Bounds: parsing is linear in the header bytes, which the origin client limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseDirectives {
    /// `no-store` (§5.2.2.5).
    pub no_store: bool,
    /// `no-cache` without a list of fields (§5.2.2.4).
    pub no_cache: bool,
    /// `private` without a list of fields (§5.2.2.7).
    pub private: bool,
    /// `public` (§5.2.2.9).
    pub public: bool,
    /// `must-revalidate` (§5.2.2.2).
    pub must_revalidate: bool,
    /// `proxy-revalidate` (§5.2.2.8).
    pub proxy_revalidate: bool,
    /// `must-understand` (§5.2.2.3).
    pub must_understand: bool,
    /// `max-age`, in seconds (§5.2.2.1).
    pub max_age: Option<u32>,
    /// `s-maxage`, in seconds (§5.2.2.10).
    pub s_maxage: Option<u32>,
    /// `stale-while-revalidate`, in seconds (RFC 5861 §3).
    pub stale_while_revalidate: Option<u32>,
    /// `stale-if-error`, in seconds (RFC 5861 §4).
    pub stale_if_error: Option<u32>,
    /// Fields that `no-cache="…"` and `private="…"` name. They are not stored, so nobody gets
    /// them without going to the origin; the rest of the response is not concerned.
    pub withheld: FieldNames,
    /// Whether all this came from `CDN-Cache-Control`: then `Cache-Control` and `Expires` do not
    /// count (RFC 9213 §2.2).
    pub targeted: bool,
}

/// The directives of a request that this cache knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestDirectives {
    /// `no-cache` (§5.2.1.4), or `Pragma: no-cache` without any Cache-Control (§5.4).
    pub no_cache: bool,
    /// `no-store` (§5.2.1.5).
    pub no_store: bool,
    /// `only-if-cached` (§5.2.1.7).
    pub only_if_cached: bool,
    /// `max-age`, in seconds (§5.2.1.1).
    pub max_age: Option<u32>,
    /// `min-fresh`, in seconds (§5.2.1.3).
    pub min_fresh: Option<u32>,
    /// `max-stale` (§5.2.1.2).
    pub max_stale: Option<MaxStale>,
    /// `stale-if-error`, in seconds (RFC 5861 §4).
    pub stale_if_error: Option<u32>,
}

/// How stale an answer the client takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxStale {
    /// `max-stale` without a value: "of any age".
    Any,
    /// `max-stale=n`: at most `n` seconds past its lifetime.
    Seconds(u32),
}

impl ResponseDirectives {
    /// Reads `CDN-Cache-Control` when it is there and valid, else `Cache-Control`.
    pub fn parse(headers: &HeaderMap) -> Self {
        if let Some(targeted) = targeted::parse(headers) {
            return targeted;
        }
        let mut parsed = Self::default();
        for directive in directives(headers, CACHE_CONTROL) {
            parsed.add(&directive);
        }
        parsed
    }

    /// Whether a stale response must not be used, whoever allows it: `must-revalidate`, or for a
    /// shared cache `proxy-revalidate`.
    pub fn forbids_stale(&self) -> bool {
        self.must_revalidate || self.proxy_revalidate
    }

    fn add(&mut self, directive: &Directive<'_>) {
        match directive.name_lower().as_ref() {
            b"no-store" => self.no_store = true,
            b"no-cache" => match directive.fields() {
                Some(fields) => self.withheld.extend(fields),
                None => self.no_cache = true,
            },
            b"private" => match directive.fields() {
                Some(fields) => self.withheld.extend(fields),
                None => self.private = true,
            },
            b"public" => self.public = true,
            b"must-revalidate" => self.must_revalidate = true,
            b"proxy-revalidate" => self.proxy_revalidate = true,
            b"must-understand" => self.must_understand = true,
            b"max-age" => merge_lifetime(&mut self.max_age, directive),
            b"s-maxage" => merge_lifetime(&mut self.s_maxage, directive),
            b"stale-while-revalidate" => {
                merge_lifetime(&mut self.stale_while_revalidate, directive);
            }
            b"stale-if-error" => merge_lifetime(&mut self.stale_if_error, directive),
            _ => {}
        }
    }
}

impl RequestDirectives {
    /// Reads `Cache-Control`, or `Pragma` where there is none.
    pub fn parse(headers: &HeaderMap) -> Self {
        let mut parsed = Self::default();
        if !headers.contains_key(CACHE_CONTROL) {
            parsed.no_cache =
                tokens(headers, PRAGMA).any(|token| token.eq_ignore_ascii_case(b"no-cache"));
            return parsed;
        }
        for directive in directives(headers, CACHE_CONTROL) {
            parsed.add(&directive);
        }
        parsed
    }

    fn add(&mut self, directive: &Directive<'_>) {
        match directive.name_lower().as_ref() {
            b"no-cache" => self.no_cache = true,
            b"no-store" => self.no_store = true,
            b"only-if-cached" => self.only_if_cached = true,
            b"max-age" => {
                let asked = directive.delta_s().unwrap_or(0);
                self.max_age = Some(self.max_age.map_or(asked, |before| before.min(asked)));
            }
            b"min-fresh" => {
                let asked = directive.delta_s().unwrap_or(DELTA_SECS_MAX);
                self.min_fresh = Some(self.min_fresh.map_or(asked, |before| before.max(asked)));
            }
            b"max-stale" => self.add_max_stale(directive),
            b"stale-if-error" => merge_lifetime(&mut self.stale_if_error, directive),
            _ => {}
        }
    }

    fn add_max_stale(&mut self, directive: &Directive<'_>) {
        let asked = if directive.is_bare() {
            MaxStale::Any
        } else {
            MaxStale::Seconds(directive.delta_s().unwrap_or(0))
        };
        self.max_stale = Some(match (self.max_stale, asked) {
            (Some(MaxStale::Seconds(before)), MaxStale::Seconds(now)) => {
                MaxStale::Seconds(before.min(now))
            }
            (Some(before @ MaxStale::Seconds(_)), MaxStale::Any) => before,
            (_, now) => now,
        });
    }
}

/// The first value stands; an invalid or a different second one makes it 0.
fn merge_lifetime(lifetime: &mut Option<u32>, directive: &Directive<'_>) {
    let said = directive.delta_s().unwrap_or(0);
    *lifetime = Some(match *lifetime {
        Some(before) if before != said => 0,
        _ => said,
    });
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        lines
            .iter()
            .map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            })
            .fold(HeaderMap::new(), |mut map, (name, value)| {
                map.append(name, value);
                map
            })
    }

    fn response(lines: &[&'static str]) -> ResponseDirectives {
        let lines: Vec<_> = lines.iter().map(|line| ("cache-control", *line)).collect();
        ResponseDirectives::parse(&headers(&lines))
    }

    fn request(line: &'static str) -> RequestDirectives {
        RequestDirectives::parse(&headers(&[("cache-control", line)]))
    }

    #[test]
    fn response_lifetimes() {
        let table: &[(&[&str], Option<u32>)] = &[
            (&[], None),
            (&[""], None),
            (&["foobar"], None),
            (&["max-age=3600"], Some(3600)),
            (&["MaX-aGe=3600"], Some(3600)),
            (&["foobar, max-age=3600, baz=1"], Some(3600)),
            (&["foobar", "x=\",\"", "max-age=3600"], Some(3600)),
            (&["  max-age=3600  ,"], Some(3600)),
            (&["max-age=\"3600\""], Some(3600)),
            (&["max-age=99999999999"], Some(DELTA_SECS_MAX)),
            (&["max-age=0"], Some(0)),
            (&["max-age"], Some(0)),
            (&["max-age="], Some(0)),
            (&["max-age=-3600"], Some(0)),
            (&["max-age=3600.0"], Some(0)),
            (&["max-age=a3600"], Some(0)),
            (&["max-age=3600a"], Some(0)),
            (&["max-age='3600'"], Some(0)),
            (&["max-age =3600"], Some(0)),
            (&["max-age= 3600"], Some(0)),
            (&["max-age: 3600"], None),
            (&["xmax-age=3600"], None),
            (&["max-age=1800, max-age=1800"], Some(1800)),
            (&["max-age=1800", "max-age=1800"], Some(1800)),
            (&["max-age=1800, max-age=1"], Some(0)),
            (&["max-age=1", "max-age=1800"], Some(0)),
            (&["max-age=1, max-age=1800, max-age=0"], Some(0)),
            (&["max-age=1800, max-age=x"], Some(0)),
            (&["extension=\"max-age=3600\", max-age=1"], Some(1)),
            (&["max-age=1, extension=\"max-age=3600\""], Some(1)),
            (&["max-age=1, extension=\"\\\", max-age=3600\""], Some(1)),
            (&["max-age=1, extension=\"max-age=3600"], Some(1)),
        ];
        for (lines, expected) in table {
            assert_eq!(response(lines).max_age, *expected, "{lines:?}");
        }
    }

    #[test]
    fn response_flags() {
        let all = response(&[
            "No-Store, NO-CACHE, private, public, must-revalidate",
            "proxy-revalidate ,must-understand, s-maxage=5",
            "stale-while-revalidate=6, stale-if-error=7",
        ]);
        let expected = ResponseDirectives {
            no_store: true,
            no_cache: true,
            private: true,
            public: true,
            must_revalidate: true,
            proxy_revalidate: true,
            must_understand: true,
            max_age: None,
            s_maxage: Some(5),
            stale_while_revalidate: Some(6),
            stale_if_error: Some(7),
            withheld: FieldNames::new(),
            targeted: false,
        };
        assert_eq!(all, expected);
        assert!(response(&["no-store=x"]).no_store);
        assert!(response(&["no-store =x"]).no_store);
        assert!(response(&["x=\"unclosed, no-store"]).no_store);
        assert!(!response(&["x=\"no-store\""]).no_store);
        assert_eq!(response(&["stale-if-error=x"]).stale_if_error, Some(0));
    }

    #[test]
    fn qualified_no_cache_and_private() {
        let table: &[(&str, bool, bool, &[&str])] = &[
            ("no-cache=\"a\"", false, false, &["a"]),
            (
                "no-cache=\"a, B\", private=\"c\"",
                false,
                false,
                &["a", "b", "c"],
            ),
            ("no-cache=set-cookie", false, false, &["set-cookie"]),
            ("no-cache, no-cache=\"a\"", true, false, &["a"]),
            ("private=\"a\", private", false, true, &["a"]),
            ("no-cache=\"\"", true, false, &[]),
            ("private=\"not a name\"", false, true, &[]),
            ("private=\"a", false, true, &[]),
        ];
        for (line, no_cache, private, withheld) in table {
            let parsed = response(&[line]);
            assert_eq!(
                (parsed.no_cache, parsed.private),
                (*no_cache, *private),
                "{line}"
            );
            let names: Vec<_> = parsed.withheld.iter().map(HeaderName::as_str).collect();
            assert_eq!(names, *withheld, "{line}");
        }
    }

    #[test]
    fn request_values() {
        use MaxStale::{Any, Seconds};
        let table: &[(&str, Option<u32>, Option<u32>, Option<MaxStale>)] = &[
            ("max-age=0", Some(0), None, None),
            ("Max-Age=\"5\"", Some(5), None, None),
            ("max-age=5, max-age=9", Some(5), None, None),
            ("max-age=x", Some(0), None, None),
            ("min-fresh=5", None, Some(5), None),
            ("min-fresh=5, min-fresh=9", None, Some(9), None),
            ("min-fresh", None, Some(DELTA_SECS_MAX), None),
            ("max-stale", None, None, Some(Any)),
            ("max-stale=10", None, None, Some(Seconds(10))),
            ("max-stale, max-stale=10", None, None, Some(Seconds(10))),
            ("max-stale=10, max-stale", None, None, Some(Seconds(10))),
            ("max-stale=10, max-stale=5", None, None, Some(Seconds(5))),
            ("max-stale=x", None, None, Some(Seconds(0))),
            ("max-stale=", None, None, Some(Seconds(0))),
            ("ext=\"max-age=0, no-cache\"", None, None, None),
        ];
        for (line, max_age, min_fresh, max_stale) in table {
            let parsed = request(line);
            assert!(!parsed.no_cache, "{line}");
            assert_eq!(
                (parsed.max_age, parsed.min_fresh, parsed.max_stale),
                (*max_age, *min_fresh, *max_stale),
                "{line}"
            );
        }
        let flags = request("No-Cache, no-store, only-if-cached, stale-if-error=60");
        assert!(flags.no_cache && flags.no_store && flags.only_if_cached);
        assert_eq!(flags.stale_if_error, Some(60));
    }

    #[test]
    fn pragma_counts_only_alone() {
        let table: &[(&[(&str, &str)], bool)] = &[
            (&[("pragma", "no-cache")], true),
            (&[("pragma", "foo, No-Cache")], true),
            (&[("pragma", "unrecognised-extension")], false),
            (
                &[("pragma", "no-cache"), ("cache-control", "max-stale=9")],
                false,
            ),
            (&[("pragma", "no-cache"), ("cache-control", "")], false),
        ];
        for (lines, no_cache) in table {
            let lines: Vec<(&'static str, &'static str)> = lines.to_vec();
            assert_eq!(
                RequestDirectives::parse(&headers(&lines)).no_cache,
                *no_cache
            );
        }
    }
}
