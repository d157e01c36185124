//! Rust text without its strings: one view with the code alone, one with the comments alone.

/// Two views of a file, line for line and column for column the same as the text: what does not
/// belong to a view is blank in it.
#[derive(Debug, Default)]
pub(crate) struct Views {
    /// Code without comments and without the contents of literals.
    pub(crate) code: String,
    /// The comments, doc comments included.
    pub(crate) comments: String,
}

#[derive(Clone, Copy)]
enum View {
    Code,
    Comment,
    Neither,
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    views: Views,
}

/// Splits `text`. Text that is no Rust gives views that are no use, never a panic.
pub(crate) fn split(text: &str) -> Views {
    let mut lexer = Lexer {
        chars: text.chars().collect(),
        at: 0,
        views: Views::default(),
    };
    while lexer.at < lexer.chars.len() {
        lexer.step();
    }
    lexer.views
}

impl Lexer {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn looking_at(&self, text: &str) -> bool {
        text.chars()
            .enumerate()
            .all(|(ahead, c)| self.peek(ahead) == Some(c))
    }

    /// Moves over `count` characters and shows them in `view` alone.
    fn take(&mut self, count: usize, view: View) {
        for _ in 0..count {
            let Some(c) = self.peek(0) else { return };
            let blank = if c == '\n' { '\n' } else { ' ' };
            let (code, comment) = match view {
                View::Code => (c, blank),
                View::Comment => (blank, c),
                View::Neither => (blank, blank),
            };
            self.views.code.push(code);
            self.views.comments.push(comment);
            self.at += 1;
        }
    }

    fn step(&mut self) {
        match self.peek(0) {
            Some('/') if self.looking_at("//") => self.line_comment(),
            Some('/') if self.looking_at("/*") => self.block_comment(),
            Some('"') => self.string(),
            Some('\'') => self.quote(),
            Some(c) if c == '_' || c.is_alphanumeric() => self.word(),
            _ => self.take(1, View::Code),
        }
    }

    fn line_comment(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.take(1, View::Comment);
        }
    }

    /// Block comments nest.
    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        while self.peek(0).is_some() {
            if self.looking_at("/*") {
                depth += 1;
                self.take(2, View::Comment);
            } else if self.looking_at("*/") {
                depth -= 1;
                self.take(2, View::Comment);
                if depth == 0 {
                    return;
                }
            } else {
                self.take(1, View::Comment);
            }
        }
    }

    fn string(&mut self) {
        self.take(1, View::Code);
        while let Some(c) = self.peek(0) {
            match c {
                '\\' => self.take(2, View::Neither),
                '"' => return self.take(1, View::Code),
                _ => self.take(1, View::Neither),
            }
        }
    }

    /// A character literal or a lifetime.
    fn quote(&mut self) {
        if self.peek(1) == Some('\\') {
            self.take(1, View::Code);
            self.take(2, View::Neither);
            while self.peek(0).is_some_and(|c| c != '\'' && c != '\n') {
                self.take(1, View::Neither);
            }
            self.take(1, View::Code);
        } else if self.peek(2) == Some('\'') {
            self.take(1, View::Code);
            self.take(1, View::Neither);
            self.take(1, View::Code);
        } else {
            self.take(1, View::Code);
        }
    }

    /// An identifier, a number, or the prefix of a raw string.
    fn word(&mut self) {
        let start = self.at;
        while self
            .peek(0)
            .is_some_and(|c| c == '_' || c.is_alphanumeric())
        {
            self.take(1, View::Code);
        }
        let word: String = self.chars[start..self.at].iter().collect();
        if matches!(word.as_str(), "r" | "br" | "cr") {
            self.raw_string();
        }
    }

    fn raw_string(&mut self) {
        let hashes = (0..).take_while(|&n| self.peek(n) == Some('#')).count();
        if self.peek(hashes) != Some('"') {
            return; // a raw identifier
        }
        let end = format!("\"{}", "#".repeat(hashes));
        self.take(hashes + 1, View::Code);
        while self.peek(0).is_some() && !self.looking_at(&end) {
            self.take(1, View::Neither);
        }
        self.take(hashes + 1, View::Code);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_leave_the_code() {
        let cases = [
            ("a(); // unsafe", "a();", "// unsafe"),
            ("/* x /* y */ z */ b", "b", "/* x /* y */ z */"),
            (r#"f("// no comment \" still") // c"#, "f(\"\")", "// c"),
            (r###"g(r#"a " b"#, 1)"###, r###"g(r#""#, 1)"###, ""),
            (r"h('\'', b'x', '{')", "h('', b'', '')", ""),
            ("fn k<'a>(x: &'a str) {}", "fn k<'a>(x: &'a str) {}", ""),
            ("r#fn + 1", "r#fn + 1", ""),
        ];
        for (text, code, comments) in cases {
            let views = split(text);
            let squeezed: String = squeeze(&views.code);
            assert_eq!(squeezed, squeeze(code), "code of {text}");
            assert_eq!(views.comments.trim(), comments, "comments of {text}");
            assert_eq!(views.code.chars().count(), text.chars().count());
        }
    }

    #[test]
    fn lines_keep_their_numbers() {
        let views = split("a\n\"x\ny\"\n/* c\nd */ e\n");
        assert_eq!(views.code.lines().count(), 5);
        assert_eq!(views.code.lines().nth(4).map(str::trim), Some("e"));
    }

    #[test]
    fn unfinished_text_ends() {
        for text in ["\"abc", "/* a", "r#\"a", "'\\", "'", "\"\\"] {
            assert_eq!(split(text).code.chars().count(), text.chars().count());
        }
    }

    fn squeeze(text: &str) -> String {
        text.split_whitespace().collect::<String>()
    }
}
