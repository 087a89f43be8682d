//! Cuts what is written without spaces: Japanese, Chinese, and compounds of German and Dutch.

use super::dictionary::{Dictionaries, Dictionary};
use super::language::{Character, Language};

/// Shorter words are not compounds, and shorter parts are not words, in bytes of ASCII.
const COMPOUND_BYTES_MIN: usize = 8;
const PART_BYTES_MIN: usize = 4;
/// A compound needs one part of this length that is not English: `firmware` is not a German ware.
const FOREIGN_PART_BYTES_MIN: usize = 5;
/// Most parts of a compound.
const PARTS_MAX: usize = 3;

/// The languages that write compounds as one word, with what may be between two parts.
const COMPOUNDING: &[(Language, &[&str])] = &[
    (Language::German, &["", "s", "es", "n", "en", "er"]),
    (Language::Dutch, &["", "s", "en", "e"]),
];

/// Cuts a word that has Japanese or Chinese: runs of other letters as they are, of the rest
/// the longest words that are known. Stop words and Hiragana that belongs to none are left out.
pub(super) fn east_asian(dictionaries: &Dictionaries, token: &str) -> Option<Vec<String>> {
    let chars: Vec<char> = token.chars().collect();
    let kinds: Vec<Character> = chars.iter().map(|c| Character::new(*c)).collect();
    if kinds.iter().all(|kind| *kind == Character::Other) {
        return None;
    }
    let kana = |kind: &Character| matches!(kind, Character::Hiragana | Character::Katakana);
    let japanese = dictionaries.for_language(Language::Japanese);
    let chinese = dictionaries.for_language(Language::Chinese);
    let mut cut = Vec::new();
    let mut from = 0;
    while from < chars.len() {
        let other = kinds[from] == Character::Other;
        let run = kinds[from..]
            .iter()
            .take_while(|kind| (**kind == Character::Other) == other)
            .count();
        let part = &chars[from..from + run];
        from += run;
        if other {
            cut.push(part.iter().collect());
            continue;
        }
        let first = CutText::new(japanese, part);
        // Without Kana it may be either: the one is meant that knows more of it, in longer words.
        let segments = match kinds.iter().any(kana) {
            true => first,
            false => {
                let second = CutText::new(chinese, part);
                match second.rank() > first.rank() {
                    true => second,
                    false => first,
                }
            }
        };
        cut.extend(segments.words);
    }
    Some(cut)
}

/// A text cut by one dictionary.
struct CutText {
    words: Vec<String>,
    /// How many characters are of known words.
    known: usize,
    /// How many words were found or left over.
    pieces: usize,
}

impl CutText {
    fn new(dictionary: &Dictionary, run: &[char]) -> Self {
        let mut segments = Self {
            words: Vec::new(),
            known: 0,
            pieces: 0,
        };
        let mut unknown = String::new();
        let mut from = 0;
        while from < run.len() {
            let most = dictionary.chars_max.min(run.len() - from);
            let found = (1..=most).rev().find_map(|length| {
                let word: String = run[from..from + length].iter().collect();
                let stops = dictionary.stops(&word);
                (stops || dictionary.knows(&word)).then_some((word, length, stops))
            });
            match found {
                Some((word, length, stops)) => {
                    segments.add(&mut unknown);
                    segments.known += length;
                    segments.pieces += 1;
                    if !stops {
                        segments.words.push(word);
                    }
                    from += length;
                }
                None => {
                    let kind = Character::new(run[from]);
                    if from > 0 && Character::new(run[from - 1]) != kind {
                        segments.add(&mut unknown);
                    }
                    if kind != Character::Hiragana {
                        unknown.push(run[from]);
                    }
                    from += 1;
                }
            }
        }
        segments.add(&mut unknown);
        segments
    }

    fn add(&mut self, unknown: &mut String) {
        if !unknown.is_empty() {
            self.pieces += 1;
            self.words.push(std::mem::take(unknown));
        }
    }

    fn rank(&self) -> (usize, std::cmp::Reverse<usize>) {
        (self.known, std::cmp::Reverse(self.pieces))
    }
}

/// Cuts a folded word into the known words that it is made of: `Kalendereintrag` is `kalender` and
/// `eintrag`. `None` unless all of it is known.
pub(super) fn compound(dictionaries: &'static Dictionaries, word: &str) -> Option<Vec<String>> {
    if word.len() < COMPOUND_BYTES_MIN
        || !word.bytes().all(|b| b.is_ascii_lowercase())
        || dictionaries.is_english(word)
        || !dictionaries.any(word).is_empty()
    {
        return None;
    }
    COMPOUNDING.iter().find_map(|(language, links)| {
        let dictionary = dictionaries.for_language(*language);
        let foreign = |part: &str| {
            part.len() >= FOREIGN_PART_BYTES_MIN
                && dictionary.knows(part)
                && !dictionaries.is_english(part)
        };
        let known = |part: &str| dictionary.knows(part) || dictionaries.is_english(part);
        let parts = parts(&known, links, word, PARTS_MAX)?;
        parts
            .iter()
            .any(|part| foreign(part))
            .then(|| parts.iter().map(|part| (*part).to_owned()).collect())
    })
}

fn parts<'a>(
    known: &dyn Fn(&str) -> bool,
    links: &[&str],
    word: &'a str,
    most: usize,
) -> Option<Vec<&'a str>> {
    if known(word) {
        return Some(vec![word]);
    }
    if most == 1 {
        return None;
    }
    let longest = word.len().checked_sub(PART_BYTES_MIN)?;
    (PART_BYTES_MIN..=longest).rev().find_map(|end| {
        let (first, rest) = word.split_at(end);
        if !known(first) {
            return None;
        }
        links.iter().find_map(|link| {
            let rest = rest.strip_prefix(link)?;
            if rest.len() < PART_BYTES_MIN {
                return None;
            }
            let mut found = vec![first];
            found.extend(parts(known, links, rest, most - 1)?);
            Some(found)
        })
    })
}
