//! A person at a terminal: the first start in 80 columns and 24 lines, and the commands that use a running gateway.

mod resources;
mod screen;

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::time::timeout;
use toolgate_tests::gateway::built_plugin;
use toolgate_tests::ports::free_port;
use toolgate_tests::process::{program, serve_with};

use screen::{COLUMNS, ROWS, Screen};

const PATIENCE: Duration = Duration::from_secs(120);

fn words() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugins/dist/words.wasm");
    std::fs::read(path).unwrap()
}

/// `toolgate serve --dev` in a terminal of its own.
struct Terminal {
    child: Child,
    written: String,
}

impl Terminal {
    fn start(arguments: &str) -> Self {
        let serve = format!(
            "stty rows {ROWS} cols {COLUMNS}; exec '{}' serve {arguments}",
            program().display()
        );
        let child = Command::new("script")
            .args(["-qec", &serve, "/dev/null"])
            .env_remove("TOOLGATE_LOG")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("script (of the Debian package bsdutils) is there");
        Self {
            child,
            written: String::new(),
        }
    }

    /// Reads until the screen has this text.
    async fn until(&mut self, text: &str) -> Screen {
        let mut bytes = [0; 4096];
        loop {
            let screen = Screen::play(&self.written);
            if screen.text().contains(text) {
                return screen;
            }
            let stdout = self.child.stdout.as_mut().unwrap();
            let read = timeout(PATIENCE, stdout.read(&mut bytes)).await;
            let read = read.unwrap_or_else(|_| panic!("no {text:?} in {:?}", self.written));
            let read = read.unwrap();
            assert!(read > 0, "no {text:?} in {:?}", self.written);
            self.written
                .push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
    }

    async fn interrupt(mut self) -> String {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(b"\x03").await.unwrap();
        let mut rest = Vec::new();
        let stdout = self.child.stdout.as_mut().unwrap();
        timeout(PATIENCE, stdout.read_to_end(&mut rest))
            .await
            .expect("it ends")
            .unwrap();
        self.child.wait().await.unwrap();
        self.written + &String::from_utf8_lossy(&rest)
    }
}

#[tokio::test]
async fn the_first_start_leaves_password_and_key_on_a_small_screen() {
    let folder = tempfile::tempdir().unwrap();
    let plugins = folder.path().join("plugins");
    std::fs::create_dir(&plugins).unwrap();
    std::fs::write(plugins.join("words.wasm"), words()).unwrap();
    for service in [
        "hackernews",
        "github",
        "todoist",
        "notion",
        "slack",
        "linear",
    ] {
        let component = built_plugin(service).unwrap();
        std::fs::write(plugins.join(format!("{service}.wasm")), component).unwrap();
    }
    // A file that is refused is a line of the log, above the progress.
    std::fs::write(plugins.join("broken.wasm"), "no component").unwrap();
    let (shown, port) = (folder.path().display(), free_port());
    let arguments = format!(
        "--dev --listen 127.0.0.1:{port} --data-dir {shown}/data --plugins-dir {shown}/plugins"
    );
    let mut terminal = Terminal::start(&arguments);
    let screen = terminal.until("Ctrl-C stops").await.text();
    assert!(screen.contains("7 services with"), "{screen}");
    assert!(screen.contains("owner@localhost  "), "{screen}");
    assert!(
        screen.contains("toolgate member reset owner@localhost"),
        "{screen}"
    );
    assert!(
        !screen.contains("Loading plugins"),
        "the line is gone: {screen}"
    );
    assert!(
        terminal.written.contains("Loading plugins ["),
        "{}",
        terminal.written
    );
    assert!(
        terminal.written.contains("broken.wasm"),
        "{}",
        terminal.written
    );

    // What a browser loads is not logged over it.
    let base = format!("http://127.0.0.1:{port}");
    for _ in 0..2 * ROWS {
        let answer = reqwest::get(format!("{base}/healthz")).await.unwrap();
        assert_eq!(answer.status(), 200);
    }
    // A warning is, and tells here that all before it is on the screen.
    std::fs::write(plugins.join("late.wasm"), "no component").unwrap();
    let screen = terminal.until("late.wasm").await.text();
    assert!(screen.contains("owner@localhost  "), "{screen}");
    let key = screen
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("tg_live_"));
    let key = key
        .unwrap_or_else(|| panic!("no key in {screen}"))
        .to_owned();

    // The lines of "Try it" do what they say.
    let tried = person(&["search", "count", "words"], &base, &key).await;
    let said = String::from_utf8_lossy(&tried.stdout);
    assert!(said.contains("words_count  (no account needed)"), "{said}");

    // The second start has nothing to show once.
    terminal.interrupt().await;
    let mut again = Terminal::start(&arguments);
    let screen = again.until("Ctrl-C stops").await.text();
    assert!(!screen.contains("shown once"), "{screen}");
    again.interrupt().await;
}

