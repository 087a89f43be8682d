//! The concepts of a query: for each word the terms of the catalog that may mean it, and how much it tells.

use super::index::Index;
use super::languages::Language;
use super::message::message_words;
use super::query::{Concept, MatchKind, Variant};
use super::synonyms::Verb;
use super::words::{Words, is_circumstance, is_stopword};

/// Words of a query that are searched. Of a longer query these are the most important.
pub const QUERY_WORDS_MAX: usize = 24;
/// Most words that are looked up as misspelt.
const MISSPELT_MAX: usize = 8;

/// How well an English word means one of another language.
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

/// How much a verb counts that is not the first.
const LATER_VERB: f32 = 0.6;

impl Index {
    pub(super) fn concepts(
        &self,
        words: &mut Words,
        query: &str,
        is_word: &dyn Fn(&str) -> bool,
    ) -> Vec<Concept> {
        let all = self.query_words(words, query);
        let mut reader = ConceptReader::new(self, words, &all, is_word);
        for place in 0..all.len() {
            reader.read(place);
        }
        let mut concepts = reader.concepts;
        keep_most_telling(&mut concepts);
        self.add_asked(query, &mut concepts);
        weigh_unknown(&mut concepts);
        self.weigh_parts(&all, &mut concepts);
        concepts
    }

    /// `which channels are there` does not say that they are to be shown.
    fn add_asked(&self, query: &str, concepts: &mut Vec<Concept>) {
        // A question may name what is done besides asking: `who can delete this` does not.
        let says_action = concepts
            .iter()
            .any(|concept| concept.verb == Some(Verb::Reads));
        if concepts.is_empty() || says_action || !is_question(query) {
            return;
        }
        let Some(term) = self.by_stem.get(SHOW) else {
            return;
        };
        let mut variants = vec![self.variant(*term, SHOWN, MatchKind::Synonym, true)];
        self.add_synonyms(SHOW, SHOWN, &mut variants);
        for variant in &mut variants {
            variant.names_only = true;
        }
        let mut concept = self.concept(SHOW.to_owned(), Some(Verb::Reads), variants);
        concept.implied = true;
        concepts.push(concept);
    }

    /// Words that say when or how much, and those of a message, tell less.
    fn weigh_parts(&self, all: &[String], concepts: &mut [Concept]) {
        let in_message = message_words(all);
        for concept in concepts {
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
    }
}

/// Words that no tool has tell about as much as the mean of the others.
fn weigh_unknown(concepts: &mut [Concept]) {
    let known: Vec<f32> = concepts
        .iter()
        .filter(|c| !c.variants.is_empty())
        .map(|c| c.importance)
        .collect();
    let unknown = UNKNOWN * known.iter().sum::<f32>() / known.len().max(1) as f32;
    for concept in concepts.iter_mut().filter(|c| c.variants.is_empty()) {
        concept.importance = unknown;
    }
}

/// Reads the words of a query one after another.
struct ConceptReader<'q> {
    index: &'q Index,
    words: &'q mut Words,
    /// The words of the query.
    all: &'q [String],
    is_word: &'q dyn Fn(&str) -> bool,
    language: Option<Language>,
    /// For each word the service whose name it is together with the next one.
    joined_with_next: Vec<Option<(String, u32)>>,
    concepts: Vec<Concept>,
    /// Of the words that are read already.
    stems: Vec<String>,
    misspelt: usize,
}

impl<'q> ConceptReader<'q> {
    fn new(
        index: &'q Index,
        words: &'q mut Words,
        all: &'q [String],
        is_word: &'q dyn Fn(&str) -> bool,
    ) -> Self {
        let mut joined_with_next = vec![None; all.len()];
        for i in 1..all.len() {
            let joined = format!("{}{}", all[i - 1], all[i]);
            joined_with_next[i - 1] = index.service_words.get(&joined).map(|term| (joined, *term));
        }
        Self {
            language: words.languages.detect(all),
            index,
            words,
            all,
            is_word,
            joined_with_next,
            concepts: Vec::new(),
            stems: Vec::new(),
            misspelt: 0,
        }
    }

    /// Adds what the word at `place` asks for.
    fn read(&mut self, place: usize) {
        self.add_joined(place);
        let word = &self.all[place];
        if self.tells_nothing(word) {
            return;
        }
        let stem = self.words.stem(word);
        if self.stems.contains(&stem) {
            return;
        }
        let exact = self.index.by_stem.get(&stem).copied();
        if self.is_part_of_service(place) && exact.is_none() {
            return;
        }
        let (verb, mut variants) = self.variants(word, &stem, exact);
        if verb.is_some() && !self.keeps_verb(place, &mut variants) {
            return;
        }
        self.stems.push(stem);
        let concept = self.index.concept(word.clone(), verb, variants);
        self.concepts.push(concept);
    }

