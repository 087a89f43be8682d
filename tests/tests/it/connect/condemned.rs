//! What condemns a credential: its own check, and never one refused request.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::http::Response;
use reqwest::Method;
use serde_json::{Value, json};
use toolgate_core::clock::Clock;
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::provider::Provider;
use toolgate_tests::upstream::{Received, Upstream};

use super::{follow, link_for, press, register_for, state};
use crate::described::built;

/// What a server answers to a request that it does not serve.
type Refusals = Arc<Mutex<Vec<(&'static str, u16, Value)>>>;

/// The described service `demo`, its authorization server and its API.
pub(super) struct Demo {
    pub(super) gateway: TestGateway,
    pub(super) provider: Provider,
    pub(super) api: Upstream,
    /// Beginnings of paths that are refused, whatever the credential.
    refused: Refusals,
    /// Tokens that are not taken any more.
    ended: Arc<Mutex<HashSet<String>>>,
    /// How the end of a token is said.
    says: Arc<Mutex<(u16, Value)>>,
    pub(super) clock: Clock,
}

fn operation(id: &str, more: &Value) -> Value {
    let mut operation = json!({
        "operationId": id, "summary": id, "description": format!("Does {id} for tests."),
        "responses": {"200": {"description": "ok"}}
    });
    let map = operation.as_object_mut().unwrap();
    map.extend(more.as_object().unwrap().clone());
    operation
}

/// A description with these operations (method, path, name, what else it says) and `x-toolgate` keys.
pub(super) fn description(operations: &[(&str, &str, &str, Value)], keys: &Value) -> Value {
    let mut paths = serde_json::Map::new();
    for (method, path, id, more) in operations {
        paths.insert((*path).to_owned(), json!({*method: operation(id, more)}));
    }
    let mut own = json!({"service": "demo"});
    own.as_object_mut()
        .unwrap()
        .extend(keys.as_object().unwrap().clone());
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Demo", "version": "1.0.0", "description": "A service for tests."},
        "servers": [{"url": "https://api.goodsvc.com"}],
        "x-toolgate": own,
        "paths": paths,
        "components": {"securitySchemes": {"user": {"type": "oauth2", "flows": {"authorizationCode": {
            "authorizationUrl": "https://id.goodsvc.com/authorize",
            "tokenUrl": "https://id.goodsvc.com/token",
            "scopes": {"read": "r"}
        }}}}},
        "security": [{"user": ["read"]}]
    })
}

pub(super) async fn wasm(description: &Value) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("openapi.json");
    std::fs::write(&file, description.to_string()).unwrap();
    built(file).await
}

fn answer(status: u16, body: &Value) -> Response<Body> {
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .unwrap()
}

fn bearer(request: &Received) -> String {
    let found = request
        .headers
        .iter()
        .find(|(name, _)| name == "authorization");
    found.map_or(String::new(), |(_, value)| value.replace("Bearer ", ""))
}

impl Demo {
    pub(super) async fn start(description: &Value) -> Self {
        let provider = Provider::start().await;
        provider.memory().scope = Some("read".to_owned());
        let refused = Refusals::default();
        let ended: Arc<Mutex<HashSet<String>>> = Arc::default();
        let says = Arc::new(Mutex::new((401, json!({"error": "expired"}))));
        let (refuses, gone, end) = (refused.clone(), ended.clone(), says.clone());
        let api = Upstream::start(move |request| {
            if gone.lock().unwrap().contains(&bearer(request)) {
                let (status, body) = end.lock().unwrap().clone();
                return answer(status, &body);
            }
            let refuses = refuses.lock().unwrap();
            let mut found = refuses.iter();
            match found.find(|(path, _, _)| request.target.starts_with(path)) {
                Some((_, status, body)) => answer(*status, body),
                None => answer(200, &json!({"ok": true, "name": "ada"})),
            }
        })
        .await;
        let clock = Clock::manual(1_795_167_030_000);
        let gateway = TestGateway::start(Options {
            plugins: vec![("demo.wasm".to_owned(), wasm(description).await)],
            allow_upstream: vec![
                format!("id.goodsvc.com={}", provider.upstream.url()),
                format!("api.goodsvc.com={}", api.url()),
            ],
            clock: Some(clock.clone()),
            ..Options::default()
        })
        .await;
        if description["components"]["securitySchemes"]["user"]["type"] == "oauth2" {
            register_for(&gateway, "demo").await;
        }
        Self {
            gateway,
            provider,
            api,
            refused,
            ended,
            says,
            clock,
        }
    }

