//! A configuration file as tables of values that remember their place.
//!
//! Serde stops at the first value that it does not like. This reader asks for one key after the
//! other, takes the default for a value that is wrong, and goes on; so all mistakes of a file come
//! out at once. Whatever nobody asked for is an unknown key.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::{Mistake, Place, Problem};
use super::suggest::closest;

/// A value and the bytes where it stands.
pub(super) type Value<'d> = Spanned<DeValue<'d>>;

/// What reading a value gives: the value, or all that is wrong with it.
pub(super) type Reading<T> = Result<T, Vec<Mistake>>;

/// One parsed file.
pub(super) struct Document<'d> {
    source: &'d str,
    tables: DeTable<'d>,
    syntax: Vec<Mistake>,
    mistakes: Vec<Mistake>,
    unknown: Vec<Unknown>,
    asked: BTreeMap<&'static str, Vec<&'static str>>,
    spans: BTreeMap<String, Range<usize>>,
}

/// One `[section]` while it is read.
pub(super) struct Section<'a, 'd> {
    entries: Option<&'a DeTable<'d>>,
    asked: Vec<&'static str>,
    mistakes: Vec<Mistake>,
    spans: Vec<(&'static str, Range<usize>)>,
}

struct Unknown {
    section: &'static str,
    key: String,
    span: Range<usize>,
}

impl<'d> Document<'d> {
    /// Parses the text. Errors of syntax are kept, and whatever could be read is looked at too.
    pub(super) fn parse(source: &'d str) -> Self {
        let (tables, errors) = DeTable::parse_recoverable(source);
        let syntax = errors.iter().map(|error| {
            let span = error.span().unwrap_or(0..0);
            Mistake::new(
                span,
                error.message().to_owned(),
                "TOML 1.0, see https://toml.io",
            )
        });
        Self {
            source,
            tables: tables.into_inner(),
            syntax: syntax.collect(),
            mistakes: Vec::new(),
            unknown: Vec::new(),
            asked: BTreeMap::new(),
            spans: BTreeMap::new(),
        }
    }

