//! The search scoreboard: judged queries against the shipped catalog, and what a ranking scores.
//!
//! The queries are in `tests/search/queries.txt`. Half of them, by a hash of their text, is for
//! tuning; numbers that are reported and held by a floor come from the other half.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use sha2::{Digest as _, Sha256};
use toolgate_catalog::{Catalog, PluginTools};
use toolgate_search::embeddings::model::SentenceModel;
use toolgate_search::embeddings::{Vector, Vectors, files};
use toolgate_search::{SearchIndex, SearchQuery};

use crate::tools;

const HERE: &str = env!("CARGO_MANIFEST_DIR");
/// Hits that a ranking is asked for.
pub const DEPTH: usize = 10;

/// Which half a query belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    Tune,
    Report,
}

/// One query and the tools that answer it; none, where nothing does.
#[derive(Clone, Debug)]
pub struct Judged {
    /// `en`, `de`, `es` or `ja`.
    pub language: String,
    pub query: String,
    pub tools: Vec<String>,
    pub half: Half,
}

/// What a ranking scores over some queries. Shares are 0 to 1.
#[derive(Clone, Debug, Default)]
pub struct Scores {
    /// Of the queries that something answers, the share whose first hit is right.
    pub recall_at_1: f64,
    /// The right tools among the first five, of five or of all where there are fewer.
    pub recall_at_5: f64,
    /// One over the place of the first right hit, 0 beyond [`DEPTH`].
    pub mrr: f64,
    pub ndcg_at_10: f64,
    /// Of the queries answered with nothing, the share that nothing answers.
    pub no_match_precision: f64,
    /// Of the queries that nothing answers, the share answered with nothing.
    pub no_match_recall: f64,
    pub p50: Duration,
    pub p99: Duration,
}

impl Scores {
    /// The shares by the names that the floor file uses.
    pub fn shares(&self) -> [(&'static str, f64); 6] {
        [
            ("recall_at_1", self.recall_at_1),
            ("recall_at_5", self.recall_at_5),
            ("mrr", self.mrr),
            ("ndcg_at_10", self.ndcg_at_10),
            ("no_match_precision", self.no_match_precision),
            ("no_match_recall", self.no_match_recall),
        ]
    }
}

/// The catalog of `plugins/dist`, as a gateway would load it.
pub fn shipped_catalog() -> anyhow::Result<Catalog> {
    let folder = Path::new(HERE).join("../plugins/dist");
    let mut plugins = Vec::new();
    let entries = std::fs::read_dir(&folder)
        .context("plugins/dist is missing: `make plugins described` builds it")?;
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "wasm") {
            let read = toolgate_runtime::inspect::read(&std::fs::read(&path)?)
                .with_context(|| path.display().to_string())?;
            plugins.push(PluginTools {
                manifest: Arc::new(read.manifest),
                sha256: read.sha256,
            });
        }
    }
    ensure!(plugins.len() > 100, "plugins/dist is not the whole catalog");
    Ok(Catalog::build(plugins))
}

/// The folder with the sentence model that `tests/search/setup.sh` fetched.
pub fn model_folder() -> anyhow::Result<PathBuf> {
    tools::installed("search/model", "search")
}

/// Search by words and meaning, as a gateway with the model does it: what a query means is computed
/// when it is first asked.
pub struct Hybrid<'a> {
    index: &'a SearchIndex,
    model: SentenceModel,
    vectors: Vectors,
    asked: HashMap<String, Vec<f32>>,
}

impl<'a> Hybrid<'a> {
    /// Makes the vectors of all tools, on all processors.
    pub fn new(catalog: &Catalog, index: &'a SearchIndex) -> anyhow::Result<Self> {
        let folder = model_folder()?;
        files::verify(&folder)?;
        let model = SentenceModel::load(&folder)?;
        let threads = std::thread::available_parallelism()?.get();
        let tools = catalog.tools();
        let parts: anyhow::Result<Vec<Vec<Vector>>> = std::thread::scope(|scope| {
            let parts = tools.chunks(tools.len().div_ceil(threads).max(1));
            let at_work: Vec<_> = parts
                .map(|part| {
                    let embed = || {
                        let made = part.iter().map(|tool| model.text(&tool.meaning_text()));
                        made.map(|vector| Ok(Vector::from(vector?))).collect()
                    };
                    scope.spawn(embed)
                })
                .collect();
            let made = at_work.into_iter().map(|one| one.join());
            made.map(|part| part.expect("embedding does not panic"))
                .collect()
        });
        let vectors = Vectors::new(parts?.iter().flatten());
        Ok(Self {
            index,
            model,
            vectors,
            asked: HashMap::new(),
        })
    }

