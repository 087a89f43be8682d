//! The arrows of ARCHITECTURE.md, held by looking at the source.

use std::path::{Path, PathBuf};

/// Every Rust file below `host/src`, with its path from there.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/src");
    let mut folders: Vec<PathBuf> = vec![root.clone()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let name = path.strip_prefix(&root).unwrap().display().to_string();
                found.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(found.len() > 100, "the source is where it should be");
    found
}

/// Files outside `allowed` that say one of `words` in code.
fn breaches(words: &[&str], allowed: impl Fn(&str) -> bool) -> Vec<String> {
    let mut breaches = Vec::new();
    for (name, text) in sources().into_iter().filter(|(name, _)| !allowed(name)) {
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        for line in code.filter(|line| words.iter().any(|word| line.contains(word))) {
            breaches.push(format!("{name}: {}", line.trim()));
        }
    }
    breaches
}

fn edge(name: &str) -> bool {
    [
        "rest/",
        "mcp/",
        "connect/",
        "internal/",
        "inbound/",
        "lanes",
        "cli/",
    ]
    .iter()
    .any(|edge| name.starts_with(edge))
}

#[test]
fn only_the_store_contains_sql() {
    let none: Vec<String> = Vec::new();
    assert_eq!(
        breaches(&["sqlx::query", "sqlx::Query"], |name| name
            .starts_with("store/")),
        none
    );
}

/// What is printed past it could move a terminal's cursor or hide from its reader.
#[test]
fn the_command_line_prints_through_one_place() {
    let none: Vec<String> = Vec::new();
    // The document of the interface, and a progress bar of numbers.
    let own = ["cli/output.rs", "cli/openapi.rs", "cli/model.rs"];
    assert_eq!(
        breaches(&["println!(", "print!("], |name| own.contains(&name)),
        none
    );
}

#[test]
fn nothing_below_the_edges_knows_http_frameworks_or_json_rpc() {
    let none: Vec<String> = Vec::new();
    // The trial replays answers over real HTTP, and so do the tests of the way out.
    let serves = |name: &str| name.starts_with("trial/") || name.contains("/tests/");
    assert_eq!(
        breaches(&["axum::", "rmcp::"], |name| edge(name) || serves(name)),
        none
    );
}

#[test]
fn arrows_do_not_point_back_up() {
    let none: Vec<String> = Vec::new();
    let low = [
        "catalog/", "runtime/", "egress/", "oauth/", "vault/", "store/",
    ];
    let above = [
        "crate::gateway",
        "crate::rest",
        "crate::mcp",
        "crate::cli::",
        "crate::cli;",
        "crate::connect",
        "crate::internal",
        "crate::inbound",
        "crate::lanes",
    ];
    assert_eq!(
        breaches(&above, |name| !low
            .iter()
            .any(|module| name.starts_with(module))),
        none
    );
    let from_gateway = [
        "crate::rest",
        "crate::mcp",
        "crate::cli::",
        "crate::cli;",
        "crate::connect",
        "crate::internal",
        "crate::inbound",
        "crate::lanes",
    ];
    assert_eq!(
        breaches(&from_gateway, |name| !name.starts_with("gateway/")),
        none
    );
}

#[test]
fn unsafe_code_stands_where_memory_is_mapped() {
    let none: Vec<String> = Vec::new();
    assert_eq!(
        breaches(&["unsafe {", "unsafe fn"], |name| {
            let mapped = [
                "memory.rs",
                "runtime/cache.rs",
                "runtime/cache/text.rs",
                "runtime/compile.rs",
                "store/stamp.rs",
            ];
            mapped.contains(&name)
        }),
        none
    );
}
