//! Scoring, one word after the other: BM25F, that is BM25 over the weighted parts of a tool.
//!
//! Lists are short (a few thousand tools at most have a word), so adding up per word into one slot
//! per tool is faster than walking all lists at once, and it keeps what a match reason needs.

use super::index::Index;
use super::parts::{PARTS, Part};
use super::query::{Concept, Variant};
use super::scratch::{Scratch, Subject, TermScore};

/// How soon more occurrences stop to matter (BM25's `k1`).
const SATURATION: f32 = 1.2;

/// A tool that answers less of the query than this was met by chance.
const COVERED_MIN: f32 = 0.28;
/// The same where the query's subject is among the keywords only.
const COVERED_BY_KEYWORDS_MIN: f32 = 0.42;
/// Without the subject of the query in name, service or keywords, this much has to be answered.
const COVERED_WITHOUT_SUBJECT_MIN: f32 = 0.63;
/// Most words that one tool is expected to answer.
const ASKED_WORDS_MAX: usize = 6;

const NAME: u8 = 1 << Part::Name as u8;
const SERVICE: u8 = 1 << Part::Service as u8;
const KEYWORDS: u8 = 1 << Part::Keywords as u8;
const REQUESTS: u8 = 1 << Part::Requests as u8;
const DESCRIPTION: u8 = 1 << Part::Description as u8;

fn subject(concept: &Concept, parts: u8) -> Subject {
    if concept.verb.is_some() {
        Subject::Nowhere
    } else if parts & (NAME | SERVICE) != 0 {
        Subject::Name
    } else if parts & (KEYWORDS | REQUESTS) != 0 {
        Subject::Keywords
    } else {
        Subject::Nowhere
    }
}

/// How one concept was found in one tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match {
    pub tool: u32,
    pub variant: u8,
    pub parts: u8,
}

impl Match {
    /// The part that explains the match best.
    pub(super) fn part(self) -> Part {
        PARTS
            .into_iter()
            .find(|part| self.parts & (1 << *part as u8) != 0)
            .unwrap_or(Part::Description)
    }
}

/// A tool that has at least one of the words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Place in the catalog's sorted tools.
    pub tool: u32,
    /// BM25F; comparable within one query only.
    pub score: f32,
    /// How much of the query is answered, 0 to 1, weighted by what each word tells.
    pub(super) covered: f32,
    pub(super) subject: Subject,
    /// Whether every word of the query is in name, service, keywords, requests or description.
    pub(super) complete: bool,
    /// Whether the query is the tool's full name.
    pub(super) named: bool,
}

impl Candidate {
    /// Whether the tool matches well by words.
    pub(super) fn is_good(&self) -> bool {
        self.covered
            >= match self.subject {
                Subject::Name => COVERED_MIN,
                Subject::Keywords => COVERED_BY_KEYWORDS_MIN,
                Subject::Nowhere => COVERED_WITHOUT_SUBJECT_MIN,
            }
    }

    /// The best first; the catalog is sorted by name, so the smaller number is the earlier name.
    pub(super) fn compare(&self, other: &Self) -> std::cmp::Ordering {
        let by_score = other.score.total_cmp(&self.score);
        by_score.then(self.tool.cmp(&other.tool))
    }

    /// A tool that shares no word with the query.
    pub(super) fn without_words(tool: u32) -> Self {
        Self {
            tool,
            score: 0.0,
            covered: 0.0,
            subject: Subject::Nowhere,
            complete: false,
            named: false,
        }
    }
}

/// All candidates of a query, in the catalog's order, and per concept where it was found.
#[derive(Debug, Default)]
pub(super) struct Lexical {
    pub candidates: Vec<Candidate>,
    pub(super) matches: Vec<Vec<Match>>,
}

