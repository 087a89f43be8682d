//! Which changes tell of themselves, on both databases: each in the transaction of the change, and
//! only while somebody wants to know.

mod changes;
mod health;
mod leases;

use serde_json::Value;
use tempfile::TempDir;
use toolgate_store::{
    EventFilters, ExecutionRow, Lease, NewConnection, Plan, SkillRow, Store, WebhookRow,
};

const NOW_MS: i64 = 1_800_000_000_000;

struct At {
    store: Store,
    workspace: String,
    _folder: Option<TempDir>,
}

async fn opened(store: Store, folder: Option<TempDir>) -> At {
    let workspace = store
        .create_workspace("acme", Plan::Free, None, NOW_MS)
        .await
        .unwrap();
    At {
        store,
        workspace: workspace.id,
        _folder: folder,
    }
}

async fn on_sqlite() -> At {
    let folder = TempDir::new().unwrap();
    let url = format!("sqlite://{}", folder.path().join("t.db").display());
    opened(Store::open(&url).await.unwrap(), Some(folder)).await
}

async fn on_postgres() -> At {
    let url = tokio::task::spawn_blocking(toolgate_tests::postgres::fresh_url)
        .await
        .unwrap();
    opened(Store::open(&url).await.unwrap(), None).await
}

fn lease(owner: &str, now_ms: i64) -> Lease<'_> {
    Lease {
        owner,
        now_ms,
        until_ms: now_ms + 6_000,
    }
}

impl At {
    async fn webhook(&self, id: &str, events: &[&str]) {
        let row = WebhookRow {
            id: id.to_owned(),
            workspace_id: self.workspace.clone(),
            url: "https://hooks.example.test/".to_owned(),
            description: String::new(),
            events: events.iter().map(|text| (*text).to_owned()).collect(),
            filters: EventFilters::default(),
            enabled: true,
            disabled_reason: None,
            disabled_at_ms: None,
            sealed: "box".to_owned(),
            sealed_previous: None,
            previous_until_ms: None,
            failures: 0,
            failing_since_ms: None,
            retry_at_ms: None,
            lease_owner: None,
            lease_until_ms: None,
            created_at_ms: NOW_MS,
            updated_at_ms: NOW_MS,
        };
        assert!(self.store.insert_webhook(&row, 100).await.unwrap());
    }

    /// What waits for a webhook: types and data, in order.
    async fn waiting(&self, id: &str) -> Vec<(String, Value)> {
        let due = self.store.due_deliveries(id, i64::MAX, 100).await.unwrap();
        due.iter()
            .map(|one| {
                let payload: Value = serde_json::from_str(&one.payload).unwrap();
                (
                    payload["type"].as_str().unwrap().to_owned(),
                    payload["data"].clone(),
                )
            })
            .collect()
    }

    async fn types(&self, id: &str) -> Vec<String> {
        self.waiting(id)
            .await
            .into_iter()
            .map(|(kind, _)| kind)
            .collect()
    }
}

fn skill(at: &At, id: &str) -> SkillRow {
    SkillRow {
        workspace_id: at.workspace.clone(),
        id: id.to_owned(),
        name: "n".to_owned(),
        summary: "s".to_owned(),
        instructions: "i".to_owned(),
        version: 1,
        created_at_ms: NOW_MS,
        updated_at_ms: NOW_MS,
    }
}

fn connection(at: &At, id: &str) -> NewConnection {
    NewConnection {
        workspace_id: at.workspace.clone(),
        id: id.to_owned(),
        user_id: "ada".to_owned(),
        service: "github".to_owned(),
        slot: "user".to_owned(),
        auth_type: "oauth2".to_owned(),
        account: None,
        scopes: Vec::new(),
        parameters: Default::default(),
        sealed: "box".to_owned(),
        token_expires_at_ms: Some(NOW_MS + 60_000),
        refresh_end: None,
        refreshable: true,
    }
}

fn execution(at: &At, id: &str, status: &str) -> ExecutionRow {
    ExecutionRow {
        workspace_id: (&at.workspace).into(),
        id: id.into(),
        kind: "tool".into(),
        tool_name: "github_get_me".into(),
        service: "github".into(),
        user_id: "ada".into(),
        key_id: "key_1".into(),
        key_name: "k".into(),
        key_prefix: "12345678".into(),
        session_id: Some("tool_1".into()),
        connection_id: None,
        parent_execution_id: None,
        status: status.into(),
        reason: None,
        started_at_ms: NOW_MS,
        duration_ms: 5,
        plugin_version: "1.0.0".into(),
        plugin_sha256: "00".into(),
        requests: "[]".into(),
        arguments: Some("{\"private\":true}".into()),
        result: None,
        payloads: Vec::new(),
    }
}

macro_rules! on_both {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() { super::$name(crate::webhooks::events::on_sqlite().await).await })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() { super::$name(crate::webhooks::events::on_postgres().await).await })+
        }
    };
}
use on_both;
