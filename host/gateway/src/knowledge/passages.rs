//! A text cut into passages: what is found, and where it is. Pure.

/// A passage is at most this long; most end earlier, where a paragraph, line or sentence does.
pub const PASSAGE_CHARS_MAX: usize = 1_200;

/// One passage of a text. Offsets count characters (Unicode scalar values) of the whole text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage<'a> {
    pub text: &'a str,
    pub starts_at: usize,
    pub ends_at: usize,
    /// From 1, where the document has pages.
    pub page: Option<usize>,
}

/// The passages of a text in their order. `pages`: where each page begins, in characters; no
/// passage is on two.
pub fn passages<'a>(text: &'a str, pages: &[u32]) -> Vec<Passage<'a>> {
    let mut found = Vec::new();
    if pages.is_empty() {
        cut(text, 0, None, &mut found);
        return found;
    }
    let (mut rest, mut at) = (text, 0);
    for (n, _) in pages.iter().enumerate() {
        let ends_at = pages.get(n + 1).map_or(usize::MAX, |next| *next as usize);
        let (page, after) = split_chars(rest, ends_at.saturating_sub(at));
        cut(page, at, Some(n + 1), &mut found);
        (rest, at) = (after, ends_at);
    }
    found
}

/// Appends the passages of `text`, which begins at `at`.
fn cut<'a>(text: &'a str, mut at: usize, page: Option<usize>, found: &mut Vec<Passage<'a>>) {
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start();
        at += rest[..rest.len() - trimmed.len()].chars().count();
        if trimmed.is_empty() {
            return;
        }
        let (most, after) = split_chars(trimmed, PASSAGE_CHARS_MAX);
        let end = if after.is_empty() {
            most.len()
        } else {
            break_of(most)
        };
        let passage = trimmed[..end].trim_end();
        let chars = passage.chars().count();
        found.push(Passage {
            text: passage,
            starts_at: at,
            ends_at: at + chars,
            page,
        });
        at += chars;
        rest = &trimmed[passage.len()..];
    }
}

/// Where a text that has to be cut is best cut: behind its last paragraph, line, sentence or word
/// that leaves at least half of it, else at its end.
fn break_of(text: &str) -> usize {
    let half = text.len() / 2;
    ["\n\n", "\n", ". ", "? ", "! ", " "]
        .iter()
        .find_map(|mark| {
            text.rfind(mark)
                .map(|at| at + mark.len())
                .filter(|at| *at > half)
        })
        .unwrap_or(text.len())
}

/// The first `chars` characters and the rest.
fn split_chars(text: &str, chars: usize) -> (&str, &str) {
    let at = text
        .char_indices()
        .nth(chars)
        .map_or(text.len(), |(at, _)| at);
    text.split_at(at)
}

/// The characters from `starts_at` to `ends_at`.
pub fn slice(text: &str, starts_at: usize, ends_at: usize) -> &str {
    let (_, rest) = split_chars(text, starts_at);
    split_chars(rest, ends_at.saturating_sub(starts_at)).0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks what holds for every text: passages are in order, are where they say, leave nothing
    /// but white space out and are within their bound.
    fn check(text: &str, pages: &[u32]) -> Vec<(usize, usize, Option<usize>)> {
        let found = passages(text, pages);
        let mut at = 0;
        for passage in &found {
            assert_eq!(
                slice(text, passage.starts_at, passage.ends_at),
                passage.text
            );
            assert!(slice(text, at, passage.starts_at).trim().is_empty());
            assert!((1..=PASSAGE_CHARS_MAX).contains(&(passage.ends_at - passage.starts_at)));
            at = passage.ends_at;
        }
        assert!(slice(text, at, usize::MAX).trim().is_empty());
        found
            .iter()
            .map(|passage| (passage.starts_at, passage.ends_at, passage.page))
            .collect()
    }

    #[test]
    fn passages_end_where_a_text_pauses() {
        assert_eq!(check("", &[]), []);
        assert_eq!(check(" \n ", &[]), []);
        assert_eq!(check("  one \n", &[]), [(2, 5, None)]);
        let paragraph = "word ".repeat(160);
        let two = format!("{paragraph}\n\n{paragraph}");
        assert_eq!(check(&two, &[]), [(0, 799, None), (802, 1601, None)]);
        let sentences = format!("{}. {}", "x".repeat(900), "y".repeat(900));
        assert_eq!(check(&sentences, &[]), [(0, 901, None), (902, 1802, None)]);
        let solid = "\u{1f980}".repeat(2_500);
        assert_eq!(
            check(&solid, &[]),
            [(0, 1200, None), (1200, 2400, None), (2400, 2500, None)]
        );
    }

    #[test]
    fn a_passage_stands_on_one_page() {
        assert_eq!(
            check("één\ntwo\nthree", &[0, 4, 4, 8]),
            [(0, 3, Some(1)), (4, 7, Some(3)), (8, 13, Some(4))]
        );
        assert_eq!(check("one", &[0, 3]), [(0, 3, Some(1))]);
    }
}
