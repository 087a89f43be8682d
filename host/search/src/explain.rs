//! Why a tool is among the hits, in short texts.

use std::collections::HashMap;

use super::index::Index;
use super::parts::PARTS;
use super::query::{Concept, MatchKind};
use super::score::{Candidate, Lexical, Match};

impl Index {
    /// Per hit, in which part each word was found and what it was taken for.
    pub(super) fn reasons(
        &self,
        concepts: &[Concept],
        lexical: &Lexical,
        hits: &[Candidate],
    ) -> HashMap<u32, Vec<String>> {
        let mut wanted = vec![0_u64; self.tools as usize / 64 + 1];
        for hit in hits {
            wanted[hit.tool as usize / 64] |= 1 << (hit.tool % 64);
        }
        let mut found: HashMap<u32, Vec<(&Concept, Match)>> = HashMap::new();
        for (concept, matches) in concepts.iter().zip(&lexical.matches) {
            for place in matches {
                if wanted[place.tool as usize / 64] & (1 << (place.tool % 64)) != 0 {
                    found.entry(place.tool).or_default().push((concept, *place));
                }
            }
        }
        found
            .into_iter()
            .map(|(tool, matches)| (tool, self.explain(&matches)))
            .collect()
    }

    fn explain(&self, matches: &[(&Concept, Match)]) -> Vec<String> {
        let mut by_part: [Vec<&str>; PARTS.len()] = Default::default();
        let mut notes = Vec::new();
        for (concept, place) in matches {
            if concept.implied {
                continue;
            }
            let variant = &concept.variants[usize::from(place.variant)];
            let word = self.terms[variant.term as usize].word.as_str();
            let list = &mut by_part[place.part() as usize];
            if !list.contains(&word) {
                list.push(word);
            }
            let how = match variant.how {
                MatchKind::Exact => continue,
                MatchKind::Synonym => "synonym",
                MatchKind::Translated => "translation",
                MatchKind::Misspelt => "typo",
                MatchKind::Begun => "prefix",
            };
            notes.push(format!("{how}: {} -> {word}", concept.word));
        }
        let parts = PARTS
            .iter()
            .zip(by_part)
            .filter(|(_, words)| !words.is_empty());
        let mut reasons: Vec<String> = parts
            .map(|(part, words)| format!("{}: {}", part.label(), words.join(", ")))
            .collect();
        reasons.extend(notes);
        reasons
    }
}
