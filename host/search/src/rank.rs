//! Ranking: what words and meaning say of each tool, for each wish of a query.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use toolgate_catalog::Tool;

use super::answer::{Hit, SearchQuery, SearchResults};
use super::embeddings::Similarity;
use super::fit::{self, Fit};
use super::fuse;
use super::index::Index;
use super::query::Concept;
use super::reading::{QueryPart, Reading};
use super::score::{Candidate, Lexical};
use super::shortlist::Shortlist;
use super::synonyms::Verb;

/// What a deprecated tool keeps of its score.
const DEPRECATED: f32 = 0.7;
/// What a tool that changes something keeps where the query asks to see something.
const CHANGES: f32 = 0.8;
/// What a tool that only reads keeps where the query asks for a change.
const READS: f32 = 0.8;
/// What a tool keeps whose action, as `cancel` of `cancel_refund`, no word of the query asks for...
const OTHER_ACTION: f32 = 0.9;
/// ...and where that cannot be taken back.
const DESTROYS: f32 = 0.8;
/// What a tool keeps where the query names another service in full.
const OTHER_SERVICE: f32 = 0.7;
/// Most services that a hit names beside its own.
pub(super) const ALSO_IN_MAX: usize = 20;
/// How many tools beyond the limit are sorted, so that a hit can name their services. Further tools are only
/// counted.
const BEYOND_LIMIT: usize = 200;
/// An answer has at least this many tools, where the catalog has them.
const ANSWERED_MIN: usize = 5;
/// What a tool gains whose full name is in the query.
const NAMED: f32 = 2.0;

/// The tools for one wish.
struct Ranked<'a> {
    wish: &'a QueryPart,
    words: Arc<[String]>,
    lexical: Lexical,
    nearest: Shortlist,
    confidence: Fit,
    similarity: Option<&'a Similarity>,
}