    /// Reads one section. A section that is absent reads as an empty one.
    pub(super) fn section<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Section<'_, 'd>) -> T,
    ) -> T {
        let entries = match self.tables.get(name) {
            None => None,
            Some(value) => match value.get_ref() {
                DeValue::Table(table) => Some(table),
                other => {
                    let what = format!("`{name}` is {}", kind(other));
                    let expected = format!("a section: [{name}]");
                    self.mistakes
                        .push(Mistake::new(value.span(), what, expected));
                    None
                }
            },
        };
        let mut section = Section {
            entries,
            asked: Vec::new(),
            mistakes: Vec::new(),
            spans: Vec::new(),
        };
        let read = read(&mut section);
        self.unknown.extend(section.unknown(name));
        self.mistakes.append(&mut section.mistakes);
        self.spans.extend(
            section
                .spans
                .into_iter()
                .map(|(key, span)| (format!("{name}.{key}"), span)),
        );
        self.asked.insert(name, section.asked);
        read
    }

    /// Every key that was asked for, as `section.key`.
    #[cfg(test)]
    pub(super) fn asked(&self) -> impl Iterator<Item = String> + '_ {
        self.asked
            .iter()
            .flat_map(|(name, keys)| keys.iter().map(move |key| format!("{name}.{key}")))
    }

    /// Where the value of `section.key` stands, if the file has it.
    pub(super) fn place(&self, key: &str) -> Option<Place> {
        self.spans.get(key).map(|span| Place::of(span, self.source))
    }

    /// All that is wrong with the file, in its order.
    pub(super) fn into_problems(self) -> Vec<Problem> {
        let unknown = self
            .unknown
            .iter()
            .map(|unknown| self.explain_unknown(unknown));
        let tables = self
            .tables
            .iter()
            .filter(|(name, _)| !self.asked.contains_key(&**name.get_ref()));
        let tables = tables.map(|(name, value)| self.explain_stray(name, value.get_ref()));
        let strays: Vec<_> = unknown.chain(tables).collect();
        let syntax: Vec<_> = self
            .syntax
            .into_iter()
            .map(|m| m.locate(self.source))
            .collect();
        // What a broken line was recovered to is the parser's guess: one message per broken line.
        let broken = |problem: &Problem| {
            syntax
                .iter()
                .any(|error| error.place.order().0 == problem.place.order().0)
        };
        let meaning = self
            .mistakes
            .into_iter()
            .chain(strays)
            .map(|m| m.locate(self.source));
        let mut problems: Vec<_> = meaning.filter(|problem| !broken(problem)).collect();
        problems.extend(syntax);
        problems.sort_by_key(|problem| problem.place.order());
        problems
    }

    fn explain_unknown(&self, unknown: &Unknown) -> Mistake {
        let Unknown { section, key, span } = unknown;
        let known = self.asked.get(section).map_or(&[][..], Vec::as_slice);
        let what = format!("unknown key `{key}` in [{section}]");
        let mistake = Mistake::new(span.clone(), what, format!("one of {}", known.join(", ")))
            .suggest(key, known.iter().copied());
        self.or_other_section(mistake, key, Some(section))
    }

    /// A top-level name that is no section of ours.
    fn explain_stray(
        &self,
        name: &Spanned<std::borrow::Cow<'_, str>>,
        value: &DeValue<'_>,
    ) -> Mistake {
        let key = name.get_ref();
        let sections = self.asked.keys().copied();
        let what = match value {
            DeValue::Table(_) => format!("unknown section [{key}]"),
            _ => format!("unknown key `{key}` outside of any section"),
        };
        let names: Vec<_> = sections.clone().map(|name| format!("[{name}]")).collect();
        let mistake = Mistake::new(name.span(), what, format!("one of {}", names.join(", ")))
            .suggest(key, sections);
        self.or_other_section(mistake, key, None)
    }

    /// Says so when another section has exactly this key.
    fn or_other_section(&self, mistake: Mistake, key: &str, this: Option<&str>) -> Mistake {
        let homes = self
            .asked
            .iter()
            .filter(|(name, keys)| keys.contains(&key) && this.is_none_or(|this| this != **name));
        let homes: Vec<_> = homes.map(|(name, _)| format!("[{name}]")).collect();
        if homes.is_empty() {
            return mistake;
        }
        let help = Some(format!("`{key}` belongs in {}", homes.join(" or ")));
        Mistake { help, ..mistake }
    }
}

impl Section<'_, '_> {
    /// The value of `key` as `rule` reads it, or `default` if it is absent or wrong.
    pub(super) fn get<T>(
        &mut self,
        key: &'static str,
        default: T,
        rule: impl FnOnce(&Value<'_>) -> Reading<T>,
    ) -> T {
        self.asked.push(key);
        let Some(value) = self.entries.and_then(|entries| entries.get(key)) else {
            return default;
        };
        self.spans.push((key, value.span()));
        rule(value).unwrap_or_else(|mut mistakes| {
            for mistake in &mut mistakes {
                mistake.what = format!("{key}: {}", mistake.what);
            }
            self.mistakes.append(&mut mistakes);
            default
        })
    }

    fn unknown(&self, section: &'static str) -> Vec<Unknown> {
        let entries = self.entries.into_iter().flatten();
        let unknown = entries.filter(|(key, _)| !self.asked.contains(&&**key.get_ref()));
        unknown
            .map(|(key, _)| Unknown {
                section,
                key: key.get_ref().to_string(),
                span: key.span(),
            })
            .collect()
    }
}

/// A value's kind with its article, for messages.
pub(super) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a fraction",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// The candidate nearest to a wrong word, as help.
pub(super) fn meant(found: &str, names: &[&str]) -> Option<String> {
    closest(found, names.iter().copied()).map(|near| format!("did you mean \"{near}\"?"))
}
