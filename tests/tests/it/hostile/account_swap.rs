//! An agent that has its user's connection renewed with the account of somebody else, so that what the user writes from
//! then on goes there.

use axum::body::Body;
use axum::http::Response;
use reqwest::Method;
use serde_json::{Value, json};
use toolgate_gateway::Scope;
use toolgate_gateway::connections::flow::AccountAnswer;
use toolgate_gateway::identity::keys::DEFAULT_SCOPES;
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::{Answer, Options, TestGateway, new_key, operator};
use toolgate_tests::provider::query_of;
use toolgate_tests::upstream::{Received, Upstream};

use crate::connect::{allow_pages, press, press_unseen};

pub(super) const KEY: &str = "first-key-of-ada-0123456789";
const SECOND: &str = "second-key-of-ada-987654321";
const STRANGERS: &str = "key-of-the-stranger-5566778";
const NAMELESS: &str = "key-of-nobody-known-4433221";
const LIMITED: &str = "key-for-other-things-998877";

/// A service that says whose key it is.
pub(super) async fn desk() -> (TestGateway, Upstream) {
    let upstream = Upstream::start(|request: &Received| {
        let bearer = request
            .headers
            .iter()
            .find(|(name, _)| name == "authorization");
        let key = bearer.and_then(|(_, value)| value.strip_prefix("Bearer "));
        let (status, body) = match key {
            Some(KEY | SECOND) => (200, json!({"login": "ada"})),
            Some(STRANGERS) => (200, json!({"login": "stranger"})),
            Some(NAMELESS) => (200, json!({})),
            Some(LIMITED) => (403, json!({})),
            _ => (401, json!({})),
        };
        Response::builder()
            .status(status)
            .header("content-type", "application/json")
            .body(Body::from(body.to_string()))
            .unwrap()
    })
    .await;
    let mut run = tool("run");
    run["auth"] = json!(["key"]);
    let fixture = Fixture::new("desk")
        .with("hosts", json!(["api.desk.io"]))
        .with("tools", json!([run]))
        .with(
            "auth",
            json!([{
                "slot": "key", "title": "Key", "type": "api_key",
                "placement": { "header": "authorization", "template": "Bearer {secret}" },
                "audience": ["https://api.desk.io"],
                "account": { "request": "GET https://api.desk.io/me", "label": "/login" },
            }]),
        );
    let gateway = TestGateway::start(Options {
        plugins: vec![("desk.wasm".to_owned(), fixture.build())],
        allow_upstream: vec![format!("api.desk.io={}", upstream.url())],
        ..Options::default()
    })
    .await;
    (gateway, upstream)
}

async fn link_by(gateway: &TestGateway, key: &str, body: Value) -> Answer {
    let path = "/v1/connections/link";
    gateway
        .send(Method::POST, path, Some(key), Some(body.to_string()))
        .await
}

pub(super) async fn link(gateway: &TestGateway, key: &str, body: Value) -> (String, String) {
    let made = link_by(gateway, key, body).await.data();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    (text("connect_url"), text("connection_id"))
}

/// Ada connects her account.
async fn connected(gateway: &TestGateway) -> String {
    let (url, id) = link(
        gateway,
        &gateway.key,
        json!({"service": "desk", "user_id": "ada"}),
    )
    .await;
    let page = press(gateway, &url, &[("f_secret", KEY)]).await;
    assert!(page.text.contains("Connected"), "{}", page.text);
    assert_eq!(account(gateway, &id).await, (json!("ada"), KEY_GENERATION));
    id
}

const KEY_GENERATION: i64 = 1;

/// The account of a connection, and how many credentials it has had.
async fn account(gateway: &TestGateway, id: &str) -> (Value, i64) {
    let shown = gateway.get(&format!("/v1/connections/{id}")).await.data();
    let store = gateway.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let row = store.find_connection(&workspace.id, id).await.unwrap();
    (shown["account"].clone(), row.unwrap().generation)
}

