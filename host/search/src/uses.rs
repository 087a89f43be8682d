//! What was executed after which searches.
//!
//! A workspace whose agents search for a word and then execute a tool says what it means by the word. That
//! moves the tool up a little, in that workspace, the next time that most words of a search are such words.

use std::collections::HashMap;

/// From here on more uses say nothing more.
const ENOUGH: u32 = 5;
/// A tool was used after a similar search where it was used after this part of the words, of...
const ALIKE: usize = 2;
/// ...this many parts.
const ALIKE_OF: usize = 3;

/// How often each tool was executed after searches with a word.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    by_word: HashMap<String, HashMap<String, u32>>,
    pairs: usize,
}

impl Uses {
    /// Adds uses of a tool after searches with a word.
    pub fn add(&mut self, word: &str, tool: &str, times: u32) {
        let tools = match self.by_word.get_mut(word) {
            Some(tools) => tools,
            None => self.by_word.entry(word.to_owned()).or_default(),
        };
        match tools.get_mut(tool) {
            Some(known) => *known = known.saturating_add(times),
            None => {
                tools.insert(tool.to_owned(), times);
                self.pairs += 1;
            }
        }
    }

    pub fn contains(&self, word: &str, tool: &str) -> bool {
        let tools = self.by_word.get(word);
        tools.is_some_and(|tools| tools.contains_key(tool))
    }

    /// Pairs of a word and a tool.
    pub fn pairs(&self) -> usize {
        self.pairs
    }

    /// Whether a tool was used after searches with most of these words. 0 to 1: how similar these were, and how often.
    pub(super) fn after(&self, words: &[String], tool: &str) -> Option<f32> {
        let (mut count, mut weight) = (0, 0.0);
        for word in words {
            if let Some(known) = self.by_word.get(word).and_then(|tools| tools.get(tool)) {
                count += 1;
                weight += (*known).min(ENOUGH) as f32 / ENOUGH as f32;
            }
        }
        let alike = count > 0 && count * ALIKE_OF >= words.len() * ALIKE;
        alike.then(|| weight / words.len() as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::Uses;

    #[test]
    fn a_tool_counts_where_it_was_used_after_most_of_the_words() {
        let mut uses = Uses::default();
        for word in ["report", "weekly", "team"] {
            uses.add(word, "notion_create_page", 1);
        }
        uses.add("report", "slack_post_message", 9);
        assert_eq!(uses.pairs(), 4);
        let words = ["report", "weekly", "sales"].map(str::to_owned);
        let weight = uses.after(&words, "notion_create_page").unwrap();
        assert!((weight - 2.0 / 15.0).abs() < 1e-6, "{weight}");
        assert_eq!(uses.after(&words, "slack_post_message"), None);
        assert_eq!(uses.after(&[], "notion_create_page"), None);
    }

    #[test]
    fn many_uses_weigh_no_more_than_enough() {
        let mut uses = Uses::default();
        uses.add("report", "slack_post_message", u32::MAX);
        uses.add("report", "slack_post_message", 1);
        let weight = uses.after(&["report".to_owned()], "slack_post_message");
        assert_eq!(weight, Some(1.0));
    }
}
