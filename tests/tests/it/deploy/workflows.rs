//! The workflows run the scripts that a checkout has. `tests/gates.sh` lints them with actionlint.

use std::path::Path;

use super::folder;

fn workflow(name: &str) -> String {
    let path = folder().join("../.github/workflows").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Commands of a workflow that begin with a file of this repository, or with `make`.
fn called(text: &str) -> Vec<String> {
    let starts = [".ci/", "deploy/", "tests/", "make "];
    let words = text.lines().filter_map(|line| {
        let line = line.trim().trim_start_matches("run: ");
        starts.iter().any(|start| line.starts_with(start)).then(|| {
            let words: Vec<&str> = line.split_whitespace().take(2).collect();
            match words[0] {
                "make" => words.join(" "),
                script => script.to_owned(),
            }
        })
    });
    words.collect()
}

#[test]
fn the_workflows_call_scripts_and_verbs_that_are_there() {
    let top = folder().join("..");
    let makefile = std::fs::read_to_string(top.join("Makefile")).unwrap();
    let mut all = Vec::new();
    for name in ["ci.yml", "release.yml"] {
        for call in called(&workflow(name)) {
            let there = match call.strip_prefix("make ") {
                Some(verb) => makefile
                    .lines()
                    .any(|line| line.starts_with(&format!("{verb}:"))),
                None => is_program(&top.join(&call)),
            };
            assert!(there, "{name}: {call}");
            all.push(call);
        }
    }
    for needed in [
        ".ci/run",
        "make package",
        "make image",
        "deploy/sdk.sh",
        "deploy/collect.sh",
    ] {
        assert!(all.iter().any(|call| call == needed), "{needed}: {all:?}");
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata()
        .is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[test]
fn a_workflow_has_no_right_but_to_read_unless_a_job_says_so() {
    for name in ["ci.yml", "release.yml"] {
        let text = workflow(name);
        assert!(
            text.contains("\npermissions:\n  contents: read\n"),
            "{name}"
        );
    }
    let release = workflow("release.yml");
    let (before, publish) = release.split_once("\n  publish:\n").unwrap();
    assert!(!before.contains("write") && publish.contains("contents: write"));
    assert!(
        !before.contains("secrets."),
        "no job that builds is given a secret"
    );
}
