//! Which index PostgreSQL uses for what is asked about one user among many, by its own count of index scans,
//! with the statistics that autovacuum makes. `host/store/src/plans` does the same for SQLite.

use sqlx::{PgPool, Row as _};
use toolgate_core::states::ApprovalStatus;
use toolgate_store::{ApprovalFilter, DatabaseKind, Store};
use toolgate_tests::process::wait;

use super::{Empty, NOW_MS, workspace};

/// Enough that a list of everybody's rows is no longer the cheapest.
const OTHERS: i64 = 50_000;
/// Often enough for PostgreSQL to have made up its mind about a plan for any values.
const TIMES: usize = 8;
/// Rows that all lists of a user may read together: the user has three in each table.
const ROWS_READ_MAX: i64 = 100;

const FILL: [&str; 3] = [
    "INSERT INTO connections (workspace_id, id, user_id, service, slot, auth_type, scopes, parameters, sealed, \
     generation, version, state, state_since_ms, refreshable, failures, created_at_ms, updated_at_ms) \
     SELECT $1, 'con_' || i, CASE WHEN i <= 3 THEN 'ada' ELSE 'user' || i END, 'github', 'token', 'oauth2', '[]', \
     '{}', 'box', 1, 1, 'active', 1, TRUE, 0, $2 + i, 1 FROM generate_series(1, $3) AS i",
    "INSERT INTO sessions (workspace_id, id, user_id, created_at_ms, last_active_at_ms) \
     SELECT $1, 'ses_' || i, CASE WHEN i <= 3 THEN 'ada' ELSE 'user' || i END, $2 + i, $2 + i \
     FROM generate_series(1, $3) AS i",
    "INSERT INTO approvals (workspace_id, id, user_id, tool_name, arguments_hash, requests, state, created_at_ms, \
     expires_at_ms) SELECT $1, 'apr_' || i, CASE WHEN i <= 3 THEN 'ada' ELSE 'user' || i END, 'github_one', \
     'hash' || i, '[]', CASE WHEN i <= 3 THEN 'pending' ELSE 'expired' END, $2 + i, $2 + i + 86400000 \
     FROM generate_series(1, $3) AS i",
];

async fn ask(store: &Store, id: &str, operation: &str) -> usize {
    let (ada, now_ms) = (Some("ada"), NOW_MS + OTHERS);
    let of_user = ApprovalFilter {
        user_id: ada,
        ..ApprovalFilter::default()
    };
    let pending = ApprovalFilter {
        state: Some(ApprovalStatus::Pending),
        ..ApprovalFilter::default()
    };
    match operation {
        "execute" => store
            .list_connections(id, ada, Some("github"))
            .await
            .map(|rows| rows.len()),
        "search" => store
            .list_connections(id, ada, None)
            .await
            .map(|rows| rows.len()),
        "page" => store
            .page_connections(id, ada, None, None, 10)
            .await
            .map(|page| page.items.len()),
        "page of a service" => store
            .page_connections(id, ada, Some("github"), None, 10)
            .await
            .map(|page| page.items.len()),
        "sessions" => store
            .list_sessions(id, ada, None, 10, now_ms)
            .await
            .map(|page| page.items.len()),
        "approvals" => store
            .list_approvals(id, of_user, None, 10)
            .await
            .map(|page| page.items.len()),
        "waiting approvals" => store
            .list_approvals(id, pending, None, 10)
            .await
            .map(|page| page.items.len()),
        other => panic!("{other}"),
    }
    .unwrap()
}

/// Scans of an index, and rows that were read of its table, by index or as a whole.
async fn counts(pool: &PgPool, table: &str, index: &str) -> (i64, i64) {
    let row = sqlx::query(
        "SELECT (SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = $2) AS scans, \
         seq_tup_read + COALESCE(idx_tup_fetch, 0) AS rows_read FROM pg_stat_user_tables WHERE relname = $1",
    );
    let row = row.bind(table).bind(index).fetch_one(pool).await.unwrap();
    (row.get("scans"), row.get("rows_read"))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_about_one_user_reads_the_rows_of_that_user() {
    let Empty { store, url, .. } = super::on_postgres().await;
    assert_eq!(store.kind(), DatabaseKind::Postgres);
    let id = workspace(&store, "acme").await.id;
    store.close().await;
    let pool = PgPool::connect(&url).await.unwrap();
    for fill in FILL {
        let fill = sqlx::query(fill).bind(&id).bind(NOW_MS).bind(OTHERS);
        fill.execute(&pool).await.unwrap();
    }
    sqlx::query("ANALYZE").execute(&pool).await.unwrap();
    for (operation, table, indexes) in [
        (
            "execute",
            "connections",
            &[
                "connections_of_user_service",
                "connections_of_user",
                "connections_of_user_newest",
            ][..],
        ),
        (
            "search",
            "connections",
            &[
                "connections_of_user_newest",
                "connections_of_user_service",
                "connections_of_user",
            ],
        ),
        (
            "page",
            "connections",
            &[
                "connections_of_user_newest",
                "connections_of_user_service",
                "connections_of_user",
            ],
        ),
        (
            "page of a service",
            "connections",
            &[
                "connections_of_user_service",
                "connections_of_user",
                "connections_of_user_newest",
            ],
        ),
        ("sessions", "sessions", &["sessions_of_user"]),
        ("approvals", "approvals", &["approvals_of_user"]),
        ("waiting approvals", "approvals", &["approvals_in_state"]),
    ] {
        let scans = async || {
            let mut scans = 0;
            for index in indexes {
                scans += counts(&pool, table, index).await.0;
            }
            scans
        };
        let before = scans().await;
        let (_, read_before) = counts(&pool, table, indexes[0]).await;
        let store = Store::open(&url).await.unwrap();
        for _ in 0..TIMES {
            assert_eq!(ask(&store, &id, operation).await, 3, "{operation}");
        }
        // A server tells its counts when its connection ends.
        store.close().await;
        wait(
            &format!("{operation} to be counted by {indexes:?}"),
            async || scans().await >= before + TIMES as i64,
        )
        .await;
        let (_, read) = counts(&pool, table, indexes[0]).await;
        let read = read - read_before;
        assert!(read <= ROWS_READ_MAX, "{operation} read {read} rows");
    }
}
