//! Mistakes in a plugin in Rust, as the compiler tells of them. All are targets of one package, so that cargo builds
//! the SDK once and goes through them in one run.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use tokio::process::Command;

use super::said_by;

/// A plugin without mistakes.
const GOOD: &str = r##"use toolgate_sdk::prelude::*;

toolgate_sdk::plugin! {
    service: "notes",
    title: "Notes",
    description: "Read and write notes kept at example.com.",
    hosts: ["api.example.com"],
    capabilities: ["egress"],
    auth: [{
        slot: "user", title: "API key", type: "api_key",
        placement: { header: "x-api-key" },
        audience: ["https://api.example.com"],
    }],
    tools: [list_notes, delete_note],
}

#[derive(Args)]
struct ListNotes {
    /// Only notes of this folder.
    folder: Option<String>,
    /// Notes on a page.
    #[arg(min = 1, max = 100, default = 20)]
    limit: u64,
    /// How they are sorted.
    #[arg(default = "newest")]
    order: Order,
}

#[derive(Args)]
enum Order {
    Newest,
    Oldest,
}

/// Lists notes, newest first.
#[tool(effect = "read", paginated, auth = ["user"], example = { "folder": "work" })]
fn list_notes(args: ListNotes, cx: &Context) -> Result<Value, ToolError> {
    cx.client("https://api.example.com/v1").get("/notes").query_fields(&args).fetch()
}

#[derive(Args)]
struct DeleteNote {
    /// Number of the note.
    #[arg(path, min = 1)]
    id: u64,
}

/// Deletes one note for good.
#[tool(effect = "destructive", example = { "id": 7 })]
fn delete_note(args: DeleteNote, cx: &Context) -> Result<Value, ToolError> {
    cx.client("https://api.example.com/v1").delete(path!("/notes/{}", args.id)).fetch()
}

fn main() {
    let _ = PLUGIN.manifest;
}
"##;

