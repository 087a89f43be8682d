//! What decides among tools that answer a query nearly equally well: whether the user can run a tool now,
//! and whether the workspace used it after such searches.

use std::cmp::Ordering;

use toolgate_catalog::Tool;

use super::answer::{Hit, SearchResults};
use super::fit::Fit;
use super::rank::ALSO_IN_MAX;
use super::uses::Uses;

/// How many hits are weighed: a tool that a user can run may be far behind those of services that the user never
/// connected.
pub const PREFERRED_AMONG: usize = 100;
/// What a tool gains that the user can run now, as a part of its score; chosen on the half of the judged queries that
/// is for tuning (`tests/src/search/connected.rs`).
const READY: f32 = 0.25;
/// The most that a tool gains which was used after similar searches: more than by being ready, since such a search
/// and such a call say together what the words mean here.
const USED: f32 = 0.4;

/// A hit, by its place in the answer.
struct Weighed {
    hit: usize,
    /// What decides the order.
    key: f32,
    score: f32,
}

impl SearchResults {
    /// The first `limit` hits, once those that are `ready` to run or were used after similar searches have moved up.
    /// The steps of a query go on taking turns. A service that the query names is what the query asks for: of other
    /// services nothing moves up for being ready. What a use adds decides the order alone: in the score or the reasons it
    /// would show who tries words what others have searched for.
    pub fn preferred(&self, limit: usize, ready: &dyn Fn(&Tool) -> bool, uses: &Uses) -> Self {
        let weighed = self.hits.iter().enumerate().map(|(place, hit)| {
            let used = uses.after(&hit.words, &hit.tool.name).unwrap_or(0.0);
            let gain = match !hit.of_other_service && ready(&hit.tool) {
                true => READY,
                false => 0.0,
            };
            Weighed {
                hit: place,
                key: hit.score * (1.0 + gain + USED * used),
                score: hit.score * (1.0 + gain),
            }
        });
        let ordered = self.in_turns(weighed.collect());
        let (kept, dropped) = ordered.split_at(limit.min(ordered.len()));
        let mut hits: Vec<Hit> = kept.iter().map(|one| self.hit(one)).collect();
        let matching = dropped.iter().map(|one| &self.hits[one.hit]);
        for hit in matching.rev().filter(|hit| hit.confidence > Fit::None) {
            note(&mut hits, hit);
        }
        Self {
            hits,
            total: self.total,
            confidence: self.confidence,
            suggestions: self.suggestions.clone(),
        }
    }

    /// By key, while each place stays with the step that had it. Equal ones stay as they are; scores never rise.
    fn in_turns(&self, mut weighed: Vec<Weighed>) -> Vec<Weighed> {
        weighed.sort_by(|a, b| b.key.partial_cmp(&a.key).unwrap_or(Ordering::Equal));
        let mut lowest = f32::MAX;
        let several = self.hits.iter().any(|hit| hit.step.is_some());
        if !several {
            for one in &mut weighed {
                lowest = lowest.min(one.score);
                one.score = lowest;
            }
            return weighed;
        }
        let mut ordered: Vec<Weighed> = Vec::with_capacity(weighed.len());
        for turn in &self.hits {
            let step = |one: &Weighed| self.hits[one.hit].step == turn.step;
            let Some(next) = weighed.iter().position(step) else {
                continue;
            };
            let mut one = weighed.remove(next);
            lowest = lowest.min(one.score);
            one.score = lowest;
            ordered.push(one);
        }
        ordered
    }

    fn hit(&self, weighed: &Weighed) -> Hit {
        let mut hit = self.hits[weighed.hit].clone();
        hit.score = weighed.score;
        hit
    }
}

/// Names the service of a hit that is not kept beside the first that has such a tool.
fn note(hits: &mut [Hit], dropped: &Hit) {
    let alike = |hit: &&mut Hit| {
        hit.step == dropped.step
            && hit.tool.action() == dropped.tool.action()
            && hit.tool.service() != dropped.tool.service()
    };
    if let Some(first) = hits.iter_mut().find(alike) {
        first.also_in.insert(0, dropped.tool.service().to_owned());
        first.also_in.truncate(ALSO_IN_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::{READY, USED};

    #[test]
    fn the_record_of_the_decision_has_these_figures() {
        let record = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/decisions/0075-search-learns-from-use.md"
        );
        let text = std::fs::read_to_string(record).expect("the record is there");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for (gain, said) in [
            (USED, "gains at most {} % of its score"),
            (READY, "can run now gains {} %"),
        ] {
            let percent = (gain * 100.0).round().to_string();
            let said = said.replace("{}", &percent);
            assert!(text.contains(&said), "{said}");
        }
    }
}
