//! The tools that are found for one wish, without ordering more of them than an answer shows: a common word
//! is in a good part of a large catalog.

use super::fit::Fit;
use super::score::Candidate;

/// An answer has this many tools where the limit and the catalog allow: the right one is often not the one
/// that shares the most words.
const NEAREST: usize = 10;
/// Tools that score less than this part of the best do not match well.
const TAIL: f32 = 0.35;

/// The tools that match well, or the few that come nearest.
pub(super) struct Shortlist {
    /// The first `ordered` are the best, in order; the others follow in any order.
    tools: Vec<Candidate>,
    ordered: usize,
    /// How many match well; these are the best.
    good: usize,
}

impl Shortlist {
    /// All of `tools`, which are in order.
    pub(super) fn from_ordered(tools: Vec<Candidate>, good: usize) -> Self {
        Self {
            ordered: tools.len(),
            tools,
            good,
        }
    }

    /// Keeps the best `kept` of `tools` and orders the best `ordered` of them.
    fn new(mut tools: Vec<Candidate>, good: usize, kept: usize, ordered: usize) -> Self {
        keep_best(&mut tools, kept);
        let ordered = ordered.min(tools.len());
        if ordered < tools.len() && ordered > 0 {
            tools.select_nth_unstable_by(ordered - 1, Candidate::compare);
        }
        tools[..ordered].sort_unstable_by(Candidate::compare);
        Self {
            tools,
            ordered,
            good,
        }
    }

    /// The tools that are found: those that match well, and others up to [`NEAREST`].
    pub(super) fn found(&self) -> &[Candidate] {
        &self.tools[..self.tools.len().min(self.good.max(NEAREST))]
    }

    /// The best of those that are found, in order.
    pub(super) fn best(&self) -> &[Candidate] {
        &self.found()[..self.found().len().min(self.ordered)]
    }

    /// The best of those that match well, in order.
    pub(super) fn best_good(&self) -> &[Candidate] {
        &self.tools[..self.good.min(self.ordered)]
    }

    /// The tools that share words with a wish, those that match well first.
    pub(super) fn by_words(
        candidates: &[Candidate],
        shown: &dyn Fn(u32) -> bool,
        ordered: usize,
    ) -> (Self, Fit) {
        let shown: Vec<&Candidate> = candidates.iter().filter(|one| shown(one.tool)).collect();
        let (mut well, mut complete) = (0.0_f32, 0.0_f32);
        for one in &shown {
            if one.is_good() {
                well = well.max(one.score);
            }
            if one.complete {
                complete = complete.max(one.score);
            }
        }
        let (is_good, best, confidence): (fn(&Candidate) -> bool, f32, _) = if well > 0.0 {
            (Candidate::is_good, well, Fit::High)
        } else if complete > 0.0 {
            // Words that stand in descriptions alone say little, but they may be all there is.
            (|one| one.complete, complete, Fit::Low)
        } else {
            (|_| false, 0.0, Fit::None)
        };
        let weighed = || {
            shown.iter().map(|one| match is_good(one) {
                true => (true, **one),
                false => {
                    let score = one.score * TAIL;
                    (false, Candidate { score, ..**one })
                }
            })
        };
        let least = TAIL * best;
        let good = weighed().filter(|(is_good, one)| *is_good && one.score >= least);
        let good = good.count();
        // Where enough match well, no tool below their least is among the best.
        let least = if good < NEAREST { f32::MIN } else { least };
        let nearest = weighed().map(|(_, one)| one);
        let nearest = nearest.filter(|one| one.score >= least).collect();
        let kept = good.max(NEAREST);
        (Self::new(nearest, good, kept, ordered), confidence)
    }
}

fn keep_best(tools: &mut Vec<Candidate>, kept: usize) {
    if tools.len() > kept {
        tools.select_nth_unstable_by(kept - 1, Candidate::compare);
        tools.truncate(kept);
    }
}
