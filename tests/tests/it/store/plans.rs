//! Which index PostgreSQL uses for the lists of one user and of a workspace, by its own count of index scans, with the
//! statistics that autovacuum makes. `host/store/src/plans` does the same for SQLite.

use sqlx::{AssertSqlSafe, PgPool};
use toolgate_core::ids;
use toolgate_core::states::ApprovalStatus;
use toolgate_store::{ApprovalFilter, DatabaseKind, ExecutionFilter, Store};
use toolgate_tests::process::wait;

use super::{Empty, NOW_MS, workspace};

/// Enough that a list of everybody's rows is no longer the cheapest.
const OTHERS: i64 = 50_000;
/// Often enough for PostgreSQL to have made up its mind about a plan for any values.
const TIMES: usize = 8;
/// Rows that all lists of one kind may read together: one of them answers three, or a page of ten and one more.
const ROWS_READ_MAX: i64 = 200;

/// Of the services, one in 499 is `github`, and of the users one in 500 is the same: a user has a hundred connections, and
/// one or none to a service, except for `ada`.
const FILL: [&str; 6] = [
    "INSERT INTO connections (workspace_id, id, user_id, service, slot, auth_type, scopes, parameters, sealed, \
     generation, version, state, state_since_ms, refreshable, failures, created_at_ms, updated_at_ms) \
     SELECT $1, 'con_' || i, CASE WHEN i <= 3 THEN 'ada' ELSE 'user' || i % 500 END, \
     CASE WHEN i <= 3 OR i % 499 = 0 THEN 'github' ELSE 'service' || i % 499 END, 'token', 'oauth2', '[]', \
     '{}', 'box', 1, 1, 'active', 1, TRUE, 0, $2 + i, 1 FROM generate_series(1, $3) AS i",
    "INSERT INTO sessions (workspace_id, id, user_id, created_at_ms, last_active_at_ms) \
     SELECT $1, 'ses_' || i, CASE WHEN i <= 3 THEN 'ada' ELSE 'user' || i END, $2 + i, $2 + i \
     FROM generate_series(1, $3) AS i",
    "INSERT INTO approvals (workspace_id, id, user_id, tool_name, arguments_hash, requests, state, created_at_ms, \
     expires_at_ms) SELECT $1, 'apr_' || i, CASE WHEN i <= 3 THEN 'ada' ELSE 'user' || i END, 'github_one', \
     'hash' || i, '[]', CASE WHEN i <= 3 THEN 'pending' ELSE 'expired' END, $2 + i, $2 + i + 86400000 \
     FROM generate_series(1, $3) AS i",
    "INSERT INTO execution_contexts (workspace_id, id, day, tool_name, service, key_id, key_name, key_prefix, \
     plugin_version, plugin_sha256) SELECT $1, '\\x00'::bytea, $2 + $3, 'github_one', 'github', 'key_1', 'ci', 'ab', '1', 'aa'",
    "INSERT INTO executions (workspace_id, id, kind, context, user_id, status, started_at_ms, duration_ms, requests) \
     SELECT $1, substr('LEAST', 1, 14) || lpad(i::text, 16, '0'), 'tool', '\\x00'::bytea, \
     CASE WHEN i <= 3 THEN 'ada' ELSE 'user' || i END, 'success', $2 + i, 1, '[]' FROM generate_series(1, $3) AS i",
    "INSERT INTO triggers (workspace_id, id, user_id, service, event, config, interval_ms, state, failures, items_found, \
     pages_read, reads_all, next_poll_at_ms, created_at_ms, updated_at_ms) \
     SELECT $1, 'trg_' || i, CASE WHEN i <= 3 THEN 'ada' ELSE 'user' || i END, 'github', 'new_issue', 'box', 60000, \
     CASE WHEN i <= 3 THEN 'active' ELSE 'paused' END, 0, 0, 0, FALSE, $2, $2 + i, 1 FROM generate_series(1, $3) AS i",
];

/// What is asked, of which table, by which index, and how many rows it answers.
const LISTS: [(&str, &str, &str, usize); 15] = [
    ("execute", "connections", "connections_of_user_service", 3),
    ("search", "connections", "connections_of_user_newest", 3),
    (
        "page of a user",
        "connections",
        "connections_of_user_newest",
        3,
    ),
    (
        "page of a user's service",
        "connections",
        "connections_of_user_service",
        3,
    ),
    (
        "page of a service",
        "connections",
        "connections_of_service",
        10,
    ),
    ("page of all", "connections", "connections_newest", 10),
    ("sessions", "sessions", "sessions_of_user", 3),
    ("sessions of all", "sessions", "sessions_newest", 10),
    ("approvals", "approvals", "approvals_of_user", 3),
    ("waiting approvals", "approvals", "approvals_in_state", 3),
    ("approvals of all", "approvals", "approvals_newest", 10),
    ("receipts", "executions", "executions_of_user", 3),
    ("triggers", "triggers", "triggers_of_user", 3),
    ("triggers of all", "triggers", "triggers_newest", 10),
    ("triggers that are due", "triggers", "triggers_due", 3),
];

