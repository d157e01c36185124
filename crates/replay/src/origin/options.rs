//! What may be asked of `/object/<id>`: the query's options.

use std::{fmt::Write as _, time::Duration};

use http::{HeaderName, HeaderValue, StatusCode};

use super::answer::Ending;

/// Largest object, in bytes: 1 TiB, far beyond what a cache will hold.
pub(super) const SIZE_BYTES_MAX: u64 = 1 << 40;

/// Longest delay, in milliseconds: ten minutes outlast any timeout worth testing.
const DELAY_MS_MAX: u64 = 600_000;

/// Fields that one answer may vary on. More would be a long name, not another test.
const VARY_FIELDS_MAX: usize = 8;

/// The options of `/object/<id>`, one a line, as an unknown one is answered.
pub const OPTIONS_HELP: &str = "\
size=N             body bytes (default 1024, at most 2^40)
max_age=S          Cache-Control: max-age
s_maxage=S         Cache-Control: s-maxage
swr=S              Cache-Control: stale-while-revalidate
sie=S              Cache-Control: stale-if-error
no_store=1         Cache-Control: no-store
private=1          Cache-Control: private
status=C           status code, 200 to 599; validators and ranges go with 200 only
delay_ms=D         wait before the headers
body_delay_ms=D    wait after half of the body
hang=half          send half of the body, then nothing until the client goes
fail=half          send half of the body, then abort the connection
chunked=1          send no Content-Length
etag=E             strong (default), weak or none
last_modified=L    fixed (default) or none
version=N          other bytes, other ETag, other Last-Modified (default 0)
vary=F,F           Vary: the fields; each combination of their values has its own bytes
tag=T,T            Surrogate-Key and Cache-Tag: the tags
set_cookie=1       Set-Cookie: session=1
";

/// A checked query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) size_bytes: u64,
    pub(super) max_age_s: Option<u64>,
    pub(super) s_maxage_s: Option<u64>,
    pub(super) stale_while_revalidate_s: Option<u64>,
    pub(super) stale_if_error_s: Option<u64>,
    pub(super) no_store: bool,
    pub(super) private: bool,
    pub(super) status: StatusCode,
    pub(super) delay: Duration,
    pub(super) body_delay: Duration,
    pub(super) ending: Ending,
    pub(super) chunked: bool,
    pub(super) etag: EtagKind,
    pub(super) last_modified: bool,
    pub(super) version: u64,
    pub(super) vary: Vec<HeaderName>,
    pub(super) tags: Vec<String>,
    pub(super) set_cookie: bool,
}

/// Which entity tag an object carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EtagKind {
    Strong,
    Weak,
    None,
}

/// Why a query is refused; its text goes to the client, above the list of options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum OptionError {
    #[error("unknown option `{0}`")]
    Unknown(String),
    #[error("option `{name}`: expected {expected}, found {found:?}")]
    Value {
        name: &'static str,
        expected: String,
        found: String,
    },
}

impl Default for Options {
    fn default() -> Self {
        Self {
            size_bytes: 1024,
            max_age_s: None,
            s_maxage_s: None,
            stale_while_revalidate_s: None,
            stale_if_error_s: None,
            no_store: false,
            private: false,
            status: StatusCode::OK,
            delay: Duration::ZERO,
            body_delay: Duration::ZERO,
            ending: Ending::Whole,
            chunked: false,
            etag: EtagKind::Strong,
            last_modified: true,
            version: 0,
            vary: Vec::new(),
            tags: Vec::new(),
            set_cookie: false,
        }
    }
}

impl Options {
    /// Reads a query. Of an option given twice the last one counts.
    pub(super) fn parse(query: &str) -> Result<Self, OptionError> {
        let mut options = Self::default();
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            options.set(&name, &value)?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        match name {
            "size" => self.size_bytes = number("size", value, SIZE_BYTES_MAX)?,
            "max_age" => self.max_age_s = Some(number("max_age", value, u64::MAX)?),
            "s_maxage" => self.s_maxage_s = Some(number("s_maxage", value, u64::MAX)?),
            "swr" => self.stale_while_revalidate_s = Some(number("swr", value, u64::MAX)?),
            "sie" => self.stale_if_error_s = Some(number("sie", value, u64::MAX)?),
            "no_store" => self.no_store = flag("no_store", value)?,
            "private" => self.private = flag("private", value)?,
            "status" => self.status = status(value)?,
            "delay_ms" => self.delay = delay("delay_ms", value)?,
            "body_delay_ms" => self.body_delay = delay("body_delay_ms", value)?,
            "hang" => self.ending = ending("hang", value, Ending::Hang)?,
            "fail" => self.ending = ending("fail", value, Ending::Fail)?,
            "chunked" => self.chunked = flag("chunked", value)?,
            "etag" => self.etag = etag(value)?,
            "last_modified" => self.last_modified = last_modified(value)?,
            "version" => self.version = number("version", value, u64::MAX)?,
            "vary" => self.vary = vary(value)?,
            "tag" => self.tags = tags(value)?,
            "set_cookie" => self.set_cookie = flag("set_cookie", value)?,
            _ => return Err(OptionError::Unknown(name.to_owned())),
        }
        Ok(())
    }