impl Index {
    pub(super) fn score(&self, concepts: &[Concept]) -> Lexical {
        let mut scratch = self
            .scratch
            .lock()
            .ok()
            .and_then(|mut pool| pool.pop())
            .unwrap_or_default();
        scratch.fit(self.tools as usize);
        let Scratch {
            slots,
            sums,
            touched,
        } = &mut scratch;
        let asked = asked(concepts).max(f32::MIN_POSITIVE);
        let words = concepts.iter().filter(|one| !one.implied).count();
        let mut matches = Vec::with_capacity(concepts.len());
        let mut adding: Vec<u32> = Vec::new();
        for concept in concepts {
            let mut found: Vec<Match> = Vec::new();
            for (number, variant) in concept.variants.iter().enumerate() {
                self.add_up(variant, sums, &mut adding);
                for tool in adding.drain(..) {
                    let sum = std::mem::take(&mut sums[tool as usize]);
                    let slot = &mut slots[tool as usize];
                    let score =
                        variant.weight * variant.rarity * sum.weight / (SATURATION + sum.weight);
                    if slot.concept == 0.0 {
                        found.push(Match {
                            tool,
                            variant: 0,
                            parts: 0,
                        });
                    }
                    if score > slot.concept {
                        slot.concept = score;
                        slot.variant = number as u8;
                        slot.parts = sum.parts;
                    }
                }
            }
            for found in &mut found {
                let slot = &mut slots[found.tool as usize];
                found.variant = slot.variant;
                found.parts = slot.parts;
                touched[found.tool as usize / 64] |= 1 << (found.tool % 64);
                slot.total += slot.concept;
                let weight = concept.variants[usize::from(slot.variant)].weight;
                slot.covered += concept.importance * weight * closeness(slot.parts);
                slot.subject = slot.subject.max(subject(concept, slot.parts));
                let readable =
                    slot.parts & (NAME | SERVICE | KEYWORDS | REQUESTS | DESCRIPTION) != 0;
                slot.found_words += u8::from(readable && !concept.implied);
                slot.concept = 0.0;
            }
            matches.push(found);
        }
        let touched = scratch.touched.iter().map(|bits| bits.count_ones());
        let mut candidates = Vec::with_capacity(touched.sum::<u32>() as usize);
        scratch.drain(|tool, slot| {
            candidates.push(Candidate {
                tool,
                score: slot.total,
                covered: (slot.covered / asked).min(1.0),
                subject: slot.subject,
                complete: usize::from(slot.found_words) == words,
                named: false,
            });
        });
        if let Ok(mut pool) = self.scratch.lock() {
            pool.push(scratch);
        }
        Lexical {
            candidates,
            matches,
        }
    }

    /// Adds up one term's weighted occurrences; `adding` gets the tools that have it.
    fn add_up(&self, variant: &Variant, sums: &mut [TermScore], adding: &mut Vec<u32>) {
        const MEMORY: &str = "an index in memory can be read";
        let term = &self.terms[variant.term as usize];
        for (number, part) in self.parts.iter().enumerate() {
            if variant.names_only && !matches!(PARTS[number], Part::Name | Part::Keywords) {
                continue;
            }
            let Some(info) = &term.postings[number] else {
                continue;
            };
            let mut block = part
                .postings
                .read_block_postings_from_terminfo(
                    info,
                    tantivy::schema::IndexRecordOption::WithFreqs,
                )
                .expect(MEMORY);
            while block.block_len() > 0 {
                for (tool, times) in block.docs().iter().zip(block.freqs()) {
                    let sum = &mut sums[*tool as usize];
                    if sum.parts == 0 {
                        adding.push(*tool);
                    }
                    let length = part.lengths.fieldnorm_id(*tool);
                    sum.weight += part.weight_by_length[usize::from(length)] * *times as f32;
                    sum.parts |= 1 << number;
                }
                block.advance();
            }
        }
    }
}

/// What a tool has to answer to answer all of a query: of a long one, its most telling words.
fn asked(concepts: &[Concept]) -> f32 {
    let mut importance: Vec<f32> = concepts.iter().map(|concept| concept.importance).collect();
    importance.sort_unstable_by(|a, b| b.total_cmp(a));
    importance.iter().take(ASKED_WORDS_MAX).sum()
}

/// How near a match is to what the tool is about.
fn closeness(parts: u8) -> f32 {
    if parts & (NAME | SERVICE) != 0 {
        1.0
    } else if parts & KEYWORDS != 0 {
        0.9
    } else if parts & REQUESTS != 0 {
        0.8
    } else if parts & DESCRIPTION != 0 {
        0.6
    } else {
        0.3
    }
}
