//! Limits across the wire: which answer carries what, and how much several processes let through.

use serde_json::json;
use toolgate_core::clock::Clock;
use toolgate_core::ids::UserId;
use toolgate_gateway::identity::keys;
use toolgate_gateway::{Scope, limits};
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{Answer, Options, TestGateway};
use toolgate_tests::postgres;

use crate::parity::tool_answer;

/// 2026-11-20T09:30:30.250Z.
const NOW_MS: i64 = 1_795_167_030_250;

async fn start(clock: &Clock) -> TestGateway {
    start_with(clock, Options::default()).await
}

async fn start_with(clock: &Clock, options: Options) -> TestGateway {
    TestGateway::start(Options {
        plugins: vec![("demo.wasm".to_owned(), Fixture::new("demo").build())],
        clock: Some(clock.clone()),
        ..options
    })
    .await
}

async fn key(gateway: &TestGateway, rpm: Option<u32>, rpd: Option<u32>) -> String {
    let (store, now_ms) = (gateway.gateway.store(), gateway.gateway.clock().now_ms());
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let new = keys::NewKey {
        name: "limited".to_owned(),
        user: UserId::parse("ada").unwrap(),
        scopes: Scope::ALL.to_vec(),
        rpm,
        rpd,
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
    created.key.expose().to_owned()
}

async fn status(gateway: &TestGateway, key: &str) -> Answer {
    gateway
        .send(reqwest::Method::GET, "/v1/status", Some(key), None)
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_429_says_exactly_when_to_come_back_on_both_edges() {
    for (rpm, rpd, window, policy, retry_after_s) in [
        (Some(2), None, "minute", "\"minute\";q=2;w=60", 30),
        (None, Some(2), "day", "\"day\";q=2;w=86400", 52_170),
    ] {
        let clock = Clock::manual(NOW_MS);
        let gateway = start(&clock).await;
        let key = key(&gateway, rpm, rpd).await;
        for _ in 0..2 {
            let passed = status(&gateway, &key).await;
            assert_eq!(passed.status, 200);
            assert!(!passed.headers.contains_key("retry-after"));
        }
        let refused = status(&gateway, &key).await;
        let said = tool_answer(&gateway, &key, "svc_health_check", json!({})).await;
        for answer in [&refused, &said] {
            assert_eq!(
                (answer.status, &*answer.code()),
                (429, "rate_limit_exceeded")
            );
            let header = |name: &str| answer.headers[name].to_str().unwrap().to_owned();
            assert_eq!(header("retry-after"), retry_after_s.to_string());
            assert_eq!(header("ratelimit-policy"), policy);
            assert_eq!(
                header("ratelimit"),
                format!("\"{window}\";r=0;t={retry_after_s}")
            );
            let details = answer.json()["error"]["details"].clone();
            assert_eq!(
                details,
                json!({ "window": window, "limit": 2, "retry_after_s": retry_after_s })
            );
        }
        // One millisecond too early, then exactly in time.
        clock.advance_ms(retry_after_s * 1_000 - 251);
        assert_eq!(status(&gateway, &key).await.status, 429);
        clock.advance_ms(1);
        assert_eq!(status(&gateway, &key).await.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn status_tells_the_limits_of_key_and_workspace() {
    let clock = Clock::manual(NOW_MS);
    let gateway = start(&clock).await;
    let limited = key(&gateway, Some(60), Some(5_000)).await;
    let told = status(&gateway, &limited).await.data()["limits"].clone();
    assert_eq!(told["key_requests_per_minute"], 60);
    assert_eq!(told["key_requests_per_day"], 5_000);
    assert_eq!(told["workspace_requests_per_minute"], json!(null));
    let free = status(&gateway, &gateway.key).await.data()["limits"].clone();
    assert_eq!(free["key_requests_per_minute"], json!(null));
    let store = gateway.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let plan = Some(toolgate_store::Plan::Pro);
    let changed = store.change_workspace_limits(&workspace.id, plan, Some(None));
    assert!(changed.await.unwrap().is_some());
    let told = status(&gateway, &limited).await.data()["limits"].clone();
    assert_eq!(told["workspace_requests_per_minute"], limits::PRO_RPM);
}

/// The bound that `gateway/limits.rs` states: `limit + (n - 1) * share`.
#[tokio::test(flavor = "multi_thread")]
async fn processes_that_share_a_postgresql_overshoot_by_at_most_a_share_each() {
    const RPM: i64 = 60;
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .unwrap();
    let clock = Clock::manual(NOW_MS);
    let folder = tempfile::tempdir().unwrap();
    let options = || Options {
        database_url: Some(url.clone()),
        master_key_file: Some(folder.path().join("master.key")),
        ..Options::default()
    };
    let first = start_with(&clock, options()).await;
    let key = key(&first, Some(u32::try_from(RPM).unwrap()), None).await;
    let (second, third) =
        tokio::join!(start_with(&clock, options()), start_with(&clock, options()));
    let processes = [&first, &second, &third];
    let tries = (0..4 * RPM).map(|n| status(processes[usize::try_from(n).unwrap() % 3], &key));
    let answers = futures_util::future::join_all(tries).await;
    let passed = answers.iter().filter(|answer| answer.status == 200).count();
    let refused = answers.iter().filter(|answer| answer.status == 429).count();
    assert_eq!(passed + refused, answers.len());
    let most = RPM + 2 * limits::share(RPM);
    let passed = i64::try_from(passed).unwrap();
    assert!((RPM..=most).contains(&passed), "{passed} of at most {most}");
    // From now on every process knows.
    for process in processes {
        assert_eq!(status(process, &key).await.status, 429);
    }
}
