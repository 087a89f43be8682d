//! What decides among tools that answer a query nearly equally well: whether the user can run a tool now,
//! and whether the workspace used it after such searches.

use std::cmp::Ordering;

use toolgate_catalog::Tool;

use super::answer::{Hit, SearchResults};
use super::rank::ALSO_IN_MAX;
use super::uses::Uses;

/// What a tool gains that the user can run now, as a part of its score.
const READY: f32 = 0.05;
/// The most that a tool gains which was used after similar searches.
const USED: f32 = 0.15;

impl SearchResults {
    /// Moves tools up that are `ready` to run or were used after similar searches, then keeps `limit` hits.
    /// The steps of a query go on taking turns.
    pub fn prefer(&mut self, limit: usize, ready: &dyn Fn(&Tool) -> bool, uses: &Uses) {
        for hit in &mut self.hits {
            let mut gain = 0.0;
            if ready(&hit.tool) {
                gain += READY;
            }
            if let Some(used) = uses.after(&hit.words, &hit.tool.name) {
                gain += USED * used.weight;
                let times = used.times;
                hit.reasons
                    .push(format!("used after similar searches: {times} times"));
            }
            hit.score *= 1.0 + gain;
        }
        self.order();
        let dropped = self.hits.split_off(limit.min(self.hits.len()));
        for hit in dropped.into_iter().rev() {
            self.note(&hit);
        }
    }

    /// Sorts the hits of each step within their places. Equal ones stay as they are.
    fn order(&mut self) {
        let mut sorted = std::mem::take(&mut self.hits);
        let steps: Vec<Option<String>> = sorted.iter().map(|hit| hit.step.clone()).collect();
        sorted.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal));
        let mut lowest = f32::MAX;
        for step in steps {
            let Some(next) = sorted.iter().position(|hit| hit.step == step) else {
                continue;
            };
            let mut hit = sorted.remove(next);
            lowest = lowest.min(hit.score);
            hit.score = lowest;
            self.hits.push(hit);
        }
    }

    /// Names the service of a hit that is not kept beside the first that has such a tool.
    fn note(&mut self, dropped: &Hit) {
        let alike = |hit: &&mut Hit| {
            hit.step == dropped.step
                && hit.tool.action() == dropped.tool.action()
                && hit.tool.service() != dropped.tool.service()
        };
        if let Some(first) = self.hits.iter_mut().find(alike) {
            first.also_in.insert(0, dropped.tool.service().to_owned());
            first.also_in.truncate(ALSO_IN_MAX);
        }
    }
}