#[tokio::test]
async fn an_interrupt_while_plugins_load_still_shows_what_is_shown_once() {
    let folder = tempfile::tempdir().unwrap();
    let plugins = folder.path().join("plugins");
    std::fs::create_dir(&plugins).unwrap();
    let component = built_plugin("github").unwrap();
    std::fs::write(plugins.join("github.wasm"), component).unwrap();
    let shown = folder.path().display();
    let arguments =
        format!("--dev --listen 127.0.0.1:0 --data-dir {shown}/data --plugins-dir {shown}/plugins");
    let mut terminal = Terminal::start(&arguments);
    terminal.until("Loading plugins").await;
    let written = terminal.interrupt().await;
    assert!(
        written.contains("tg_live_") && written.contains("owner@localhost  "),
        "{written:?}"
    );
}

#[tokio::test]
async fn a_missing_plugins_folder_is_an_error_and_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |plugins: &str| {
        let mut command = Command::new(program());
        command
            .args([
                "serve",
                "--dev",
                "--listen",
                "127.0.0.1:0",
                "--data-dir",
                "data",
            ])
            .args(["--plugins-dir", plugins])
            .current_dir(folder.path())
            .output()
    };
    std::fs::write(folder.path().join("file"), "no folder").unwrap();
    for (plugins, said) in [("absent", "mkdir -p absent"), ("file", "--plugins-dir")] {
        let output = timeout(PATIENCE, refused(plugins))
            .await
            .expect("it ends")
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{plugins}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(said), "{plugins}: {told}");
        assert!(!folder.path().join("data").exists(), "{plugins}");
    }
}

/// An unpacked archive: `bin/toolgate` beside `plugins`.
#[tokio::test]
async fn the_program_finds_the_plugins_that_came_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let unpacked = folder.path().join("toolgate-linux");
    for part in ["bin", "plugins"] {
        std::fs::create_dir_all(unpacked.join(part)).unwrap();
    }
    std::fs::copy(program(), unpacked.join("bin/toolgate")).unwrap();
    let look = async || {
        let mut command = Command::new(unpacked.join("bin/toolgate"));
        command
            .args(["config", "check", "--json"])
            .current_dir(folder.path());
        let output = command.output().await.unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["checks"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["check"] == "plugins_folder")
            .unwrap()
            .clone()
    };
    let found = look().await;
    assert_eq!(
        found["status"], "failed",
        "a folder without plugins is not a plugins folder: {found}"
    );
    std::fs::write(unpacked.join("plugins/words.wasm"), words()).unwrap();
    let found = look().await;
    assert_eq!(found["status"], "ok", "{found}");
    assert!(
        found["found"]
            .as_str()
            .unwrap()
            .contains("toolgate-linux/bin/../plugins")
            || found["found"]
                .as_str()
                .unwrap()
                .contains("toolgate-linux/plugins"),
        "{found}"
    );
    // A checkout's own folder comes first.
    std::fs::create_dir_all(folder.path().join("plugins/dist")).unwrap();
    let found = look().await;
    assert_eq!(found["status"], "warning", "{found}");
}

/// One command of a person who uses the gateway at `base`.
async fn person(arguments: &[&str], base: &str, key: &str) -> Output {
    let mut command = Command::new(program());
    command
        .args(arguments)
        .env("TOOLGATE_URL", base)
        .env("TOOLGATE_API_KEY", key)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    timeout(PATIENCE, command.output())
        .await
        .expect("it ends")
        .unwrap()
}

