//! Words that agents and people use for what a tool's author called something else.
//!
//! The words are in `data/synonyms.txt`, whose head explains its lines. Verbs are looked up in names
//! and keywords only: in prose they are everywhere.

use std::collections::HashMap;

use super::words::Words;

const SOURCE: &str = include_str!("../data/synonyms.txt");

/// What a verb asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// To see something.
    Reads,
    /// Anything else.
    Other,
}

/// A word that may be meant by another.
#[derive(Clone, Debug)]
pub(super) struct Synonym {
    pub stem: String,
    pub weight: f32,
    /// Look in names and keywords only.
    pub verb: bool,
}

/// Groups by the stem of each of their words.
pub(super) struct Synonyms {
    by_stem: HashMap<String, Vec<Synonym>>,
    reading: Vec<String>,
}

impl Synonyms {
    pub(super) fn new(words: &mut Words) -> Self {
        let mut synonyms = Self {
            by_stem: HashMap::new(),
            reading: Vec::new(),
        };
        for line in SOURCE.lines().filter_map(SynonymLine::parse) {
            match line {
                SynonymLine::Reads(list) => synonyms.reading = stems(words, &list),
                SynonymLine::Group(weight, verb, list) => {
                    let list = stems(words, &list);
                    for from in &list {
                        synonyms.add_group(from, &list, weight, verb);
                    }
                }
                SynonymLine::Said(weight, said, called) => {
                    let called = stems(words, &called);
                    for from in stems(words, &said) {
                        synonyms.add_said(from, &called, weight);
                    }
                }
            }
        }
        synonyms
    }

    fn add_group(&mut self, from: &str, group: &[String], weight: f32, verb: bool) {
        let list = self.by_stem.entry(from.to_owned()).or_default();
        for to in group.iter().filter(|to| *to != from) {
            match list.iter_mut().find(|known| known.stem == *to) {
                Some(known) => {
                    known.weight = known.weight.max(weight);
                    known.verb &= verb;
                }
                None => list.push(Synonym {
                    stem: to.clone(),
                    weight,
                    verb,
                }),
            }
        }
    }

    fn add_said(&mut self, from: String, called: &[String], weight: f32) {
        let list = self.by_stem.entry(from.clone()).or_default();
        // A verb stays one: what it also means is an action too.
        let verb = !list.is_empty() && list.iter().all(|known| known.verb);
        for to in called.iter().filter(|to| **to != from) {
            if list.iter().all(|known| known.stem != *to) {
                list.push(Synonym {
                    stem: to.clone(),
                    weight,
                    verb,
                });
            }
        }
    }

    pub(super) fn get(&self, stem: &str) -> &[Synonym] {
        self.by_stem.get(stem).map_or(&[], Vec::as_slice)
    }

    /// Whether a stem is known as a verb and as nothing else: it tells what to do, not with what.
    pub(super) fn verb(&self, stem: &str) -> Option<Verb> {
        if self.reading.iter().any(|reading| reading == stem) {
            return Some(Verb::Reads);
        }
        let list = self.by_stem.get(stem)?;
        list.iter()
            .all(|synonym| synonym.verb)
            .then_some(Verb::Other)
    }
}

fn stems(words: &mut Words, list: &[&str]) -> Vec<String> {
    list.iter().map(|word| words.stem(word)).collect()
}

/// A line of the file that says something.
#[derive(Debug, PartialEq)]
enum SynonymLine<'a> {
    /// Verbs that ask to see something.
    Reads(Vec<&'a str>),
    /// Words that mean each other, how well, and whether they are verbs.
    Group(f32, bool, Vec<&'a str>),
    /// Words that mean others, but not the other way round.
    Said(f32, Vec<&'a str>, Vec<&'a str>),
}

impl<'a> SynonymLine<'a> {
    /// `None` for a comment. The tests refuse a line of another form.
    fn parse(line: &'a str) -> Option<Self> {
        let list = |words: &'a str| words.split_whitespace().collect();
        let (kind, words) = line.split_once(": ")?;
        if kind == "reads" {
            return Some(Self::Reads(list(words)));
        }
        let (kind, weight) = kind.split_once(' ')?;
        let weight = weight.parse().ok()?;
        match kind {
            "verbs" => Some(Self::Group(weight, true, list(words))),
            "nouns" => Some(Self::Group(weight, false, list(words))),
            "said" => {
                let (said, called) = words.split_once(" = ")?;
                Some(Self::Said(weight, list(said), list(called)))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{SOURCE, SynonymLine, Synonyms, Verb};
    use crate::words::Words;

    #[test]
    fn a_line_that_is_no_comment_is_understood() {
        let mut seen = HashSet::new();
        for text in SOURCE.lines() {
            if text.is_empty() || text.starts_with('#') {
                assert_eq!(SynonymLine::parse(text), None, "{text}");
                continue;
            }
            assert!(seen.insert(text), "twice: {text}");
            let line = SynonymLine::parse(text).unwrap_or_else(|| panic!("no known form: {text}"));
            let (weight, lists) = match line {
                SynonymLine::Reads(words) => (1.0, vec![words]),
                SynonymLine::Group(weight, _, words) => {
                    assert!(words.len() > 1, "{text}");
                    (weight, vec![words])
                }
                SynonymLine::Said(weight, said, called) => (weight, vec![said, called]),
            };
            assert!(weight > 0.0 && weight <= 1.0, "{text}");
            for words in lists {
                assert!(!words.is_empty(), "{text}");
                let unique: HashSet<&&str> = words.iter().collect();
                assert_eq!(unique.len(), words.len(), "a word twice: {text}");
                for word in words {
                    let plain = word.bytes().all(|b| b.is_ascii_lowercase());
                    assert!(plain, "{word} in {text}");
                }
            }
        }
    }

    #[test]
    fn a_line_of_another_form_is_refused() {
        for text in [
            "verb 0.7: send post",
            "verbs: send post",
            "said 0.7: dm message",
            "send",
        ] {
            assert_eq!(SynonymLine::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_word_is_known_by_its_synonyms_in_one_direction() {
        let mut words = Words::new();
        let synonyms = Synonyms::new(&mut words);
        let mut is_synonym = |from: &str, to: &str| {
            let to = words.stem(to);
            let list = synonyms.get(&words.stem(from));
            list.iter().any(|synonym| synonym.stem == to)
        };
        assert!(is_synonym("tweet", "twitter"));
        assert!(!is_synonym("twitter", "tweet"));
        assert!(is_synonym("delete", "remove"));
        assert!(is_synonym("remove", "delete"));
    }

    #[test]
    fn the_heaviest_link_between_two_words_counts() {
        let mut words = Words::new();
        let synonyms = Synonyms::new(&mut words);
        // `search find` is in a line of .7, and `search list` in one of .4.
        let weight = |from: &str, to: &str, words: &mut Words| {
            let to = words.stem(to);
            let list = synonyms.get(&words.stem(from));
            list.iter()
                .find(|synonym| synonym.stem == to)
                .map(|synonym| synonym.weight)
        };
        assert_eq!(weight("search", "find", &mut words), Some(0.7));
        assert_eq!(weight("search", "list", &mut words), Some(0.4));
    }

    #[test]
    fn a_verb_that_asks_to_see_is_told_from_one_that_changes() {
        let mut words = Words::new();
        let synonyms = Synonyms::new(&mut words);
        assert_eq!(synonyms.verb(&words.stem("list")), Some(Verb::Reads));
        assert_eq!(synonyms.verb(&words.stem("delete")), Some(Verb::Other));
        assert_eq!(synonyms.verb(&words.stem("invoice")), None);
    }
}
