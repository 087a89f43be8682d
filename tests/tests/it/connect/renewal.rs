//! Tokens are renewed ahead of their end, once, by one process.

use std::fs;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use toolgate_core::clock::Clock;
use toolgate_tests::gate::{Gate, Point};
use toolgate_tests::gateway::Options;
use toolgate_tests::postgres;
use toolgate_tests::provider::Provider;

use super::{connect, follow, gateway, gateway_before, run, state, world};

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_renewed_ahead_of_its_end() {
    let (gateway, provider) = world().await;
    // One millisecond. 0 would say nothing.
    provider.memory().lifetime_s = Some(0.001);
    connect(&gateway, &provider, "ada").await;
    assert_eq!(run(&gateway, "ada").await["status"], "success");
    assert_eq!(run(&gateway, "ada").await["status"], "success");
    assert_eq!(provider.memory().refreshes, 1);
    // No request went out with the old token: the provider would have refused none.
    let asked = provider.upstream.received();
    assert!(
        asked.iter().filter(|one| one.target == "/user").count() == 3,
        "{asked:?}"
    );
}

/// What a provider said of a life once counts until it says something else.
#[tokio::test(flavor = "multi_thread")]
async fn a_life_that_a_renewal_does_not_repeat_counts_on() {
    let (gateway, provider) = world().await;
    provider.memory().lifetime_s = Some(0.001);
    connect(&gateway, &provider, "ada").await;
    for said in [json!({"expires_in": null}), json!({"expires_in": 0})] {
        provider.memory().beside = said.as_object().unwrap().clone();
        let before = provider.memory().refreshes;
        assert_eq!(run(&gateway, "ada").await["status"], "success");
        assert_eq!(provider.memory().refreshes, before + 1, "{said}");
    }
    // Without a life there is no end.
    provider.memory().lifetime_s = Some(0.0);
    provider.memory().beside.clear();
    connect(&gateway, &provider, "eve").await;
    let before = provider.memory().refreshes;
    assert_eq!(run(&gateway, "eve").await["status"], "success");
    assert_eq!(run(&gateway, "eve").await["status"], "success");
    assert_eq!(provider.memory().refreshes, before);
}