fn document(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|cause| panic!("{cause}: {output:?}"))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A gateway with a tool that needs no account and a service that needs one.
async fn served() -> (tempfile::TempDir, Child, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let plugins: PathBuf = folder.path().join("plugins");
    std::fs::create_dir(&plugins).unwrap();
    std::fs::write(plugins.join("github.wasm"), built_plugin("github").unwrap()).unwrap();
    let (child, first) = serve_with(folder.path(), "words.wasm", &words(), &[]).await;
    let base = first["rest"]
        .as_str()
        .unwrap()
        .trim_end_matches("/v1")
        .to_owned();
    let key = first["key"].as_str().unwrap().to_owned();
    timeout(PATIENCE, async {
        loop {
            let health = reqwest::get(format!("{base}/readyz")).await;
            if health.is_ok_and(|answer| answer.status() == 200) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await
    .expect("plugins load");
    (folder, child, base, key)
}

#[tokio::test]
async fn a_person_searches_describes_executes_and_connects() {
    let (_folder, _child, base, key) = served().await;
    let run = async |arguments: &[&str]| person(arguments, &base, &key).await;

    let found = document(&run(&["search", "count", "the", "words", "--json"]).await);
    assert_eq!(found["tools"][0]["name"], "words_count", "{found}");
    let one = run(&["search", "issues", "--service", "github", "--limit", "1"]).await;
    assert!(
        said(&one).contains("not connected: toolgate connect github"),
        "{one:?}"
    );

    let described = run(&["describe", "words_count"]).await;
    let columns: Vec<_> = said(&described)
        .lines()
        .map(|line| {
            line.split_whitespace()
                .take(3)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    assert!(
        columns.contains(&"text string required".to_owned()),
        "{described:?}"
    );

    let ran = run(&["exec", "words_count", "text=how many words"]).await;
    assert!(ran.status.success(), "{ran:?}");
    let ran = document(&run(&["exec", "words_count", "text=how many", "--json"]).await);
    assert_eq!(ran["status"], "success", "{ran}");
    let object = json!({"text": "one two three"}).to_string();
    let ran = document(&run(&["exec", "words_count", "--arguments", &object, "--json"]).await);
    assert_eq!(ran["status"], "success", "{ran}");

    let executions = run(&["executions", "list", "--tool", "words_count"]).await;
    assert!(said(&executions).contains("success"), "{executions:?}");
    let first = document(&run(&["executions", "list", "--json"]).await);
    let first = first["executions"][0]["execution_id"].as_str().unwrap();
    let receipt = run(&["executions", "show", first]).await;
    assert!(said(&receipt).contains("No request left."), "{receipt:?}");

    // The link works without a connection: the page is there.
    let link = document(&run(&["connect", "github", "--json"]).await);
    let url = link["connect_url"]
        .as_str()
        .unwrap_or_else(|| panic!("{link}"));
    assert_eq!(reqwest::get(url).await.unwrap().status(), 200);
}

#[tokio::test]
async fn what_cannot_be_done_says_why_by_its_exit_status_and_the_next_step() {
    let (_folder, _child, base, key) = served().await;
    let issue = [
        "exec",
        "github_create_issue",
        "owner=ada",
        "repo=engine",
        "title=It jams",
    ];
    let cases: [(&[&str], i32, &str); 6] = [
        // Nobody has switched code mode on.
        (
            &["run", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")],
            3,
            "code mode",
        ),
        (&["exec", "words_cuont"], 3, "Search for the exact name"),
        (&["exec", "words_count"], 3, "text"),
        (&["exec", "words_count", "text"], 2, "name=value"),
        (&issue, 3, "/connect/"),
        (&["connect", "nowhere"], 3, "nowhere"),
    ];
    for (arguments, status, next) in cases {
        let output = person(arguments, &base, &key).await;
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(next), "{arguments:?}: {told}");
        // A program gets one document.
        let with_json = [arguments, &["--json"]].concat();
        let output = person(&with_json, &base, &key).await;
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        document(&output);
    }
    let wrong = person(&["search", "x"], &base, "tg_live_wrong").await;
    assert!(said(&wrong).contains("toolgate key create"), "{wrong:?}");
    assert_eq!(wrong.status.code(), Some(3));
    let none = person(&["search", "x"], &base, "").await;
    assert!(said(&none).contains("TOOLGATE_API_KEY"), "{none:?}");
    let nowhere = format!("http://127.0.0.1:{}", free_port());
    let nowhere = person(&["search", "x"], &nowhere, &key).await;
    assert!(said(&nowhere).contains("toolgate serve"), "{nowhere:?}");
    assert_eq!(nowhere.status.code(), Some(5));
}

/// A password that was forgotten: the operator's link sets a new one, once.
#[tokio::test]
async fn a_new_password_comes_by_a_link_of_the_operator() {
    let (folder, _child, base, key) = served().await;
    let data = folder.path().join("data");
    let data = data.to_str().unwrap();
    let reset = async |member: &str| {
        person(
            &[
                "member",
                "reset",
                member,
                "--data-dir",
                data,
                "--public-url",
                &base,
                "--json",
            ],
            &base,
            &key,
        )
        .await
    };
    let link = document(&reset("owner@localhost").await);
    let url = link["reset_url"]
        .as_str()
        .unwrap_or_else(|| panic!("{link}"));
    let (page, token) = url.split_once('#').unwrap();
    assert_eq!(reqwest::get(page).await.unwrap().status(), 200);
    assert!(token.len() > 20, "{url}");
    let unknown = reset("nobody@localhost").await;
    assert_eq!(unknown.status.code(), Some(1));
    assert!(
        said(&unknown).contains("toolgate member list"),
        "{unknown:?}"
    );
}

#[tokio::test]
async fn the_help_of_a_command_has_its_own_options_and_says_where_the_settings_are() {
    let help = async |arguments: &[&str]| {
        let output = Command::new(program())
            .args(arguments)
            .arg("--help")
            .output();
        String::from_utf8(output.await.unwrap().stdout).unwrap()
    };
    for command in [
        &["key", "create"][..],
        &["search"],
        &["plugin", "list"],
        &["workspace", "set"],
    ] {
        let text = help(command).await;
        assert!(!text.contains("--oidc-issuer"), "{command:?}: {text}");
        assert!(
            text.contains("toolgate serve --help"),
            "{command:?}: {text}"
        );
        assert!(text.lines().count() < 60, "{command:?}: {text}");
    }
    assert!(help(&["key", "create"]).await.contains("--users-any"));
    assert!(help(&["serve"]).await.contains("--oidc-issuer"));
    // Hidden is not gone.
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("elsewhere");
    for command in [&["migrate"][..], &["key", "list"]] {
        let mut run = Command::new(program());
        let run = run.args(command).arg("--data-dir").arg(&data).output();
        let run = run.await.unwrap();
        assert!(
            run.status.success() && data.exists(),
            "{command:?}: {run:?}"
        );
    }
}
