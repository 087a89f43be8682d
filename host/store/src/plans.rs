//! How SQLite finds a row that a statement names by its id or by a hash: by an index of that column, however
//! many rows the table or the workspace has.
//!
//! The statements are read from the source of this crate, so one that is added is judged too. No rows are
//! needed, since SQLite plans without statistics.

use std::collections::BTreeSet;
use std::path::Path;

use sqlx::{AssertSqlSafe, Row as _, SqlitePool};

use super::{Db, Store};

/// The beginnings of statements that name an id and are found otherwise.
const FOUND_OTHERWISE: [&str; 2] = [
    // A person names a key by its id, its prefix or its name, among the keys of the workspace.
    "SELECT 1 FROM api_keys WHERE workspace_id = $1 AND (id = $2 OR prefix = $2 OR name = $2)",
    // A message is looked for in its session.
    "UPDATE session_messages SET details = $4 WHERE workspace_id = $1 AND session_id = $2",
];

/// The text of the literal whose quotation mark has just been read, and the code behind it.
fn literal(code: &str) -> (String, &str) {
    let mut text = String::new();
    let mut left = code.chars();
    while let Some(next) = left.next() {
        match next {
            '"' => break,
            '\\' => match left.next() {
                Some('\n') => left = left.as_str().trim_start().chars(),
                Some(escaped) => text.push(escaped),
                None => break,
            },
            plain => text.push(plain),
        }
    }
    (text, left.as_str())
}

/// The table of a `select!` whose condition follows.
fn selected_table(before: &str) -> Option<&str> {
    let (head, table) = before.trim_end().strip_suffix(',')?.rsplit_once('(')?;
    head.ends_with("select!").then(|| table.trim())
}

/// The literals of a source file that begin as a statement; some are only a part of one.
fn statements(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n");
    let (mut rest, mut found) = (code.as_str(), Vec::new());
    while let Some((before, after)) = rest.split_once('"') {
        let (text, behind) = literal(after);
        let text = match selected_table(before) {
            Some(table) => format!("SELECT 1 FROM {table} {text}"),
            None => text,
        };
        let first = text.split_whitespace().next().unwrap_or_default();
        if ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].contains(&first) {
            found.push(text);
        }
        rest = behind;
    }
    found
}

fn all_statements(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all_statements(&path, found);
        } else if !path.ends_with("plans.rs") {
            found.extend(statements(&std::fs::read_to_string(&path).unwrap()));
        }
    }
}

/// The columns by whose value a statement names its row: `id`, `hash` and those that end in `_hash`.
fn named_columns(statement: &str) -> BTreeSet<String> {
    let (_, condition) = statement.split_once("WHERE").unwrap_or_default();
    let condition = condition.replace(['(', ')'], " ");
    let words: Vec<&str> = condition.split_whitespace().collect();
    let named = words.windows(3).filter_map(|three| {
        let column = three[0].rsplit('.').next()?;
        let names = column == "id" || column == "hash" || column.ends_with("_hash");
        let equals = three[1] == "=" && three[2].starts_with('$');
        (names && equals).then(|| column.to_owned())
    });
    named.collect()
}

/// The steps by which SQLite would run a statement; `None` for what is no statement to it.
async fn plan(pool: &SqlitePool, statement: &str) -> Option<Vec<String>> {
    let explain = format!("EXPLAIN QUERY PLAN {statement}");
    let steps = sqlx::query(AssertSqlSafe(explain)).fetch_all(pool).await;
    let steps = steps.ok()?;
    Some(steps.iter().map(|step| step.get("detail")).collect())
}

/// Whether a step asks an index for a value of one of the columns.
fn is_found_by(step: &str, columns: &BTreeSet<String>) -> bool {
    let (_, bounds) = step.split_once('(').unwrap_or_default();
    let bounds = bounds.split(')').next().unwrap_or_default();
    bounds
        .split(" AND ")
        .filter_map(|bound| bound.strip_suffix("=?"))
        .any(|column| columns.contains(column))
}

#[tokio::test]
async fn a_row_that_is_named_by_its_id_or_by_a_hash_is_found_by_it() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    let Db::Sqlite { read, .. } = &store.db else {
        panic!("{store:?}");
    };
    let mut all = Vec::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    all_statements(&source, &mut all);
    // One that reads the whole table is seen.
    let scan = "SELECT 1 FROM approvals WHERE arguments_hash = $1";
    all.push(scan.to_owned());
    let (mut judged, mut slow) = (0, Vec::new());
    for statement in all {
        let columns = named_columns(&statement);
        let exempt = |start: &&str| statement.starts_with(*start);
        if columns.is_empty() || FOUND_OTHERWISE.iter().any(exempt) {
            continue;
        }
        if let Some(steps) = plan(read, &statement).await {
            judged += 1;
            if !steps.iter().any(|step| is_found_by(step, &columns)) {
                slow.push((statement, steps));
            }
        }
    }
    assert!(judged > 80, "{judged} statements");
    let (seen, slow): (Vec<_>, Vec<_>) = slow.into_iter().partition(|(text, _)| text == scan);
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(slow.is_empty(), "{slow:#?}");
}
