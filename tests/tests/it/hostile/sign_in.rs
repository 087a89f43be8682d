//! A stranger who fails on purpose locks out the stranger.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_core::ids;
use toolgate_gateway::identity::members::Passwords;
use toolgate_store::{Member, Role};
use toolgate_tests::gateway::{Answer, TestGateway};
use toolgate_vault::Secret;

const PASSWORD: &str = "correct horse battery";

async fn owner(gateway: &TestGateway) {
    let store = gateway.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let hash = Passwords::default().hash(Secret::new(PASSWORD)).await;
    let member = Member {
        workspace_id: workspace.id,
        id: ids::ulid("mem"),
        email: "owner@example.com".to_owned(),
        name: "Owner".to_owned(),
        role: Role::Owner,
        password_hash: Some(hash.unwrap()),
        oidc_subject: None,
        created_at_ms: 1,
        last_seen_at_ms: None,
        vouched: true,
    };
    store.insert_member(&member).await.unwrap();
}

async fn sign_in(
    gateway: &TestGateway,
    password: &str,
    device: Option<&str>,
) -> (Answer, Vec<String>) {
    let body: Value = json!({"email": "owner@example.com", "password": password});
    let mut request = gateway
        .client
        .request(Method::POST, gateway.url("/internal/sign-in"))
        .header("content-type", "application/json")
        .header("x-toolgate-dashboard", "1")
        .header("origin", gateway.url(""))
        .body(body.to_string());
    if let Some(device) = device {
        request = request.header("cookie", device);
    }
    let response = request.send().await.unwrap();
    let cookies = response
        .headers()
        .get_all("set-cookie")
        .iter()
        .filter_map(|value| value.to_str().ok()?.split(';').next().map(str::to_owned));
    let cookies = cookies.collect();
    (Answer::read(response).await, cookies)
}

/// Defence: `host/identity/src/members/attempts.rs`: nothing counts against an account alone, and a device that
/// has signed in before has a count of its own.
#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_locks_nobody_out_who_has_signed_in_before() {
    let gateway = TestGateway::start(Default::default()).await;
    owner(&gateway).await;
    let (first, cookies) = sign_in(&gateway, PASSWORD, None).await;
    assert_eq!(first.status, 200, "{}", first.text);
    let device = cookies
        .iter()
        .find(|one| one.starts_with("toolgate_device="));
    let device = device.expect("the browser is known from now on");
    // The stranger sits behind the same address as the owner: the worst case.
    let mut refusals = Vec::new();
    for _ in 0..14 {
        refusals.push(sign_in(&gateway, "guess", None).await.0.status);
    }
    assert_eq!(refusals[0], 401);
    assert_eq!(*refusals.last().unwrap(), 429, "{refusals:?}");
    let (right, _) = sign_in(&gateway, PASSWORD, Some(device)).await;
    assert_eq!(right.status, 200, "{}", right.text);
    let (forged, _) = sign_in(&gateway, "guess", Some("toolgate_device=a.b.c")).await;
    assert_eq!(forged.status, 429, "a device that was never here");
}
