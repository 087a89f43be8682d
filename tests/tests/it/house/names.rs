//! The names of items in the sources.

use std::collections::BTreeMap;

use super::sources;

/// A name that stood for two things would be read twice at each place.
#[test]
fn a_type_name_stands_for_one_thing() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in sources() {
        for line in text.lines() {
            let inner = line.trim_start();
            // An indented `type` is one of a trait.
            let kinds = match line == inner {
                true => &["struct ", "enum ", "trait ", "type "][..],
                false => &["struct ", "enum ", "trait "],
            };
            let seen = ["pub ", "pub(crate) ", "pub(super) "];
            let seen = seen.iter().find_map(|word| inner.strip_prefix(word));
            let inner = seen.unwrap_or(inner);
            if let Some(rest) = kinds.iter().find_map(|kind| inner.strip_prefix(kind)) {
                let end = rest
                    .find(|c: char| !c.is_alphanumeric())
                    .unwrap_or(rest.len());
                let name = rest[..end].to_owned();
                places.entry(name).or_default().push(path.clone());
            }
        }
    }
    assert!(places.len() > 500, "{} types", places.len());
    let twice: Vec<_> = places.iter().filter(|(_, at)| at.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:#?}");
}

/// Words that only this code used for what the field names otherwise: a worker, an engine pool, a detached task, a
/// shared version, the plugin admin, a dispatcher, a change feed, a plugin test, a connection manager.
#[test]
fn no_item_is_named_by_a_word_of_our_own() {
    let ours = [
        "lane", "lanes", "outlive", "outlives", "shelf", "courier", "pulse", "trial", "keeper",
    ];
    let kinds = [
        "fn ", "struct ", "enum ", "trait ", "type ", "mod ", "const ", "static ",
    ];
    let mut named = Vec::new();
    for (path, text) in sources() {
        for line in text.lines().map(str::trim_start) {
            let start = kinds.iter().find_map(|kind| {
                let at = line.find(kind)?;
                let first = at == 0 || line[..at].ends_with(' ');
                (first && !line.starts_with("//")).then_some(at + kind.len())
            });
            let Some(rest) = start.map(|start| &line[start..]) else {
                continue;
            };
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            let name = &rest[..end.unwrap_or(rest.len())];
            if snake_words(name)
                .iter()
                .any(|word| ours.contains(&word.as_str()))
            {
                named.push(format!("{path}: {name}"));
            }
        }
    }
    assert_eq!(named, [""; 0]);
}

/// The words of `SomeName`, `some_name` or `SOME_NAME`, in lower case.
fn snake_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '_';
    for c in name.chars() {
        let begins = c == '_' || (c.is_uppercase() && !before.is_uppercase());
        if begins {
            words.push(String::new());
        }
        if c != '_' {
            words.last_mut().unwrap().extend(c.to_lowercase());
        }
        before = c;
    }
    words
}
