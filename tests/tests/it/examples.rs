//! `examples/`: what each README tells a reader to run is run as it stands, against a real gateway. What it
//! tells the reader to install is there already, from `tests/*/setup.sh`.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{Options, TestGateway, built_plugin};
use toolgate_tests::model::{self, Model};
use toolgate_tests::process::program;
use toolgate_tests::tools;
use toolgate_tests::upstream::Upstream;

use crate::recipes::hacker_news;

/// Longest run of one example, compilers included, on a busy machine.
const RUN_MAX: Duration = Duration::from_secs(600);
const QUESTION: &str = "What is the top story on Hacker News?";
const ANSWER: &str = "It is story 8863.";

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.canonicalize().unwrap()
}

/// A copy of an example, with what its README installs.
struct Example {
    folder: TempDir,
    readme: String,
}

impl Example {
    fn new(name: &str) -> Self {
        let source = root().join("examples").join(name);
        let folder = tempfile::tempdir().unwrap();
        let copied = std::process::Command::new("cp")
            .args(["-r", "--"])
            .arg(source.join("."))
            .arg(folder.path())
            .status();
        assert!(copied.unwrap().success());
        // Leftovers of a reader who followed the README here.
        for made in [".venv", "node_modules", "target"] {
            let _ = std::fs::remove_dir_all(folder.path().join(made));
        }
        let readme = std::fs::read_to_string(source.join("README.md")).unwrap();
        Self { folder, readme }
    }

    fn link(&self, installed: PathBuf, name: &str) {
        let installed = installed.canonicalize().unwrap();
        let link = self.folder.path().join(name);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(installed, link).unwrap();
    }

    /// The commands below `Run:`.
    fn commands(&self) -> &str {
        let (_, rest) = self.readme.split_once("\nRun:\n\n```\n").unwrap();
        rest.split_once("\n```").unwrap().0
    }

    /// Runs the commands below `Run:`. Answers standard output and standard error.
    async fn run(&self, environment: &[(&str, &str)]) -> (String, String) {
        self.run_commands(self.commands(), environment).await
    }

    async fn run_commands(&self, commands: &str, environment: &[(&str, &str)]) -> (String, String) {
        let output = Command::new("bash")
            .args(["-euc", commands])
            .current_dir(self.folder.path())
            .env("PATH", tools::path().unwrap())
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(RUN_MAX, output).await;
        let output = output.expect("it ends in time").expect("it starts");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}\n{log}");
        (said, log)
    }
}

/// A gateway with Hacker News, and a service in Hacker News' place.
async fn news() -> (TestGateway, Upstream) {
    let upstream = Upstream::start(|request| {
        assert_eq!(request.target, "/v0/topstories.json");
        let mut answer = Response::new(Body::from("[8863,9224]"));
        let json = "application/json".parse().unwrap();
        answer.headers_mut().insert("content-type", json);
        answer
    })
    .await;
    let gateway = TestGateway::start(Options {
        plugins: vec![(
            "hackernews.wasm".into(),
            built_plugin("hackernews").unwrap(),
        )],
        allow_upstream: vec![format!("hacker-news.firebaseio.com={}", upstream.url())],
        ..Options::default()
    })
    .await;
    (gateway, upstream)
}

/// An agent whose model searches, executes and answers; the second answer of the model comes after the
/// tool's result.
async fn converses(example: &Example) {
    converses_with(example, example.commands(), "svc_", &[]).await;
}