/// A page in place of an answer is the provider's word too, and the end of a refresh token is shown.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_provider_says_of_a_refresh_reaches_people() {
    let (gateway, provider) = world().await;
    let ends = json!({"refresh_token_expires_in": 7_776_000});
    provider.memory().beside = ends.as_object().unwrap().clone();
    let id = connect(&gateway, &provider, "ada").await;
    let shown = gateway.get(&format!("/v1/connections/{id}")).await.data();
    let ends_ms =
        toolgate_core::clock::parse_rfc3339(shown["refresh_token_expires_at"].as_str().unwrap());
    let left_ms = ends_ms.unwrap() - gateway.gateway.clock().now_ms();
    assert!(
        (7_700_000_000..=7_776_000_000).contains(&left_ms),
        "{shown}"
    );
    provider.expire_access_tokens();
    provider.memory().broken = Some(400);
    let ran = run(&gateway, "ada").await;
    assert_eq!(ran["status"], "auth_expired", "{ran}");
    assert!(ran["connect_url"].is_string(), "{ran}");
    let shown = gateway.get(&format!("/v1/connections/{id}")).await.data();
    assert_eq!(shown["last_error"], "the provider refused: provider_error");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_as_old_as_the_request_that_brought_it() {
    const TOKEN: &str = "/login/oauth/access_token";
    let provider = Provider::start().await;
    let gate = Gate::before(&provider.upstream.url()).await;
    let gateway = gateway_before(gate.url(), Options::default()).await;
    let lives = json!({"expires_in": 2});
    provider.memory().beside = lives.as_object().unwrap().clone();
    // Longer than three quarters of the lifetime, after which a token is renewed.
    let slow = async || {
        gate.held().await;
        tokio::time::sleep(Duration::from_millis(1_600)).await;
        gate.release();
    };

    gate.hold(TOKEN, Point::Done);
    tokio::join!(connect(&gateway, &provider, "ada"), slow());
    gate.hold(TOKEN, Point::Done);
    let (first, ()) = tokio::join!(run(&gateway, "ada"), slow());
    assert_eq!(first["status"], "success", "{first}");
    assert_eq!(provider.memory().refreshes, 1, "the first token ends soon");
    let second = run(&gateway, "ada").await;
    assert_eq!(second["status"], "success", "{second}");
    assert_eq!(
        provider.memory().refreshes,
        2,
        "the renewed token ends soon"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_near_its_end_is_renewed_while_nobody_calls() {
    let (gateway, provider) = world().await;
    connect(&gateway, &provider, "ada").await;
    connect(&gateway, &provider, "eve").await;
    // One of the two ends within the minute, as the clock of this gateway cannot be moved.
    let path = gateway.config.gateway.data_dir.join("toolgate.db");
    let pool = sqlx::SqlitePool::connect(&format!("sqlite://{}", path.display()))
        .await
        .unwrap();
    sqlx::query("UPDATE connections SET token_expires_at_ms = $1 WHERE user_id = 'ada'")
        .bind(gateway.gateway.clock().now_ms() + 30_000)
        .execute(&pool)
        .await
        .unwrap();
    gateway
        .wait("the token to be renewed", async || {
            provider.memory().refreshes > 0
        })
        .await;
    assert_eq!(run(&gateway, "ada").await["status"], "success");
    assert_eq!(run(&gateway, "eve").await["status"], "success");
    assert_eq!(provider.memory().refresh_requests, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_calls_on_an_expired_token_refresh_once() {
    let (gateway, provider) = world().await;
    connect(&gateway, &provider, "ada").await;
    provider.expire_access_tokens();
    let calls = (0..200).map(|_| run(&gateway, "ada"));
    for answer in futures_util::future::join_all(calls).await {
        assert_eq!(answer["status"], "success", "{answer}");
    }
    assert_eq!(provider.memory().refresh_requests, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_gateways_on_one_database_refresh_once() {
    let provider = Provider::start().await;
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .unwrap();
    let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let start = async |folder: &TempDir| {
        let options = Options {
            database_url: Some(url.clone()),
            data_dir: Some(folder.path().to_owned()),
            ..Options::default()
        };
        gateway(&provider, options).await
    };
    let one = start(&folders[0]).await;
    let key = folders[1].path().join("master.key");
    fs::copy(folders[0].path().join("master.key"), &key).unwrap();
    let two = start(&folders[1]).await;
    two.wait("the second gateway to serve the plugin too", async || {
        let path = format!("/v1/tools/{}/schema", super::TOOL);
        two.get(&path).await.status == 200
    })
    .await;
    for round in 1..=3 {
        // One that was renewed in the round before would not be renewed again so soon.
        let user = format!("ada-{round}");
        connect(&one, &provider, &user).await;
        provider.expire_access_tokens();
        let calls = (0..100).flat_map(|_| [run(&one, &user), run(&two, &user)]);
        for answer in futures_util::future::join_all(calls).await {
            assert_eq!(answer["status"], "success", "{answer}");
        }
        assert_eq!(provider.memory().refresh_requests, round);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_that_takes_no_token_is_not_worth_a_renewal_each_call() {
    let (gateway, provider) = world().await;
    let id = connect(&gateway, &provider, "ada").await;
    provider.memory().refuses = true;
    for _ in 0..5 {
        let answer = run(&gateway, "ada").await;
        assert_eq!(answer["status"], "auth_expired", "{answer}");
    }
    assert_eq!(provider.memory().refresh_requests, 1);
    assert_eq!(provider.memory().clients.len(), 2, "the code's token too");
    assert_eq!(
        state(&gateway, &id).await,
        "reauth_needed",
        "the connection says what the calls say"
    );
    // Whoever connects again begins anew.
    provider.memory().refuses = false;
    let asked = run(&gateway, "ada").await;
    follow(&gateway, &provider, asked["connect_url"].as_str().unwrap()).await;
    provider.expire_access_tokens();
    assert_eq!(run(&gateway, "ada").await["status"], "success");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_refused_is_renewed_once_a_minute() {
    let provider = Provider::start().await;
    let clock = Clock::manual(1_795_167_030_000);
    let options = Options {
        clock: Some(clock.clone()),
        ..Options::default()
    };
    let gateway = gateway(&provider, options).await;
    connect(&gateway, &provider, "ada").await;
    for refreshes in 1..=2 {
        clock.advance_ms(60_000);
        provider.expire_access_tokens();
        assert_eq!(run(&gateway, "ada").await["status"], "success");
        assert_eq!(provider.memory().refresh_requests, refreshes);
    }
    clock.advance_ms(59_999);
    provider.expire_access_tokens();
    assert_eq!(run(&gateway, "ada").await["status"], "auth_expired");
    assert_eq!(provider.memory().refresh_requests, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_file_that_is_away_while_a_token_is_renewed_costs_nobody_the_connection() {
    let (gateway, provider) = world().await;
    let id = connect(&gateway, &provider, "ada").await;
    provider.expire_access_tokens();
    let key = &gateway.config.gateway.master_key_file;
    let away = key.with_extension("away");
    fs::rename(key, &away).unwrap();
    let back = async {
        gateway
            .wait("the provider to renew the token", async || {
                provider.memory().refreshes == 1
            })
            .await;
        // The gateway goes on meanwhile.
        for _ in 0..20 {
            gateway.get("/v1/connections").await.data();
        }
        fs::rename(&away, key).unwrap();
    };
    let (answer, ()) = tokio::join!(run(&gateway, "ada"), back);
    assert_eq!(answer["status"], "success", "{answer}");
    assert_eq!(state(&gateway, &id).await, "active");
    assert_eq!(provider.memory().refresh_requests, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_is_away_costs_nobody_the_connection() {
    let (gateway, provider) = world().await;
    let id = connect(&gateway, &provider, "ada").await;
    provider.expire_access_tokens();
    provider.memory().broken = Some(503);
    let answer = run(&gateway, "ada").await;
    assert_eq!(answer["status"], "error", "{answer}");
    assert_eq!(answer["error"]["can_retry"], true);
    assert!(
        answer["error"]["retry_after_ms"]
            .as_u64()
            .is_some_and(|ms| ms > 0)
    );
    assert_eq!(state(&gateway, &id).await, "cooling_down");
    // Until its time has come it is not tried again.
    run(&gateway, "ada").await;
    assert_eq!(provider.memory().refresh_requests, 1);
    provider.memory().broken = None;
    gateway
        .wait("the connection to recover", async || {
            run(&gateway, "ada").await["status"] == "success"
        })
        .await;
    assert_eq!(state(&gateway, &id).await, "active");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_whose_process_died_is_done_by_the_next() {
    let (gateway, provider) = world().await;
    let id = connect(&gateway, &provider, "ada").await;
    provider.expire_access_tokens();
    // A process took the lease and was killed before it asked the provider.
    let store = gateway.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let now_ms = gateway.gateway.clock().now_ms();
    let leased = store.try_lease_connection(&workspace.id, &id, "dead", now_ms, 1_000);
    assert!(leased.await.unwrap().is_some());
    assert_eq!(state(&gateway, &id).await, "refreshing");
    assert_eq!(run(&gateway, "ada").await["status"], "success");
    assert_eq!(state(&gateway, &id).await, "active");
    assert_eq!(provider.memory().refresh_requests, 1);
}
