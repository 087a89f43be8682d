//! How receipts are laid out: what earlier versions wrote is carried over, lists read no more than they
//! show, and what receipts share goes with them.

use std::path::Path;

use sqlx::Row as _;
use sqlx::migrate::Migrator;
use toolgate_core::ids;
use toolgate_store::{DatabaseKind, ExecutionFilter, ExecutionRow, SESSION_IDLE_MS, Store};

use super::{Empty, NOW_MS, execution_id, on_both, workspace};

on_both!(
    lists_are_read_from_an_index_in_order,
    receipts_of_earlier_versions_are_carried_over,
    what_receipts_share_goes_with_the_last_of_its_day,
    the_session_of_a_call_is_known_by_its_receipt_until_it_is_deleted,
);

/// The run of a script that made twenty of 20,000 calls.
const PARENT: &str = "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD";
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

fn receipt(workspace_id: &str, n: usize, at_ms: i64) -> ExecutionRow {
    ExecutionRow {
        workspace_id: workspace_id.into(),
        id: execution_id(at_ms, n).into(),
        kind: "tool".into(),
        tool_name: format!("github_tool_{}", n % 3).into(),
        service: "github".into(),
        user_id: if n.is_multiple_of(1_000) {
            "ada"
        } else {
            "bob"
        }
        .into(),
        key_id: "key_1".into(),
        key_name: "ci".into(),
        key_prefix: "abcdefgh".into(),
        session_id: None,
        connection_id: None,
        parent_execution_id: (n % 1_000 == 500).then(|| PARENT.into()),
        status: "success".into(),
        reason: None,
        started_at_ms: at_ms,
        duration_ms: 12,
        plugin_version: "1.0.0".into(),
        plugin_sha256: "aa".into(),
        requests: "[]".into(),
        arguments: None,
        result: None,
        payloads: Vec::new(),
    }
}

/// A value of a statement.
#[derive(Clone, Copy)]
enum Value<'a> {
    Text(Option<&'a str>),
    Number(i64),
}

/// How the database would run a statement, one step a line.
async fn plan(at: &Empty, statement: &'static str, values: &[Value<'_>]) -> String {
    macro_rules! explained {
        ($pool:expr, $words:literal, $column:expr) => {{
            let mut explain = sqlx::query(sqlx::AssertSqlSafe(format!("{} {statement}", $words)));
            for value in values {
                explain = match value {
                    Value::Text(text) => explain.bind(*text),
                    Value::Number(number) => explain.bind(*number),
                };
            }
            let steps = explain.fetch_all($pool).await.unwrap();
            let steps = steps.iter().map(|step| step.get::<String, _>($column));
            steps.collect::<Vec<_>>().join("\n")
        }};
    }
    match at.store.kind() {
        DatabaseKind::Sqlite => {
            let pool = sqlx::SqlitePool::connect(&at.url).await.unwrap();
            explained!(&pool, "EXPLAIN QUERY PLAN", 3)
        }
        DatabaseKind::Postgres => {
            let pool = sqlx::PgPool::connect(&at.url).await.unwrap();
            sqlx::query("ANALYZE").execute(&pool).await.unwrap();
            explained!(&pool, "EXPLAIN", 0)
        }
    }
}

