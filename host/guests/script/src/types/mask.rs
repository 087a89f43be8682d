//! A text in which pieces are replaced by spaces, so that everything else keeps its line and column.

use std::collections::BTreeMap;

use oxc_span::Span;

use crate::place::is_line_end;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    Kept,
    Blank,
    Written(char),
}

pub(crate) struct SourceMask<'s> {
    text: &'s str,
    /// By byte of the text.
    cells: Vec<Cell>,
    /// Characters that stand before those at an offset. They move what follows in their line.
    inserted: BTreeMap<usize, char>,
}

impl<'s> SourceMask<'s> {
    pub(crate) fn new(text: &'s str) -> Self {
        Self {
            text,
            cells: vec![Cell::Kept; text.len()],
            inserted: BTreeMap::new(),
        }
    }

    pub(crate) fn blank(&mut self, start: usize, end: usize) {
        for cell in self.cells.get_mut(start..end).unwrap_or_default() {
            if *cell == Cell::Kept {
                *cell = Cell::Blank;
            }
        }
    }

    pub(crate) fn blank_span(&mut self, span: Span) {
        self.blank(span.start as usize, span.end as usize);
    }

    /// Puts `character` in the place of the one at `offset`.
    pub(crate) fn write(&mut self, offset: usize, character: char) {
        if let Some(cell) = self.cells.get_mut(offset) {
            *cell = Cell::Written(character);
        }
    }

    /// Puts brackets around `span`: the first one in the place of a space before it, if there is one.
    pub(crate) fn bracket(&mut self, span: Span) {
        let (start, end) = (span.start as usize, span.end as usize);
        let before = start.checked_sub(1);
        match before.filter(|at| self.text.as_bytes().get(*at) == Some(&b' ')) {
            Some(at) => self.write(at, '('),
            None => {
                self.inserted.insert(start, '(');
            }
        }
        self.inserted.insert(end, ')');
    }

    /// Replaces a statement or a member of a class by an empty one, which ends what stands before it.
    pub(crate) fn blank_statement(&mut self, span: Span) {
        self.blank_span(span);
        self.write(span.start as usize, ';');
    }

    /// The first character from `offset` on that is neither white space nor in a comment, and whether a line ends before it.
    pub(crate) fn next_token(&self, mut offset: usize) -> Option<(usize, char, bool)> {
        let mut is_after_line = false;
        while let Some(rest) = self.text.get(offset..) {
            let character = rest.chars().next()?;
            let comment = if rest.starts_with("//") {
                rest.find(is_line_end).unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else if character.is_whitespace() || is_line_end(character) || character == '\u{feff}'
            {
                character.len_utf8()
            } else {
                return Some((offset, character, is_after_line));
            };
            is_after_line |= rest
                .get(..comment)
                .is_some_and(|skipped| skipped.contains(is_line_end));
            offset += comment;
        }
        None
    }

    /// The word that begins at `offset`.
    pub(crate) fn word(&self, offset: usize) -> &'s str {
        let rest = self.text.get(offset..).unwrap_or_default();
        let end = rest.find(|character: char| !character.is_ascii_alphanumeric());
        &rest[..end.unwrap_or(rest.len())]
    }

    pub(crate) fn has_line_end(&self, span: Span) -> bool {
        self.text
            .get(span.start as usize..span.end as usize)
            .is_some_and(|text| text.contains(is_line_end))
    }

    pub(crate) fn finish(self) -> String {
        let mut output = String::with_capacity(self.text.len());
        for (offset, character) in self.text.char_indices() {
            output.extend(self.inserted.get(&offset));
            output.push(match self.cells.get(offset) {
                Some(Cell::Written(written)) => *written,
                Some(Cell::Blank) if !is_line_end(character) => ' ',
                _ => character,
            });
        }
        output.extend(self.inserted.get(&self.text.len()));
        output
    }
}
