//! From the first call to the last: connect, use, renew, recover, end.

use std::fs;
use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tempfile::TempDir;
use toolgate_core::clock::Clock;
use toolgate_tests::bytes;
use toolgate_tests::gate::{Gate, Point};
use toolgate_tests::gateway::{Options, TestGateway, built_plugin};
use toolgate_tests::postgres;
use toolgate_tests::provider::Provider;

use super::{connect, follow, gateway, gateway_before, link, open, press, run, state, world};

#[tokio::test(flavor = "multi_thread")]
async fn a_call_asks_for_a_connection_lives_on_it_and_asks_again_when_it_is_revoked() {
    let (gateway, provider) = world().await;
    let first = run(&gateway, "ada").await;
    assert_eq!(first["status"], "auth_required", "{first}");
    assert_eq!(
        (&first["reason"], &first["auth_type"]),
        (&json!("auth_required"), &json!("oauth2"))
    );
    let url = first["connect_url"].as_str().unwrap().to_owned();
    assert!(url.starts_with(&gateway.url("/connect/")), "{url}");
    let page = follow(&gateway, &provider, &url).await;
    assert!(page.text.contains("octo-ada"), "{}", page.text);

    let second = run(&gateway, "ada").await;
    assert_eq!(second["status"], "success", "{second}");
    assert_eq!(second["result"]["login"], "octo-ada");
    let listed = gateway.get("/v1/connections?user_id=ada").await.data();
    let connection = listed["connections"][0].clone();
    assert_eq!(
        (&connection["account"], &connection["state"]),
        (&json!("octo-ada"), &json!("active"))
    );

    let path = format!(
        "/v1/executions/{}",
        second["execution_id"].as_str().unwrap()
    );
    let receipt = gateway.get(&path).await.data();
    assert_eq!(receipt["connection_id"], connection["connection_id"]);
    assert_eq!(receipt["requests"][0]["credential_slot"], "user");

    provider.expire_access_tokens();
    let third = run(&gateway, "ada").await;
    assert_eq!(third["status"], "success", "{third}");
    assert_eq!(provider.memory().refreshes, 1);

    provider.revoke_everything();
    let fourth = run(&gateway, "ada").await;
    assert_eq!(fourth["status"], "auth_expired", "{fourth}");
    let id = connection["connection_id"].as_str().unwrap();
    assert_eq!(state(&gateway, id).await, "reauth_needed");
    let requests = provider.memory().refresh_requests;
    let fifth = run(&gateway, "ada").await;
    assert_eq!(fifth["status"], "auth_expired");
    assert_eq!(
        provider.memory().refresh_requests,
        requests,
        "a dead connection is left in peace"
    );

    follow(&gateway, &provider, fifth["connect_url"].as_str().unwrap()).await;
    let sixth = run(&gateway, "ada").await;
    assert_eq!(sixth["status"], "success", "{sixth}");
    let listed = gateway.get("/v1/connections?user_id=ada").await.data();
    assert_eq!(listed["connections"].as_array().unwrap().len(), 1);
    assert_eq!(listed["connections"][0]["connection_id"], id);
}

