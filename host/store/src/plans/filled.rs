//! What an operation about one user costs where the workspace has many others: counted in instructions of
//! SQLite's virtual machine, which a loaded machine does not change.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sqlx::{AssertSqlSafe, SqlitePool};
use toolgate_core::ids;
use toolgate_core::states::ApprovalStatus;

use super::{plan, read_pool};
use crate::{ApprovalFilter, ExecutionFilter, Plan, Store};

const NOW_MS: i64 = 1_800_000_000_000;
/// Rows of other users in each table.
const OTHERS: usize = 100_000;
/// Hundredths of what the same costs without them.
const AT_MOST: u64 = 120;

const FILL: [&str; 5] = [
    "INSERT INTO connections (workspace_id, id, user_id, service, slot, auth_type, scopes, parameters, sealed, \
     generation, version, state, state_since_ms, refreshable, failures, created_at_ms, updated_at_ms) \
     SELECT WORKSPACE, 'con_' || i, 'USER' || i, 'github', 'token', 'oauth2', '[]', '{}', 'box', 1, 1, 'active', \
     1, TRUE, 0, BASE + i, 1 FROM n",
    "INSERT INTO sessions (workspace_id, id, user_id, created_at_ms, last_active_at_ms) \
     SELECT WORKSPACE, 'ses_' || i, 'USER' || i, BASE + i, BASE + i FROM n",
    "INSERT INTO approvals (workspace_id, id, user_id, tool_name, arguments_hash, requests, state, created_at_ms, \
     expires_at_ms) SELECT WORKSPACE, 'apr_' || i, 'USER' || i, 'github_one', 'hash' || i, '[]', 'STATE', BASE + i, \
     BASE + i + 86400000 FROM n",
    "INSERT OR IGNORE INTO execution_contexts (workspace_id, id, day, tool_name, service, key_id, key_name, key_prefix, \
     plugin_version, plugin_sha256) VALUES (WORKSPACE, x'00', 1, 'github_one', 'github', 'key_1', 'ci', 'ab', '1', 'aa')",
    "INSERT INTO executions (workspace_id, id, kind, context, user_id, status, started_at_ms, duration_ms, requests) \
     SELECT WORKSPACE, substr('LEAST', 1, 14) || printf('%016d', FIRST + i), 'tool', x'00', 'USER' || i, 'success', \
     BASE + i, 1, '[]' FROM n",
];

/// Adds rows of users whose name begins with `user`, numbered from `first`.
async fn fill(
    pool: &SqlitePool,
    workspace_id: &str,
    user: &str,
    state: &str,
    first: usize,
    rows: usize,
) {
    for statement in FILL {
        let statement = statement
            .replace("WORKSPACE", &format!("'{workspace_id}'"))
            .replace("'USER' || i", user)
            .replace("STATE", state)
            .replace("LEAST", &ids::ulid_floor("exe", NOW_MS))
            .replace("FIRST + i", "i")
            .replace("BASE", &NOW_MS.to_string());
        let numbers = format!(
            "WITH RECURSIVE n (i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < {}) {statement}",
            first + rows - 1
        );
        let filled = sqlx::query(AssertSqlSafe(numbers)).execute(pool).await;
        filled.unwrap_or_else(|cause| panic!("{statement}: {cause}"));
    }
}

/// Counts the instructions of the one connection that a database in memory has.
async fn count_instructions(pool: &SqlitePool) -> Arc<AtomicU64> {
    let count = Arc::new(AtomicU64::new(0));
    let counted = count.clone();
    let mut connection = pool.acquire().await.unwrap();
    let mut handle = connection.lock_handle().await.unwrap();
    handle.set_progress_handler(1, move || {
        counted.fetch_add(1, Ordering::Relaxed);
        true
    });
    count
}

/// Adds what an operation costs, under its name.
macro_rules! cost {
    ($costs:expr, $count:expr, $name:literal, $operation:expr, $rows:expr) => {{
        let before = $count.load(Ordering::Relaxed);
        let done = $operation.await.unwrap();
        let cost = $count.load(Ordering::Relaxed) - before;
        #[allow(
            clippy::redundant_closure_call,
            reason = "a caller says how its rows are counted"
        )]
        $costs.push(($name, cost, $rows(&done)));
    }};
}

