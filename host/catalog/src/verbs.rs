//! Whether the words of a call's names say that it changes something.
//!
//! A method says little: services delete on GET and search on POST. Words are a guess too, so they only ever make a
//! call more than a read, and the author of a description can say otherwise. Pure. [`changing_verb`] is for calls that
//! would be reads by their method, [`only_asks`] for those that would not; [`lists`] has the words.

mod lists;
mod split;
#[cfg(test)]
mod tests;

use lists::{
    ASKING, ATTRIBUTED, DETERMINERS, JOINING, LIKELY, NOUNS, PREPOSITIONS, QUERYING, QUESTIONS,
    READING, REMOVING, RUN_TOGETHER, RUNNING, SURE,
};
use split::{bare, first_sentence, groups, words};

/// What is said of a call.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallNames<'a> {
    /// The operation's id, or the tool's name.
    pub id: Option<&'a str>,
    /// With its query and fragment, where it has them.
    pub path: &'a str,
    /// Values of parameters that are always the same.
    pub constants: &'a [&'a str],
    pub summary: Option<&'a str>,
}

/// Where a verb was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerbPlace {
    Name,
    Path,
    Query,
    Summary,
}

impl VerbPlace {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Path => "path",
            Self::Query => "query",
            Self::Summary => "summary",
        }
    }
}

/// A verb that changes something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangingVerb {
    pub verb: String,
    pub place: VerbPlace,
}

impl ChangingVerb {
    /// Whether something is gone afterwards.
    pub fn removes(&self) -> bool {
        removes(&self.verb)
    }
}

/// How surely a word is a verb that changes something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Certainty {
    /// Only where a verb has to be: behind an item at the end of a path.
    Noun,
    /// Unless a name or the summary begins with a verb that reads.
    Likely,
    Sure,
}

type Found = (Certainty, String);

/// The verb by which a call changes something, if a name says so.
pub fn changing_verb(call: &CallNames<'_>) -> Option<ChangingVerb> {
    let mut found: Vec<(Certainty, ChangingVerb)> = Vec::new();
    let mut add = |place: VerbPlace, one: Option<Found>| {
        if let Some((weight, verb)) = one.filter(|(weight, _)| *weight > Certainty::Noun) {
            found.push((weight, ChangingVerb { verb, place }));
        }
    };
    for name in call.id.into_iter().flat_map(groups) {
        add(VerbPlace::Name, of_name(&words(name)));
    }
    let path = call.path.replacen('#', "?", 1);
    let (path, query) = path.split_once('?').unwrap_or((&path, ""));
    for one in of_path(path) {
        add(VerbPlace::Path, Some(one));
    }
    let fixed = query.split('&').filter_map(|pair| pair.split_once('='));
    let fixed = fixed
        .map(|(_, value)| value)
        .filter(|value| !value.contains('{'));
    for value in fixed.chain(call.constants.iter().copied()) {
        add(VerbPlace::Query, of_constant(value));
    }
    add(VerbPlace::Summary, call.summary.and_then(of_summary));
    let claimed = says_it_reads(call);
    let sure = found
        .iter()
        .position(|(weight, _)| *weight == Certainty::Sure);
    let at = sure.or_else(|| (!claimed && !found.is_empty()).then_some(0))?;
    Some(found.swap_remove(at).1)
}

/// The verb in front of a name in which every verb asks: `search_users`, and not `search_and_replace`.
pub fn only_asks(name: &str) -> Option<String> {
    let words = words(name);
    let verb = words.first().filter(|first| is_in(ASKING, first))?;
    let changes = |(at, word): (usize, &String)| {
        let joined = at > 0 && is_in(JOINING, &words[at - 1]);
        is_in(SURE, word) || is_in(LIKELY, word) || (joined && is_in(NOUNS, word))
    };
    (!words.iter().enumerate().any(changes)).then(|| verb.clone())
}

/// Whether a name has a verb after which something is gone.
pub fn removing_verb(name: &str) -> Option<String> {
    words(name).into_iter().find(|word| removes(word))
}

/// Whether a name says that something is run: `execute_statement`, `query`.
pub fn runs_something(name: &str) -> bool {
    let words = words(name);
    let first = bare(&words).first();
    first.is_some_and(|first| is_in(RUNNING, first) || is_in(QUERYING, first))
}

fn removes(verb: &str) -> bool {
    is_in(REMOVING, verb)
}

fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

fn changes(word: &str) -> bool {
    is_in(SURE, word) || is_in(LIKELY, word) || is_in(NOUNS, word)
}

/// `run_report`, `Execute a query`.
fn runs_a_question(words: &[String]) -> bool {
    let runs = words.first().is_some_and(|first| is_in(RUNNING, first));
    runs && words
        .iter()
        .skip(1)
        .take(5)
        .any(|word| is_in(QUESTIONS, word))
}

fn says_it_reads(call: &CallNames<'_>) -> bool {
    let reads = |words: &[String]| {
        let words = bare(words);
        let first = words.first();
        first.is_some_and(|first| is_in(READING, first)) || runs_a_question(words)
    };
    let named = call.id.into_iter().flat_map(groups);
    named.into_iter().any(|name| reads(&words(name)))
        || call.summary.is_some_and(|text| reads(&words(text)))
}

