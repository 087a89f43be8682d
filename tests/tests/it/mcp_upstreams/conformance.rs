//! The official conformance runner's scenarios for clients, in which a plugin is the client.
//!
//! Every scenario that a revision names is either a row of [`CASES`] or has its reason in [`NOT_RUN`].

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::{Value, json};
use toolgate_mcp_upstream::account::AccountChoice;
use toolgate_tests::client_scenario::{ClientScenario, scenarios};
use toolgate_tests::mcp_upstream::{composed, source};

use super::gateway_of;

const SESSIONS: &str = "2025-11-25";
const STATELESS: &str = "2026-07-28";

/// Scenarios without a row, with the reason. A name that ends in `/` stands for all that begin with it.
const NOT_RUN: [(&str, &str); 5] = [
    (
        "auth/",
        "the authorization server of the runner is at http://localhost, and a plugin signs its users in only at https \
         addresses; `accounts.rs` has the sign-in with a server of the official SDK",
    ),
    (
        "sse-retry",
        "a plugin does not take a stream up again: one that ends before the answer is the error `stream_cut`",
    ),
    (
        "elicitation-sep1034-client-defaults",
        "a plugin has nobody whom it could show a form, and says so: it declares no capability",
    ),
    (
        "sep-2322-client-request-state",
        "the same: a question to the user is the error `input_required`, and the call is not sent again",
    ),
    (
        "json-schema-2020-12-preservation",
        "a schema with `$anchor` is not accepted of any plugin, so its tool is left out; the suite does not score it",
    ),
];

struct Case {
    scenario: &'static str,
    revision: &'static str,
    offers: Offer,
}

/// What a plugin can be made of.
enum Offer {
    /// Exactly these tools of the server's list, each called with these arguments.
    Tools(fn() -> Vec<(&'static str, Value)>),
    /// No usable tool: the exchange is that of the build.
    Nothing,
}

const CASES: [Case; 8] = [
    Case {
        scenario: "initialize",
        revision: SESSIONS,
        offers: Offer::Nothing,
    },
    Case {
        scenario: "tools_call",
        revision: SESSIONS,
        offers: Offer::Tools(numbers),
    },
    Case {
        scenario: "tools_call",
        revision: STATELESS,
        offers: Offer::Tools(numbers),
    },
    Case {
        scenario: "request-metadata",
        revision: STATELESS,
        offers: Offer::Nothing,
    },
    Case {
        scenario: "http-standard-headers",
        revision: STATELESS,
        offers: Offer::Tools(standard_headers),
    },
    Case {
        scenario: "http-custom-headers",
        revision: STATELESS,
        offers: Offer::Tools(custom_headers),
    },
    Case {
        scenario: "http-invalid-tool-headers",
        revision: STATELESS,
        offers: Offer::Tools(|| vec![("valid_tool", json!({"region": "eu"}))]),
    },
    // Its one tool refers to a schema elsewhere.
    Case {
        scenario: "json-schema-ref-no-deref",
        revision: STATELESS,
        offers: Offer::Nothing,
    },
];

fn numbers() -> Vec<(&'static str, Value)> {
    vec![("add_numbers", json!({"a": 2, "b": 3}))]
}

fn standard_headers() -> Vec<(&'static str, Value)> {
    vec![
        ("test_headers", json!({})),
        ("my-hyphenated-tool", json!({})),
    ]
}

/// The arguments that the runner names to a client that it starts.
fn custom_headers() -> Vec<(&'static str, Value)> {
    let all = json!({
        "region": "us-west1",
        "priority": 42,
        "verbose": false,
        "debug": true,
        "empty_val": "",
        "method_val": "test-method",
        "float_val": 2.5,
        "non_ascii_val": "Hello, 世界",
        "whitespace_val": " padded ",
        "leading_space_val": " us-west1",
        "trailing_space_val": "us-west1 ",
        "internal_space_val": "us west 1",
        "control_char_val": "line1\nline2",
        "crlf_val": "line1\r\nline2",
        "tab_val": "\tindented",
        "query": "SELECT * FROM users",
    });
    let null = json!({"region": "us-east1", "priority": 1, "verbose": null, "query": "SELECT 1"});
    vec![
        ("test_custom_headers", all),
        ("test_custom_headers_null", null),
    ]
}

impl Case {
    async fn run(&self) {
        let started = ClientScenario::start(self.scenario, self.revision).await;
        let scenario = started.unwrap();
        let mut source = source(&scenario.url, "suite");
        // Some of these servers answer every GET with a stream that does not end.
        source.account = AccountChoice::None;
        let made = composed(&source, None, &[]).await;
        match self.offers {
            Offer::Nothing => {
                let refused = made.unwrap_err().to_string();
                assert!(refused.contains("offers no tool"), "{self}: {refused}");
            }
            Offer::Tools(calls) => {
                let made = made.unwrap();
                let calls = calls();
                let table = made.table.tools.iter();
                let offered: BTreeSet<&str> = table.clone().map(|(_, tool)| &*tool.name).collect();
                let expected: BTreeSet<&str> = calls.iter().map(|(name, _)| *name).collect();
                assert_eq!(offered, expected, "{self}: {:?}", made.notes);
                let gateway = gateway_of(&source).await;
                for (name, arguments) in calls {
                    let (own, _) = table.clone().find(|(_, tool)| tool.name == name).unwrap();
                    let ran = gateway.execute(&format!("suite_{own}"), arguments).await;
                    assert_eq!(ran["status"], "success", "{self}: {ran}");
                }
            }
        }
        self.judge(&scenario.checks().await.unwrap());
    }

    /// No check fails or warns, and at least one holds. One that is skipped is about what a plugin does not send, such
    /// as a request for a prompt.
    fn judge(&self, checks: &[Value]) {
        let status = |check: &Value| check["status"].as_str().unwrap().to_owned();
        let held = checks.iter().filter(|check| status(check) == "SUCCESS");
        assert!(held.count() > 0, "{self}: {checks:#?}");
        let bad: Vec<_> = checks
            .iter()
            .filter(|check| !matches!(&*status(check), "SUCCESS" | "INFO" | "SKIPPED"))
            .collect();
        assert!(bad.is_empty(), "{self}: {bad:#?}");
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.scenario, self.revision)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_passes_the_official_scenarios_for_clients() {
    join_all(CASES.iter().map(Case::run)).await;
}

#[test]
fn every_official_scenario_for_clients_is_run_or_has_a_reason() {
    let mut used = BTreeSet::new();
    for revision in [SESSIONS, STATELESS] {
        let named = scenarios(revision).unwrap();
        assert!(named.len() > 20, "{revision}: {named:?}");
        for name in &named {
            let reason = NOT_RUN
                .iter()
                .find(|(not_run, _)| match not_run.ends_with('/') {
                    true => name.starts_with(not_run),
                    false => name == not_run,
                });
            let runs = |case: &Case| case.scenario == name && case.revision == revision;
            let is_run = CASES.iter().any(runs);
            assert!(is_run != reason.is_some(), "{name} of {revision}");
            used.extend(reason.map(|(not_run, _)| *not_run));
        }
        for case in CASES.iter().filter(|case| case.revision == revision) {
            assert!(named.iter().any(|name| name == case.scenario), "{case}");
        }
    }
    let all: BTreeSet<&str> = NOT_RUN.iter().map(|(not_run, _)| *not_run).collect();
    assert_eq!(used, all, "a reason for a scenario that no revision names");
}
