//! A plugin that guesses its user's credential piece by piece, with the help of an honest provider that stores texts.

use std::sync::{Arc, Mutex};

use serde_json::json;
use toolgate_tests::upstream::{Received, Upstream};

use super::spy::{TOKEN, answers, bearer, connect, description, gateway, reads, run};

/// Pieces that a plugin might have guessed, each with characters that the others lack.
fn pieces() -> [&'static str; 3] {
    [&TOKEN[..14], &TOKEN[6..20], &TOKEN[14..]]
}

/// Defence: `host/egress/src/scrub/exposure.rs` and `host/gateway/src/connections/known.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn guesses_are_confirmed_three_times_and_then_the_user_connects_again() {
    let [first, second, third] = pieces();
    let stored: Arc<Mutex<String>> = Arc::default();
    let answer = stored.clone();
    let upstream = Upstream::start(move |_: &Received| {
        let text = answer.lock().unwrap().clone();
        answers("application/json", json!({ "text": text }).to_string())
    })
    .await;
    let query = json!([{ "name": "q", "in": "query", "schema": { "type": "string" } }]);
    let mut paths = json!({ "/stored": reads("stored", query), "/open": reads("open", json!([])) });
    paths["/open"]["get"]["security"] = json!([]);
    let gateway = gateway(&description(&bearer(), paths), &upstream).await;
    let other = "sk_live_4hYt8LpX3cW7dS2fG5jK";
    connect(&gateway, "ada", &[("f_secret", TOKEN)]).await;
    connect(&gateway, "eve", &[("f_secret", other)]).await;

    // What a request may carry says nothing about pieces, and nothing about another user's key.
    for (user, q, expected) in [
        ("ada", first, "success"),
        ("eve", TOKEN, "success"),
        ("ada", TOKEN, "error"),
    ] {
        let ran = run(&gateway, "spy_stored", user, json!({ "q": q })).await;
        assert_eq!(ran["status"], expected, "{user} sends {q}: {ran}");
    }
    // Nor does what another user reads, but for the whole key.
    for (text, hidden) in [(first, false), (second, false), (TOKEN, true)] {
        *stored.lock().unwrap() = format!("before {text} after");
        let ran = run(&gateway, "spy_stored", "eve", json!({})).await;
        let shown = ran["result"].to_string();
        assert_eq!(!shown.contains(text), hidden, "eve reads {text}: {ran}");
    }

    // The same piece again, and the whole key, confirm nothing new.
    for text in [first, first, TOKEN, second, first, third] {
        *stored.lock().unwrap() = format!("before {text} after");
        let ran = run(&gateway, "spy_stored", "ada", json!({})).await;
        assert_eq!(ran["status"], "success", "{text}: {ran}");
        assert!(!ran["result"].to_string().contains(text), "{text}: {ran}");
    }
    let sent = upstream.received().len();
    let mut links = Vec::new();
    for tool in ["spy_stored", "spy_open"] {
        let ran = run(&gateway, tool, "ada", json!({})).await;
        assert_eq!(ran["status"], "auth_expired", "{tool}: {ran}");
        let link = ran["connect_url"].as_str().unwrap_or_default();
        assert!(link.contains("/connect/"), "{tool}: {ran}");
        links.push(link.to_owned());
    }
    assert_eq!(upstream.received().len(), sent, "nothing is sent any more");
    let ran = run(&gateway, "spy_stored", "eve", json!({})).await;
    assert_eq!(ran["status"], "success", "others go on: {ran}");

    stored.lock().unwrap().clear();
    let renewed = [("f_secret", "sk_live_7nQb2VxR9mK4tZ6wY3pD")];
    let page = crate::connect::press(&gateway, &links[0], &renewed).await;
    assert_eq!(page.status, 200, "{}", page.text);
    crate::connect::agree(&gateway, &page).await;
    let ran = run(&gateway, "spy_stored", "ada", json!({})).await;
    assert_eq!(ran["status"], "success", "after connecting again: {ran}");
}

/// Defence: `host/egress/src/leak.rs` (`scrub_wholes`). An agent that knows the beginning of its user's key writes guesses into
/// the arguments of dry runs, of which nothing leaves.
#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_says_nothing_of_guesses_in_its_arguments() {
    let upstream = Upstream::start(|_: &Received| answers("application/json", "{}")).await;
    let query = json!([{ "name": "q", "in": "query", "schema": { "type": "string" } }]);
    let paths = json!({ "/stored": reads("stored", query) });
    let gateway = gateway(&description(&bearer(), paths), &upstream).await;
    connect(&gateway, "ada", &[("f_secret", TOKEN)]).await;
    let sent = upstream.received().len();
    let plan = async |q: &str| {
        let body = json!({ "arguments": { "q": q }, "user_id": "ada", "dry_run": true });
        let answer = gateway.post("/v1/tools/spy_stored/execute", &body).await;
        let ran = answer.data();
        assert_eq!(ran["status"], "dry_run", "{ran}");
        ran["requests"][0]["url"].as_str().unwrap().to_owned()
    };
    for end in 8..TOKEN.len() {
        let guess = &TOKEN[..end];
        let url = plan(guess).await;
        assert!(url.ends_with(&format!("q={guess}")), "{guess}: {url}");
    }
    let url = plan(TOKEN).await;
    assert!(url.contains("[redacted]"), "{url}");
    assert!(!url.contains(&TOKEN[8..]), "{url}");
    assert_eq!(upstream.received().len(), sent, "nothing left");
    let ran = run(&gateway, "spy_stored", "ada", json!({ "q": "x" })).await;
    assert_eq!(ran["status"], "success", "nothing was counted: {ran}");
}

/// Defence: `host/gateway/src/connections/known.rs`, which searches one user's requests for no other's secrets.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_reads_like_an_address_or_a_word_stops_nobody_else() {
    let upstream = Upstream::start(|_: &Received| {
        answers(
            "application/json",
            json!({ "subscription_items": "all", "next": "/items" }).to_string(),
        )
    })
    .await;
    let paths = json!({ "/items": reads("items", json!([])) });
    let gateway = gateway(&description(&bearer(), paths), &upstream).await;
    connect(&gateway, "ada", &[("f_secret", TOKEN)]).await;
    let before = run(&gateway, "spy_items", "ada", json!({})).await;
    for (user, junk) in [
        ("eve", "api.spy.io/items"),
        ("mallory", "subscription_items"),
    ] {
        let body = json!({ "service": "spy", "user_id": user });
        let link = gateway.post("/v1/connections/link", &body).await.data();
        let url = link["connect_url"].as_str().unwrap();
        crate::connect::press(&gateway, url, &[("f_secret", junk)]).await;
        run(&gateway, "spy_items", user, json!({})).await;
    }
    let after = run(&gateway, "spy_items", "ada", json!({})).await;
    assert_eq!(before["status"], "success", "{before}");
    assert_eq!(after["result"], before["result"], "{after}");
}
