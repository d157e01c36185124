//! Rules for single values: each reads one kind within its bounds, or says what is wrong.

use std::fmt::Display;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;
use toml::de::DeValue;

use super::document::{Reading, Value, kind, meant};
use super::problem::Mistake;
use super::quantity::{QuantityError, Size, Span, parse_duration, parse_size};

/// The most entries of a list. Lists are looked through per request: a longer one wants another
/// structure.
pub(super) const LIST_MAX: usize = 256;

/// `true` or `false`.
pub(super) fn boolean(value: &Value<'_>) -> Reading<bool> {
    value
        .get_ref()
        .as_bool()
        .ok_or_else(|| wrong_kind(value, "true or false"))
}

/// A string.
pub(super) fn text(value: &Value<'_>) -> Reading<String> {
    string(value, "a string").map(str::to_owned)
}

/// A whole number within bounds.
pub(super) fn integer(bounds: RangeInclusive<u32>) -> impl Fn(&Value<'_>) -> Reading<u32> {
    move |value| {
        let expected = format!("a whole number from {} to {}", bounds.start(), bounds.end());
        let DeValue::Integer(number) = value.get_ref() else {
            return Err(wrong_kind(value, expected));
        };
        match u32::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) if bounds.contains(&number) => Ok(number),
            _ => Err(out_of_bounds(value, number, expected)),
        }
    }
}

/// A number from 0 to 1.
pub(super) fn fraction(value: &Value<'_>) -> Reading<f64> {
    let expected = "a number from 0.0 to 1.0";
    let text = match value.get_ref() {
        DeValue::Float(number) => number.as_str(),
        DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
        _ => return Err(wrong_kind(value, expected)),
    };
    match text.parse::<f64>() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err(out_of_bounds(value, text, expected)),
    }
}

/// A size in bytes within bounds: a string with a unit, or a plain integer.
pub(super) fn size(bounds: RangeInclusive<u64>) -> impl Fn(&Value<'_>) -> Reading<u64> {
    move |value| {
        let (low, high) = (Size(*bounds.start()), Size(*bounds.end()));
        let expected = format!("a size from {low} to {high}, such as \"64MiB\"");
        let bytes = match value.get_ref() {
            DeValue::String(text) => parse_size(text),
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix())
                .map_err(|_| QuantityError::TooLarge(number.to_string())),
            _ => return Err(wrong_kind(value, expected)),
        };
        let bytes = bytes.map_err(|error| one(value, error.to_string(), expected.clone()))?;
        if bounds.contains(&bytes) {
            return Ok(bytes);
        }
        Err(out_of_bounds(value, Size(bytes), expected))
    }
}

/// A duration within bounds.
pub(super) fn duration(
    bounds: RangeInclusive<Duration>,
) -> impl Fn(&Value<'_>) -> Reading<Duration> {
    move |value| {
        let (low, high) = (Span(*bounds.start()), Span(*bounds.end()));
        let expected = format!("a duration from {low} to {high}, such as \"30s\" or \"100ms\"");
        let DeValue::String(text) = value.get_ref() else {
            return Err(wrong_kind(value, expected));
        };
        let duration = parse_duration(text)
            .map_err(|error| one(value, error.to_string(), expected.clone()))?;
        if bounds.contains(&duration) {
            return Ok(duration);
        }
        Err(out_of_bounds(value, Span(duration), expected))
    }
}

/// One of a few words. Each stands beside what it means.
pub(super) fn choice<T: Copy + 'static>(
    words: &'static [(&'static str, T)],
) -> impl Fn(&Value<'_>) -> Reading<T> {
    move |value| {
        let names: Vec<_> = words.iter().map(|(name, _)| *name).collect();
        let expected = format!("one of \"{}\"", names.join("\", \""));
        let found = string(value, &expected)?;
        if let Some((_, meaning)) = words.iter().find(|(name, _)| *name == found) {
            return Ok(*meaning);
        }
        let mut mistake = mistake(value, format!("\"{found}\" is not known"), expected);
        mistake.help = meant(found, &names);
        Err(vec![mistake])
    }
}

