//! Every shipped OAuth integration against a server that speaks as its provider does: connect, call, expiry, refresh,
//! a refused refresh, revocation.
//!
//! `tests/dialects/providers.json` says how each provider speaks and where that is written; a provider without an entry
//! is played as the standard says. The slots are the shipped ones, with an API of our own behind them, many of them in
//! one component. `docs/oauth-providers.md` is the outcome.

mod fake;
mod page;
mod shipped;

use std::path::{Path, PathBuf};

use futures_util::{StreamExt as _, stream};
use reqwest::Method;
use serde_json::{Value, json};
use toolgate_tests::gateway::{Options, TestGateway};

use crate::connect::{press, register_for};
use fake::FakeProvider;
use shipped::ShippedSlot;
use toolgate_core::clock::Clock;

const USER: &str = "ada";
/// Connections that are made at the same time.
const AT_ONCE: usize = 8;

fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("dialects")
        .join(file)
}

/// What happened with one integration.
#[derive(Clone, Debug, Default)]
pub(super) struct Walked {
    pub service: String,
    /// Absent: played as the standard says.
    pub source: Option<String>,
    pub provider: String,
    pub refreshed: bool,
    pub revoked: bool,
}

#[tokio::test(flavor = "multi_thread")]
async fn every_shipped_oauth_integration_is_walked_as_its_provider_speaks() {
    let slots = shipped::slots();
    assert!(slots.len() > 130, "{} integrations", slots.len());
    let fake = FakeProvider::start(&slots).await;
    let plugins = shipped::components(&slots).await;
    let clock = Clock::manual(Clock::system().now_ms());
    let gateway = TestGateway::start(Options {
        allow_upstream: fake.upstreams(&slots),
        plugins: plugins.clone(),
        clock: Some(clock.clone()),
        ..Options::default()
    })
    .await;
    for (file, _) in &plugins {
        gateway.wait_for_file(file, "active").await;
        register_for(&gateway, file.trim_end_matches(".wasm")).await;
    }
    let (gateway, fake) = (&gateway, &fake);
    let walked = all(&slots, async |slot: &ShippedSlot| {
        let walk = Walk {
            gateway,
            fake,
            slot,
        };
        walk.use_and_renew().await
    })
    .await;
    // A token that was renewed just now is not renewed again.
    clock.advance_ms(120_000);
    all(&slots, async |slot: &ShippedSlot| {
        let walk = Walk {
            gateway,
            fake,
            slot,
        };
        walk.refuse_and_reconnect().await
    })
    .await;
    let unknown = fake.unplayed();
    assert!(
        unknown.is_empty(),
        "played for no shipped integration: {unknown:?}"
    );
    page::check(&walked);
}

/// Does the same with every integration; fails with all that went wrong.
async fn all<T>(
    slots: &[ShippedSlot],
    walk: impl AsyncFn(&ShippedSlot) -> Result<T, String>,
) -> Vec<T> {
    let ended: Vec<Result<T, String>> = stream::iter(slots)
        .map(async |slot| {
            let ended = walk(slot).await;
            ended.map_err(|why| format!("{}: {why}", slot.service))
        })
        .buffered(AT_ONCE)
        .collect()
        .await;
    let failed: Vec<&String> = ended.iter().filter_map(|one| one.as_ref().err()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    ended.into_iter().flatten().collect()
}

struct Walk<'a> {
    gateway: &'a TestGateway,
    fake: &'a FakeProvider,
    slot: &'a ShippedSlot,
}

macro_rules! expect {
    ($what:expr, $($why:tt)*) => {
        if !$what {
            return Err(format!($($why)*));
        }
    };
}