/// A mistake: its name, what stands in the plugin, and what stands there instead.
const MISTAKES: &[(&str, &str, &str)] = &[
    // The manifest.
    ("service_is_missing", "    service: \"notes\",\n", ""),
    (
        "service_name",
        "service: \"notes\"",
        "service: \"My-Notes\"",
    ),
    ("title_is_a_number", "title: \"Notes\"", "title: 7"),
    ("unknown_key", "hosts: [", "host: ["),
    (
        "key_twice",
        "title: \"Notes\",",
        "title: \"Notes\",\n    auth: [],",
    ),
    (
        "hosts_as_text",
        "hosts: [\"api.example.com\"]",
        "hosts: \"api.example.com\"",
    ),
    ("capability", "[\"egress\"]", "[\"network\"]"),
    ("no_tools", "tools: [list_notes, delete_note]", "tools: []"),
    (
        "tool_that_is_not_there",
        "[list_notes, delete_note]",
        "[list_notes, remove_note]",
    ),
    (
        "tool_that_is_no_tool",
        "[list_notes, delete_note]",
        "[list_notes, Order]",
    ),
    ("missing_comma", "service: \"notes\",", "service: \"notes\""),
    ("value_of_rust", "title: \"Notes\"", "title: String::new()"),
    // Credentials.
    ("slot_type", "type: \"api_key\"", "type: \"apikey\""),
    ("slot_key", "title: \"API key\"", "name: \"API key\""),
    (
        "slot_without_audience",
        "        audience: [\"https://api.example.com\"],\n",
        "",
    ),
    (
        "placement",
        "placement: { header: \"x-api-key\" }",
        "placement: { cookie: \"key\" }",
    ),
    (
        "placement_key",
        "{ header: \"x-api-key\" }",
        "{ header: \"x-api-key\", prefix: \"Key \" }",
    ),
    (
        "slot_that_is_not_there",
        "auth = [\"user\"]",
        "auth = [\"admin\"]",
    ),
    (
        "hook_without_reader",
        "    tools: [",
        "    webhook: { signature: { header: \"x-sign\", signed: \"{body}\" } },\n    tools: [",
    ),
    // Tools.
    ("no_effect", "effect = \"read\", paginated", "paginated"),
    ("effect", "effect = \"read\"", "effect = \"reads\""),
    ("no_doc_comment", "/// Deletes one note for good.\n", ""),
    ("tool_word", "paginated, auth", "pages, auth"),
    (
        "tool_word_with_value",
        "paginated, auth",
        "paged = true, auth",
    ),
    (
        "example_as_text",
        "example = { \"id\": 7 }",
        "example = \"7\"",
    ),
    (
        "trigger_key",
        "paginated, auth",
        "paginated, trigger = { name: \"new_note\", title: \"New note\", description: \"A note was written.\", items: \"\", id: [\"/id\"], interval: 60 }, auth",
    ),
    (
        "trigger_pointer",
        "paginated, auth",
        "paginated, trigger = { name: \"new_note\", title: \"New note\", description: \"A note was written.\", items: \"notes\", id: [\"/id\"] }, auth",
    ),
    (
        "trigger_of_a_deletion",
        "example = { \"id\": 7 }",
        "trigger = { name: \"new_note\", title: \"New note\", description: \"A note was written.\", items: \"\", id: [\"/id\"] }, example = { \"id\": 7 }",
    ),
    ("async_tool", "fn delete_note", "async fn delete_note"),
    (
        "two_arguments",
        "args: DeleteNote, cx: &Context",
        "args: DeleteNote, more: DeleteNote, cx: &Context",
    ),
    (
        "tool_in_a_type",
        "(args: DeleteNote, cx",
        "(self, args: DeleteNote, cx",
    ),
    (
        "arguments_without_derive",
        "#[derive(Args)]\nstruct DeleteNote",
        "struct DeleteNote",
    ),
    (
        "answer_that_is_no_json",
        "fn delete_note(args: DeleteNote, cx: &Context) -> Result<Value, ToolError> {\n    cx.client(\"https://api.example.com/v1\").delete(path!(\"/notes/{}\", args.id)).fetch()\n}\n",
        "fn delete_note(args: DeleteNote, _cx: &Context) -> Result<Gone, ToolError> {\n    Ok(Gone(args.id))\n}\n\nstruct Gone(#[expect(dead_code)] u64);\n",
    ),
    (
        "answer_without_result",
        "-> Result<Value, ToolError> {\n    cx.client(\"https://api.example.com/v1\").delete",
        "-> Value {\n    cx.client(\"https://api.example.com/v1\").delete",
    ),
    // Arguments.
    ("arg_word", "min = 1, max = 100", "minimum = 1, max = 100"),
    ("bounds", "min = 1, max = 100", "min = 200, max = 100"),
    ("default_over_maximum", "default = 20", "default = 200"),
    ("default_of_wrong_type", "default = 20", "default = \"20\""),
    (
        "default_outside_enum",
        "default = \"newest\"",
        "default = \"latest\"",
    ),
    (
        "default_of_option",
        "    folder: Option<String>",
        "    #[arg(default = \"all\")]\n    folder: Option<String>",
    ),
    (
        "type_without_schema",
        "limit: u64",
        "limit: std::time::Duration",
    ),
    (
        "fields_without_names",
        "struct DeleteNote {\n    /// Number of the note.\n    #[arg(path, min = 1)]\n    id: u64,\n}",
        "struct DeleteNote(u64);",
    ),
    (
        "generic_arguments",
        "struct DeleteNote {",
        "struct DeleteNote<T> {",
    ),
    ("variant_with_data", "Oldest,", "Oldest(u64),"),
    // Requests.
    (
        "placeholder_is_missing",
        "\"/notes/{}\", args.id",
        "\"/notes\", args.id",
    ),
    (
        "value_is_missing",
        "\"/notes/{}\", args.id",
        "\"/notes/{}/{}\", args.id",
    ),
    (
        "path_without_root",
        "\"/notes/{}\", args.id",
        "\"notes/{}\", args.id",
    ),
    (
        "formatted_path",
        "path!(\"/notes/{}\", args.id)",
        "format!(\"/notes/{}\", args.id)",
    ),
];

