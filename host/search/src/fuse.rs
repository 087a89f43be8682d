//! Words and meaning together: a weighted sum of standard scores.
//!
//! The scores of the two have nothing in common but their order, so each is first measured in standard
//! deviations from its mean over the same tools: the best of the one and the best of the other. The
//! numbers here were chosen on the half of the judged queries that is for tuning (`make search-score`).

use super::embeddings::Similarity;
use super::score::Candidate;

/// Best tools of each kind that are compared.
const POOL: usize = 100;
/// What words count beside meaning where they answer all of the query: a tool's score by words, times how
/// much of the query it answers.
const WORDS: f32 = 0.6;
/// What words count where no tool answers the query by them: then those it shares are there by chance.
const WORDS_UNANSWERED: f32 = 0.05;
/// What it counts that a tool reads where sayings ask to see something, or changes where they ask for that.
const EFFECT: f32 = 0.4;
/// How much an answered query counts as evidence beside a cosine.
const ANSWERED: f32 = 0.3;
/// Tools with less evidence than this, by words and meaning, do not match well.
const EVIDENCE_MIN: f32 = 0.46;
/// The best by words, where it matches well, is among this many first.
const KEPT_WITHIN: usize = 5;
/// Puts a tool whose name the query is before all others; no standard score comes near.
const NAMED: f32 = 100.0;

/// The nearest tools by words and meaning.
pub(super) struct Fused {
    /// With their joint score, best first.
    pub nearest: Vec<Candidate>,
    /// How many of them match well.
    pub good: usize,
}

/// Joins what words and meaning say. `lexical` is in the catalog's order; `shown` says which tools there
/// are, and `reads` whether one only reads.
pub(super) fn fuse(
    lexical: &[Candidate],
    similarity: &Similarity,
    shown: impl Fn(u32) -> bool,
    reads: impl Fn(u32) -> bool,
) -> Fused {
    let cosines = &similarity.cosines;
    let cosine = |tool: u32| cosines.get(tool as usize).copied().unwrap_or(0.0);
    let mut pool: Vec<Candidate> = lexical
        .iter()
        .filter(|one| shown(one.tool))
        .copied()
        .collect();
    keep_best(&mut pool, by_words);
    pool.sort_unstable_by_key(|one| one.tool);
    let mut by_meaning: Vec<u32> = (0..cosines.len() as u32)
        .filter(|tool| shown(*tool))
        .collect();
    keep_best(&mut by_meaning, |tool| cosine(*tool));
    let known = pool.len();
    for tool in by_meaning {
        let find = |list: &[Candidate]| list.binary_search_by_key(&tool, |one| one.tool);
        if find(&pool[..known]).is_err() {
            pool.push(
                find(lexical).map_or_else(|_| Candidate::without_words(tool), |at| lexical[at]),
            );
        }
    }
    let words = Distribution::measure(pool.iter().map(by_words));
    let near = Distribution::measure(pool.iter().map(|one| cosine(one.tool)));
    let sure = || pool.iter().filter(|one| one.is_good());
    let answered = sure().map(|one| one.covered).fold(0.0, f32::max);
    let surest = sure()
        .max_by(|a, b| by_words(a).total_cmp(&by_words(b)))
        .map(|one| one.tool);
    let by_words_part = answered * (1.0 - similarity.said);
    let weight = WORDS_UNANSWERED + (WORDS - WORDS_UNANSWERED) * by_words_part;
    let effect = EFFECT * similarity.said * similarity.reads;
    let mut lowest = f32::MAX;
    for one in &mut pool {
        one.score = weight * words.standard(by_words(one))
            + (1.0 - weight) * near.standard(cosine(one.tool))
            + if reads(one.tool) { effect } else { -effect };
        lowest = lowest.min(one.score);
    }
    for one in &mut pool {
        one.score -= lowest;
        if one.named {
            one.score += NAMED;
        }
    }
    let good = pool
        .iter()
        .filter(|one| one.named || cosine(one.tool) + ANSWERED * one.covered >= EVIDENCE_MIN)
        .count();
    pool.sort_unstable_by(Candidate::compare);
    keep_within(&mut pool, surest);
    Fused {
        nearest: pool,
        good,
    }
}

/// Moves the tool that words are surest of into the first few, so that the model never hides it.
fn keep_within(pool: &mut [Candidate], surest: Option<u32>) {
    let place = pool.iter().position(|one| Some(one.tool) == surest);
    if let Some(place) = place
        && place >= KEPT_WITHIN
    {
        pool[place].score = pool[KEPT_WITHIN - 1].score;
        pool[KEPT_WITHIN - 1..=place].rotate_right(1);
    }
}

fn by_words(one: &Candidate) -> f32 {
    one.score * one.covered
}