#[tokio::test(flavor = "multi_thread")]
async fn search_says_whether_a_tool_is_connected() {
    let (gateway, provider) = world().await;
    let states = async || {
        let path = "/v1/tools/search?query=authenticated+user&service=github&user_id=ada";
        gateway.get(path).await.data()["tools"][0]["connection"].clone()
    };
    assert_eq!(states().await, "not_connected");
    connect(&gateway, &provider, "ada").await;
    assert_eq!(states().await, "connected");
    provider.revoke_everything();
    run(&gateway, "ada").await;
    assert_eq!(states().await, "expired");
}

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
async fn the_callers_choice_among_several_connections_is_used() {
    let (gateway, provider) = world().await;
    let first = connect(&gateway, &provider, "ada").await;
    let second = connect(&gateway, &provider, "ada").await;
    let theirs = connect(&gateway, &provider, "eve").await;
    let used = async |id: &str| {
        let body = json!({"arguments": {}, "user_id": "ada", "connection_id": id});
        gateway
            .post(&format!("/v1/tools/{}/execute", super::TOOL), &body)
            .await
    };
    for id in [&first, &second] {
        assert_eq!(used(id).await.data()["status"], "success");
    }
    let refused = used(&theirs).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (404, "not_found")
    );
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

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_needs_more_rights_asks_for_them_under_the_same_id() {
    let (gateway, provider) = world().await;
    let store = gateway.gateway.store();
    let app = store
        .find_oauth_app("any", "github")
        .await
        .unwrap()
        .unwrap();
    let fewer = toolgate_store::OAuthApp {
        scopes: Some(r#"["read:user"]"#.to_owned()),
        ..app
    };
    store.change_oauth_app(&fewer, false, &[]).await.unwrap();
    provider.memory().scope = Some("read:user".to_owned());
    let id = connect(&gateway, &provider, "ada").await;
    assert_eq!(run(&gateway, "ada").await["status"], "success");
    let body = json!({"arguments": {"owner": "octo", "repo": "hello", "path": "README.md"}, "user_id": "ada"});
    let path = "/v1/tools/github_get_file_contents/execute";
    let asked = gateway.post(path, &body).await.data();
    assert_eq!(asked["status"], "auth_required", "{asked}");
    assert!(
        asked["message"].as_str().unwrap().contains("lacks rights"),
        "{asked}"
    );
    let url = asked["connect_url"].as_str().unwrap();
    let page = open(&gateway, url).await;
    assert!(page.text.contains("<code>repo</code>") && page.text.contains("This renews"));
    provider.memory().scope = None;
    follow(&gateway, &provider, url).await;
    let shown = gateway.get(&format!("/v1/connections/{id}")).await.data();
    assert_eq!(shown["scopes"], json!(["read:user", "repo"]), "{shown}");
    assert_eq!(run(&gateway, "ada").await["status"], "success");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_connection_is_gone() {
    let (gateway, provider) = world().await;
    let id = connect(&gateway, &provider, "ada").await;
    let path = format!("/v1/connections/{id}");
    let deleted = gateway
        .send(Method::DELETE, &path, Some(&gateway.key), None)
        .await;
    assert_eq!(deleted.data()["deleted"], true);
    assert_eq!(gateway.get(&path).await.status, 404);
    assert_eq!(run(&gateway, "ada").await["status"], "auth_required");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_shows_the_slot_and_sends_nothing() {
    let (gateway, provider) = world().await;
    connect(&gateway, &provider, "ada").await;
    let before = provider.upstream.received().len();
    let body = json!({"arguments": {}, "user_id": "ada", "dry_run": true});
    let data = gateway
        .post(&format!("/v1/tools/{}/execute", super::TOOL), &body)
        .await
        .data();
    assert_eq!(data["status"], "dry_run", "{data}");
    let shown = data["requests"][0]["headers"].to_string();
    assert!(shown.contains("Bearer [slot user]"), "{shown}");
    assert_eq!(provider.upstream.received().len(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_plans_what_an_unconnected_user_would_send() {
    let (gateway, provider) = world().await;
    let before = provider.upstream.received().len();
    let path = format!("/v1/tools/{}/execute", super::TOOL);
    let body = json!({"arguments": {}, "user_id": "ada", "dry_run": true});
    let data = gateway.post(&path, &body).await.data();
    assert_eq!(data["status"], "dry_run", "{data}");
    let request = &data["requests"][0];
    assert_eq!(request["url"], "https://api.github.com/user", "{data}");
    let headers = request["headers"].to_string();
    assert!(headers.contains("Bearer [slot user]"), "{headers}");

    // A connection that no longer works is planned with, too; a live call asks to renew it.
    connect(&gateway, &provider, "ada").await;
    provider.expire_access_tokens();
    provider.revoke_everything();
    assert_eq!(run(&gateway, "ada").await["status"], "auth_expired");
    let calls = provider.upstream.received().len();
    assert!(calls > before, "the live call was sent");
    let data = gateway.post(&path, &body).await.data();
    assert_eq!(data["status"], "dry_run", "{data}");
    assert_eq!(provider.upstream.received().len(), calls);
    let live = json!({"arguments": {}, "user_id": "bob"});
    assert_eq!(
        gateway.post(&path, &live).await.data()["status"],
        "auth_required"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_stands_something_in_for_what_a_connection_would_say() {
    let gateway = TestGateway::start(Options {
        plugins: vec![("jira.wasm".to_owned(), built_plugin("jira").unwrap())],
        ..Options::default()
    })
    .await;
    let body = json!({"arguments": {"issue": "ED-1"}, "dry_run": true});
    let path = "/v1/tools/jira_get_issue/execute";
    let data = gateway.post(path, &body).await.data();
    assert_eq!(data["status"], "dry_run", "{data}");
    let request = &data["requests"][0];
    let url = request["url"].as_str().unwrap();
    let site = "https://example.atlassian.net/rest/api/3/issue/ED-1";
    assert!(url.starts_with(site), "{url}");
    let headers = request["headers"].to_string();
    assert!(headers.contains("[slot user]"), "{headers}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_token_is_found_where_it_should_not_be() {
    let (gateway, provider) = world().await;
    let (url, _) = link(&gateway, "ada").await;
    let token = url.rsplit('/').next().unwrap().to_owned();
    let mut seen = open(&gateway, &url).await.text;
    seen.push_str(&follow(&gateway, &provider, &url).await.text);
    // The provider echoes the credential in its answer.
    let answer = run(&gateway, "ada").await;
    assert_eq!(answer["status"], "success");
    seen.push_str(&answer.to_string());
    provider.expire_access_tokens();
    seen.push_str(&run(&gateway, "ada").await.to_string());
    for path in ["/v1/connections", "/v1/executions", "/metrics"] {
        seen.push_str(&gateway.get(path).await.text);
    }
    press(&gateway, &url, &[]).await;
    let mut files = Vec::new();
    for entry in fs::read_dir(&gateway.config.gateway.data_dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && !path.ends_with("master.key") {
            files.extend(fs::read(path).unwrap());
        }
    }
    let mut secrets = provider.secrets();
    secrets.extend(["the-client-secret".to_owned(), token]);
    for secret in secrets {
        assert!(!seen.contains(&secret), "{secret} is in an answer");
        assert!(
            !bytes::contains(&files, &secret),
            "{secret} is in the data folder"
        );
    }
}
