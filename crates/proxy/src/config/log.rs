//! `[log]`: what is written down, and where.

use std::path::PathBuf;

use super::document::Section;
use super::value;

/// What is written down, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogConfig {
    /// The form of the access log.
    pub access: AccessLog,
    /// The access log's file; `None` is standard output.
    pub access_path: Option<PathBuf>,
    /// The least severe events that are logged.
    pub level: Level,
    /// The form of the event log, which goes to standard error.
    pub format: LogFormat,
}

/// The form of the access log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessLog {
    /// Apache's combined form, with the cache's decision at the end.
    Combined,
    /// One JSON object per line.
    Json,
    /// None.
    Off,
}

/// Severity of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something is broken.
    Error,
    /// Something is not as it should be, and larder goes on.
    Warn,
    /// What an operator wants to know of a healthy process.
    Info,
    /// What an engineer wants to know.
    Debug,
    /// Everything.
    Trace,
}

/// The form of the event log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For eyes.
    Text,
    /// One JSON object per line.
    Json,
}

impl AccessLog {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("combined", Self::Combined),
        ("json", Self::Json),
        ("off", Self::Off),
    ];

    /// The name in the configuration and in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Combined => "combined",
            Self::Json => "json",
            Self::Off => "off",
        }
    }
}

impl Level {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("error", Self::Error),
        ("warn", Self::Warn),
        ("info", Self::Info),
        ("debug", Self::Debug),
        ("trace", Self::Trace),
    ];

    /// The name in the configuration, in reports and in `tracing`'s directives.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

impl LogFormat {
    const WORDS: &'static [(&'static str, Self)] = &[("text", Self::Text), ("json", Self::Json)];

    /// The name in the configuration and in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            access: AccessLog::Combined,
            access_path: None,
            level: Level::Info,
            format: LogFormat::Text,
        }
    }
}

impl LogConfig {
    pub(super) fn read(section: &mut Section<'_, '_>) -> Self {
        let d = Self::default();
        Self {
            access: section.get("access", d.access, value::choice(AccessLog::WORDS)),
            access_path: section.get(
                "access_path",
                d.access_path,
                value::optional("-", value::path),
            ),
            level: section.get("level", d.level, value::choice(Level::WORDS)),
            format: section.get("format", d.format, value::choice(LogFormat::WORDS)),
        }
    }
}
