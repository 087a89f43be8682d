//! The services that come nearest to a query.

use std::sync::Arc;

use toolgate_catalog::Tool;

use super::answer::SearchQuery;
use super::index::{Index, IndexedService};
use super::reading::QueryPart;
use super::score::Lexical;
use super::typo;
use super::words::{WORDS, is_stopword};

/// Most services suggested.
pub const SUGGESTIONS_MAX: usize = 5;
/// Most words of a query that services are compared with.
const SUGGESTED_BY_WORDS_MAX: usize = 8;
/// From here on two words look like one word misspelt.
const ALIKE: f32 = 0.5;

impl Index {
    /// Services that come nearest: by likeness of their names to the query's words, then by their
    /// best tool that did not match well enough.
    pub(super) fn suggest(
        &self,
        tools: &[Arc<Tool>],
        lexical: &Lexical,
        wish: &QueryPart,
        query: &SearchQuery<'_>,
    ) -> Vec<String> {
        let words: Vec<(String, u128)> = WORDS.with_borrow_mut(|words| {
            let mut all = self.query_words(words, &wish.text);
            all.retain(|word| !is_stopword(word));
            all.truncate(SUGGESTED_BY_WORDS_MAX);
            all.extend(query.service.map(|name| {
                name.chars()
                    .take(100)
                    .collect::<String>()
                    .to_ascii_lowercase()
            }));
            all.into_iter()
                .map(|word| {
                    let set = typo::letters(&word);
                    (word, set)
                })
                .collect()
        });
        let mut evidence: Vec<f32> = vec![0.0; self.services.len()];
        for candidate in &lexical.candidates {
            let best = &mut evidence[self.service_of[candidate.tool as usize] as usize];
            *best = best.max(candidate.covered);
        }
        let likeness = |service: &IndexedService| {
            let mut best = 0.0_f32;
            for (name, name_set) in service.words.iter().zip(&service.letters) {
                for (word, set) in &words {
                    let rough = typo::rough_likeness(*set, *name_set);
                    // Worth an exact look only where the sets of letters already agree.
                    best = best.max(if rough > ALIKE {
                        typo::likeness(word, name)
                    } else {
                        rough
                    });
                }
            }
            best
        };
        let mut ranked: Vec<(f32, &IndexedService)> = self
            .services
            .iter()
            .zip(evidence)
            .map(|(service, evidence)| {
                let like = likeness(service);
                (
                    if like > ALIKE {
                        1.0 + like
                    } else {
                        evidence + 0.1 * like
                    },
                    service,
                )
            })
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.name.cmp(&b.1.name)));
        let visible = |service: &IndexedService| {
            service
                .tools
                .iter()
                .any(|tool| (query.allowed)(&tools[*tool as usize]))
        };
        let nearest = ranked
            .into_iter()
            .map(|(_, service)| service)
            .filter(|service| visible(service));
        nearest
            .take(SUGGESTIONS_MAX)
            .map(|service| service.name.clone())
            .collect()
    }
}
