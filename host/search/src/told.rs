//! What somebody is to be told: in `tell the team on slack that the release is out` a message is asked for,
//! and team and release are what goes into it.

use std::collections::HashSet;

/// Verbs that are followed by who is told, and what.
const TELLING: &[&str] = &["inform", "notify", "ping", "remind", "tell", "warn"];
/// Whoever says `tell me` asks for what follows.
const ASKING: &[&str] = &["me", "us"];
/// Words before the way in which it is told: `on slack`, `by mail`.
const BEFORE_THE_WAY: &[&str] = &["by", "in", "on", "over", "through", "via"];
/// Ends the way and begins what is told.
const BEFORE_WHAT: &[&str] = &["about", "that", "to"];
/// Most words before the verb: `could you please tell ...`.
const VERB_WITHIN: usize = 4;

/// The words of a query that say who is told, or what.
pub(super) fn told(words: &[String]) -> HashSet<&str> {
    let mut told = HashSet::new();
    let near = words.iter().take(VERB_WITHIN);
    let Some(verb) = near.into_iter().position(|word| is(TELLING, word)) else {
        return told;
    };
    let rest = &words[verb + 1..];
    if words[verb] != "remind" && rest.first().is_some_and(|word| is(ASKING, word)) {
        return told;
    }
    let (mut way, mut what) = (false, false);
    for word in rest {
        what |= is(BEFORE_WHAT, word);
        // What is told goes on to the end: `that the server in paris is down`.
        way = !what && (way || is(BEFORE_THE_WAY, word));
        if !way {
            told.insert(&**word);
        }
    }
    told
}

fn is(list: &[&str], word: &str) -> bool {
    list.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn whom_and_what_are_told_but_not_how() {
        for (query, expected) in [
            (
                "tell the team in slack that the release is out",
                "is out release team that the",
            ),
            ("notify anna by mail", "anna"),
            (
                "warn them that the server in paris is down",
                "down in is paris server that the them",
            ),
            ("remind me to pay the invoice", "invoice me pay the to"),
            ("tell me about my calendar", ""),
            ("list the messages of a channel", ""),
        ] {
            let words: Vec<String> = query.split(' ').map(str::to_owned).collect();
            let mut found: Vec<&str> = told(&words).into_iter().collect();
            found.sort_unstable();
            assert_eq!(found.join(" "), expected, "{query}");
        }
    }
}
