//! `make search-score`: recall, rank, honesty and time of each ranking over the judged queries, in
//! one run on the shipped catalog. Reports the half that nobody tuned on; `-- tune` prints the other.

use toolgate_search::SearchIndex;
use toolgate_tests::search::{
    Half, Hybrid, Judged, PlainBm25, Scores, dropped, floor, judged, names, score, shipped_catalog,
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
    let index = SearchIndex::new(&catalog);
    let plain = PlainBm25::new(&catalog);
    row("plain BM25", &measure(&chosen, |query| plain.rank(query)));
    let lexical = measure(&chosen, |query| names(&index, query, None));
    row("lexical", &lexical);
    let mut model = Hybrid::new(&catalog, &index)?;
    score(chosen.iter().copied(), |query| model.rank(query));
    model.forget();
    let hybrid = score(chosen.iter().copied(), |query| model.rank(query));
    row("hybrid", &hybrid);
    let again = score(chosen.iter().copied(), |query| model.rank(query));
    println!(
        "\nhybrid takes {:.2?} at the median and {:.2?} at the 99th percentile for a query that was asked before\n",
        again.p50, again.p99
    );
    for language in ["en", "de", "es", "ja"] {
        let spoken = || {
            let all = chosen.iter().copied();
            all.filter(|case| case.language == language)
        };
        let by_words = score(spoken(), |query| names(&index, query, None));
        let both = score(spoken(), |query| model.rank(query));
        println!(
            "{language}: recall@5 {:.3} lexical, {:.3} hybrid",
            by_words.recall_at_5, both.recall_at_5
        );
    }
    if asked("misses") {
        for case in chosen.iter().filter(|case| !case.tools.is_empty()) {
            let ranked = model.rank(&case.query);
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
        let mut dropped = dropped_of("lexical", &lexical)?;
        dropped.extend(dropped_of("hybrid", &hybrid)?);
        anyhow::ensure!(
            dropped.is_empty(),
            "below the floor: {}",
            dropped.join("; ")
        );
    }
    Ok(())
}

fn dropped_of(ranking: &str, scores: &Scores) -> anyhow::Result<Vec<String>> {
    Ok(dropped(&floor()?, ranking, scores))
}

/// Shares from one round, times from the second: the first warms caches that a gateway has warm.
fn measure(cases: &[&Judged], mut rank: impl FnMut(&str) -> Vec<String>) -> Scores {
    score(cases.iter().copied(), &mut rank);
    score(cases.iter().copied(), rank)
}

fn row(ranking: &str, scores: &Scores) {
    print!("| {ranking} |");
    for (_, share) in scores.shares() {
        print!(" {share:.3} |");
    }
    println!(" {:.2?} | {:.2?} |", scores.p50, scores.p99);
}