/// `prefix`: of the names of the three operations, as the model sees them.
async fn converses_with(
    example: &Example,
    commands: &str,
    prefix: &str,
    environment: &[(&str, &str)],
) {
    let (gateway, upstream) = news().await;
    let model = Model::start([
        model::call(
            &format!("{prefix}search_tools"),
            json!({ "query": "top stories" }),
        ),
        model::call(
            &format!("{prefix}execute_tool"),
            json!({ "tool_name": "hackernews_list_top_stories", "arguments": "{}" }),
        ),
        model::text(ANSWER),
    ])
    .await;
    let (url, model_url) = (gateway.url(""), model.url());
    let own = [
        ("TOOLGATE_URL", url.as_str()),
        ("TOOLGATE_API_KEY", &gateway.key),
        ("MODEL_URL", &model_url),
        ("MODEL", "scripted"),
        ("MODEL_API_KEY", "key-of-the-model"),
    ];
    let (said, log) = example
        .run_commands(commands, &[&own[..], environment].concat())
        .await;
    assert_eq!(
        said.trim_end().lines().last(),
        Some(ANSWER),
        "{said}\n{log}"
    );
    assert_eq!(upstream.received().len(), 1);

    let asked = model.asked();
    assert_eq!(asked.len(), 3);
    let first = asked[0]["messages"].as_array().unwrap();
    // CrewAI writes words of its own before it.
    let content = first.last().unwrap()["content"].as_str().unwrap();
    assert!(content.ends_with(QUESTION), "{content}");
    let result = asked[2]["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(result["role"], "tool");
    let result = result["content"].as_str().unwrap();
    assert!(
        result.contains("8863"),
        "the model read the result: {result}"
    );
    for request in model.upstream.received() {
        let text = format!("{:?} {}", request.headers, request.body);
        assert!(text.contains("Bearer key-of-the-model"), "{text}");
        assert!(
            !text.contains(&gateway.key),
            "the gateway's key stays with it"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_in_python_answers_with_a_tool_s_result() {
    let example = Example::new("agent-python");
    example.link(tools::installed("python", "mcp").unwrap(), ".venv");
    let pin = std::fs::read_to_string(example.folder.path().join("requirements.txt")).unwrap();
    let tested = root().join("tests/mcp/requirements.txt");
    let tested = std::fs::read_to_string(tested).unwrap();
    let same = tested.lines().any(|line| line == pin.trim());
    assert!(same, "the example names the client that is tested: {pin}");
    converses(&example).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_in_typescript_answers_with_a_tool_s_result() {
    let example = Example::new("agent-typescript");
    let modules = tools::installed("node/node_modules", "mcp").unwrap();
    let compiler = tools::installed("sdk/node/node_modules", "sdk").unwrap();
    // Each package of the example's package.json, in the version that it names.
    let package = std::fs::read(example.folder.path().join("package.json")).unwrap();
    let package: Value = serde_json::from_slice(&package).unwrap();
    for (from, kind) in [(&modules, "dependencies"), (&compiler, "devDependencies")] {
        for (name, version) in package[kind].as_object().unwrap() {
            let own = std::fs::read(from.join(name).join("package.json")).unwrap();
            let own: Value = serde_json::from_slice(&own).unwrap();
            assert_eq!(&own["version"], version, "{name}");
            example.link(from.join(name), &format!("node_modules/{name}"));
        }
    }
    example.link(compiler.join(".bin"), "node_modules/.bin");
    converses(&example).await;
}

/// Each framework's own loop with the client's tools in it.
async fn converses_in_python(framework: &str, script: &str) {
    let example = Example::new("frameworks-python");
    let installed = tools::installed(&format!("sdk/frameworks/{framework}"), "sdk").unwrap();
    example.link(installed, ".venv");
    let commands = example.commands().replace("langchain_agent.py", script);
    // The README installs the client from its folder.
    let client = root().join("sdk/clients/python/src");
    let environment = [
        ("PYTHONPATH", client.to_str().unwrap()),
        ("PYTHONDONTWRITEBYTECODE", "1"),
        // Nothing is told to the makers of a framework.
        ("OTEL_SDK_DISABLED", "true"),
        ("CREWAI_DISABLE_TELEMETRY", "true"),
    ];
    converses_with(&example, &commands, "", &environment).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_of_crewai_answers_with_a_tool_s_result() {
    converses_in_python("crewai", "crewai_agent.py").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_of_langchain_answers_with_a_tool_s_result() {
    converses_in_python("langchain", "langchain_agent.py").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_of_llama_index_answers_with_a_tool_s_result() {
    converses_in_python("llama_index", "llama_index_agent.py").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_of_the_openai_agents_sdk_answers_with_a_tool_s_result() {
    converses_in_python("openai_agents", "openai_agents.py").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_of_pydantic_ai_answers_with_a_tool_s_result() {
    converses_in_python("pydantic_ai", "pydantic_ai_agent.py").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_of_the_vercel_ai_sdk_and_mastra_answer_with_a_tool_s_result() {
    let example = Example::new("frameworks-typescript");
    let modules = tools::installed("sdk/frameworks/typescript/node_modules", "sdk").unwrap();
    for entry in std::fs::read_dir(&modules).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        example.link(modules.join(&name), &format!("node_modules/{name}"));
    }
    // The client as its package has it.
    let clean = tempfile::tempdir().unwrap();
    let packed = Command::new("bash")
        .arg(root().join("tests/sdk/node/prepare.sh"))
        .arg(clean.path())
        .output();
    let packed = packed.await.unwrap();
    assert!(packed.status.success(), "{packed:?}");
    example.link(
        clean.path().join("app/node_modules/toolgate"),
        "node_modules/toolgate",
    );
    let (checked, rest) = example.commands().split_once("node vercel.ts").unwrap();
    let vercel = format!(
        "{checked}node vercel.ts{}",
        rest.split_once('\n').unwrap().0
    );
    converses_with(&example, &vercel, "", &[]).await;
    let mastra = rest
        .lines()
        .find(|line| line.contains("mastra.ts"))
        .unwrap();
    let exported = checked.lines().next().unwrap();
    converses_with(&example, &format!("{exported}\n{mastra}"), "", &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_go_program_prints_what_the_tool_answered() {
    let (gateway, upstream) = news().await;
    let example = Example::new("rest-go");
    let go = tools::installed("sdk/go/go", "sdk").unwrap();
    let go = go.canonicalize().unwrap();
    let path = std::env::join_paths(
        std::iter::once(go.join("bin")).chain(std::env::split_paths(&tools::path().unwrap())),
    );
    let cache = tools::installed("sdk/go", "sdk").unwrap().join("cache");
    let cache = std::path::absolute(cache).unwrap();
    let (said, log) = example
        .run(&[
            ("TOOLGATE_URL", &gateway.url("")),
            ("TOOLGATE_API_KEY", &gateway.key),
            ("PATH", path.unwrap().to_str().unwrap()),
            ("GOROOT", go.to_str().unwrap()),
            ("GOCACHE", cache.to_str().unwrap()),
            ("GOTOOLCHAIN", "local"),
            ("GOENV", "off"),
            ("CGO_ENABLED", "0"),
        ])
        .await;
    let printed: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(printed, json!([8863, 9224]), "{log}");
    assert_eq!(upstream.received().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_script_of_code_mode_answers_once_it_is_switched_on() {
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
    let example = Example::new("code-mode");
    let url = gateway.url("");
    let environment = [
        ("TOOLGATE_URL", url.as_str()),
        ("TOOLGATE_API_KEY", &gateway.key),
    ];
    let off = format!("! {}", example.commands());
    let (said, log) = example.run_commands(&off, &environment).await;
    assert!(
        said.is_empty() && log.contains("permission_denied"),
        "{log}"
    );
    assert!(news.received().is_empty());

    let (_, rest) = example.readme.split_once("\n```\ncurl ").unwrap();
    let switch = format!("curl -sS {}", rest.split_once("\n```").unwrap().0);
    example.run_commands(&switch, &environment).await;
    let (said, log) = example.run(&environment).await;
    let printed: Value = serde_json::from_str(&said).unwrap();
    let story = json!({ "id": 8863, "title": "My YC app: Dropbox", "comments": 0 });
    assert_eq!(printed, json!([story]), "{log}");
    assert!(log.contains("1 of 2 stories"), "{log}");
    assert_eq!(news.received().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_plugin_in_rust_builds_outside_the_repository_and_serves() {
    let example = Example::new("plugin-rust");
    // The folder lies elsewhere now, so the SDK is named by its whole path, as the README says.
    let manifest = example.folder.path().join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let sdk = root().join("sdk/plugins/rust");
    let text = text.replace("../../sdk/plugins/rust", sdk.to_str().unwrap());
    std::fs::write(&manifest, text).unwrap();
    // The versions that this workspace builds with, which are downloaded already.
    let lock = example.folder.path().join("Cargo.lock");
    std::fs::copy(root().join("Cargo.lock"), lock).unwrap();
    // Kept from run to run; linked, because the commands name `target`.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("example-plugin-rust");
    std::fs::create_dir_all(&target).unwrap();
    example.link(target.clone(), "target");
    let folder = program().parent().unwrap().to_owned();
    let path = std::env::join_paths(
        std::iter::once(folder.canonicalize().unwrap())
            .chain(std::env::split_paths(&tools::path().unwrap())),
    );
    let (said, log) = example
        .run(&[
            ("PATH", path.unwrap().to_str().unwrap()),
            ("CARGO_TARGET_DIR", "target"),
            // The test's own compiler flags are not the reader's.
            ("RUSTFLAGS", ""),
            ("CARGO_NET_OFFLINE", "true"),
        ])
        .await;
    assert!(said.contains("test result: ok. 1 passed"), "{said}\n{log}");
    let planned = "https://openlibrary.org/search.json?q=the+dispossessed";
    assert!(said.contains(planned), "{said}\n{log}");

    let built = target.join("wasm32-unknown-unknown/release/open_library.wasm");
    let upstream = Upstream::start(|request| {
        assert_eq!(request.target, "/works/OL59863W.json");
        let work = json!({ "key": "/works/OL59863W", "title": "The Dispossessed" });
        Response::new(Body::from(work.to_string()))
    })
    .await;
    let gateway = TestGateway::start(Options {
        plugins: vec![("open_library.wasm".into(), std::fs::read(built).unwrap())],
        allow_upstream: vec![format!("openlibrary.org={}", upstream.url())],
        ..Options::default()
    })
    .await;
    let arguments = json!({ "work_id": "OL59863W" });
    let answer = gateway.execute("open_library_get_work", arguments).await;
    assert_eq!(answer["status"], "success", "{answer}");
    assert_eq!(answer["result"]["title"], "The Dispossessed", "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_that_embeds_the_gateway_executes_the_tool_that_it_finds() {
    let example = Example::new("embed-rust");
    // Cargo has built it with the tests; the folder lies elsewhere now.
    let built = program().canonicalize().unwrap();
    let built = built.with_file_name("toolgate-embed");
    let plugins = root().join("plugins/dist");
    let quoted = |path: &Path| format!("'{}'", path.display());
    let mut commands = example.commands().to_owned();
    for (named, here) in [
        ("cargo run --locked --", quoted(&built)),
        ("../../plugins/dist", quoted(&plugins)),
    ] {
        assert!(commands.contains(named), "{commands}");
        commands = commands.replace(named, &here);
    }
    let (said, log) = example.run_commands(&commands, &[]).await;
    let planned: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(planned["tool_name"], "hackernews_list_top_stories", "{log}");
    assert_eq!(planned["status"], "dry_run", "{planned}");
    let url = "https://hacker-news.firebaseio.com/v0/topstories.json";
    assert_eq!(planned["requests"][0]["url"], url, "{planned}");

    // The second start has the database of the first, and a plugin that needs no network.
    let plugin = Fixture::new("demo").build();
    std::fs::write(example.folder.path().join("plugins/demo.wasm"), plugin).unwrap();
    let command = format!("{} plugins 'run demo' '{{}}'", quoted(&built));
    let (said, log) = example.run_commands(&command, &[]).await;
    let ran: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(ran["tool_name"], "demo_run", "{log}");
    assert_eq!(
        (&ran["status"], &ran["result"]),
        (&json!("success"), &json!({}))
    );
}
