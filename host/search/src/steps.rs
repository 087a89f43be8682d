//! Cutting a query into its steps: `find the invoice in gmail and upload it to drive` asks for two tools.
//!
//! A step begins with an action, after the end of a sentence, a comma or a word such as `then`. Every other
//! comma and `and` joins words of one wish, so in doubt the query stays whole. A long query that is one wish
//! is cut into windows of whole sentences, which are compared with the tools each by itself.

use super::index::Index;
use super::languages;
use super::words::{Words, is_stopword};

/// Most steps of a query; the last one takes the rest of the text.
pub(super) const STEPS_MAX: usize = 4;
/// A query of more words than this is compared window by window.
const WINDOW_WORDS: usize = 32;
/// Steps that leave more of the query out are sentences of a story, in which one thing is asked for.
const STEPS_COVER_MIN: f32 = 0.6;
/// Most windows of a long query.
const WINDOWS_MAX: usize = 6;
/// Most words of a query that are looked at.
const WORDS_MAX: usize = 400;
/// How far into a sentence its action may be: `could you please send ...`.
const ACTION_WITHIN: usize = 6;

/// Words that join steps.
const JOINING: &[&str] = &[
    "after",
    "afterwards",
    "also",
    "and",
    "anschliessend",
    "apres",
    "daarna",
    "danach",
    "dann",
    "dopo",
    "e",
    "en",
    "ensuite",
    "et",
    "finally",
    "i",
    "luego",
    "next",
    "och",
    "plus",
    "poi",
    "potem",
    "puis",
    "then",
    "und",
    "y",
];

/// Words that refer to what an earlier step was about.
const POINTING: &[&str] = &["it", "its", "that", "them", "these", "this", "those"];

/// How a query is cut.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Cut {
    /// At least two, or none: then the query is one wish.
    pub steps: Vec<QueryStep>,
    /// Parts of one long wish, where there are no steps.
    pub windows: Vec<String>,
}

/// One wish of several.
#[derive(Debug, PartialEq)]
pub(super) struct QueryStep {
    /// As it was written.
    pub text: String,
    /// What it points to in the step before, where it does: words to be read with it.
    pub about: String,
}

struct QueryToken<'a> {
    text: &'a str,
    start: usize,
    end: usize,
    /// What is between it and the token before.
    ends_sentence: bool,
    comma: bool,
    lower: String,
}

