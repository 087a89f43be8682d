//! Search over the shipped catalog scores at least what was recorded, and the catalog's page is the
//! catalog's.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use toolgate_catalog::{Catalog, Manifest, overview};
use toolgate_search::SearchIndex;
use toolgate_search::embeddings::model::SentenceModel;
use toolgate_search::embeddings::sayings;
use toolgate_tests::search::{
    Half, Hybrid, Judged, JudgedCatalog, PlainBm25, QuerySet, Scores, by_words, dropped, floor,
    installed_model, judged_foreign_catalogs, judged_shipped_catalog, score,
};

static SHIPPED: LazyLock<JudgedCatalog> = LazyLock::new(|| judged_shipped_catalog().unwrap());
static FOREIGN: LazyLock<Vec<JudgedCatalog>> = LazyLock::new(|| judged_foreign_catalogs().unwrap());

#[test]
fn there_are_enough_queries_of_each_kind_in_both_halves() {
    let judged = &SHIPPED.sets[0].queries;
    let count =
        |wanted: &dyn Fn(&Judged) -> bool| judged.iter().filter(|case| wanted(case)).count();
    assert!(judged.len() >= 400, "{}", judged.len());
    assert!(count(&|case| case.language != "en") >= 40);
    assert!(count(&|case| case.tools.is_empty()) >= 40);
    for half in [Half::Tune, Half::Report] {
        assert!(
            count(&|case| case.half == half) * 5 >= judged.len() * 2,
            "{half:?}"
        );
    }
}

/// Plain BM25, words, words and meaning: what each set scores, in one run.
struct Scored {
    plain: Scores,
    nearest: Scores,
    lexical: Scores,
    hybrid: Scores,
    /// Queries with hits by words that have none with the model.
    lost: Vec<String>,
}

/// What the rankings score in each set of queries, by its name.
fn scored(judged: &JudgedCatalog) -> Vec<(&str, Scored)> {
    let JudgedCatalog { catalog, sets } = judged;
    let index = SearchIndex::new(catalog);
    let plain = PlainBm25::new(catalog);
    let mut model = Hybrid::new(catalog, &index).unwrap();
    let of_set = |set| scored_set(set, catalog, &index, &plain, &mut model);
    let scored: Vec<Scored> = sets.iter().map(of_set).collect();
    let names = sets.iter().map(|set| &*set.name);
    names.zip(scored).collect()
}

fn scored_set(
    set: &QuerySet,
    catalog: &Catalog,
    index: &SearchIndex,
    plain: &PlainBm25,
    model: &mut Hybrid<'_>,
) -> Scored {
    let reported = || set.queries.iter().filter(|case| case.half == Half::Report);
    let mut lost = Vec::new();
    for case in reported() {
        let (words, _) = by_words(index, &case.query);
        if !words.is_empty() && model.search(&case.query).0.is_empty() {
            lost.push(case.query.clone());
        }
    }
    Scored {
        plain: score(reported(), |query| plain.rank(query)),
        nearest: score(reported(), |query| model.nearest(query, catalog)),
        lexical: score(reported(), |query| by_words(index, query)),
        hybrid: score(reported(), |query| model.search(query)),
        lost,
    }
}

#[test]
fn search_of_the_shipped_catalog_scores_no_less_than_recorded() {
    let floor = floor().unwrap();
    for (set, scored) in scored(&SHIPPED) {
        let none: Vec<String> = Vec::new();
        assert_eq!(scored.lost, none, "{set}");
        for (ranking, scores) in [("lexical", &scored.lexical), ("hybrid", &scored.hybrid)] {
            let name = format!("{set} {ranking}");
            assert_eq!(dropped(&floor, &name, scores), none);
        }
        let (plain, lexical, hybrid) = (&scored.plain, &scored.lexical, &scored.hybrid);
        for (better, worse) in [(lexical, plain), (hybrid, lexical)] {
            assert!(better.ndcg_at_10 > worse.ndcg_at_10, "{better:?} {worse:?}");
            assert!(
                better.recall_at_5 > worse.recall_at_5,
                "{better:?} {worse:?}"
            );
        }
    }
}

