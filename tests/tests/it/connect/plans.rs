//! How SQLite finds the rows of a call and of lists: by an index, never by reading a table that grows.
//!
//! The statements are those that the program logs, so one that is added is judged too. The database holds
//! many connections of other users, and no statistics, as in production.

use std::collections::BTreeSet;

use serde_json::Value;
use sqlx::{AssertSqlSafe, Row as _};
use tempfile::TempDir;
use toolgate_tests::process::{Installation, Process, wait};
use toolgate_tests::provider::Provider;

use super::TOOL;
use super::processes::installation;
use super::real::{configure, connect, run};

/// Tables with a row for a user, a call or an event.
const GROWING: [&str; 23] = [
    "api_keys",
    "app_grants",
    "app_tokens",
    "approvals",
    "audit_log",
    "connect_flows",
    "connections",
    "execution_payloads",
    "executions",
    "hook_deliveries",
    "idempotency",
    "knowledge_documents",
    "logged_events",
    "rate_counts",
    "results",
    "session_kv",
    "session_kv_of_connections",
    "session_messages",
    "session_turns",
    "sessions",
    "sign_in_attempts",
    "webhook_deliveries",
    "webhook_events",
];

const LISTS: [&str; 10] = [
    "/v1/connections",
    "/v1/connections?user_id=ada",
    "/v1/connections?service=github",
    "/v1/connections?user_id=ada&service=github",
    "/v1/events?start=oldest",
    "/v1/events?start=oldest&user_id=ada",
    "/v1/executions",
    "/v1/executions?user_id=ada",
    "/v1/sessions?user_id=ada",
    "/v1/sessions",
];

/// The indexes by which a call and a user's list find connections: all others have those of other users too.
const OF_A_USER: [&str; 3] = [
    "connections_of_user_newest",
    "connections_of_user_service",
    "sqlite_autoindex_connections_1",
];
/// A statement that ends each list of calls: the log is written in order, a little later.
const LAST: &str = "WHERE e.workspace_id = $1 AND e.id = $2";
const OTHERS: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) \
    INSERT INTO connections (workspace_id, id, user_id, service, slot, auth_type, scopes, parameters, sealed, generation, \
    version, state, state_since_ms, refreshable, failures, created_at_ms, updated_at_ms) \
    SELECT workspaces.id, 'con_other_' || i, 'user_' || i, 'github', 'token', 'oauth2', '[]', '{}', 'box', 1, 1, \
    'reauth_needed', 1, FALSE, 0, i, i FROM n, workspaces";

/// Statements that a log of JSON lines names, each once.
fn statements(log: &str) -> BTreeSet<String> {
    let lines = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines
        .filter_map(|line| {
            let fields = &line["fields"];
            let whole = fields["db.statement"].as_str().unwrap_or_default().trim();
            let statement = match whole {
                "" => fields["summary"].as_str()?,
                whole => whole,
            };
            let first = statement.split_whitespace().next()?;
            ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"]
                .contains(&first)
                .then(|| statement.to_owned())
        })
        .collect()
}

/// The steps of a plan that touch a growing table: the table, how it is read, and what bounds it.
#[derive(Debug)]
struct Step {
    table: String,
    index: String,
    whole_table: bool,
    /// The columns that the index is asked with.
    bound_by: String,
}

fn growing(word: &str) -> bool {
    GROWING.contains(&word)
}

async fn sqlite_steps(pool: &sqlx::SqlitePool, statement: &str) -> Vec<Step> {
    let explain = format!("EXPLAIN QUERY PLAN {statement}");
    let rows = sqlx::query(AssertSqlSafe(explain)).fetch_all(pool).await;
    let rows = rows.unwrap_or_else(|cause| panic!("{statement}: {cause}"));
    let lines = rows.iter().map(|row| row.get::<String, _>("detail"));
    lines
        .filter_map(|line| {
            let (verb, rest) = line.split_once(' ')?;
            let table = rest.split_whitespace().next()?;
            let index = rest.split_once(" INDEX ").map_or("", |(_, by)| by);
            (["SCAN", "SEARCH"].contains(&verb) && growing(table)).then(|| Step {
                table: table.to_owned(),
                index: index.split(' ').next().unwrap_or_default().to_owned(),
                whole_table: verb == "SCAN",
                bound_by: rest
                    .split_once('(')
                    .map_or_else(String::new, |(_, by)| by.to_owned()),
            })
        })
        .collect()
}