/// The verb of a name, or of one segment of a path.
fn of_name(words: &[String]) -> Option<Found> {
    let words = bare(words);
    let (first, last) = (words.first()?, words.last()?);
    if runs_a_question(words) {
        return None;
    }
    let attributed = |at: usize| {
        words
            .get(at + 1)
            .is_some_and(|word| is_in(ATTRIBUTED, word))
    };
    for (at, pair) in words.windows(2).enumerate() {
        let verb = &pair[1];
        if is_in(JOINING, &pair[0]) && changes(verb) && (is_in(SURE, verb) || !attributed(at + 1)) {
            return Some((Certainty::Sure, verb.clone()));
        }
    }
    if is_in(SURE, first) || (words.len() > 1 && is_in(SURE, last)) {
        let verb = if is_in(SURE, first) { first } else { last };
        return Some((Certainty::Sure, verb.clone()));
    }
    let followed = words.windows(2).skip(1);
    let followed = followed.filter(|pair| is_in(SURE, &pair[0]) && is_in(PREPOSITIONS, &pair[1]));
    if let Some(pair) = followed.into_iter().next() {
        return Some((Certainty::Sure, pair[0].clone()));
    }
    if is_in(READING, first) || (words.len() > 1 && is_in(READING, last)) {
        return None;
    }
    if let Some(verb) = run_together(first) {
        return Some((Certainty::Likely, verb));
    }
    match words.len() {
        1 if is_in(LIKELY, first) => Some((Certainty::Likely, first.clone())),
        1 if is_in(NOUNS, first) => Some((Certainty::Noun, first.clone())),
        2 if attributed(0) => None,
        _ if is_in(LIKELY, first) || is_in(NOUNS, first) => {
            Some((Certainty::Likely, first.clone()))
        }
        _ if is_in(LIKELY, last) => Some((Certainty::Likely, last.clone())),
        _ => None,
    }
}

/// `deleteuser`, and neither `deleted`, `creator` nor `createdby`.
fn run_together(word: &str) -> Option<String> {
    let verbs = RUN_TOGETHER.split_ascii_whitespace();
    let found = verbs.filter(|verb| {
        let rest = word.strip_prefix(verb);
        rest.is_some_and(|rest| rest.len() > 2 && !rest.starts_with('d'))
    });
    found.map(str::to_owned).next()
}

fn of_path(path: &str) -> Vec<Found> {
    let segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let mut found = Vec::new();
    for (at, segment) in segments.iter().enumerate() {
        let is_parameter = |part: &&str| part.starts_with('{');
        let behind = &segments[at + 1..];
        let ends = behind.is_empty() || (behind.len() == 1 && behind.iter().all(is_parameter));
        let of_item = segment.contains('{')
            || at
                .checked_sub(1)
                .is_some_and(|before| is_parameter(&segments[before]));
        let parts = split::without_parameters(segment);
        for part in parts.split(['.', ':']).filter(|part| !part.is_empty()) {
            let words = words(part);
            let Some((weight, verb)) = of_name(&words) else {
                continue;
            };
            let weight = match weight {
                Certainty::Sure => Certainty::Sure,
                // `/cache/flush/all`, `/orders/{id}/cancel`.
                Certainty::Likely if ends || words.len() == 1 => Certainty::Likely,
                Certainty::Noun if behind.is_empty() && of_item => Certainty::Likely,
                Certainty::Likely | Certainty::Noun => continue,
            };
            found.push((weight, verb));
        }
    }
    found
}

/// `delete` of `?action=delete`. What a constant names is done; a list of fields, a date or a text names nothing.
fn of_constant(value: &str) -> Option<Found> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/');
    if !value.chars().all(is_name) {
        return None;
    }
    let words = words(value);
    let first = bare(&words).first()?;
    if is_in(SURE, first) || is_in(LIKELY, first) {
        return Some((Certainty::Sure, first.clone()));
    }
    of_name(&words).filter(|(weight, _)| *weight == Certainty::Sure)
}

fn of_summary(text: &str) -> Option<Found> {
    let all = first_sentence(text);
    let words = bare(&all);
    let first = words.first()?;
    if runs_a_question(words) {
        return None;
    }
    let determined = |at: usize| {
        words
            .get(at + 1)
            .is_some_and(|word| is_in(DETERMINERS, word))
    };
    let verb = stem(first);
    if is_in(SURE, verb) {
        return Some((Certainty::Sure, verb.to_owned()));
    }
    if changes(verb) {
        let joined = words.get(1).is_some_and(|word| is_in(JOINING, word))
            && words.get(2).is_some_and(|word| changes(stem(word)))
            && determined(2);
        if determined(0) || joined {
            return Some((Certainty::Sure, verb.to_owned()));
        }
        let attributed = words.get(1).is_none_or(|word| is_in(ATTRIBUTED, word));
        // `Updates` may be many.
        if verb != first || attributed {
            return None;
        }
        if is_in(LIKELY, verb) {
            return Some((Certainty::Likely, verb.to_owned()));
        }
    }
    for at in 1..words.len().saturating_sub(1) {
        // Of `who may add or remove a member` both are what may be done.
        if !is_in(JOINING, &words[at]) || (at > 1 && changes(stem(&words[at - 1]))) {
            continue;
        }
        let verb = stem(&words[at + 1]);
        let ends = words.get(at + 2).is_none();
        if (is_in(SURE, verb) && (ends || determined(at + 1)))
            || (changes(verb) && determined(at + 1))
        {
            return Some((Certainty::Sure, verb.to_owned()));
        }
    }
    None
}

/// A verb without the ending of the third person.
fn stem(word: &str) -> &str {
    let forms = [Some(word), word.strip_suffix('s'), word.strip_suffix("es")];
    let known = forms.into_iter().flatten().find(|form| changes(form));
    known.unwrap_or(word)
}
