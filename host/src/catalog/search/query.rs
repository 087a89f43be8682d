//! From what an agent wrote to what is looked for.
//!
//! A query is words, never a query language: quotes, colons, `AND` and brackets mean nothing. Each
//! word becomes a [`Concept`], with the terms that may stand for it.

use super::index::Index;
use super::synonyms::Verb;
use super::words::{Words, is_stopword, uncamel};

/// Longest part of a query that is read, in characters.
pub const QUERY_CHARS_MAX: usize = 1_000;
/// Most words of a query that are looked for.
pub const QUERY_WORDS_MAX: usize = 24;
/// Most words that are looked up as misspelt.
const MISSPELT_MAX: usize = 8;

/// One thing that the query asks for.
#[derive(Debug)]
pub(super) struct Concept {
    /// As it was written, lowercase.
    pub word: String,
    /// How much it tells (BM25's inverse document frequency), in the catalog's own terms.
    pub importance: f32,
    /// Set where it says what to do rather than with what.
    pub verb: Option<Verb>,
    /// Best first; none when no tool has such a word.
    pub variants: Vec<Variant>,
}

/// A term that may stand for a concept.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    pub term: u32,
    pub weight: f32,
    pub rarity: f32,
    pub how: How,
    /// Look in names and keywords only.
    pub names_only: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    Exact,
    Synonym,
    Misspelt,
    Begun,
}

/// How much a word tells that no tool has, beside the mean of those that one has.
const UNKNOWN: f32 = 0.9;

/// How much a verb counts that is not the first.
const LATER_VERB: f32 = 0.6;

impl Index {
    /// The words of a query that are looked for, stopwords left out.
    pub(super) fn query_words(&self, words: &mut Words, query: &str) -> Vec<String> {
        let end = query
            .char_indices()
            .nth(QUERY_CHARS_MAX)
            .map_or(query.len(), |(end, _)| end);
        let mut list: Vec<String> = Vec::new();
        for token in query[..end].split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            if list.len() >= 4 * QUERY_WORDS_MAX {
                break;
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

    pub(super) fn concepts(&self, words: &mut Words, query: &str) -> Vec<Concept> {
        let all = self.query_words(words, query);
        let mut concepts: Vec<Concept> = Vec::new();
        let mut stems: Vec<String> = Vec::new();
        let mut misspelt = 0;
        let mut joined_with_next = vec![None; all.len()];
        for i in 1..all.len() {
            let joined = format!("{}{}", all[i - 1], all[i]);
            joined_with_next[i - 1] = self.service_words.get(&joined).map(|term| (joined, *term));
        }
        for (i, word) in all.iter().enumerate() {
            if concepts.len() == QUERY_WORDS_MAX {
                break;
            }
            if let Some((joined, term)) = &joined_with_next[i]
                && !stems.contains(joined)
            {
                stems.push(joined.clone());
                concepts.push(self.concept(
                    joined.clone(),
                    None,
                    vec![self.variant(*term, 1.0, How::Exact, false)],
                ));
            }
            let part_of_service = joined_with_next[i].is_some()
                || i.checked_sub(1)
                    .is_some_and(|before| joined_with_next[before].is_some());
            if is_stopword(word) || word.bytes().all(|b| b.is_ascii_digit()) {
                continue;
            }
            let stem = words.stem(word);
            if stems.contains(&stem) {
                continue;
            }
            let exact = self.by_stem.get(&stem).copied();
            if part_of_service && exact.is_none() {
                continue;
            }
            let mut variants = Vec::new();
            if let Some(term) = exact {
                variants.push(self.variant(term, 1.0, How::Exact, false));
            }
            self.add_synonyms(&stem, 1.0, &mut variants);
            if variants.is_empty() && misspelt < MISSPELT_MAX {
                misspelt += 1;
                for meant in self.spellings.meant(word) {
                    let how = if meant.begun {
                        How::Begun
                    } else {
                        How::Misspelt
                    };
                    variants.push(self.variant(meant.term, meant.weight, how, false));
                    let meant_stem = words.stem(&meant.word);
                    self.add_synonyms(&meant_stem, meant.weight, &mut variants);
                }
            }
            let verb = self.synonyms.verb(&stem);
            if verb.is_some() {
                // `make a new ...` asks for one action, not for two.
                let asked = |term| {
                    let mut verbs = concepts.iter().filter(|c| c.verb.is_some());
                    verbs.any(|c| c.variants.iter().any(|v| v.term == term))
                };
                variants.retain(|v| v.how == How::Exact || !asked(v.term));
            }
            if verb.is_some() && concepts.iter().any(|c| c.verb.is_some()) {
                if variants.is_empty() {
                    continue;
                }
                // The first verb is the action; in `list open issues` the second only describes.
                for variant in &mut variants {
                    variant.weight *= LATER_VERB;
                }
            }
            stems.push(stem);
            concepts.push(self.concept(word.clone(), verb, variants));
        }
        let known: Vec<f32> = concepts
            .iter()
            .filter(|c| !c.variants.is_empty())
            .map(|c| c.importance)
            .collect();
        let unknown = UNKNOWN * known.iter().sum::<f32>() / known.len().max(1) as f32;
        for concept in concepts.iter_mut().filter(|c| c.variants.is_empty()) {
            concept.importance = unknown;
        }
        concepts
    }

    fn concept(&self, word: String, verb: Option<Verb>, mut variants: Vec<Variant>) -> Concept {
        // Without the word itself its stand-ins count as one word, however rare each is.
        let importance = match variants.iter().find(|v| v.how == How::Exact) {
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
            variants,
        }
    }

    fn add_synonyms(&self, stem: &str, weight: f32, variants: &mut Vec<Variant>) {
        for synonym in self.synonyms.of(stem) {
            let Some(term) = self.by_stem.get(&synonym.stem) else {
                continue;
            };
            if variants.iter().all(|known| known.term != *term) {
                variants.push(self.variant(
                    *term,
                    weight * synonym.weight,
                    How::Synonym,
                    synonym.verb,
                ));
            }
        }
    }

    fn variant(&self, term: u32, weight: f32, how: How, names_only: bool) -> Variant {
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