/// What calls and lists of a connected user ask the database.
async fn asked(installation: &mut Installation, provider: &Provider) -> [BTreeSet<String>; 2] {
    installation.environment = vec![
        ("TOOLGATE_LOG".to_owned(), "sqlx::query=debug".to_owned()),
        ("TOOLGATE_LOG_FORMAT".to_owned(), "json".to_owned()),
    ];
    let process = installation.serve(&[TOOL]).await;
    configure(installation).await;
    connect(&process, provider, "ada").await;
    assert_eq!(run(&process, "ada").await["status"], "success");
    let calls = new_statements(installation, &process, async || {
        for _ in 0..3 {
            assert_eq!(run(&process, "ada").await["status"], "success");
        }
    });
    let calls = calls.await;
    let lists = new_statements(installation, &process, async || read(&process).await).await;
    process.kill().await;
    [calls, lists]
}

async fn read(process: &Process) {
    for path in LISTS {
        let answer = process.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    }
}

async fn new_statements(
    installation: &Installation,
    process: &Process,
    act: impl AsyncFnOnce(),
) -> BTreeSet<String> {
    let before = installation.log().len();
    act().await;
    let last = process.get("/v1/executions/exe_unknown").await;
    assert_eq!(last.status, 404, "{}", last.text);
    wait("the log to be written", async || {
        installation.log()[before..].contains(LAST)
    })
    .await;
    statements(&installation.log()[before..])
}

fn judge(statement: &str, steps: &[Step], is_call: bool) {
    for step in steps {
        assert!(!step.whole_table, "{statement}: {steps:?}");
        // Of a call, all rows of its workspace are too many.
        let bounds = step.bound_by.matches(['=', '<', '>']).count();
        assert!(
            !is_call || bounds > 1 || !step.bound_by.contains("workspace_id"),
            "{statement}: {steps:?}"
        );
        let of_a_user = statement.contains("user_id = $") || is_call;
        assert!(
            step.table != "connections" || !of_a_user || OF_A_USER.contains(&step.index.as_str()),
            "{statement}: {steps:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_and_lists_find_their_rows_by_an_index_on_sqlite() {
    let (provider, folder) = (Provider::start().await, TempDir::new().unwrap());
    let mut installation = installation(folder.path(), &provider);
    let asked = asked(&mut installation, &provider).await;
    let database = folder.path().join("data/toolgate.db");
    let url = format!("sqlite://{}", database.display());
    let pool = sqlx::SqlitePool::connect(&url).await.unwrap();
    sqlx::query(OTHERS).execute(&pool).await.unwrap();
    let mut judged = 0;
    for (statements, is_call) in asked.iter().zip([true, false]) {
        for statement in statements {
            let steps = sqlite_steps(&pool, statement).await;
            judge(statement, &steps, is_call);
            judged += steps.len();
        }
    }
    assert!(judged > 5, "{asked:?}");
    // What the test exists for is seen.
    let scan = "SELECT * FROM connections WHERE workspace_id = $1 AND ($2 IS NULL OR user_id = $2)";
    let steps = sqlite_steps(&pool, scan).await;
    assert!(!steps.is_empty());
    assert!(std::panic::catch_unwind(|| judge(scan, &steps, true)).is_err());
    // Two bounds are not enough: this index has all connections of the service.
    let scan = "SELECT * FROM connections INDEXED BY connections_of_service \
         WHERE workspace_id = $1 AND user_id = $2 AND service = $3";
    let steps = sqlite_steps(&pool, scan).await;
    assert!(std::panic::catch_unwind(|| judge(scan, &steps, true)).is_err());
    let scan = "SELECT * FROM connections WHERE account = $1";
    let steps = sqlite_steps(&pool, scan).await;
    assert!(std::panic::catch_unwind(|| judge(scan, &steps, false)).is_err());
}
