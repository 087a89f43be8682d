//! Long lists of findings, shorter: those that differ only in their place and in names become one line.

use std::collections::HashMap;

/// A list up to this length is shown whole.
const SHOWN_MAX: usize = 10;
/// Places that a line of a group names.
const PLACES_MAX: usize = 3;

/// Findings of one kind.
struct FindingGroup<'a> {
    /// The message of the first one.
    message: &'a str,
    places: Vec<&'a str>,
}

/// The lines for `findings`, each `PLACE: MESSAGE` or a message alone: all of them where they are few or `whole`, else
/// the most frequent groups.
pub(super) fn lines(findings: &[String], whole: bool) -> Vec<String> {
    if whole || findings.len() <= SHOWN_MAX {
        return findings.to_vec();
    }
    let groups = groups(findings);
    let mut lines: Vec<String> = groups.iter().take(SHOWN_MAX).map(shown).collect();
    let left = groups.get(SHOWN_MAX..).unwrap_or_default();
    if !left.is_empty() {
        let findings: usize = left.iter().map(|group| group.places.len()).sum();
        lines.push(format!("and {findings} of {} other kinds", left.len()));
    }
    lines.push("--all shows each with its place".to_owned());
    lines
}

/// The most frequent first; of equally frequent ones the one that was found first.
fn groups(findings: &[String]) -> Vec<FindingGroup<'_>> {
    let mut found: Vec<FindingGroup<'_>> = Vec::new();
    let mut by_kind: HashMap<String, usize> = HashMap::new();
    for finding in findings {
        let (place, message) = finding.split_once(": ").unwrap_or(("", finding));
        let at = *by_kind.entry(kind(message)).or_insert(found.len());
        match found.get_mut(at) {
            Some(group) => group.places.push(place),
            None => found.push(FindingGroup {
                message,
                places: vec![place],
            }),
        }
    }
    found.sort_by_key(|group| std::cmp::Reverse(group.places.len()));
    found
}

/// A message without what names one thing: digits, and what is in backticks or double quotes.
fn kind(message: &str) -> String {
    let mut kind = String::with_capacity(message.len());
    let mut quote = None;
    for character in message.chars() {
        match quote {
            Some(end) if character == end => quote = None,
            Some(_) => {}
            None if matches!(character, '`' | '"') => {
                quote = Some(character);
                kind.push(character);
            }
            None if character.is_ascii_digit() => {}
            None => kind.push(character),
        }
    }
    kind
}

fn shown(group: &FindingGroup<'_>) -> String {
    let places: Vec<&str> = group
        .places
        .iter()
        .copied()
        .filter(|place| !place.is_empty())
        .take(PLACES_MAX)
        .collect();
    let count = group.places.len();
    match (count, places.is_empty()) {
        (1, true) => group.message.to_owned(),
        (1, false) => format!("{}: {}", places[0], group.message),
        (_, true) => format!("{count} times: {}", group.message),
        (_, false) => {
            let more = if count > places.len() { ", ..." } else { "" };
            format!(
                "{count} times: {} (at {}{more})",
                group.message,
                places.join(", ")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many() -> Vec<String> {
        let mut all: Vec<String> = (0..40)
            .map(|n| format!("line {n}, #/paths/a{n}: the property `p{n}` has no description"))
            .collect();
        all.push("line 3, #/info: the title is empty".to_owned());
        all
    }

    #[test]
    fn what_differs_in_place_and_name_is_one_line() {
        let lines = lines(&many(), false);
        assert_eq!(
            lines,
            [
                "40 times: the property `p0` has no description \
                 (at line 0, #/paths/a0, line 1, #/paths/a1, line 2, #/paths/a2, ...)",
                "line 3, #/info: the title is empty",
                "--all shows each with its place",
            ]
        );
    }

    #[test]
    fn a_short_list_and_one_that_is_asked_for_are_whole() {
        assert_eq!(lines(&many()[..SHOWN_MAX], false), many()[..SHOWN_MAX]);
        assert_eq!(lines(&many(), true), many());
    }

    #[test]
    fn kinds_beyond_the_tenth_are_counted() {
        let words = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
        let all: Vec<String> = words
            .iter()
            .map(|word| format!("#/{word}: {word} is wrong"))
            .collect();
        let lines = lines(&all, false);
        assert_eq!(lines.len(), SHOWN_MAX + 2);
        assert_eq!(lines[SHOWN_MAX], "and 2 of 2 other kinds");
    }
}