/// The code behind the page that says that the user is asked.
fn asked(page: &crate::connect::Page) -> String {
    assert_eq!(page.status, 200, "{}", page.text);
    assert!(page.text.contains("id=\"asked\""), "{}", page.text);
    query_of(&page.leads_to())["code"].clone()
}

/// Defence: `host/gateway/src/connections/flow/account_question.rs`, asked in `host/gateway/src/connections/flow/keep.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_enters_another_key_in_its_users_renewal_changes_nothing() {
    let (gateway, _upstream) = desk().await;
    let id = connected(&gateway).await;
    let renewal = json!({"service": "desk", "user_id": "ada", "connection_id": id});
    for (key, unchecked) in [(STRANGERS, ""), (NAMELESS, ""), (LIMITED, "1")] {
        let (url, renewed) = link(&gateway, &gateway.key, renewal.clone()).await;
        assert_eq!(renewed, id);
        let mut form = vec![("f_secret", key)];
        if !unchecked.is_empty() {
            form.push(("unchecked", unchecked));
        }
        let page = press(&gateway, &url, &form).await;
        let code = asked(&page);
        assert_eq!(account(&gateway, &id).await, (json!("ada"), 1), "{key}");
        // Neither the word of a key nor the dashboard's route without a person.
        let confirm = json!({"code": code, "user_id": "ada"});
        let refused = gateway.post("/v1/connections/confirm", &confirm).await;
        assert_eq!(refused.status, 404, "{}", refused.text);
        let path = format!("/internal/connections/questions/{code}");
        let body = Some(json!({"answer": "use"}).to_string());
        let refused = gateway
            .send(Method::POST, &path, Some(&gateway.key), body)
            .await;
        assert!(matches!(refused.status, 401 | 403), "{}", refused.text);
        assert_eq!(account(&gateway, &id).await, (json!("ada"), 1), "{key}");
        let person = operator(&gateway.gateway).await.unwrap();
        let shown = gateway
            .gateway
            .account_question(&person, &code)
            .await
            .unwrap();
        assert_eq!(shown.account_before.as_deref(), Some("ada"));
        gateway
            .gateway
            .answer_account_question(&person, &code, AccountAnswer::Keep)
            .await
            .unwrap();
        assert_eq!(account(&gateway, &id).await, (json!("ada"), 1), "{key}");
        // It is answered.
        let again = gateway
            .gateway
            .answer_account_question(&person, &code, AccountAnswer::Use);
        assert!(again.await.is_err());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_says_so_uses_another_account() {
    let (gateway, _upstream) = desk().await;
    let id = connected(&gateway).await;
    let renewal = json!({"service": "desk", "user_id": "ada", "connection_id": id});
    let (url, _) = link(&gateway, &gateway.key, renewal).await;
    let code = asked(&press(&gateway, &url, &[("f_secret", STRANGERS)]).await);
    let person = operator(&gateway.gateway).await.unwrap();
    let answered = gateway
        .gateway
        .answer_account_question(&person, &code, AccountAnswer::Use)
        .await
        .unwrap();
    assert_eq!(answered.connection.unwrap().connection_id, id);
    assert_eq!(account(&gateway, &id).await, (json!("stranger"), 2));
}

/// The grant beside the refusal: whoever renews the same account is not asked.
#[tokio::test(flavor = "multi_thread")]
async fn the_same_account_is_renewed_without_a_question() {
    let (gateway, _upstream) = desk().await;
    let id = connected(&gateway).await;
    let renewal = json!({"service": "desk", "user_id": "ada", "connection_id": id});
    for (key, generation) in [(SECOND, 2), (SECOND, 3), (KEY, 4)] {
        let (url, _) = link(&gateway, &gateway.key, renewal.clone()).await;
        let page = press(&gateway, &url, &[("f_secret", key)]).await;
        assert!(page.text.contains("Connected"), "{}", page.text);
        assert_eq!(account(&gateway, &id).await, (json!("ada"), generation));
    }
    // Of an account whose name the provider does not say, the very same key is known.
    let (url, nameless) = link(
        &gateway,
        &gateway.key,
        json!({"service": "desk", "user_id": "bob"}),
    )
    .await;
    press(&gateway, &url, &[("f_secret", NAMELESS)]).await;
    let renewal = json!({"service": "desk", "user_id": "bob", "connection_id": nameless});
    let (url, _) = link(&gateway, &gateway.key, renewal.clone()).await;
    let page = press(&gateway, &url, &[("f_secret", NAMELESS)]).await;
    assert!(page.text.contains("Connected"), "{}", page.text);
    let (url, _) = link(&gateway, &gateway.key, renewal).await;
    asked(&press(&gateway, &url, &[("f_secret", KEY)]).await);
}

/// Defence: `check_first` in `host/gateway/src/connections/link.rs`, and `first_only` in `host/store/src/connect_flows.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_with_default_scopes_makes_a_first_connection_of_its_own_user_alone() {
    let (gateway, _upstream) = desk().await;
    let key = new_key(&gateway.gateway, "agent", &DEFAULT_SCOPES)
        .await
        .unwrap();
    let other = json!({"service": "desk", "user_id": "somebody-else"});
    assert_eq!(link_by(&gateway, &key, other).await.code(), "scope_denied");
    // Made while there is none, to be used once there is one.
    let (kept_back, second) = link(&gateway, &key, json!({"service": "desk"})).await;
    let (url, id) = link(&gateway, &key, json!({"service": "desk"})).await;
    let page = press(&gateway, &url, &[("f_secret", KEY)]).await;
    assert!(page.text.contains("Connected"), "{}", page.text);
    for more in [
        json!({"service": "desk"}),
        json!({"service": "desk", "connection_id": id}),
        json!({"service": "desk", "slot": "key"}),
    ] {
        let refused = link_by(&gateway, &key, more.clone()).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (403, "scope_denied"),
            "{more}"
        );
    }
    let page = press(&gateway, &kept_back, &[("f_secret", STRANGERS)]).await;
    asked(&page);
    let missing = gateway.get(&format!("/v1/connections/{second}")).await;
    assert_eq!(missing.status, 404, "{}", missing.text);
    // It sees its user's connections, and takes none away.
    let read = |method: Method| {
        let (gateway, key) = (&gateway, &key);
        let path = format!("/v1/connections/{id}");
        async move { gateway.send(method, &path, Some(key), None).await }
    };
    assert_eq!(read(Method::GET).await.data()["account"], "ada");
    assert_eq!(read(Method::DELETE).await.code(), "scope_denied");
    let listed = gateway
        .send(Method::GET, "/v1/connections", Some(&key), None)
        .await;
    assert_eq!(listed.data()["connections"].as_array().unwrap().len(), 1);
    let others = "/v1/connections?user_id=somebody-else";
    let refused = gateway.send(Method::GET, others, Some(&key), None).await;
    assert_eq!(refused.status, 403, "{}", refused.text);
}

