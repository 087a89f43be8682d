//! From what an agent wrote to what is looked for.
//!
//! A query is words, never a query language: quotes, colons, `AND` and brackets mean nothing. Each
//! word becomes a [`Concept`], with the terms that may stand for it.

use super::index::Index;
use super::message::message_words;
use super::synonyms::Verb;
use super::words::{Words, is_circumstance, is_stopword, uncamel};

/// Longest part of a query that is read, in characters.
pub const QUERY_CHARS_MAX: usize = 4_000;
/// Most words of a query that are looked for: of a longer one the most telling.
pub const QUERY_WORDS_MAX: usize = 24;
/// Most words of a query that are read.
const WORDS_READ_MAX: usize = 400;
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
    /// Not in the query: what a question asks for without a word.
    pub implied: bool,
    /// Best first; none when no tool has such a word.
    pub variants: Vec<Variant>,
}

/// A term that may stand for a concept.
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

/// How well an English word stands for one of another language.
const TRANSLATED: f32 = 0.9;

/// How much a word tells that no tool has, beside the mean of those that one has.
const UNKNOWN: f32 = 0.9;

/// How much a word counts that says when or how much.
const CIRCUMSTANCE: f32 = 0.3;

/// How much a word counts that belongs to the message that a query asks to send.
const IN_MESSAGE: f32 = 0.3;

/// What a question asks for where it names no verb, as a stem, and how much that counts.
const SHOW: &str = "list";
const SHOWN: f32 = 0.7;

/// Whether a query begins as a question does.
fn question(query: &str) -> bool {
    let first = query
        .split(|c: char| !c.is_alphanumeric())
        .find(|word| !word.is_empty());
    first.is_some_and(|word| {
        let word = word.to_lowercase();
        [
            "which",
            "what",
            "who",
            "whose",
            "where",
            "when",
            "how",
            "is",
            "are",
            "did",
            "has",
            "any",
            "welche",
            "welcher",
            "wer",
            "wie",
            "wo",
            "was",
            "qu\u{e9}",
            "que",
            "cu\u{e1}l",
            "qui\u{e9}n",
            "d\u{f3}nde",
        ]
        .contains(&&*word)
    })
}

