//! An index with the order of a list is not taken in place of one that selects its rows.
//!
//! Without statistics SQLite counts the columns that an index binds and values an order that needs no
//! sorting: of `WHERE workspace_id = ? AND user_id = ? ORDER BY created_at_ms`, an index of
//! `(workspace_id, created_at_ms)` wins against one of `(workspace_id, user_id)`, and all rows of the
//! workspace are read.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::{Row as _, SqlitePool};

use super::{plan, read_pool, source};
use crate::Store;

/// Parts of statements that bind fewer columns than they could, and why that is right.
const FEWER_BOUND: [(&str, &str); 3] = [
    (
        "FROM executions AS e JOIN execution_contexts",
        "one optional filter a column; one page searches 20,000 receipts at most (RECEIPTS_SEARCHED_MAX)",
    ),
    (
        "SELECT started_at_ms, id FROM executions",
        "only where no user is named; with one, another statement",
    ),
    (
        "FROM webhook_deliveries WHERE workspace_id = $1 AND webhook_id = $2 AND ($3 IS NULL OR state = $3)",
        "has no index of states: each attempt would write it; deliveries are deleted by their age",
    ),
];

/// The columns of each index of each table; partial ones serve only statements with their condition.
type TableIndexes = BTreeMap<String, Vec<Vec<String>>>;

async fn indexes(pool: &SqlitePool) -> TableIndexes {
    let found = sqlx::query(
        "SELECT t.name AS of_table, i.name AS of_index, c.name AS of_column FROM sqlite_schema AS t, \
         pragma_index_list(t.name) AS i, pragma_index_info(i.name) AS c \
         WHERE t.type = 'table' AND NOT i.partial ORDER BY t.name, i.name, c.seqno",
    );
    let mut columns: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for row in found.fetch_all(pool).await.unwrap() {
        let of_index = (row.get("of_table"), row.get("of_index"));
        columns
            .entry(of_index)
            .or_default()
            .push(row.get("of_column"));
    }
    let mut indexes = TableIndexes::new();
    for ((table, _), columns) in columns {
        indexes.entry(table).or_default().push(columns);
    }
    indexes
}

/// The statement and the queries within it, each without those within itself.
fn scopes(statement: &str) -> Vec<String> {
    let mut open = vec![(String::new(), true)];
    let mut done = Vec::new();
    for (at, letter) in statement.char_indices() {
        match letter {
            '(' => {
                let is_query = statement[at + 1..].trim_start().starts_with("SELECT");
                if !is_query {
                    open.last_mut().unwrap().0.push('(');
                }
                open.push((String::new(), is_query));
            }
            ')' if open.len() > 1 => {
                let (text, is_query) = open.pop().unwrap();
                if is_query {
                    open.last_mut().unwrap().0.push_str("query");
                    done.push(text);
                } else {
                    let outer = &mut open.last_mut().unwrap().0;
                    // A choice selects by no column, unless it is an optional filter.
                    let optional = text.starts_with('$');
                    outer.push_str(if text.contains(" OR ") && !optional {
                        "choice"
                    } else {
                        &text
                    });
                    outer.push(')');
                }
            }
            other => open.last_mut().unwrap().0.push(other),
        }
    }
    done.extend(open.pop().map(|(text, _)| text));
    done
}

/// Whether a condition is a choice as a whole, which selects by no column.
fn is_choice(condition: &str) -> bool {
    let mut depth = 0;
    condition.char_indices().any(|(at, letter)| {
        depth += match letter {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0 && condition[at..].starts_with(" OR ")
    })
}

/// The columns that a query compares with a given value.
fn compared(scope: &str) -> BTreeSet<String> {
    let (_, condition) = scope.split_once("WHERE").unwrap_or_default();
    let condition = condition.split(" ORDER BY ").next().unwrap_or_default();
    if is_choice(condition) {
        return BTreeSet::new();
    }
    let words: Vec<&str> = condition.split_whitespace().collect();
    let given = |word: &str| word.starts_with(['$', '\'']);
    let compared = words.windows(3).filter_map(|three| {
        let column = three[0].trim_start_matches('(').rsplit('.').next()?;
        let is_given = match three[1] {
            "=" => given(three[2]),
            "IN" => given(three[2].trim_start_matches('(')),
            _ => false,
        };
        is_given.then(|| column.to_owned())
    });
    compared.collect()
}

/// How many columns the best index of `table` could bind for a query.
fn best(scope: &str, of_table: &[Vec<String>]) -> usize {
    let compared = compared(scope);
    let bound = |index: &Vec<String>| {
        let bound = index.iter().take_while(|column| compared.contains(*column));
        bound.count()
    };
    of_table.iter().map(bound).max().unwrap_or_default()
}

/// The table that a step reads, and how many columns it binds to a value.
fn read_step<'a>(
    step: &'a str,
    statement: &str,
    indexes: &TableIndexes,
) -> Option<(String, usize)> {
    let mut words = step.split_whitespace();
    let name: &'a str = match words.next()? {
        "SCAN" | "SEARCH" => words.next()?,
        _ => return None,
    };
    let is_of = |table: &&String| {
        *table == name
            || [format!(" {table} AS {name} "), format!(" {table} {name} ")]
                .iter()
                .any(|named| statement.contains(named))
    };
    let table = indexes.keys().find(is_of)?.clone();
    Some((table, step.matches("=?").count()))
}

/// Tables of a statement that are read by an index which binds fewer columns than another one would.
async fn traps(pool: &SqlitePool, statement: &str, indexes: &TableIndexes) -> Option<Vec<String>> {
    let steps = plan(pool, statement).await?;
    let scopes = scopes(statement);
    let trap = |step: &String| {
        let (table, bound) = read_step(step, statement, indexes)?;
        let mentions = scopes.iter().filter(|scope| {
            let words = scope.split(|c: char| !c.is_alphanumeric() && c != '_');
            words.clone().any(|word| word == table)
        });
        let could = mentions.map(|scope| best(scope, &indexes[&table])).min();
        (could? > bound).then(|| format!("{step} ({} bound)", could.unwrap_or_default()))
    };
    Some(steps.iter().filter_map(trap).collect())
}

#[tokio::test]
async fn no_statement_reads_more_for_the_order_of_an_index() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    let pool = read_pool(&store);
    // What the test exists for is seen, in both shapes.
    let probe = [
        "CREATE TABLE probe (a TEXT, b TEXT, c TEXT)",
        "CREATE INDEX probe_newest ON probe (a, c)",
        "CREATE INDEX probe_of_b ON probe (a, b)",
    ];
    for statement in probe {
        sqlx::query(statement).execute(pool).await.unwrap();
    }
    let indexes = indexes(pool).await;
    for seen in [
        "SELECT a FROM probe WHERE a = $1 AND b = $2 ORDER BY c DESC",
        "SELECT a FROM probe WHERE a = $1 AND ($2 IS NULL OR b = $2)",
    ] {
        let traps = traps(pool, seen, &indexes).await.unwrap();
        assert_eq!(traps.len(), 1, "{seen}: {traps:?}");
    }
    let (mut judged, mut found) = (0, Vec::new());
    for statement in source::statements() {
        let right = FEWER_BOUND.iter().any(|(part, _)| statement.contains(part));
        let Some(traps) = traps(pool, &statement, &indexes).await else {
            continue;
        };
        judged += 1;
        if !right && !traps.is_empty() {
            found.push((statement, traps));
        }
    }
    assert!(judged > 200, "{judged} statements");
    assert!(found.is_empty(), "{found:#?}");
}
