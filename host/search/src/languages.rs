//! Words of ten languages for what tools are described with in English.
//!
//! A dictionary of the trade, not a translator: verbs and nouns that people use towards chat, mail,
//! calendar, code, sales, money, files, media and places. The words are in `data/languages`, a file
//! a language. Words are compared without accents and by the stem of their language; Japanese,
//! Chinese and compounds are cut into the longest known words.
//!
//! Many words are of several languages: `termine` is German, `note` is English, French and Italian.
//! So [`Languages::detect`] guesses the language of the whole query first. Where it is plain, its words
//! are read in that language. Otherwise a word that English has too is English.

mod cut;
mod dictionary;
mod language;
mod stem;
#[cfg(test)]
mod tests;

use std::cell::RefCell;

use dictionary::Dictionaries;
use language::Script;
use stem::{Folding, LanguageStems, LibraryStopWords};

pub(crate) use dictionary::English;
pub(crate) use language::Language;

/// So many words of a query that are not English make its language plain.
const WORDS_MIN: usize = 2;
/// A shorter word is not looked up by its stem where the language is not known, in characters:
/// too many English words share a short stem with one of another language.
const FORM_CHARS_MIN: usize = 6;

/// The dictionaries with the analysers of one thread.
pub(super) struct Languages {
    dictionaries: &'static Dictionaries,
    folding: Folding,
    english: LanguageStems,
    /// In the order of [`Language::ALL`].
    stems: Vec<LanguageStems>,
    stop_words: Vec<LibraryStopWords>,
}

impl Languages {
    pub(super) fn new() -> Self {
        Self {
            dictionaries: Dictionaries::get(),
            folding: Folding::new(),
            english: LanguageStems::english(),
            stems: Language::ALL.into_iter().map(LanguageStems::new).collect(),
            stop_words: Language::ALL
                .into_iter()
                .map(LibraryStopWords::new)
                .collect(),
        }
    }

    /// The language that a whole query is written in, given its folded words, or `None` where that
    /// is not plain or where it is English.
    ///
    /// Cyrillic is Russian; Kana and Han are the one of Japanese and Chinese that knows more of the
    /// words. In Latin letters it is the language that knows the most words which English has not,
    /// stop words included: at least two and more than there are English words which it has not,
    /// or one from the dictionary in a query without any English word. So `note` alone is English,
    /// and `aggiungi una nota al file` is Italian although `file` is English too.
    pub(super) fn detect(&mut self, words: &[String]) -> Option<Language> {
        let mut scripts = words.iter().map(|word| Script::from_word(word));
        if let Some(script) = scripts.find(|script| *script != Script::Latin) {
            return Some(match script {
                Script::Cyrillic => Language::Russian,
                Script::EastAsian | Script::Latin => self.east_asian(words),
            });
        }
        let (english, foreign): (Vec<&String>, Vec<&String>) = words
            .iter()
            .filter(|word| word.bytes().any(|b| !b.is_ascii_digit()))
            .partition(|word| self.dictionaries.is_english(word));
        let mut best: Option<((usize, usize, usize), Language)> = None;
        for language in Language::ALL {
            if language.script() != Script::Latin {
                continue;
            }
            let dictionary = self.dictionaries.for_language(language);
            let exact = foreign.iter().filter(|w| dictionary.knows(w)).count();
            let stop = |word: &&&String| !dictionary.knows(word) && self.stops(word, language);
            let mut known = exact + foreign.iter().filter(stop).count();
            if known == 0 {
                continue;
            }
            // Forms are looked at only where a word as it is written speaks for the language.
            let inflected = |word: &&&String| {
                !dictionary.knows(word)
                    && !self.stops(word, language)
                    && !self.stemmed(word, language).is_empty()
            };
            known += foreign.iter().filter(inflected).count();
            let against = english
                .iter()
                .filter(|word| !dictionary.knows(word) && !self.stops(word, language))
                .count();
            let plain =
                (known >= WORDS_MIN && known > against) || (exact > 0 && english.is_empty());
            // Related languages differ in words that English has too: `do`, `no`, `a`.
            let rank = (known, english.len() - against, exact);
            if plain && best.is_none_or(|(most, _)| rank > most) {
                best = Some((rank, language));
            }
        }
        best.map(|(_, language)| language)
    }

