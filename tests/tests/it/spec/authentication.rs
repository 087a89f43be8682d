//! Section 5: keys.

use serde_json::json;
use toolgate_gateway::Scope;
use toolgate_gateway::identity::keys;
use toolgate_tests::gateway::{Answer, new_key};

use super::{gateway, send, there};

async fn key(name: &'static str, scopes: &'static [Scope]) -> String {
    there(async move { new_key(&gateway().gateway, name, scopes).await.unwrap() }).await
}

async fn revoke(name: &'static str) {
    there(async move {
        let store = gateway().gateway.store();
        let workspace = store.first_workspace().await.unwrap().unwrap();
        let now_ms = gateway().gateway.clock().now_ms();
        keys::revoke(
            store,
            &toolgate_gateway::Caller::operator(&workspace),
            name,
            now_ms,
        )
        .await
        .unwrap();
    })
    .await;
}

async fn status(key: Option<&str>) -> Answer {
    send("GET", "/v1/status", key, None).await
}

#[tokio::test(flavor = "multi_thread")]
async fn item_1_every_request_carries_the_key_as_a_bearer_token() {
    let key = key("bearer row", Scope::ALL).await;
    assert_eq!(status(Some(&key)).await.status, 200);
    let client = toolgate_tests::gateway::client();
    for (name, value) in [
        ("authorization", format!("Basic {key}")),
        ("x-api-key", key.clone()),
    ] {
        let request = client.get(gateway().url("/v1/status")).header(name, value);
        assert_eq!(request.send().await.unwrap().status(), 401, "{name}");
    }
    let request = client.get(gateway().url(&format!("/v1/status?api_key={key}")));
    assert_eq!(
        request.send().await.unwrap().status(),
        401,
        "a key in an address is none"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn item_2_a_key_has_a_descriptive_name() {
    let key = key("named row", Scope::ALL).await;
    assert_eq!(status(Some(&key)).await.data()["key"]["name"], "named row");
}

#[tokio::test(flavor = "multi_thread")]
async fn item_3_revocation_is_immediate_and_cannot_be_undone() {
    let key = key("revoked row", Scope::ALL).await;
    assert_eq!(status(Some(&key)).await.status, 200);
    revoke("revoked row").await;
    assert_eq!(status(Some(&key)).await.code(), "invalid_api_key");
    let said = crate::parity::tool_answer(gateway(), &key, "svc_health_check", json!({})).await;
    assert_eq!((said.status, &*said.code()), (401, "invalid_api_key"));
    let again = self::key("revoked row", Scope::ALL).await;
    assert_eq!(status(Some(&again)).await.status, 200);
    assert_eq!(
        status(Some(&key)).await.code(),
        "invalid_api_key",
        "the name is not a way back"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn item_4_a_key_is_rotated_by_a_new_one_beside_it() {
    let old = key("old row", Scope::ALL).await;
    let new = key("new row", Scope::ALL).await;
    for key in [&old, &new] {
        assert_eq!(status(Some(key)).await.status, 200);
    }
    revoke("old row").await;
    assert_eq!(status(Some(&old)).await.status, 401);
    assert_eq!(status(Some(&new)).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn item_5_a_key_can_be_limited_to_the_permissions_it_needs() {
    let key = key("reader row", &[Scope::SkillsRead]).await;
    assert_eq!(
        send("GET", "/v1/skills", Some(&key), None).await.status,
        200
    );
    let body = json!({ "name": "A", "summary": "B", "instructions": "C" });
    let refused = send("POST", "/v1/skills", Some(&key), Some(body)).await;
    assert_eq!((refused.status, &*refused.code()), (403, "scope_denied"));
}

#[tokio::test(flavor = "multi_thread")]
async fn item_6_the_dashboards_routes_are_no_part_of_the_key_interface() {
    let document = send("GET", "/openapi.json", None, None).await.json();
    for path in document["paths"].as_object().unwrap().keys() {
        assert!(!path.starts_with("/internal"), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn item_7_a_missing_key_is_401_api_key_required_and_an_invalid_one_401_invalid_api_key() {
    let missing = status(None).await;
    assert_eq!(
        (missing.status, &*missing.code()),
        (401, "api_key_required")
    );
    let invalid = status(Some(&format!("tg_live_{}", "0".repeat(43)))).await;
    assert_eq!((invalid.status, &*invalid.code()), (401, "invalid_api_key"));
}

#[tokio::test(flavor = "multi_thread")]
async fn item_8_svc_health_check_verifies_the_key() {
    let good = crate::parity::say(gateway(), "svc_health_check", json!({})).await;
    assert!(good.text.contains("API key is valid"));
    let bad =
        crate::parity::tool_answer(gateway(), "tg_live_bad", "svc_health_check", json!({})).await;
    assert_eq!(bad.status, 401);
}

/// The row leaves form, scopes and address list open; `contract.md` decides them.
#[tokio::test(flavor = "multi_thread")]
async fn item_9_a_key_has_its_documented_form_and_its_scopes_are_told() {
    let key = key("form row", &[Scope::ToolsRead]).await;
    let random = key.strip_prefix("tg_live_").unwrap();
    assert!(random.len() == 43 && random.bytes().all(|b| b.is_ascii_alphanumeric()));
    let told = status(Some(&key)).await.data()["key"].clone();
    assert_eq!(
        (&told["scopes"], &told["prefix"]),
        (&json!(["tools:read"]), &json!(&random[..8]))
    );
}