/// The part of [`costs`] that is about connections.
async fn cost_connections(
    store: &Store,
    id: &str,
    count: &AtomicU64,
    costs: &mut Vec<(&'static str, u64, usize)>,
) {
    let ada = Some("ada");
    cost!(
        costs,
        count,
        "execute",
        store.list_connections(id, ada, Some("github")),
        Vec::len
    );
    cost!(
        costs,
        count,
        "search",
        store.list_connections(id, ada, None),
        Vec::len
    );
    cost!(
        costs,
        count,
        "page of a user's",
        store.page_connections(id, ada, None, None, 10),
        |page: &crate::Page<_>| page.items.len()
    );
    cost!(
        costs,
        count,
        "page of a user's service",
        store.page_connections(id, ada, Some("github"), None, 10),
        |page: &crate::Page<_>| page.items.len()
    );
    cost!(
        costs,
        count,
        "counts of a user's",
        store.count_connections(id, ada, NOW_MS + 1_000),
        Vec::len
    );
}

/// The part of [`costs`] that is about approvals.
async fn cost_approvals(
    store: &Store,
    id: &str,
    count: &AtomicU64,
    costs: &mut Vec<(&'static str, u64, usize)>,
) {
    let ada = Some("ada");
    let of_user = ApprovalFilter {
        user_id: ada,
        ..ApprovalFilter::default()
    };
    cost!(
        costs,
        count,
        "approvals",
        store.list_approvals(id, of_user, None, 10),
        |page: &crate::Page<_>| page.items.len()
    );
    let pending = ApprovalFilter {
        state: Some(ApprovalStatus::Pending),
        ..ApprovalFilter::default()
    };
    cost!(
        costs,
        count,
        "waiting approvals",
        store.list_approvals(id, pending, None, 10),
        |page: &crate::Page<_>| page.items.len()
    );
    let both = ApprovalFilter {
        state: Some(ApprovalStatus::Pending),
        ..of_user
    };
    cost!(
        costs,
        count,
        "a user's waiting approvals",
        store.list_approvals(id, both, None, 10),
        |page: &crate::Page<_>| page.items.len()
    );
    cost!(
        costs,
        count,
        "ending approvals",
        store.expire_approvals(Some(id), NOW_MS),
        |rows: &usize| *rows
    );
}

/// What each operation of a user costs, by its name, and how many rows it answers.
async fn costs(store: &Store, workspace_id: &str) -> Vec<(&'static str, u64, usize)> {
    let count = count_instructions(read_pool(store)).await;
    let mut costs = Vec::new();
    let (ada, id) = (Some("ada"), workspace_id);
    cost_connections(store, workspace_id, &count, &mut costs).await;
    cost!(
        costs,
        count,
        "sessions",
        store.list_sessions(id, ada, None, 10, NOW_MS + 1_000),
        |page: &crate::Page<_>| page.items.len()
    );
    cost_approvals(store, workspace_id, &count, &mut costs).await;
    let calls = ExecutionFilter {
        user_id: ada,
        ..ExecutionFilter::default()
    };
    cost!(
        costs,
        count,
        "receipts",
        store.list_executions(id, &calls, None, 10),
        |page: &crate::Page<_>| page.items.len()
    );
    cost!(
        costs,
        count,
        "usage",
        store.usage(id, ada, NOW_MS, 60_000),
        Vec::len
    );
    cost!(
        costs,
        count,
        "usage by tool",
        store.usage_by_tool(id, ada, NOW_MS, 10),
        Vec::len
    );
    cost!(
        costs,
        count,
        "usage by service",
        store.usage_by_service(id, ada, NOW_MS),
        Vec::len
    );
    costs
}

#[tokio::test]
async fn what_is_asked_about_one_user_costs_the_same_among_a_hundred_thousand() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    let pool = read_pool(&store);
    let workspace = store.create_workspace("acme", Plan::Free, None, NOW_MS);
    let id = workspace.await.unwrap().id;
    fill(pool, &id, "'ada'", "pending", 1, 3).await;
    let alone = costs(&store, &id).await;
    fill(pool, &id, "'user' || i", "expired", 4, OTHERS).await;
    let among = costs(&store, &id).await;
    for ((name, alone, rows), (_, cost, rows_among)) in alone.iter().zip(&among) {
        assert!(*rows > 0 || *name == "ending approvals", "{name}: {rows}");
        assert_eq!(rows, rows_among, "{name}");
        assert!(
            cost * 100 <= alone * AT_MOST,
            "{name}: {cost} instructions, {alone} without others; all: {among:?}"
        );
    }
    // What the test exists for is seen: a filter that no index serves reads every row.
    let count = count_instructions(pool).await;
    let scan =
        "SELECT id FROM connections WHERE workspace_id = $1 AND COALESCE(user_id, '') = 'ada'";
    let found: Vec<String> = sqlx::query_scalar(scan)
        .bind(&id)
        .fetch_all(pool)
        .await
        .unwrap();
    assert_eq!(found.len(), 3);
    assert!(count.load(Ordering::Relaxed) > OTHERS as u64);
}

/// Beginnings and ends of statements that run in each call or list of a user, and the index that each needs.
const EXPECTED: [(&str, &str, &str); 21] = [
    (
        "FROM connections WHERE workspace_id = $1 ORDER BY",
        "",
        "connections_newest",
    ),
    (
        "FROM connections WHERE workspace_id = $1 AND user_id = $2 ORDER BY",
        "",
        "connections_of_user_newest",
    ),
    (
        "FROM connections WHERE workspace_id = $1 AND service = $2 ORDER BY",
        "",
        "connections_of_service",
    ),
    (
        "FROM connections WHERE workspace_id = $1 AND user_id = $2 AND service = $3 ORDER BY",
        "",
        "connections_of_user_service",
    ),
    (
        "FROM connections WHERE workspace_id = $1 AND (created_at_ms, id) < ($2, $3) ORDER BY",
        "",
        "connections_newest",
    ),
    (
        "FROM connections WHERE workspace_id = $1 AND (created_at_ms, id) < ($2, $3) AND user_id = $5 ORDER BY",
        "",
        "connections_of_user_newest",
    ),
    (
        "FROM connections WHERE workspace_id = $1 AND (created_at_ms, id) < ($2, $3) AND service = $5 ORDER BY",
        "",
        "connections_of_service",
    ),
    (
        "FROM connections WHERE workspace_id = $1 AND (created_at_ms, id) < ($2, $3) AND user_id = $5 AND service = $6 ORDER BY",
        "",
        "connections_of_user_service",
    ),
    (
        "FROM sessions WHERE workspace_id = $1 AND (created_at_ms, id) < ($2, $3)",
        "AND user_id = $6 ORDER BY created_at_ms DESC, id DESC LIMIT $5",
        "sessions_of_user",
    ),
    (
        "FROM sessions WHERE workspace_id = $1 AND (created_at_ms, id) < ($2, $3)",
        "last_active_at_ms > $4 ORDER BY created_at_ms DESC, id DESC LIMIT $5",
        "sessions_newest",
    ),
    (
        "FROM approvals WHERE workspace_id = $1 AND (created_at_ms, id) < ($2, $3)",
        "AND user_id = $6 ORDER BY created_at_ms DESC, id DESC LIMIT $5",
        "approvals_of_user",
    ),
    (
        "FROM approvals WHERE workspace_id = $1 AND (created_at_ms, id) < ($2, $3)",
        "AND state = $6 ORDER BY created_at_ms DESC, id DESC LIMIT $5",
        "approvals_in_state",
    ),
    (
        "FROM executions AS e INDEXED BY executions_of_user",
        "",
        "executions_of_user",
    ),
    (
        "FROM executions AS e INDEXED BY executions_of_parent",
        "",
        "executions_of_parent",
    ),
    (
        "FROM script_runs WHERE workspace_id = $1 AND id < $2 ORDER BY",
        "",
        "sqlite_autoindex_script_runs_1",
    ),
    (
        "FROM script_runs WHERE workspace_id = $1 AND id < $2 AND user_id = $4 ORDER BY",
        "",
        "script_runs_of_user",
    ),
    (
        "FROM script_runs WHERE expires_at_ms <= $1",
        "",
        "script_runs_expiry",
    ),
    (
        "FROM script_steps WHERE run_id = $1 ORDER BY step",
        "",
        "sqlite_autoindex_script_steps_1",
    ),
    (
        "FROM triggers WHERE workspace_id = $1 AND (created_at_ms, id) < ($2, $3) ORDER BY",
        "",
        "triggers_newest",
    ),
    (
        "FROM triggers WHERE workspace_id = $1 AND (created_at_ms, id) < ($2, $3) AND user_id = $5 ORDER BY",
        "",
        "triggers_of_user",
    ),
    (
        "SELECT workspace_id, id FROM triggers WHERE state <> 'paused'",
        "",
        "triggers_due",
    ),
];

#[tokio::test]
async fn lists_use_the_index_that_is_theirs() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    let pool = read_pool(&store);
    let workspace = store.create_workspace("acme", Plan::Free, None, NOW_MS);
    fill(
        pool,
        &workspace.await.unwrap().id,
        "'user' || i",
        "expired",
        1,
        1_000,
    )
    .await;
    let statements = super::source::statements();
    for (part, end, index) in EXPECTED {
        let named: Vec<_> = statements
            .iter()
            .filter(|one| one.contains(part) && one.ends_with(end))
            .collect();
        assert!(!named.is_empty(), "no statement has {part} ... {end}");
        for statement in named {
            let steps = plan(pool, statement).await.unwrap();
            let of_index = |step: &String| step.contains(&format!("INDEX {index} ("));
            assert!(
                steps.iter().any(of_index),
                "{statement} without {index}: {steps:?}"
            );
            let sorts = steps.iter().any(|step| step.contains("TEMP B-TREE"));
            assert!(!sorts, "{statement}: {steps:?}");
        }
    }
}
