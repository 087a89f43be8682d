//! Clients whose id is the address of their metadata document.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::http::Response;
use reqwest::Method;
use serde_json::{Value, json};
use toolgate_store::Role;
use toolgate_tests::gateway::Options;
use toolgate_tests::upstream::Upstream;

use super::way::{App, AppTokens, MemberBrowser, REDIRECT, gateway_with, is_let_in};

const ID: &str = "https://client.example/mcp/client.json";

fn document(id: &str) -> Value {
    json!({ "client_id": id, "client_name": "Example", "redirect_uris": [REDIRECT],
        "token_endpoint_auth_method": "none" })
}

fn answer(status: u16, kind: &str, body: impl Into<Body>) -> Response<Body> {
    let answer = Response::builder().status(status);
    answer
        .header("content-type", kind)
        .body(body.into())
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_is_who_its_document_says_and_its_host_vouches_for_it() {
    let asked = Arc::new(AtomicU32::new(0));
    let count = asked.clone();
    let host = Upstream::start(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        answer(200, "application/json", document(ID).to_string())
    });
    let host = host.await;
    let options = Options {
        allow_upstream: vec![format!("client.example={}", host.url())],
        ..Options::default()
    };
    let gateway = &gateway_with(options).await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let app = App {
        gateway,
        id: ID.to_owned(),
    };
    let request_id = app.ask(&[]).await;
    let path = format!("/internal/app-requests/{request_id}");
    let shown = person.ask(Method::GET, &path, Value::Null).await.data();
    assert_eq!(shown["client_name"], "Example");
    assert_eq!(shown["verified_host"], "client.example");
    assert_eq!(shown["connected_before"], false);

    let code = app.code(&person, &[]).await;
    let got = AppTokens::read(&app.exchange(&code, &[]).await);
    assert!(is_let_in(gateway, &got.access).await);
    AppTokens::read(&app.refresh(&got.refresh, &[]).await);
    assert_eq!(asked.load(Ordering::SeqCst), 1, "it is still fresh");
    let sent = &host.received()[0];
    let named = |name: &str| sent.headers.iter().any(|(one, _)| one == name);
    assert!(!named("authorization") && !named("cookie"), "{sent:?}");

    let request_id = app.ask(&[]).await;
    let path = format!("/internal/app-requests/{request_id}");
    let shown = person.ask(Method::GET, &path, Value::Null).await.data();
    assert_eq!(shown["connected_before"], true);
    // An address that its document does not list.
    let other = [("redirect_uri", Some("http://127.0.0.1:5555/other"))];
    assert_eq!(app.open(&app.query(&other)).await, (400, String::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_that_lies_leads_elsewhere_or_is_huge_names_no_client() {
    let says: Arc<Mutex<Value>> = Arc::default();
    let said = says.clone();
    let host = Upstream::start(move |_| {
        let said = said.lock().unwrap().clone();
        let status = said["status"].as_u64().unwrap_or(200);
        let body = said["text"].as_str().map_or_else(
            || said["body"].to_string(),
            |text| text.repeat(usize::try_from(said["times"].as_u64().unwrap_or(1)).unwrap()),
        );
        let kind = said["kind"].as_str().unwrap_or("application/json");
        let mut answer = answer(u16::try_from(status).unwrap(), kind, body);
        let to = "https://client.example/other.json";
        answer.headers_mut().insert("location", to.parse().unwrap());
        answer
    });
    let host = host.await;
    let options = Options {
        allow_upstream: vec![format!("client.example={}", host.url())],
        ..Options::default()
    };
    let gateway = &gateway_with(options).await;
    let app = App {
        gateway,
        id: ID.to_owned(),
    };
    let mut secret = document(ID);
    secret["token_endpoint_auth_method"] = json!("client_secret_basic");
    for bad in [
        json!({ "status": 302, "body": document(ID) }),
        json!({ "status": 404, "body": document(ID) }),
        json!({ "body": document("https://client.example/other.json") }),
        json!({ "body": document("https://other.example/mcp/client.json") }),
        json!({ "body": { "redirect_uris": [REDIRECT] } }),
        json!({ "body": { "client_id": ID, "redirect_uris": ["https://evil.test/cb#x"] } }),
        json!({ "body": secret }),
        json!({ "kind": "text/html", "text": "<!doctype html><title>Just a moment</title>" }),
        json!({ "text": "{" }),
        json!({ "text": " ", "times": 100_000 }),
    ] {
        *says.lock().unwrap() = bad.clone();
        let refused = app.open(&app.query(&[])).await;
        assert_eq!(refused, (400, String::new()), "{bad}");
    }
    assert!(
        host.received()
            .iter()
            .all(|one| one.target == "/mcp/client.json")
    );
    // The nearest that is allowed: what it is served as says nothing.
    let marked = format!("\u{feff}{}", document(ID));
    *says.lock().unwrap() = json!({ "kind": "text/plain", "text": marked });
    app.ask(&[]).await;

    // Inward, and what is not an address of a document: nothing leaves.
    let before = host.received().len();
    for inward in [
        "https://127.0.0.1/client.json",
        "https://localhost/client.json",
        "https://[::1]/client.json",
        "https://169.254.169.254/latest/meta-data",
        "https://10.0.0.1/client.json",
        "http://client.example/mcp/client.json",
        "https://client.example/",
        "https://client.example/mcp/../client.json",
        "https://client.example/mcp/client.json?x=y",
        "https://user@client.example/mcp/client.json",
    ] {
        let changed = [("client_id", Some(inward))];
        let refused = app.open(&app.query(&changed)).await;
        assert_eq!(refused, (400, String::new()), "{inward}");
    }
    assert_eq!(host.received().len(), before);
}
