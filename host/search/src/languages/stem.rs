//! Words without accents, and their stems in each language.

use tantivy::tokenizer::{
    AsciiFoldingFilter, LowerCaser, RawTokenizer, Stemmer, StopWordFilter, TextAnalyzer,
};

use super::language::Language;

/// Shorter words are not compared by stem, in characters.
pub(super) const STEM_CHARS_MIN: usize = 4;

/// Endings of Polish nouns, adjectives and verbs without accents, the longest first. Snowball's
/// own Polish stemmer needs the accents, which queries have lost here.
const POLISH_ENDINGS: &[&str] = &[
    "iego", "iemu", "ymi", "imi", "ami", "ach", "owi", "ego", "emu", "ych", "ich", "ow", "om",
    "em", "ie", "ym", "im", "ej", "a", "e", "y", "i", "o", "u",
];

/// Lowercase words without accents, as queries are split into.
pub(super) struct Folding(TextAnalyzer);

impl Folding {
    pub(super) fn new() -> Self {
        Self(
            TextAnalyzer::builder(RawTokenizer::default())
                .filter(LowerCaser)
                .filter(AsciiFoldingFilter)
                .build(),
        )
    }

    pub(super) fn fold(&mut self, word: &str) -> String {
        let folded = only(&mut self.0, word).unwrap_or_default();
        // Russian is often written without the dots.
        match folded.contains('\u{451}') {
            true => folded.replace('\u{451}', "\u{435}"),
            false => folded,
        }
    }
}

/// The stems of one language.
pub(super) struct LanguageStems(StemRule);

enum StemRule {
    Snowball(TextAnalyzer),
    Endings(&'static [&'static str]),
    /// Words do not inflect, or are cut before they do.
    Whole,
}

impl LanguageStems {
    pub(super) fn new(language: Language) -> Self {
        let rule = match (language, language.snowball()) {
            (Language::Polish, _) => StemRule::Endings(POLISH_ENDINGS),
            (_, Some(snowball)) => StemRule::Snowball(snowball_stemmer(snowball)),
            (_, None) => StemRule::Whole,
        };
        Self(rule)
    }

    pub(super) fn english() -> Self {
        Self(StemRule::Snowball(snowball_stemmer(
            tantivy::tokenizer::Language::English,
        )))
    }

    /// `None` for a word that is too short to have one.
    pub(super) fn stem(&mut self, word: &str) -> Option<String> {
        if word.chars().count() < STEM_CHARS_MIN {
            return None;
        }
        match &mut self.0 {
            StemRule::Snowball(stemmer) => only(stemmer, word),
            StemRule::Endings(endings) => {
                let stem = endings
                    .iter()
                    .filter_map(|ending| word.strip_suffix(ending))
                    .find(|stem| stem.chars().count() >= STEM_CHARS_MIN);
                Some(stem.unwrap_or(word).to_owned())
            }
            StemRule::Whole => None,
        }
    }
}

/// The library's list of stop words of one language. The lists have accents, so the few words that
/// have one are in our own files.
pub(super) struct LibraryStopWords(Option<TextAnalyzer>);

impl LibraryStopWords {
    pub(super) fn new(language: Language) -> Self {
        let filter = language.snowball().and_then(StopWordFilter::new);
        Self(filter.map(|filter| {
            TextAnalyzer::builder(RawTokenizer::default())
                .filter(filter)
                .build()
        }))
    }

    pub(super) fn contains(&mut self, word: &str) -> bool {
        match &mut self.0 {
            Some(analyzer) => only(analyzer, word).is_none(),
            None => false,
        }
    }
}

fn snowball_stemmer(language: tantivy::tokenizer::Language) -> TextAnalyzer {
    TextAnalyzer::builder(RawTokenizer::default())
        .filter(Stemmer::new(language))
        .build()
}

/// The one token that an analyser makes of a word, if any.
fn only(analyzer: &mut TextAnalyzer, word: &str) -> Option<String> {
    let mut stream = analyzer.token_stream(word);
    stream.advance().then(|| stream.token().text.clone())
}
