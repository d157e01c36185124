//! From a file and flags to a checked configuration, or to everything that is wrong with them.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::cache::CacheConfig;
use super::document::Document;
use super::log::LogConfig;
use super::memory::MemoryConfig;
use super::origin::OriginConfig;
use super::problem::{Place, Problem, Problems};
use super::server::ServerConfig;
use super::store::StoreConfig;
use super::{Config, Machine, Overrides, check, data_dir};

/// The largest file that is read. `config/larder.toml`, comments included, has a fiftieth.
pub const FILE_BYTES_MAX: u64 = 1 << 20;

/// A configuration whose values are read, and what is known to be wrong with it so far.
pub(super) struct Draft<'a> {
    pub(super) config: Config,
    pub(super) overrides: &'a Overrides,
    document: Document<'a>,
    problems: Vec<Problem>,
}

impl Config {
    /// The configuration of an empty file and no flags.
    pub fn defaults(machine: &Machine) -> Self {
        Self {
            server: ServerConfig::defaults(machine),
            origin: OriginConfig::default(),
            memory: MemoryConfig::defaults(machine),
            store: StoreConfig::default(),
            cache: CacheConfig::default(),
            log: LogConfig::default(),
        }
    }

    /// Checks the text of a file and the flags beside it. Does no I/O: the data directory is not
    /// looked at.
    ///
    /// # Errors
    /// Every mistake, in the order of the file.
    pub fn parse(
        text: &str,
        overrides: &Overrides,
        machine: &Machine,
    ) -> Result<Self, Vec<Problem>> {
        Draft::read(text, overrides, machine).finish()
    }

    /// Reads a file, if there is one, and checks it as [`Config::parse`] does: for commands that
    /// talk to a running larder and do not care whether another could start.
    ///
    /// # Errors
    /// Every mistake; a file that cannot be read is one.
    pub fn read(
        path: Option<&Path>,
        overrides: &Overrides,
        machine: &Machine,
    ) -> Result<Self, Problems> {
        let result = read_file(path).and_then(|text| Self::parse(&text, overrides, machine));
        result.map_err(|problems| Problems {
            path: path.map(Path::to_owned),
            problems,
        })
    }

    /// Reads a file, if there is one, and checks it, the data directory included: all that
    /// `larder serve` needs to start.
    ///
    /// # Errors
    /// Every mistake; a file that cannot be read is one.
    pub fn load(
        path: Option<&Path>,
        overrides: &Overrides,
        machine: &Machine,
    ) -> Result<Self, Problems> {
        let result = read_file(path).and_then(|text| {
            let mut draft = Draft::read(&text, overrides, machine);
            data_dir::check(&mut draft);
            draft.finish()
        });
        result.map_err(|problems| Problems {
            path: path.map(Path::to_owned),
            problems,
        })
    }
}

impl<'a> Draft<'a> {
    pub(super) fn read(text: &'a str, overrides: &'a Overrides, machine: &Machine) -> Self {
        let mut document = Document::parse(text);
        let mut config = read_sections(&mut document, machine);
        overrides.apply(&mut config, machine);
        let mut draft = Self {
            config,
            overrides,
            document,
            problems: Vec::new(),
        };
        check::check(&mut draft, machine);
        draft
    }

    /// Notes a mistake in the value of `section.key`, wherever that value comes from.
    pub(super) fn refuse(&mut self, key: &str, what: String, expected: impl Into<String>) {
        let flag = self.overrides.flag(key).map(Place::Flag);
        let place = flag
            .or_else(|| self.document.place(key))
            .unwrap_or_else(|| Place::Default(key.to_owned()));
        self.problems.push(Problem {
            place,
            what,
            expected: expected.into(),
            help: None,
        });
    }

    fn finish(mut self) -> Result<Config, Vec<Problem>> {
        let mut problems = self.document.into_problems();
        problems.append(&mut self.problems);
        if problems.is_empty() {
            return Ok(self.config);
        }
        problems.sort_by_key(|problem| problem.place.order());
        Err(problems)
    }
}

fn read_sections(document: &mut Document<'_>, machine: &Machine) -> Config {
    Config {
        server: document.section("server", |section| ServerConfig::read(section, machine)),
        origin: document.section("origin", |section| OriginConfig::read(section)),
        memory: document.section("memory", |section| MemoryConfig::read(section, machine)),
        store: document.section("store", |section| StoreConfig::read(section)),
        cache: document.section("cache", |section| CacheConfig::read(section)),
        log: document.section("log", |section| LogConfig::read(section)),
    }
}

