//! Queries as people ask them, each with the tool that it has to find.

use super::super::{Fit, SUGGESTIONS_MAX};
use super::{names, search};
use toolgate_catalog::fixture::catalog;

/// Query, expected tool, how far down it may be.
pub(super) const JUDGED: &[(&str, &str, usize)] = &[
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
        assert!(found.hits.len() >= 5, "the nearest all the same: {query}");
        assert!(
            found.hits.iter().all(|hit| hit.confidence == Fit::None),
            "{query}"
        );
        assert!(found.total >= found.hits.len(), "{query}");
        assert!(found.suggestions.len() <= SUGGESTIONS_MAX, "{query}");
    }
    let found = search(&catalog, "promethius", Some("promethius"));
    assert_eq!(
        found.suggestions.first().map(String::as_str),
        Some("prometheus")
    );
    let found = search(&catalog, "issue", Some("githb"));
    assert_eq!((found.total, found.suggestions[0].as_str()), (0, "github"));
}
