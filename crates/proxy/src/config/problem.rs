//! What is wrong with a configuration, where, and what would be right.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use super::suggest::closest;

/// The most problems that are printed: a file of another program in the wrong place has thousands.
pub const PROBLEMS_MAX: usize = 40;

/// The most characters of a source line that are shown.
const SHOWN_CHARS_MAX: usize = 100;

/// Where a problem was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In the configuration file. Lines and columns count from 1, columns in characters.
    Line {
        /// The line.
        line: usize,
        /// The column of its first character.
        column: usize,
        /// How many characters are meant, at least 1.
        width: usize,
        /// The line's text.
        text: String,
    },
    /// On the command line, for instance `--disk`.
    Flag(&'static str),
    /// A default value, named by its key, that does not suit the rest.
    Default(String),
    /// The file as a whole.
    File,
}

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it is.
    pub place: Place,
    /// What is wrong, with the numbers.
    pub what: String,
    /// What would be right.
    pub expected: String,
    /// What was probably meant.
    pub help: Option<String>,
}

/// All mistakes of one configuration. The process that meets them exits with
/// [`crate::cli::exit::CONFIG`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    /// The file, if there is one.
    pub path: Option<PathBuf>,
    /// In the order of the file; at least one.
    pub problems: Vec<Problem>,
}

impl std::error::Error for Problems {}

/// A mistake inside a document, before its bytes are turned into a line and a column.
#[derive(Debug)]
pub(super) struct Mistake {
    /// Bytes of the document.
    pub(super) span: Range<usize>,
    pub(super) what: String,
    pub(super) expected: String,
    pub(super) help: Option<String>,
}

impl Mistake {
    pub(super) fn new(span: Range<usize>, what: String, expected: impl Into<String>) -> Self {
        Self {
            span,
            what,
            expected: expected.into(),
            help: None,
        }
    }

    /// Adds what was probably meant, if one of `known` is near to `found`.
    pub(super) fn suggest<'a>(mut self, found: &str, known: impl Iterator<Item = &'a str>) -> Self {
        self.help = closest(found, known).map(|near| format!("did you mean `{near}`?"));
        self
    }

    /// The problem as an operator sees it.
    pub(super) fn locate(self, source: &str) -> Problem {
        let place = Place::of(&self.span, source);
        Problem {
            place,
            what: self.what,
            expected: self.expected,
            help: self.help,
        }
    }
}

impl Place {
    /// The line and column of a span of bytes. A span that is not on character borders, which the
    /// parser does not produce, is moved back to the nearest.
    pub(super) fn of(span: &Range<usize>, source: &str) -> Self {
        let start = source.floor_char_boundary(span.start);
        let end = source.floor_char_boundary(span.end.max(start));
        let line_start = source[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let rest = &source[line_start..];
        let text = rest.split(['\n', '\r']).next().unwrap_or_default();
        let line_end = line_start + text.len();
        let width = source[start..end.min(line_end).max(start)].chars().count();
        Self::Line {
            line: source[..line_start].matches('\n').count() + 1,
            column: source[line_start..start].chars().count() + 1,
            width: width.max(1),
            text: text.to_owned(),
        }
    }

    /// The order in which problems are reported: by line, then what has no line.
    pub(super) fn order(&self) -> (usize, usize) {
        match self {
            Self::Line { line, column, .. } => (*line, *column),
            Self::Flag(_) | Self::Default(_) | Self::File => (usize::MAX, 0),
        }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.as_ref().map(|path| path.display().to_string());
        let name = path
            .as_deref()
            .unwrap_or("the command line and the defaults");
        match self.problems.len() {
            1 => writeln!(f, "1 problem in {name}")?,
            count => writeln!(f, "{count} problems in {name}")?,
        }
        for problem in self.problems.iter().take(PROBLEMS_MAX) {
            writeln!(f)?;
            problem.write(f, name)?;
        }
        let unseen = self.problems.len().saturating_sub(PROBLEMS_MAX);
        if unseen > 0 {
            writeln!(f, "\n… and {unseen} more")?;
        }
        Ok(())
    }
}

impl Problem {
    fn write(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        let what = &self.what;
        match &self.place {
            Place::Line {
                line,
                column,
                width,
                text,
            } => {
                writeln!(f, "{name}:{line}:{column}: {what}")?;
                write_caret(f, *line, *column, *width, text)?;
            }
            Place::Flag(flag) => writeln!(f, "{flag}: {what}")?,
            Place::Default(key) => writeln!(f, "{key} (default): {what}")?,
            Place::File => writeln!(f, "{name}: {what}")?,
        }
        writeln!(f, "  expected: {}", self.expected)?;
        match &self.help {
            Some(help) => writeln!(f, "  help: {help}"),
            None => Ok(()),
        }
    }
}

fn write_caret(
    f: &mut fmt::Formatter<'_>,
    line: usize,
    column: usize,
    width: usize,
    text: &str,
) -> fmt::Result {
    // A control character would move the caret, or the terminal.
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let shown: String = text.chars().take(SHOWN_CHARS_MAX).map(clean).collect();
    writeln!(f, "  {line:>4} | {shown}")?;
    if column > SHOWN_CHARS_MAX {
        return Ok(());
    }
    let width = width.min(SHOWN_CHARS_MAX + 1 - column);
    writeln!(
        f,
        "       | {:indent$}{:^<width$}",
        "",
        "",
        indent = column - 1
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_becomes_a_line_and_a_column() {
        let source = "a = 1\nß = \"ü\" # x\r\nb = 2";
        for (span, line, column, width, text) in [
            (0..1, 1, 1, 1, "a = 1"),
            (6..8, 2, 1, 1, "ß = \"ü\" # x"),
            (11..15, 2, 5, 3, "ß = \"ü\" # x"),
            (21..22, 3, 1, 1, "b = 2"),
            // An empty span and one past the end still point somewhere.
            (26..26, 3, 6, 1, "b = 2"),
            (90..99, 3, 6, 1, "b = 2"),
            // A span of several lines is shown on its first.
            (0..22, 1, 1, 5, "a = 1"),
        ] {
            let expected = Place::Line {
                line,
                column,
                width,
                text: text.to_owned(),
            };
            assert_eq!(Place::of(&span, source), expected, "{span:?}");
        }
    }

    #[test]
    fn more_problems_than_anybody_reads_are_counted() {
        let problem = Problem {
            place: Place::File,
            what: "no".to_owned(),
            expected: "yes".to_owned(),
            help: None,
        };
        let problems = Problems {
            path: None,
            problems: vec![problem; PROBLEMS_MAX + 2],
        };
        let text = problems.to_string();
        assert!(
            text.starts_with("42 problems in the command line"),
            "{text}"
        );
        assert!(text.ends_with("… and 2 more\n"), "{text}");
    }
}
