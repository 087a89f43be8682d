//! Finding tools by what they do: by words, and by meaning where a sentence model is installed.
//!
//! Words of a query are looked for in a tool's name, service, keywords, description and argument
//! names, by stem, with synonyms, and as misspellings only where no tool has the word. An answer is
//! honest: tools that share a word or two by chance are left out, and when nothing is left the
//! nearest services are named instead. The order is the same every time: by score, then by name.
//! Read [`query`] for how a query is understood, [`score`] for how tools are ranked by words, [`fuse`]
//! for how what a query means is weighed in, where the caller knows it.

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

pub mod embeddings;
mod fuse;
mod index;
mod languages;
mod query;
mod score;
mod synonyms;
#[cfg(test)]
mod tests;
mod typo;
mod words;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use index::{Index, PARTS};
use query::{Concept, MatchKind};
use score::{Match, Subject};
use synonyms::Verb;
use toolgate_catalog::{Catalog, Tool};
use words::{Words, is_stopword};

pub use query::{QUERY_CHARS_MAX, QUERY_WORDS_MAX};
pub use score::{Candidate, Lexical};

/// Most services suggested where nothing matches well.
pub const SUGGESTIONS_MAX: usize = 5;
/// Most words of a query that services are compared with.
const SUGGESTED_BY_WORDS_MAX: usize = 8;
/// From here on two words look like one word misspelt.
const ALIKE: f32 = 0.5;
/// A tool that answers less of the query than this was met by chance.
const COVERED_MIN: f32 = 0.28;
/// The same where the query's subject is among the keywords only.
const COVERED_BY_KEYWORDS_MIN: f32 = 0.42;
/// Without the subject of the query in name, service or keywords, this much has to be answered.
const COVERED_WITHOUT_SUBJECT_MIN: f32 = 0.63;
/// Tools that score less than this part of the best are left out.
const TAIL: f32 = 0.35;
/// What a deprecated tool keeps of its score.
const DEPRECATED: f32 = 0.7;
/// What a tool that changes something keeps where the query asks to see something.
const CHANGES: f32 = 0.8;
/// What a tool gains whose full name is in the query.
const NAMED: f32 = 2.0;

/// What to look for.
pub struct SearchQuery<'a> {
    /// As the caller wrote it; at most [`QUERY_CHARS_MAX`] characters are read.
    pub query: &'a str,
    /// Only tools of this service.
    pub service: Option<&'a str>,
    /// How near each tool's meaning is to the query's, by place in [`Catalog::tools`]; without
    /// it words alone decide.
    pub cosines: Option<&'a [f32]>,
    /// Most hits.
    pub limit: usize,
    /// Whether the user may know of a tool. Others are neither found, counted nor suggested.
    pub allowed: &'a dyn Fn(&Tool) -> bool,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct SearchResults {
    /// By score, then by name.
    pub hits: Vec<Hit>,
    /// Tools that match well, also beyond `limit`.
    pub total: usize,
    /// The nearest services, only when nothing matches well.
    pub suggestions: Vec<String>,
}

/// One tool that matches well.
#[derive(Clone, Debug)]
pub struct Hit {
    pub tool: Arc<Tool>,
    /// Comparable within one answer only.
    pub score: f32,
    /// Short texts: `name: create, issue`, `synonym: post -> send`.
    pub reasons: Vec<String>,
}

/// The tools of one catalog, ready to be searched.
pub struct SearchIndex {
    /// As in [`Catalog::tools`].
    tools: Vec<Arc<Tool>>,
    index: Index,
}

impl SearchIndex {
    pub fn new(catalog: &Catalog) -> Self {
        Self {
            tools: catalog.tools().to_vec(),
            index: Index::build(catalog.tools()),
        }
    }

    /// Scores of every tool that shares a word with the query, before any threshold.
    pub fn lexical(&self, query: &str) -> Lexical {
        self.index.lexical(&self.tools, query)
    }

    /// The query with German, Spanish and Japanese words in English, as far as they are known: what a
    /// sentence model that reads English is given.
    pub fn in_english(&self, query: &str) -> String {
        self.index.in_english(query)
    }

    /// Finds tools by what they do.
    pub fn search(&self, query: &SearchQuery<'_>) -> SearchResults {
        self.index.search(&self.tools, query)
    }
}

impl std::fmt::Debug for SearchIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchIndex")
            .field("tools", &self.tools.len())
            .finish_non_exhaustive()
    }
}

thread_local! {
    static WORDS: RefCell<Words> = RefCell::new(Words::new());
}

impl Index {
    /// Scores of every tool that shares a word with the query, before any threshold: what a second
    /// index can be fused with.
    fn lexical(&self, tools: &[Arc<Tool>], query: &str) -> Lexical {
        self.weigh(tools, query, &self.understand(query))
    }