/// Defence: `check_vouching` in `host/gateway/src/connections/flow/account_question.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn another_account_needs_the_word_of_an_application_and_not_of_the_users_own_key() {
    let (gateway, _upstream) = desk().await;
    allow_pages(&gateway).await;
    let agent = new_key(&gateway.gateway, "agent", &[Scope::Connections])
        .await
        .unwrap();
    let (url, id) = link(&gateway, &agent, json!({"service": "desk"})).await;
    press(&gateway, &url, &[("f_secret", KEY)]).await;
    let user = gateway.get(&format!("/v1/connections/{id}")).await.data()["user_id"].clone();
    let renewal = json!({
        "service": "desk", "connection_id": id, "confirm_url": "https://app.test/done",
    });
    let confirm = |key: String, code: String| {
        let body = json!({"code": code, "user_id": user}).to_string();
        let gateway = &gateway;
        async move {
            let path = "/v1/connections/confirm";
            gateway
                .send(Method::POST, path, Some(&key), Some(body))
                .await
        }
    };
    let code = async |secret: &str| {
        let (url, _) = link(&gateway, &agent, renewal.clone()).await;
        let page = press(&gateway, &url, &[("f_secret", secret)]).await;
        query_of(&page.leads_to())["connect_code"].clone()
    };
    let same = confirm(agent.clone(), code(SECOND).await).await;
    assert_eq!(same.status, 200, "{}", same.text);
    let other = code(STRANGERS).await;
    let refused = confirm(agent.clone(), other.clone()).await;
    assert_eq!(refused.code(), "permission_denied", "{}", refused.text);
    assert_eq!(account(&gateway, &id).await, (json!("ada"), 2));
    let vouched = confirm(gateway.key.clone(), other).await;
    assert_eq!(vouched.status, 200, "{}", vouched.text);
    assert_eq!(account(&gateway, &id).await, (json!("stranger"), 3));
}