    pub fn rank(&mut self, query: &str) -> Vec<String> {
        let text = self.index.in_english(query);
        let vector = self.asked.entry(text).or_insert_with_key(|text| {
            let vector = self.model.query(text);
            vector.expect("the model was loaded")
        });
        let cosines = self.vectors.cosines(vector);
        names(self.index, query, Some(&cosines))
    }

    /// Forgets what was asked, so that every query is new.
    pub fn forget(&mut self) {
        self.asked.clear();
    }
}

/// The best tools by words, and by meaning where `cosines` tell it.
pub fn names(index: &SearchIndex, query: &str, cosines: Option<&[f32]>) -> Vec<String> {
    let found = index.search(&SearchQuery {
        query,
        service: None,
        cosines,
        limit: DEPTH,
        allowed: &|_| true,
    });
    let hits = found.hits.into_iter();
    hits.map(|hit| hit.tool.name.to_string()).collect()
}

/// Reads the queries, and refuses a judgement that names a tool the catalog does not have.
pub fn judged(catalog: &Catalog) -> anyhow::Result<Vec<Judged>> {
    let text = std::fs::read_to_string(Path::new(HERE).join("search/queries.txt"))?;
    let mut sets: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut judged: Vec<Judged> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with('@') {
            let (name, tools) = line.split_once(" = ").context("a set is `@name = tools`")?;
            sets.insert(name, tools.split(' ').collect());
            continue;
        }
        let parts: Vec<&str> = line.split('|').map(str::trim).collect();
        let [language, query, answers] = parts[..] else {
            bail!("not `language | query | tools`: {line}");
        };
        let mut tools: Vec<String> = Vec::new();
        for answer in answers.split_whitespace() {
            let named = match sets.get(answer) {
                Some(set) => set.clone(),
                None => vec![answer],
            };
            for tool in named {
                ensure!(catalog.get(tool).is_some(), "{query:?}: there is no {tool}");
                if !tools.iter().any(|known| known == tool) {
                    tools.push(tool.to_owned());
                }
            }
        }
        ensure!(
            judged.iter().all(|known| known.query != query),
            "twice: {query}"
        );
        judged.push(Judged {
            language: language.to_owned(),
            query: query.to_owned(),
            tools,
            half: half(query),
        });
    }
    Ok(judged)
}

fn half(query: &str) -> Half {
    match Sha256::digest(query)[0] % 2 {
        0 => Half::Tune,
        _ => Half::Report,
    }
}

