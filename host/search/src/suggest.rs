//! The services that come nearest to a query.

use std::collections::HashSet;
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
    /// The names of [`Self::nearest_services`].
    pub(super) fn suggest(
        &self,
        tools: &[Arc<Tool>],
        lexical: &Lexical,
        wish: &QueryPart,
        query: &SearchQuery<'_>,
    ) -> Vec<String> {
        let nearest = self.nearest_services(tools, lexical, wish, query);
        nearest
            .take(SUGGESTIONS_MAX)
            .map(|service| service.name.clone())
            .collect()
    }

    /// Tools of the nearest services that are not among `taken`, at most `wanted`: for a wish that hardly a tool shares
    /// a word with.
    pub(super) fn fill(
        &self,
        tools: &[Arc<Tool>],
        lexical: &Lexical,
        wish: &QueryPart,
        query: &SearchQuery<'_>,
        taken: &HashSet<u32>,
        wanted: usize,
    ) -> Vec<u32> {
        let shown = |tool: &u32| {
            let candidate = &tools[*tool as usize];
            !taken.contains(tool)
                && query
                    .service
                    .is_none_or(|service| service == candidate.service())
                && (query.allowed)(candidate)
        };
        let nearest = self.nearest_services(tools, lexical, wish, query);
        let of_services = nearest.flat_map(|service| service.tools.iter().copied());
        of_services.filter(shown).take(wanted).collect()
    }

    /// Services that come nearest: by likeness of their names to the query's words, then by their
    /// best tool that did not match well enough.
    fn nearest_services<'i>(
        &'i self,
        tools: &'i [Arc<Tool>],
        lexical: &Lexical,
        wish: &QueryPart,
        query: &'i SearchQuery<'_>,
    ) -> impl Iterator<Item = &'i IndexedService> + use<'i> {
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
        let visible = move |service: &IndexedService| {
            service
                .tools
                .iter()
                .any(|tool| (query.allowed)(&tools[*tool as usize]))
        };
        ranked
            .into_iter()
            .map(|(_, service)| service)
            .filter(move |service| visible(service))
    }
}
