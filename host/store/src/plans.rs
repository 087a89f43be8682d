//! How SQLite finds rows: what a statement names by its id or by a hash by an index of that column, and
//! what it selects by several values by the index that has most of them, however many rows the table or
//! the workspace has.
//!
//! The statements are read from the source of this crate, so one that is added is judged too. Plans are
//! those of a database with rows and without statistics, as in production: nothing runs ANALYZE.

mod audit;
mod filled;
mod selective;
mod source;

use std::collections::BTreeSet;

use sqlx::{AssertSqlSafe, Row as _, SqlitePool};

use super::{Db, Store};

/// The beginnings of statements that name an id and are found otherwise.
const FOUND_OTHERWISE: [&str; 3] = [
    // A person names a key by its id, its prefix or its name, among the keys of the workspace.
    "WHERE workspace_id = $1 AND (id = $2 OR prefix = $2 OR name = $2)",
    // A message is looked for in its session.
    "UPDATE session_messages SET details = $4 WHERE workspace_id = $1 AND session_id = $2",
    // A Skill has one proposal at most.
    "DELETE FROM skill_proposals WHERE workspace_id = $1 AND skill_id = $2 AND id = $3",
];

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

fn read_pool(store: &Store) -> &SqlitePool {
    match &store.db {
        Db::Sqlite { read, .. } => read,
        Db::Postgres(_) => panic!("{store:?}"),
    }
}

#[tokio::test]
async fn a_row_that_is_named_by_its_id_or_by_a_hash_is_found_by_it() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    let mut all = source::statements();
    // One that reads the whole table is seen.
    let scan = "SELECT 1 FROM approvals WHERE arguments_hash = $1";
    all.push(scan.to_owned());
    let (mut judged, mut slow) = (0, Vec::new());
    for statement in all {
        let columns = named_columns(&statement);
        let exempt = |part: &&str| statement.contains(*part);
        if columns.is_empty() || FOUND_OTHERWISE.iter().any(exempt) {
            continue;
        }
        if let Some(steps) = plan(read_pool(&store), &statement).await {
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
