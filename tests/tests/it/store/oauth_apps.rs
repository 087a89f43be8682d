use toolgate_store::{ALL_WORKSPACES, OAuthApp};

use super::{Empty, NOW_MS, on_both, workspace};

on_both!(
    an_oauth_app_of_a_workspace_beats_the_one_for_all,
    a_change_of_an_oauth_app_keeps_what_it_does_not_give,
    of_two_changes_of_an_oauth_app_neither_takes_the_other_back,
);

pub(super) fn app(workspace_id: &str, client_id: &str) -> OAuthApp {
    OAuthApp {
        workspace_id: workspace_id.into(),
        service: "github".into(),
        client_id: client_id.into(),
        sealed: Some("box of a client secret".into()),
        scopes: None,
        settings: "{}".into(),
        updated_at_ms: NOW_MS,
    }
}

async fn an_oauth_app_of_a_workspace_beats_the_one_for_all(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    at.store
        .change_oauth_app(&app(ALL_WORKSPACES, "for all"), false, &[])
        .await
        .unwrap();
    at.store
        .change_oauth_app(&app(&acme.id, "first"), false, &[])
        .await
        .unwrap();
    at.store
        .change_oauth_app(&app(&acme.id, "for acme"), false, &[])
        .await
        .unwrap();
    let find = async |workspace_id: &str| {
        at.store
            .find_oauth_app(workspace_id, "github")
            .await
            .unwrap()
            .map(|app| app.client_id)
            .unwrap_or_default()
    };
    assert_eq!(
        (find(&acme.id).await, find(&other.id).await),
        ("for acme".into(), "for all".into())
    );
    assert!(
        at.store
            .find_oauth_app(&acme.id, "slack")
            .await
            .unwrap()
            .is_none()
    );
    assert_eq!(at.store.list_oauth_apps().await.unwrap().len(), 2);
    assert!(at.store.delete_oauth_app(&acme.id, "github").await.unwrap());
    assert!(!at.store.delete_oauth_app(&acme.id, "github").await.unwrap());
    assert_eq!(find(&acme.id).await, "for all");
}

async fn a_change_of_an_oauth_app_keeps_what_it_does_not_give(at: Empty) {
    let first = OAuthApp {
        settings: r#"{"base_url":"https://one.test","scopes_max":["repo"]}"#.into(),
        ..app(ALL_WORKSPACES, "first")
    };
    let next = |client_id: &str| OAuthApp {
        sealed: None,
        ..app(ALL_WORKSPACES, client_id)
    };
    let kept = ["scopes_max"];
    for (app, keeps_secret, kept_settings, sealed, settings) in [
        // Nothing is there to be kept.
        (
            &first,
            true,
            &kept[..],
            first.sealed.as_deref(),
            &*first.settings,
        ),
        (
            &next("second"),
            true,
            &kept[..],
            first.sealed.as_deref(),
            r#"{"scopes_max":["repo"]}"#,
        ),
        (&next("third"), false, &kept[..0], None, "{}"),
        (&next("fourth"), true, &kept[..], None, "{}"),
    ] {
        let store = &at.store;
        let changed = store.change_oauth_app(app, keeps_secret, kept_settings);
        changed.await.unwrap();
        let now = store.find_oauth_app("any", "github").await.unwrap();
        let expected = OAuthApp {
            sealed: sealed.map(str::to_owned),
            settings: settings.to_owned(),
            ..app.clone()
        };
        assert_eq!(now, Some(expected));
    }
}

async fn of_two_changes_of_an_oauth_app_neither_takes_the_other_back(at: Empty) {
    for round in 0..20 {
        let secret = OAuthApp {
            sealed: Some(format!("box {round}")),
            ..app(ALL_WORKSPACES, "ours")
        };
        let scopes = OAuthApp {
            sealed: None,
            settings: format!(r#"{{"scopes_max":["scope-{round}"]}}"#),
            ..app(ALL_WORKSPACES, "ours")
        };
        let (one, two) = tokio::join!(
            at.store.change_oauth_app(&secret, false, &["scopes_max"]),
            at.store.change_oauth_app(&scopes, true, &[]),
        );
        one.unwrap();
        two.unwrap();
        let now = at.store.find_oauth_app("any", "github").await.unwrap();
        let now = now.unwrap();
        assert_eq!((now.sealed, now.settings), (secret.sealed, scopes.settings));
    }
}
