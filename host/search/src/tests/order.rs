//! What decides among tools that fit, and what is said of those that are left out.

use std::sync::Arc;

use serde_json::json;

use super::super::rank::ALSO_IN_MAX;
use super::super::{SearchIndex, Uses};
use super::{ask, names, search};
use toolgate_catalog::fixture::{catalog, plugins};
use toolgate_catalog::{Catalog, Manifest, PluginTools, Tool};

#[test]
fn of_near_equals_the_one_that_can_run_now_comes_first_and_use_moves_a_tool_up() {
    let catalog = catalog();
    let index = SearchIndex::new(&catalog);
    let both = |tool: &Tool| tool.action() == "create_issue";
    let found = ask(&index, "create an issue", None, 2, &both);
    let [first, second] = &found.hits[..] else {
        panic!("{found:?}");
    };
    let (first, second) = (first.tool.clone(), second.tool.clone());
    let order = |ready: &dyn Fn(&Tool) -> bool, uses: &Uses| {
        let found = found.preferred(2, ready, uses);
        (
            found.hits[0].tool.name.clone(),
            found.hits[0].reasons.join("; "),
        )
    };
    let nothing = Uses::default();
    assert_eq!(order(&|_| false, &nothing).0, first.name);
    assert_eq!(
        order(&|tool| tool.name == second.name, &nothing).0,
        second.name
    );

    let mut uses = Uses::default();
    for word in &*found.hits[1].words {
        uses.add(word, &second.name, 5);
    }
    let (name, reasons) = order(&|tool| tool.name == first.name, &uses);
    assert_eq!(name, second.name);
    // What others have searched for is not told.
    assert_eq!(
        reasons,
        order(&|tool| tool.name == second.name, &nothing).1,
        "{uses:?}"
    );
}

#[test]
fn a_hit_names_the_other_services_that_have_such_a_tool() {
    let catalog = catalog();
    let index = SearchIndex::new(&catalog);
    let found = ask(&index, "create an issue", None, 1, &|_| true);
    let hit = &found.hits[0];
    assert_eq!(hit.tool.action(), "create_issue");
    assert!(!hit.also_in.is_empty(), "{hit:?}");
    assert!(!hit.also_in.contains(&hit.tool.service().to_owned()));
    let all = ask(&index, "create an issue", None, 100, &|_| true);
    assert!(all.hits.iter().all(|hit| hit.also_in.is_empty()));
    let of_one = ask(
        &index,
        "create an issue",
        Some(hit.tool.service()),
        1,
        &|_| true,
    );
    assert!(of_one.hits[0].also_in.is_empty());
}

#[test]
fn what_is_cut_off_is_named_as_another_service() {
    let catalog = catalog();
    let index = SearchIndex::new(&catalog);
    let found = ask(&index, "create an issue", None, 10, &|_| true);
    let creates = found
        .hits
        .iter()
        .filter(|hit| hit.tool.action() == "create_issue");
    let creates = creates.count();
    assert!(creates > 1, "{:?}", names(&found));
    let found = found.preferred(1, &|_| false, &Uses::default());
    assert_eq!(found.hits.len(), 1);
    assert_eq!(found.hits[0].also_in.len(), creates - 1);
}

/// The tools of the fixtures and these of one more service, with descriptions and effects.
fn with_service(tools: &[(&str, &str, &str)]) -> Catalog {
    let tools: Vec<_> = tools
        .iter()
        .map(|(name, description, effect)| {
            json!({"name": name, "description": description, "effect": effect, "input": {"type": "object"}})
        })
        .collect();
    let manifest = json!({
        "manifest": 1, "service": "acme", "title": "Acme", "version": "1.0.0",
        "description": "Made up.", "tools": tools
    });
    let manifest = Manifest::parse(&manifest.to_string()).expect("a manifest");
    let mut all = plugins();
    all.push(PluginTools {
        sha256: String::new(),
        manifest: Arc::new(manifest),
    });
    Catalog::build(all)
}