/// One package with a program of each mistake.
fn package(folder: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sdk = root.join("sdk/plugins/rust").canonicalize().unwrap();
    let manifest = format!(
        "[workspace]\n[package]\nname = \"mistakes\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\n\
         toolgate-sdk = {{ path = {sdk:?} }}\n"
    );
    let programs = folder.join("src/bin");
    std::fs::create_dir_all(&programs).unwrap();
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    // The versions that the repository is built with, which are here.
    std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    std::fs::copy(
        root.join("rust-toolchain.toml"),
        folder.join("rust-toolchain.toml"),
    )
    .unwrap();
    std::fs::write(programs.join("good.rs"), GOOD).unwrap();
    let readme = std::fs::read_to_string(root.join("sdk/plugins/README.md")).unwrap();
    let (_, sample) = readme
        .split_once("```rust\n")
        .expect("the guide has a plugin");
    let (sample, _) = sample.split_once("```\n").expect("a block ends");
    std::fs::write(
        programs.join("readme.rs"),
        format!("{sample}\nfn main() {{\n    let _ = PLUGIN.manifest;\n}}\n"),
    )
    .unwrap();
    for (name, from, to) in MISTAKES {
        let found = GOOD.matches(from).count();
        assert_eq!(found, 1, "{name}: `{from}` is in the plugin {found} times");
        std::fs::write(
            programs.join(format!("{name}.rs")),
            GOOD.replacen(from, to, 1),
        )
        .unwrap();
    }
}

/// The errors of each target: line, message, what is written at the place, and notes. Each is listed once: how often the
/// compiler repeats an error depends on how it compiles, for example incrementally.
fn errors(messages: &str) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in messages.lines() {
        let message: Value = serde_json::from_str(line).expect("cargo prints JSON");
        let about = &message["message"];
        if message["reason"] != "compiler-message" || about["level"] != "error" {
            continue;
        }
        let spans = about["spans"].as_array().expect("spans");
        let Some(mut place) = spans.iter().find(|span| span["is_primary"] == true) else {
            continue;
        };
        // What a macro of the standard library says is said where the author wrote the outermost one.
        while let Some(outer) = place["expansion"].get("span") {
            place = outer;
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let file = text(&place["file_name"]);
        assert!(file.starts_with("src/bin/"), "{file}: {line}");
        let mut said = format!("line {}: {}", place["line_start"], text(&about["message"]));
        let label = text(&place["label"]);
        if !label.is_empty() && !said.contains(&label) {
            said.push_str(&format!(" [{label}]"));
        }
        let notes = about["children"].as_array().into_iter().flatten();
        for note in notes.filter(|note| note["spans"] == Value::Array(Vec::new())) {
            let note = text(&note["message"]);
            if note.contains("tool") {
                said.push_str(&format!("\n    {note}"));
            }
        }
        let target = text(&message["target"]["name"]);
        let errors = found.entry(target).or_default();
        if !errors.contains(&said) {
            errors.push(said);
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn every_mistake_in_a_plugin_in_rust_is_a_compile_error_at_its_line() {
    let folder = tempfile::tempdir().unwrap();
    package(folder.path());
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mistakes");
    let messages = said_by(
        Command::new("cargo")
            .args(["check", "--keep-going", "--bins", "--offline"])
            .args(["--message-format", "json"])
            .env("CARGO_TARGET_DIR", target)
            .current_dir(folder.path()),
    )
    .await;
    let found = errors(&messages);
    assert!(MISTAKES.len() >= 30);
    for right in ["good", "readme"] {
        assert_eq!(found.get(right), None, "{right} has no mistake");
    }
    let mut said = String::new();
    for (name, ..) in MISTAKES {
        let all = found.get(*name).unwrap_or_else(|| {
            panic!("{name} compiles, or cargo failed: {messages}");
        });
        said.push_str(&format!("{name}\n"));
        for one in all {
            said.push_str(&format!("  {one}\n"));
        }
    }
    insta::assert_snapshot!("rust", said);
}
