//! From what an agent wrote to what is looked for.
//!
//! A query is words, never a query language: quotes, colons, `AND` and brackets mean nothing. Each
//! word becomes a [`Concept`], with the terms that may mean it ([`super::concepts`]).

use super::index::Index;
use super::synonyms::Verb;
use super::words::{Words, uncamel};

/// Longest part of a query that is read, in characters.
pub const QUERY_CHARS_MAX: usize = 4_000;
/// Most words of a query that are read.
const WORDS_READ_MAX: usize = 400;

/// One thing that the query asks for.
#[derive(Debug)]
pub(super) struct Concept {
    /// As it was written, lowercase.
    pub word: String,
    /// How much it tells (BM25's inverse document frequency), in the catalog's own terms.
    pub importance: f32,
    /// Set where it says what to do rather than with what.
    pub verb: Option<Verb>,
    /// Not in the query: what a question asks for without a word.
    pub implied: bool,
    /// Best first; none when no tool has such a word.
    pub variants: Vec<Variant>,
}

/// A term that may mean a concept.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    pub term: u32,
    pub weight: f32,
    pub rarity: f32,
    pub how: MatchKind,
    /// Look in names and keywords only.
    pub names_only: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatchKind {
    Exact,
    Synonym,
    Translated,
    Misspelt,
    Begun,
}

impl Index {
    /// The words of a query that are looked for, stopwords left out.
    pub(super) fn query_words(&self, words: &mut Words, query: &str) -> Vec<String> {
        let end = query
            .char_indices()
            .nth(QUERY_CHARS_MAX)
            .map_or(query.len(), |(end, _)| end);
        let mut list: Vec<String> = Vec::new();
        for token in query[..end].split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            if list.len() >= WORDS_READ_MAX {
                break;
            }
            if let Some(cut) = words.languages.cut(token) {
                for piece in cut {
                    match piece.is_ascii() {
                        true => list.extend(words.split(&piece, 8)),
                        false => list.push(piece),
                    }
                }
                continue;
            }
            let whole = words.split(token, 8);
            // `GitHub` is a word of its own, `createIssue` is two.
            let known = whole
                .iter()
                .all(|word| self.by_stem.contains_key(&words.stem(word)));
            if known || token.chars().next().is_none_or(char::is_uppercase) {
                list.extend(whole);
            } else {
                list.extend(words.split(&uncamel(token), 8));
            }
        }
        list
    }

    /// What the sentence model is given: the query, or where it has words of other languages or misspelt
    /// ones, its words in English and as they are written.
    pub(super) fn sentence(
        &self,
        words: &mut Words,
        query: &str,
        is_word: &dyn Fn(&str) -> bool,
    ) -> String {
        let mut text = String::new();
        let (mut translated, mut corrected) = (false, false);
        let mut kept = String::new();
        let all = self.query_words(words, query);
        let language = words.languages.detect(&all);
        for word in all {
            let known = self.by_stem.contains_key(&words.stem(&word));
            let english = match words.languages.english(&word, language) {
                [] if language.is_none() && !known => words.languages.form(&word),
                english => english,
            };
            let mut meant = None;
            if english.is_empty() && !known && !is_word(&word) {
                let all = self.spellings.meant(&word);
                meant = all.into_iter().find(|meant| !meant.begun);
            }
            translated |= !english.is_empty();
            corrected |= meant.is_some();
            let read = match (&meant, english.first()) {
                (_, Some(english)) => english,
                (Some(meant), None) => &*meant.word,
                (None, None) => &*word,
            };
            kept.push_str(read);
            kept.push(' ');
            if !words.languages.tells_nothing(&word, language) {
                text.push_str(read);
                text.push(' ');
            }
        }
        match (translated, corrected) {
            (true, _) => text,
            (false, true) => kept,
            (false, false) => query.to_owned(),
        }
    }

    pub(super) fn concept(
        &self,
        word: String,
        verb: Option<Verb>,
        mut variants: Vec<Variant>,
    ) -> Concept {
        // Without the word itself its stand-ins count as one word, however rare each is.
        let importance = match variants.iter().find(|v| v.how == MatchKind::Exact) {
            Some(exact) => exact.rarity,
            None => {
                let tools = variants
                    .iter()
                    .map(|v| self.terms[v.term as usize].tools)
                    .sum::<u32>();
                self.rarity(tools.min(self.tools))
            }
        };
        for variant in &mut variants {
            variant.rarity = variant.rarity.min(importance);
        }
        Concept {
            word,
            importance,
            verb,
            implied: false,
            variants,
        }
    }

    pub(super) fn add_synonyms(&self, stem: &str, weight: f32, variants: &mut Vec<Variant>) {
        for synonym in self.synonyms.get(stem) {
            let Some(term) = self.by_stem.get(&synonym.stem) else {
                continue;
            };
            if variants.iter().all(|known| known.term != *term) {
                variants.push(self.variant(
                    *term,
                    weight * synonym.weight,
                    MatchKind::Synonym,
                    synonym.verb,
                ));
            }
        }
    }

    pub(super) fn variant(
        &self,
        term: u32,
        weight: f32,
        how: MatchKind,
        names_only: bool,
    ) -> Variant {
        let rarity = self.rarity(self.terms[term as usize].tools);
        Variant {
            term,
            weight,
            rarity,
            how,
            names_only,
        }
    }

    fn rarity(&self, tools: u32) -> f32 {
        let (all, with) = (self.tools as f32, tools as f32);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }
}
