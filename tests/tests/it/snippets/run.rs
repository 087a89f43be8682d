//! Programs of the guide's pages, run as they are there but for what is the reader's own: addresses, keys and the
//! name of a model.

use std::path::Path;
use std::process::Stdio;

use serde_json::json;
use toolgate_tests::gateway::{Options, PATIENCE, TestGateway, built_plugin};
use toolgate_tests::model::{self, Model};
use toolgate_tests::process::program;
use toolgate_tests::tools;
use toolgate_tests::upstream::Upstream;

use super::{read, root, snippet, snippets_of};
use crate::recipes::hacker_news;

const ANSWER: &str = "It is story 8863.";

async fn start() -> (TestGateway, Upstream) {
    let news = hacker_news().await;
    let gateway = TestGateway::start(Options {
        plugins: vec![(
            "hackernews.wasm".into(),
            built_plugin("hackernews").unwrap(),
        )],
        allow_upstream: vec![format!("hacker-news.firebaseio.com={}", news.url())],
        ..Options::default()
    })
    .await;
    (gateway, news)
}

/// A model that searches, executes and answers.
async fn scripted() -> Model {
    Model::start([
        model::call("svc_search_tools", json!({ "query": "top stories" })),
        model::call(
            "svc_execute_tool",
            json!({ "tool_name": "hackernews_list_top_stories", "arguments": "{}" }),
        ),
        model::text(ANSWER),
    ])
    .await
}

/// Runs commands in a folder and answers what they printed.
async fn bash(folder: &Path, commands: &str, environment: &[(&str, &str)]) -> String {
    let own = program().canonicalize().unwrap();
    let path = std::iter::once(own.parent().unwrap().to_owned())
        .chain(std::env::split_paths(&tools::path().unwrap()))
        .collect::<Vec<_>>();
    let output = tokio::process::Command::new("bash")
        .args(["-euc", commands])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("OTEL_SDK_DISABLED", "true")
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(PATIENCE, output).await;
    let output = output.expect("it ends in time").unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{commands}\n{said}\n{log}");
    said
}

/// The text with other words in it, each of which has to be there.
fn with(mut text: String, changes: &[(&str, &str)]) -> String {
    for (from, to) in changes {
        assert!(text.contains(from), "{from} in {text}");
        text = text.replace(from, to);
    }
    text
}