/// Defence: `host/gateway/src/connections/flow/binding.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn a_form_that_no_browser_was_shown_is_refused_with_the_page() {
    let (gateway, upstream) = desk().await;
    let body = json!({"service": "desk", "user_id": "ada"});
    let (url, id) = link(&gateway, &gateway.key, body.clone()).await;
    let (other, _) = link(&gateway, &gateway.key, body).await;
    let shown = crate::connect::get(&gateway, &url, None).await;
    let (cookie, field) = (shown.cookie().unwrap(), shown.page_field().unwrap());
    let shown = crate::connect::get(&gateway, &other, None).await;
    let (others, others_field) = (shown.cookie().unwrap(), shown.page_field().unwrap());
    let renamed = others.replace(
        others.split('=').next().unwrap(),
        cookie.split('=').next().unwrap(),
    );
    for (cookie, field) in [
        (None, None),
        (Some(&cookie), None),
        (None, Some(&field)),
        (Some(&others), Some(&others_field)),
        (Some(&cookie), Some(&others_field)),
        (Some(&renamed), Some(&others_field)),
        (Some(&renamed), Some(&field)),
    ] {
        for button in [("f_secret", KEY), ("cancel", "1")] {
            let page = press_unseen(&gateway, &url, cookie, field, &[button]).await;
            assert_eq!(page.status, 403, "{}", page.text);
            assert!(
                page.text.contains("name=\"f_secret\""),
                "the page: {}",
                page.text
            );
            assert!(!page.text.contains(KEY), "{}", page.text);
        }
    }
    assert_eq!(upstream.received().len(), 0);
    let page = press_unseen(
        &gateway,
        &url,
        Some(&cookie),
        Some(&field),
        &[("f_secret", KEY)],
    )
    .await;
    assert!(page.text.contains("Connected"), "{}", page.text);
    assert_eq!(account(&gateway, &id).await.0, "ada");
}