    /// The service that the word and the next one name together.
    fn add_joined(&mut self, place: usize) {
        let Some((joined, term)) = self.joined_with_next[place].take() else {
            return;
        };
        if !self.stems.contains(&joined) {
            let variant = self.index.variant(term, 1.0, MatchKind::Exact, false);
            let concept = self.index.concept(joined.clone(), None, vec![variant]);
            self.concepts.push(concept);
            self.stems.push(joined.clone());
        }
        self.joined_with_next[place] = Some((joined, term));
    }

    fn is_part_of_service(&self, place: usize) -> bool {
        let joined = |at: usize| self.joined_with_next[at].is_some();
        joined(place) || place.checked_sub(1).is_some_and(joined)
    }

    fn tells_nothing(&mut self, word: &str) -> bool {
        is_stopword(word)
            || self.words.languages.tells_nothing(word, self.language)
            || word.bytes().all(|b| b.is_ascii_digit())
    }

    /// The terms that may mean a word, and the action that it names.
    fn variants(
        &mut self,
        word: &str,
        stem: &str,
        exact: Option<u32>,
    ) -> (Option<Verb>, Vec<Variant>) {
        let index = self.index;
        let english = match self.words.languages.english(word, self.language) {
            [] if self.language.is_none() && exact.is_none() => self.words.languages.form(word),
            english => english,
        };
        // A word of another language may look like an English stem: `termine`, `terminate`.
        let exact = exact.filter(|_| english.is_empty() || index.service_words.contains_key(word));
        let mut variants: Vec<Variant> = exact
            .map(|term| index.variant(term, 1.0, MatchKind::Exact, false))
            .into_iter()
            .collect();
        let mut verb = index.synonyms.verb(stem);
        if english.is_empty() {
            index.add_synonyms(stem, 1.0, &mut variants);
        }
        for (place, meant) in english.iter().enumerate() {
            let stem = self.words.stem(meant);
            if let Some(term) = index.by_stem.get(&stem)
                && variants.iter().all(|known| known.term != *term)
            {
                variants.push(index.variant(*term, TRANSLATED, MatchKind::Translated, false));
            }
            index.add_synonyms(&stem, TRANSLATED, &mut variants);
            if place == 0 {
                verb = index.synonyms.verb(&stem);
            }
        }
        if variants.is_empty() {
            self.add_misspelt(word, &mut variants);
        }
        (verb, variants)
    }

    /// The terms that a word may be a misspelling or the beginning of.
    fn add_misspelt(&mut self, word: &str, variants: &mut Vec<Variant>) {
        if self.misspelt == MISSPELT_MAX {
            return;
        }
        self.misspelt += 1;
        let index = self.index;
        let is_known = (self.is_word)(word);
        for meant in index.spellings.meant(word) {
            let how = match meant.begun {
                true => MatchKind::Begun,
                false if is_known => continue,
                false => MatchKind::Misspelt,
            };
            variants.push(index.variant(meant.term, meant.weight, how, false));
            let stem = self.words.stem(&meant.word);
            index.add_synonyms(&stem, meant.weight, variants);
        }
    }

    /// Whether a verb is a concept of its own, and with which terms: a query asks for one action.
    fn keeps_verb(&self, place: usize, variants: &mut Vec<Variant>) -> bool {
        let is_asked = |term| {
            let mut verbs = self.concepts.iter().filter(|c| c.verb.is_some());
            verbs.any(|c| c.variants.iter().any(|v| v.term == term))
        };
        // `make a new ...` asks for one action, not for two.
        variants.retain(|v| v.how == MatchKind::Exact || !is_asked(v.term));
        // In `open issues` the word describes.
        let next = self.all.get(place + 1);
        if self.all[place] == "open" && next.is_some_and(|next| next.ends_with('s')) {
            return false;
        }
        if self.concepts.iter().any(|c| c.verb.is_some()) {
            // The first verb is the action; in `list open issues` the second only describes.
            for variant in variants.iter_mut() {
                variant.weight *= LATER_VERB;
            }
            return !variants.is_empty();
        }
        true
    }
}

/// Whether a query begins as a question does.
fn is_question(query: &str) -> bool {
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
