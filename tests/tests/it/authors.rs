//! Plugins in JavaScript and Python: built by the real toolchains, tried by `plugin test`, served by the
//! real program beside a plugin in Rust, and refused what every plugin is refused.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use axum::body::Body;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::sync::OnceCell;
use toolgate_tests::events::{self, receipt, watching};
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::process::{Installation, program};
use toolgate_tests::tools;
use toolgate_tests::upstream::{Received, Upstream};

const SECRET: &str = "planted-by-the-test-of-authors";
/// Longest build of all projects on a busy machine.
const BUILD_MAX: Duration = Duration::from_secs(600);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

async fn run(command: &mut Command) -> String {
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(BUILD_MAX, command.output()).await;
    let output = output.expect("it ends in time").expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// A folder of all projects' components, built once.
async fn built() -> &'static Path {
    static BUILT: OnceCell<PathBuf> = OnceCell::const_new();
    BUILT
        .get_or_init(|| async {
            let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("authors");
            let said = run(Command::new(root().join("plugins/build-large.sh"))
                .arg(&out)
                .args(["plugins/fireflies", "plugins/pubmed"])
                .args(["tests/authors/probe_js", "tests/authors/probe_py"]))
            .await;
            println!("{said}");
            out
        })
        .await
}

async fn component(service: &str) -> Vec<u8> {
    let file = built().await.join(format!("{service}.wasm"));
    std::fs::read(&file).unwrap_or_else(|cause| panic!("{}: {cause}", file.display()))
}

/// The request's credential and address, said back; silence at `/never`.
fn mirror(request: &Received) -> axum::http::Response<Body> {
    let sent = request
        .headers
        .iter()
        .find(|(name, _)| name == "authorization")
        .map_or("nothing", |(_, value)| value);
    axum::http::Response::new(format!("{} with {sent}", request.target).into())
}

