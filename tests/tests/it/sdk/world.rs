//! Where a case is acted out: a gateway whose clock the test moves, with the plugins github and
//! hackernews, a provider in GitHub's place, a recording service in Hacker News' place, and a door.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use axum::http::Response;
use serde_json::{Value, json};
use toolgate_core::clock::Clock;
use toolgate_core::ids::UserId;
use toolgate_gateway::Scope;
use toolgate_gateway::connections::origins::OriginAdmin;
use toolgate_gateway::identity::keys;
use toolgate_store::Plan;
use toolgate_tests::gateway::{Options, TestGateway, built_plugin};
use toolgate_tests::ports::free_port;
use toolgate_tests::provider::Provider;
use toolgate_tests::upstream::{Received, Upstream};

use super::door::Door;
use super::story::Case;

/// The beginning of a minute.
const NOW_MS: i64 = 1_800_000_000_000;
const MINUTE_MS: i64 = 60_000;
/// Requests a minute of the key `limited`.
const LIMITED_RPM: u32 = 2;

/// What all cases of a language share.
pub struct World {
    pub gateway: TestGateway,
    clock: Clock,
    provider: Provider,
    news: Upstream,
    /// Where webhooks lead, as `hooks.example.test`.
    hooks: Upstream,
    /// Another host, which must hear nothing.
    elsewhere: Upstream,
}

/// What a case has to itself: a workspace with its keys, a door, and what is heard from now on.
pub struct Place<'a> {
    world: &'a World,
    pub door: Door,
    keys: BTreeMap<&'static str, String>,
    heard_before: BTreeMap<String, usize>,
    /// Deliveries that were looked at.
    delivered: AtomicUsize,
}

impl World {
    pub async fn start() -> Self {
        let (provider, clock) = (Provider::start().await, Clock::manual(NOW_MS));
        let news = Upstream::start(hacker_news).await;
        let hooks = Upstream::start(|_| Response::new(Body::empty())).await;
        let elsewhere = Upstream::start(|_| Response::new(Body::from("{}"))).await;
        let plugin = |name: &str| (format!("{name}.wasm"), built_plugin(name).unwrap());
        let hub = provider.upstream.url();
        let gateway = TestGateway::start(Options {
            plugins: vec![plugin("github"), plugin("hackernews")],
            allow_upstream: vec![
                format!("github.com={hub}"),
                format!("api.github.com={hub}"),
                format!("hacker-news.firebaseio.com={}", news.url()),
                format!("hooks.example.test={}", hooks.url()),
            ],
            clock: Some(clock.clone()),
            ..Options::default()
        })
        .await;
        crate::connect::register(&gateway).await;
        Self {
            gateway,
            clock,
            provider,
            news,
            hooks,
            elsewhere,
        }
    }

    /// A place for a case, at the beginning of a minute, so that limits count from zero.
    pub async fn place(&self, case: &Case) -> Place<'_> {
        let past = self.clock.now_ms().rem_euclid(MINUTE_MS);
        self.clock.advance_ms(MINUTE_MS - past);
        let now_ms = self.clock.now_ms();
        let store = self.gateway.gateway.store();
        let name = format!("{} at {now_ms}", case.name);
        let made = store.create_workspace(&name, Plan::Enterprise, None, now_ms);
        let workspace = made.await.unwrap();
        let agent = [Scope::ToolsRead, Scope::ToolsExecute, Scope::UsersAny];
        let approver = [Scope::Approvals, Scope::UsersAny];
        let mut keys = BTreeMap::from([("wrong", format!("tg_live_{}", "x".repeat(43)))]);
        for (name, scopes, rpm) in [
            ("all", Scope::ALL, None),
            ("agent", &agent, None),
            ("approver", &approver, None),
            ("limited", Scope::ALL, Some(LIMITED_RPM)),
        ] {
            let new = keys::NewKey {
                name: name.to_owned(),
                user: UserId::parse("default").unwrap(),
                scopes: scopes.to_vec(),
                rpm,
                rpd: None,
                expires_at_ms: None,
                networks: Vec::new(),
            };
            let created = keys::create(
                store,
                &toolgate_gateway::Caller::operator(&workspace),
                new,
                now_ms,
            )
            .await
            .unwrap();
            keys.insert(name, created.key.expose().to_owned());
        }
        let admin = OriginAdmin {
            store,
            caller: &toolgate_gateway::Caller::operator(&workspace),
            now_ms,
        };
        admin.add("https://app.example.com").await.unwrap();
        Place {
            world: self,
            door: Door::start(self.gateway.address, self.elsewhere.address, &case.door).await,
            keys,
            heard_before: self.counted(),
            delivered: AtomicUsize::new(self.hooks.received().len()),
        }
    }

    /// How often the services heard what, as `METHOD path`.
    fn counted(&self) -> BTreeMap<String, usize> {
        let mut counted = BTreeMap::new();
        for service in [&self.provider.upstream, &self.news] {
            for one in service.received() {
                let what = format!("{} {}", one.method, one.target);
                *counted.entry(what).or_default() += 1;
            }
        }
        counted
    }
}