#[test]
fn search_of_foreign_catalogs_beats_both_plain_rankings() {
    let floor = floor().unwrap();
    for (set, scored) in FOREIGN.iter().flat_map(scored) {
        let none: Vec<String> = Vec::new();
        assert_eq!(scored.lost, none, "{set}");
        for (ranking, scores) in [("lexical", &scored.lexical), ("hybrid", &scored.hybrid)] {
            let name = format!("{set} {ranking}");
            assert_eq!(dropped(&floor, &name, scores), none);
        }
        let (lexical, hybrid) = (scored.lexical.ndcg_at_10, scored.hybrid.ndcg_at_10);
        let (plain, nearest) = (scored.plain.ndcg_at_10, scored.nearest.ndcg_at_10);
        assert!(lexical >= plain, "{set}: {lexical} {plain}");
        assert!(hybrid >= plain + 0.05, "{set}: {hybrid} {plain}");
        assert!(hybrid >= nearest + 0.05, "{set}: {hybrid} {nearest}");
    }
}

/// The words of a text, in no order: texts that differ only in their signs or in the order of their words are one.
fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Judged queries of all sets that have the words of one of `texts`.
fn judged_among(texts: &BTreeSet<BTreeSet<String>>) -> Vec<&'static str> {
    let catalogs = FOREIGN.iter().chain([&*SHIPPED]);
    let sets = catalogs.flat_map(|judged| &judged.sets);
    let queries = sets.flat_map(|set| &set.queries);
    let judged = queries.filter(|case| texts.contains(&words(&case.query)));
    judged.map(|case| case.query.as_str()).collect()
}

#[test]
fn no_saying_is_a_judged_query() {
    let said = sayings::lines().flat_map(|line| line.said());
    let said: BTreeSet<BTreeSet<String>> = said.map(words).collect();
    assert_eq!(judged_among(&said), [""; 0]);
}

/// A description that had a query of the sets among what people say would be found by its own answer.
#[test]
fn no_request_of_a_shipped_tool_is_a_judged_query() {
    let tools = SHIPPED.catalog.tools().iter();
    let requests = tools.flat_map(|tool| &tool.spec().requests);
    let requests: BTreeSet<BTreeSet<String>> = requests.map(|text| words(text)).collect();
    assert!(requests.len() > 100, "{} requests", requests.len());
    assert_eq!(judged_among(&requests), [""; 0]);
    // One that is a query, in another order and with other signs, is seen.
    let query = &SHIPPED.sets[0].queries[0].query;
    let mut turned: Vec<&str> = query.split_whitespace().collect();
    turned.reverse();
    let copied = BTreeSet::from([words(&format!("{}?", turned.join(", ")))]);
    assert!(judged_among(&copied).contains(&query.as_str()), "{query}");
}

#[test]
fn the_vectors_of_the_sayings_are_those_of_their_text() {
    let model = SentenceModel::load(&installed_model().unwrap()).unwrap();
    let made = sayings::make(&model).unwrap();
    let shipped = sayings::shipped();
    assert_eq!(made.len(), shipped.len());
    // Another processor rounds some numbers to the next one.
    let differ = made
        .iter()
        .zip(shipped)
        .filter(|(made, shipped)| made != shipped);
    assert!(
        differ.count() * 20 < made.len(),
        "run the scoreboard with `-- sayings`"
    );
}

#[test]
fn the_page_of_integrations_is_that_of_the_shipped_plugins() {
    let catalog = &SHIPPED.catalog;
    let manifests: Vec<Manifest> = catalog
        .services()
        .map(|service| Manifest::clone(catalog.manifest(service).unwrap()))
        .collect();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/integrations.md");
    let written = std::fs::read_to_string(page).unwrap();
    // Not `assert_eq`: a difference would print the page twice.
    assert!(
        written.trim_end() == overview::markdown(&manifests).trim_end(),
        "docs/integrations.md is out of date: run `make integrations`"
    );
}
