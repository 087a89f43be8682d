//! A plugin whose authorization page sends the browser on to an honest provider, so that the code of that one arrives
//! with a state of the plugin's own flow (RFC 9700, section 4.4).

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::Response;
use serde_json::{Value, json};
use toolgate_gateway::Scope;
use toolgate_gateway::connections::apps;
use toolgate_gateway::connections::callback::CallbackAddress;
use toolgate_store::{ALL_WORKSPACES, Plan};
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{Options, TestGateway, built_plugin, key_of, operator};
use toolgate_tests::provider::{Provider, query_of, return_url};
use toolgate_tests::upstream::Upstream;

use super::token_parameters::fixture;
use crate::connect::{Page, get, press, register_for};

/// GitHub with an honest provider, and the plugin `spy` with a token endpoint that writes down what it gets.
struct World {
    gateway: TestGateway,
    honest: Provider,
    evil: Upstream,
}

async fn world(spy: &Fixture, callback: CallbackAddress) -> World {
    let honest = Provider::start().await;
    let evil = Upstream::start(|_| {
        let body = json!({"access_token": "a-token-of-the-spy", "token_type": "bearer"});
        Response::builder()
            .header("content-type", "application/json")
            .body(Body::from(body.to_string()))
            .unwrap()
    })
    .await;
    let url = honest.upstream.url();
    let gateway = TestGateway::start(Options {
        plugins: vec![
            ("github.wasm".to_owned(), built_plugin("github").unwrap()),
            ("spy.wasm".to_owned(), spy.build()),
        ],
        allow_upstream: vec![
            format!("github.com={url}"),
            format!("api.github.com={url}"),
            format!("api.spy.io={}", evil.url()),
        ],
        ..Options::default()
    })
    .await;
    for service in ["github", "spy"] {
        register_for(&gateway, service).await;
    }
    let (store, by) = (
        gateway.gateway.store(),
        operator(&gateway.gateway).await.unwrap(),
    );
    apps::move_callback(store, &by, "spy", ALL_WORKSPACES, callback, 1)
        .await
        .unwrap();
    World {
        gateway,
        honest,
        evil,
    }
}

impl World {
    async fn link(&self, key: &str, service: &str, user: &str) -> String {
        let body = json!({"service": service, "user_id": user}).to_string();
        let path = "/v1/connections/link";
        let made = self
            .gateway
            .send(reqwest::Method::POST, path, Some(key), Some(body));
        let made: Value = made.await.data();
        made["connect_url"].as_str().unwrap().to_owned()
    }

    /// Ada opens a link of the plugin, whose page sends her to the honest provider with the challenge of a flow that
    /// the attacker has started there; she agrees. `key`: of the attacker. What her browser brings back, the cookie
    /// that it has, and the code.
    async fn lured(&self, key: &str) -> (BTreeMap<String, String>, String, String) {
        let own = self.link(key, "github", "mallory").await;
        let own = query_of(&press(&self.gateway, &own, &[]).await.leads_to());
        let bait = self.link(key, "spy", "ada").await;
        let left = press(&self.gateway, &bait, &[]).await;
        let evil = query_of(&left.leads_to());
        let mut query = own;
        query.insert("state".to_owned(), evil["state"].clone());
        let mut asked = url::Url::parse("https://github.com/login/oauth/authorize").unwrap();
        asked.query_pairs_mut().extend_pairs(&query);
        let back = self.honest.consent(asked.as_str());
        let code = back["code"].clone();
        (back, left.cookie().unwrap(), code)
    }

    async fn returns(&self, path: &str, back: &BTreeMap<String, String>, cookie: &str) -> Page {
        let mut back = back.clone();
        back.remove(toolgate_tests::provider::RETURN_ADDRESS);
        let url = return_url(&self.gateway.url(path), &back);
        get(&self.gateway, &url, Some(cookie)).await
    }

    fn assert_unsent(&self, code: &str) {
        for request in self.evil.received() {
            let text = format!("{request:?}");
            assert!(!text.contains(code), "{text}");
        }
    }
}

const HONEST_ISSUER: &str = "https://github.com/login/oauth";
const OWN_ISSUER: &str = "https://api.spy.io";

/// Defence: `host/gateway/src/connections/callback.rs`, asked in `host/gateway/src/connections/flow/arrive.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn a_code_of_another_provider_never_reaches_the_token_endpoint_of_the_plugin() {
    let world = world(&fixture("/instance_name"), CallbackAddress::Service).await;
    let (store, now_ms) = (world.gateway.gateway.store(), 1);
    let other = store
        .create_workspace("mallory's", Plan::Enterprise, None, now_ms)
        .await
        .unwrap();
    let scopes = [Scope::Connections, Scope::UsersAny];
    let theirs = key_of(&world.gateway.gateway, &other.id, "agent", &scopes)
        .await
        .unwrap();
    for key in [world.gateway.key.clone(), theirs] {
        for (path, issuer) in [
            ("/oauth/callback/github", None),
            ("/oauth/callback/github", Some(HONEST_ISSUER)),
            ("/oauth/callback/github", Some(OWN_ISSUER)),
            ("/oauth/callback/spy", Some(HONEST_ISSUER)),
            ("/oauth/callback/nowhere", None),
            ("/oauth/callback", None),
            ("/oauth/callback", Some(HONEST_ISSUER)),
            ("/oauth/callback", Some(OWN_ISSUER)),
        ] {
            let (mut back, cookie, code) = world.lured(&key).await;
            if let Some(issuer) = issuer {
                back.insert("iss".to_owned(), issuer.to_owned());
            }
            let page = world.returns(path, &back, &cookie).await;
            assert_eq!(page.status, 400, "{path} {issuer:?}: {}", page.text);
            assert!(page.text.contains("another provider"), "{}", page.text);
            world.assert_unsent(&code);
            // The flow has ended: the same answer is not taken where it would belong.
            let again = world.returns("/oauth/callback/spy", &back, &cookie).await;
            assert_eq!(again.status, 410, "{path} {issuer:?}: {}", again.text);
            world.assert_unsent(&code);
        }
    }
    assert_eq!(world.evil.received().len(), 0);
}