/// The file's text; no file is an empty one.
fn read_file(path: Option<&Path>) -> Result<String, Vec<Problem>> {
    let problem = |what: String, expected: &str| {
        vec![Problem {
            place: Place::File,
            what,
            expected: expected.to_owned(),
            help: None,
        }]
    };
    let Some(path) = path else {
        return Ok(String::new());
    };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes))
        .map_err(|error| problem(error.to_string(), "a readable file"))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        let what = format!("more than {FILE_BYTES_MAX} bytes");
        return Err(problem(what, "a configuration of a few kilobytes"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        problem(
            format!("the byte at offset {at} is not UTF-8"),
            "text in UTF-8",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::machine::MemorySource;

    const MACHINE: Machine = Machine {
        memory_bytes: 8 << 30,
        memory_source: MemorySource::MemTotal,
        cores: 4,
    };

    /// The commented file with every key's line made real.
    fn uncommented() -> String {
        let lines = crate::config::DEFAULTS_TOML.lines().map(|line| {
            let key = line
                .strip_prefix('#')
                .filter(|rest| !rest.starts_with([' ', '#']));
            key.unwrap_or(line)
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_commented_file_is_empty_and_uncommented_is_the_defaults() {
        let defaults = Config::defaults(&MACHINE);
        for text in ["", crate::config::DEFAULTS_TOML, &uncommented()] {
            assert_eq!(
                Config::parse(text, &Overrides::default(), &MACHINE).as_ref(),
                Ok(&defaults)
            );
        }
    }

    #[test]
    fn every_key_stands_in_the_commented_file_and_in_the_manual() {
        let mut nothing = Document::parse("");
        read_sections(&mut nothing, &MACHINE);
        let asked: Vec<_> = nothing.asked().collect();
        assert!(asked.len() > 40, "{asked:?}");

        let text = uncommented();
        let mut full = Document::parse(&text);
        read_sections(&mut full, &MACHINE);
        let manual = include_str!("../../../../docs/configuration.md");
        for key in asked {
            assert!(
                full.place(&key).is_some(),
                "{key} is missing in config/larder.toml"
            );
            let (_, name) = key.split_once('.').unwrap();
            assert!(
                manual.contains(&format!("| `{name}` |")),
                "{key} is missing in the manual"
            );
        }
    }

    #[test]
    fn flags_win_over_the_file() {
        let overrides = Overrides {
            listen: Some("127.0.0.1:1".parse().unwrap()),
            ram: Some(crate::config::MemoryLimit::Bytes(100 << 20)),
            ..Overrides::default()
        };
        let text = "[server]\nlisten = ['127.0.0.1:2', '127.0.0.1:3']\n[memory]\nlimit = '1GiB'";
        let config = Config::parse(text, &overrides, &MACHINE).unwrap();
        assert_eq!(config.server.listen, ["127.0.0.1:1".parse().unwrap()]);
        assert_eq!(config.memory.limit_bytes, 100 << 20);
    }

    #[test]
    fn a_file_that_is_no_text() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let read = || Config::read(Some(&path), &Overrides::default(), &MACHINE);
        assert!(read().unwrap_err().to_string().contains("No such file"));
        std::fs::write(&path, b"a\xff").unwrap();
        assert!(
            read()
                .unwrap_err()
                .to_string()
                .contains("offset 1 is not UTF-8")
        );
        std::fs::write(&path, vec![b'#'; (1 << 20) + 1]).unwrap();
        assert!(
            read()
                .unwrap_err()
                .to_string()
                .contains("more than 1048576 bytes")
        );
    }

    /// Up to a dozen lines that look like a document, or do not.
    const LINES: &str = "(\\[(server|log|x)\\]\n\
                         |[a-z_]{1,9}( = |=)(1|'[^']{0,5}'|\\[1|\\{|x)\n\
                         |.{0,9}\n){0,12}";

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(200))]
        #[test]
        fn no_text_panics(text in LINES) {
            let _ = Config::parse(&text, &Overrides::default(), &MACHINE);
        }
    }
}
