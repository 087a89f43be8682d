//! What the pages promise is shown by tests: `docs/claims.md` has a row for each sentence, and each row names tests that
//! are there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::root;

/// A sentence with one of these promises something of every case.
const WORDS: &[&str] = &["no", "never", "only", "every"];

const PAGES: &[&str] = &[
    "README.md",
    "SECURITY.md",
    "docs/threat-model.md",
    "docs/egress-guarantees.md",
];

/// How a paragraph begins that says what is not promised.
const LIMITS: &[&str] = &["Not claimed.", "Limits:"];

/// Paragraphs, entries of lists and cells of tables, without the first cell of each row, which names an attack.
fn blocks(page: &str) -> Vec<String> {
    let mut blocks = vec![String::new()];
    let mut code = false;
    for line in page.lines().map(str::trim) {
        if line.starts_with("```") {
            code = !code;
        }
        if code || line.starts_with("```") || line.starts_with('#') || line.is_empty() {
            blocks.push(String::new());
            continue;
        }
        if let Some(row) = line.strip_prefix('|') {
            let cells = row.trim_end_matches('|').split('|').skip(1);
            blocks.extend(cells.map(|cell| cell.trim().to_owned()));
            blocks.push(String::new());
            continue;
        }
        let number = line.find(". ").filter(|at| {
            let before = &line.as_bytes()[..*at];
            !before.is_empty() && before.iter().all(u8::is_ascii_digit)
        });
        let entry = match number {
            Some(at) => Some(&line[at + 2..]),
            None => line.strip_prefix("- "),
        };
        if entry.is_some() {
            blocks.push(String::new());
        }
        let block = blocks.last_mut().expect("there is always one");
        if !block.is_empty() {
            block.push(' ');
        }
        block.push_str(entry.unwrap_or(line));
    }
    blocks.retain(|block| !block.is_empty());
    blocks
}

/// Without marks of strong text, and links as their text.
fn plain(block: &str) -> String {
    let mut out = String::new();
    let mut rest = block;
    while let Some((before, link)) = rest.split_once('[') {
        out.push_str(before);
        let parts = link.split_once("](").and_then(|(text, after)| {
            let (_, after) = after.split_once(')')?;
            Some((text, after))
        });
        match parts {
            Some((text, after)) if !text.contains(']') => {
                out.push_str(text);
                rest = after;
            }
            _ => {
                out.push('[');
                rest = link;
            }
        }
    }
    out.push_str(rest);
    let out = out.replace("**", "");
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn has_word(sentence: &str) -> bool {
    let words = sentence.split(|c: char| !c.is_alphanumeric() && c != '_');
    words
        .map(str::to_ascii_lowercase)
        .any(|word| WORDS.contains(&&*word))
}

/// The sentences of a page that promise something of every case. A single word in a cell is none.
fn promises(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for block in blocks(page).iter().map(|block| plain(block)) {
        if LIMITS.iter().any(|limit| block.starts_with(limit)) {
            continue;
        }
        let mut rest = &*block;
        let mut at = 0;
        while let Some(end) = rest[at..].find(". ").map(|found| at + found + 1) {
            at = end;
            let next = rest[end + 1..].chars().next();
            if next.is_some_and(|c| c.is_ascii_uppercase() || "`\"".contains(c)) {
                found.push(rest[..end].to_owned());
                rest = &rest[end + 1..];
                at = 0;
            }
        }
        found.push(rest.to_owned());
    }
    found.retain(|sentence| sentence.contains(' ') && has_word(sentence));
    found
}

/// Page, sentence and tests of each row.
fn rows(claims: &str) -> Vec<(String, String, Vec<String>)> {
    let mut page = String::new();
    let mut rows = Vec::new();
    for line in claims.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            heading.clone_into(&mut page);
        }
        let cells: Vec<&str> = line.split(" | ").collect();
        let [sentence, tests] = cells[..] else {
            continue;
        };
        let sentence = sentence.trim_start_matches("| ");
        if sentence == "sentence" {
            continue;
        }
        let tests = tests.split('`').skip(1).step_by(2).map(str::to_owned);
        rows.push((page.clone(), sentence.to_owned(), tests.collect()));
    }
    rows
}

/// The files in which a test may be: a crate and a module of the end-to-end tests may have one name.
fn files_of(path: &[&str]) -> Vec<PathBuf> {
    let below = |folder: PathBuf, modules: &[&str]| match modules {
        [] => folder.join("lib.rs"),
        _ => folder.join(modules.join("/")).with_extension("rs"),
    };
    let mut files = vec![below(root().join("tests/tests/it"), path)];
    if let Some((first, modules)) = path.split_first() {
        files.push(below(root().join("host").join(first).join("src"), modules));
    }
    files
}

/// Whether a source has a test of this name.
fn has_test(source: &str, name: &str) -> bool {
    let begins = format!("fn {name}(");
    source.match_indices(&begins).any(|(at, _)| {
        let before = source[..at]
            .rsplit_once('\n')
            .map_or("", |(lines, _)| lines);
        let above = before.lines().rev().map(str::trim);
        let mut marks = above.take_while(|line| line.starts_with("#["));
        marks.any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
    })
}

fn is_there(test: &str) -> bool {
    let path: Vec<&str> = test.split("::").collect();
    let Some((name, modules)) = path.split_last().filter(|(_, rest)| !rest.is_empty()) else {
        return false;
    };
    let sources = files_of(modules).into_iter();
    let mut sources = sources.filter_map(|file| std::fs::read_to_string(file).ok());
    sources.any(|source| has_test(&source, name))
}

