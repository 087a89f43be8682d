//! What ARCHITECTURE.md claims of the crates, held by looking at their manifests and sources.

mod claims;
mod documents;
mod guests;
mod lengths;
mod names;
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Which crate of the host may use which others of it, outside of tests.
const ARROWS: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("vault", &["core"]),
    ("catalog", &["core"]),
    ("search", &["core", "catalog"]),
    ("egress", &["core", "catalog", "vault"]),
    ("oauth", &["core", "catalog", "egress", "vault"]),
    ("model", &["core", "egress", "vault"]),
    ("runtime", &["core", "catalog", "egress", "vault"]),
    ("store", &["core", "vault"]),
    ("openapi", &["core", "catalog", "runtime"]),
    (
        "mcp-upstream",
        &["core", "catalog", "egress", "openapi", "runtime", "vault"],
    ),
    (
        "plugin-test",
        &["core", "catalog", "egress", "openapi", "runtime", "vault"],
    ),
    ("operation", &["core", "catalog", "egress", "store"]),
    (
        "identity",
        &[
            "core",
            "catalog",
            "egress",
            "oauth",
            "operation",
            "store",
            "vault",
        ],
    ),
    (
        "gateway",
        &[
            "core",
            "catalog",
            "egress",
            "identity",
            "mcp-upstream",
            "model",
            "oauth",
            "operation",
            "runtime",
            "search",
            "store",
            "vault",
        ],
    ),
    ("guide", &[]),
    ("http-kit", &["core", "gateway"]),
    (
        "http",
        &[
            "core", "catalog", "gateway", "guide", "http-kit", "openapi", "runtime", "store",
            "vault",
        ],
    ),
    ("mcp", &["core", "egress", "gateway", "http-kit", "vault"]),
];

/// Libraries that one crate of the host owns.
const OWNED: &[(&str, &str)] = &[
    ("sqlx", "store"),
    ("wasmtime", "runtime"),
    ("wasmtime-wasi", "runtime"),
    ("wasmtime-wasi-http", "runtime"),
    ("wasmtime-wizer", "runtime"),
    ("rmcp", "mcp"),
    ("oauth2", "oauth"),
    ("safetensors", "search"),
    ("tokenizers", "search"),
    ("clap", "toolgate"),
    ("opentelemetry", "toolgate"),
    ("opentelemetry_sdk", "toolgate"),
    ("opentelemetry-otlp", "toolgate"),
    ("pulldown-cmark", "guide"),
];

/// The crates of the workspace, as `cargo metadata` describes them.
pub(crate) fn packages() -> Vec<Value> {
    let asked = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(asked.status.success(), "cargo metadata");
    let metadata: Value = serde_json::from_slice(&asked.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// The crates in `host`, its guests left out, by the name of their folder, with what each depends on outside of tests.
fn crates() -> BTreeMap<String, Vec<String>> {
    let host = root().join("host").canonicalize().unwrap();
    let mut crates = BTreeMap::new();
    for package in packages() {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        let folder = manifest.parent().unwrap();
        if folder.parent() != Some(host.as_path()) {
            continue;
        }
        let normal = |one: &&Value| one["kind"].is_null();
        let depends = package["dependencies"].as_array().unwrap().iter();
        let depends = depends.filter(normal).map(|one| one["name"].as_str());
        let depends = depends.map(|name| name.unwrap().to_owned()).collect();
        let name = folder.strip_prefix(&host).unwrap().display().to_string();
        crates.insert(name, depends);
    }
    crates
}

#[test]
fn arrows_between_crates_point_one_way() {
    let crates = crates();
    for (name, allowed) in ARROWS {
        for dependency in &crates[*name] {
            let Some(ours) = dependency.strip_prefix("toolgate-") else {
                assert_ne!(dependency, "toolgate", "{name}");
                continue;
            };
            let of_host = crates.contains_key(ours);
            assert!(!of_host || allowed.contains(&ours), "{name} uses {ours}");
        }
    }
    let named: Vec<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    let beyond: Vec<_> = crates
        .keys()
        .filter(|name| !named.contains(&name.as_str()))
        .collect();
    assert_eq!(beyond, ["toolgate"]);
}

#[test]
fn a_library_of_one_crate_is_used_by_no_other() {
    for (name, dependencies) in crates() {
        for (library, owner) in OWNED {
            let uses = dependencies.iter().any(|one| one == library);
            assert!(!uses || name == *owner, "{name} uses {library}");
        }
        let edge = ["http-kit", "http", "mcp", "plugin-test", "toolgate"].contains(&name.as_str());
        for framework in ["axum", "utoipa-axum", "tower"] {
            let uses = dependencies.iter().any(|one| one == framework);
            assert!(!uses || edge, "{name} uses {framework}");
        }
    }
}

/// Every Rust file below `host`, with its path from there.
fn sources() -> Vec<(String, String)> {
    let host = root().join("host");
    let crates = crates();
    let folders = crates.keys().map(|name| host.join(name).join("src"));
    let read = |path: PathBuf| {
        let name = path.strip_prefix(&host).unwrap().display().to_string();
        (name, std::fs::read_to_string(&path).unwrap())
    };
    let found: Vec<_> = rust_files(folders.collect())
        .into_iter()
        .map(read)
        .collect();
    assert!(found.len() > 100, "the source is where it should be");
    found
}

fn rust_files(mut folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                found.push(path);
            }
        }
    }
    found
}

