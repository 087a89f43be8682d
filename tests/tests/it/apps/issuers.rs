//! For whom an issuer of identity assertions speaks; and how often a provider is asked for its description.

use serde_json::json;
use toolgate_core::clock::Clock;
use toolgate_core::ids;
use toolgate_store::{Member, Role};
use toolgate_tests::gateway::{Answer, Options, TestGateway, operator};
use toolgate_tests::issuer::Issuer;

use super::way::{App, MemberBrowser, error_of, form, gateway_with, is_let_in};
use super::whole::actions;

const ADA: &str = "ada@example.com";

async fn with_issuer(setting: String) -> TestGateway {
    let options = Options {
        id_jag_issuer: vec![setting],
        ..Options::default()
    };
    gateway_with(options).await
}

/// Presents an assertion for Ada.
async fn present(client: &App<'_>, issuer: &Issuer, subject: &str) -> Answer {
    let now_s = Clock::system().now_ms() / 1_000;
    let claims = json!({
        "iss": issuer.url(), "sub": subject, "email": ADA, "aud": client.gateway.url("/oauth"),
        "resource": client.gateway.url("/mcp"), "client_id": client.id, "jti": ids::uuid(), "iat": now_s,
        "exp": now_s + 300,
    });
    let header = json!({ "alg": "EdDSA", "kid": "one", "typ": "oauth-id-jag+jwt" });
    let assertion = issuer.sign(&header, &claims);
    let pairs = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
        ("client_id", client.id.as_str()),
        ("assertion", assertion.as_str()),
    ];
    client.post("/oauth/token", form(&pairs)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_speaks_for_members_of_its_workspace_or_is_the_operators() {
    let issuer = Issuer::start().await;
    let named = with_issuer(issuer.url()).await;
    let name = operator(&named.gateway)
        .await
        .unwrap()
        .workspace_name
        .to_string();
    for (setting, speaks) in [
        (issuer.url(), true),
        (format!("{name}={}", issuer.url()), true),
        (format!("elsewhere={}", issuer.url()), false),
        (format!("{name}2={}", issuer.url()), false),
    ] {
        let gateway = &with_issuer(setting.clone()).await;
        MemberBrowser::new(gateway, ADA, Role::Member).await;
        let client = App::new(gateway).await;
        let answer = present(&client, &issuer, "account-7").await;
        if speaks {
            let token = answer.json()["access_token"].as_str().unwrap().to_owned();
            assert!(is_let_in(gateway, &token).await, "{setting}");
            continue;
        }
        assert_eq!(
            error_of(&answer),
            (400, "invalid_grant".into()),
            "{setting}"
        );
        let told = actions(gateway).await;
        assert!(
            told.iter().any(|(one, _)| one == "apps.refuse_assertion"),
            "{told:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_signs_in_nobody_whose_account_is_another_ones() {
    let issuer = Issuer::start().await;
    for (tied, speaks) in [
        (None, true),
        (Some(format!("{} account-7", issuer.url())), true),
        (Some(format!("{} account-8", issuer.url())), false),
        (Some("https://other.example account-7".to_owned()), false),
    ] {
        let gateway = &with_issuer(issuer.url()).await;
        let member = Member {
            workspace_id: operator(&gateway.gateway)
                .await
                .unwrap()
                .workspace_id
                .to_string(),
            id: ids::ulid("mem"),
            email: ADA.to_owned(),
            name: "ada".to_owned(),
            role: Role::Member,
            password_hash: None,
            oidc_subject: tied.clone(),
            created_at_ms: 1,
            last_seen_at_ms: None,
            vouched: true,
        };
        gateway
            .gateway
            .store()
            .insert_member(&member)
            .await
            .unwrap();
        let client = App::new(gateway).await;
        let answer = present(&client, &issuer, "account-7").await;
        let expected = if speaks { 200 } else { 400 };
        assert_eq!(answer.status, expected, "{tied:?}: {}", answer.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_who_begin_to_sign_in_do_not_have_the_provider_asked_each_time() {
    let issuer = Issuer::start().await;
    let options = Options {
        oidc_issuer: Some(issuer.url()),
        ..Options::default()
    };
    let gateway = &gateway_with(options).await;
    for _ in 0..30 {
        MemberBrowser::start_by_provider(gateway).await;
    }
    assert!(issuer.described() <= 2, "{}", issuer.described());
}