async fn lists_are_read_from_an_index_in_order(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let rows: Vec<_> = (0..20_000)
        .map(|n| receipt(&acme.id, n, NOW_MS + n as i64))
        .collect();
    at.store.record_executions(&rows, &[]).await.unwrap();
    for (user_id, parent, index, step) in [
        (
            None,
            None,
            "executions_pkey",
            "USING PRIMARY KEY (workspace_id=? AND id",
        ),
        (
            Some("ada"),
            None,
            "executions_of_user",
            "INDEX executions_of_user (workspace_id=? AND user_id=? AND id",
        ),
        (
            None,
            Some(PARENT),
            "executions_of_parent",
            "INDEX executions_of_parent (workspace_id=? AND parent_execution_id=? AND id",
        ),
    ] {
        let filter = ExecutionFilter {
            user_id,
            parent,
            ..ExecutionFilter::default()
        };
        let (workspace, before) = (Value::Text(Some(&acme.id)), Value::Text(Some("~")));
        let user = Value::Text(user_id);
        let mut listed = vec![workspace, before, Value::Text(Some("")), Value::Number(21)];
        listed.extend([Value::Number(i64::MIN), Value::Number(i64::MAX), user]);
        listed.extend([Value::Text(None); 7]);
        listed.extend(parent.map(|parent| Value::Text(Some(parent))));
        let searched = [workspace, before, Value::Number(19_999), user];
        let kind = at.store.kind();
        let mut statements = vec![(filter.statement(kind), &listed[..])];
        // A list of the calls of a run needs no end.
        if parent.is_none() {
            statements.push((filter.last_searched(kind), &searched[..]));
        }
        for (statement, values) in statements {
            let plan = plan(&at, statement, values).await;
            let wanted = match kind {
                DatabaseKind::Postgres => index,
                DatabaseKind::Sqlite => step,
            };
            assert!(plan.contains(wanted), "{wanted} is not in:\n{plan}");
            for other in ["TEMP B-TREE", "Sort", "Seq Scan on executions ", "SCAN e"] {
                assert!(!plan.contains(other), "{other} is in:\n{plan}");
            }
        }
        let page = at.store.list_executions(&acme.id, &filter, None, 20).await;
        let page = page.unwrap().items;
        assert_eq!(page.len(), 20, "{user_id:?}, {parent:?}");
        let newest = match (user_id, parent) {
            (Some(_), _) => 19_000,
            (None, Some(_)) => 19_500,
            (None, None) => 19_999,
        };
        assert_eq!(page[0].id, rows[newest].id);
    }
}

async fn receipts_of_earlier_versions_are_carried_over(at: Empty) {
    const LAST_BEFORE: i64 = 21;
    let (folder, url) = match at.store.kind() {
        DatabaseKind::Sqlite => ("sqlite", at.url.replace("toolgate.db", "before.db")),
        DatabaseKind::Postgres => (
            "postgres",
            tokio::task::spawn_blocking(toolgate_tests::postgres::fresh_url)
                .await
                .unwrap(),
        ),
    };
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../host/store/migrations")
        .join(folder);
    let mut migrator = Migrator::new(migrations).await.unwrap();
    migrator
        .migrations
        .to_mut()
        .retain(|one| one.version <= LAST_BEFORE);
    let id = execution_id(NOW_MS, 7);
    let old = [
        "INSERT INTO workspaces (id, name, plan, settings, created_at_ms) VALUES ('ws_1', 'acme', 'free', '{}', 1)".to_owned(),
        format!("INSERT INTO executions (workspace_id, id, tool_name, service, user_id, key_id, key_name, key_prefix, \
                 session_id, status, started_at_ms, duration_ms, plugin_version, plugin_sha256, requests) \
                 VALUES ('ws_1', '{id}', 'github_tool_1', 'github', 'bob', 'key_1', 'ci', 'abcdefgh', \
                 'tool_1', 'success', {NOW_MS}, 12, '1.0.0', 'aa', '[]')"),
        format!("INSERT INTO execution_payloads (workspace_id, id, execution_id, sealed) VALUES ('ws_1', 'one', '{id}', 'box')"),
    ];
    macro_rules! write_old {
        ($pool:expr) => {{
            let pool = $pool;
            migrator.run(&pool).await.unwrap();
            for statement in old {
                sqlx::query(sqlx::AssertSqlSafe(statement))
                    .execute(&pool)
                    .await
                    .unwrap();
            }
            pool.close().await;
        }};
    }
    match at.store.kind() {
        DatabaseKind::Sqlite => {
            let new = format!("{url}?mode=rwc");
            write_old!(sqlx::SqlitePool::connect(&new).await.unwrap());
        }
        DatabaseKind::Postgres => write_old!(sqlx::PgPool::connect(&url).await.unwrap()),
    }
    let store = Store::open(&url).await.unwrap();
    let expected = ExecutionRow {
        session_id: Some("tool_1".into()),
        ..receipt("ws_1", 7, NOW_MS)
    };
    let found = store.find_execution("ws_1", &id).await.unwrap();
    assert_eq!(found, Some(expected));
    assert_eq!(store.list_payloads("ws_1", &id).await.unwrap().len(), 1);
    assert_eq!(
        store
            .prune_executions("ws_1", NOW_MS + 1, 10)
            .await
            .unwrap(),
        1
    );
    let payloads = store.list_payloads("ws_1", &id).await.unwrap();
    assert!(payloads.is_empty(), "the bodies go with their receipt");
}