/// `test = false` in a manifest saves building an empty test program. A test that is added to such a target
/// later would never run.
#[test]
fn targets_without_tests_have_none() {
    let mut seen = 0;
    for package in packages() {
        for target in package["targets"].as_array().unwrap() {
            let kinds = target["kind"].as_array().unwrap();
            let is = |kind: &str| kinds.iter().any(|one| one == kind);
            let program = is("bin");
            if target["test"] == true || !(program || is("lib") || is("cdylib")) {
                continue;
            }
            seen += 1;
            let file = PathBuf::from(target["src_path"].as_str().unwrap());
            let files = if program {
                vec![file]
            } else {
                rust_files(vec![file.parent().unwrap().to_owned()])
            };
            for file in files {
                let text = std::fs::read_to_string(&file).unwrap();
                let found = find_test(&text, program);
                assert_eq!(found, None, "{} is not tested", file.display());
            }
        }
    }
    assert!(seen > 0);
}

#[test]
fn a_test_of_a_target_without_tests_is_found() {
    for line in ["#[test]", "    #[tokio::test(flavor = 1)]", "#[cfg(test)]"] {
        assert_eq!(
            find_test(&format!("fn a() {{}}\n{line}\n"), false),
            Some(line)
        );
    }
    assert_eq!(find_test("mod a;", true), Some("mod a;"));
    assert_eq!(find_test("mod a;\n// #[test]", false), None);
}

/// The first line that begins a test. A program is searched in its main file only, so there `mod` counts too.
fn find_test(text: &str, program: bool) -> Option<&str> {
    let begins = |line: &&str| {
        let line = line.trim_start();
        let marks = ["#[test]", "#[tokio::test", "#[cfg(test)]"];
        marks.iter().any(|mark| line.starts_with(mark)) || (program && line.starts_with("mod "))
    };
    text.lines().find(begins)
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

/// What is printed past it could move a terminal's cursor or hide from its reader.
#[test]
fn the_command_line_prints_through_one_place() {
    let none: Vec<String> = Vec::new();
    // These panic where the reader has closed the pipe.
    assert_eq!(breaches(&["println!(", "print!("], |_| false), none);
}

/// The workspace denies it; these say where it is allowed.
#[test]
fn unsafe_code_stands_where_memory_is_mapped() {
    let none: Vec<String> = Vec::new();
    let mapped = [
        "runtime/src/cache.rs",
        "runtime/src/cache/text.rs",
        "runtime/src/compile.rs",
        "store/src/shared_version.rs",
    ];
    assert_eq!(
        breaches(&["unsafe {", "unsafe fn", "unsafe impl"], |name| {
            mapped.contains(&name)
        }),
        none
    );
}

/// Who a caller is, identity alone says: an edge that made one by itself could let in anyone.
#[test]
fn a_principal_is_made_where_a_credential_is_checked() {
    let made = [
        "identity/src/apps/enter.rs",
        "identity/src/authenticate.rs",
        "identity/src/members/enter.rs",
        "identity/src/renew.rs",
        "operation/src/caller.rs",
    ];
    let none: Vec<String> = Vec::new();
    assert_eq!(
        breaches(&["Principal {"], |name| made.contains(&name)),
        none
    );
    let seen = breaches(&["Principal {"], |_| false);
    assert!(seen.len() >= made.len(), "{seen:?}");
}

/// The gateway reads what other processes have set before an operation begins.
#[test]
fn edges_authenticate_through_the_gateway() {
    let none: Vec<String> = Vec::new();
    let past = breaches(&["identity().authenticate"], |_| false);
    assert_eq!(past, none);
}