    fn east_asian(&self, words: &[String]) -> Language {
        let known = |language: Language| {
            let dictionary = self.dictionaries.for_language(language);
            let known = words
                .iter()
                .filter(|word| dictionary.knows(word) || dictionary.stops(word));
            known.map(|word| word.chars().count()).sum::<usize>()
        };
        let kana = words.iter().flat_map(|word| word.chars()).any(|c| {
            use language::Character::{Hiragana, Katakana};
            matches!(language::Character::new(c), Hiragana | Katakana)
        });
        let (japanese, chinese) = (known(Language::Japanese), known(Language::Chinese));
        match !kana && (chinese > japanese || japanese == 0) {
            true => Language::Chinese,
            false => Language::Japanese,
        }
    }

    /// The English for a folded word of a query in this language. Where the language is
    /// not known, a word that is not English is looked up in all: in a query of one language a word
    /// of another is a name more often than not.
    pub(super) fn english(&mut self, word: &str, language: Option<Language>) -> English {
        let Some(language) = language else {
            return self.exact(word);
        };
        let word = &*self.plain(word);
        match self.dictionaries.for_language(language).word(word) {
            [] => self.stemmed(word, language),
            english => english,
        }
    }

    /// Whether a folded word of a query in this language tells nothing about a tool.
    pub(super) fn tells_nothing(&mut self, word: &str, language: Option<Language>) -> bool {
        match language {
            Some(language) => {
                let word = &*self.plain(word);
                !self.dictionaries.for_language(language).knows(word) && self.stops(word, language)
            }
            None => is_stopword(word),
        }
    }

    /// The English for a word that is in a dictionary as it is written, in any language. A word
    /// that English has too is English.
    pub(super) fn exact(&self, word: &str) -> English {
        match self.dictionaries.is_english(word) {
            true => &[],
            false => self.dictionaries.any(word),
        }
    }

    /// The English for a form of a word in any language. [`Languages::english`] is surer where the
    /// language is known.
    pub(super) fn form(&mut self, word: &str) -> English {
        let word = &*self.plain(word);
        if word.chars().count() < FORM_CHARS_MIN || self.dictionaries.is_english(word) {
            return &[];
        }
        if word.is_ascii()
            && self
                .english
                .stem(word)
                .is_some_and(|stem| self.dictionaries.is_english_stem(&stem))
        {
            return &[];
        }
        let script = Script::from_word(word);
        Language::ALL
            .into_iter()
            .filter(|language| language.script() == script)
            .map(|language| self.stemmed(word, language))
            .find(|english| !english.is_empty())
            .unwrap_or(&[])
    }

    /// Cuts a word of the text as it was written that has no spaces where words end: Japanese,
    /// Chinese, and compounds of German and Dutch. Other words are `None`.
    pub(super) fn cut(&mut self, token: &str) -> Option<Vec<String>> {
        if let Some(cut) = cut::east_asian(self.dictionaries, token) {
            return Some(cut);
        }
        // `sendMessage` is cut at its capital, by others.
        if token.chars().skip(1).any(char::is_uppercase) {
            return None;
        }
        cut::compound(self.dictionaries, &self.folding.fold(token))
    }

    fn stemmed(&mut self, word: &str, language: Language) -> English {
        // An English word is not stemmed: its stem could match an unrelated word of the other language.
        if self.dictionaries.is_english(word) {
            return &[];
        }
        match self.stems[language as usize].stem(word) {
            Some(stem) => self.dictionaries.for_language(language).stem(&stem),
            None => &[],
        }
    }

    fn stops(&mut self, word: &str, language: Language) -> bool {
        self.dictionaries.for_language(language).stops(word)
            || self.stop_words[language as usize].contains(word)
    }

    /// A folded word as the dictionaries have it.
    fn plain(&mut self, word: &str) -> String {
        match word.is_ascii() {
            true => word.to_owned(),
            false => self.folding.fold(word),
        }
    }
}

thread_local! {
    static STOP_WORDS: RefCell<Vec<LibraryStopWords>> =
        RefCell::new(Language::ALL.into_iter().map(LibraryStopWords::new).collect());
}

/// Whether a folded word tells nothing about a tool in some language, while it is not an English word
/// and in no dictionary.
pub(super) fn is_stopword(word: &str) -> bool {
    let dictionaries = Dictionaries::get();
    if dictionaries.is_english(word) || !dictionaries.any(word).is_empty() {
        return false;
    }
    let listed = Language::ALL
        .into_iter()
        .any(|language| dictionaries.for_language(language).stops(word));
    listed || STOP_WORDS.with_borrow_mut(|lists| lists.iter_mut().any(|list| list.contains(word)))
}
