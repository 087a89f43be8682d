//! `make search-score`: rank, honesty and time of each ranking over the judged queries of every set, in one
//! run. Reports the half that nobody tuned on; `-- tune` prints the other, `-- misses` the queries whose
//! right tool is not among the first five, `-- kinds` a row for each kind and language of query, and
//! `-- floor` the floor file that these figures make. `-- times` instead prints what searches cost with
//! 10,000 tools, `-- connected` whether users find first what they can run, and `-- sayings` makes the vectors of
//! host/search/data/sayings.txt anew.

use std::collections::BTreeSet;

use toolgate_catalog::Catalog;
use toolgate_search::embeddings::model::SentenceModel;
use toolgate_search::embeddings::sayings;
use toolgate_search::{PREFERRED_AMONG, SearchIndex};
use toolgate_tests::search::{
    CONNECTED_USERS, Floor, Half, Hybrid, Judged, JudgedCatalog, PlainBm25, QuerySet, Scores,
    by_words, dropped, floor, installed_model, judged_foreign_catalogs, judged_shipped_catalog,
    print_times, results_by_words, score, score_connected,
};

fn main() -> anyhow::Result<()> {
    let asked = |word: &str| std::env::args().any(|argument| argument == word);
    if asked("sayings") {
        return write_sayings();
    }
    if asked("times") {
        return print_times();
    }
    let half = if asked("tune") {
        Half::Tune
    } else {
        Half::Report
    };
    if asked("connected") {
        return print_connected(half);
    }
    let mut catalogs = vec![judged_shipped_catalog()?];
    catalogs.extend(judged_foreign_catalogs()?);
    let mut made = Floor::new();
    let mut below = Vec::new();
    println!(
        "| set | ranking | hit@1 | recall@5 | MRR | nDCG@10 | none caught | none wrong | empty | p50 | p99 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for JudgedCatalog { catalog, sets } in &catalogs {
        let index = SearchIndex::new(catalog);
        let mut rankings = Rankings {
            catalog,
            plain: PlainBm25::new(catalog),
            hybrid: Hybrid::new(catalog, &index)?,
            index: &index,
        };
        let measured = sets.iter().flat_map(|set| {
            let rows = measure(&mut rankings, set, half, asked("kinds"), asked("misses"));
            rows.map(|(ranking, scores)| (format!("{} {ranking}", set.name), scores))
        });
        for (name, scores) in measured {
            if half == Half::Report && !asked("floor") {
                below.extend(dropped(&floor()?, &name, &scores));
            }
            // Rounded down, so that the figures of this very run pass.
            let rounded = |share: f64| (share * 1000.0).floor() / 1000.0;
            let shares = scores.shares();
            let shares = shares.map(|(name, share)| (name.to_owned(), rounded(share)));
            made.insert(name, shares.into());
        }
    }
    if asked("floor") {
        println!("{}", serde_json::to_string_pretty(&made)?);
    }
    anyhow::ensure!(below.is_empty(), "below the floor: {}", below.join("; "));
    Ok(())
}

/// Writes the file that search reads of the sayings.
fn write_sayings() -> anyhow::Result<()> {
    let model = SentenceModel::load(&installed_model()?)?;
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../host/search/data/sayings.vectors"
    );
    std::fs::write(file, sayings::make(&model)?)?;
    println!("{file} is written");
    Ok(())
}

/// For each user with connections, how often the first hit can be run, and what queries for other services lose.
fn print_connected(half: Half) -> anyhow::Result<()> {
    let JudgedCatalog { catalog, sets } = judged_shipped_catalog()?;
    let index = SearchIndex::new(&catalog);
    let mut hybrid = Hybrid::new(&catalog, &index)?;
    println!("| user | ranking | runnable first | without | others in five | without |");
    println!("|---|---|---|---|---|---|");
    for user in &CONNECTED_USERS {
        let queries = || sets.iter().flat_map(|set| &set.queries);
        let queries = || queries().filter(|case| case.half == half);
        let lexical = score_connected(user, &catalog, queries(), |query| {
            results_by_words(&index, query, PREFERRED_AMONG)
        });
        let joint = score_connected(user, &catalog, queries(), |query| {
            hybrid.results(query, PREFERRED_AMONG)
        });
        for (ranking, scores) in [("lexical", lexical), ("hybrid", joint)] {
            println!(
                "| {} | {ranking} | {} of {} | {} | {} of {} | {} |",
                user.name,
                scores.first,
                scores.runnable,
                scores.first_without,
                scores.foreign_found,
                scores.foreign,
                scores.foreign_found_without
            );
        }
    }
    Ok(())
}

/// What is measured of a catalog.
struct Rankings<'a> {
    catalog: &'a Catalog,
    index: &'a SearchIndex,
    plain: PlainBm25,
    hybrid: Hybrid<'a>,
}

/// Prints the rows of a set; gives those that the floor holds.
fn measure(
    rankings: &mut Rankings<'_>,
    set: &QuerySet,
    half: Half,
    kinds: bool,
    misses: bool,
) -> [(&'static str, Scores); 2] {
    let Rankings {
        catalog,
        index,
        plain,
        hybrid: model,
    } = rankings;
    let chosen: Vec<&Judged> = set
        .queries
        .iter()
        .filter(|case| case.half == half)
        .collect();
    let cases = || chosen.iter().copied();
    row(
        &set.name,
        "plain BM25",
        &score(cases(), |query| plain.rank(query)),
    );
    row(
        &set.name,
        "plain cosine",
        &score(cases(), |query| model.nearest(query, catalog)),
    );
    // Once before for the caches that a gateway has warm.
    score(cases(), |query| by_words(index, query));
    let lexical = score(cases(), |query| by_words(index, query));
    row(&set.name, "lexical", &lexical);
    score(cases(), |query| model.search(query));
    model.forget();
    let hybrid = score(cases(), |query| model.search(query));
    row(&set.name, "hybrid", &hybrid);
    if kinds {
        let of: BTreeSet<(&str, &str)> = cases()
            .flat_map(|case| [("kind", &*case.kind), ("language", &*case.language)])
            .filter(|(_, value)| !value.is_empty())
            .collect();
        for (what, value) in of {
            let some = || cases().filter(|case| [&*case.kind, &*case.language].contains(&value));
            let name = format!("{} {what} {value}", set.name);
            row(
                &name,
                "lexical",
                &score(some(), |query| by_words(index, query)),
            );
            row(&name, "hybrid", &score(some(), |query| model.search(query)));
        }
    }
    if misses {
        for case in cases().filter(|case| !case.tools.is_empty()) {
            let (ranked, confidence) = model.search(&case.query);
            if !ranked.iter().take(5).any(|tool| case.tools.contains(tool)) {
                let best = ranked.get(..4).unwrap_or(&ranked);
                println!(
                    "{} | {} -> {confidence:?} {best:?}",
                    case.language, case.query
                );
            }
        }
    }
    [("lexical", lexical), ("hybrid", hybrid)]
}

fn row(set: &str, ranking: &str, scores: &Scores) {
    println!(
        "| {set} ({} + {}) | {ranking} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.2?} | {:.2?} |",
        scores.answerable,
        scores.hopeless,
        scores.hit_at_1,
        scores.recall_at_5,
        scores.mrr,
        scores.ndcg_at_10,
        scores.none_caught,
        scores.none_wrong,
        scores.empty,
        scores.p50,
        scores.p99,
    );
}
