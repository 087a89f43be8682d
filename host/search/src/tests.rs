//! What a search answers over the catalog of the fixtures.

mod judged;
mod order;

use std::sync::Arc;

use judged::JUDGED;

use super::{Fit, SearchIndex, SearchQuery, SearchResults};
use toolgate_catalog::fixture::{catalog, plugins};
use toolgate_catalog::{Catalog, Manifest, PluginTools, Tool};

fn search(catalog: &Catalog, query: &str, service: Option<&str>) -> SearchResults {
    ask(&SearchIndex::new(catalog), query, service, 20, &|_| true)
}

fn ask(
    index: &SearchIndex,
    query: &str,
    service: Option<&str>,
    limit: usize,
    allowed: &dyn Fn(&Tool) -> bool,
) -> SearchResults {
    index.search(&SearchQuery {
        reading: &index.read(query, &|_| false),
        service,
        similarities: None,
        limit,
        allowed,
    })
}

fn names(found: &SearchResults) -> Vec<&str> {
    found
        .hits
        .iter()
        .map(|hit| hit.tool.name.as_str())
        .collect()
}

#[test]
fn a_service_filter_leaves_only_that_service() {
    let catalog = catalog();
    let found = search(&catalog, "create issue", Some("jira"));
    assert_eq!(names(&found)[0], "jira_create_issue");
    assert!(found.hits.iter().all(|hit| hit.tool.service() == "jira"));
    assert!(
        search(&catalog, "create issue", None)
            .hits
            .iter()
            .any(|hit| hit.tool.service() == "github")
    );
}

#[test]
fn the_name_of_a_service_alone_lists_its_tools() {
    let catalog = catalog();
    let found = search(&catalog, "Slack", None);
    assert!(found.hits.iter().all(|hit| hit.tool.service() == "slack"));
    assert_eq!(found.total, 10);
    let sorted = {
        let mut sorted = names(&found);
        sorted.sort_unstable();
        sorted
    };
    assert_eq!(
        names(&found),
        sorted,
        "equal scores are in the order of names"
    );
}

#[test]
fn match_reasons_say_what_was_found_where() {
    let catalog = catalog();
    let reasons = |query: &str| search(&catalog, query, None).hits[0].reasons.clone();
    let found = reasons("create an issue on github");
    assert!(
        found.contains(&"name: create, issue".to_owned()),
        "{found:?}"
    );
    assert!(found.contains(&"service: github".to_owned()), "{found:?}");
    let found = reasons("remove a message from slack");
    assert!(
        found.contains(&"synonym: remove -> delete".to_owned()),
        "{found:?}"
    );
    let found = reasons("creat isue on gihtub");
    assert!(
        found.contains(&"typo: gihtub -> github".to_owned()),
        "{found:?}"
    );
    let found = reasons("schicke eine Nachricht auf Slack");
    assert!(
        found.contains(&"translation: nachricht -> message".to_owned()),
        "{found:?}"
    );
    let found = reasons("prom alerts");
    assert!(
        found.contains(&"prefix: prom -> prometheus".to_owned()),
        "{found:?}"
    );
}

#[test]
fn a_tool_that_is_not_allowed_is_neither_found_counted_nor_suggested() {
    let catalog = catalog();
    let found = |query: &str| {
        ask(&SearchIndex::new(&catalog), query, None, 20, &|tool| {
            tool.service() != "slack"
        })
    };
    let open = search(&catalog, "send message", None);
    let closed = found("send message");
    assert!(names(&open).contains(&"slack_send_message"));
    assert!(closed.hits.iter().all(|hit| hit.tool.service() != "slack"));
    let by_name = found("slack");
    assert_eq!(by_name.confidence, Fit::None);
    assert!(by_name.hits.iter().all(|hit| hit.tool.service() != "slack"));
    assert!(!found("slack").suggestions.contains(&"slack".to_owned()));
    let nothing = ask(&SearchIndex::new(&catalog), "issue", None, 20, &|_| false);
    assert_eq!(
        (nothing.total, nothing.hits.len(), nothing.suggestions.len()),
        (0, 0, 0)
    );
}

#[test]
fn limit_cuts_the_hits_and_not_the_total() {
    let catalog = catalog();
    let query = |limit| ask(&SearchIndex::new(&catalog), "issue", None, limit, &|_| true);
    let all = query(100);
    assert_eq!(all.hits.len(), all.total);
    for limit in [0, 1, 3] {
        let some = query(limit);
        assert_eq!((some.hits.len(), some.total), (limit, all.total));
        assert_eq!(names(&some), names(&all)[..limit]);
    }
}