/// Runs a block of `docs/frameworks.md` in the environment of its framework, with a scripted model.
async fn answers_over_mcp(begins: &str, framework: &str, changes: &[(&str, &str)]) {
    let (gateway, news) = start().await;
    let model = scripted().await;
    let url = gateway.url("");
    let folder = tempfile::tempdir().unwrap();
    let own = [("http://127.0.0.1:8080", &*url)];
    let changes = [&own[..], changes].concat();
    let text = with(snippet("docs/frameworks.md", begins), &changes);
    std::fs::write(folder.path().join("snippet.py"), text).unwrap();
    let runner = std::path::absolute(root().join("tests/snippets/run.py")).unwrap();
    std::fs::copy(runner, folder.path().join("run.py")).unwrap();
    let installed = tools::installed(&format!("sdk/frameworks/{framework}"), "sdk").unwrap();
    let python = std::path::absolute(installed.join("bin/python")).unwrap();
    let model_url = model.url();
    let environment = [
        ("PYTHON", python.to_str().unwrap()),
        ("TOOLGATE_API_KEY", &*gateway.key),
        ("MODEL_URL", &*model_url),
        ("MODEL_API_KEY", "key-of-the-model"),
        ("OPENAI_BASE_URL", &*model_url),
        ("OPENAI_API_KEY", "key-of-the-model"),
    ];
    let said = bash(folder.path(), "\"$PYTHON\" run.py snippet.py", &environment).await;
    assert_eq!(said.trim_end().lines().last(), Some(ANSWER), "{said}");
    assert_eq!(news.received().len(), 1);
    let asked = model.asked();
    let result = asked[2]["messages"].as_array().unwrap().last().unwrap();
    assert!(result.to_string().contains("8863"), "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_of_the_openai_agents_sdk_answers_over_mcp() {
    answers_over_mcp("from agents", "openai_agents", &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_of_pydantic_ai_answers_over_mcp() {
    // The scripted model speaks the older of OpenAI's two interfaces.
    let model = [("openai:gpt-5", "openai-chat:scripted")];
    answers_over_mcp("from pydantic_ai", "pydantic_ai", &model).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_agent_answers_with_a_model_and_without_one() {
    const PAGE: &str = "docs/first-agent.md";
    let (gateway, news) = start().await;
    let model = scripted().await;
    let folder = tempfile::tempdir().unwrap();
    let program = snippet(PAGE, "import asyncio");
    std::fs::write(folder.path().join("agent.py"), program).unwrap();
    let installed = tools::installed("python", "mcp").unwrap();
    let installed = installed.canonicalize().unwrap();
    std::os::unix::fs::symlink(installed, folder.path().join(".venv")).unwrap();
    let pin = read("examples/agent-python/requirements.txt");
    let install = snippet(PAGE, "python3 -m venv");
    assert!(
        install.contains(&format!("install {}", pin.trim())),
        "{install}"
    );

    let (url, model_url) = (gateway.url(""), model.url());
    let environment = [
        ("TOOLGATE_URL", &*url),
        ("TOOLGATE_API_KEY", &*gateway.key),
        ("MODEL_URL", &*model_url),
        ("MODEL", "scripted"),
    ];
    let said = bash(
        folder.path(),
        &snippet(PAGE, "export MODEL_URL"),
        &environment,
    )
    .await;
    assert_eq!(said.trim_end(), ANSWER);
    assert_eq!(news.received().len(), 1);
    for request in model.upstream.received() {
        let told = format!("{:?} {}", request.headers, request.body);
        assert!(
            !told.contains(&gateway.key),
            "the key stays with the gateway"
        );
    }

    let commands = snippets_of(PAGE).into_iter();
    let commands: Vec<_> = commands.filter(|one| one.language == "sh").collect();
    assert_eq!(commands.len(), 2);
    let said = bash(folder.path(), &commands[0].text, &environment).await;
    assert!(said.contains("My YC app: Dropbox"), "{said}");
    let said = bash(folder.path(), &commands[1].text, &environment).await;
    assert!(said.contains("hackernews_list_top_stories"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_programs_of_the_page_on_mcp_clients_list_tools() {
    const PAGE: &str = "docs/mcp-clients.md";
    let (gateway, _news) = start().await;
    let url = gateway.url("");
    let changes = [
        ("https://tools.example.com", &*url),
        ("tg_live_...", &*gateway.key),
    ];
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, begins: &str| {
        let text = with(snippet(PAGE, begins), &changes);
        std::fs::write(folder.path().join(name), text).unwrap();
    };
    write("client.py", "import asyncio");
    write("client.mjs", "import { Client");
    for (name, tool) in [(".venv", "python"), ("node_modules", "node/node_modules")] {
        let installed = tools::installed(tool, "mcp").unwrap();
        let link = folder.path().join(name);
        std::os::unix::fs::symlink(installed.canonicalize().unwrap(), link).unwrap();
    }
    for command in [".venv/bin/python client.py", "node client.mjs"] {
        let said = bash(folder.path(), command, &[]).await;
        assert!(said.contains("hackernews_"), "{command}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_requests_of_the_tour_and_of_the_page_on_files_are_taken() {
    let (gateway, _news) = start().await;
    let url = gateway.url("");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("invoice.pdf"), "%PDF-1.7").unwrap();
    let environment = [("TOOLGATE_URL", &*url), ("TOOLGATE_API_KEY", &*gateway.key)];
    let webhook = snippet("docs/tour.md", "curl -H");
    let webhook = with(webhook, &[("http://127.0.0.1:8080", &*url)]);
    let said = bash(folder.path(), &webhook, &environment).await;
    assert!(said.contains("\"secret\":\"whsec_"), "{said}");
    let upload = snippet("docs/files.md", "curl -sS --data-binary");
    let said = bash(folder.path(), &upload, &environment).await;
    assert!(
        said.contains("\"file_id\":\"") && said.contains("invoice.pdf"),
        "{said}"
    );
}
