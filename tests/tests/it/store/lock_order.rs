//! Writers of several rows take them in the order of their keys. In any other order two of them wait for each
//! other on PostgreSQL, which ends one (SQLSTATE 40P01), and what that one had to write is lost. SQLite has one
//! writer at a time.

use std::collections::BTreeMap;

use toolgate_store::{
    Approvers, PluginFile, PluginState, Role, Rule, RuleChange, RuleKind, SearchUse, StoreError,
    ToolVector,
};

use super::members::{begin_sign_in, member};
use super::{Empty, NOW_MS, api_key, on_postgres, waiting_for_locks, workspace};

/// Runs `act`, which writes two rows, while another transaction writes the same rows in the order of their keys: the
/// first before `act` begins, the second once `act` waits for a lock.
async fn beside_another_writer(
    at: &Empty,
    [first, second]: [&'static str; 2],
    act: impl Future<Output = Result<(), StoreError>>,
) {
    let pool = sqlx::PgPool::connect(&at.url).await.unwrap();
    let mut other = pool.begin().await.unwrap();
    let written = sqlx::query(first).execute(&mut *other).await.unwrap();
    assert_eq!(written.rows_affected(), 1, "{first}");
    let other = async {
        waiting_for_locks(&pool, 1).await;
        sqlx::query(second).execute(&mut *other).await?;
        other.commit().await
    };
    let (acted, other) = tokio::join!(act, other);
    assert!(acted.is_ok() && other.is_ok(), "{acted:?}, {other:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn uses_of_keys_are_noted_in_the_order_of_their_ids() {
    let at = on_postgres().await;
    let acme = workspace(&at.store, "acme").await;
    for id in ["key_a", "key_b"] {
        at.store.insert_key(&api_key(&acme, id), id).await.unwrap();
    }
    let others = [
        "UPDATE api_keys SET rpm = 1 WHERE id = 'key_a'",
        "UPDATE api_keys SET rpm = 1 WHERE id = 'key_b'",
    ];
    let used = [("key_b".to_owned(), NOW_MS), ("key_a".to_owned(), NOW_MS)];
    beside_another_writer(&at, others, at.store.touch_keys(&used)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn uses_of_grants_are_noted_in_the_order_of_their_ids() {
    let at = on_postgres().await;
    workspace(&at.store, "acme").await;
    let pool = sqlx::PgPool::connect(&at.url).await.unwrap();
    let grants = "INSERT INTO members (workspace_id, id, email, name, role, created_at_ms) \
        SELECT id, 'mem_1', 'ada@example.com', 'Ada', 'member', 1 FROM workspaces; \
        INSERT INTO app_grants (workspace_id, id, member_id, client_id, client_name, scopes, resource, \
        redirect_uri, challenge, code_hash, code_expires_at_ms, created_at_ms, expires_at_ms) \
        SELECT workspaces.id, made.id, 'mem_1', 'client', 'Client', '[]', '', '', '', made.id, 1, 1, 1 \
        FROM workspaces, (VALUES ('app_a'), ('app_b')) AS made (id)";
    sqlx::raw_sql(grants).execute(&pool).await.unwrap();
    let others = [
        "UPDATE app_grants SET client_name = 'other' WHERE id = 'app_a'",
        "UPDATE app_grants SET client_name = 'other' WHERE id = 'app_b'",
    ];
    let used = [("app_b".to_owned(), NOW_MS), ("app_a".to_owned(), NOW_MS)];
    beside_another_writer(&at, others, at.store.touch_app_grants(&used)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_is_renewed_after_its_member_as_a_new_password_ends_it() {
    let at = on_postgres().await;
    let acme = workspace(&at.store, "acme").await;
    let ada = member(&acme, "ada", Role::Member);
    at.store.insert_member(&ada).await.unwrap();
    let first = begin_sign_in(&at.store, &ada, "sin_1").await;
    let others = [
        "UPDATE members SET password_hash = 'new' WHERE id = 'ada'",
        "DELETE FROM member_sign_ins WHERE id = 'sin_1'",
    ];
    let renew = async {
        let renewed = at
            .store
            .rotate_sign_in(&first, "second", NOW_MS + 200, NOW_MS + 50);
        let renewed = renewed.await?;
        assert!(!renewed, "the new password has ended it");
        Ok::<_, StoreError>(())
    };
    beside_another_writer(&at, others, renew).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn uses_after_searches_are_added_in_the_order_of_words() {
    let at = on_postgres().await;
    let acme = workspace(&at.store, "acme").await;
    let uses = ["b", "a"].map(|word| SearchUse {
        word: word.to_owned(),
        tool_name: "github_create_issue".to_owned(),
        times: 1,
        used_at_ms: NOW_MS,
    });
    at.store.add_search_uses(&acme.id, &uses).await.unwrap();
    let others = [
        "UPDATE search_uses SET times = 5 WHERE word = 'a'",
        "UPDATE search_uses SET times = 5 WHERE word = 'b'",
    ];
    beside_another_writer(&at, others, at.store.add_search_uses(&acme.id, &uses)).await;
    let added = at.store.list_search_uses(&acme.id, 10).await.unwrap();
    assert!(added.iter().all(|one| one.times == 6), "{added:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_are_changed_in_the_order_of_their_names() {
    let at = on_postgres().await;
    let acme = workspace(&at.store, "acme").await;
    let changes = ["b", "a"].map(|name| RuleChange {
        kind: RuleKind::Tool,
        name,
        rule: Some(Rule::Deny),
        approvers: Approvers::Admins,
        expires_at_ms: None,
        max_calls: None,
    });
    let change = || at.store.change_rules(&acme.id, "ada", &changes, NOW_MS);
    change().await.unwrap();
    let others = [
        "UPDATE permission_rules SET used = 1 WHERE name = 'a'",
        "UPDATE permission_rules SET used = 1 WHERE name = 'b'",
    ];
    beside_another_writer(&at, others, change()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_set_and_unset_in_the_order_of_their_names() {
    let at = on_postgres().await;
    let acme = workspace(&at.store, "acme").await;
    let set = |key: &str| BTreeMap::from([(key.to_owned(), "1".to_owned())]);
    for key in ["a", "b"] {
        let set = set(key);
        let changed = at
            .store
            .change_service_config(&acme.id, "github", &set, &[], NOW_MS);
        changed.await.unwrap();
    }
    let (set, unset) = (set("a"), ["b".to_owned()]);
    let others = [
        "UPDATE service_config SET updated_at_ms = 1 WHERE key = 'a'",
        "UPDATE service_config SET updated_at_ms = 1 WHERE key = 'b'",
    ];
    let change = at
        .store
        .change_service_config(&acme.id, "github", &set, &unset, NOW_MS);
    beside_another_writer(&at, others, change).await;
    let left = at.store.service_config(&acme.id, "github").await.unwrap();
    assert_eq!(left, set);
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_are_kept_and_forgotten_in_the_order_of_their_texts() {
    let at = on_postgres().await;
    let made = ["b", "a"].map(|text| ToolVector {
        text_sha256: text.to_owned(),
        vector: vec![1; 4],
    });
    let others = [
        "INSERT INTO tool_vectors (model, text_sha256, vector, made_at_ms) VALUES ('m', 'a', '', 1)",
        "INSERT INTO tool_vectors (model, text_sha256, vector, made_at_ms) VALUES ('m', 'b', '', 1)",
    ];
    beside_another_writer(&at, others, at.store.put_tool_vectors("m", &made, NOW_MS)).await;
    let others = [
        "UPDATE tool_vectors SET made_at_ms = 2 WHERE text_sha256 = 'a'",
        "UPDATE tool_vectors SET made_at_ms = 2 WHERE text_sha256 = 'b'",
    ];
    let gone = ["b".to_owned(), "a".to_owned()];
    beside_another_writer(&at, others, at.store.forget_tool_vectors(&gone)).await;
    assert_eq!(at.store.list_tool_vectors("m").await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn plugin_files_are_noted_in_the_order_of_their_names() {
    let at = on_postgres().await;
    let files = |sha256: &str| {
        ["b.wasm", "a.wasm"].map(|name| PluginFile {
            file_name: name.to_owned(),
            sha256: Some(sha256.to_owned()),
            service: None,
            state: PluginState::Seen,
            reason: None,
            fingerprint: None,
            updated_at_ms: NOW_MS,
        })
    };
    at.store.put_plugin_files(&files("one")).await.unwrap();
    let others = [
        "UPDATE plugin_files SET reason = 'other' WHERE file_name = 'a.wasm'",
        "UPDATE plugin_files SET reason = 'other' WHERE file_name = 'b.wasm'",
    ];
    let files = files("two");
    beside_another_writer(&at, others, at.store.put_plugin_files(&files)).await;
}
