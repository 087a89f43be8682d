use std::collections::BTreeMap;

use toolgate_store::{
    ALL_WORKSPACES, ActivatePlugin, Activated, ApproveRequest, Approvers, CachedManifest,
    HoldPlugin, PluginFile, PluginState, Rule, RuleChange, RuleKind, Topic,
};

use super::{Empty, NOW_MS, on_both, workspace};

on_both!(
    a_manifest_is_trusted_only_from_the_same_inspector,
    an_upgrade_waits_while_the_old_version_serves,
    an_approval_is_for_one_file,
    three_good_versions_are_kept,
    a_quarantined_file_is_remembered_by_name,
    a_tool_name_belongs_to_who_activated_it_first,
    a_workspaces_setting_beats_the_one_for_all,
);

fn activate<'a>(sha256: &'a str, now_ms: i64) -> ActivatePlugin<'a> {
    ActivatePlugin {
        service: "github",
        file_name: "github.wasm",
        sha256,
        version: "1.0.0",
        tool_names: &[],
        approved: "{}",
        now_ms,
    }
}

async fn a_tool_name_belongs_to_who_activated_it_first(at: Empty) {
    let ws = workspace(&at.store, "acme").await;
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    let (first, second) = (names(&["a_b_c", "a_b_d"]), names(&["a_x", "a_b_c"]));
    let activate = async |service, tool_names: &[String]| {
        let plugin = ActivatePlugin {
            service,
            tool_names,
            ..activate("one", NOW_MS)
        };
        at.store.activate_plugin(&plugin).await.unwrap()
    };
    assert_eq!(activate("a_b", &first).await, Activated::Done);
    let taken = Activated::NameTaken {
        tool_name: "a_b_c".into(),
        service: "a_b".into(),
    };
    assert_eq!(activate("a", &second).await, taken);
    assert!(
        at.store.find_plugin("a").await.unwrap().is_none(),
        "nothing is left of it"
    );
    assert!(!at.store.tool_owners().await.unwrap().contains_key("a_x"));
    at.store
        .set_plugin_state("a_b", PluginState::Removed, None, NOW_MS)
        .await
        .unwrap();
    assert_eq!(
        activate("a", &second).await,
        taken,
        "its file alone is gone"
    );

    let rule = |name, rule| RuleChange {
        kind: RuleKind::Tool,
        name,
        rule: Some(rule),
        approvers: Approvers::Admins,
        expires_at_ms: None,
        max_calls: None,
    };
    let rules = [rule("a_b_c", Rule::Allow), rule("a_b_d", Rule::Deny)];
    at.store
        .change_rules(&ws.id, "ada", &rules, NOW_MS)
        .await
        .unwrap();
    at.store.release_tool_names("a_b").await.unwrap();
    assert_eq!(activate("a", &second).await, Activated::Done);
    let owners = at.store.tool_owners().await.unwrap();
    assert_eq!(owners.get("a_b_c").map(String::as_str), Some("a"));
    let left = at.store.list_rules(&ws.id, "ada").await.unwrap();
    let left: Vec<_> = left.iter().map(|rule| &*rule.name).collect();
    assert_eq!(left, ["a_b_d"], "what was allowed was another tool");
}

fn park(sha256: &str) -> HoldPlugin<'_> {
    HoldPlugin {
        service: "github",
        file_name: "github.wasm",
        sha256,
        version: "2.0.0",
        difference: r#"{"hosts":["x"]}"#,
        now_ms: NOW_MS,
    }
}

async fn a_manifest_is_trusted_only_from_the_same_inspector(at: Empty) {
    let mut found = CachedManifest {
        sha256: "aa".into(),
        service: "github".into(),
        manifest: "{}".into(),
        imports: "[]".into(),
        wasm_bytes: 5_000_000_000,
        inspector: "1".into(),
        inspected_at_ms: NOW_MS,
    };
    at.store.put_manifest(&found).await.unwrap();
    assert_eq!(
        at.store.find_manifest("aa", "1").await.unwrap(),
        Some(found.clone())
    );
    assert_eq!(at.store.find_manifest("aa", "2").await.unwrap(), None);
    found.inspector = "2".into();
    at.store.put_manifest(&found).await.unwrap();
    assert_eq!(at.store.list_manifests("2").await.unwrap(), [found]);
    assert!(at.store.list_manifests("1").await.unwrap().is_empty());
}

async fn an_upgrade_waits_while_the_old_version_serves(at: Empty) {
    at.store
        .activate_plugin(&activate("old", NOW_MS))
        .await
        .unwrap();
    at.store.hold_plugin(&park("new")).await.unwrap();
    let plugin = at.store.find_plugin("github").await.unwrap().unwrap();
    assert_eq!(plugin.state, PluginState::Active);
    assert_eq!(plugin.active_sha256.as_deref(), Some("old"));
    assert_eq!(plugin.pending_sha256.as_deref(), Some("new"));

    at.store
        .activate_plugin(&activate("new", NOW_MS + 1))
        .await
        .unwrap();
    let plugin = at.store.find_plugin("github").await.unwrap().unwrap();
    assert_eq!(plugin.active_sha256.as_deref(), Some("new"));
    assert_eq!(
        (plugin.pending_sha256, plugin.pending_difference),
        (None, None)
    );
}

