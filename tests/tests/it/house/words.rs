//! The words that `docs/style.md` has left are not in the sources.

use super::{root, sources};

/// The first column of the table in `docs/style.md`.
fn words() -> Vec<String> {
    let style = std::fs::read_to_string(root().join("docs/style.md")).unwrap();
    let (_, table) = style
        .split_once("**Words that are not used**")
        .expect("the table of words");
    let rows = table.lines().take_while(|line| !line.starts_with("## "));
    rows.filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(word, _)| word.to_owned())
        .collect()
}

/// Whether a line has the word in any letter case, not as a part of another one.
fn has(line: &str, word: &str) -> bool {
    let line = &*line.to_ascii_lowercase();
    let is_inner = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(is_inner) && !after.is_some_and(is_inner)
    })
}

#[test]
fn no_source_uses_a_word_that_the_style_has_left() {
    let words = words();
    assert!(words.len() >= 4, "{words:?}");
    // The instructions of the model speak to a model.
    let allowed = ["gateway/src/sessions/messages/prompt.rs"];
    let mut found = Vec::new();
    for (name, text) in sources() {
        if allowed.contains(&name.as_str()) {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            if words.iter().any(|word| has(line, word)) {
                found.push(format!("{name}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    assert_eq!(found, [""; 0]);
}

#[test]
fn a_word_is_found_alone_and_not_as_a_part_of_another() {
    assert!(has("what became of it", "became of"));
    assert!(has("let trouble = 1;", "trouble"));
    assert!(has("/// Whoever asks.", "whoever"));
    assert!(!has("troubleshooting", "trouble"));
    assert!(!has("no_trouble", "trouble"));
}
