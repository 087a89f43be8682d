//! What the documents name is there.

use super::{crates, root, rust_files};

/// A newcomer reads the files in the order in which the page names them.
#[test]
fn the_reading_list_names_ten_files_that_are_there() {
    let root = root();
    let page = std::fs::read_to_string(root.join("docs/reading.md")).unwrap();
    let row = |line: &str| -> Option<(usize, String)> {
        let (number, rest) = line.split_once(". [`")?;
        let (path, _) = rest.split_once('`')?;
        Some((number.parse().ok()?, path.to_owned()))
    };
    let rows: Vec<_> = page.lines().filter_map(row).collect();
    let numbers: Vec<usize> = rows.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (1..=10).collect::<Vec<_>>(), "{rows:?}");
    for (_, path) in &rows {
        assert!(root.join(path).is_file(), "docs/reading.md: {path}");
        assert!(
            page.contains(&format!("[`{path}`](../{path})")),
            "docs/reading.md links to another file than {path}"
        );
    }
}

/// A path that a document names is read as one below the repository or below `host`.
#[test]
fn paths_that_the_documents_name_are_there() {
    let root = root();
    let mut missing = Vec::new();
    let mut documents: Vec<String> = [
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "README.md",
        "host/README.md",
        "docs/threat-model.md",
        "docs/egress-guarantees.md",
        "docs/reading.md",
    ]
    .map(str::to_owned)
    .into();
    if let Ok(decisions) = std::fs::read_dir(root.join("docs/decisions")) {
        let names = decisions.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        documents.extend(names.map(|name| format!("docs/decisions/{name}")));
    }
    for document in documents {
        let text = std::fs::read_to_string(root.join(&document)).unwrap();
        let quoted = text.split('`').skip(1).step_by(2);
        for path in quoted.filter(|quoted| is_source(quoted)) {
            let below = [root.join(path), root.join("host").join(path)];
            let tested = root.join("tests/tests/it").join(path);
            let hostile = root.join("tests/tests/it/hostile").join(path);
            if !below
                .iter()
                .chain([&tested, &hostile])
                .any(|path| path.exists())
            {
                missing.push(format!("{document}: {path}"));
            }
        }
    }
    assert_eq!(missing, [""; 0]);
}

/// `make docs` opens the page of `toolgate` first.
#[test]
fn the_front_page_of_the_documentation_names_every_crate() {
    let page = std::fs::read_to_string(root().join("host/toolgate/src/lib.rs")).unwrap();
    let named = |name: &String| {
        let target = format!(": ../toolgate_{}/index.html", name.replace('-', "_"));
        page.contains(&format!("- [`{name}`]:")) && page.contains(&format!("[`{name}`]{target}"))
    };
    let crates = crates();
    let others = crates.keys().filter(|name| *name != "toolgate");
    let missing: Vec<&String> = others.filter(|name| !named(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Each attack names the source file that stops it.
#[test]
fn defences_that_the_attacks_name_are_there() {
    let root = root();
    let mut wrong = Vec::new();
    for path in rust_files(vec![root.join("tests/tests/it/hostile")]) {
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|line| line.contains("/// Defence:")) {
            let words = line.split(['`', ' ']);
            for named in words.filter(|word| is_source(word)) {
                if !root.join(named).exists() {
                    wrong.push(format!("{}: {named}", path.display()));
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

fn is_source(quoted: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    quoted.ends_with(".rs") && !quoted.contains("NAME") && quoted.chars().all(plain)
}