async fn an_approval_is_for_one_file(at: Empty) {
    assert_eq!(
        at.store
            .approve_plugin("github", None, NOW_MS)
            .await
            .unwrap(),
        ApproveRequest::NotFound
    );
    at.store.hold_plugin(&park("new")).await.unwrap();
    assert_eq!(
        at.store.find_plugin("github").await.unwrap().unwrap().state,
        PluginState::PendingApproval
    );

    let before = at.store.changes().await.unwrap().get(Topic::Plugins);
    let approve = async |shown| at.store.approve_plugin("github", shown, NOW_MS).await;
    assert_eq!(
        approve(Some("old")).await.unwrap(),
        ApproveRequest::Another,
        "what was shown is not what waits"
    );
    let plugin = at.store.find_plugin("github").await.unwrap().unwrap();
    assert_eq!(plugin.approve_sha256, None);
    let approved = approve(Some("new")).await.unwrap();
    assert_eq!(
        approved,
        ApproveRequest::Recorded {
            sha256: "new".into()
        }
    );
    assert!(
        at.store.changes().await.unwrap().get(Topic::Plugins) > before,
        "a running gateway notices"
    );

    at.store.hold_plugin(&park("newer")).await.unwrap();
    let plugin = at.store.find_plugin("github").await.unwrap().unwrap();
    assert_eq!(
        plugin.approve_sha256.as_deref(),
        Some("new"),
        "the approval does not slide to another file"
    );
    assert_eq!(plugin.pending_sha256.as_deref(), Some("newer"));

    assert_eq!(approve(Some("new")).await.unwrap(), ApproveRequest::Another);

    at.store
        .activate_plugin(&activate("newer", NOW_MS))
        .await
        .unwrap();
    assert_eq!(
        at.store
            .approve_plugin("github", None, NOW_MS)
            .await
            .unwrap(),
        ApproveRequest::NothingPending
    );
}

async fn three_good_versions_are_kept(at: Empty) {
    for (sha256, at_ms) in [("a", 1), ("b", 2), ("c", 3), ("a", 4), ("d", 5), ("e", 5)] {
        at.store
            .activate_plugin(&activate(sha256, NOW_MS + at_ms))
            .await
            .unwrap();
    }
    let names = async || {
        let versions = at.store.plugin_versions("github").await.unwrap();
        versions
            .into_iter()
            .map(|version| version.sha256)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(names().await, "d e a");
    assert!(at.store.forget_plugin_version("github", "e").await.unwrap());
    assert!(!at.store.forget_plugin_version("github", "e").await.unwrap());
    assert_eq!(names().await, "d a");
}

async fn a_quarantined_file_is_remembered_by_name(at: Empty) {
    let mut file = PluginFile {
        file_name: "bad.wasm".into(),
        sha256: None,
        service: None,
        state: PluginState::Seen,
        reason: None,
        fingerprint: None,
        updated_at_ms: NOW_MS,
    };
    at.store
        .put_plugin_files(std::slice::from_ref(&file))
        .await
        .unwrap();
    file.state = PluginState::Quarantined;
    file.reason = Some("it is a core module, not a component".into());
    at.store
        .put_plugin_files(std::slice::from_ref(&file))
        .await
        .unwrap();
    assert_eq!(at.store.list_plugin_files().await.unwrap(), [file]);
    assert!(at.store.delete_plugin_file("bad.wasm").await.unwrap());
    assert!(!at.store.delete_plugin_file("bad.wasm").await.unwrap());
}

async fn a_workspaces_setting_beats_the_one_for_all(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    let set = async |workspace_id: &str, values: &[(&str, &str)]| {
        let values = values
            .iter()
            .map(|(key, value)| ((*key).into(), (*value).into()))
            .collect();
        at.store
            .change_service_config(workspace_id, "prometheus", &values, &[], NOW_MS)
            .await
            .unwrap();
    };
    set(
        ALL_WORKSPACES,
        &[("api_base", r#""http://a""#), ("depth", "1")],
    )
    .await;
    set(&acme.id, &[("api_base", r#""http://b""#)]).await;
    let of = async |workspace_id: &str| {
        let settings = at
            .store
            .service_config(workspace_id, "prometheus")
            .await
            .unwrap();
        settings.into_values().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(of(&acme.id).await, r#""http://b" 1"#);
    assert_eq!(of(&other.id).await, r#""http://a" 1"#);
    for (workspace_id, left) in [(&other.id, 3), (&acme.id, 2)] {
        let (none, gone) = (BTreeMap::new(), ["api_base".to_owned()]);
        at.store
            .change_service_config(workspace_id, "prometheus", &none, &gone, NOW_MS)
            .await
            .unwrap();
        let rows = at.store.list_service_config().await.unwrap();
        assert_eq!(rows.len(), left);
    }
    assert_eq!(of(&acme.id).await, r#""http://a" 1"#);
    assert_eq!(at.store.list_service_config().await.unwrap().len(), 2);
}
