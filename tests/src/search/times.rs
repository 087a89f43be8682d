//! What searches cost with 10,000 tools: by words, and by meaning, one and eight at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use toolgate_catalog::{Catalog, Manifest, PluginTools};
use toolgate_search::embeddings::Embedder;
use toolgate_search::{PREFERRED_AMONG, QUERY_CHARS_MAX, SearchIndex};

use super::rankings::{Hybrid, by_words, installed_model, search};
use super::{judged_shipped_catalog, shipped_catalog};

const TOOLS: usize = 10_000;
const AT_ONCE: [usize; 2] = [1, 8];

/// Prints the times of the shipped catalog's judged queries, each of them new to the model.
pub fn print_times() -> anyhow::Result<()> {
    let catalog = large_catalog()?;
    let index = SearchIndex::new(&catalog);
    let shipped = judged_shipped_catalog()?;
    let queries: Vec<&str> = shipped
        .sets
        .iter()
        .flat_map(|set| set.queries.iter().map(|case| &*case.query))
        .filter(|query| query.len() < QUERY_CHARS_MAX)
        .collect();
    let lexical = || {
        queries
            .iter()
            .map(|query| timed(|| by_words(&index, query)))
    };
    // Once before for the caches that a gateway has warm.
    lexical().for_each(drop);
    println!("{} tools, {} queries", catalog.tools().len(), queries.len());
    print_row("by words, 1 at a time", lexical().collect());
    let hybrid = Hybrid::new(&catalog, &index)?;
    for at_once in AT_ONCE {
        let embedder = Embedder::open(&installed_model()?)?;
        let next = AtomicUsize::new(0);
        let work = || {
            let runtime = tokio::runtime::Builder::new_current_thread().build()?;
            let mut times = Vec::new();
            while let Some(query) = queries.get(next.fetch_add(1, Ordering::Relaxed)) {
                let start = Instant::now();
                let reading = index.read(query, &|word| embedder.is_word(word));
                let mut similarities = Vec::new();
                for sentence in reading.sentences() {
                    let vector = runtime.block_on(embedder.query(sentence))?;
                    similarities.push(hybrid.vectors.similarity(&vector));
                }
                search(&index, &reading, Some(&similarities), PREFERRED_AMONG);
                times.push(start.elapsed());
            }
            anyhow::Ok(times)
        };
        let times: anyhow::Result<Vec<Vec<Duration>>> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
            let times = workers.into_iter().map(|worker| worker.join());
            times.map(|times| times.expect("no panic")).collect()
        });
        let row = format!("by words and meaning, {at_once} at a time");
        print_row(&row, times?.concat());
    }
    Ok(())
}

/// The shipped services, and as many of them again under other names as make [`TOOLS`].
fn large_catalog() -> anyhow::Result<Catalog> {
    let shipped = shipped_catalog()?;
    let mut plugins = Vec::new();
    let mut tools = 0;
    for round in 1.. {
        for service in shipped.services() {
            let manifest = shipped.manifest(service).context("it is in the catalog")?;
            let mut manifest = Manifest::clone(manifest);
            if round > 1 {
                manifest.service = format!("{service}_{round}");
            }
            tools += manifest.tools.len();
            plugins.push(PluginTools {
                manifest: Arc::new(manifest),
                sha256: String::new(),
            });
            if tools >= TOOLS {
                return Ok(Catalog::build(plugins));
            }
        }
    }
    unreachable!("the rounds do not end")
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn print_row(row: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    println!("{row}: p50 {:.2?}, p99 {:.2?}", at(50), at(99));
}
