//! What the rankings are compared with: textbook BM25.

use std::collections::HashMap;

use toolgate_catalog::Catalog;

use super::DEPTH;

/// Textbook BM25 over name, service, description and argument names: what the rankings are
/// compared with. No stems, no synonyms, no weights; silent only where no word is shared.
pub struct PlainBm25 {
    tools: Vec<(String, HashMap<String, f64>, f64)>,
    found_in: HashMap<String, f64>,
    mean_length: f64,
}

impl PlainBm25 {
    const K1: f64 = 1.2;
    const B: f64 = 0.75;

    pub fn new(catalog: &Catalog) -> Self {
        let mut found_in: HashMap<String, f64> = HashMap::new();
        let mut tools = Vec::new();
        for tool in catalog.tools() {
            let mut text = format!("{} {} {}", tool.name, tool.service(), tool.description());
            for name in tool.spec().input.properties() {
                text.push(' ');
                text.push_str(name);
            }
            let mut counts: HashMap<String, f64> = HashMap::new();
            let mut length = 0.0;
            for word in plain_words(&text) {
                *counts.entry(word).or_default() += 1.0;
                length += 1.0;
            }
            for word in counts.keys() {
                *found_in.entry(word.clone()).or_default() += 1.0;
            }
            tools.push((tool.name.to_string(), counts, length));
        }
        let total: f64 = tools.iter().map(|(_, _, length)| length).sum();
        let mean_length = total / tools.len().max(1) as f64;
        Self {
            tools,
            found_in,
            mean_length,
        }
    }

    pub fn rank(&self, query: &str) -> Vec<String> {
        let all = self.tools.len() as f64;
        let words: Vec<(String, f64)> = plain_words(query)
            .filter_map(|word| {
                let with = *self.found_in.get(&word)?;
                Some((word, ((all - with + 0.5) / (with + 0.5) + 1.0).ln()))
            })
            .collect();
        let mut ranked: Vec<(f64, &str)> = Vec::new();
        for (name, counts, length) in &self.tools {
            let mut score = 0.0;
            for (word, rarity) in &words {
                if let Some(count) = counts.get(word) {
                    let damping = 1.0 - Self::B + Self::B * length / self.mean_length;
                    score += rarity * count * (Self::K1 + 1.0) / (count + Self::K1 * damping);
                }
            }
            if score > 0.0 {
                ranked.push((score, name));
            }
        }
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        ranked
            .into_iter()
            .take(DEPTH)
            .map(|(_, name)| name.to_owned())
            .collect()
    }
}

fn plain_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}
