//! Skills as a host reads them (SEP-2640): the official client checks what the server may not break.

use serde_json::{Value, json};
use toolgate_gateway::Scope;
use toolgate_tests::gateway::{TestGateway, new_key};
use toolgate_tests::mcp::{Client, Job, converse};

use super::gateway;
use super::wire::{answer, stateless};
use crate::serving::program;

async fn save(gateway: &TestGateway, name: &str, summary: &str, instructions: &str) -> String {
    let body = json!({ "name": name, "summary": summary, "instructions": instructions });
    let saved = gateway.post("/v1/skills", &body).await.data();
    saved["skill_id"].as_str().unwrap().to_owned()
}

async fn ask(gateway: &TestGateway, method: &str, params: Value) -> Value {
    let name = params["uri"].as_str().map(str::to_owned);
    let request = stateless(gateway, method, name.as_deref(), params);
    answer(request).await.json()
}

async fn read_by_a_host(command: Option<Vec<String>>, gateway: &TestGateway, mode: &'static str) {
    let url = gateway.url("/mcp");
    let job = Job {
        url: &url,
        key: &gateway.key,
        command,
        skills: true,
        opens_urls: false,
        calls: Vec::new(),
    };
    let transcript = converse(Client::JavaScript(mode), &job)
        .await
        .expect("every skill holds what its entry says");
    let read = &transcript.skills;
    // More than one page of the server's.
    assert_eq!(read.len(), 23);
    let odd = read
        .iter()
        .find(|skill| skill["frontmatter"]["metadata"]["title"] == "Odd \"one\": yes # no")
        .expect("the odd one is there");
    assert_eq!(odd["frontmatter"]["name"], "odd-one-yes-no");
    assert_eq!(
        odd["frontmatter"]["description"],
        "---\n\u{1f980}: \\ 'x'\t"
    );
    assert!(
        odd["body"]
            .as_str()
            .unwrap()
            .contains("---\nname: other\n---")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_lists_gets_reads_and_verifies_every_skill_in_both_eras_and_on_stdio() {
    let gateway = gateway().await;
    for n in 0..22 {
        save(&gateway, &format!("Report {n}"), "Weekly.", "1. Begin.").await;
    }
    let instructions = "---\nname: other\n---\n\u{1f980}\r\nend";
    save(
        &gateway,
        "Odd \"one\": yes # no",
        "---\n\u{1f980}: \\ 'x'\t",
        instructions,
    )
    .await;
    for mode in ["2026-07-28", "legacy"] {
        read_by_a_host(None, &gateway, mode).await;
    }
    let program = program().to_str().unwrap().to_owned();
    let command = [&program, "mcp", "--url", &gateway.url("")].map(str::to_owned);
    read_by_a_host(Some(command.to_vec()), &gateway, "2026-07-28").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_served_is_refused_and_a_change_moves_digest_and_address() {
    let gateway = gateway().await;
    let id = save(&gateway, "Report", "Weekly.", "1. Begin.").await;
    let listed = ask(&gateway, "skills/list", json!({})).await["result"].clone();
    assert_eq!(listed["resultType"], "complete", "{listed}");
    assert_eq!(listed["cacheScope"], "private");
    let entry = listed["skills"][0].clone();
    let uri = format!("skill://{id}/report/SKILL.md");
    assert_eq!(entry["uri"], json!(uri));
    assert_eq!(entry["frontmatter"]["name"], "report");
    let got = ask(&gateway, "skills/get", json!({ "uri": uri })).await;
    assert_eq!(got["result"]["skill"], entry);
    let resources = ask(&gateway, "resources/list", json!({})).await;
    assert_eq!(resources["result"]["resources"][0]["uri"], json!(uri));
    assert_eq!(
        resources["result"]["resources"][0]["size"],
        entry["resources"][0]["size"]
    );

    let gone = "skill://5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10/report/SKILL.md".to_owned();
    let other_name = format!("skill://{id}/other/SKILL.md");
    let not_the_file = format!("skill://{id}/report/README.md");
    let traversal = format!("skill://{id}/x/../report/SKILL.md");
    for uri in [
        gone,
        other_name,
        not_the_file,
        traversal,
        "file:///etc/passwd".to_owned(),
    ] {
        for method in ["skills/get", "resources/read"] {
            let refused = ask(&gateway, method, json!({ "uri": uri })).await;
            assert_eq!(
                refused["error"]["code"], -32602,
                "{method} {uri}: {refused}"
            );
        }
    }
    let strange = ask(&gateway, "skills/list", json!({ "cursor": "x" })).await;
    assert_eq!(strange["error"]["code"], -32602, "{strange}");

    let body = json!({ "name": "Monthly report", "instructions": "1. End." }).to_string();
    let path = format!("/v1/skills/{id}");
    let changed = gateway.send(reqwest::Method::PUT, &path, Some(&gateway.key), Some(body));
    assert_eq!(changed.await.data()["version"], 2);
    let old = ask(&gateway, "resources/read", json!({ "uri": uri })).await;
    assert_eq!(
        old["error"]["code"], -32602,
        "the old address is gone: {old}"
    );
    let listed = ask(&gateway, "skills/list", json!({})).await;
    let now = &listed["result"]["skills"][0];
    assert_eq!(
        now["uri"],
        json!(format!("skill://{id}/monthly-report/SKILL.md"))
    );
    assert_ne!(
        now["resources"][0]["digest"],
        entry["resources"][0]["digest"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_without_the_scope_reads_no_skill_as_a_file() {
    let mut gateway = gateway().await;
    let id = save(&gateway, "Report", "Weekly.", "1. Begin.").await;
    gateway.key = new_key(&gateway.gateway, "tools", &[Scope::ToolsRead])
        .await
        .unwrap();
    let uri = format!("skill://{id}/report/SKILL.md");
    for (method, params) in [
        ("skills/list", json!({})),
        ("skills/get", json!({ "uri": uri })),
        ("resources/list", json!({})),
        ("resources/read", json!({ "uri": uri })),
    ] {
        let refused = ask(&gateway, method, params).await;
        assert_eq!(
            refused["error"]["data"]["code"], "scope_denied",
            "{method}: {refused}"
        );
    }
}
