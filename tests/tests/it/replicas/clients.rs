//! What clients do who know nothing of several gateways.

use serde_json::json;
use toolgate_tests::component::Fixture;
use toolgate_tests::mcp::{Call, Client, Job, conformance, converse};
use toolgate_tests::provider::Provider;

use super::Replicas;
use crate::connect::{TOOL, real};

fn demo() -> (&'static str, Vec<u8>) {
    let answers = "(call $answer (local.get $arguments) (local.get $arguments_bytes))";
    ("demo.wasm", Fixture::new("demo").invoke(answers).build())
}

fn execute(tool_name: &str) -> Call {
    Call {
        name: "svc_execute_tool",
        arguments: json!({ "tool_name": tool_name, "arguments": "{}" }),
    }
}

/// Every client, session or none, makes a dozen calls of which each goes to the next gateway.
#[tokio::test(flavor = "multi_thread")]
async fn clients_of_both_eras_go_round_the_replicas() {
    let replicas = Replicas::start(&[demo()], &["demo_run"]).await;
    let url = format!("{}/mcp", replicas.balancer.base);
    for client in [
        Client::JavaScriptSdk1,
        Client::JavaScript("legacy"),
        Client::JavaScript("2026-07-28"),
        Client::Python("legacy"),
        Client::Python("2026-07-28"),
    ] {
        let job = Job {
            url: &url,
            key: &replicas.key,
            command: None,
            skills: false,
            opens_urls: false,
            calls: (0..12).map(|_| execute("demo_run")).collect(),
        };
        let said = converse(client, &job)
            .await
            .expect("the client gets through");
        assert_eq!(said.results.len(), 12, "{client:?}");
        for result in &said.results {
            assert!(
                result.text().starts_with("Tool: demo_run\n"),
                "{client:?}: {result:?}"
            );
        }
    }
}

/// The answer to what one gateway asks in the middle of a call goes to the next gateway, and finds the call.
#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_is_asked_by_one_replica_is_heard_through_another() {
    let provider = Provider::start().await;
    let upstream = provider.upstream.url();
    let allowed = [
        format!("github.com={upstream}"),
        format!("api.github.com={upstream}"),
    ];
    let github = toolgate_tests::gateway::built_plugin("github").unwrap();
    let replicas = Replicas::start_with(&[("github.wasm", github)], &[TOOL], &allowed).await;
    real::configure(&replicas.installations[0]).await;
    let url = format!("{}/mcp", replicas.balancer.base);
    for client in [
        Client::JavaScript("legacy"),
        Client::JavaScript("2026-07-28"),
    ] {
        let job = Job {
            url: &url,
            key: &replicas.key,
            command: None,
            skills: false,
            opens_urls: true,
            calls: vec![execute(TOOL)],
        };
        let began = std::time::Instant::now();
        let said = converse(client, &job)
            .await
            .expect("the client gets through");
        assert_eq!(said.opened.len(), 1, "{client:?}: {said:?}");
        assert!(
            said.opened[0].starts_with(&replicas.balancer.base),
            "{said:?}"
        );
        // Unheard, the call would wait 45 s for the answer.
        assert!(
            began.elapsed().as_secs() < 30,
            "{client:?}: {:?}",
            began.elapsed()
        );
    }
    // A flow is begun at one gateway, gone on with at another and ended at a third.
    let [one, two, three] = &replicas.processes[..] else {
        panic!("three gateways")
    };
    let (connect_url, _) = real::link(one, "ada").await;
    let elsewhere = connect_url.replace(&replicas.balancer.base, &two.base);
    let left = real::press(two, &elsewhere).await;
    let back = provider.consent(&left.leads_to());
    let page = real::come_back(three, &left, &back).await;
    assert!(page.text.contains("Connected"), "{}", page.text);
    for process in &replicas.processes {
        let ran = real::run(process, "ada").await;
        assert_eq!(ran["status"], "success", "{ran}");
    }
}

async fn revision_holds(revision: &str, passing_min: usize) {
    let replicas = Replicas::start_under_patroni(&[demo()], &["demo_run"]).await;
    let base = format!("{}/", replicas.balancer.base);
    let said = conformance(base.trim_end_matches('/'), &replicas.key, revision).await;
    let said = said.expect("exactly the expected scenarios fail");
    let passing = said.lines().filter(|line| line.starts_with('✓')).count();
    assert!(passing >= passing_min, "only {passing} passed:\n{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_session_revision_holds_round_the_replicas() {
    revision_holds("2025-11-25", 10).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stateless_revision_holds_round_the_replicas() {
    revision_holds("2026-07-28", 12).await;
}
