//! The account's name comes from the provider and is kept in clear.

use serde_json::{Value, json};
use toolgate_tests::upstream::{Received, Upstream};

use super::spy::{
    TOKEN, answers, assert_hidden, bearer, connect, credential, description, gateway, reads,
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

/// Defence: `name` in `host/src/gateway/connections/account.rs`.
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
