//! Text that a model reads and a person does not see, or that a terminal obeys.

use std::process::Command;

use serde_json::{Value, json};
use toolgate_core::visible::is_hidden;
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::TestGateway;
use toolgate_tests::process::{Installation, program};

const HIDDEN: &[char] = &[
    '\u{ad}',
    '\u{34f}',
    '\u{61c}',
    '\u{115f}',
    '\u{1160}',
    '\u{17b4}',
    '\u{180b}',
    '\u{180e}',
    '\u{180f}',
    '\u{200b}',
    '\u{200c}',
    '\u{200d}',
    '\u{200e}',
    '\u{2028}',
    '\u{2029}',
    '\u{202a}',
    '\u{202e}',
    '\u{2060}',
    '\u{2064}',
    '\u{2066}',
    '\u{206a}',
    '\u{2800}',
    '\u{3164}',
    '\u{e000}',
    '\u{fe00}',
    '\u{fe0f}',
    '\u{feff}',
    '\u{ffa0}',
    '\u{fff9}',
    '\u{1d173}',
    '\u{e0001}',
    '\u{e0041}',
    '\u{e0100}',
    '\u{e01ef}',
    '\u{10fffd}',
    '\u{7f}',
    '\u{85}',
    '\u{9b}',
];

/// Defence: `host/core/src/visible.rs` allows what is seen; `host/catalog/src/lint/text.rs` looks at every text.
#[test]
fn no_text_of_a_manifest_hides_anything() {
    let mut whole = Fixture::new("seen")
        .with("homepage", json!("https://seen.example"))
        .with("categories", json!(["support"]))
        .with("hosts", json!(["api.seen.example"]))
        .with(
            "parameters",
            json!([{"key": "team", "title": "Team", "help": "Yours.", "enum": ["a", "b"], "default": "a"}]),
        )
        .with("config", json!([{"key": "note", "title": "Note", "schema": {"type": "string", "description": "d"}}]))
        .with(
            "auth",
            json!([{
                "slot": "user", "title": "Account", "type": "api_key",
                "fields": [{"key": "secret", "title": "Key", "help": "From there."}],
                "placement": [{"header": "x-key", "template": "Key {secret}"}],
                "audience": ["https://api.seen.example"]
            }]),
        )
        .manifest;
    let mut run = tool("run");
    run["auth"] = json!(["user"]);
    run["title"] = json!("Run");
    run["keywords"] = json!(["go"]);
    run["deprecated"] = json!("Use another.");
    run["input"] = json!({"type": "object", "properties": {"q": {"type": "string", "description": "d", "enum": ["x", "y"]}}});
    run["output"] = json!({"type": "object", "description": "d"});
    run["examples"] = json!([{"q": "x"}]);
    whole["tools"] = json!([run]);
    let errors = |manifest: &Value| {
        let manifest = toolgate_catalog::Manifest::parse(&manifest.to_string()).ok()?;
        Some(toolgate_catalog::lint(&manifest).errors)
    };
    assert_eq!(errors(&whole), Some(Vec::new()));
    let mut texts = Vec::new();
    strings(&whole, "", &mut texts);
    assert!(texts.len() > 25, "{texts:?}");
    for place in &texts {
        for c in HIDDEN {
            let mut manifest = whole.clone();
            let text = manifest.pointer_mut(place).unwrap();
            *text = json!(format!("{}{c}", text.as_str().unwrap()));
            let refused = errors(&manifest).is_none_or(|errors| !errors.is_empty());
            assert!(refused, "U+{:04X} at {place}", *c as u32);
        }
    }
}

fn strings(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(at.to_owned()),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                strings(item, &format!("{at}/{index}"), found);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                strings(value, &format!("{at}/{key}"), found);
            }
        }
        _ => {}
    }
}

/// Defence: `host/toolgate/src/cli/output.rs` prints everything through `visible`.
#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_plugins_shows_what_a_file_name_holds() {
    let name = "\u{1b}[2J\u{202e}msaw\u{200b}.wasm";
    let gateway = TestGateway::with_plugin(name, b"garbage".to_vec()).await;
    gateway.wait_for_file(name, "quarantined").await;
    for json in [false, true] {
        let mut command = Command::new(program());
        command
            .args(["plugin", "list", "--data-dir"])
            .arg(&gateway.config.gateway.data_dir);
        if json {
            command.arg("--json");
        }
        let output = command.output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{told}");
        let hidden = told.chars().find(|c| is_hidden(*c) && *c != '\n');
        assert_eq!(hidden, None, "{told:?}");
        let shown = if json { "\\u202e" } else { "\\u{202e}" };
        assert!(told.contains(shown), "{told}");
        if json {
            let list: Value = serde_json::from_str(&told).unwrap();
            assert_eq!(list["files"][0]["file"], name);
        }
    }
}

/// Defence: `host/core/src/visible.rs`, `Lines`: what the log is written through.
#[tokio::test(flavor = "multi_thread")]
async fn the_log_shows_what_a_file_name_holds() {
    let folder = tempfile::tempdir().unwrap();
    for format in ["text", "json"] {
        let mut installation = Installation::new(&folder.path().join(format), &[]);
        installation.environment = vec![("TOOLGATE_LOG_FORMAT".to_owned(), format.to_owned())];
        let name = "\u{1b}]0;owned\u{7}\u{9b}31m\u{2066}\u{e0041}.wasm";
        let plugins = installation.folder.join("plugins");
        std::fs::write(plugins.join(name), "garbage").unwrap();
        let process = installation.serve(&[]).await;
        toolgate_tests::process::wait("the file to be told of", async || {
            installation.log().contains("quarantined")
        })
        .await;
        let log = installation.log();
        assert_eq!(
            log.chars().find(|c| is_hidden(*c) && *c != '\n'),
            None,
            "{log:?}"
        );
        assert!(log.contains("owned"), "{log}");
        process.kill().await;
    }
}