fn keep_best<T>(list: &mut Vec<T>, score: impl Fn(&T) -> f32) {
    if list.len() > POOL {
        list.select_nth_unstable_by(POOL, |a, b| score(b).total_cmp(&score(a)));
        list.truncate(POOL);
    }
}

/// Mean and standard deviation.
struct Distribution {
    mean: f32,
    deviation: f32,
}

impl Distribution {
    fn measure(values: impl ExactSizeIterator<Item = f32> + Clone) -> Self {
        let count = values.len().max(1) as f32;
        let mean = values.clone().sum::<f32>() / count;
        let variance = values.map(|x| (x - mean) * (x - mean)).sum::<f32>() / count;
        Self {
            mean,
            deviation: variance.sqrt(),
        }
    }

    /// 0 where all values are alike.
    fn standard(&self, value: f32) -> f32 {
        if self.deviation > f32::EPSILON {
            (value - self.mean) / self.deviation
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::embeddings::Similarity;
    use super::super::score::Candidate;
    use super::super::scratch::Subject;
    use super::{Fused, KEPT_WITHIN};

    fn fuse(lexical: &[Candidate], cosines: &[f32], shown: impl Fn(u32) -> bool) -> Fused {
        let similarity = Similarity {
            cosines: cosines.to_vec(),
            said: 0.0,
            reads: 0.0,
        };
        super::fuse(lexical, &similarity, shown, |_| false)
    }

    fn candidate(tool: u32, score: f32, covered: f32) -> Candidate {
        Candidate {
            score,
            covered,
            ..Candidate::without_words(tool)
        }
    }

    fn order(lexical: &[Candidate], cosines: &[f32]) -> Vec<u32> {
        let fused = fuse(lexical, cosines, |_| true);
        fused.nearest.iter().map(|one| one.tool).collect()
    }

    #[test]
    fn meaning_finds_what_shares_no_word_and_words_break_the_tie() {
        assert_eq!(order(&[], &[0.1, 0.7, 0.2]), [1, 2, 0]);
        let lexical = [candidate(0, 1.0, 0.6), candidate(2, 5.0, 0.9)];
        assert_eq!(order(&lexical, &[0.5, 0.5, 0.5])[0], 2);
    }

    #[test]
    fn what_is_known_from_sayings_counts_more_than_words_and_tells_reading_from_changing() {
        let order = |said, reads| {
            let similarity = Similarity {
                cosines: vec![0.5, 0.45, 0.45],
                said,
                reads,
            };
            let lexical = [candidate(1, 5.0, 0.9), candidate(2, 5.0, 0.9)];
            let fused = super::fuse(&lexical, &similarity, |_| true, |tool| tool == 2);
            let tools = fused.nearest.iter().map(|one| one.tool);
            tools.collect::<Vec<u32>>()
        };
        assert_eq!(order(0.0, 1.0)[0], 1);
        assert_eq!(order(1.0, 0.0)[0], 0);
        let place = |order: Vec<u32>, tool| order.iter().position(|one| *one == tool);
        assert!(place(order(0.5, 1.0), 2) < place(order(0.5, 1.0), 1));
        assert!(place(order(0.5, -1.0), 1) < place(order(0.5, -1.0), 2));
    }

    #[test]
    fn words_met_by_chance_and_far_meanings_do_not_match_well() {
        let lexical = [candidate(0, 5.0, 0.9)];
        let fused = fuse(&lexical, &[0.0, 0.3], |_| true);
        assert_eq!((fused.nearest.len(), fused.good), (2, 0));
        assert_eq!(order(&[], &[]), Vec::<u32>::new());
    }

    #[test]
    fn what_words_are_sure_of_stays_among_the_first() {
        let mut cosines = [0.9; 12];
        cosines[11] = -1.0;
        let sure = Candidate {
            subject: Subject::Name,
            ..candidate(11, 1.0, 1.0)
        };
        let others = (0..11).map(|tool| candidate(tool, 1.0, 0.2));
        let lexical: Vec<Candidate> = others.chain([sure]).collect();
        let place = order(&lexical, &cosines)
            .iter()
            .position(|tool| *tool == 11);
        assert!(place.is_some_and(|place| place < KEPT_WITHIN), "{place:?}");
    }

    #[test]
    fn a_tool_whose_name_the_query_is_comes_first_whatever_it_means() {
        let named = Candidate {
            named: true,
            ..candidate(1, 1.0, 0.2)
        };
        assert_eq!(order(&[candidate(0, 9.0, 0.9), named], &[0.9, -0.1])[0], 1);
    }

    #[test]
    fn a_tool_that_is_not_shown_does_not_count() {
        let fused = fuse(&[candidate(0, 5.0, 0.9)], &[0.9, 0.8], |tool| tool != 0);
        assert_eq!(fused.nearest.len(), 1);
        assert_eq!(fused.nearest[0].tool, 1);
    }
}
