//! A query as it was understood: as a whole and in its steps.

use super::index::Index;
use super::query::Concept;
use super::words::{WORDS, Words};

/// A query, understood by one index. Only the index that read it can rank by it.
#[derive(Debug)]
pub struct Reading {
    pub(super) whole: QueryPart,
    /// At least two, or none: then the query is one wish.
    pub(super) steps: Vec<QueryPart>,
    /// Parts of a long query that is one wish, as the model is given them.
    pub(super) windows: Vec<String>,
}

/// What is to be found a tool for.
#[derive(Debug)]
pub(super) struct QueryPart {
    /// As it was written.
    pub text: String,
    /// What the model is given.
    pub sentence: String,
    pub concepts: Vec<Concept>,
}

impl Reading {
    /// What a sentence model is given, in the order in which a search takes the vectors: the whole query
    /// first, then its steps or windows. Words of other languages are in English where they are known,
    /// and misspelt ones are corrected.
    pub fn sentences(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.whole.sentence)
            .chain(self.steps.iter().map(|step| &*step.sentence))
            .chain(self.windows.iter().map(String::as_str))
    }
}

impl Index {
    pub(super) fn understand(&self, query: &str, is_word: &dyn Fn(&str) -> bool) -> Reading {
        let end = query
            .char_indices()
            .nth(super::QUERY_CHARS_MAX)
            .map_or(query.len(), |(end, _)| end);
        let query = &query[..end];
        WORDS.with_borrow_mut(|words| {
            words.forget_beyond_bound();
            let cut = self.cut(words, query);
            let steps = cut.steps.into_iter().map(|step| {
                let full = format!("{} {}", step.text, step.about);
                let wish = self.wish(words, full.trim(), is_word);
                QueryPart {
                    text: step.text,
                    ..wish
                }
            });
            let steps = steps.collect();
            let windows = cut.windows.iter();
            Reading {
                steps,
                windows: windows
                    .map(|window| self.sentence(words, window, is_word))
                    .collect(),
                whole: self.wish(words, query, is_word),
            }
        })
    }

    fn wish(&self, words: &mut Words, text: &str, is_word: &dyn Fn(&str) -> bool) -> QueryPart {
        QueryPart {
            text: text.to_owned(),
            sentence: self.sentence(words, text, is_word),
            concepts: self.concepts(words, text, is_word),
        }
    }
}