#[test]
fn the_words_of_a_message_do_not_name_the_tool() {
    let catalog = with_service(&[
        (
            "get_team_info",
            "Gets the name and domain of the team.",
            "read",
        ),
        ("create_release", "Creates a release.", "write"),
        ("post_message", "Posts a message to a channel.", "write"),
    ]);
    for query in [
        "tell the team in acme that the release is out",
        "notify the team about the release on acme",
    ] {
        assert_eq!(
            names(&search(&catalog, query, None))[0],
            "acme_post_message",
            "{query}"
        );
    }
}

#[test]
fn a_tool_that_takes_back_or_deletes_is_asked_for_by_a_word() {
    let catalog = with_service(&[
        ("cancel_refund", "Cancels a refund.", "destructive"),
        ("create_refund", "Refunds a payment.", "write"),
        ("delete_refund", "Deletes a refund.", "destructive"),
    ]);
    let found = |query| names(&search(&catalog, query, None))[0].to_owned();
    assert_eq!(found("refund on acme"), "acme_create_refund");
    assert_eq!(found("cancel the refund on acme"), "acme_cancel_refund");
}

/// Services of these names with the same three tools each.
fn services(names: impl Iterator<Item = String>) -> Catalog {
    let tools = ["post_message", "upload_file", "delete_file"].map(|name| {
        json!({"name": name, "description": name, "effect": "write", "input": {"type": "object"}})
    });
    let plugins = names.map(|name| {
        let manifest = json!({
            "manifest": 1, "service": name, "title": name.replace('_', " "), "version": "1.0.0",
            "description": "Made up.", "tools": tools
        });
        let manifest = Manifest::parse(&manifest.to_string()).expect("a manifest");
        PluginTools {
            sha256: String::new(),
            manifest: Arc::new(manifest),
        }
    });
    Catalog::build(plugins.collect())
}

#[test]
fn a_short_answer_from_a_large_catalog_is_the_beginning_of_the_long_one() {
    let catalog = services((0..400).map(|number| format!("acme_{number}")));
    let index = SearchIndex::new(&catalog);
    for query in [
        "post a message",
        "upload a file",
        "upload a file and then post a message",
        "delete the file, then upload a file and post a message",
    ] {
        let found = |limit| {
            ask(&index, query, None, limit, &|tool| {
                tool.service() != "acme_7"
            })
        };
        let all = found(2_000);
        assert!(all.total >= 399, "{query}: {}", all.total);
        assert_eq!(all.hits.len(), all.total, "{query}");
        for limit in [0, 1, 5, 100] {
            let some = found(limit);
            assert_eq!((some.hits.len(), some.total), (limit, all.total), "{query}");
            assert_eq!(names(&some), names(&all)[..limit], "{query}");
        }
    }
    let first = &ask(&index, "post a message", None, 1, &|_| true).hits[0];
    assert_eq!(first.also_in.len(), ALSO_IN_MAX);
}

#[test]
fn a_service_is_named_by_all_its_words_or_by_its_name_as_one() {
    let catalog = services(
        ["acme_mail", "acme_drive", "mail_acme"]
            .map(str::to_owned)
            .into_iter(),
    );
    let index = SearchIndex::new(&catalog);
    for (query, service) in [
        ("upload a file to acme drive", "acme_drive"),
        ("upload a file to acmedrive", "acme_drive"),
        ("upload a file to mail acme", "mail_acme"),
        ("upload a file with acmemail", "acme_mail"),
    ] {
        let concepts = index.read(query, &|_| false).whole.concepts;
        let named = index.index.named_services(&concepts);
        let named: Vec<&str> = named
            .iter()
            .map(|number| &*index.index.services[*number as usize].name)
            .collect();
        assert!(named.contains(&service), "{query}: {named:?}");
        assert!(
            !named.contains(&"acme_drive") || service == "acme_drive",
            "{query}: {named:?}"
        );
    }
}