    /// Scores by words, then by what is known of a tool beyond its words.
    fn weigh(&self, tools: &[Arc<Tool>], query: &str, concepts: &[Concept]) -> Lexical {
        let mut lexical = self.score(concepts);
        let named = query.trim().to_ascii_lowercase();
        let action = match concepts.iter().any(|concept| concept.implied) {
            true => Some(Verb::Reads),
            false => concepts.iter().find_map(|concept| concept.verb),
        };
        for candidate in &mut lexical.candidates {
            let traits = self.traits[candidate.tool as usize];
            if traits.deprecated {
                candidate.score *= DEPRECATED;
            }
            if action == Some(Verb::Reads) && !traits.reads {
                candidate.score *= CHANGES;
            }
        }
        let place = tools.binary_search_by(|tool| tool.name.as_str().cmp(&named));
        let of = |place: usize| {
            let all = &lexical.candidates;
            all.binary_search_by_key(&place, |one| one.tool as usize)
        };
        if let Ok(Ok(at)) = place.map(of) {
            lexical.candidates[at].score *= NAMED;
            lexical.candidates[at].named = true;
        }
        lexical
    }

    /// The query with the words of other languages in English, as far as they are known.
    fn in_english(&self, query: &str) -> String {
        WORDS.with_borrow_mut(|words| {
            words.forget_beyond_bound();
            self.translated(words, query)
        })
    }

    fn understand(&self, query: &str) -> Vec<Concept> {
        WORDS.with_borrow_mut(|words| {
            words.forget_beyond_bound();
            self.concepts(words, query)
        })
    }

    fn search(&self, tools: &[Arc<Tool>], query: &SearchQuery<'_>) -> SearchResults {
        let concepts = self.understand(query.query);
        let lexical = self.weigh(tools, query.query, &concepts);
        let shown = |tool: u32| {
            let tool = &tools[tool as usize];
            query
                .service
                .is_none_or(|service| service == tool.service())
                && (query.allowed)(tool)
        };
        let mut good = match query.cosines {
            Some(cosines) => fuse::fuse(&lexical.candidates, cosines, shown),
            None => {
                let good = best_by_words(&lexical.candidates, Candidate::is_good, shown);
                // Words that stand in descriptions alone say little, but they may be all there is.
                match good.is_empty() {
                    true => best_by_words(&lexical.candidates, |one| one.complete, shown),
                    false => good,
                }
            }
        };
        let total = good.len();
        // The catalog is sorted by name, so the smaller number is the earlier name.
        let order =
            |a: &Candidate, b: &Candidate| b.score.total_cmp(&a.score).then(a.tool.cmp(&b.tool));
        if good.len() > query.limit {
            if query.limit > 0 {
                good.select_nth_unstable_by(query.limit - 1, order);
            }
            good.truncate(query.limit);
        }
        good.sort_unstable_by(order);
        if total == 0 {
            let suggestions = self.suggest(tools, &lexical, query);
            return SearchResults {
                suggestions,
                ..SearchResults::default()
            };
        }
        let mut reasons = self.reasons(&concepts, &lexical, &good);
        let hits = good
            .iter()
            .map(|candidate| {
                let mut reasons = reasons.remove(&candidate.tool).unwrap_or_default();
                if let Some(cosines) = query.cosines {
                    let cosine = cosines.get(candidate.tool as usize).copied();
                    reasons.push(format!("meaning: {:.2}", cosine.unwrap_or(0.0)));
                }
                Hit {
                    tool: Arc::clone(&tools[candidate.tool as usize]),
                    score: candidate.score,
                    reasons,
                }
            })
            .collect();
        SearchResults {
            hits,
            total,
            suggestions: Vec::new(),
        }
    }

    /// Per hit, in which part each word was found and what it was taken for.
    fn reasons(
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

    /// Services that come nearest: by likeness of their names to the query's words, then by their
    /// best tool that did not match well enough.
    fn suggest(
        &self,
        tools: &[Arc<Tool>],
        lexical: &Lexical,
        query: &SearchQuery<'_>,
    ) -> Vec<String> {
        let words: Vec<(String, u128)> = WORDS.with_borrow_mut(|words| {
            let mut all = self.query_words(words, query.query);
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
        let likeness = |service: &index::IndexedService| {
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
        let mut ranked: Vec<(f32, &index::IndexedService)> = self
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
        let visible = |service: &index::IndexedService| {
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

/// Of the tools that match well, those that come near the best.
fn best_by_words(
    candidates: &[Candidate],
    is_good: impl Fn(&Candidate) -> bool,
    shown: impl Fn(u32) -> bool,
) -> Vec<Candidate> {
    let good = || candidates.iter().filter(|candidate| is_good(candidate));
    // To ask about a tool costs more than to compare its score.
    let best = good().fold(0.0, |best: f32, candidate| {
        match candidate.score > best && shown(candidate.tool) {
            true => candidate.score,
            false => best,
        }
    });
    good()
        .filter(|candidate| candidate.score >= TAIL * best && shown(candidate.tool))
        .copied()
        .collect()
}

impl Candidate {
    /// Whether the tool matches well enough to be shown.
    pub(crate) fn is_good(&self) -> bool {
        self.covered
            >= match self.subject {
                Subject::Name => COVERED_MIN,
                Subject::Keywords => COVERED_BY_KEYWORDS_MIN,
                Subject::Nowhere => COVERED_WITHOUT_SUBJECT_MIN,
            }
    }
}