impl Walk<'_> {
    /// Connects, calls, and calls again after the token's end.
    async fn use_and_renew(&self) -> Result<Walked, String> {
        let (fake, service) = (self.fake, self.slot.service.as_str());
        let first = self.run().await;
        self.connect(&first).await?;
        let ran = self.run().await;
        expect!(ran["status"] == "success", "the first call: {ran}");
        expect!(
            fake.served(service) == 1,
            "the API has not seen the first token"
        );
        let kept = self.connection().await?;
        if let Some(granted) = fake.granted(service) {
            let scopes = kept["scopes"].as_array().into_iter().flatten();
            let scopes: Vec<&str> = scopes.filter_map(Value::as_str).collect();
            let all = granted.iter().all(|scope| scopes.contains(&scope.as_str()));
            expect!(all, "granted {granted:?}, kept {kept}");
        }
        expect!(
            kept.get("refresh_token_expires_at").is_some() == fake.says_refresh_life(service),
            "the end of the refresh token: {kept}"
        );
        let refreshed = fake.gives_refresh_token(service);
        if refreshed {
            fake.expire(service);
            let ran = self.run().await;
            expect!(ran["status"] == "success", "after the token's end: {ran}");
            expect!(
                fake.served(service) == 2,
                "the API has not seen the renewed token"
            );
        }
        Ok(Walked {
            service: service.to_owned(),
            source: fake.source(service),
            provider: fake.name(service),
            refreshed,
            revoked: self.slot.slot.revoke_url.is_some(),
        })
    }

    /// The provider takes nothing any more, says so in its words, and the user connects again.
    async fn refuse_and_reconnect(&self) -> Result<(), String> {
        let (fake, service) = (self.fake, self.slot.service.as_str());
        if fake.gives_refresh_token(service) {
            fake.end(service);
            let ran = self.run().await;
            expect!(
                ran["status"] == "auth_expired",
                "after a refused refresh: {ran}"
            );
            let kept = self.connection().await?;
            let why = kept["last_error"].as_str().unwrap_or_default();
            let words = fake.words(service);
            expect!(
                !words.is_empty() && why.contains(&words),
                "{words:?} is not in {kept}"
            );
            self.connect(&ran).await?;
            let ran = self.run().await;
            expect!(ran["status"] == "success", "connected again: {ran}");
        }
        let kept = self.connection().await?;
        let path = format!(
            "/v1/connections/{}",
            kept["connection_id"].as_str().unwrap_or_default()
        );
        let key = Some(self.gateway.key.as_str());
        let gone = self.gateway.send(Method::DELETE, &path, key, None).await;
        expect!(
            (200..300).contains(&gone.status),
            "delete: {} {}",
            gone.status,
            gone.text
        );
        if self.slot.slot.revoke_url.is_some() {
            expect!(fake.revoked(service), "no revocation, or of another token");
        }
        Ok(())
    }

    /// Opens the link of an answer and agrees to the end.
    async fn connect(&self, ran: &Value) -> Result<(), String> {
        let service = self.slot.service.as_str();
        let link = ran["connect_url"].as_str();
        let link = link.ok_or_else(|| format!("no link: {ran}"))?;
        // The page asks for the parameters of all slots that share the component.
        let shown = crate::connect::get(self.gateway, link, None).await;
        let fields = shown.text.split("name=\"p_").skip(1);
        let fields: Vec<String> = fields
            .filter_map(|rest| rest.split('"').next())
            .map(|key| format!("p_{key}"))
            .collect();
        let form: Vec<(&str, &str)> = fields
            .iter()
            .map(|field| (field.as_str(), shipped::PARAMETER))
            .collect();
        let left = press(self.gateway, link, &form).await;
        expect!(
            left.status == 200,
            "the page: {} {}",
            left.status,
            left.text
        );
        let base = &self.gateway.config.gateway.public_url;
        let callback = format!("{base}/oauth/callback/{}", self.slot.plugin);
        let back = self.fake.consent(self.slot, &left.leads_to(), &callback)?;
        let page = crate::connect::get(self.gateway, &back, left.cookie().as_deref()).await;
        expect!(
            page.text.contains("Connected"),
            "{service} was not connected: {}",
            page.text
        );
        Ok(())
    }

    async fn run(&self) -> Value {
        let path = format!("/v1/tools/{}/execute", self.slot.tool());
        let body = json!({"arguments": {}, "user_id": USER});
        loop {
            let answer = self.gateway.post(&path, &body).await;
            if answer.status != 503 {
                return answer.data();
            }
        }
    }

    /// The one whose account has the integration's name.
    async fn connection(&self) -> Result<Value, String> {
        let path = format!(
            "/v1/connections?user_id={USER}&service={}&limit=100",
            self.slot.plugin
        );
        let data = self.gateway.get(&path).await.data();
        let all = data["connections"].as_array().cloned().unwrap_or_default();
        let found = all
            .into_iter()
            .find(|one| one["account"].as_str() == Some(self.slot.service.as_str()));
        found.ok_or_else(|| format!("no connection of its account: {data}"))
    }
}