/// Defence: `host/gateway/src/connections/callback.rs`: at the shared address an answer has to say who sent it, and the
/// token endpoint has to be at the same origin.
#[tokio::test(flavor = "multi_thread")]
async fn at_the_shared_address_an_answer_has_to_prove_that_it_is_of_the_plugins_provider() {
    let mut lying = fixture("/instance_name");
    lying.manifest["auth"][0]["issuer"] = json!(HONEST_ISSUER);
    for (spy, issuer) in [
        (fixture("/instance_name"), None),
        (fixture("/instance_name"), Some(HONEST_ISSUER)),
        (
            fixture("/instance_name"),
            Some("https://api.spy.io.evil.test"),
        ),
        (lying.clone(), None),
        (lying.clone(), Some(HONEST_ISSUER)),
    ] {
        let world = world(&spy, CallbackAddress::Shared).await;
        let (mut back, cookie, code) = world.lured(&world.gateway.key).await;
        if let Some(issuer) = issuer {
            back.insert("iss".to_owned(), issuer.to_owned());
        }
        let page = world.returns("/oauth/callback", &back, &cookie).await;
        assert_eq!(page.status, 400, "{issuer:?}: {}", page.text);
        world.assert_unsent(&code);
    }
}

/// The grants beside these refusals.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_at_its_own_address_is_used() {
    for (callback, path, issuer, status) in [
        (CallbackAddress::Service, "/oauth/callback/spy", None, 200),
        (
            CallbackAddress::Service,
            "/oauth/callback/spy",
            Some(OWN_ISSUER),
            200,
        ),
        (
            CallbackAddress::Shared,
            "/oauth/callback",
            Some(OWN_ISSUER),
            200,
        ),
        (CallbackAddress::Shared, "/oauth/callback", None, 400),
        (
            CallbackAddress::SharedUnproven,
            "/oauth/callback",
            None,
            200,
        ),
        (
            CallbackAddress::SharedUnproven,
            "/oauth/callback",
            Some(HONEST_ISSUER),
            400,
        ),
        (
            CallbackAddress::SharedUnproven,
            "/oauth/callback/spy",
            None,
            400,
        ),
    ] {
        let world = world(&fixture("/instance_name"), callback).await;
        let bait = world.link(&world.gateway.key, "spy", "ada").await;
        let left = press(&world.gateway, &bait, &[]).await;
        let asked = query_of(&left.leads_to());
        let expected = match callback {
            CallbackAddress::Service => "/oauth/callback/spy",
            CallbackAddress::Shared | CallbackAddress::SharedUnproven => "/oauth/callback",
        };
        assert_eq!(asked["redirect_uri"], world.gateway.url(expected));
        let mut back = BTreeMap::from([
            ("code".to_owned(), "a-code-of-the-spy".to_owned()),
            ("state".to_owned(), asked["state"].clone()),
        ]);
        if let Some(issuer) = issuer {
            back.insert("iss".to_owned(), issuer.to_owned());
        }
        let page = world.returns(path, &back, &left.cookie().unwrap()).await;
        assert_eq!(
            page.status, status,
            "{callback:?} {issuer:?}: {}",
            page.text
        );
        let tokens = world.evil.received();
        let tokens = tokens.iter().filter(|one| one.target.ends_with("/token"));
        assert_eq!(
            tokens.count(),
            usize::from(status == 200),
            "{callback:?} {issuer:?}"
        );
    }
}

/// An installation of before each service had an address: its provider knows the shared one.
#[tokio::test(flavor = "multi_thread")]
async fn an_application_of_an_earlier_version_goes_on_working_until_the_operator_moves_it() {
    let world = world(&fixture("/instance_name"), CallbackAddress::Service).await;
    let path = world.gateway.config.gateway.data_dir.join("toolgate.db");
    let pool = sqlx::SqlitePool::connect(&format!("sqlite://{}", path.display()))
        .await
        .unwrap();
    sqlx::query("UPDATE oauth_apps SET settings = '{}'")
        .execute(&pool)
        .await
        .unwrap();
    let redirect_uri = async |user: &str| {
        let url = world.link(&world.gateway.key, "github", user).await;
        let left = press(&world.gateway, &url, &[]).await;
        let back = world.honest.consent(&left.leads_to());
        let url = return_url("", &back);
        let page = get(&world.gateway, &url, left.cookie().as_deref()).await;
        assert!(page.text.contains("Connected"), "{}", page.text);
        query_of(&left.leads_to())["redirect_uri"].clone()
    };
    assert_eq!(
        redirect_uri("ada").await,
        world.gateway.url("/oauth/callback")
    );
    // Saved again as it is: what is registered at the provider has not changed.
    register_for(&world.gateway, "github").await;
    assert_eq!(
        redirect_uri("bob").await,
        world.gateway.url("/oauth/callback")
    );
    let (store, by) = (
        world.gateway.gateway.store(),
        operator(&world.gateway.gateway).await.unwrap(),
    );
    let own = CallbackAddress::Service;
    apps::move_callback(store, &by, "github", ALL_WORKSPACES, own, 1)
        .await
        .unwrap();
    assert_eq!(
        redirect_uri("eve").await,
        world.gateway.url("/oauth/callback/github")
    );
}
