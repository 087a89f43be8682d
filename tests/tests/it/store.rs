//! The store's story, told to SQLite and to a real PostgreSQL.

mod audit;
mod changes;
mod connect_flows;
mod connection_refresh;
mod connections;
mod event_log;
mod idempotency;
mod keys;
mod knowledge;
mod limits;
mod lock_order;
mod mcp_servers;
mod member_links;
mod member_races;
mod members;
mod oauth_apps;
mod opening;
mod permissions;
mod plans;
mod plugins;
mod receipt_storage;
mod receipts;
mod retention;
mod scripts;
mod sessions;
mod skills;
mod tool_vectors;
mod toolsets;
mod triggers;
mod usage;
mod webhooks;

use tempfile::TempDir;
use toolgate_core::ids;
use toolgate_store::{ApiKey, NewConnection, Plan, Store, Workspace};
use toolgate_tests::gateway::PATIENCE;
use toolgate_tests::postgres;

const NOW_MS: i64 = 1_800_000_000_000;

/// The id of the execution with this number that began at `at_ms`.
fn execution_id(at_ms: i64, n: usize) -> String {
    let least = ids::ulid_floor("exe", at_ms);
    format!("{}{n:05}", &least[..least.len() - 5])
}

/// An empty database; a SQLite file lives as long as this.
struct Empty {
    store: Store,
    url: String,
    _folder: Option<TempDir>,
}

async fn on_sqlite() -> Empty {
    let folder = TempDir::new().expect("a temporary folder");
    let url = format!("sqlite://{}", folder.path().join("toolgate.db").display());
    let store = Store::open(&url).await.expect("SQLite opens");
    Empty {
        store,
        url,
        _folder: Some(folder),
    }
}

async fn on_postgres() -> Empty {
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .expect("a database");
    let store = Store::open(&url).await.expect("PostgreSQL opens");
    Empty {
        store,
        url,
        _folder: None,
    }
}

/// Tells a chapter to both databases.
macro_rules! on_both {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() { super::$name(crate::store::on_sqlite().await).await })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() { super::$name(crate::store::on_postgres().await).await })+
        }
    };
}
use on_both;

/// Waits until so many sessions of a PostgreSQL wait for a row that another one holds.
async fn waiting_for_locks(watching: &sqlx::PgPool, sessions: i64) {
    let all_wait = async {
        loop {
            let waiting: i64 = sqlx::query_scalar(
                "SELECT COUNT(*) FROM pg_stat_activity \
                 WHERE datname = current_database() AND wait_event_type = 'Lock'",
            )
            .fetch_one(watching)
            .await
            .expect("PostgreSQL answers");
            if waiting >= sessions {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, all_wait).await;
    assert!(waited.is_ok(), "{sessions} sessions never waited for a row");
}

async fn workspace(store: &Store, name: &str) -> Workspace {
    store
        .create_workspace(name, Plan::Free, None, NOW_MS)
        .await
        .expect("a free name")
}

fn api_key(workspace: &Workspace, id: &str) -> ApiKey {
    ApiKey {
        id: id.into(),
        workspace_id: workspace.id.clone(),
        name: format!("name of {id}"),
        prefix: format!("{id:0<8}"),
        scopes: vec!["tools:read".into(), "tools:execute".into()],
        default_user: "ada@example.com".into(),
        rpm: Some(100),
        rpd: None,
        expires_at_ms: None,
        ip_allowlist: vec!["10.0.0.0/8".into()],
        created_at_ms: NOW_MS,
        revoked_at_ms: None,
        last_used_at_ms: None,
    }
}

fn new_connection(workspace: &Workspace, id: &str) -> NewConnection {
    NewConnection {
        workspace_id: workspace.id.clone(),
        id: id.into(),
        user_id: "ada".into(),
        service: "github".into(),
        slot: "user".into(),
        auth_type: "oauth2".into(),
        account: Some("ada@example.com".into()),
        scopes: vec!["repo".into()],
        parameters: [("subdomain".to_owned(), "acme".to_owned())].into(),
        sealed: "box 1".into(),
        token_expires_at_ms: Some(NOW_MS + 60_000),
        refresh_end: None,
        refreshable: true,
    }
}