impl Index {
    pub(super) fn cut(&self, words: &mut Words, query: &str) -> Cut {
        let tokens = tokens(query);
        let mut sentences = Vec::new();
        let mut from = 0;
        for at in 1..=tokens.len() {
            if at == tokens.len() || tokens[at].ends_sentence {
                sentences.push(&tokens[from..at]);
                from = at;
            }
        }
        let mut found: Vec<&[QueryToken<'_>]> = Vec::new();
        for sentence in &sentences {
            self.add_steps(words, sentence, &mut found);
        }
        let covered: usize = found.iter().map(|step| step.len()).sum();
        if found.len() < 2 || (covered as f32) < STEPS_COVER_MIN * tokens.len() as f32 {
            return Cut {
                steps: Vec::new(),
                windows: windows(query, &sentences),
            };
        }
        let mut steps: Vec<QueryStep> = Vec::new();
        let mut subject = String::new();
        for (place, step) in found.iter().take(STEPS_MAX).enumerate() {
            let last = place + 1 == STEPS_MAX;
            let until = if last { found[found.len() - 1] } else { step };
            let text = query[step[0].start..until[until.len() - 1].end].to_owned();
            let own = self.subject(words, step);
            let points = step.iter().any(|token| POINTING.contains(&&*token.lower));
            steps.push(QueryStep {
                text,
                about: match own.is_empty() && points {
                    true => subject.clone(),
                    false => String::new(),
                },
            });
            if !own.is_empty() {
                subject = own;
            }
        }
        Cut {
            steps,
            windows: Vec::new(),
        }
    }

    /// Adds the steps of one sentence: none where it has no action.
    fn add_steps<'a, 'q>(
        &self,
        words: &mut Words,
        sentence: &'a [QueryToken<'q>],
        steps: &mut Vec<&'a [QueryToken<'q>]>,
    ) {
        let mut from = 0;
        let before = steps.len();
        for at in 1..=sentence.len() {
            if at < from {
                continue;
            }
            let (joined, next) = joint(sentence, at);
            let ends = at == sentence.len()
                || (joined
                    && self.is_step(words, &sentence[from..at])
                    && self.begins_step(words, &sentence[next..]));
            if !ends {
                continue;
            }
            if self.is_step(words, &sentence[from..at]) {
                steps.push(&sentence[from..at]);
            } else if at == sentence.len()
                && steps.len() > before
                && let Some(last) = steps.pop()
            {
                // What follows the last step belongs to it.
                let start = sentence.len() - from_end(sentence, last);
                steps.push(&sentence[start..]);
            }
            from = next;
        }
    }

    /// Whether words begin with an action and name something to do it with.
    fn begins_step(&self, words: &mut Words, tokens: &[QueryToken<'_>]) -> bool {
        tokens
            .first()
            .is_some_and(|first| self.is_action(words, &first.lower))
            && self.is_step(words, tokens)
    }

    fn is_step(&self, words: &mut Words, tokens: &[QueryToken<'_>]) -> bool {
        let near = &tokens[..tokens.len().min(ACTION_WITHIN)];
        let Some(action) = near
            .iter()
            .position(|token| self.is_action(words, &token.lower))
        else {
            return false;
        };
        // In `the group exists and ...` nothing is asked for.
        let polite = |token: &QueryToken<'_>| is_stopword(&token.lower) || joins(token);
        if !near[..action].iter().all(polite) {
            return false;
        }
        tokens[action + 1..].iter().any(|token| {
            POINTING.contains(&&*token.lower) || !(is_stopword(&token.lower) || joins(token))
        })
    }

    /// Whether a word, in any known language, tells what to do.
    fn is_action(&self, words: &mut Words, word: &str) -> bool {
        let stem = words.stem(word);
        if self.synonyms.verb(&stem).is_some() || self.actions.contains(&stem) {
            return true;
        }
        if self.by_stem.contains_key(&stem) || languages::is_stopword(word) {
            return false;
        }
        let english = match words.languages.exact(word) {
            [] => words.languages.form(word),
            exact => exact,
        };
        let Some(first) = english.first() else {
            return false;
        };
        let stem = words.stem(first);
        self.synonyms.verb(&stem).is_some()
    }

    /// The words of a step that are neither its action nor empty.
    fn subject(&self, words: &mut Words, tokens: &[QueryToken<'_>]) -> String {
        let mut subject = String::new();
        for token in tokens {
            if !is_stopword(&token.lower) && !self.is_action(words, &token.lower) {
                subject.push_str(token.text);
                subject.push(' ');
            }
        }
        subject
    }
}

fn joins(token: &QueryToken<'_>) -> bool {
    JOINING.contains(&&*token.lower)
}

/// Whether a step may end before the token at `at`, and where the next one would begin.
fn joint(sentence: &[QueryToken<'_>], at: usize) -> (bool, usize) {
    let Some(token) = sentence.get(at) else {
        return (true, at);
    };
    let mut next = at;
    while next < sentence.len() && joins(&sentence[next]) {
        next += 1;
    }
    (token.comma || next > at, next.min(sentence.len()))
}

/// How many tokens of `sentence` there are from the beginning of `part` on.
fn from_end(sentence: &[QueryToken<'_>], part: &[QueryToken<'_>]) -> usize {
    sentence
        .iter()
        .rev()
        .take_while(|token| token.start >= part[0].start)
        .count()
}

fn tokens(query: &str) -> Vec<QueryToken<'_>> {
    let mut tokens: Vec<QueryToken<'_>> = Vec::new();
    let mut end_before = 0;
    let mut rest = query;
    while tokens.len() < WORDS_MAX {
        let is_part =
            |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '\'' | '@' | '#' | '/');
        let Some(begin) = rest.find(is_part) else {
            break;
        };
        let start = query.len() - rest.len() + begin;
        let after = &query[start..];
        // A full stop within a word, as in `v1.2` or `acme.com`, does not end it.
        let length = after
            .char_indices()
            .find(|(at, c)| {
                let within = *c == '.' && after[at + 1..].starts_with(char::is_alphanumeric);
                !(is_part(*c) || within)
            })
            .map_or(after.len(), |(at, _)| at);
        let text = &after[..length];
        let gap = &query[end_before..start];
        tokens.push(QueryToken {
            text,
            start,
            end: start + length,
            ends_sentence: gap.contains([
                '.', '!', '?', ';', '\n', '\u{3002}', '\u{ff01}', '\u{ff1f}', '\u{ff1b}',
            ]),
            comma: gap.contains([',', '\u{3001}', '\u{ff0c}', '\u{2192}']) || gap.contains("->"),
            lower: text.to_lowercase(),
        });
        end_before = start + length;
        rest = &query[end_before..];
    }
    tokens
}

/// Whole sentences of a long query together, each window about as long as a model reads well.
fn windows(query: &str, sentences: &[&[QueryToken<'_>]]) -> Vec<String> {
    let total: usize = sentences.iter().map(|sentence| sentence.len()).sum();
    if total <= WINDOW_WORDS {
        return Vec::new();
    }
    let mut windows: Vec<(usize, usize, usize)> = Vec::new();
    for part in sentences
        .iter()
        .flat_map(|sentence| sentence.chunks(WINDOW_WORDS))
    {
        let (Some(first), Some(last)) = (part.first(), part.last()) else {
            continue;
        };
        match windows.last_mut() {
            Some((_, end, words)) if *words + part.len() <= WINDOW_WORDS => {
                *end = last.end;
                *words += part.len();
            }
            _ => windows.push((first.start, last.end, part.len())),
        }
    }
    // What is asked for is at the end or at the beginning more often than in between.
    if windows.len() > WINDOWS_MAX {
        windows.drain(WINDOWS_MAX / 2..windows.len() - WINDOWS_MAX / 2);
    }
    windows
        .into_iter()
        .map(|(start, end, _)| query[start..end].to_owned())
        .collect()
}
