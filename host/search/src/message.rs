//! The message that a query asks to send: in `tell the team on slack that the release is out` the words
//! `team` and `release` name its receiver and its content, not the tool.

use std::collections::HashSet;

/// Verbs that a receiver and a content follow.
const SENDING: &[&str] = &["inform", "notify", "ping", "remind", "tell", "warn"];
/// `tell me` asks for what follows; nothing is sent.
const ASKING: &[&str] = &["me", "us"];
/// Words before the channel: `on slack`, `by mail`.
const BEFORE_CHANNEL: &[&str] = &["by", "in", "on", "over", "through", "via"];
/// Words that end the channel and begin the content.
const BEFORE_CONTENT: &[&str] = &["about", "that", "to"];
/// Most words before the verb: `could you please tell ...`.
const VERB_WITHIN: usize = 4;

/// The words of a query that name the receiver or the content of a message.
pub(super) fn message_words(words: &[String]) -> HashSet<&str> {
    let mut found = HashSet::new();
    let near = words.iter().take(VERB_WITHIN);
    let Some(verb) = near.into_iter().position(|word| is(SENDING, word)) else {
        return found;
    };
    let rest = &words[verb + 1..];
    if words[verb] != "remind" && rest.first().is_some_and(|word| is(ASKING, word)) {
        return found;
    }
    let (mut channel, mut content) = (false, false);
    for word in rest {
        content |= is(BEFORE_CONTENT, word);
        // The content goes on to the end: `that the server in paris is down`.
        channel = !content && (channel || is(BEFORE_CHANNEL, word));
        if !channel {
            found.insert(&**word);
        }
    }
    found
}

fn is(list: &[&str], word: &str) -> bool {
    list.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::message_words;

    #[test]
    fn the_receiver_and_the_content_but_not_the_channel() {
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
            let mut found: Vec<&str> = message_words(&words).into_iter().collect();
            found.sort_unstable();
            assert_eq!(found.join(" "), expected, "{query}");
        }
    }
}