/// Asks every query once and scores the answers. `rank` gives at most [`DEPTH`] names, best first.
pub fn score<'a>(
    judged: impl IntoIterator<Item = &'a Judged>,
    mut rank: impl FnMut(&str) -> Vec<String>,
) -> Scores {
    let mut scores = Scores::default();
    let mut times = Vec::new();
    let (mut answerable, mut hopeless) = (0_u32, 0_u32);
    let (mut silent, mut rightly_silent) = (0_u32, 0_u32);
    for case in judged {
        let start = Instant::now();
        let ranked = rank(&case.query);
        times.push(start.elapsed());
        silent += u32::from(ranked.is_empty());
        if case.tools.is_empty() {
            hopeless += 1;
            rightly_silent += u32::from(ranked.is_empty());
            continue;
        }
        answerable += 1;
        let right: Vec<bool> = ranked
            .iter()
            .map(|tool| case.tools.contains(tool))
            .collect();
        let among = |depth: usize| right.iter().take(depth).filter(|right| **right).count();
        scores.recall_at_1 += among(1) as f64;
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
    let share = |part: f64, whole: u32| {
        if whole == 0 {
            1.0
        } else {
            part / f64::from(whole)
        }
    };
    scores.recall_at_1 = share(scores.recall_at_1, answerable);
    scores.recall_at_5 = share(scores.recall_at_5, answerable);
    scores.mrr = share(scores.mrr, answerable);
    scores.ndcg_at_10 = share(scores.ndcg_at_10, answerable);
    scores.no_match_precision = share(f64::from(rightly_silent), silent);
    scores.no_match_recall = share(f64::from(rightly_silent), hopeless);
    times.sort_unstable();
    if !times.is_empty() {
        scores.p50 = times[times.len() / 2];
        scores.p99 = times[(times.len() * 99 / 100).min(times.len() - 1)];
    }
    scores
}

/// What `tests/search/floor.json` records: per ranking, the shares that must not drop.
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

/// Textbook BM25 over name, service, description and argument names: what the rankings are
/// compared with. No stems, no synonyms, no weights; silent only where no word is shared.
pub struct PlainBm25 {
    tools: Vec<(String, HashMap<String, f64>, f64)>,
    found_in: HashMap<String, f64>,
    mean_length: f64,
}

impl PlainBm25 {
    const K1: f64 = 1.2;
    const B: f64 = 0.75;

    pub fn new(catalog: &Catalog) -> Self {
        let mut found_in: HashMap<String, f64> = HashMap::new();
        let mut tools = Vec::new();
        for tool in catalog.tools() {
            let mut text = format!("{} {} {}", tool.name, tool.service(), tool.description());
            for name in tool.spec().input.properties() {
                text.push(' ');
                text.push_str(name);
            }
            let mut counts: HashMap<String, f64> = HashMap::new();
            let mut length = 0.0;
            for word in plain_words(&text) {
                *counts.entry(word).or_default() += 1.0;
                length += 1.0;
            }
            for word in counts.keys() {
                *found_in.entry(word.clone()).or_default() += 1.0;
            }
            tools.push((tool.name.to_string(), counts, length));
        }
        let total: f64 = tools.iter().map(|(_, _, length)| length).sum();
        let mean_length = total / tools.len().max(1) as f64;
        Self {
            tools,
            found_in,
            mean_length,
        }
    }

    pub fn rank(&self, query: &str) -> Vec<String> {
        let all = self.tools.len() as f64;
        let words: Vec<(String, f64)> = plain_words(query)
            .filter_map(|word| {
                let with = *self.found_in.get(&word)?;
                Some((word, ((all - with + 0.5) / (with + 0.5) + 1.0).ln()))
            })
            .collect();
        let mut ranked: Vec<(f64, &str)> = Vec::new();
        for (name, counts, length) in &self.tools {
            let mut score = 0.0;
            for (word, rarity) in &words {
                if let Some(count) = counts.get(word) {
                    let damping = 1.0 - Self::B + Self::B * length / self.mean_length;
                    score += rarity * count * (Self::K1 + 1.0) / (count + Self::K1 * damping);
                }
            }
            if score > 0.0 {
                ranked.push((score, name));
            }
        }
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        ranked
            .into_iter()
            .take(DEPTH)
            .map(|(_, name)| name.to_owned())
            .collect()
    }
}

fn plain_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::{Half, Judged, score};

    fn case(query: &str, tools: &[&str]) -> Judged {
        Judged {
            language: "en".to_owned(),
            query: query.to_owned(),
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            half: Half::Tune,
        }
    }

    #[test]
    fn shares_are_what_their_names_say() {
        let cases = [
            case("first", &["a"]),
            case("second", &["a", "b"]),
            case("silent", &["a"]),
            case("nothing", &[]),
            case("chatter", &[]),
        ];
        let scores = score(&cases, |query| {
            let names: &[&str] = match query {
                "first" => &["a", "x"],
                "second" => &["x", "a"],
                "chatter" => &["x"],
                _ => &[],
            };
            names.iter().map(|name| (*name).to_owned()).collect()
        });
        assert_eq!(scores.recall_at_1, 1.0 / 3.0);
        assert_eq!(scores.recall_at_5, 1.5 / 3.0);
        assert_eq!(scores.mrr, 1.5 / 3.0);
        assert_eq!(scores.no_match_precision, 0.5);
        assert_eq!(scores.no_match_recall, 0.5);
        let ideal_of_two = 1.0 + 1.0 / 3_f64.log2();
        let gained = 1.0 + (1.0 / 3_f64.log2()) / ideal_of_two;
        assert!((scores.ndcg_at_10 - gained / 3.0).abs() < 1e-9);
    }
}
