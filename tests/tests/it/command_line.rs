//! What the command line promises to programs: one JSON document, and no flag without effect.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use toolgate_tests::process::program;

/// A folder with a component that is none, and two descriptions of which one is none.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.wasm"), "no component").unwrap();
    for (name, text) in [
        ("good", std::fs::read_to_string(todoist()).unwrap()),
        ("bad", "openapi: 3.1.0\n".to_owned()),
    ] {
        let place = folder.path().join("described").join(name);
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("openapi.yaml"), text).unwrap();
    }
    folder
}

fn todoist() -> std::path::PathBuf {
    crate::described::plugin("todoist")
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program());
    command.args(arguments).current_dir(folder);
    command.output().unwrap()
}

/// The whole of standard output as one document.
fn document(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|cause| panic!("{cause}: {text}"))
}

#[test]
fn a_report_of_failures_is_the_only_document() {
    let folder = folder();
    for (arguments, found, said) in [
        (
            &["plugin", "check", "bad.wasm", "--json"][..],
            "/0/errors/0",
            "1 of 1 refused",
        ),
        (
            &["plugin", "test", "bad.wasm", "--json"],
            "/0/failures/0",
            "1 of 1 plugins failed",
        ),
        (
            &[
                "plugin",
                "build",
                "--all",
                "described",
                "--out",
                "built",
                "--json",
            ],
            "/0/service",
            "1 of 2 descriptions did not become a plugin",
        ),
    ] {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let report = document(&output);
        assert!(report.pointer(found).is_some(), "{arguments:?}: {report}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(said), "{arguments:?}: {told}");
    }
}

#[test]
fn a_failure_without_a_report_is_the_document() {
    let folder = folder();
    let output = run(folder.path(), &["plugin", "build", "none.yaml", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let told = document(&output);
    assert_eq!(told["success"], false, "{told}");
    assert!(told["error"]["message"].is_string(), "{told}");
}

#[test]
fn a_folder_for_all_plugins_is_refused_for_one() {
    let folder = folder();
    let one = "described/good/openapi.yaml";
    let output = run(folder.path(), &["plugin", "build", one, "--out", "built"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!folder.path().join("todoist.wasm").exists());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("--out"), "{told}");
}

/// `toolgate plugin list | head`: the reader has gone before the first word.
#[test]
fn a_closed_pipe_ends_no_command_with_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    assert!(run(folder.path(), &["migrate"]).status.success());
    for arguments in [
        &["openapi"][..],
        &["plugin", "list"],
        &["plugin", "list", "--json"],
        &["workspace", "create", "one"],
        &["workspace", "create", "one", "--json"],
        &["completions", "bash"],
        &["man"],
        &["--help"],
        &["config", "check"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        let (errors, errors_writer) = std::io::pipe().unwrap();
        drop((reader, errors));
        let mut command = Command::new(program());
        let ended = command
            .args(arguments)
            .current_dir(folder.path())
            .stdout(writer)
            .stderr(errors_writer)
            .status()
            .unwrap();
        // 101 is a panic. The second workspace of a name is refused.
        assert!(
            matches!(ended.code(), Some(0 | 1 | 3)),
            "{arguments:?}: {ended}"
        );
    }
}

#[test]
fn every_shell_gets_a_script_and_the_manual_names_every_command() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(folder.path(), &["completions", shell]);
        let script = String::from_utf8(script.stdout).unwrap();
        assert!(
            script.contains("doctor") && script.contains("tls-cert"),
            "{shell}"
        );
        // A case of the script for bash has values for the next word.
        assert!(!script.contains("--no-model)"), "{shell}");
    }
    let page = String::from_utf8(run(folder.path(), &["man"]).stdout).unwrap();
    for word in [
        "TOOLGATE SERVE",
        "TOOLGATE KEY CREATE",
        "TOOLGATE BACKUP",
        "TOOLGATE CONFIG CHECK",
        "tls\\-cert",
        "rpm",
    ] {
        assert!(page.contains(word), "{word}");
    }
    assert_eq!(
        page.matches("TOOLGATE_TLS_CERT").count(),
        1,
        "a setting is described once"
    );
    let unknown = run(folder.path(), &["completions", "none"]);
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
fn a_variable_that_says_false_wins_over_the_settings_file() {
    let folder = tempfile::tempdir().unwrap();
    // Refused where it holds, as nobody is trusted to send the header.
    let file = folder.path().join("toolgate.toml");
    std::fs::write(file, "proxy-protocol = true\n").unwrap();
    let holds = |variable: Option<&str>, flags: &[&str]| {
        let mut command = Command::new(program());
        command.args(["config", "check", "--json"]).args(flags);
        if let Some(value) = variable {
            command.env("TOOLGATE_PROXY_PROTOCOL", value);
        }
        let output = command.current_dir(folder.path()).output().unwrap();
        let settings = document(&output)["checks"][0].to_string();
        settings.contains("--trusted-proxy")
    };
    assert!(holds(None, &[]));
    assert!(holds(Some("true"), &[]));
    assert!(!holds(Some("false"), &[]));
    assert!(!holds(Some("0"), &[]));
    assert!(holds(Some("false"), &["--proxy-protocol"]));
    assert!(!holds(Some("true"), &["--proxy-protocol=false"]));
}

/// A person in another folder would use keys and settings that no gateway knows.
#[test]
fn no_command_makes_a_second_installation_in_a_wrong_folder() {
    for arguments in [
        &["key", "create", "--name", "agent"][..],
        &["key", "list"],
        &["plugin", "list"],
        &["plugin", "approve", "github"],
        &["workspace", "list"],
        &["member", "list"],
        &["service", "list"],
        &["client", "list"],
        &["origin", "list"],
        &["toolset", "list"],
        &["receipts", "export"],
        &["vault", "rotate"],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {output:?}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            told.contains("no installation in ./data"),
            "{arguments:?}: {told}"
        );
        assert!(told.contains("--data-dir"), "{arguments:?}: {told}");
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert!(left.is_empty(), "{arguments:?}: {left:?}");
    }
}

#[test]
fn a_workspace_changes_its_plan_and_its_own_rate() {
    let folder = tempfile::tempdir().unwrap();
    let set = |arguments: &[&str]| {
        let all = [&["workspace", "set", "acme", "--json"], arguments].concat();
        run(folder.path(), &all)
    };
    assert!(run(folder.path(), &["migrate"]).status.success());
    assert_eq!(
        set(&["--plan", "pro"]).status.code(),
        Some(3),
        "no such workspace"
    );
    assert!(
        run(folder.path(), &["workspace", "create", "acme"])
            .status
            .success()
    );
    let changed = document(&set(&["--plan", "pro", "--rpm", "250"]));
    assert_eq!(
        (&changed["plan"], &changed["rpm"]),
        (&"pro".into(), &250.into())
    );
    let changed = document(&set(&["--plan", "free"]));
    assert_eq!(
        (&changed["plan"], &changed["rpm"]),
        (&"free".into(), &250.into())
    );
    let changed = document(&set(&["--rpm", "plan"]));
    assert_eq!(
        (&changed["plan"], &changed["rpm"]),
        (&"free".into(), &Value::Null)
    );
    for refused in [
        &[][..],
        &["--rpm", "0"],
        &["--rpm", "-1"],
        &["--plan", "gold"],
    ] {
        assert_eq!(set(refused).status.code(), Some(2), "{refused:?}");
    }
}