#[test]
fn the_order_does_not_depend_on_the_order_of_plugins_or_the_run() {
    let forward = catalog();
    let mut reversed = plugins();
    reversed.reverse();
    let backward = Catalog::build(reversed);
    for (query, _, _) in JUDGED {
        let (a, b) = (
            search(&forward, query, None),
            search(&backward, query, None),
        );
        assert_eq!(names(&a), names(&b), "{query}");
        let scores = |found: &SearchResults| {
            found
                .hits
                .iter()
                .map(|hit| hit.score.to_bits())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            scores(&a),
            scores(&search(&forward, query, None)),
            "{query}"
        );
        assert!(
            a.hits
                .is_sorted_by(|x, y| (y.score, &x.tool.name) <= (x.score, &y.tool.name)),
            "{query}"
        );
    }
}

#[test]
fn query_syntax_means_nothing() {
    let catalog = catalog();
    let plain = search(&catalog, "create issue github", None);
    for query in [
        "create AND issue AND github",
        "+create +issue +github",
        "\"create issue\" github",
        "name:create issue^9 github~2",
        "create issue github OR",
        "(create (issue github",
        "[create TO issue] github*",
    ] {
        let found = search(&catalog, query, None);
        assert_eq!(names(&found)[0], names(&plain)[0], "{query}");
    }
}

#[test]
fn a_query_of_any_length_is_bounded() {
    let catalog = catalog();
    for query in [
        "issue ".repeat(100_000),
        "x".repeat(1_000_000),
        (0..50_000).map(|i| format!("w{i} ")).collect(),
        "\u{4e2d}\u{6587}".repeat(100_000),
        "a_b_C".repeat(100_000),
        "\0\u{202e}\u{ffff}".repeat(1_000),
    ] {
        let found = search(&catalog, &query, None);
        assert!(found.hits.len() <= 20);
    }
    assert_eq!(
        names(&search(&catalog, &"issue ".repeat(100_000), None)),
        names(&search(&catalog, "issue", None))
    );
    let beyond = format!("{}slack", " ".repeat(super::QUERY_CHARS_MAX));
    assert_eq!(search(&catalog, &beyond, None).confidence, Fit::None);
    let within = format!("{}slack", " ".repeat(super::QUERY_CHARS_MAX - 5));
    assert_eq!(search(&catalog, &within, None).total, 10);
}

#[test]
fn an_empty_catalog_finds_nothing_and_suggests_nothing() {
    let found = search(&Catalog::default(), "issue", None);
    assert_eq!((found.total, found.suggestions.len()), (0, 0));
}

#[test]
fn a_word_that_stands_in_descriptions_alone_is_found_where_nothing_better_is() {
    let manifest = serde_json::json!({
        "manifest": 1, "service": "acme", "title": "Acme", "version": "1.0.0",
        "description": "Factory.",
        "tools": [
            {"name": "list_parts", "description": "Lists every widget and gadget of the factory.",
             "effect": "read", "input": {"type": "object"}},
            {"name": "close_gate", "description": "Closes the gate.",
             "effect": "write", "input": {"type": "object"}}]
    });
    let catalog = Catalog::build(vec![PluginTools {
        sha256: String::new(),
        manifest: Arc::new(Manifest::parse(&manifest.to_string()).expect("a manifest")),
    }]);
    for query in ["widget", "widgets and gadgets"] {
        let found = search(&catalog, query, None);
        assert_eq!(names(&found)[0], "acme_list_parts", "{query}");
        assert_ne!(found.confidence, Fit::None, "{query}");
    }
    // Half a match is no match.
    let half = search(&catalog, "widget invoices", None);
    assert_eq!(half.confidence, Fit::None);
}

