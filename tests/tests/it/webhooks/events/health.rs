//! What becomes of connections and plugins by itself.

use toolgate_core::states::ConnectionHealth;
use toolgate_store::{
    ActivatePlugin, HoldPlugin, NewConnection, Plan, PluginFile, PluginState, RefreshFailed,
    Refreshed, WebhookRow,
};

use super::{At, NOW_MS, connection, on_both};

on_both!(
    connections_tell_of_their_health,
    plugins_tell_every_workspace_of_what_is_new,
);

async fn connections_tell_of_their_health(at: At) {
    at.webhook("all", &["connection.*"]).await;
    let (store, ws) = (&at.store, at.workspace.as_str());
    store.connect(&connection(&at, "c1"), NOW_MS).await.unwrap();
    // More scopes for a healthy one are not news.
    store.connect(&connection(&at, "c1"), NOW_MS).await.unwrap();
    let fail = async |state| {
        store
            .try_lease_connection(ws, "c1", "me", NOW_MS, 1_000)
            .await
            .unwrap()
            .unwrap();
        let failed = RefreshFailed {
            state,
            next_retry_at_ms: None,
            last_error: "refused",
        };
        assert!(
            store
                .store_refresh_failed(ws, "c1", "me", &failed, NOW_MS)
                .await
                .unwrap()
        );
    };
    fail(ConnectionHealth::CoolingDown).await;
    store
        .try_lease_connection(ws, "c1", "me", NOW_MS, 1_000)
        .await
        .unwrap()
        .unwrap();
    let refreshed = Refreshed {
        parameters: None,
        sealed: "box 2",
        token_expires_at_ms: None,
        refresh_end: None,
        refreshable: true,
        scopes: None,
    };
    store
        .store_refreshed(ws, "c1", "me", &refreshed, NOW_MS)
        .await
        .unwrap()
        .unwrap();
    fail(ConnectionHealth::ReauthNeeded).await;
    fail(ConnectionHealth::ReauthNeeded).await;
    store.connect(&connection(&at, "c1"), NOW_MS).await.unwrap();
    store
        .delete_connection(ws, "c1", NOW_MS)
        .await
        .unwrap()
        .unwrap();

    let once = NewConnection {
        refreshable: false,
        ..connection(&at, "c2")
    };
    store.connect(&once, NOW_MS).await.unwrap();
    let day_ms = 86_400_000;
    assert_eq!(
        store.emit_expiry_events(day_ms, 10, NOW_MS).await.unwrap(),
        1
    );
    assert_eq!(
        store
            .emit_expiry_events(day_ms, 10, NOW_MS + 1)
            .await
            .unwrap(),
        0
    );
    assert_eq!(
        store
            .emit_expiry_events(day_ms, 10, NOW_MS + 60_000)
            .await
            .unwrap(),
        1
    );
    assert_eq!(
        store
            .emit_expiry_events(day_ms, 10, NOW_MS + 60_001)
            .await
            .unwrap(),
        0
    );
    let row = store.find_connection(ws, "c2").await.unwrap().unwrap();
    assert_eq!(row.state, ConnectionHealth::ReauthNeeded);
    assert_eq!(
        at.types("all").await,
        [
            "connection.created",
            "connection.recovered",
            "connection.expired",
            "connection.recovered",
            "connection.revoked",
            "connection.created",
            "connection.expiring",
            "connection.expired",
        ]
    );
}

async fn plugins_tell_every_workspace_of_what_is_new(at: At) {
    let theirs = at
        .store
        .create_workspace("other", Plan::Free, None, NOW_MS)
        .await
        .unwrap();
    at.webhook("ours", &["plugin.*"]).await;
    let ours = at
        .store
        .find_webhook(&at.workspace, "ours")
        .await
        .unwrap()
        .unwrap();
    let other = WebhookRow {
        id: "theirs".to_owned(),
        workspace_id: theirs.id,
        ..ours
    };
    at.store.insert_webhook(&other, 10).await.unwrap();
    let activate = |sha256| ActivatePlugin {
        service: "github",
        file_name: "github.wasm",
        sha256,
        version: "1.0.0",
        tool_names: &[],
        approved: "{}",
        now_ms: NOW_MS,
    };
    at.store.activate_plugin(&activate("a")).await.unwrap();
    // A restart says the same again.
    at.store.activate_plugin(&activate("a")).await.unwrap();
    at.store.activate_plugin(&activate("b")).await.unwrap();
    let park = HoldPlugin {
        service: "github",
        file_name: "github.wasm",
        sha256: "c",
        version: "2.0.0",
        difference: r#"{"hosts":["evil.test"]}"#,
        now_ms: NOW_MS,
    };
    at.store.hold_plugin(&park).await.unwrap();
    at.store.hold_plugin(&park).await.unwrap();
    let bad = PluginFile {
        file_name: "bad.wasm".to_owned(),
        sha256: Some("d".to_owned()),
        service: None,
        state: PluginState::Quarantined,
        reason: Some("not WebAssembly".to_owned()),
        fingerprint: None,
        updated_at_ms: NOW_MS,
    };
    at.store
        .put_plugin_files(std::slice::from_ref(&bad))
        .await
        .unwrap();
    at.store
        .put_plugin_files(std::slice::from_ref(&bad))
        .await
        .unwrap();
    // Somebody puts the version before back, then the gateway does.
    at.store.activate_plugin(&activate("a")).await.unwrap();
    at.store.activate_plugin(&activate("b")).await.unwrap();
    assert!(at.store.forget_plugin_version("github", "b").await.unwrap());
    at.store.activate_plugin(&activate("a")).await.unwrap();
    let expected = [
        "plugin.activated",
        "plugin.activated",
        "plugin.pending_approval",
        "plugin.quarantined",
        "plugin.activated",
        "plugin.rolled_back",
        "plugin.activated",
        "plugin.rolled_back",
        "plugin.activated",
        "plugin.rolled_back",
    ];
    assert_eq!(at.types("ours").await, expected);
    assert_eq!(at.types("theirs").await, expected);
    let told = at.waiting("ours").await;
    assert_eq!(told[2].1["difference"]["hosts"][0], "evil.test");
    for (index, to, from, automatic) in [(5, "a", "b", false), (9, "a", "b", true)] {
        let data = &told[index].1;
        assert_eq!(
            (&data["sha256"], &data["from"]["sha256"]),
            (&to.into(), &from.into())
        );
        assert_eq!(data["automatic"], automatic);
    }
}
