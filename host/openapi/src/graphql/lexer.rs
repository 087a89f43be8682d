//! Tokens of GraphQL's schema language (GraphQL, section 2.1).

/// Longest text, in bytes: that of every description file.
const TEXT_BYTES_MAX: usize = 64 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaToken<'t> {
    /// `{`, `!`, `...` and the others.
    Mark(&'t str),
    Name(&'t str),
    Number(&'t str),
    /// What a string means, without its quotes.
    Text(String),
}

/// The tokens of a text with the line of each, or a sentence about what is no token.
pub fn tokens(text: &str) -> Result<Vec<(SchemaToken<'_>, u64)>, String> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(format!("has more than {TEXT_BYTES_MAX} bytes"));
    }
    let mut reader = TokenReader {
        rest: text.trim_start_matches('\u{feff}'),
        line: 1,
    };
    let mut found = Vec::new();
    while let Some(token) = reader.token()? {
        found.push(token);
    }
    Ok(found)
}

struct TokenReader<'t> {
    rest: &'t str,
    line: u64,
}

impl<'t> TokenReader<'t> {
    fn token(&mut self) -> Result<Option<(SchemaToken<'t>, u64)>, String> {
        self.skip_ignored();
        let line = self.line;
        let Some(first) = self.rest.chars().next() else {
            return Ok(None);
        };
        let token = match first {
            '"' if self.rest.starts_with("\"\"\"") => self.block()?,
            '"' => self.string()?,
            '.' if self.rest.starts_with("...") => SchemaToken::Mark(self.take(3)),
            '!' | '$' | '&' | '(' | ')' | ':' | '=' | '@' | '[' | ']' | '{' | '|' | '}' => {
                SchemaToken::Mark(self.take(1))
            }
            first if first.is_ascii_alphabetic() || first == '_' => {
                let inner = |c: char| c.is_ascii_alphanumeric() || c == '_';
                SchemaToken::Name(self.take_while(inner))
            }
            first if first.is_ascii_digit() || first == '-' => {
                let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
                SchemaToken::Number(self.take_while(inner))
            }
            other => {
                return Err(format!(
                    "line {line}: `{}` has no meaning in a GraphQL schema",
                    other.escape_default()
                ));
            }
        };
        Ok(Some((token, line)))
    }

    /// White space, commas and comments.
    fn skip_ignored(&mut self) {
        loop {
            let ignored = |c: char| c.is_whitespace() || c == ',' || c == '\u{feff}';
            self.take_while(ignored);
            if !self.rest.starts_with('#') {
                return;
            }
            self.take_while(|c| c != '\n' && c != '\r');
        }
    }

    fn take(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        self.line += taken.bytes().filter(|byte| *byte == b'\n').count() as u64;
        taken
    }

    fn take_while(&mut self, inner: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !inner(c)).unwrap_or(self.rest.len());
        self.take(end)
    }

    /// A string on one line. What is not an escape is kept as it is written.
    fn string(&mut self) -> Result<SchemaToken<'t>, String> {
        let mut escaped = false;
        let rest = self.rest;
        for (at, c) in rest.char_indices().skip(1) {
            match c {
                '\n' | '\r' => break,
                '"' if !escaped => {
                    let written = self.take(at + 1);
                    let bare = written[1..at].to_owned();
                    // JSON has the same escapes.
                    return Ok(SchemaToken::Text(
                        serde_json::from_str(written).unwrap_or(bare),
                    ));
                }
                _ => escaped = c == '\\' && !escaped,
            }
        }
        Err(format!("line {}: a string has no end", self.line))
    }

    /// A block string: the lines without their common indentation.
    fn block(&mut self) -> Result<SchemaToken<'t>, String> {
        let mut from = 3;
        loop {
            let Some(end) = self.rest[from..].find("\"\"\"") else {
                return Err(format!("line {}: a block string has no end", self.line));
            };
            let end = from + end;
            if self.rest[..end].ends_with('\\') {
                from = end + 3;
                continue;
            }
            let written = self.take(end + 3);
            let inner = written[3..end].replace("\\\"\"\"", "\"\"\"");
            let lines: Vec<&str> = inner.lines().map(str::trim).collect();
            return Ok(SchemaToken::Text(lines.join("\n").trim().to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_strings_and_numbers_are_read() {
        let text = "# first\ntype A@x(n: -1.5e3) { \"\"\"\n  Two \\\"\"\"\n  lines\n\"\"\" a: \"it\\\"s\" }";
        let found = tokens(text).unwrap();
        let shown: Vec<String> = found
            .iter()
            .map(|(token, line)| match token {
                SchemaToken::Mark(text) | SchemaToken::Name(text) | SchemaToken::Number(text) => {
                    format!("{line} {text}")
                }
                SchemaToken::Text(text) => format!("{line} <{text}>"),
            })
            .collect();
        assert_eq!(
            shown,
            [
                "2 type",
                "2 A",
                "2 @",
                "2 x",
                "2 (",
                "2 n",
                "2 :",
                "2 -1.5e3",
                "2 )",
                "2 {",
                "2 <Two \"\"\"\nlines>",
                "5 a",
                "5 :",
                "5 <it\"s>",
                "5 }"
            ]
        );
    }

    #[test]
    fn what_is_no_token_is_named_with_its_line() {
        for (text, said) in [
            ("type A\n  ?", "line 2: `?`"),
            ("\"no end", "line 1: a string has no end"),
            ("\n\"\"\"no end", "line 2: a block string has no end"),
        ] {
            let refused = tokens(text).unwrap_err();
            assert!(refused.starts_with(said), "{refused}");
        }
    }
}
