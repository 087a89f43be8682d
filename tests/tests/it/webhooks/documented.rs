//! Every type that docs/events.md names is provoked and arrives, with the fields that it says.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_gateway::Scope;
use toolgate_gateway::identity::keys;
use toolgate_store::EventType;
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{Options, PATIENCE, TestGateway, built_plugin, new_key};
use toolgate_tests::provider::Provider;
use toolgate_tests::receiver::Receiver;

use super::{patch, skill, webhook};

const DOCUMENT: &str = include_str!("../../../../docs/events.md");
const AT: &str = "/ok/all";

/// Type to the fields of `data`.
fn documented() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in DOCUMENT.lines().filter(|line| line.starts_with("| `")) {
        let columns: Vec<&str> = line.trim_matches('|').split('|').collect();
        let kind = columns[0].trim().trim_matches('`');
        let words = |text: &'static str| text.split('`').skip(1).step_by(2);
        let fields = match columns[2].trim().strip_prefix("as ") {
            Some(other) => found[words(other).next().unwrap()].clone(),
            None => words(columns[2]).collect(),
        };
        assert!(
            found.insert(kind, fields).is_none(),
            "{kind} stands there twice"
        );
    }
    found
}

#[test]
fn the_document_names_every_type() {
    let written: BTreeSet<&str> = documented().into_keys().collect();
    let known: BTreeSet<&str> = EventType::ALL.iter().map(|kind| kind.into_str()).collect();
    assert_eq!(written, known);
}

struct World {
    receiver: Receiver,
    provider: Provider,
    gateway: TestGateway,
}

impl World {
    async fn open() -> Self {
        let receiver = Receiver::start(0.0).await.unwrap();
        let provider = Provider::start().await;
        // What nobody can renew is told of before its end.
        provider.memory().no_refresh = true;
        let hub = provider.upstream.url();
        let gateway = TestGateway::start(Options {
            plugins: vec![
                ("github.wasm".to_owned(), built_plugin("github").unwrap()),
                ("moody.wasm".to_owned(), moody("1.0.0").build()),
            ],
            allow_upstream: vec![
                receiver.upstream(),
                format!("github.com={hub}"),
                format!("api.github.com={hub}"),
            ],
            ..Options::default()
        })
        .await;
        crate::connect::register(&gateway).await;
        Self {
            receiver,
            provider,
            gateway,
        }
    }

    async fn arrived(&self) -> Vec<Value> {
        let arrived = self.receiver.at(AT).await;
        assert!(arrived.iter().all(|one| one.verified == [true]));
        arrived.into_iter().map(|one| one.event).collect()
    }

    async fn told(&self, kind: &str) -> Vec<Value> {
        let all = self.arrived().await.into_iter();
        all.filter(|event| event["type"] == kind)
            .map(|mut event| event["data"].take())
            .collect()
    }

    async fn call(&self, tool: &str) -> Value {
        self.gateway.execute(tool, json!({})).await
    }

    async fn skills_keys_and_permissions(&self) {
        let gateway = &self.gateway;
        let path = format!("/v1/skills/{}", skill(gateway, "first").await);
        let key = Some(gateway.key.as_str());
        let body = Some(json!({"summary": "better"}).to_string());
        gateway.send(Method::PUT, &path, key, body).await.data();
        gateway.send(Method::DELETE, &path, key, None).await.data();

        new_key(&gateway.gateway, "passing", &[Scope::ToolsRead])
            .await
            .unwrap();
        let store = gateway.gateway.store();
        let workspace = store.first_workspace().await.unwrap().unwrap();
        let now_ms = gateway.gateway.clock().now_ms();
        keys::revoke(
            store,
            &toolgate_gateway::Caller::operator(&workspace),
            "passing",
            now_ms,
        )
        .await
        .unwrap();

        let path = "/v1/permissions/default";
        for default in ["by_effect", "by_effect"] {
            patch(gateway, path, json!({"default": default}))
                .await
                .data();
        }
        let allow = serde_json::from_value(json!({"default": "allow"})).unwrap();
        let owner = toolgate_gateway::Caller::operator(&workspace);
        let changed = gateway.gateway.change_default_permission(&owner, allow);
        changed.await.unwrap();
        let path = "/v1/permissions/users/default/tools/moody_run";
        patch(gateway, path, json!({"permission": "ask"}))
            .await
            .data();
        let parked = self.call("moody_run").await;
        assert_eq!(parked["status"], "approval_required");
        let decided = gateway.decide(&parked["approval_id"], "deny");
        decided.await.data();
        patch(gateway, path, json!({"permission": "inherit"}))
            .await
            .data();
    }

    async fn connects(&self, asked: &Value) {
        let link = asked["connect_url"].as_str().unwrap();
        let status = crate::connect::connected(&self.gateway, &self.provider, link).await;
        assert_eq!(status, 200);
    }

    async fn a_connection_lives(&self) {
        const TOOL: &str = "github_get_authenticated_user";
        let asked = self.call(TOOL).await;
        assert_eq!(asked["status"], "auth_required");
        self.connects(&asked).await;
        let ran = self.call(TOOL).await;
        assert_eq!(ran["status"], "success");
        self.provider.expire_access_tokens();
        let asked = self.call(TOOL).await;
        assert_eq!(asked["status"], "auth_expired");
        self.connects(&asked).await;
        self.gateway
            .wait("the end to be told ahead", async || {
                !self.told("connection.expiring").await.is_empty()
            })
            .await;
        let told = self.told("connection.created").await;
        let path = format!(
            "/v1/connections/{}",
            told[0]["connection_id"].as_str().unwrap()
        );
        let key = Some(self.gateway.key.as_str());
        self.gateway
            .send(Method::DELETE, &path, key, None)
            .await
            .data();
        // The call began a session of its own.
        let begun = self.told("session.created").await;
        let mut begun = begun.iter().map(|data| &data["session_id"]);
        assert!(begun.any(|id| *id == ran["session_id"]), "{ran}");
    }

    async fn plugins_come_and_go(&self) {
        let gateway = &self.gateway;
        gateway.drop_file("junk.wasm", b"no component");
        let bad = moody("1.1.0").invoke("(unreachable)");
        gateway.drop_file("moody.wasm", &bad.build());
        // Until it has crashed so often that the version before it serves again.
        gateway
            .wait("the new version to come and go", async || {
                let crashed = self.call("moody_run").await["reason"] == "plugin_crashed";
                !crashed && !self.told("tool.failed").await.is_empty()
            })
            .await;
        gateway
            .wait("the rollback to be told", async || {
                !self.told("plugin.rolled_back").await.is_empty()
            })
            .await;
        let back = &self.told("plugin.rolled_back").await[0];
        assert_eq!(
            (
                &back["version"],
                &back["from"]["version"],
                &back["automatic"]
            ),
            (&json!("1.0.0"), &json!("1.1.0"), &json!(true))
        );
        let wider = moody("1.2.0").with("hosts", json!(["api.wider.example.com"]));
        let wider = wider.with("capabilities", json!(["egress"]));
        gateway.drop_file("moody.wasm", &wider.build());
    }

    async fn somebody_talks(&self) {
        let body = json!({"prompt": "hello", "user_id": "ada"});
        let made = self.gateway.post("/v1/sessions", &body).await.data();
        let id = &made["session_id"];
        self.gateway
            .wait("both messages to be told", async || {
                let told = self.told("message.created").await;
                told.iter().filter(|data| data["session_id"] == *id).count() == 2
            })
            .await;
        let told = self.told("message.created").await;
        let roles: Vec<_> = told.iter().map(|data| &data["role"]).collect();
        assert_eq!(roles, ["user", "assistant"]);
        assert_eq!(told[1]["status"], "completed");
        assert!(told.iter().all(|data| data["user_id"] == "ada"));
        assert!(!format!("{told:?}").contains("hello"));
    }
}

fn moody(version: &str) -> Fixture {
    Fixture::new("moody").with("version", json!(version))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_documented_event_is_told_of() {
    let world = World::open().await;
    let (gateway, receiver) = (&world.gateway, &world.receiver);
    let (id, _) = webhook(gateway, receiver, AT, json!({"events": ["*"]})).await;
    let test = format!("/v1/webhooks/{id}/test");
    let key = Some(gateway.key.as_str());
    gateway.send(Method::POST, &test, key, None).await.data();
    let doomed = json!({"events": ["skill.created"]});
    webhook(gateway, receiver, "/gone/doomed", doomed).await;

    world.skills_keys_and_permissions().await;
    world.a_connection_lives().await;
    world.plugins_come_and_go().await;
    world.somebody_talks().await;

    let documented = documented();
    let missing = async || {
        let arrived = world.arrived().await;
        let came = |kind: &str| arrived.iter().any(|event| event["type"] == kind);
        let kinds = documented.keys().copied();
        kinds.filter(|kind| !came(kind)).collect::<Vec<_>>()
    };
    let all = tokio::time::timeout(PATIENCE, async {
        while !missing().await.is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    });
    if all.await.is_err() {
        panic!("nothing told of {:?}", missing().await);
    }

    for event in world.arrived().await {
        let kind = event["type"].as_str().unwrap();
        let fields = event["data"].as_object().unwrap().keys();
        let fields: BTreeSet<&str> = fields.map(String::as_str).collect();
        // Of permissions either a user's rules are told or the default.
        let expected = match kind {
            "permission.changed" if fields.contains("default") => BTreeSet::from(["default"]),
            "permission.changed" => BTreeSet::from(["user_id", "rules"]),
            _ => documented[kind].clone(),
        };
        assert_eq!(fields, expected, "{kind}");
    }
    // Setting what is set already changes nothing.
    let changed = world.told("permission.changed").await;
    let defaults = changed.iter().filter_map(|data| data["default"].as_str());
    assert_eq!(defaults.collect::<Vec<_>>(), ["by_effect", "allow"]);
}