async fn ask(store: &Store, id: &str, operation: &str) -> usize {
    let (ada, github, now_ms) = (Some("ada"), Some("github"), NOW_MS + OTHERS);
    let of_user = ApprovalFilter {
        user_id: ada,
        ..ApprovalFilter::default()
    };
    let pending = ApprovalFilter {
        state: Some(ApprovalStatus::Pending),
        ..ApprovalFilter::default()
    };
    let calls = ExecutionFilter {
        user_id: ada,
        ..ExecutionFilter::default()
    };
    /// Rows of a page.
    macro_rules! page {
        ($asked:expr) => {
            $asked.await.map(|page| page.items.len())
        };
    }
    match operation {
        "execute" => (store.list_connections(id, ada, github).await).map(|rows| rows.len()),
        "search" => (store.list_connections(id, ada, None).await).map(|rows| rows.len()),
        "page of a user" => page!(store.page_connections(id, ada, None, None, 10)),
        "page of a user's service" => page!(store.page_connections(id, ada, github, None, 10)),
        "page of a service" => page!(store.page_connections(id, None, github, None, 10)),
        "page of all" => page!(store.page_connections(id, None, None, None, 10)),
        "sessions" => page!(store.list_sessions(id, ada, None, 10, now_ms)),
        "sessions of all" => page!(store.list_sessions(id, None, None, 10, now_ms)),
        "approvals" => page!(store.list_approvals(id, of_user, None, 10)),
        "waiting approvals" => page!(store.list_approvals(id, pending, None, 10)),
        "approvals of all" => page!(store.list_approvals(id, ApprovalFilter::default(), None, 10)),
        "receipts" => page!(store.list_executions(id, &calls, None, 10)),
        "triggers" => page!(store.list_triggers(id, ada, None, 10)),
        "triggers of all" => page!(store.list_triggers(id, None, None, 10)),
        "triggers that are due" => (store.due_triggers(now_ms, 10).await).map(|due| due.len()),
        other => panic!("{other}"),
    }
    .unwrap()
}

/// Scans of an index.
async fn scans(pool: &PgPool, index: &str) -> i64 {
    let asked =
        sqlx::query_scalar("SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = $1");
    asked.bind(index).fetch_one(pool).await.unwrap()
}

/// Rows that were read of a table, by index or as a whole.
async fn rows_read(pool: &PgPool, table: &str) -> i64 {
    let asked = sqlx::query_scalar(
        "SELECT seq_tup_read + COALESCE(idx_tup_fetch, 0) FROM pg_stat_user_tables WHERE relname = $1",
    );
    asked.bind(table).fetch_one(pool).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_list_reads_its_own_rows_by_its_own_index() {
    let Empty { store, url, .. } = super::on_postgres().await;
    assert_eq!(store.kind(), DatabaseKind::Postgres);
    let id = workspace(&store, "acme").await.id;
    store.close().await;
    let pool = PgPool::connect(&url).await.unwrap();
    for fill in FILL {
        let fill = fill.replace("LEAST", &ids::ulid_floor("exe", NOW_MS));
        let fill = sqlx::query(AssertSqlSafe(fill));
        let fill = fill.bind(&id).bind(NOW_MS).bind(OTHERS);
        fill.execute(&pool).await.unwrap();
    }
    sqlx::query("ANALYZE").execute(&pool).await.unwrap();
    for (operation, table, index, rows) in LISTS {
        let (scans_before, read_before) =
            (scans(&pool, index).await, rows_read(&pool, table).await);
        let store = Store::open(&url).await.unwrap();
        for _ in 0..TIMES {
            assert_eq!(ask(&store, &id, operation).await, rows, "{operation}");
        }
        // A server tells its counts when its connection ends.
        store.close().await;
        wait(
            &format!("{operation} to be counted by {index}"),
            async || scans(&pool, index).await >= scans_before + TIMES as i64,
        )
        .await;
        let read = rows_read(&pool, table).await - read_before;
        assert!(read <= ROWS_READ_MAX, "{operation} read {read} rows");
    }
}
