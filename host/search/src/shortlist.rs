//! The tools found for one wish. Only as many are sorted as an answer needs: in a large catalog a common word
//! matches thousands.

use super::fit::Fit;
use super::score::Candidate;

/// An answer has at least this many tools if the limit and the catalog allow it: the right tool is often not
/// the one that shares the most words.
const NEAREST: usize = 10;
/// Tools that score less than this part of the best do not match well.
const TAIL: f32 = 0.35;

/// The tools that match well, or the few that come nearest.
pub(super) struct Shortlist {
    /// The first `ordered` are the best, sorted; the others are unsorted.
    tools: Vec<Candidate>,
    ordered: usize,
    /// How many match well; these are the best.
    good: usize,
}

impl Shortlist {
    /// Takes tools that are sorted, best first.
    pub(super) fn from_ordered(tools: Vec<Candidate>, good: usize) -> Self {
        Self {
            ordered: tools.len(),
            tools,
            good,
        }
    }

    /// Keeps the best `kept` tools and sorts the best `ordered` of these.
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

    /// All tools found: those that match well, filled up to [`NEAREST`] with the next best.
    pub(super) fn found(&self) -> &[Candidate] {
        &self.tools[..self.tools.len().min(self.good.max(NEAREST))]
    }

    /// The sorted part of [`Self::found`].
    pub(super) fn best(&self) -> &[Candidate] {
        &self.found()[..self.found().len().min(self.ordered)]
    }

    /// The sorted part of the tools that match well.
    pub(super) fn best_good(&self) -> &[Candidate] {
        &self.tools[..self.good.min(self.ordered)]
    }

    /// Ranks the tools that share words with a wish.
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
            // A match in descriptions alone is weak, but there may be no better one.
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
        // If enough tools match well, those that score lower cannot be among the best.
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
