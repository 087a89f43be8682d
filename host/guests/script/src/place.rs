//! Lines and columns of a script as it was sent, both counted from 1. A column counts characters.

/// The name under which the interpreter reports places of the script.
pub(crate) const SCRIPT_PATH: &str = "script";

/// What the interpreter runs before each script, in its first line: all code of the script then runs in a job. Where
/// a module reaches a limit of the interpreter before its first `await`, the interpreter panics or says that it is done.
pub(crate) const PREAMBLE: &str = "await 0;";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl Place {
    /// The place of the byte `offset`.
    pub(crate) fn from_offset(text: &str, offset: usize) -> Self {
        let mut place = Self { line: 1, column: 1 };
        let mut characters = text.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            if at >= offset {
                break;
            }
            let crlf = character == '\r' && characters.peek().is_some_and(|next| next.1 == '\n');
            if is_line_end(character) && !crlf {
                place.line = place.line.saturating_add(1);
                place.column = 1;
            } else {
                place.column = place.column.saturating_add(1);
            }
        }
        place
    }

    /// The innermost place that the text of a stack names: lines `at name (script:3:7)`.
    pub(crate) fn from_stack(stack: &str) -> Option<Self> {
        stack.lines().find_map(|line| {
            let inner = line.rsplit_once(" (")?.1.strip_suffix(')')?;
            let mut parts = inner
                .strip_prefix(SCRIPT_PATH)?
                .strip_prefix(':')?
                .split(':');
            let line = parts.next()?.parse().ok()?;
            let column = parts.next()?.parse().ok()?;
            Some(Self { line, column }.without_preamble())
        })
    }

    /// The place that the message of the interpreter's parser ends with, and the message without it.
    pub(crate) fn from_parser_message(message: &str) -> Option<(Option<Self>, &str)> {
        let (rest, place) = message.rsplit_once(" at line ")?;
        let (line, column) = place.split_once(", col ")?;
        let place = Self {
            line: line.trim().parse().ok()?,
            column: column.trim().parse().ok()?,
        };
        // A rule about the script as a whole has the place of its beginning.
        let place = (place.line > 1 || place.column > 1).then(|| place.without_preamble());
        Some((place, rest.trim_end_matches(',')))
    }

    /// The place in the script of one that the interpreter names.
    fn without_preamble(self) -> Self {
        let preamble = u32::try_from(PREAMBLE.len()).unwrap_or_default();
        match self.line {
            1 => Self {
                line: 1,
                column: self.column.saturating_sub(preamble).max(1),
            },
            _ => self,
        }
    }
}

pub(crate) fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_lines_and_characters() {
        let text = "a\r\nbé\u{1f600}c\rd";
        let at = |needle: char| {
            let place = Place::from_offset(text, text.find(needle).unwrap());
            (place.line, place.column)
        };
        assert_eq!(at('a'), (1, 1));
        assert_eq!(at('b'), (2, 1));
        assert_eq!(at('c'), (2, 4));
        assert_eq!(at('d'), (3, 1));
    }

    #[test]
    fn the_innermost_place_of_the_script_is_found() {
        let stack = "    at get (native)\n    at f (script:3:7)\n    at <main> (script:9:1)\n";
        assert_eq!(Place::from_stack(stack), Some(Place { line: 3, column: 7 }));
        assert_eq!(Place::from_stack("    at f (native)\n"), None);
        let first = Place { line: 1, column: 2 };
        assert_eq!(Place::from_stack("    at f (script:1:10)\n"), Some(first));
    }
}
