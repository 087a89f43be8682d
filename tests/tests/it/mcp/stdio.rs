//! `toolgate mcp`: the same conversations through a program that the client starts.

use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use tokio::process::Command;
use toolgate_tests::mcp::{Call, Client, Job, Said, Transcript, converse};

use super::gateway;
use crate::serving::program;

const OLD: &str = "2025-11-25";
const NEW: &str = "2026-07-28";

fn calls() -> Vec<Call> {
    let call = |name, arguments| Call { name, arguments };
    let execute = |tool_name: &str, arguments: &str| Call {
        name: "svc_execute_tool",
        arguments: json!({ "tool_name": tool_name, "arguments": arguments }),
    };
    vec![
        call("svc_health_check", json!({})),
        call(
            "svc_search_tools",
            json!({ "query": "test wants done", "service": "demo", "limit": "20" }),
        ),
        call("svc_get_tool_schema", json!({ "tool_name": "demo_run" })),
        call("svc_get_tool_schema", json!({ "tool_name": "demo_nope" })),
        execute("demo_run", r#"{"text":"grüß dich"}"#),
        execute("locked_run", "{}"),
        execute("demo_run", "{"),
        execute("demo_run", r#"{"text":7}"#),
        execute("demo_nope", "{}"),
        call(
            "svc_create_skill",
            json!({ "name": "Weekly report", "description": "On Fridays.", "body": "1. Begin." }),
        ),
        call("svc_list_skills", json!({})),
        call("svc_get_skill", json!({ "skill_id": "nope" })),
        call("svc_list_skills", json!({ "offset": 7 })),
        call("svc_nope", json!({})),
    ]
}

/// What differs from call to call, taken out: times, new ids, one-use links.
fn settled(said: &Said) -> String {
    let text = match said {
        Said::Result { text, is_error } => format!("{is_error} {text}"),
        Said::ProtocolError { code, message } => format!("{code} {message}"),
    };
    let line = |line: &str| {
        for start in [
            "Duration: ",
            "Session: ",
            "Connect Link: ",
            "skill_id: ",
            "- **Weekly",
        ] {
            if line.starts_with(start) {
                return start.to_owned();
            }
        }
        line.to_owned()
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

async fn through_both_doors(client: Client, revision: &str) {
    let gateway = gateway().await;
    let command = vec![
        program().to_str().unwrap().to_owned(),
        "mcp".to_owned(),
        "--url".to_owned(),
        gateway.url(""),
    ];
    let url = gateway.url("/mcp");
    let converse = async |command: Option<Vec<String>>| -> Transcript {
        let job = Job {
            url: &url,
            key: &gateway.key,
            command,
            skills: false,
            opens_urls: false,
            calls: calls(),
        };
        converse(client, &job)
            .await
            .expect("the client gets through")
    };
    let proxied = converse(Some(command)).await;
    // The first SDK does not say what it negotiated here.
    if client != Client::JavaScriptSdk1 {
        assert_eq!(proxied.protocol, revision);
    }
    let direct = converse(None).await;
    assert_eq!(proxied.tools, direct.tools);
    assert_eq!(proxied.results.len(), direct.results.len());
    for (n, (proxied, direct)) in proxied.results.iter().zip(&direct.results).enumerate() {
        // The second conversation finds the Skill of the first.
        let (proxied, direct) = (settled(proxied), settled(direct));
        if n == 10 {
            assert!(proxied.contains("Showing 1 of 1 skill(s)"), "{proxied}");
            assert!(direct.contains("Showing 2 of 2 skill(s)"), "{direct}");
        } else if n == 12 {
            assert!(
                proxied.contains("Showing 0 of 1 skill(s) (offset=7)"),
                "{proxied}"
            );
        } else {
            assert_eq!(proxied, direct, "call {n}");
        }
    }
}

macro_rules! over {
    ($($name:ident: $client:expr => $revision:expr),+ $(,)?) => {
        $(#[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            through_both_doors($client, $revision).await;
        })+
    };
}

over! {
    python_finds_the_newest_revision_on_stdio: Client::Python("auto") => NEW,
    python_of_the_session_era_on_stdio: Client::Python("legacy") => OLD,
    javascript_finds_the_newest_revision_on_stdio: Client::JavaScript("auto") => NEW,
    javascript_of_the_session_era_on_stdio: Client::JavaScript("legacy") => OLD,
    javascript_with_the_first_sdk_on_stdio: Client::JavaScriptSdk1 => OLD,
}

#[tokio::test(flavor = "multi_thread")]
async fn the_proxy_says_at_once_what_is_wrong_with_address_or_key() {
    let gateway = gateway().await;
    let nobody = "http://127.0.0.1:9".to_owned();
    for (url, key, says) in [
        (gateway.url(""), None, "TOOLGATE_API_KEY"),
        (gateway.url(""), Some("tg_live_wrong"), "refuses the key"),
        (nobody, Some(gateway.key.as_str()), "no gateway answers"),
    ] {
        let mut command = Command::new(program());
        command
            .args(["mcp", "--url", &url])
            .env_remove("TOOLGATE_API_KEY")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        if let Some(key) = key {
            command.env("TOOLGATE_API_KEY", key);
        }
        let ended = tokio::time::timeout(Duration::from_secs(60), command.output()).await;
        let ended = ended.expect("it ends").unwrap();
        assert_eq!(ended.status.code(), Some(1));
        assert!(ended.stdout.is_empty(), "standard output is the protocol's");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(said.contains(says), "{said}");
        assert!(!said.contains(&gateway.key), "{said}");
    }
}