    pub(super) async fn connect(&self) -> String {
        let (url, id) = link_for(&self.gateway, "demo", "ada").await;
        let page = follow(&self.gateway, &self.provider, &url).await;
        assert!(page.text.contains("Connected"), "{}", page.text);
        id
    }

    pub(super) async fn run(&self, tool: &str, arguments: Value) -> Value {
        let body = json!({"arguments": arguments, "user_id": "ada"});
        let path = format!("/v1/tools/demo_{tool}/execute");
        self.gateway.post(&path, &body).await.data()
    }

    pub(super) fn refuse(&self, path: &'static str, status: u16, body: Value) {
        self.refused.lock().unwrap().push((path, status, body));
    }

    /// The newest token is not taken any more, which is said like this.
    pub(super) fn end_token(&self, status: u16, body: Value) {
        let newest = self.provider.secrets().len() / 2;
        *self.says.lock().unwrap() = (status, body);
        let mut ended = self.ended.lock().unwrap();
        ended.insert(format!("access-token-{newest:06}"));
    }

    /// Requests for this path so far.
    fn asked(&self, path: &str) -> usize {
        let received = self.api.received();
        received.iter().filter(|one| one.target == path).count()
    }
}

/// The call failed alone, and says so.
fn refused_alone(answer: &Value) {
    assert_eq!(answer["status"], "error", "{answer}");
    assert_eq!(answer["reason"], "provider_refused", "{answer}");
    let fix = answer["error"]["suggested_fix"].as_str().unwrap();
    assert!(fix.contains("was not found to be bad"), "{answer}");
}

fn two_tools(keys: &Value) -> Value {
    let none = json!({});
    description(
        &[
            ("get", "/thing", "get_thing", none.clone()),
            ("get", "/admin", "get_admin", none),
        ],
        keys,
    )
}

fn no_permission() -> Value {
    json!({"error": "no permission on this resource"})
}