impl Place<'_> {
    /// What a client is started with: the key by its name, the door or an address nobody listens at.
    pub async fn client(&self, case: &Case) -> Value {
        let address = if case.server_down {
            nobody()
        } else {
            self.door.address
        };
        let key = &self.keys[case.key.as_str()];
        let mut client = json!({"url": format!("http://{address}"), "key": key});
        for (name, value) in &case.client {
            client[name] = value.clone();
        }
        client
    }

    /// Every key that a client may hold, for looking where none may be.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.keys.values()
    }

    /// Time goes by, for the gateway too.
    pub fn wait(&self, ms: i64) {
        self.world.clock.advance_ms(ms);
    }

    /// The user opens a connect link and agrees; an approval is decided by another member than the one who asked.
    pub async fn user_acts(&self, url: &str, decision: &str) {
        let World {
            gateway, provider, ..
        } = self.world;
        if url.contains("/approvals/") {
            let id = url.rsplit('/').next().unwrap();
            let answer = gateway
                .decide_as(&self.keys["approver"], &json!(id), decision)
                .await;
            assert_eq!(answer.status, 200, "{}", answer.text);
        } else {
            let status = crate::connect::connected(gateway, provider, url).await;
            assert_eq!(status, 200);
        }
    }

    /// The next delivery to a webhook, and the time in seconds at which it is looked at.
    pub async fn delivery(&self) -> [(String, Value); 3] {
        let World {
            gateway,
            hooks,
            clock,
            ..
        } = self.world;
        let at = self.delivered.fetch_add(1, Ordering::SeqCst);
        gateway
            .wait("the delivery", async || hooks.received().len() > at)
            .await;
        let delivery = hooks.received().swap_remove(at);
        let headers: BTreeMap<String, String> = delivery.headers.into_iter().collect();
        [
            ("payload".to_owned(), json!(delivery.body)),
            ("headers".to_owned(), json!(headers)),
            ("now".to_owned(), json!(clock.now_ms().div_euclid(1_000))),
        ]
    }

    /// How often a service heard this in this case, as `METHOD path`.
    pub fn heard(&self, what: &str) -> usize {
        let before = self.heard_before.get(what).copied().unwrap_or_default();
        let now = self.world.counted().get(what).copied().unwrap_or_default();
        now - before
    }

    pub fn heard_elsewhere(&self) -> usize {
        self.world.elsewhere.received().len()
    }
}

/// A loopback address at which nobody listens.
fn nobody() -> SocketAddr {
    ([127, 0, 0, 1], free_port()).into()
}

fn hacker_news(request: &Received) -> Response<Body> {
    let (status, body) = match request.target.as_str() {
        "/v0/topstories.json" => (200, json!([8863, 9224])),
        "/v0/item/8863.json" => (
            200,
            json!({"id": 8863, "type": "story", "by": "ada", "title": "Gateways in Rust", "score": 111}),
        ),
        "/v0/item/503.json" => (503, json!({"error": "later"})),
        "/v0/item/1000.json" => (
            200,
            json!({"id": 1000, "type": "story", "text": "long ".repeat(200)}),
        ),
        _ => (404, json!({"error": "no such item"})),
    };
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .expect("a plain answer")
}
