//! The loop of an author in Rust: `toolgate plugin dev` builds what is saved, a running gateway serves it, and what goes
//! wrong in it is told with its place.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use toolgate_tests::process::{Installation, Process, program};

/// Longest time until something happens on a busy machine; `tests/authors/newcomer.sh` holds a quiet one to seconds.
/// A first build compiles the SDK, on one processor beside other tests too.
const PATIENCE: Duration = Duration::from_secs(360);
const EDITS: u32 = 3;

const TOOL: &str = r#"
/// Says which edition of the plugin serves.
#[tool(effect = "read", auth = [])]
fn edition(_cx: &Context) -> Result<Value, ToolError> {
    Ok(json!({ "edition": count_editions() }))
}

#[inline(never)]
fn count_editions() -> u64 {
    EDITION
}
"#;

/// A running `plugin dev --json`, line by line.
struct DevLoop {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl DevLoop {
    fn start(installation: &Installation, project: &Path) -> Self {
        let log = std::fs::File::create(installation.folder.join("dev.log")).unwrap();
        let mut child = Command::new(program())
            .args(["plugin", "dev", "--approve", "--json"])
            .arg(project)
            .arg("--data-dir")
            .arg(installation.folder.join("data"))
            .arg("--plugins-dir")
            .arg(installation.folder.join("plugins"))
            // What an author has: a target folder of the project, and builds that go on from the one before.
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("CARGO_INCREMENTAL")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().expect("a pipe was asked for");
        Self {
            child,
            lines: BufReader::new(stdout).lines(),
        }
    }

    /// The next event that `wanted` takes.
    async fn event(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let found = tokio::time::timeout(PATIENCE, async {
            loop {
                let line = self.lines.next_line().await.unwrap();
                let line = line.unwrap_or_else(|| panic!("it ended before {what}"));
                let event: Value = serde_json::from_str(&line).expect("one document a line");
                if wanted(&event) {
                    return event;
                }
                println!("{line}");
            }
        });
        found
            .await
            .unwrap_or_else(|_| panic!("waited in vain for {what}"))
    }
}

async fn edition(process: &Process) -> Value {
    let body = json!({ "arguments": {} });
    let path = "/v1/tools/notes_edition/execute";
    process.post(path, &body).await.json()["data"].take()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_saved_is_served_and_a_panic_is_told_with_its_function_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let installation = Installation::new(folder.path(), &[]);
    let process = installation.serve(&[]).await;
    let new = Command::new(program())
        .args(["plugin", "new", "--lang", "rust", "notes", "--into"])
        .arg(folder.path())
        .output()
        .await
        .unwrap();
    assert!(new.status.success(), "{new:?}");
    let project = folder.path().join("notes");
    let source = project.join("src/lib.rs");
    let first = std::fs::read_to_string(&source).unwrap();
    assert!(
        first.contains("tools: [list_notes, create_note]"),
        "{first}"
    );
    let first = first.replace("create_note]", "create_note, edition]") + TOOL;
    let save = |body: &str| std::fs::write(&source, first.replace("EDITION", body)).unwrap();

    save("1");
    let began = Instant::now();
    let mut dev = DevLoop::start(&installation, &project);
    let serving = |event: &Value| event["event"] == "serving";
    let begins = dev.event("what it does", |event| event["event"] == "begins");
    let begins = begins.await;
    assert_eq!(begins["tool"], "cargo build", "{begins}");
    dev.event("the first build to serve", serving).await;
    println!("first: {:.1} s", began.elapsed().as_secs_f64());
    for number in 2..2 + EDITS {
        let saved = Instant::now();
        save(&number.to_string());
        let built = dev.event("an edit to be built", |event| event["event"] == "built");
        let built = built.await;
        dev.event("an edit to serve", serving).await;
        let answer = edition(&process).await;
        assert_eq!(answer["result"]["edition"], number, "{answer}");
        println!(
            "an edit is served after {:.1} s, of which {} ms are the build",
            saved.elapsed().as_secs_f64(),
            built["build_ms"]
        );
    }

    // What does not compile is told, and the edition before serves on.
    save("missing()");
    dev.event("a refusal", |event| event["event"] == "refused")
        .await;
    let answer = edition(&process).await;
    assert_eq!(answer["result"]["edition"], 1 + EDITS, "{answer}");

    save("panic!(\"no edition\")");
    dev.event("the panic to serve", serving).await;
    let answer = edition(&process).await;
    assert_eq!(answer["reason"], "plugin_crashed", "{answer}");
    assert!(!answer.to_string().contains("no edition"), "{answer}");
    let panic = dev
        .event("the panic", |event| {
            event["message"]
                .as_str()
                .is_some_and(|text| text.starts_with("panicked at "))
        })
        .await;
    let text = std::fs::read_to_string(&source).unwrap();
    let line = 1 + text
        .lines()
        .position(|line| line.contains("panic!"))
        .unwrap();
    let message = panic["message"].as_str().unwrap();
    let place = format!("src/lib.rs:{line}:");
    assert!(
        message.contains(&place) && message.contains("no edition"),
        "{panic}"
    );
    assert_eq!(panic["tool"], "edition", "{panic}");
    let function = dev.event("the function", |event| {
        event["message"]
            .as_str()
            .is_some_and(|text| text.starts_with("crashed in "))
    });
    let function = function.await;
    let message = function["message"].as_str().unwrap();
    assert!(message.ends_with("notes::count_editions"), "{function}");
    println!("{}: {message}", panic["message"]);
    let ended = dev
        .event("the end of the call", |event| event["event"] == "ended")
        .await;
    assert_eq!(ended["status"], "error", "{ended}");

    let id = dev.child.id().expect("it runs").to_string();
    let told = Command::new("kill")
        .args(["-INT", &id])
        .status()
        .await
        .unwrap();
    assert!(told.success());
    let ended = tokio::time::timeout(PATIENCE, dev.child.wait()).await;
    assert!(ended.expect("it ends").unwrap().success());
    process.kill().await;
}
