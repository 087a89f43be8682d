//! Whether the nearest tools fit a query.
//!
//! There is always a nearest tool, also to a wish that no tool serves. What separates the two, words and
//! meaning together, was fitted on the half of the judged queries that is for tuning
//! (`make search-score`). How far the nearest stands out from the catalog, how many words no tool has and
//! how near a saying is were tried as well, also in boosted trees, and added next to nothing.

use super::score::Candidate;

/// Whether the tools that were found are likely to do what the query asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// Nothing in the catalog seems to do it; the hits are only the nearest.
    None,
    /// The right tool may be among the hits.
    Low,
    /// The first hits do it.
    High,
}

/// Hits that are looked at.
const FIRST: usize = 3;
/// What an answered query counts as evidence beside a cosine.
const ANSWERED: f32 = 0.2;
/// With less evidence than this nothing seems to fit.
const LOW: f32 = 0.55;
/// From here on the first hits fit.
const HIGH: f32 = 0.72;

/// What the evidence of words and meaning says of the hits, best first.
pub(super) fn judge_fit(nearest: &[Candidate], cosines: &[f32]) -> Fit {
    let first = &nearest[..nearest.len().min(FIRST)];
    if first.first().is_some_and(|one| one.named) {
        return Fit::High;
    }
    let cosine = |one: &Candidate| cosines.get(one.tool as usize).copied().unwrap_or(0.0);
    let nearest = first.iter().map(cosine).fold(0.0, f32::max);
    let answered = first.iter().map(|one| one.covered).fold(0.0, f32::max);
    let evidence = nearest + ANSWERED * answered;
    if evidence < LOW {
        Fit::None
    } else if evidence < HIGH {
        Fit::Low
    } else {
        Fit::High
    }
}

#[cfg(test)]
mod tests {
    use super::super::score::Candidate;
    use super::{Fit, judge_fit};

    #[test]
    fn words_and_meaning_are_evidence_together() {
        let words = |covered| Candidate {
            covered,
            ..Candidate::without_words(0)
        };
        for (covered, cosine, expected) in [
            (0.0, 0.2, Fit::None),
            (0.5, 0.3, Fit::None),
            (0.5, 0.5, Fit::Low),
            (0.0, 0.6, Fit::Low),
            (0.9, 0.6, Fit::High),
        ] {
            assert_eq!(judge_fit(&[words(covered)], &[cosine]), expected);
        }
        assert_eq!(judge_fit(&[], &[]), Fit::None);
        let named = Candidate {
            named: true,
            ..words(0.0)
        };
        assert_eq!(judge_fit(&[named], &[0.0]), Fit::High);
    }
}
