//! The dictionaries, read once from `data/languages`. The head of `de.txt` explains their lines.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::language::Language;
use super::stem::{Folding, LanguageStems};

/// English words for one word, the best first.
pub(crate) type English = &'static [&'static str];

/// Begins a line of stop words.
const STOP: &str = "stop:";
/// Stands between words and what they mean.
const MEANS: &str = " = ";

const ENGLISH: &str = include_str!("../../data/languages/en.txt");

/// The words of one language.
pub(super) struct Dictionary {
    /// What the lines mean; the other fields hold places in it.
    meanings: Vec<Vec<&'static str>>,
    words: HashMap<String, usize>,
    stems: HashMap<String, usize>,
    stop_words: HashSet<String>,
    /// The longest word, in characters.
    pub(super) chars_max: usize,
}

impl Dictionary {
    fn read(language: Language, folding: &mut Folding) -> Self {
        let mut stems = LanguageStems::new(language);
        let mut dictionary = Self {
            meanings: Vec::new(),
            words: HashMap::new(),
            stems: HashMap::new(),
            stop_words: HashSet::new(),
            chars_max: 0,
        };
        for line in lines(language.source()) {
            match line {
                DictionaryLine::Stop(words) => {
                    for word in words {
                        dictionary.longest(word);
                        dictionary.stop_words.insert(folding.fold(word));
                    }
                }
                DictionaryLine::Entry(words, english) => {
                    let place = dictionary.meanings.len();
                    dictionary.meanings.push(english);
                    for word in words {
                        dictionary.longest(word);
                        for form in spellings(language, word) {
                            let form = folding.fold(&form);
                            if let Some(stem) = stems.stem(&form) {
                                dictionary.stems.entry(stem).or_insert(place);
                            }
                            dictionary.words.entry(form).or_insert(place);
                        }
                    }
                }
            }
        }
        dictionary
    }

    fn longest(&mut self, word: &str) {
        self.chars_max = self.chars_max.max(word.chars().count());
    }

    /// The English for a word as it is written; nothing where it is not known.
    pub(super) fn word(&self, word: &str) -> &[&'static str] {
        self.meaning(self.words.get(word))
    }

    /// The English for a word with this stem.
    pub(super) fn stem(&self, stem: &str) -> &[&'static str] {
        self.meaning(self.stems.get(stem))
    }

    fn meaning(&self, place: Option<&usize>) -> &[&'static str] {
        place.map_or(&[], |place| &self.meanings[*place])
    }

    pub(super) fn knows(&self, word: &str) -> bool {
        self.words.contains_key(word)
    }

    /// Whether our own file lists a word as one that tells nothing.
    pub(super) fn stops(&self, word: &str) -> bool {
        self.stop_words.contains(word)
    }
}

/// All dictionaries, and what they know together.
pub(super) struct Dictionaries {
    by_language: Vec<Dictionary>,
    /// The English for a word in any language, those of the first language first.
    any: HashMap<String, Vec<&'static str>>,
    /// Words that are English, whatever else they are.
    english: HashSet<&'static str>,
    english_stems: HashSet<String>,
}

static DICTIONARIES: LazyLock<Dictionaries> = LazyLock::new(Dictionaries::read);

