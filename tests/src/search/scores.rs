//! What a ranking scores over some queries, and the floor below which it must not drop.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use toolgate_search::Fit;

use super::{DEPTH, HERE, Judged};

/// What a ranking answers: names, best first, and whether it says that they fit.
#[derive(Clone, Debug)]
pub struct Answer {
    pub names: Vec<String>,
    /// Of rankings that do not say, high.
    pub confidence: Fit,
}

impl From<Vec<String>> for Answer {
    fn from(names: Vec<String>) -> Self {
        Self {
            names,
            confidence: Fit::High,
        }
    }
}

impl From<(Vec<String>, Fit)> for Answer {
    fn from((names, confidence): (Vec<String>, Fit)) -> Self {
        Self { names, confidence }
    }
}

/// Shares are 0 to 1.
#[derive(Clone, Debug, Default)]
pub struct Scores {
    /// Queries that something answers.
    pub answerable: u32,
    /// Queries that nothing answers.
    pub hopeless: u32,
    /// Of the answerable, the share whose first hit is right.
    pub hit_at_1: f64,
    /// The right tools among the first five, of five or of all where there are fewer.
    pub recall_at_5: f64,
    /// One over the place of the first right hit, 0 beyond [`DEPTH`].
    pub mrr: f64,
    pub ndcg_at_10: f64,
    /// Of the queries that nothing answers, the share marked `none`.
    pub none_caught: f64,
    /// Of the answerable, the share that is marked `none` all the same.
    pub none_wrong: f64,
    /// Of the answerable, the share with no hit at all.
    pub empty: f64,
    pub p50: Duration,
    pub p99: Duration,
}

impl Scores {
    /// The shares that a floor holds, by the names that its file uses. Of `none_wrong` and `empty` less is
    /// better, so their rest is held.
    pub fn shares(&self) -> [(&'static str, f64); 6] {
        [
            ("hit_at_1", self.hit_at_1),
            ("recall_at_5", self.recall_at_5),
            ("ndcg_at_10", self.ndcg_at_10),
            ("none_caught", self.none_caught),
            ("none_right", 1.0 - self.none_wrong),
            ("answered", 1.0 - self.empty),
        ]
    }
}

/// Asks every query once and scores the answers. `rank` gives at most [`DEPTH`] names, best first.
pub fn score<'a, A: Into<Answer>>(
    judged: impl IntoIterator<Item = &'a Judged>,
    mut rank: impl FnMut(&str) -> A,
) -> Scores {
    let mut scores = Scores::default();
    let mut times = Vec::new();
    let (mut caught, mut wrong, mut empty) = (0_u32, 0_u32, 0_u32);
    for case in judged {
        let start = Instant::now();
        let Answer { names, confidence } = rank(&case.query).into();
        times.push(start.elapsed());
        let none = u32::from(confidence == Fit::None);
        if case.tools.is_empty() {
            scores.hopeless += 1;
            caught += none;
            continue;
        }
        scores.answerable += 1;
        wrong += none;
        empty += u32::from(names.is_empty());
        let right: Vec<bool> = names.iter().map(|tool| case.tools.contains(tool)).collect();
        let among = |depth: usize| right.iter().take(depth).filter(|right| **right).count();
        scores.hit_at_1 += among(1) as f64;
        scores.recall_at_5 += among(5) as f64 / case.tools.len().min(5) as f64;
        if let Some(first) = right.iter().position(|right| *right) {
            scores.mrr += 1.0 / (first + 1) as f64;
        }
        let gain = |place: usize| 1.0 / ((place + 2) as f64).log2();
        let gained: f64 = (0..right.len().min(DEPTH))
            .filter(|place| right[*place])
            .map(gain)
            .sum();
        let ideal: f64 = (0..case.tools.len().min(DEPTH)).map(gain).sum();
        scores.ndcg_at_10 += gained / ideal;
    }
    let share = |part: f64, whole: u32| part / f64::from(whole.max(1));
    let answerable = scores.answerable;
    scores.hit_at_1 = share(scores.hit_at_1, answerable);
    scores.recall_at_5 = share(scores.recall_at_5, answerable);
    scores.mrr = share(scores.mrr, answerable);
    scores.ndcg_at_10 = share(scores.ndcg_at_10, answerable);
    scores.none_caught = share(f64::from(caught), scores.hopeless);
    scores.none_wrong = share(f64::from(wrong), answerable);
    scores.empty = share(f64::from(empty), answerable);
    times.sort_unstable();
    if !times.is_empty() {
        scores.p50 = times[times.len() / 2];
        scores.p99 = times[(times.len() * 99 / 100).min(times.len() - 1)];
    }
    scores
}

/// What `tests/search/floor.json` records: per set and ranking, the shares that must not drop.
pub type Floor = BTreeMap<String, BTreeMap<String, f64>>;

pub fn floor() -> anyhow::Result<Floor> {
    let text = std::fs::read_to_string(Path::new(HERE).join("search/floor.json"))?;
    Ok(serde_json::from_str(&text)?)
}

/// Shares of `scores` that lie below the floor recorded for `ranking`.
pub fn dropped(floor: &Floor, ranking: &str, scores: &Scores) -> Vec<String> {
    let Some(least) = floor.get(ranking) else {
        return vec![format!("no floor is recorded for {ranking}")];
    };
    let mut dropped = Vec::new();
    for (name, share) in scores.shares() {
        match least.get(name) {
            // Half a thousandth for rounding in the file.
            Some(least) if share + 0.0005 >= *least => {}
            Some(least) => dropped.push(format!("{ranking} {name} {share:.3}, recorded {least}")),
            None => dropped.push(format!("no floor for {ranking} {name}: now {share:.3}")),
        }
    }
    dropped
}

#[cfg(test)]
mod tests {
    use toolgate_search::Fit;

    use super::super::{Half, Judged};
    use super::score;

    fn case(query: &str, tools: &[&str]) -> Judged {
        Judged {
            language: "en".to_owned(),
            query: query.to_owned(),
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            kind: String::new(),
            half: Half::Tune,
        }
    }

    #[test]
    fn shares_are_what_their_names_say() {
        let cases = [
            case("first", &["a"]),
            case("second", &["a", "b"]),
            case("doubted", &["a"]),
            case("nothing", &[]),
            case("chatter", &[]),
        ];
        let scores = score(&cases, |query| {
            let (names, confidence): (&[&str], _) = match query {
                "first" => (&["a", "x"], Fit::High),
                "second" => (&["x", "a"], Fit::Low),
                "chatter" => (&["x"], Fit::Low),
                _ => (&[], Fit::None),
            };
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            (names, confidence)
        });
        assert_eq!(scores.hit_at_1, 1.0 / 3.0);
        assert_eq!(scores.recall_at_5, 1.5 / 3.0);
        assert_eq!(scores.mrr, 1.5 / 3.0);
        assert_eq!(scores.none_caught, 0.5);
        assert_eq!(scores.none_wrong, 1.0 / 3.0);
        assert_eq!(scores.empty, 1.0 / 3.0);
        let ideal_of_two = 1.0 + 1.0 / 3_f64.log2();
        let gained = 1.0 + (1.0 / 3_f64.log2()) / ideal_of_two;
        assert!((scores.ndcg_at_10 - gained / 3.0).abs() < 1e-9);
    }
}