/// A string that `parse` understands; its error says what is wrong, `expected` what is right.
pub(super) fn parsed<T, E: Display>(
    expected: &'static str,
    parse: impl Fn(&str) -> Result<T, E>,
) -> impl Fn(&Value<'_>) -> Reading<T> {
    move |value| {
        let found = string(value, expected)?;
        parse(found).map_err(|error| one(value, error.to_string(), expected))
    }
}

/// A list of what `rule` reads; every wrong entry is reported.
pub(super) fn list<T>(
    rule: impl Fn(&Value<'_>) -> Reading<T>,
) -> impl Fn(&Value<'_>) -> Reading<Vec<T>> {
    move |value| {
        let DeValue::Array(entries) = value.get_ref() else {
            return Err(wrong_kind(value, "a list: [\"…\", \"…\"]"));
        };
        if entries.len() > LIST_MAX {
            let what = format!("{} entries are too many", entries.len());
            return Err(one(value, what, format!("at most {LIST_MAX} entries")));
        }
        let mut read = Vec::with_capacity(entries.len());
        let mut mistakes = Vec::new();
        for entry in entries.iter() {
            match rule(entry) {
                Ok(entry) => read.push(entry),
                Err(wrong) => mistakes.extend(wrong),
            }
        }
        if mistakes.is_empty() {
            Ok(read)
        } else {
            Err(mistakes)
        }
    }
}

/// An empty string is nothing, another one what `rule` reads.
pub(super) fn optional<T>(
    nothing: &'static str,
    rule: impl Fn(&Value<'_>) -> Reading<T>,
) -> impl Fn(&Value<'_>) -> Reading<Option<T>> {
    move |value| match value.get_ref() {
        DeValue::String(text) if text == nothing => Ok(None),
        _ => rule(value).map(Some),
    }
}

/// An address to listen at: `127.0.0.1:8080`, `[::1]:8080`, or `:8080` for every IPv4 and IPv6
/// address of the machine.
///
/// # Errors
/// A sentence that quotes what is wrong.
pub fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let full = if text.starts_with(':') {
        format!("[::]{text}")
    } else {
        text.to_owned()
    };
    full.parse().map_err(|_| {
        let hint = match text.rsplit_once(':') {
            None => " (it has no port)",
            Some((host, _)) if host.parse::<IpAddr>().is_err() && !host.starts_with('[') => {
                " (a name may have several addresses; give the one to listen at)"
            }
            Some(_) => "",
        };
        format!("`{text}` is not an address{hint}")
    })
}

/// A network in CIDR form, or one address.
///
/// # Errors
/// A sentence that quotes what is wrong.
pub(super) fn parse_network(text: &str) -> Result<IpNet, String> {
    let network = text
        .parse::<IpNet>()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
    let network = network.map_err(|_| format!("`{text}` is not a network"))?;
    if network.addr() != network.network() {
        // 10.0.0.7/8 lets in sixteen million hosts where one was named.
        return Err(format!(
            "`{text}` has host bits set: {} or {}?",
            network.trunc(),
            network.addr()
        ));
    }
    Ok(network)
}

/// A path; a relative one is relative to the working directory.
pub(super) fn path(value: &Value<'_>) -> Reading<PathBuf> {
    text(value).and_then(|path| {
        if path.is_empty() || path.contains('\0') {
            return Err(one(value, format!("{path:?} is not a path"), "a path"));
        }
        Ok(PathBuf::from(path))
    })
}

fn string<'a>(value: &'a Value<'_>, expected: &str) -> Reading<&'a str> {
    value
        .get_ref()
        .as_str()
        .ok_or_else(|| wrong_kind(value, expected))
}

fn mistake(value: &Value<'_>, what: String, expected: impl Into<String>) -> Mistake {
    Mistake::new(value.span(), what, expected)
}

fn one(value: &Value<'_>, what: String, expected: impl Into<String>) -> Vec<Mistake> {
    vec![mistake(value, what, expected)]
}

fn wrong_kind(value: &Value<'_>, expected: impl Into<String>) -> Vec<Mistake> {
    one(
        value,
        format!("{} does not do here", kind(value.get_ref())),
        expected,
    )
}

fn out_of_bounds(
    value: &Value<'_>,
    found: impl Display,
    expected: impl Into<String>,
) -> Vec<Mistake> {
    one(value, format!("{found} is out of bounds"), expected)
}
