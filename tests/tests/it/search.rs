//! Search over the shipped catalog scores at least what was recorded, and the catalog's page is the
//! catalog's.

use std::path::Path;

use toolgate_catalog::{Manifest, overview};
use toolgate_search::SearchIndex;
use toolgate_tests::search::{
    Half, Hybrid, Judged, PlainBm25, dropped, floor, judged, names, score, shipped_catalog,
};

#[test]
fn there_are_enough_queries_of_each_kind_in_both_halves() {
    let judged = judged(&shipped_catalog().unwrap()).unwrap();
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

#[test]
fn search_scores_no_less_than_recorded_and_each_ranking_more_than_the_simpler_one() {
    let catalog = shipped_catalog().unwrap();
    let judged = judged(&catalog).unwrap();
    let reported = || judged.iter().filter(|case| case.half == Half::Report);
    let floor = floor().unwrap();
    let none: Vec<String> = Vec::new();
    let index = SearchIndex::new(&catalog);
    let plain = PlainBm25::new(&catalog);
    let plain = score(reported(), |query| plain.rank(query));
    let lexical = score(reported(), |query| names(&index, query, None));
    assert_eq!(dropped(&floor, "lexical", &lexical), none);
    let mut model = Hybrid::new(&catalog, &index).unwrap();
    let hybrid = score(reported(), |query| model.rank(query));
    assert_eq!(dropped(&floor, "hybrid", &hybrid), none);
    for (better, worse) in [(&lexical, &plain), (&hybrid, &lexical)] {
        assert!(better.ndcg_at_10 > worse.ndcg_at_10, "{better:?} {worse:?}");
        assert!(
            better.recall_at_5 > worse.recall_at_5,
            "{better:?} {worse:?}"
        );
    }
}

#[test]
fn the_page_of_integrations_is_that_of_the_shipped_plugins() {
    let catalog = shipped_catalog().unwrap();
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
