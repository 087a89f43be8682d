//! `make search-score`: recall, rank, honesty and time of each ranking over the judged queries, in
//! one run on the shipped catalog. Reports the half that nobody tuned on; `-- tune` prints the other.

use toolgate::catalog::{Catalog, SearchQuery};
use toolgate_tests::search::{
    DEPTH, Half, Judged, PlainBm25, Scores, dropped, floor, judged, score, shipped_catalog,
};

fn main() -> anyhow::Result<()> {
    let asked = |word: &str| std::env::args().any(|argument| argument == word);
    let half = if asked("tune") {
        Half::Tune
    } else {
        Half::Report
    };
    let catalog = shipped_catalog()?;
    let judged = judged(&catalog)?;
    let chosen: Vec<&Judged> = judged.iter().filter(|case| case.half == half).collect();
    let silent = chosen.iter().filter(|case| case.tools.is_empty()).count();
    println!(
        "{} queries in all; the {half:?} half: {} answerable, {silent} that nothing answers; {} tools\n",
        judged.len(),
        chosen.len() - silent,
        catalog.tools().len(),
    );
    println!(
        "| ranking | recall@1 | recall@5 | MRR | nDCG@10 | no-match precision | no-match recall | p50 | p99 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let plain = PlainBm25::new(&catalog);
    row("plain BM25", &measure(&chosen, |query| plain.rank(query)));
    let lexical = measure(&chosen, |query| names(&catalog, query));
    row("lexical", &lexical);
    println!();
    for language in ["en", "de", "es", "ja"] {
        let spoken = chosen
            .iter()
            .copied()
            .filter(|case| case.language == language);
        let scores = score(spoken, |query| names(&catalog, query));
        println!("lexical, {language}: recall@5 {:.3}", scores.recall_at_5);
    }
    if asked("misses") {
        for case in chosen.iter().filter(|case| !case.tools.is_empty()) {
            let ranked = names(&catalog, &case.query);
            if !ranked.iter().take(5).any(|tool| case.tools.contains(tool)) {
                println!(
                    "{} | {} -> {:?}",
                    case.language,
                    case.query,
                    ranked.get(..4).unwrap_or(&ranked)
                );
            }
        }
    }
    if half == Half::Report {
        let dropped = dropped(&floor()?, "lexical", &lexical);
        anyhow::ensure!(
            dropped.is_empty(),
            "below the floor: {}",
            dropped.join("; ")
        );
    }
    Ok(())
}

/// Shares from one round, times from the second: the first warms caches that a gateway has warm.
fn measure(cases: &[&Judged], mut rank: impl FnMut(&str) -> Vec<String>) -> Scores {
    score(cases.iter().copied(), &mut rank);
    score(cases.iter().copied(), rank)
}

fn names(catalog: &Catalog, query: &str) -> Vec<String> {
    let found = catalog.search(&SearchQuery {
        query,
        service: None,
        limit: DEPTH,
        allowed: &|_| true,
    });
    found
        .hits
        .into_iter()
        .map(|hit| hit.tool.name.clone())
        .collect()
}

fn row(ranking: &str, scores: &Scores) {
    print!("| {ranking} |");
    for (_, share) in scores.shares() {
        print!(" {share:.3} |");
    }
    println!(" {:.2?} | {:.2?} |", scores.p50, scores.p99);
}