async fn contexts(at: &Empty) -> i64 {
    let count = "SELECT COUNT(*) FROM execution_contexts";
    match at.store.kind() {
        DatabaseKind::Sqlite => {
            let pool = sqlx::SqlitePool::connect(&at.url).await.unwrap();
            sqlx::query_scalar(count).fetch_one(&pool).await.unwrap()
        }
        DatabaseKind::Postgres => {
            let pool = sqlx::PgPool::connect(&at.url).await.unwrap();
            sqlx::query_scalar(count).fetch_one(&pool).await.unwrap()
        }
    }
}

async fn what_receipts_share_goes_with_the_last_of_its_day(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let midnight_ms = NOW_MS - NOW_MS % DAY_MS;
    let mut rows = Vec::new();
    for day in 0..3 {
        for n in 0..30 {
            rows.push(receipt(&acme.id, n, midnight_ms + day * DAY_MS + n as i64));
        }
    }
    at.store.record_executions(&rows, &[]).await.unwrap();
    at.store.record_executions(&rows[..5], &[]).await.unwrap();
    assert_eq!(contexts(&at).await, 9, "three tools on three days");
    // Half of the second day.
    let before_ms = midnight_ms + DAY_MS + 15;
    let prune = async |limit| {
        let pruned = at.store.prune_executions(&acme.id, before_ms, limit).await;
        pruned.unwrap()
    };
    assert_eq!(prune(40).await, 40);
    assert_eq!(contexts(&at).await, 9, "there is more to prune");
    assert_eq!(prune(40).await, 5);
    let left = at
        .store
        .list_executions(&acme.id, &ExecutionFilter::default(), None, 100)
        .await;
    assert_eq!(left.unwrap().items.len(), 45);
    assert_eq!(
        at.store
            .prune_executions(&acme.id, midnight_ms + 2 * DAY_MS + 61_000, 100)
            .await
            .unwrap(),
        45
    );
    assert_eq!(contexts(&at).await, 3, "the day itself is not over");
}

async fn the_session_of_a_call_is_known_by_its_receipt_until_it_is_deleted(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let other = workspace(&at.store, "other").await;
    let call = receipt(&acme.id, 1, NOW_MS);
    let named = ExecutionRow {
        session_id: Some("mine".into()),
        ..receipt(&acme.id, 2, NOW_MS)
    };
    let of_connection = ExecutionRow {
        kind: "connection".into(),
        ..receipt(&acme.id, 3, NOW_MS)
    };
    let rows = [call.clone(), named.clone(), of_connection.clone()];
    at.store.record_executions(&rows, &[]).await.unwrap();
    let session = |row: &ExecutionRow| ids::session_of_execution(&row.id).unwrap();
    let find = async |workspace_id: &str, id: &str, now_ms| {
        let found = at.store.session_of_execution(workspace_id, id, now_ms);
        found.await.unwrap().map(|row| row.user_id.to_string())
    };
    let id = session(&call);
    let last_ms = NOW_MS + SESSION_IDLE_MS - 1;
    assert_eq!(find(&acme.id, &id, last_ms).await.as_deref(), Some("bob"));
    assert_eq!(find(&acme.id, &id, last_ms + 1).await, None);
    assert_eq!(find(&other.id, &id, NOW_MS).await, None);
    for none in [session(&named), session(&of_connection), "mine".to_owned()] {
        assert_eq!(find(&acme.id, &none, NOW_MS).await, None, "{none}");
    }
    let delete = async |workspace_id: &str, now_ms| {
        let deleted = at.store.delete_session(workspace_id, &id, now_ms);
        deleted.await.unwrap()
    };
    assert!(!delete(&other.id, NOW_MS).await);
    assert!(!delete(&acme.id, last_ms + 1).await, "it has expired");
    assert!(delete(&acme.id, last_ms).await);
    assert!(!delete(&acme.id, last_ms).await);
    assert_eq!(find(&acme.id, &id, NOW_MS).await, None);
}
