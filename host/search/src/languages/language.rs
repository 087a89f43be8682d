//! The languages that queries are read in besides English.

use tantivy::tokenizer;

/// A language that a query may be written in. English is not one of them: it needs no dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    German,
    Spanish,
    French,
    Italian,
    Portuguese,
    Dutch,
    Polish,
    Russian,
    Japanese,
    Chinese,
}

impl Language {
    /// In the order of the enum: where two languages know a query equally well, the first is meant.
    pub(super) const ALL: [Self; 10] = [
        Self::German,
        Self::Spanish,
        Self::French,
        Self::Italian,
        Self::Portuguese,
        Self::Dutch,
        Self::Polish,
        Self::Russian,
        Self::Japanese,
        Self::Chinese,
    ];

    /// The text of its dictionary.
    pub(super) fn source(self) -> &'static str {
        match self {
            Self::German => include_str!("../../data/languages/de.txt"),
            Self::Spanish => include_str!("../../data/languages/es.txt"),
            Self::French => include_str!("../../data/languages/fr.txt"),
            Self::Italian => include_str!("../../data/languages/it.txt"),
            Self::Portuguese => include_str!("../../data/languages/pt.txt"),
            Self::Dutch => include_str!("../../data/languages/nl.txt"),
            Self::Polish => include_str!("../../data/languages/pl.txt"),
            Self::Russian => include_str!("../../data/languages/ru.txt"),
            Self::Japanese => include_str!("../../data/languages/ja.txt"),
            Self::Chinese => include_str!("../../data/languages/zh.txt"),
        }
    }

    /// What the library calls it, where it has a stemmer and stop words of it.
    pub(super) fn snowball(self) -> Option<tokenizer::Language> {
        match self {
            Self::German => Some(tokenizer::Language::German),
            Self::Spanish => Some(tokenizer::Language::Spanish),
            Self::French => Some(tokenizer::Language::French),
            Self::Italian => Some(tokenizer::Language::Italian),
            Self::Portuguese => Some(tokenizer::Language::Portuguese),
            Self::Dutch => Some(tokenizer::Language::Dutch),
            Self::Russian => Some(tokenizer::Language::Russian),
            Self::Polish | Self::Japanese | Self::Chinese => None,
        }
    }

    pub(super) fn script(self) -> Script {
        match self {
            Self::Russian => Script::Cyrillic,
            Self::Japanese | Self::Chinese => Script::EastAsian,
            Self::German
            | Self::Spanish
            | Self::French
            | Self::Italian
            | Self::Portuguese
            | Self::Dutch
            | Self::Polish => Script::Latin,
        }
    }
}

/// What a word is written in, as far as it tells languages apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    Latin,
    Cyrillic,
    EastAsian,
}

impl Script {
    pub(super) fn from_word(word: &str) -> Self {
        if word.is_ascii() {
            return Self::Latin;
        }
        word.chars()
            .find_map(|c| match Character::new(c) {
                Character::Other if ('\u{400}'..='\u{4ff}').contains(&c) => Some(Self::Cyrillic),
                Character::Other => None,
                Character::Hiragana | Character::Katakana | Character::Han => Some(Self::EastAsian),
            })
            .unwrap_or(Self::Latin)
    }
}

/// What a character of a text belongs to, as far as words are cut by it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Character {
    Hiragana,
    Katakana,
    Han,
    Other,
}

impl Character {
    pub(super) fn new(c: char) -> Self {
        match c {
            '\u{3041}'..='\u{309f}' => Self::Hiragana,
            '\u{30a0}'..='\u{30ff}' => Self::Katakana,
            '\u{3005}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' => Self::Han,
            _ => Self::Other,
        }
    }
}
