//! The table of limits says what the program does.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The value of a constant as its source says it: a number, a product, a shift or a duration in milliseconds.
fn value(expression: &str) -> Option<u128> {
    let text = expression.trim();
    for (call, factor) in [
        ("Duration::from_secs(", 1_000),
        ("Duration::from_millis(", 1),
    ] {
        if let Some(inner) = text
            .strip_prefix(call)
            .and_then(|rest| rest.strip_suffix(')'))
        {
            return Some(value(inner)? * factor);
        }
    }
    if let Some((left, right)) = text.split_once('*') {
        return Some(value(left)? * value(right)?);
    }
    if let Some((left, right)) = text.split_once("<<") {
        return Some(value(left)? << u32::try_from(value(right)?).ok()?);
    }
    text.replace('_', "").parse().ok()
}

/// Rows of the table: the number, and the constant with its file.
fn rows(document: &str) -> Vec<(u128, String, String)> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, _, value, _, _, constant, _] = cells[..] else {
            return None;
        };
        let number = value.split(' ').next()?.replace(',', "").parse().ok()?;
        let (name, file) = constant.split_once(" in ")?;
        Some((
            number,
            name.trim_matches('`').to_owned(),
            file.trim_matches('`').to_owned(),
        ))
    };
    document.lines().filter_map(row).collect()
}

/// What the source says of each row of the document: one sentence for each that differs.
fn differences(document: &str) -> Vec<String> {
    let rows = rows(document);
    let differs = rows.iter().filter_map(|(number, name, file)| {
        let source = std::fs::read_to_string(root().join(file)).unwrap_or_default();
        let said = source
            .split_once(&format!("const {name}: "))
            .and_then(|(_, rest)| {
                let (_, expression) = rest.split_once(" = ")?;
                value(expression.split_once(';')?.0)
            });
        (said != Some(*number)).then(|| format!("{file}: {name} is {said:?}, not {number}"))
    });
    differs.collect()
}

#[test]
fn each_row_has_the_value_of_the_constant_that_it_names() {
    let document = std::fs::read_to_string(root().join("docs/limits.md")).unwrap();
    let table = document
        .lines()
        .filter(|line| line.starts_with("| "))
        .count();
    let read = rows(&document).len();
    assert!(read > 50, "{read} rows");
    assert_eq!(read + 1, table, "every row but the head is read");
    assert_eq!(differences(&document), Vec::<String>::new());
    // A row that is wrong is found.
    let wrong = document.replacen("1,048,576 bytes", "1,048,577 bytes", 1);
    assert_eq!(differences(&wrong).len(), 1);
}