#[tokio::test(flavor = "multi_thread")]
async fn one_refused_request_says_nothing_of_the_account() {
    let demo = Demo::start(&two_tools(&json!({}))).await;
    let id = demo.connect().await;
    demo.refuse("/admin", 401, no_permission());
    for _ in 0..2 {
        let refused = demo.run("get_admin", json!({})).await;
        refused_alone(&refused);
        assert_eq!(
            refused["error"]["message"],
            "no permission on this resource"
        );
        assert_eq!(refused["error"]["provider_status"], 401);
    }
    assert_eq!(demo.run("get_thing", json!({})).await["status"], "success");
    assert_eq!(state(&demo.gateway, &id).await, "active");
    let receipts = demo
        .gateway
        .get("/v1/executions?reason=provider_refused")
        .await;
    assert_eq!(receipts.data()["executions"].as_array().unwrap().len(), 2);

    // The account is gone: the tool that would try a key is refused too.
    demo.refuse("/", 401, json!({"error": "revoked"}));
    demo.clock.advance_ms(61_000);
    assert_eq!(
        demo.run("get_thing", json!({})).await["status"],
        "auth_expired"
    );
    assert_eq!(state(&demo.gateway, &id).await, "reauth_needed");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_account_request_decides_and_is_sent_once_a_minute() {
    let mut document = two_tools(&json!({}));
    document["components"]["securitySchemes"]["user"]["x-toolgate"] =
        json!({"account": {"request": "GET https://api.goodsvc.com/me", "label": "/name"}});
    let demo = Demo::start(&document).await;
    let id = demo.connect().await;
    let before = demo.asked("/me");
    demo.refuse("/admin", 401, no_permission());
    let calls = (0..20).map(|_| demo.run("get_admin", json!({})));
    for refused in futures_util::future::join_all(calls).await {
        refused_alone(&refused);
    }
    for _ in 0..3 {
        refused_alone(&demo.run("get_admin", json!({})).await);
    }
    assert_eq!(demo.asked("/me") - before, 1, "one check for all of them");
    demo.clock.advance_ms(60_000);
    refused_alone(&demo.run("get_admin", json!({})).await);
    assert_eq!(demo.asked("/me") - before, 2);
    assert_eq!(state(&demo.gateway, &id).await, "active");
    // What a check of a full minute ago said does not count.
    demo.clock.advance_ms(60_000);
    demo.refuse("/me", 401, json!({"error": "revoked"}));
    assert_eq!(
        demo.run("get_admin", json!({})).await["status"],
        "auth_expired"
    );
    assert_eq!(state(&demo.gateway, &id).await, "reauth_needed");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_request_that_is_forbidden_or_broken_condemns_nobody() {
    let mut document = two_tools(&json!({}));
    document["components"]["securitySchemes"]["user"]["x-toolgate"] =
        json!({"account": {"request": "GET https://api.goodsvc.com/me", "label": "/name"}});
    for (status, body) in [
        (
            403,
            json!({"message": "You have exceeded a secondary rate limit"}),
        ),
        (503, json!({})),
        (404, json!({})),
    ] {
        let demo = Demo::start(&document).await;
        let id = demo.connect().await;
        demo.refuse("/admin", 401, no_permission());
        demo.refuse("/me", status, body);
        refused_alone(&demo.run("get_admin", json!({})).await);
        assert_eq!(state(&demo.gateway, &id).await, "active", "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_check_three_different_refused_resources_condemn() {
    let id = json!({"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}]});
    let operations = [("get", "/things/{id}", "get_thing", id)];
    let demo = Demo::start(&description(&operations, &json!({}))).await;
    let connection = demo.connect().await;
    let get = async |id: &str| demo.run("get_thing", json!({"id": id})).await;
    assert_eq!(get("a").await["status"], "success");
    demo.refuse("/things/", 401, no_permission());
    for _ in 0..5 {
        refused_alone(&get("a").await);
    }
    refused_alone(&get("b").await);
    assert_eq!(state(&demo.gateway, &connection).await, "active");
    assert_eq!(get("c").await["status"], "auth_expired");
    assert_eq!(state(&demo.gateway, &connection).await, "reauth_needed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_success_takes_back_what_was_refused_before() {
    let id = json!({"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}]});
    let operations = [("get", "/things/{id}", "get_thing", id)];
    let demo = Demo::start(&description(&operations, &json!({}))).await;
    let connection = demo.connect().await;
    demo.refuse("/things/private", 401, no_permission());
    for n in 0..6 {
        refused_alone(
            &demo
                .run("get_thing", json!({"id": format!("private-{n}")}))
                .await,
        );
        let open = demo
            .run("get_thing", json!({"id": format!("open-{n}")}))
            .await;
        assert_eq!(open["status"], "success");
    }
    assert_eq!(state(&demo.gateway, &connection).await, "active");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_token_is_understood_in_the_providers_words() {
    for (keys, status, body) in [
        (json!({}), 401, json!({"error": "invalid_token"})),
        (json!({}), 403, json!({"error": "token_expired"})),
        (
            json!({"error": {"ok": "/ok", "code": "/error"}}),
            200,
            json!({"ok": false, "error": "token_expired"}),
        ),
        (
            json!({}),
            400,
            json!({"error": "ExpiredToken", "message": "Token has expired"}),
        ),
        (
            json!({"error": {"expired": ["419"]}}),
            419,
            json!({"message": "Page expired"}),
        ),
        (
            json!({"error": {"expired": ["190"]}}),
            400,
            json!({"error": {"code": 190}}),
        ),
    ] {
        let demo = Demo::start(&two_tools(&keys)).await;
        let id = demo.connect().await;
        demo.end_token(status, body.clone());
        let read = demo.run("get_thing", json!({})).await;
        assert_eq!(read["status"], "success", "{status} {body}: {read}");
        assert_eq!(
            demo.provider.memory().refresh_requests,
            1,
            "{status} {body}"
        );
        assert_eq!(demo.asked("/thing"), 2, "{status} {body}");
        assert_eq!(state(&demo.gateway, &id).await, "active");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_is_repeated_only_where_nothing_was_performed_for_certain() {
    let operations = [
        ("get", "/thing", "get_thing", json!({})),
        ("post", "/items", "create_item", json!({})),
    ];
    let ended = || (403, json!({"error": "token_expired"}));
    // The word is a usual one that the manifest does not name.
    let demo = Demo::start(&description(&operations, &json!({}))).await;
    demo.connect().await;
    let (status, body) = ended();
    demo.end_token(status, body);
    let first = demo.run("create_item", json!({})).await;
    assert_eq!(first["reason"], "provider_refused", "{first}");
    assert_eq!(first["error"]["can_retry"], true, "{first}");
    assert_eq!(demo.asked("/items"), 1);
    assert_eq!(
        demo.run("create_item", json!({})).await["status"],
        "success"
    );
    // The manifest names it: a request that is answered with it was not performed.
    let keys = json!({"error": {"expired": ["token_expired"]}});
    let demo = Demo::start(&description(&operations, &keys)).await;
    demo.connect().await;
    let (status, body) = ended();
    demo.end_token(status, body);
    assert_eq!(
        demo.run("create_item", json!({})).await["status"],
        "success"
    );
    assert_eq!(demo.asked("/items"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pasted_token_survives_one_refusal() {
    let mut document = two_tools(&json!({}));
    document["components"]["securitySchemes"]["user"] = json!({"type": "http", "scheme": "bearer"});
    document["security"] = json!([{"user": []}]);
    let demo = Demo::start(&document).await;
    let (url, id) = link_for(&demo.gateway, "demo", "ada").await;
    let page = press(
        &demo.gateway,
        &url,
        &[("f_secret", "a-pasted-token-of-ada")],
    )
    .await;
    assert_eq!(page.status, 200, "{}", page.text);
    // Home Assistant answers so to an account that is no administrator.
    demo.refuse("/admin", 401, json!({"message": "Unauthorized"}));
    refused_alone(&demo.run("get_admin", json!({})).await);
    assert_eq!(demo.run("get_thing", json!({})).await["status"], "success");
    assert_eq!(state(&demo.gateway, &id).await, "active");
    demo.refuse("/thing", 401, json!({"message": "Unauthorized"}));
    demo.clock.advance_ms(60_000);
    assert_eq!(
        demo.run("get_thing", json!({})).await["status"],
        "auth_expired"
    );
    assert_eq!(state(&demo.gateway, &id).await, "reauth_needed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_never_runs_a_tool_that_the_user_may_not_use() {
    let demo = Demo::start(&two_tools(&json!({}))).await;
    demo.connect().await;
    let rule = json!({"permission": "deny"}).to_string();
    let path = "/v1/permissions/users/ada/tools/demo_get_thing";
    let key = Some(demo.gateway.key.as_str());
    let set = demo
        .gateway
        .send(Method::PATCH, path, key, Some(rule))
        .await;
    assert!(set.status < 300, "{}", set.text);
    demo.refuse("/admin", 401, no_permission());
    refused_alone(&demo.run("get_admin", json!({})).await);
    assert_eq!(demo.asked("/thing"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_that_was_moved_is_asked_at_its_new_address() {
    let mut document = two_tools(&json!({}));
    document["servers"] = json!([{"url": "https://{instance}.my.goodsvc.com", "variables": {
        "instance": {"default": "yours", "x-toolgate": {"title": "Instance"}}}}]);
    document["components"]["securitySchemes"]["user"]["x-toolgate"] =
        json!({"token_parameters": {"instance": "/instance_url"}});
    let provider = Provider::start().await;
    provider.memory().scope = Some("read".to_owned());
    let moved = |to: &str| {
        let beside = json!({"instance_url": format!("https://{to}.my.goodsvc.com")});
        provider.memory().beside = beside.as_object().unwrap().clone();
    };
    moved("na1");
    let old = Upstream::start(|_| answer(401, &json!([{"errorCode": "INVALID_SESSION_ID"}]))).await;
    let new = Upstream::start(|_| answer(200, &json!({"ok": true}))).await;
    let gateway = TestGateway::start(Options {
        plugins: vec![("demo.wasm".to_owned(), wasm(&document).await)],
        allow_upstream: vec![
            format!("id.goodsvc.com={}", provider.upstream.url()),
            format!("na1.my.goodsvc.com={}", old.url()),
            format!("na2.my.goodsvc.com={}", new.url()),
        ],
        ..Options::default()
    })
    .await;
    register_for(&gateway, "demo").await;
    let (url, _) = link_for(&gateway, "demo", "ada").await;
    let page = follow(&gateway, &provider, &url).await;
    assert!(page.text.contains("Connected"), "{}", page.text);
    moved("na2");
    let run = async || {
        let body = json!({"arguments": {}, "user_id": "ada"});
        let path = "/v1/tools/demo_get_thing/execute";
        gateway.post(path, &body).await.data()
    };
    for _ in 0..2 {
        let answer = run().await;
        assert_eq!(answer["status"], "success", "{answer}");
    }
    assert_eq!((old.received().len(), new.received().len()), (1, 2));
    assert_eq!(provider.memory().refresh_requests, 1);
}