/// Of a long query the words that tell most, in their order; words that no tool has come last.
fn keep_most_telling(concepts: &mut Vec<Concept>) {
    if concepts.len() <= QUERY_WORDS_MAX {
        return;
    }
    let telling = |concept: &Concept| match concept.variants.is_empty() {
        true => 0.0,
        false => concept.importance,
    };
    let mut all: Vec<f32> = concepts.iter().map(telling).collect();
    all.sort_unstable_by(|a, b| b.total_cmp(a));
    let least = all[QUERY_WORDS_MAX - 1];
    let mut room = QUERY_WORDS_MAX;
    concepts.retain(|concept| {
        let kept = room > 0 && telling(concept) >= least;
        room -= usize::from(kept);
        kept
    });
}

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

    pub(super) fn concepts(
        &self,
        words: &mut Words,
        query: &str,
        is_word: &dyn Fn(&str) -> bool,
    ) -> Vec<Concept> {
        let all = self.query_words(words, query);
        let language = words.languages.detect(&all);
        let mut concepts: Vec<Concept> = Vec::new();
        let mut stems: Vec<String> = Vec::new();
        let mut misspelt = 0;
        let mut joined_with_next = vec![None; all.len()];
        for i in 1..all.len() {
            let joined = format!("{}{}", all[i - 1], all[i]);
            joined_with_next[i - 1] = self.service_words.get(&joined).map(|term| (joined, *term));
        }
        for (i, word) in all.iter().enumerate() {
            if let Some((joined, term)) = &joined_with_next[i]
                && !stems.contains(joined)
            {
                stems.push(joined.clone());
                concepts.push(self.concept(
                    joined.clone(),
                    None,
                    vec![self.variant(*term, 1.0, MatchKind::Exact, false)],
                ));
            }
            let part_of_service = joined_with_next[i].is_some()
                || i.checked_sub(1)
                    .is_some_and(|before| joined_with_next[before].is_some());
            if is_stopword(word)
                || words.languages.tells_nothing(word, language)
                || word.bytes().all(|b| b.is_ascii_digit())
            {
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
            let english = match words.languages.english(word, language) {
                [] if language.is_none() && exact.is_none() => words.languages.form(word),
                english => english,
            };
            // A word of another language may look like an English stem: `termine`, `terminate`.
            let exact =
                exact.filter(|_| english.is_empty() || self.service_words.contains_key(word));
            let mut variants = Vec::new();
            if let Some(term) = exact {
                variants.push(self.variant(term, 1.0, MatchKind::Exact, false));
            }
            let mut verb = self.synonyms.verb(&stem);
            if english.is_empty() {
                self.add_synonyms(&stem, 1.0, &mut variants);
            }
            for (place, meant) in english.iter().enumerate() {
                let stem = words.stem(meant);
                if let Some(term) = self.by_stem.get(&stem)
                    && variants.iter().all(|known| known.term != *term)
                {
                    variants.push(self.variant(*term, TRANSLATED, MatchKind::Translated, false));
                }
                self.add_synonyms(&stem, TRANSLATED, &mut variants);
                if place == 0 {
                    verb = self.synonyms.verb(&stem);
                }
            }
            if variants.is_empty() && misspelt < MISSPELT_MAX {
                misspelt += 1;
                let spelt = is_word(word);
                for meant in self.spellings.meant(word) {
                    if spelt && !meant.begun {
                        continue;
                    }
                    let how = if meant.begun {
                        MatchKind::Begun
                    } else {
                        MatchKind::Misspelt
                    };
                    variants.push(self.variant(meant.term, meant.weight, how, false));
                    let meant_stem = words.stem(&meant.word);
                    self.add_synonyms(&meant_stem, meant.weight, &mut variants);
                }
            }
            if verb.is_some() {
                // `make a new ...` asks for one action, not for two.
                let asked = |term| {
                    let mut verbs = concepts.iter().filter(|c| c.verb.is_some());
                    verbs.any(|c| c.variants.iter().any(|v| v.term == term))
                };
                variants.retain(|v| v.how == MatchKind::Exact || !asked(v.term));
            }
            // In `open issues` the word describes.
            if verb.is_some()
                && word == "open"
                && all.get(i + 1).is_some_and(|next| next.ends_with('s'))
            {
                continue;
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
        keep_most_telling(&mut concepts);
        // `which channels are there` does not say that they are to be shown.
        let asks = question(query) && !self.says_action(&concepts);
        if asks
            && !concepts.is_empty()
            && let Some(term) = self.by_stem.get(SHOW)
        {
            let mut variants = vec![self.variant(*term, SHOWN, MatchKind::Synonym, true)];
            self.add_synonyms(SHOW, SHOWN, &mut variants);
            for variant in &mut variants {
                variant.names_only = true;
            }
            let mut concept = self.concept(SHOW.to_owned(), Some(Verb::Reads), variants);
            concept.implied = true;
            concepts.push(concept);
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
        let in_message = message_words(&all);
        for concept in &mut concepts {
            let word = &*concept.word;
            let part = if is_circumstance(word) {
                CIRCUMSTANCE
            } else if in_message.contains(word) && !self.service_words.contains_key(word) {
                IN_MESSAGE
            } else {
                continue;
            };
            concept.importance *= part;
            for variant in &mut concept.variants {
                variant.rarity *= part;
            }
        }
        concepts
    }

    fn concept(&self, word: String, verb: Option<Verb>, mut variants: Vec<Variant>) -> Concept {
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

    /// Whether a question names what is done besides asking: `who can delete this` does not.
    fn says_action(&self, concepts: &[Concept]) -> bool {
        concepts
            .iter()
            .any(|concept| concept.verb == Some(Verb::Reads))
    }

    fn add_synonyms(&self, stem: &str, weight: f32, variants: &mut Vec<Variant>) {
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

    fn variant(&self, term: u32, weight: f32, how: MatchKind, names_only: bool) -> Variant {
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
