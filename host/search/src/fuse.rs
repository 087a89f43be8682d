//! Words and meaning together: a weighted sum of standard scores.
//!
//! The scores of the two have nothing in common but their order, so each is first measured in standard
//! deviations from its mean over the same tools: the best of the one and the best of the other. The
//! numbers here were chosen on the half of the judged queries that is for tuning (`make search-score`).

use super::score::Candidate;

/// Best tools of each kind that are compared.
const POOL: usize = 100;
/// What words count beside meaning: a tool's score by words, times how much of the query it answers.
const WORDS: f32 = 0.6;
/// How much an answered query counts as evidence beside a cosine.
const ANSWERED: f32 = 0.3;
/// Tools with less evidence than this, by words and meaning, were met by chance.
const EVIDENCE_MIN: f32 = 0.38;
/// Puts a tool whose name the query is before all others; no standard score comes near.
const NAMED: f32 = 100.0;

/// The tools that match well by words, by meaning or by both, with their joint score. `lexical` is
/// in the catalog's order; `cosines` has one number per tool; `shown` says which tools there are.
pub(super) fn fuse(
    lexical: &[Candidate],
    cosines: &[f32],
    shown: impl Fn(u32) -> bool,
) -> Vec<Candidate> {
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
    let meaning = Distribution::measure(pool.iter().map(|one| cosine(one.tool)));
    let mut lowest = f32::MAX;
    for one in &mut pool {
        one.score = WORDS * words.standard(by_words(one))
            + (1.0 - WORDS) * meaning.standard(cosine(one.tool));
        lowest = lowest.min(one.score);
    }
    pool.retain(|one| one.named || cosine(one.tool) + ANSWERED * one.covered >= EVIDENCE_MIN);
    for one in &mut pool {
        one.score -= lowest;
        if one.named {
            one.score += NAMED;
        }
    }
    pool
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
    use super::super::score::Candidate;
    use super::fuse;

    fn candidate(tool: u32, score: f32, covered: f32) -> Candidate {
        Candidate {
            score,
            covered,
            ..Candidate::without_words(tool)
        }
    }

    fn order(lexical: &[Candidate], cosines: &[f32]) -> Vec<u32> {
        let mut fused = fuse(lexical, cosines, |_| true);
        fused.sort_by(|a, b| b.score.total_cmp(&a.score));
        fused.iter().map(|one| one.tool).collect()
    }

    #[test]
    fn meaning_finds_what_shares_no_word_and_words_break_the_tie() {
        assert_eq!(order(&[], &[0.1, 0.7, 0.2]), [1]);
        let lexical = [candidate(0, 1.0, 0.6), candidate(2, 5.0, 0.9)];
        assert_eq!(order(&lexical, &[0.5, 0.5, 0.5])[0], 2);
    }

    #[test]
    fn words_met_by_chance_and_far_meanings_are_left_out() {
        let lexical = [candidate(0, 5.0, 0.9)];
        assert_eq!(order(&lexical, &[0.0, 0.3]), Vec::<u32>::new());
        assert_eq!(order(&[], &[]), Vec::<u32>::new());
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
        assert_eq!(fused.len(), 1);
        assert_eq!(fused[0].tool, 1);
    }
}