    /// The `Cache-Control` field, if any directive is asked for.
    pub(super) fn cache_control(&self) -> Option<String> {
        let mut field = String::new();
        let flags = [(self.private, "private"), (self.no_store, "no-store")];
        for (_, name) in flags.into_iter().filter(|(on, _)| *on) {
            separate(&mut field);
            field.push_str(name);
        }
        let seconds = [
            ("max-age", self.max_age_s),
            ("s-maxage", self.s_maxage_s),
            ("stale-while-revalidate", self.stale_while_revalidate_s),
            ("stale-if-error", self.stale_if_error_s),
        ];
        for (name, value) in seconds {
            if let Some(value) = value {
                separate(&mut field);
                // Writing to a `String` cannot fail.
                let _ = write!(field, "{name}={value}");
            }
        }
        (!field.is_empty()).then_some(field)
    }
}

fn separate(list: &mut String) {
    if !list.is_empty() {
        list.push_str(", ");
    }
}

fn refuse(name: &'static str, expected: impl Into<String>, found: &str) -> OptionError {
    let (expected, found) = (expected.into(), found.to_owned());
    OptionError::Value {
        name,
        expected,
        found,
    }
}

fn number(name: &'static str, value: &str, max: u64) -> Result<u64, OptionError> {
    let number = value.parse().ok().filter(|number| *number <= max);
    number.ok_or_else(|| refuse(name, format!("a whole number of at most {max}"), value))
}

fn flag(name: &'static str, value: &str) -> Result<bool, OptionError> {
    match value {
        "1" => Ok(true),
        "0" => Ok(false),
        _ => Err(refuse(name, "1 or 0", value)),
    }
}

fn delay(name: &'static str, value: &str) -> Result<Duration, OptionError> {
    number(name, value, DELAY_MS_MAX).map(Duration::from_millis)
}

fn status(value: &str) -> Result<StatusCode, OptionError> {
    let code = value.parse().ok().filter(|code| (200..600).contains(code));
    code.and_then(|code: u16| StatusCode::from_u16(code).ok())
        .ok_or_else(|| refuse("status", "a status code, 200 to 599", value))
}

fn ending(name: &'static str, value: &str, ending: Ending) -> Result<Ending, OptionError> {
    match value {
        "half" => Ok(ending),
        _ => Err(refuse(name, "half", value)),
    }
}

fn etag(value: &str) -> Result<EtagKind, OptionError> {
    match value {
        "strong" => Ok(EtagKind::Strong),
        "weak" => Ok(EtagKind::Weak),
        "none" => Ok(EtagKind::None),
        _ => Err(refuse("etag", "strong, weak or none", value)),
    }
}

fn last_modified(value: &str) -> Result<bool, OptionError> {
    match value {
        "fixed" => Ok(true),
        "none" => Ok(false),
        _ => Err(refuse("last_modified", "fixed or none", value)),
    }
}

fn vary(value: &str) -> Result<Vec<HeaderName>, OptionError> {
    let names: Result<Vec<_>, _> = value.split(',').map(|name| name.trim().parse()).collect();
    let names = names.ok().filter(|names| names.len() <= VARY_FIELDS_MAX);
    names.ok_or_else(|| {
        refuse(
            "vary",
            format!("up to {VARY_FIELDS_MAX} field names"),
            value,
        )
    })
}

fn tags(value: &str) -> Result<Vec<String>, OptionError> {
    let tags: Vec<String> = value.split(',').map(|tag| tag.trim().to_owned()).collect();
    let fits = |tag: &String| {
        !tag.is_empty() && !tag.contains(char::is_whitespace) && HeaderValue::from_str(tag).is_ok()
    };
    if tags.iter().all(fits) {
        Ok(tags)
    } else {
        Err(refuse(
            "tag",
            "tags without spaces, separated by commas",
            value,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_the_help_is_known() {
        for line in OPTIONS_HELP.lines() {
            let option = line.split_whitespace().next().unwrap();
            let (name, _) = option.split_once('=').unwrap();
            let error = Options::parse(&format!("{name}=%00")).unwrap_err();
            assert!(
                matches!(error, OptionError::Value { name: n, .. } if n == name),
                "{name}"
            );
        }
    }

    #[test]
    fn mistakes_are_named() {
        let cases = [
            ("sise=1", "unknown option `sise`"),
            (
                "size=ten",
                "option `size`: expected a whole number of at most 1099511627776, found \"ten\"",
            ),
            (
                "status=99",
                "option `status`: expected a status code, 200 to 599, found \"99\"",
            ),
            ("hang=1", "option `hang`: expected half, found \"1\""),
            (
                "tag=a%0Ab",
                "option `tag`: expected tags without spaces, separated by commas, found \"a\\nb\"",
            ),
        ];
        for (query, text) in cases {
            assert_eq!(Options::parse(query).unwrap_err().to_string(), text);
        }
    }

    #[test]
    fn cache_control_lists_what_was_asked_for() {
        let field = |query| Options::parse(query).unwrap().cache_control();
        assert_eq!(field("size=1"), None);
        assert_eq!(field("max_age=0").as_deref(), Some("max-age=0"));
        assert_eq!(
            field("private=1&no_store=1&max_age=1&s_maxage=2&swr=3&sie=4").as_deref(),
            Some(
                "private, no-store, max-age=1, s-maxage=2, stale-while-revalidate=3, stale-if-error=4"
            ),
        );
    }
}
