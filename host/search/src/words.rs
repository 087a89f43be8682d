//! From text to words and stems, the same way for tools and for queries.

use std::cell::RefCell;
use std::collections::HashMap;

use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, LowerCaser, RawTokenizer, RemoveLongFilter, SimpleTokenizer,
    Stemmer, TextAnalyzer,
};

use super::languages::{self, Languages};

/// Longer words are ids or encoded data, in bytes.
const WORD_BYTES_MAX: usize = 40;

/// Most stems a thread remembers.
const STEMS_KEPT_MAX: usize = 20_000;

/// Words that say nothing about which tool is meant.
const STOPWORDS: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but",
    "by", "can", "could", "did", "do", "does", "for", "from", "had", "has", "have", "he", "help",
    "her", "here", "him", "his", "how", "i", "id", "if", "in", "into", "is", "it", "its", "just",
    "let", "like", "me", "my", "need", "of", "on", "one", "or", "our", "out", "please", "s",
    "saying", "she", "should", "so", "some", "t", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "tool", "us", "use", "using", "via", "want", "was",
    "we", "were", "what", "when", "where", "which", "who", "whose", "why", "will", "with", "would",
    "you", "your",
];

thread_local! {
    /// The analyser of this thread.
    pub(super) static WORDS: RefCell<Words> = RefCell::new(Words::new());
}

/// One analyser, for one thread: it keeps the stems it has already made.
pub(super) struct Words {
    split: TextAnalyzer,
    stem: TextAnalyzer,
    stems: HashMap<String, String>,
    pub(super) languages: Languages,
}

impl Words {
    pub(super) fn new() -> Self {
        Self {
            split: TextAnalyzer::builder(SimpleTokenizer::default())
                .filter(RemoveLongFilter::limit(WORD_BYTES_MAX))
                .filter(LowerCaser)
                .filter(AsciiFoldingFilter)
                .build(),
            stem: TextAnalyzer::builder(RawTokenizer::default())
                .filter(Stemmer::new(Language::English))
                .build(),
            stems: HashMap::new(),
            languages: Languages::new(),
        }
    }

    /// Keeps the memory of a long-lived thread bounded: queries are written by strangers.
    pub(super) fn forget_beyond_bound(&mut self) {
        if self.stems.len() > STEMS_KEPT_MAX {
            self.stems.clear();
        }
    }

    /// Lowercase words without accents, at most `max`.
    pub(super) fn split(&mut self, text: &str, max: usize) -> Vec<String> {
        let mut words = Vec::new();
        let mut stream = self.split.token_stream(text);
        while words.len() < max && stream.advance() {
            words.push(stream.token().text.clone());
        }
        words
    }

    /// [`Words::split`] for names in a program: `createIssue` is `create issue`.
    pub(super) fn split_name(&mut self, name: &str, max: usize) -> Vec<String> {
        match name.contains(char::is_uppercase) {
            true => self.split(&uncamel(name), max),
            false => self.split(name, max),
        }
    }

    /// Words of a service's name and title, and each of the two as one word, without repetition.
    pub(super) fn service_words(&mut self, service: &str, title: &str) -> Vec<String> {
        let mut all = self.split(service, 10);
        let mut titled = self.split(title, 10);
        for list in [&mut all, &mut titled] {
            if list.len() > 1 {
                let joined = list.concat();
                list.push(joined);
            }
        }
        for word in titled {
            if !all.contains(&word) && !is_stopword(&word) {
                all.push(word);
            }
        }
        all
    }

    /// The stem under which a word is indexed.
    pub(super) fn stem(&mut self, word: &str) -> String {
        if let Some(stem) = self.stems.get(word) {
            return stem.clone();
        }
        let mut stream = self.stem.token_stream(word);
        let stem = if stream.advance() {
            stream.token().text.clone()
        } else {
            word.to_owned()
        };
        drop(stream);
        self.stems.insert(word.to_owned(), stem.clone());
        stem
    }
}

/// Words that say when or how much, which tools take as arguments: found, they tell little; not
/// found, they are not missed. Sorted.
const CIRCUMSTANCES: &[&str] = &[
    "afternoon",
    "again",
    "april",
    "august",
    "currently",
    "day",
    "days",
    "december",
    "evening",
    "every",
    "everybody",
    "everywhere",
    "february",
    "five",
    "four",
    "friday",
    "good",
    "hour",
    "hours",
    "january",
    "july",
    "june",
    "last",
    "latest",
    "march",
    "may",
    "minute",
    "minutes",
    "monday",
    "month",
    "morning",
    "near",
    "next",
    "night",
    "nobody",
    "november",
    "now",
    "october",
    "old",
    "over",
    "per",
    "quarter",
    "recent",
    "right",
    "saturday",
    "september",
    "since",
    "somebody",
    "someone",
    "soon",
    "still",
    "sunday",
    "ten",
    "three",
    "thursday",
    "today",
    "tomorrow",
    "tonight",
    "tuesday",
    "two",
    "wednesday",
    "week",
    "weekend",
    "weeks",
    "year",
    "years",
    "yesterday",
];

pub(super) fn is_circumstance(word: &str) -> bool {
    CIRCUMSTANCES.binary_search(&word).is_ok()
}

pub(super) fn is_stopword(word: &str) -> bool {
    STOPWORDS.binary_search(&word).is_ok() || languages::is_stopword(word)
}

/// Puts a space where a lowercase letter or digit meets an uppercase one, and before the last
/// capital of `HTTPServer`.
pub(super) fn uncamel(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut spaced = String::with_capacity(name.len() + 8);
    for (i, c) in chars.iter().enumerate() {
        let before = i.checked_sub(1).map(|i| chars[i]);
        let after = chars.get(i + 1);
        let starts = c.is_uppercase()
            && before.is_some_and(|b| {
                b.is_lowercase()
                    || b.is_numeric()
                    || (b.is_uppercase() && after.is_some_and(|a| a.is_lowercase()))
            });
        if starts {
            spaced.push(' ');
        }
        spaced.push(*c);
    }
    spaced
}

#[cfg(test)]
mod tests {
    use super::{STOPWORDS, Words, uncamel};

    #[test]
    fn stopwords_are_sorted_for_the_binary_search() {
        assert!(STOPWORDS.is_sorted());
        assert!(super::CIRCUMSTANCES.is_sorted());
    }

    #[test]
    fn names_are_split_at_underscores_and_capitals() {
        for (name, expected) in [
            ("create_issue", "create issue"),
            ("createIssue", "create issue"),
            ("listHTTPRoutes", "list http routes"),
            ("oauth2Token", "oauth2 token"),
            ("kebab-case.dotted", "kebab case dotted"),
        ] {
            assert_eq!(Words::new().split_name(name, 9).join(" "), expected);
        }
        assert_eq!(uncamel(""), "");
    }

    #[test]
    fn forms_of_a_word_share_a_stem() {
        let mut words = Words::new();
        for (a, b) in [
            ("issues", "issue"),
            ("creating", "create"),
            ("messages", "message"),
        ] {
            assert_eq!(words.stem(a), words.stem(b));
        }
        assert_eq!(words.split("Stra\u{df}e CAF\u{c9}", 9), ["strasse", "cafe"]);
    }
}
