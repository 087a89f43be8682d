//! Names and sentences as words.

use super::is_in;
use super::lists::{ENDINGS, MANNERS, SAME, TWO_WORDS};

/// Most words of a summary that are looked at.
const SENTENCE_WORDS_MAX: usize = 16;

/// Words of `deleteUser`, `delete_user`, `delete-user` and `Delete user`, in lower case; two words that are one verb
/// are one. Parameters in braces are left out.
pub(super) fn words(text: &str) -> Vec<String> {
    let text = without_parameters(text);
    let chars: Vec<char> = text.chars().collect();
    let mut all: Vec<String> = Vec::new();
    let mut word = String::new();
    for (at, &c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| chars[before]);
        let after = chars.get(at + 1);
        let begins = c.is_ascii_uppercase()
            && before.is_some_and(|b| {
                b.is_ascii_lowercase()
                    || b.is_ascii_digit()
                    || (b.is_ascii_uppercase() && after.is_some_and(char::is_ascii_lowercase))
            });
        if begins || !c.is_ascii_alphanumeric() {
            push(&mut all, &mut word);
        }
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        }
    }
    push(&mut all, &mut word);
    all
}

fn push(all: &mut Vec<String>, word: &mut String) {
    if word.is_empty() {
        return;
    }
    let mut next = std::mem::take(word);
    if let Some((_, same)) = SAME.iter().find(|(from, _)| *from == next) {
        (*same).clone_into(&mut next);
    }
    if let Some(last) = all.last_mut()
        && let Some((_, _, one)) = TWO_WORDS.iter().find(|(a, b, _)| a == last && *b == next)
    {
        (*one).clone_into(last);
        return;
    }
    all.push(next);
}

pub(super) fn without_parameters(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        out.push_str(before);
        out.push(' ');
        rest = behind.split_once('}').map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out
}

/// Words of the first sentence, not more than a verb needs.
pub(super) fn first_sentence(text: &str) -> Vec<String> {
    let ends = [". ", "; ", "\n"].iter().filter_map(|end| text.find(end));
    let mut all = words(&text[..ends.min().unwrap_or(text.len())]);
    all.truncate(SENTENCE_WORDS_MAX);
    all
}

/// An id, and the last group of `users.delete`, `users/delete` and `Users_Delete`. The method that some generators
/// write in front, `GET_DeleteUser`, is no part of it.
pub(super) fn groups(id: &str) -> Vec<&str> {
    let id = ["GET_", "GET-", "HEAD_", "HEAD-"]
        .iter()
        .find_map(|method| id.strip_prefix(method))
        .unwrap_or(id);
    let capitals = id.contains(|c: char| c.is_ascii_uppercase());
    let between: &[char] = if id.contains(['.', '/', ':']) {
        &['.', '/', ':']
    } else if capitals {
        &['_']
    } else {
        &[]
    };
    match id.rsplit_once(between) {
        Some((_, last)) if !last.is_empty() => vec![id, last],
        _ => vec![id],
    }
}

/// Without what is written around a verb and what it changes.
pub(super) fn bare(words: &[String]) -> &[String] {
    let mut words = words;
    while let [first, rest @ ..] = words
        && !rest.is_empty()
        && is_in(MANNERS, first)
    {
        words = rest;
    }
    if let [rest @ .., using, get] = words
        && !rest.is_empty()
        && using == "using"
        && get == "get"
    {
        words = rest;
    }
    while let [rest @ .., last] = words
        && !rest.is_empty()
        && (is_in(ENDINGS, last) || is_version(last))
    {
        words = rest;
    }
    words
}

/// `2`, `v2`.
fn is_version(word: &str) -> bool {
    let number = word.strip_prefix('v').unwrap_or(word);
    !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}
