//! `make attack`: what it prints is there, its secrets are kept from the roles that may not have them, and it ends.

use std::process::Stdio;

use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use toolgate_tests::gateway::{Answer, client};
use toolgate_tests::range::{GUARDED, Range, wait_until_gone};

async fn ask(gateway: &str, key: &Value, method: Method, path: &str, body: &Value) -> Answer {
    let request = client()
        .request(method, format!("{gateway}{path}"))
        .bearer_auth(key.as_str().unwrap())
        .header("content-type", "application/json")
        .body(body.to_string());
    Answer::read(request.send().await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_prints_what_each_role_is_given_and_ends_when_it_is_told() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_attack"))
        .arg("--json")
        .env("TOOLGATE", toolgate_tests::process::program())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut line).await.unwrap();
    let roles: Value =
        serde_json::from_str(&line).unwrap_or_else(|cause| panic!("{cause}: {line}"));
    let gateway = roles["gateway"].as_str().unwrap();
    for role in ["operator_key", "agent_key", "tenant_key"] {
        let status = ask(
            gateway,
            &roles[role],
            Method::GET,
            "/v1/status",
            &Value::Null,
        )
        .await;
        assert_eq!(status.status, 200, "{role}: {}", status.text);
    }
    let provider = roles["provider"].as_str().unwrap();
    let echoed = client()
        .get(format!("{provider}/echo?a=b"))
        .send()
        .await
        .unwrap();
    assert!(echoed.text().await.unwrap().contains("/echo?a=b"));
    assert_eq!(roles["flags"].as_array().unwrap().len(), 3, "{roles}");
    assert!(
        !line.contains("flag-"),
        "the secrets are not printed: {line}"
    );
    let id = child.id().unwrap().to_string();
    let killed = Command::new("kill").args(["-TERM", &id]).status().await;
    assert!(killed.unwrap().success());
    assert!(child.wait().await.unwrap().success());
    wait_until_gone(&client(), gateway).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_tries_of_each_role_fail() {
    let folder = tempfile::tempdir().unwrap();
    let range = Range::start(folder.path()).await.unwrap();
    let roles = serde_json::to_value(&range.roles).unwrap();
    let gateway = &*range.roles.gateway;
    for (flag, secret) in range.roles.flags.iter().zip(&range.secrets) {
        let digest = hex::encode(Sha256::digest(secret.as_bytes()));
        assert_eq!(flag.sha256, digest, "{}", flag.what);
    }
    let mut seen = String::new();
    let (agent, tenant) = (&roles["agent_key"], &roles["tenant_key"]);
    for path in ["/echo", "/encoded", "/refuse", "/redirect"] {
        let call = json!({ "arguments": { "path": path, "prey": ["00"] } });
        let run = "/v1/tools/hunter_hunt/execute";
        let ran = ask(gateway, agent, Method::POST, run, &call).await;
        assert!(ran.data()["execution_id"].is_string(), "{}", ran.text);
        seen.push_str(&ran.text);
    }
    let call = json!({ "arguments": { "note": "mine" } });
    let run = format!("/v1/tools/{GUARDED}/execute");
    let asked = ask(gateway, agent, Method::POST, &run, &call).await;
    assert_eq!(
        asked.data()["status"],
        "approval_required",
        "{}",
        asked.text
    );
    for key in [agent, tenant] {
        for path in ["/v1/approvals", "/v1/executions", "/v1/connections"] {
            seen.push_str(
                &ask(gateway, key, Method::GET, path, &Value::Null)
                    .await
                    .text,
            );
        }
        let path = "/v1/knowledge/search";
        let query = json!({ "query": "flag" });
        seen.push_str(&ask(gateway, key, Method::POST, path, &query).await.text);
    }
    for secret in [&range.secrets[0], &range.secrets[2]] {
        assert!(!seen.contains(&**secret), "{secret}: {seen}");
    }
    let path = "/v1/knowledge/documents";
    let theirs = ask(gateway, tenant, Method::GET, path, &Value::Null).await;
    assert!(!theirs.text.contains(&range.secrets[1]), "{}", theirs.text);
    range.process.kill().await;
}