/// Defence: `host/gateway/src/connections/origins.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn a_link_leads_only_to_origins_that_an_admin_of_the_workspace_has_registered() {
    let (gateway, _upstream) = desk().await;
    let ask = |name: &str, page: &str| json!({"service": "desk", "user_id": "ada", name: page});
    let names = ["confirm_url", "return_url", "popup_origin"];
    let refused = async |page: &str| {
        for name in names {
            let answer = link_by(&gateway, &gateway.key, ask(name, page)).await;
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (400, "invalid_request"),
                "{page}"
            );
            assert!(
                answer.text.contains("toolgate origin add"),
                "{}",
                answer.text
            );
        }
    };
    refused("https://app.test").await;
    let agent = new_key(
        &gateway.gateway,
        "agent",
        &[Scope::Connections, Scope::UsersAny],
    );
    let agent = agent.await.unwrap();
    // No key registers one, whatever its scopes.
    let body = Some(json!({"origin": "https://app.test"}).to_string());
    let denied = gateway
        .send(Method::POST, "/internal/origins", Some(&gateway.key), body)
        .await;
    assert!(matches!(denied.status, 401 | 403), "{}", denied.text);
    refused("https://app.test").await;
    let admin = operator(&gateway.gateway).await.unwrap();
    let added = gateway.gateway.add_origin(&admin, "https://app.test").await;
    let added = added.unwrap();
    for page in [
        "https://app.test.evil.test",
        "https://evil.test",
        "https://sub.app.test",
        "https://app.test:8443",
        "http://localhost:3000",
        "http://127.0.0.1:3000",
    ] {
        refused(page).await;
    }
    let store = gateway.gateway.store();
    let other = store
        .create_workspace("other", toolgate_store::Plan::Enterprise, None, 1)
        .await
        .unwrap();
    let scopes = [Scope::Connections, Scope::UsersAny];
    let theirs = toolgate_tests::gateway::key_of(&gateway.gateway, &other.id, "agent", &scopes);
    let theirs = theirs.await.unwrap();
    let answer = link_by(&gateway, &theirs, ask("return_url", "https://app.test")).await;
    assert_eq!(answer.code(), "invalid_request", "{}", answer.text);
    for name in names {
        for page in ["https://app.test", "https://APP.test:443"] {
            let answer = link_by(&gateway, &agent, ask(name, page)).await;
            assert_eq!(answer.status, 201, "{name} {page}: {}", answer.text);
        }
        let own = link_by(&gateway, &agent, ask(name, &gateway.url(""))).await;
        assert_eq!(own.status, 201, "{name}: {}", own.text);
    }
    // A link that was made with an origin goes on without it.
    let (url, _) = link(&gateway, &agent, ask("return_url", "https://app.test/back")).await;
    gateway
        .gateway
        .remove_origin(&admin, &added.origin_id)
        .await
        .unwrap();
    refused("https://app.test").await;
    let page = press(&gateway, &url, &[("f_secret", KEY)]).await;
    assert!(
        page.leads_to().starts_with("https://app.test/back?"),
        "{}",
        page.text
    );
}

/// Defence: `host/gateway/src/connections/flow/account_question.rs`, for a link that was handed to somebody else.
#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_who_is_handed_the_link_of_a_renewal_connects_nothing() {
    let (gateway, provider) = crate::connect::world().await;
    let id = crate::connect::connect(&gateway, &provider, "ada").await;
    let renewal = json!({"service": "github", "user_id": "ada", "connection_id": id});
    provider.memory().login = "stranger".to_owned();
    let (url, _) = link(&gateway, &gateway.key, renewal.clone()).await;
    let page = crate::connect::follow(&gateway, &provider, &url).await;
    let code = asked(&page);
    assert_eq!(
        account(&gateway, &id).await,
        (json!("octo-ada"), KEY_GENERATION)
    );
    // Ada, whose own account it is, renews it while the question of the other one is open.
    provider.memory().login = "octo-ada".to_owned();
    let (url, _) = link(&gateway, &gateway.key, renewal).await;
    let page = crate::connect::follow(&gateway, &provider, &url).await;
    assert!(page.text.contains("Connected"), "{}", page.text);
    assert_eq!(account(&gateway, &id).await, (json!("octo-ada"), 2));
    let person = operator(&gateway.gateway).await.unwrap();
    let kept = gateway
        .gateway
        .answer_account_question(&person, &code, AccountAnswer::Keep);
    kept.await.unwrap();
    assert_eq!(account(&gateway, &id).await, (json!("octo-ada"), 2));
    assert_eq!(
        crate::connect::run(&gateway, "ada").await["status"],
        "success"
    );
}
