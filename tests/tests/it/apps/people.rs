//! Connected apps as people see them: their own, an admin all; what ends one ends its next call.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_store::Role;
use toolgate_tests::gateway::new_tenant;

use super::way::{App, MemberBrowser, error_of, gateway, is_let_in, member};
use super::whole::actions;

#[tokio::test(flavor = "multi_thread")]
async fn members_end_their_own_apps_and_admins_all() {
    let gateway = &gateway().await;
    let ada = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let bob = MemberBrowser::new(gateway, "bob@example.com", Role::Member).await;
    let eve = MemberBrowser::new(gateway, "eve@example.com", Role::Admin).await;
    let (_, theirs) = new_tenant(&gateway.gateway, "theirs").await.unwrap();
    member(gateway, "mallory@example.com", Role::Owner, Some(&theirs)).await;
    let mallory = MemberBrowser::sign_in(gateway, "mallory@example.com").await;
    let app = App::new(gateway).await;
    let of_ada = app.connect(&ada).await;
    let of_bob = app.connect(&bob).await;

    assert_eq!(ada.apps().await.len(), 1);
    assert_eq!(eve.apps().await.len(), 2);
    assert_eq!(mallory.apps().await.len(), 0);
    let id = ada.apps().await[0]["app_id"].as_str().unwrap().to_owned();
    let path = format!("/internal/apps/{id}");
    for stranger in [&bob, &mallory] {
        let refused = stranger.ask(Method::DELETE, &path, Value::Null).await;
        assert_eq!(refused.status, 404, "{}", refused.text);
    }
    assert!(is_let_in(gateway, &of_ada.access).await);
    let ended = ada.ask(Method::DELETE, &path, Value::Null).await;
    assert_eq!(ended.status, 200, "{}", ended.text);
    assert!(!is_let_in(gateway, &of_ada.access).await);
    assert_eq!(
        error_of(&app.refresh(&of_ada.refresh, &[]).await).1,
        "invalid_grant"
    );
    assert_eq!(
        ada.ask(Method::DELETE, &path, Value::Null).await.status,
        404
    );

    let id = eve.apps().await[0]["app_id"].as_str().unwrap().to_owned();
    let path = format!("/internal/apps/{id}");
    assert!(is_let_in(gateway, &of_bob.access).await);
    assert_eq!(
        eve.ask(Method::DELETE, &path, Value::Null).await.status,
        200
    );
    assert!(!is_let_in(gateway, &of_bob.access).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_acts_as_its_member_and_goes_with_them() {
    let gateway = &gateway().await;
    let ada = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let app = App::new(gateway).await;
    let tokens = app.connect(&ada).await;

    // What the member may not run, the app may not either.
    let deny = json!({ "permission": "deny" }).to_string();
    let path = "/v1/permissions/users/ada@example.com/tools/demo_run";
    let key = Some(gateway.key.as_str());
    let changed = gateway.send(Method::PATCH, path, key, Some(deny)).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    let refused = super::way::execute(gateway, &tokens.access).await;
    assert!(
        refused.text.contains("permission_denied"),
        "{}",
        refused.text
    );
    let allow = json!({ "permission": "allow" }).to_string();
    gateway.send(Method::PATCH, path, key, Some(allow)).await;
    assert!(is_let_in(gateway, &tokens.access).await);

    let store = gateway.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let members = store.list_members(&workspace.id).await.unwrap();
    store
        .delete_member(&workspace.id, &members[0].id, members[0].role)
        .await
        .unwrap();
    assert!(!is_let_in(gateway, &tokens.access).await);
    assert_eq!(
        error_of(&app.refresh(&tokens.refresh, &[]).await).1,
        "invalid_grant"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_that_is_switched_off_cannot_be_let_in() {
    let gateway = &gateway().await;
    let ada = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let eve = MemberBrowser::new(gateway, "eve@example.com", Role::Admin).await;
    let (_, theirs) = new_tenant(&gateway.gateway, "theirs").await.unwrap();
    member(gateway, "mallory@example.com", Role::Owner, Some(&theirs)).await;
    let mallory = MemberBrowser::sign_in(gateway, "mallory@example.com").await;
    let app = App::new(gateway).await;
    let (of_ada, of_mallory) = (app.connect(&ada).await, app.connect(&mallory).await);
    let code = app.code(&ada, &[]).await;
    let waiting = app.ask(&[]).await;

    let client = json!({ "client_id": app.id });
    let blocks = "/internal/app-blocks";
    let refused = ada.ask(Method::POST, blocks, client.clone()).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (403, "role_denied")
    );
    let blocked = eve.ask(Method::POST, blocks, client.clone()).await;
    assert_eq!(blocked.status, 200, "{}", blocked.text);
    assert!(!is_let_in(gateway, &of_ada.access).await);
    assert_eq!(error_of(&app.exchange(&code, &[]).await).1, "invalid_grant");
    let path = format!("/internal/app-requests/{waiting}");
    let shown = ada.ask(Method::GET, &path, Value::Null).await.data();
    assert_eq!(shown["blocked"], true);
    let refused = ada.decide(&waiting, true).await;
    assert_eq!((refused.status, refused.code().as_str()), (409, "conflict"));
    // Another workspace has its own mind.
    assert!(is_let_in(gateway, &of_mallory.access).await);
    assert_eq!(
        mallory
            .ask(Method::DELETE, blocks, client.clone())
            .await
            .status,
        404
    );

    let listed = eve.ask(Method::GET, "/internal/apps", Value::Null).await;
    assert_eq!(listed.data()["blocked"][0]["client_id"], app.id.as_str());
    assert_eq!(eve.ask(Method::DELETE, blocks, client).await.status, 200);
    assert_eq!(ada.decide(&waiting, true).await.status, 200);
    let told = actions(gateway).await;
    for action in ["apps.block", "apps.unblock"] {
        assert!(told.iter().any(|(one, _)| one == action), "{action}");
    }
}
