//! The contract grows by functions and comments alone: every version of it is compiled into plugins.

use std::path::Path;

/// The versions that plugins may have been built for, oldest first.
const VERSIONS: [&str; 2] = ["0.1.0", "0.1.1"];

fn text(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../wit")
        .join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()))
}

fn frozen(version: &str) -> String {
    text(&format!("frozen/toolgate-{version}.wit"))
}

/// The lines of a contract, each after the names of its enclosing blocks. Comments and the package line are left out.
fn lines(contract: &str) -> Vec<String> {
    let mut blocks: Vec<&str> = Vec::new();
    let mut all = Vec::new();
    for line in contract.lines().map(str::trim) {
        if line.is_empty() || line.starts_with("//") || line.starts_with("package ") {
            continue;
        }
        all.push(format!("{} {line}", blocks.join(" ")));
        if line.ends_with('{') {
            blocks.push(line);
        } else if line.starts_with('}') {
            blocks.pop();
        }
    }
    assert!(blocks.is_empty(), "a block is not closed: {blocks:?}");
    all
}

/// Why a plugin that was built for `older` may not run where `newer` is.
fn incompatible(older: &str, newer: &str) -> Option<String> {
    let older = lines(older);
    let mut expected = older.iter().peekable();
    for line in lines(newer) {
        if expected.peek() == Some(&&line) {
            expected.next();
        } else if !line.contains(": func(") {
            return Some(format!("`{line}` is new and no function"));
        }
    }
    expected.next().map(|line| format!("`{line}` is gone"))
}

#[test]
fn the_contract_is_the_newest_frozen_version() {
    let newest = VERSIONS[VERSIONS.len() - 1];
    let now = text("toolgate.wit");
    assert!(
        lines(&now) == lines(&frozen(newest)),
        "wit/toolgate.wit differs from wit/frozen/toolgate-{newest}.wit: plugins are compiled against it, \
         so that a new function is a new version 0.1.N with a frozen copy, and a changed type is 0.2"
    );
    let versions = VERSIONS.map(|version| (version, frozen(version)));
    for (version, contract) in versions.into_iter().chain([(newest, now)]) {
        let package = format!("package toolgate:plugin@{version};");
        assert!(contract.contains(&package), "{version}");
        let mut resolve = wit_parser::Resolve::default();
        resolve.push_str(version, &contract).expect("it parses");
    }
}

#[test]
fn each_version_adds_functions_and_changes_nothing() {
    for pair in VERSIONS.windows(2) {
        let problem = incompatible(&frozen(pair[0]), &frozen(pair[1]));
        assert_eq!(problem, None, "{pair:?}");
    }
}

#[test]
fn whatever_is_no_new_function_is_noticed() {
    let now = text("toolgate.wit");
    for (from, to) in [
        ("rate-limited,", "rate-limited, teapot,"),
        ("rate-limited,", "rate-limited,\n        teapot,"),
        ("rate-limited,", ""),
        ("size: func() -> u64;", "size: func() -> u32;"),
        ("size: func() -> u64;", ""),
        (
            "timeout-ms: option<u32>,",
            "timeout-ms: option<u32>,\n        retries: u32,",
        ),
        ("interface kv {", "interface state {"),
        ("import kv;", ""),
    ] {
        let changed = now.replacen(from, to, 1);
        assert_ne!(changed, now, "{from}");
        assert!(incompatible(&now, &changed).is_some(), "{from} -> {to}");
    }
    let grown = now.replacen(
        "size: func() -> u64;",
        "size: func() -> u64;\n        hash: func() -> string;",
        1,
    );
    assert_ne!(grown, now);
    assert_eq!(incompatible(&now, &grown), None);
}
