//! The names that come nearest to one that no tool has.
//!
//! An agent that remembers a name half wrong usually has the service right and the verb or the noun
//! wrong: `slack_send_message` for `slack_post_message`. So names are compared word by word, with the
//! synonyms of search, within the service that the name begins with; other services are named only
//! where it begins with none.

use std::sync::Arc;

use toolgate_catalog::Tool;

use super::index::Index;
use super::typo;
use super::words::{WORDS, Words};

/// Most names.
const NAMES_MAX: usize = 3;
/// Longest name that is looked at, in characters.
const NAME_CHARS_MAX: usize = 100;
/// A name of which less is alike is another tool.
const ALIKE_MIN: f32 = 0.5;

impl Index {
    pub(super) fn nearest_names(
        &self,
        tools: &[Arc<Tool>],
        name: &str,
        allowed: &dyn Fn(&Tool) -> bool,
    ) -> Vec<String> {
        let name: String = name.chars().take(NAME_CHARS_MAX).collect();
        WORDS.with_borrow_mut(|words| {
            words.forget_beyond_bound();
            let asked = words.split_name(&name, 16);
            let joined = asked.join("_");
            let of = |service: &str| {
                joined
                    .strip_prefix(service)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
            };
            let meant = self.services.iter().map(|service| &*service.name);
            let meant = meant
                .filter(|service| of(service))
                .max_by_key(|service| service.len());
            let mut ranked: Vec<(f32, &str)> = Vec::new();
            for tool in tools {
                if meant.is_some_and(|service| service != tool.service()) || !allowed(tool) {
                    continue;
                }
                let alike = match meant {
                    // The service is agreed on: its words would only make all names alike.
                    Some(service) => {
                        let rest = joined[service.len()..].trim_start_matches('_');
                        self.alike(words, rest, tool.action())
                    }
                    None => self.alike(words, &joined, &tool.name),
                };
                if alike >= ALIKE_MIN {
                    ranked.push((alike, tool.name.as_str()));
                }
            }
            ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
            let names = ranked.into_iter().take(NAMES_MAX);
            names.map(|(_, name)| name.to_owned()).collect()
        })
    }

    /// How alike two names are, 0 to 1: each word with its best partner, in both directions.
    fn alike(&self, words: &mut Words, asked: &str, name: &str) -> f32 {
        let asked = words.split(asked, 16);
        let name = words.split(name, 16);
        if asked.is_empty() || name.is_empty() {
            return 0.0;
        }
        let mut alike = vec![vec![0.0_f32; name.len()]; asked.len()];
        for (row, word) in alike.iter_mut().zip(&asked) {
            let stem = words.stem(word);
            for (cell, other) in row.iter_mut().zip(&name) {
                let other_stem = words.stem(other);
                *cell = if stem == other_stem {
                    1.0
                } else {
                    let synonyms = self.synonyms.get(&stem).iter();
                    let synonym = synonyms.filter(|one| one.stem == other_stem);
                    let meant = synonym.map(|one| one.weight).fold(0.0, f32::max);
                    meant.max(0.8 * typo::likeness(word, other))
                };
            }
        }
        let rows = alike
            .iter()
            .map(|row| row.iter().copied().fold(0.0, f32::max));
        let columns = (0..name.len()).map(|at| alike.iter().map(|row| row[at]).fold(0.0, f32::max));
        (rows.sum::<f32>() + columns.sum::<f32>()) / (asked.len() + name.len()) as f32
    }
}