impl Index {
    pub(super) fn search(&self, tools: &[Arc<Tool>], query: &SearchQuery<'_>) -> SearchResults {
        let shown = |tool: u32| {
            let tool = &tools[tool as usize];
            query
                .service
                .is_none_or(|service| service == tool.service())
                && (query.allowed)(tool)
        };
        let ordered = query.limit.saturating_add(BEYOND_LIMIT);
        let Reading {
            whole,
            steps,
            windows,
        } = query.reading;
        let pooled;
        let ranked: Vec<Ranked<'_>> = match (steps.is_empty(), query.similarities) {
            (true, similarities) => {
                let similarity = match similarities {
                    Some([first, rest @ ..]) if !windows.is_empty() && !rest.is_empty() => {
                        pooled = pool(first, rest);
                        Some(&pooled)
                    }
                    Some([first, ..]) => Some(first),
                    _ => None,
                };
                vec![self.rank(tools, whole, similarity, &shown, ordered)]
            }
            (false, similarities) => {
                let mut ranked = Vec::new();
                for (place, step) in steps.iter().enumerate() {
                    let similarity =
                        similarities.and_then(|all| all.get(place + 1).or(all.first()));
                    ranked.push(self.rank(tools, step, similarity, &shown, ordered));
                }
                ranked
            }
        };
        self.answer(tools, query, &ranked)
    }

    /// One answer of the lists of all wishes.
    fn answer(
        &self,
        tools: &[Arc<Tool>],
        query: &SearchQuery<'_>,
        ranked: &[Ranked<'_>],
    ) -> SearchResults {
        let total = match ranked {
            [one] => one.nearest.found().len(),
            several => self.distinct(several.iter().map(|one| one.nearest.found())),
        };
        let mut turns = take_turns(ranked, query.limit);
        let suggestions = match total {
            0 => self.suggest(tools, &ranked[0].lexical, ranked[0].wish, query),
            _ => Vec::new(),
        };
        let filled = self.filled(tools, query, &ranked[0], &mut turns);
        let mut also_in = also_in(tools, query, ranked, &turns);
        let mut hits = self.hits(tools, ranked, turns, &filled);
        for (tool, hit) in &mut hits {
            hit.also_in = also_in.remove(tool).unwrap_or_default();
        }
        SearchResults {
            total: total.max(hits.len()),
            hits: hits.into_iter().map(|(_, hit)| hit).collect(),
            confidence: confidence(ranked),
            suggestions,
        }
    }

    /// What is said of each hit, beside its tool's number. `filled`: those of the nearest services.
    fn hits(
        &self,
        tools: &[Arc<Tool>],
        ranked: &[Ranked<'_>],
        turns: Vec<(usize, Candidate)>,
        filled: &HashSet<u32>,
    ) -> Vec<(u32, Hit)> {
        let several = ranked.len() > 1;
        let mut reasons: Vec<HashMap<u32, Vec<String>>> = Vec::new();
        for (place, one) in ranked.iter().enumerate() {
            let own = turns.iter().filter(|(wish, _)| *wish == place);
            let own: Vec<Candidate> = own.map(|(_, hit)| *hit).collect();
            reasons.push(self.reasons(&one.wish.concepts, &one.lexical, &own));
        }
        let named: Vec<Vec<u32>> = ranked
            .iter()
            .map(|one| self.named_services(&one.wish.concepts))
            .collect();
        let hit = |(place, hit): (usize, Candidate)| {
            let wish = &ranked[place];
            let is_filled = filled.contains(&hit.tool);
            let mut reasons = reasons[place].remove(&hit.tool).unwrap_or_default();
            reasons.extend(is_filled.then(|| "nearest service".to_owned()));
            reasons.extend(wish.meaning(hit.tool));
            let service = &self.service_of[hit.tool as usize];
            let found = Hit {
                tool: Arc::clone(&tools[hit.tool as usize]),
                score: hit.score,
                confidence: match is_filled {
                    true => Fit::None,
                    false => wish.fit(hit),
                },
                reasons,
                of_other_service: !named[place].is_empty() && !named[place].contains(service),
                step: several.then(|| wish.wish.text.clone()),
                also_in: Vec::new(),
                words: Arc::clone(&wish.words),
            };
            (hit.tool, found)
        };
        turns.into_iter().map(hit).collect()
    }

    /// Fills an answer of few tools up with those of the nearest services, behind the others. Answers which these are.
    fn filled(
        &self,
        tools: &[Arc<Tool>],
        query: &SearchQuery<'_>,
        first: &Ranked<'_>,
        hits: &mut Vec<(usize, Candidate)>,
    ) -> HashSet<u32> {
        let wanted = ANSWERED_MIN.min(query.limit).saturating_sub(hits.len());
        if wanted == 0 {
            return HashSet::new();
        }
        let taken = hits.iter().map(|(_, hit)| hit.tool).collect();
        let filled = self.fill(tools, &first.lexical, first.wish, query, &taken, wanted);
        let without_words = filled.iter().copied().map(Candidate::without_words);
        hits.extend(without_words.map(|one| (0, one)));
        filled.into_iter().collect()
    }

    /// How many tools are in at least one of several lists.
    fn distinct<'a>(&self, lists: impl Iterator<Item = &'a [Candidate]>) -> usize {
        let mut seen = vec![0_u64; (self.tools as usize).div_ceil(64)];
        for one in lists.flatten() {
            seen[one.tool as usize / 64] |= 1 << (one.tool % 64);
        }
        seen.iter().map(|bits| bits.count_ones() as usize).sum()
    }

    /// Ranks the tools for one wish and sorts at least the best `ordered`.
    fn rank<'a>(
        &self,
        tools: &[Arc<Tool>],
        wish: &'a QueryPart,
        similarity: Option<&'a Similarity>,
        shown: &dyn Fn(u32) -> bool,
        ordered: usize,
    ) -> Ranked<'a> {
        let lexical = self.weigh(tools, &wish.text, &wish.concepts);
        let (nearest, confidence) = match similarity {
            Some(similarity) => {
                let reads = |tool: u32| self.traits[tool as usize].reads;
                let fused = fuse::fuse(&lexical.candidates, similarity, shown, reads);
                let confidence = fit::judge_fit(&fused.nearest, &similarity.cosines);
                (
                    Shortlist::from_ordered(fused.nearest, fused.good),
                    confidence,
                )
            }
            None => Shortlist::by_words(&lexical.candidates, shown, ordered),
        };
        Ranked {
            words: self.words_used(wish),
            wish,
            lexical,
            nearest,
            confidence,
            similarity,
        }
    }

    /// Scores by words, then by what is known of a tool beyond its words.
    fn weigh(&self, tools: &[Arc<Tool>], text: &str, concepts: &[Concept]) -> Lexical {
        let mut lexical = self.score(concepts);
        let named = text.trim().to_ascii_lowercase();
        let action = match concepts.iter().any(|concept| concept.implied) {
            true => Some(Verb::Reads),
            false => concepts.iter().find_map(|concept| concept.verb),
        };
        let services = self.named_services(concepts);
        let mut asked = vec![0_u64; self.terms.len().div_ceil(64)];
        for variant in concepts.iter().flat_map(|concept| &concept.variants) {
            asked[variant.term as usize / 64] |= 1 << (variant.term % 64);
        }
        // The name of a service alone asks for everything that it does.
        let all = concepts
            .iter()
            .all(|concept| self.service_words.contains_key(&concept.word));
        let is_asked = |action: u32| all || asked[action as usize / 64] & (1 << (action % 64)) != 0;
        for candidate in &mut lexical.candidates {
            let traits = self.traits[candidate.tool as usize];
            if traits.deprecated {
                candidate.score *= DEPRECATED;
            }
            match action {
                Some(Verb::Reads) if !traits.reads => candidate.score *= CHANGES,
                Some(Verb::Other) if traits.reads => candidate.score *= READS,
                _ => {}
            }
            if traits.action.is_some_and(|action| !is_asked(action)) {
                candidate.score *= match traits.destroys {
                    true => DESTROYS,
                    false => OTHER_ACTION,
                };
            }
            if !services.is_empty() && !services.contains(&self.service_of[candidate.tool as usize])
            {
                candidate.score *= OTHER_SERVICE;
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

    /// The words of a wish by which its uses are remembered, as the catalog has them.
    fn words_used(&self, wish: &QueryPart) -> Arc<[String]> {
        let said = wish.concepts.iter().filter(|concept| !concept.implied);
        let words = said.map(|concept| match concept.variants.first() {
            Some(variant) => &self.terms[variant.term as usize].word,
            None => &concept.word,
        });
        let words: BTreeSet<&String> = words.collect();
        words.into_iter().cloned().collect()
    }

    /// The services whose full name is among the words, by their place in `services`.
    pub(super) fn named_services(&self, concepts: &[Concept]) -> Vec<u32> {
        let said = |word: &str| concepts.iter().any(|concept| concept.word == word);
        let is_named = |number: &u32| {
            let service = &self.services[*number as usize];
            said(&service.joined) || service.name.split('_').all(said)
        };
        let begun = concepts
            .iter()
            .filter_map(|concept| self.services_by_word.get(&concept.word));
        let mut named: Vec<u32> = begun.flatten().copied().filter(is_named).collect();
        named.sort_unstable();
        named.dedup();
        named
    }
}

impl Ranked<'_> {
    /// How near a tool is in meaning, as a reason.
    fn meaning(&self, tool: u32) -> Option<String> {
        let cosine = self.similarity?.cosines.get(tool as usize).copied();
        Some(format!("meaning: {:.2}", cosine.unwrap_or(0.0)))
    }

    /// Whether one tool fits, never more than all together.
    fn fit(&self, hit: Candidate) -> Fit {
        let own = match self.similarity {
            Some(similarity) => fit::judge_fit(&[hit], &similarity.cosines),
            None if hit.is_good() => Fit::High,
            None => Fit::Low,
        };
        own.min(self.confidence)
    }
}

/// The nearest tools of all wishes, which take turns: each beside the place of its wish. Scores never rise.
fn take_turns(ranked: &[Ranked<'_>], limit: usize) -> Vec<(usize, Candidate)> {
    let several = ranked.len() > 1;
    let mut taken: HashSet<u32> = HashSet::new();
    let mut hits: Vec<(usize, Candidate)> = Vec::new();
    let mut turns: Vec<_> = ranked.iter().map(|one| one.nearest.best().iter()).collect();
    let mut lowest = f32::MAX;
    loop {
        let before = hits.len();
        for (place, turn) in turns.iter_mut().enumerate() {
            if hits.len() == limit {
                break;
            }
            if let Some(next) = turn.find(|one| !taken.contains(&one.tool)) {
                taken.insert(next.tool);
                lowest = lowest.min(next.score);
                let score = if several { lowest } else { next.score };
                hits.push((place, Candidate { score, ..*next }));
            }
        }
        if hits.len() == before {
            return hits;
        }
    }
}

/// Of several wishes the least; a query of which one step can be done is answered in part.
fn confidence(ranked: &[Ranked<'_>]) -> Fit {
    let all = || ranked.iter().map(|one| one.confidence);
    match all().min() {
        Some(Fit::None) if all().max() > Some(Fit::None) => Fit::Low,
        least => least.unwrap_or(Fit::None),
    }
}

/// For the first hit of each action the other services whose tool of the same action matches well and is
/// not among the hits.
fn also_in(
    tools: &[Arc<Tool>],
    query: &SearchQuery<'_>,
    ranked: &[Ranked<'_>],
    hits: &[(usize, Candidate)],
) -> HashMap<u32, Vec<String>> {
    let mut also_in: HashMap<u32, Vec<String>> = HashMap::new();
    if query.service.is_some() {
        return also_in;
    }
    let tool = |one: &Candidate| &tools[one.tool as usize];
    let listed: HashSet<u32> = hits.iter().map(|(_, hit)| hit.tool).collect();
    for (place, one) in ranked.iter().enumerate() {
        let mut first: HashMap<&str, u32> = HashMap::new();
        for (_, hit) in hits.iter().filter(|(wish, _)| *wish == place) {
            first.entry(tool(hit).action()).or_insert(hit.tool);
        }
        let good = one.nearest.best_good().iter();
        for other in good.filter(|one| !listed.contains(&one.tool)) {
            if let Some(hit) = first.get(tool(other).action()) {
                let services = also_in.entry(*hit).or_default();
                if services.len() < ALSO_IN_MAX {
                    services.push(tool(other).service().to_owned());
                }
            }
        }
    }
    also_in
}

/// For each tool the best of several similarities.
fn pool(first: &Similarity, rest: &[Similarity]) -> Similarity {
    let mut pooled = first.clone();
    for part in rest {
        for (best, cosine) in pooled.cosines.iter_mut().zip(&part.cosines) {
            *best = best.max(*cosine);
        }
    }
    pooled
}
