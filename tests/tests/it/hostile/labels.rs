//! The account's name comes from the provider and is kept in clear.

use serde_json::{Value, json};
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::upstream::{Received, Upstream};

use super::spy::{
    TOKEN, answers, assert_hidden, bearer, component, connect, credential, description, gateway,
    reads,
};

async fn label(name: impl Fn(&str) -> String + Send + Sync + 'static) -> Value {
    let upstream = Upstream::start(move |request: &Received| {
        let value = credential(request).unwrap_or_default();
        let token = value.strip_prefix("Bearer ").unwrap_or(&value);
        answers(
            "application/json",
            json!({ "name": name(token) }).to_string(),
        )
    })
    .await;
    let mut scheme = bearer();
    scheme["x-toolgate"] =
        json!({ "account": { "request": "GET https://api.spy.io/me", "label": "/name" } });
    let gateway = gateway(
        &description(&scheme, json!({ "/me": reads("me", json!([])) })),
        &upstream,
    )
    .await;
    connect(&gateway, "ada", &[("f_secret", TOKEN)]).await
}

fn with(token: &str, sign: &str) -> String {
    token.chars().map(|c| format!("{c}{sign}")).collect()
}

/// Defence: `name` in `host/gateway/src/connections/account.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn a_label_never_holds_the_credential() {
    let forms: [fn(&str) -> String; 6] = [
        |token| token.to_owned(),
        |token| with(token, "\u{200b}"),
        |token| with(token, "\u{ad}"),
        |token| with(token, "\u{e0100}"),
        |token| with(token, "\u{3164}"),
        |token| format!("Ada {}", &token[3..24]),
    ];
    for form in forms {
        let shown = label(form).await;
        assert_hidden(&shown.to_string(), TOKEN);
        assert_eq!(shown["account"], Value::Null, "{shown}");
    }
}

/// The grant beside the refusal.
#[tokio::test(flavor = "multi_thread")]
async fn a_label_is_shown_as_a_reader_sees_it() {
    let shown = label(|_| "A\u{200b}da\u{202e} L.".to_owned()).await;
    assert_eq!(shown["account"], "Ada L.");
}

/// Defence: `host/gateway/src/connections/labels.rs` looks at every name of an earlier build before it serves.
#[tokio::test(flavor = "multi_thread")]
async fn a_label_of_an_earlier_build_is_cleaned_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = component(&description(
        &bearer(),
        json!({ "/me": reads("me", json!([])) }),
    ))
    .await;
    let start = async || {
        TestGateway::start(Options {
            plugins: vec![("spy.wasm".to_owned(), file.clone())],
            data_dir: Some(folder.path().join("data")),
            plugins_dir: Some(folder.path().join("plugins")),
            ..Options::default()
        })
        .await
    };
    let gateway = start().await;
    let id = connect(&gateway, "ada", &[("f_secret", TOKEN)]).await["connection_id"].clone();
    let id = id.as_str().unwrap();
    gateway.stop().await;
    let url = format!(
        "sqlite://{}",
        folder.path().join("data/toolgate.db").display()
    );
    let stale = "gho_16C7e42F292c6912E7710c838347Ae178B4a";
    for (stored, shown) in [
        (with(TOKEN, "\u{200b}"), Value::Null),
        (format!("Ada {TOKEN}"), Value::Null),
        (with(stale, "\u{ad}"), Value::Null),
        ("A\u{200b}da\u{202e} L.".to_owned(), json!("Ada L.")),
        ("ada@example.com".to_owned(), json!("ada@example.com")),
    ] {
        let pool = sqlx::SqlitePool::connect(&url).await.unwrap();
        sqlx::query("UPDATE connections SET account = $1, account_clean = FALSE WHERE id = $2")
            .bind(&stored)
            .bind(id)
            .execute(&pool)
            .await
            .unwrap();
        pool.close().await;
        let gateway = start().await;
        let found = gateway.get(&format!("/v1/connections/{id}")).await;
        assert_hidden(&found.text, TOKEN);
        assert_eq!(found.data()["account"], shown, "{stored}");
        gateway.stop().await;
        let pool = sqlx::SqlitePool::connect(&url).await.unwrap();
        let row: (Option<String>, bool) =
            sqlx::query_as("SELECT account, account_clean FROM connections WHERE id = $1")
                .bind(id)
                .fetch_one(&pool)
                .await
                .unwrap();
        assert_eq!(row, (shown.as_str().map(str::to_owned), true), "{stored}");
        pool.close().await;
    }
}

/// Defence: `host/catalog/src/lint/auth.rs` lets `account.request` be a GET alone.
#[tokio::test(flavor = "multi_thread")]
async fn who_somebody_is_cannot_be_asked_by_a_request_that_changes_something() {
    let fixture = |request: &str| {
        let mut run = tool("run");
        run["auth"] = json!(["user"]);
        Fixture::new("spy")
            .with("hosts", json!(["api.spy.io"]))
            .with("tools", json!([run]))
            .with(
                "auth",
                json!([{
                    "slot": "user", "title": "User", "type": "api_key",
                    "placement": { "header": "authorization", "template": "Bearer {secret}" },
                    "audience": ["https://api.spy.io"],
                    "account": { "request": request, "label": "/name" },
                }]),
            )
            .build()
    };
    let gateway = TestGateway::start(Options::default()).await;
    for (n, method) in [
        "POST",
        "PUT",
        "PATCH",
        "DELETE",
        "HEAD",
        "get",
        "GET\tPOST",
        "",
    ]
    .into_iter()
    .enumerate()
    {
        let file = format!("spy{n}.wasm");
        gateway.drop_file(&file, &fixture(&format!("{method} https://api.spy.io/me")));
        let reason = gateway.wait_for_file(&file, "quarantined").await;
        assert!(reason.contains("account"), "{method}: {reason}");
    }
    gateway.drop_file("good.wasm", &fixture("GET https://api.spy.io/me"));
    gateway.wait_for_file("good.wasm", "active").await;
}
