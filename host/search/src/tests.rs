use std::sync::Arc;

use super::{Fit, SearchIndex, SearchQuery, SearchResults, Uses};
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
        cosines: None,
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

/// Query, expected tool, how far down it may stand.
const JUDGED: &[(&str, &str, usize)] = &[
    ("create an issue on github", "github_create_issue", 1),
    ("open a bug in github", "github_create_issue", 1),
    ("file a new ticket in jira", "jira_create_issue", 1),
    ("github_create_issue", "github_create_issue", 1),
    ("createIssue github", "github_create_issue", 1),
    ("list open issues of a repo", "github_list_issues", 1),
    (
        "show me the github issues assigned to me",
        "github_list_issues",
        3,
    ),
    ("who is assigned to bug 42", "github_get_issue", 3),
    ("close a github issue", "github_update_issue", 1),
    (
        "comment on a pull request",
        "github_create_issue_comment",
        3,
    ),
    ("merge pr", "github_merge_pull_request", 1),
    ("open a pull request", "github_create_pull_request", 1),
    (
        "which pull requests are waiting for review",
        "github_list_pull_requests",
        1,
    ),
    ("read a file from a repository", "github_get_file", 1),
    ("find code", "github_search_code", 1),
    ("list my repos", "github_list_repositories", 1),
    ("did the ci build pass", "github_list_workflow_runs", 1),
    ("publish a new version", "github_create_release", 1),
    ("send a message on slack", "slack_send_message", 1),
    (
        "tell the team on slack that the deploy is done",
        "slack_send_message",
        1,
    ),
    ("post to slack channel", "slack_send_message", 1),
    ("slack dm", "slack_send_message", 1),
    ("edit a slack message", "slack_update_message", 1),
    ("remove a message from slack", "slack_delete_message", 1),
    (
        "read the last messages of a channel",
        "slack_get_channel_history",
        3,
    ),
    ("what slack rooms are there", "slack_list_channels", 3),
    ("make a new slack channel", "slack_create_channel", 1),
    ("people in the slack workspace", "slack_list_users", 1),
    ("react with thumbs up", "slack_add_reaction", 1),
    ("share a file on slack", "slack_upload_file", 1),
    ("find a page in notion", "notion_search", 3),
    ("write a note in notion", "notion_create_page", 1),
    (
        "add a paragraph to a notion page",
        "notion_append_blocks",
        1,
    ),
    ("rows of a notion table", "notion_query_database", 1),
    ("delete notion page", "notion_archive_page", 1),
    ("send an email to bob", "gmail_send_email", 1),
    ("send the report to my boss by mail", "gmail_send_email", 1),
    ("unread mail in my inbox", "gmail_search_emails", 1),
    ("reply to an email", "gmail_reply_to_email", 1),
    ("draft an email", "gmail_create_draft", 1),
    ("delete an email", "gmail_trash_email", 1),
    ("mark mail as read", "gmail_modify_labels", 3),
    ("run a promql query", "prometheus_query", 1),
    (
        "graph a metric over the last hour",
        "prometheus_query_range",
        1,
    ),
    ("which alerts are firing", "prometheus_list_alerts", 1),
    ("what targets are down", "prometheus_list_targets", 1),
    (
        "schedule a meeting with anna tomorrow",
        "google_calendar_create_event",
        1,
    ),
    (
        "what is on my agenda today",
        "google_calendar_list_events",
        1,
    ),
    ("cancel a meeting", "google_calendar_delete_event", 1),
    ("reschedule the meeting", "google_calendar_update_event", 1),
    (
        "when is everybody free",
        "google_calendar_find_free_time",
        1,
    ),
    (
        "googlecalendar list calendars",
        "google_calendar_list_calendars",
        1,
    ),
    ("move ticket to done", "jira_transition_issue", 1),
    ("assign a jira ticket", "jira_assign_issue", 1),
    ("find tickets with jql", "jira_search_issues", 1),
    ("current sprint", "jira_list_sprints", 1),
    // other languages
    ("schick eine Nachricht auf Slack", "slack_send_message", 1),
    (
        "welche Termine habe ich morgen",
        "google_calendar_list_events",
        1,
    ),
    ("crear una incidencia en github", "github_create_issue", 1),
    ("borrar un evento", "google_calendar_delete_event", 1),
    (
        "Slack\u{3067}\u{30e1}\u{30c3}\u{30bb}\u{30fc}\u{30b8}\u{3092}\u{9001}\u{308b}",
        "slack_send_message",
        1,
    ),
    // misspelt, begun, split and joined words
    ("creat isue on gihtub", "github_create_issue", 1),
    ("slck mesage", "slack_send_message", 3),
    ("prom alerts", "prometheus_list_alerts", 1),
    ("google calender event", "google_calendar_create_event", 3),
    ("git hub release", "github_create_release", 1),
];

#[test]
fn judged_queries_find_their_tool() {
    let catalog = catalog();
    let mut missed = Vec::new();
    for (query, expected, depth) in JUDGED {
        let found = search(&catalog, query, None);
        let names = names(&found);
        if !names.iter().take(*depth).any(|name| name == expected) {
            missed.push(format!(
                "{query:?}: {expected} not in the first {depth} of {:?}",
                names.get(..5).unwrap_or(&names)
            ));
        }
    }
    assert!(
        missed.is_empty(),
        "{} of {} missed:\n{}",
        missed.len(),
        JUDGED.len(),
        missed.join("\n")
    );
}

#[test]
fn a_query_that_nothing_answers_says_so() {
    let catalog = catalog();
    for query in [
        "asdf qwer zxcv",
        "xyzzy",
        "what is the weather in berlin tomorrow",
        "play some jazz music",
        "book a flight to paris",
        "order a pizza with extra cheese",
        "translate this sentence into french",
        "bake a chocolate cake",
        "launch a rocket",
        "buy bitcoin",
        "the and of",
        "42",
        "\u{1f600}\u{1f600}",
        "\"';--<>{}[]()",
    ] {
        let found = search(&catalog, query, None);
        assert_eq!(found.confidence, Fit::None, "{query}");
        assert_eq!(
            found.hits.is_empty(),
            !found.suggestions.is_empty(),
            "{query}"
        );
        assert!(found.suggestions.len() <= super::SUGGESTIONS_MAX, "{query}");
    }
    let found = search(&catalog, "promethius", Some("promethius"));
    assert_eq!(
        found.suggestions.first().map(String::as_str),
        Some("prometheus")
    );
    let found = search(&catalog, "issue", Some("githb"));
    assert_eq!((found.total, found.suggestions[0].as_str()), (0, "github"));
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
    assert_eq!(found("slack").total, 0);
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
    assert_eq!(search(&catalog, &beyond, None).total, 0);
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
    // Half a match is none.
    let half = search(&catalog, "widget invoices", None);
    assert_eq!(half.confidence, Fit::None);
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
        let mut found = found.clone();
        found.prefer(2, ready, uses);
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
    assert!(
        reasons.contains("used after similar searches: 5 times"),
        "{reasons}"
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
    let mut found = ask(&index, "create an issue", None, 10, &|_| true);
    let creates = found
        .hits
        .iter()
        .filter(|hit| hit.tool.action() == "create_issue");
    let creates = creates.count();
    assert!(creates > 1, "{:?}", names(&found));
    found.prefer(1, &|_| false, &Uses::default());
    assert_eq!(found.hits.len(), 1);
    assert_eq!(found.hits[0].also_in.len(), creates - 1);
}