impl Dictionaries {
    pub(super) fn get() -> &'static Self {
        &DICTIONARIES
    }

    fn read() -> Self {
        let mut folding = Folding::new();
        let by_language: Vec<Dictionary> = Language::ALL
            .iter()
            .map(|language| Dictionary::read(*language, &mut folding))
            .collect();
        let mut any: HashMap<String, Vec<&'static str>> = HashMap::new();
        let mut english: HashSet<&'static str> = comments_removed(ENGLISH)
            .flat_map(str::split_whitespace)
            .collect();
        for dictionary in &by_language {
            for (word, place) in &dictionary.words {
                let meanings = any.entry(word.clone()).or_default();
                for meaning in &dictionary.meanings[*place] {
                    if !meanings.contains(meaning) {
                        meanings.push(meaning);
                    }
                }
            }
            english.extend(dictionary.meanings.iter().flatten());
        }
        let mut stems = LanguageStems::english();
        let english_stems = english.iter().filter_map(|word| stems.stem(word)).collect();
        Self {
            by_language,
            any,
            english,
            english_stems,
        }
    }

    pub(super) fn for_language(&self, language: Language) -> &Dictionary {
        &self.by_language[language as usize]
    }

    /// The English for a word in any language.
    pub(super) fn any(&'static self, word: &str) -> English {
        self.any.get(word).map_or(&[], Vec::as_slice)
    }

    /// Whether a word is English too, as it is or as a plural.
    pub(super) fn is_english(&self, word: &str) -> bool {
        self.english.contains(word)
            || word
                .strip_suffix('s')
                .is_some_and(|one| self.english.contains(one))
    }

    pub(super) fn is_english_stem(&self, stem: &str) -> bool {
        self.english_stems.contains(stem)
    }
}

/// How a word is written by those who have its letters and by those who have not.
fn spellings(language: Language, word: &str) -> Vec<String> {
    let mut spellings = vec![word.to_owned()];
    if language == Language::German {
        let without = word
            .replace('\u{e4}', "ae")
            .replace('\u{f6}', "oe")
            .replace('\u{fc}', "ue");
        if without != word {
            spellings.push(without);
        }
    }
    spellings
}

pub(super) enum DictionaryLine {
    Stop(Vec<&'static str>),
    Entry(Vec<&'static str>, Vec<&'static str>),
}

/// The lines of a dictionary. The tests refuse a line of another form.
pub(super) fn lines(source: &'static str) -> impl Iterator<Item = DictionaryLine> {
    comments_removed(source).filter_map(|line| match line.strip_prefix(STOP) {
        Some(words) => Some(DictionaryLine::Stop(words.split_whitespace().collect())),
        None => line.split_once(MEANS).map(|(words, english)| {
            DictionaryLine::Entry(
                words.split_whitespace().collect(),
                english.split_whitespace().collect(),
            )
        }),
    })
}

pub(super) fn comments_removed(source: &'static str) -> impl Iterator<Item = &'static str> {
    source
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::{DictionaryLine, ENGLISH, Folding, HashSet, Language, comments_removed, lines};

    #[test]
    fn every_line_of_a_dictionary_has_its_form() {
        let mut folding = Folding::new();
        for language in Language::ALL {
            let source = language.source();
            assert_eq!(
                lines(source).count(),
                comments_removed(source).count(),
                "{language:?}"
            );
            let (mut entries, mut words, mut stop_words) = (0, HashSet::new(), HashSet::new());
            for line in lines(source) {
                match line {
                    DictionaryLine::Stop(list) => {
                        for word in list {
                            assert!(
                                stop_words.insert(folding.fold(word)),
                                "{language:?}: {word} twice"
                            );
                        }
                    }
                    DictionaryLine::Entry(list, english) => {
                        entries += 1;
                        assert!(
                            !list.is_empty() && !english.is_empty(),
                            "{language:?}: {list:?}"
                        );
                        for word in list {
                            let folded = folding.fold(word);
                            assert!(
                                folded.chars().all(char::is_alphabetic),
                                "{language:?}: {word}"
                            );
                            assert!(words.insert(folded), "{language:?}: {word} twice");
                        }
                        for word in english {
                            let plain = word.bytes().all(|b| b.is_ascii_lowercase());
                            assert!(plain, "{language:?}: {word} is not a plain English word");
                        }
                    }
                }
            }
            assert!(entries >= 220, "{language:?}: {entries} entries");
            let both: Vec<&String> = words.intersection(&stop_words).collect();
            assert!(
                both.is_empty(),
                "{language:?}: both known and not: {both:?}"
            );
        }
    }

    #[test]
    fn every_english_word_is_plain_and_stands_once() {
        let mut seen = HashSet::new();
        for word in comments_removed(ENGLISH).flat_map(str::split_whitespace) {
            assert!(word.bytes().all(|b| b.is_ascii_lowercase()), "{word}");
            assert!(seen.insert(word), "{word} twice");
        }
    }
}