/// What does not fit between pages and rows, a sentence each.
fn differences(pages: &[(&str, String)], claims: &str) -> Vec<String> {
    let rows = rows(claims);
    let mut wrong = Vec::new();
    let mut said: BTreeSet<(String, String)> = BTreeSet::new();
    for (name, text) in pages {
        for sentence in promises(text) {
            said.insert(((*name).to_owned(), sentence));
        }
    }
    for (page, sentence) in &said {
        if !rows.iter().any(|row| row.0 == *page && row.1 == *sentence) {
            wrong.push(format!("{page} has a sentence without a row: {sentence}"));
        }
    }
    for (page, sentence, tests) in &rows {
        if !said.contains(&(page.clone(), sentence.clone())) {
            wrong.push(format!("{page} does not say: {sentence}"));
        }
        if tests.is_empty() {
            wrong.push(format!("no test is named: {sentence}"));
        }
        for test in tests.iter().filter(|test| !is_there(test)) {
            wrong.push(format!("{test} is not there: {sentence}"));
        }
    }
    wrong
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

#[test]
fn every_promise_names_tests_that_are_there() {
    let pages: Vec<(&str, String)> = PAGES.iter().map(|name| (*name, read(name))).collect();
    let claims = read("docs/claims.md");
    assert!(rows(&claims).len() > 60, "{}", rows(&claims).len());
    assert_eq!(differences(&pages, &claims), [""; 0]);
}

#[test]
fn a_promise_without_a_test_and_a_test_that_is_not_there_are_found() {
    let page = "# A page\n\nIt is fast. **It never\nforgets** a [key](keys.md). Most are small.\n\n\
        | attack | defence |\n|---|---|\n| no key | only `a` opens |\n\n- Not claimed. Only this.\n";
    assert_eq!(
        promises(page),
        ["It never forgets a key.", "only `a` opens"]
    );
    let pages = [("README.md", page.to_owned())];
    let here = "house::claims::a_promise_without_a_test_and_a_test_that_is_not_there_are_found";
    let row = |sentence: &str, test: &str| format!("| {sentence} | `{test}` |\n");
    let good = format!(
        "## README.md\n\n{}{}",
        row("It never forgets a key.", here),
        row("only `a` opens", "core::ids::an_id_that_is_not_there")
    );
    assert_eq!(
        differences(&pages, &good),
        ["core::ids::an_id_that_is_not_there is not there: only `a` opens"]
    );
    let stale = good.replace("never forgets", "seldom forgets");
    let found = differences(&pages, &stale);
    assert!(found[0].contains("without a row"), "{found:?}");
    assert!(found[1].contains("does not say"), "{found:?}");
    // A function that is no test shows nothing.
    assert!(!is_there("house::claims::promises"));
    assert!(is_there(here));
}

/// The third cell of each row of a table of attacks.
fn tests_of_attacks(page: &str) -> Vec<(String, String)> {
    let mut attacks = false;
    let mut found = Vec::new();
    for line in page.lines() {
        if line == "| attack | what stops it | test |" {
            attacks = true;
        } else if !line.starts_with('|') {
            attacks = false;
        } else if attacks && !line.starts_with("|---") {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            let (first, last) = (cells[0], cells[cells.len() - 1]);
            found.push((first.to_owned(), last.to_owned()));
        }
    }
    found
}

/// A file of tests below one of the folders from which the page counts.
fn file_of_tests(named: &str) -> Option<String> {
    let below = ["tests/tests/it/hostile", "tests/tests/it", "host", ""];
    let mut files = below.iter().map(|folder| root().join(folder).join(named));
    files.find_map(|file| std::fs::read_to_string(file).ok())
}

#[test]
fn every_row_of_the_threat_model_names_a_test_that_is_there() {
    let rows = tests_of_attacks(&read("docs/threat-model.md"));
    assert!(rows.len() > 70, "{}", rows.len());
    let mut wrong = Vec::new();
    for (attack, tests) in rows {
        let named: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        let is_code = |name: &&&str| Path::new(name).extension().is_some_and(|kind| kind == "rs");
        for file in named.iter().filter(is_code) {
            // Some are called by the tests of the module around them, for each database.
            let tested = file_of_tests(file).is_some_and(|text| text.contains("assert"));
            if !tested {
                wrong.push(format!("{attack}: {file} has no test"));
            }
        }
        if named.is_empty() && !tests.contains("unit tests of both files") {
            wrong.push(format!("{attack}: {tests}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// The page lists them for authors of plugins.
#[test]
fn the_headers_that_every_plugin_may_set_are_those_of_the_page() {
    let source = read("host/catalog/src/wire.rs");
    let (_, list) = source
        .split_once("const REQUEST_HEADERS: &[&str] = &[")
        .unwrap();
    let (list, _) = list.split_once("];").unwrap();
    let code: BTreeSet<&str> = list.split('"').skip(1).step_by(2).collect();
    let page = read("docs/egress-guarantees.md");
    let (_, sentence) = page.split_once("Every plugin may set ").unwrap();
    let (sentence, _) = sentence.split_once('.').unwrap();
    let said: BTreeSet<&str> = sentence.split('`').skip(1).step_by(2).collect();
    assert_eq!(said, code);
}