/// Waits for a compiler that has an interpreter to compile.
async fn wait(what: &str, holds: impl AsyncFn() -> bool) {
    let waited = tokio::time::timeout(BUILD_MAX, async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    assert!(waited.await.is_ok(), "waited in vain for {what}");
}

/// A gateway with both probes, and where their requests arrive.
async fn probed() -> (TestGateway, Upstream) {
    let upstream = Upstream::start(mirror).await;
    let gateway = TestGateway::start(Options {
        allow_upstream: vec![format!("probe.example.com={}", upstream.url())],
        allow_large_plugins: true,
        ..Options::default()
    })
    .await;
    for probe in PROBES {
        let file = gateway.plugins_dir().join(format!("{probe}.wasm"));
        std::fs::write(file, component(probe).await).unwrap();
    }
    wait("both probes", async || {
        let health = gateway.get("/v1/health").await.data();
        assert_eq!(health["plugins"]["quarantined"], 0, "{health}");
        health["plugins"]["active"] == 2
    })
    .await;
    (gateway, upstream)
}

async fn connect(gateway: &TestGateway, service: &str) {
    let body = json!({ "service": service });
    let link = gateway.post("/v1/connections/link", &body).await.data();
    let url = link["connect_url"].as_str().unwrap();
    press(&gateway.client, url).await;
}

/// Sends the connect form with the secret.
async fn press(client: &reqwest::Client, url: &str) {
    let page = crate::connect::submit(client, url, &[("f_secret", SECRET)]).await;
    assert_eq!(page.status, 200, "{}", page.text);
}

/// Where the toolchains are, as tests/authors/setup.sh left them.
fn tools() -> PathBuf {
    let tools = tools::installed("authors", "authors").unwrap();
    tools.canonicalize().unwrap()
}

fn node() -> Command {
    tools::node().unwrap()
}

fn npm() -> Command {
    tools::npm().unwrap()
}

fn python() -> Command {
    let mut python = Command::new(tools().join("py/bin/python"));
    python.env("PYTHONDONTWRITEBYTECODE", "1");
    python
}

#[tokio::test(flavor = "multi_thread")]
async fn what_plugin_new_writes_builds_and_passes() {
    built().await;
    let folder = tempfile::tempdir().unwrap();
    let packages = tools().join("js/plugins/fireflies/node_modules");
    for (lang, service) in [("js", "notes_js"), ("py", "notes_py")] {
        run(Command::new(program())
            .args(["plugin", "new", "--lang", lang, service, "--into"])
            .arg(folder.path()))
        .await;
        let project = folder.path().join(service);
        let wasm = format!("{service}.wasm");
        if lang == "js" {
            // As `npm install` does it, without fetching all of it once more.
            let installed = project.join("node_modules");
            std::fs::create_dir(&installed).unwrap();
            for entry in std::fs::read_dir(&packages).unwrap() {
                let name = entry.unwrap().file_name();
                if name != "toolgate-plugin" && name != ".bin" {
                    std::os::unix::fs::symlink(packages.join(&name), installed.join(&name))
                        .unwrap();
                }
            }
            std::os::unix::fs::symlink("../sdk", installed.join("toolgate-plugin")).unwrap();
            run(npm().arg("test").current_dir(&project)).await;
            run(node()
                .args(["sdk/bin/build.js", "src/plugin.js", "-o", &wasm])
                .current_dir(&project))
            .await;
        } else {
            run(python()
                .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
                .current_dir(&project))
            .await;
            run(python()
                .args([
                    "-m",
                    "toolgate_plugin.build",
                    "src/notes_py.py",
                    "-o",
                    &wasm,
                ])
                .env("PYTHONPATH", "sdk")
                .current_dir(&project))
            .await;
        }
        let file = project.join(wasm);
        run(Command::new(program())
            .args(["plugin", "check", "--strict"])
            .arg(&file))
        .await;
        run(Command::new(program())
            .args(["plugin", "test"])
            .arg(&file)
            .arg("--examples")
            .arg(folder.path()))
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sdks_pass_their_own_tests_and_types() {
    built().await;
    let sdk = root().join("sdk/plugins").canonicalize().unwrap();
    let packages = tools().join("js/plugins/fireflies");
    run(npm().arg("test").current_dir(sdk.join("js"))).await;
    run(node()
        .arg(sdk.join("js/bin/types.js"))
        .arg("--check")
        .current_dir(&packages))
    .await;
    run(node()
        .arg(packages.join("node_modules/.bin/tsc"))
        .args(["--noEmit", "--strict", "--target", "es2022"])
        .args(["--module", "nodenext", "--moduleResolution", "nodenext"])
        .args(["--lib", "es2022,dom,dom.iterable,esnext.disposable"])
        .arg(sdk.join("js/test/types.ts")))
    .await;
    run(python()
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"])
        .env("PYTHONPATH", "src")
        .current_dir(sdk.join("py")))
    .await;
    run(python()
        .args(["-m", "mypy", "--strict", "--cache-dir", "/dev/null"])
        .arg("src/toolgate_plugin")
        .current_dir(sdk.join("py")))
    .await;
}

const PROBES: [&str; 2] = ["probe_js", "probe_py"];

#[tokio::test(flavor = "multi_thread")]
async fn both_pass_plugin_check_and_plugin_test() {
    let folder = built().await;
    for service in ["fireflies", "pubmed"] {
        let file = folder.join(format!("{service}.wasm"));
        run(Command::new(program())
            .args(["plugin", "check", "--strict"])
            .arg(&file))
        .await;
        let said = run(Command::new(program())
            .args(["plugin", "test", "--json"])
            .arg(&file)
            .arg("--examples")
            .arg(root().join("plugins")))
        .await;
        let tested: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(tested[0]["failures"], json!([]), "{said}");
        assert!(tested[0]["examples"].as_u64().unwrap() >= 15, "{said}");
    }
    let file = folder.join("pubmed.wasm");
    let said = run(Command::new(program())
        .args(["plugin", "run"])
        .arg(&file)
        .args(["correct_spelling", r#"{"query": "asthmaa"}"#, "--dry-run"]))
    .await;
    let asked = "GET https://eutils.ncbi.nlm.nih.gov/entrez/eutils/espell.fcgi?";
    assert!(
        said.contains(asked) && said.contains("term=asthmaa"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_serves_them_beside_a_rust_plugin_once_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start(|request| {
        let body = if request.target.starts_with("/graphql") {
            json!({"data": {"users": [{"user_id": "u1", "name": "Ada", "minutes_consumed": 3}]}})
                .to_string()
        } else {
            "<eSpellResult><CorrectedQuery>asthma</CorrectedQuery></eSpellResult>".to_owned()
        };
        axum::http::Response::new(Body::from(body))
    })
    .await;
    let mut installation = Installation::new(folder.path(), &["prometheus"]);
    for service in ["fireflies", "pubmed"] {
        let to = folder.path().join(format!("plugins/{service}.wasm"));
        std::fs::write(to, component(service).await).unwrap();
    }
    let hosts = ["api.fireflies.ai", "eutils.ncbi.nlm.nih.gov"];
    installation.allow_upstream = hosts
        .map(|host| format!("{host}={}", upstream.url()))
        .to_vec();

    let process = installation.serve(&["prometheus_query"]).await;
    wait("both to be judged", async || {
        let health = process.get("/v1/health").await.data();
        health["plugins"]["quarantined"] == 2
    })
    .await;
    let listed = installation.run(&["plugin", "list"]).await;
    for file in listed["files"].as_array().unwrap() {
        let large = file["file"] != "prometheus.wasm";
        let reason = file["reason"].as_str().unwrap_or_default();
        assert_eq!(reason.contains("--allow-large-plugins"), large, "{file}");
    }
    process.kill().await;

    installation
        .environment
        .push(("TOOLGATE_ALLOW_LARGE_PLUGINS".to_owned(), "true".to_owned()));
    let process = installation.serve(&["prometheus_query"]).await;
    wait("all three", async || {
        let health = process.get("/v1/health").await.data();
        health["plugins"]["active"] == 3
    })
    .await;
    let found = process
        .get("/v1/tools/search?query=correct+the+spelling+of+a+medical+literature+query")
        .await
        .data();
    assert_eq!(
        found["tools"][0]["name"], "pubmed_correct_spelling",
        "{found}"
    );

    let run = async |tool: &str, arguments: Value| {
        let body = json!({ "arguments": arguments });
        let path = format!("/v1/tools/{tool}/execute");
        process.post(&path, &body).await.data()
    };
    let cold = run("pubmed_correct_spelling", json!({"query": "asthmaa"})).await;
    let corrected = json!({"query": "asthmaa", "corrected": "asthma"});
    assert_eq!(cold["result"], corrected, "{cold}");
    let warm = run("pubmed_correct_spelling", json!({"query": "asthmaa"})).await;
    println!(
        "pubmed: {} ms cold, {} ms warm",
        cold["duration_ms"], warm["duration_ms"]
    );

    let unconnected = run("fireflies_list_users", json!({})).await;
    assert_eq!(unconnected["status"], "auth_required", "{unconnected}");
    let form = unconnected["connect_url"].as_str().unwrap();
    press(&process.client, form).await;
    let connected = run("fireflies_list_users", json!({})).await;
    let users = json!([{"id": "u1", "name": "Ada", "minutes": 3}]);
    assert_eq!(connected["result"], users, "{connected}");
    let asked = upstream.received().pop().unwrap();
    let bearer = ("authorization".to_owned(), format!("Bearer {SECRET}"));
    assert!(asked.headers.contains(&bearer), "{asked:?}");

    let rust = run("prometheus_query", json!({"query": "up"})).await;
    assert!(rust.to_string().contains("api_base"), "{rust}");
    process.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn both_meet_what_every_plugin_meets() {
    let (gateway, upstream) = probed().await;
    a_call_knows_its_arguments_its_state_and_its_time(&gateway).await;
    progress_reaches_the_caller_and_cancellation_the_tool(&gateway).await;
    foreign_hosts_are_refused_and_secrets_stay_out_of_reach(&gateway, &upstream).await;
    limits_end_the_call_and_the_next_one_works(&gateway).await;
}

async fn a_call_knows_its_arguments_its_state_and_its_time(gateway: &TestGateway) {
    for probe in PROBES {
        let tool = format!("{probe}_echo");
        let first = gateway.execute(&tool, json!({ "text": "ab" })).await;
        assert_eq!(first["status"], "success", "{first}");
        assert_eq!(first["result"]["text"], "abab", "the default came with it");
        let path = format!("/v1/tools/{tool}/execute");
        let again =
            json!({ "arguments": { "text": "é", "times": 1 }, "session_id": first["session_id"] });
        let again = gateway.post(&path, &again).await.data();
        assert_eq!(again["result"]["text"], "é");
        assert_eq!(again["result"]["calls"], 2, "the session keeps state");
        for key in ["differs", "random"] {
            let (one, other) = (&first["result"][key], &again["result"][key]);
            assert_ne!(one, other, "{probe}: {key} is not the same in each call");
        }
        assert!(again["result"]["today"].as_i64().unwrap() > 2024);
        let bad = json!({ "arguments": { "text": "a", "times": 9 } });
        let bad = gateway.post(&path, &bad).await;
        assert_eq!(bad.code(), "invalid_arguments");
    }
}

async fn progress_reaches_the_caller_and_cancellation_the_tool(gateway: &TestGateway) {
    for probe in PROBES {
        let tool = format!("{probe}_count");
        let answer = watching(gateway, &tool, &json!({ "to": 200 })).send().await;
        let mut answer = answer.unwrap();
        answer.chunk().await.unwrap().unwrap();
        drop(answer);
        let ended = receipt(gateway, &tool).await;
        let message = ended["failure"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("the caller left before"), "{ended}");

        let answer = watching(gateway, &tool, &json!({ "to": 2 })).send().await;
        let events = events::parse(&answer.unwrap().text().await.unwrap());
        let progress = json!({ "done": 2, "total": 2, "message": "number 2" });
        assert_eq!(events[2], ("progress".to_owned(), progress), "{probe}");
        let partial = json!({ "number": 2 });
        assert_eq!(events[3], ("partial".to_owned(), partial), "{probe}");
        let reply = &events[4].1["data"];
        assert_eq!(reply["result"]["counted"], 2, "{probe}: {reply}");
        if probe == "probe_js" {
            assert_eq!(reply["files"][0]["content"], "MTsyOw==", "1;2; in pieces");
        }
    }
}

async fn foreign_hosts_are_refused_and_secrets_stay_out_of_reach(
    gateway: &TestGateway,
    upstream: &Upstream,
) {
    for probe in PROBES {
        let fetch = format!("{probe}_fetch");
        let own = json!({ "url": "https://probe.example.com/a?b=c" });
        let unconnected = gateway.execute(&fetch, own.clone()).await;
        assert_eq!(unconnected["status"], "auth_required", "{unconnected}");
        connect(gateway, probe).await;

        let answer = gateway.execute(&fetch, own).await;
        assert_eq!(answer["result"]["status"], 200, "{answer}");
        let body = answer["result"]["body"].as_str().unwrap();
        assert!(body.starts_with("/a?b=c with Bearer "), "{body}");
        assert!(!answer.to_string().contains(SECRET), "{answer}");
        let arrived = upstream.received();
        let sent = &arrived.last().unwrap().headers;
        let bearer = ("authorization".to_owned(), format!("Bearer {SECRET}"));
        assert!(sent.contains(&bearer), "the host added it: {sent:?}");

        for url in [
            "https://elsewhere.example.com/",
            "https://127.0.0.1/",
            "http://169.254.169.254/latest/meta-data",
            "http://probe.example.com/",
            "https://probe.example.com:8443/",
            "https://user@probe.example.com/",
        ] {
            let answer = gateway.execute(&fetch, json!({ "url": url })).await;
            assert_eq!(answer["status"], "error", "{probe} {url}: {answer}");
        }
        assert_eq!(upstream.received().len(), arrived.len(), "nothing left");

        let look = gateway.execute(&format!("{probe}_look"), json!({})).await;
        println!("{probe} sees {}", look["result"]);
        assert_eq!(look["status"], "success", "{look}");
        let seen = look["result"].to_string();
        for never in [SECRET, "root:", "TOOLGATE", "/home"] {
            assert!(!seen.contains(never), "{probe} saw {never}: {seen}");
        }
    }
    let look = gateway.execute("probe_py_look", json!({})).await;
    let seen = &look["result"];
    assert_eq!(seen["environment"], "{}", "{look}");
    for refused in ["root", "passwd", "written", "connected", "resolved"] {
        let told = seen[refused].as_str().unwrap();
        assert!(told.starts_with("refused"), "{refused}: {told}");
    }
    let look = gateway.execute("probe_js_look", json!({})).await;
    let seen = &look["result"];
    assert_eq!(seen["process"], "undefined", "{look}");

    let behind = gateway.execute("probe_py_socket_behind", json!({})).await;
    assert_eq!(behind["reason"], "plugin_crashed", "{behind}");
}

async fn limits_end_the_call_and_the_next_one_works(gateway: &TestGateway) {
    // One plugin after the other: fewer calls at one time than large plugins have places.
    for probe in PROBES {
        let cases = [
            // On a busy machine the wall clock may end before the processor's.
            ("loop", &["limit_exceeded", "timeout"][..]),
            // An interpreter may make an error of its own of it.
            ("hoard", &["limit_exceeded", "provider_error"]),
            ("wait", &["timeout"]),
            ("dive", &["provider_error", "plugin_crashed"]),
            ("fail", &["provider_error"]),
        ];
        let ended = cases.map(async |(tool, reasons)| {
            let tool = format!("{probe}_{tool}");
            let answer = gateway.execute(&tool, json!({})).await;
            println!(
                "{tool}: {} {}",
                answer["reason"], answer["error"]["message"]
            );
            let reason = answer["reason"].as_str().unwrap_or_default();
            assert!(reasons.contains(&reason), "{tool}: {answer}");
        });
        futures_util::future::join_all(ended).await;
    }
    for probe in PROBES {
        let next = json!({ "text": "still here" });
        let next = gateway.execute(&format!("{probe}_echo"), next).await;
        assert_eq!(next["status"], "success", "{next}");
    }
}