#[test]
fn a_tool_is_found_by_what_people_say_when_they_want_it() {
    let manifest = |requests: &[&str]| {
        let manifest = serde_json::json!({
            "manifest": 1, "service": "acme", "title": "Acme", "version": "1.0.0",
            "description": "Factory.",
            "tools": [
                {"name": "list_liabilities", "description": "Lists open liabilities of the factory.",
                 "requests": requests, "effect": "read", "input": {"type": "object"}},
                {"name": "close_gate", "description": "Closes the gate.",
                 "effect": "write", "input": {"type": "object"}}]
        });
        Catalog::build(vec![PluginTools {
            sha256: String::new(),
            manifest: Arc::new(Manifest::parse(&manifest.to_string()).expect("a manifest")),
        }])
    };
    let query = "what do we owe our suppliers";
    let without = search(&manifest(&[]), query, None);
    assert_eq!(without.confidence, Fit::None);
    let with = search(
        &manifest(&["what we owe suppliers this month"]),
        query,
        None,
    );
    assert_eq!(names(&with)[0], "acme_list_liabilities");
    assert_ne!(with.confidence, Fit::None);
    let reasons = &with.hits[0].reasons;
    let explained = reasons
        .iter()
        .any(|reason| reason.starts_with("requests: "));
    assert!(explained, "{reasons:?}");
}

#[test]
fn a_query_of_several_steps_is_answered_step_by_step() {
    let catalog = catalog();
    for (query, steps, expected) in [
        (
            "create a jira issue for the crash and then tell the team on slack",
            &[
                "create a jira issue for the crash",
                "tell the team on slack",
            ][..],
            &["jira_create_issue", "slack_send_message"][..],
        ),
        (
            "Find the release notes page in notion. Send it by email to bob, then delete the slack message.",
            &[
                "Find the release notes page in notion",
                "Send it by email to bob",
                "delete the slack message",
            ],
            &["notion_search", "gmail_send_email", "slack_delete_message"],
        ),
        (
            "erstelle ein Ticket in jira und dann schicke eine Nachricht auf Slack",
            &[
                "erstelle ein Ticket in jira",
                "schicke eine Nachricht auf Slack",
            ],
            &["jira_create_issue", "slack_send_message"],
        ),
    ] {
        let found = search(&catalog, query, None);
        let first = &found.hits[..steps.len()];
        let served: Vec<&str> = first.iter().filter_map(|hit| hit.step.as_deref()).collect();
        assert_eq!(served, steps, "{query}");
        assert_eq!(&names(&found)[..steps.len()], expected, "{query}");
        assert!(
            found.hits.is_sorted_by(|a, b| a.score >= b.score),
            "{query}"
        );
        let mut unique = names(&found);
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), found.hits.len(), "{query}");
    }
}

#[test]
fn words_joined_in_one_wish_are_not_steps() {
    let catalog = catalog();
    for query in [
        "find and delete old messages",
        "search and replace",
        "create a page with title, text and labels",
        "list issues and pull requests",
        "send a message to bob and alice",
        "rename channel #general-and-more",
    ] {
        let found = search(&catalog, query, None);
        assert!(found.hits.iter().all(|hit| hit.step.is_none()), "{query}");
    }
}

#[test]
fn a_long_text_is_read_to_its_end() {
    let catalog = catalog();
    let story =
        "we had a long week with many visitors from abroad who liked the garden and the food. ";
    let query = format!(
        "{}create a jira issue about the broken lamp",
        story.repeat(20)
    );
    assert_eq!(
        names(&search(&catalog, &query, None))[0],
        "jira_create_issue"
    );
}

#[test]
fn a_wrong_name_is_answered_with_the_nearest_ones() {
    let catalog = catalog();
    let index = SearchIndex::new(&catalog);
    let nearest = |name: &str| index.nearest_names(name, &|_| true);
    for (wrong, right) in [
        ("slack_post_message", "slack_send_message"),
        ("slack_sendMessage", "slack_send_message"),
        ("github_open_issue", "github_create_issue"),
        ("github_isue_create", "github_create_issue"),
        ("gmail_send_mail", "gmail_send_email"),
        ("notion_find", "notion_search"),
        ("slak_send_message", "slack_send_message"),
    ] {
        assert_eq!(
            nearest(wrong).first().map(String::as_str),
            Some(right),
            "{wrong}"
        );
    }
    // Never another service's tool for a service that was meant.
    assert!(
        nearest("slack_merge_pull_request")
            .iter()
            .all(|name| name.starts_with("slack_"))
    );
    assert!(nearest("xyzzy").is_empty());
    assert!(nearest("").is_empty());
    assert!(nearest(&"a_".repeat(100_000)).len() <= 3);
    let open = index.nearest_names("slack_post_message", &|tool| tool.service() != "slack");
    assert!(open.is_empty(), "{open:?}");
}
