//! The same story with the program itself: people, links and calls against a real process.

use serde_json::{Value, json};
use toolgate_tests::process::{Installation, Process};
use toolgate_tests::provider::{Provider, return_url};

use super::{Page, TOOL, page_of, submit};

/// Registers the provider's client with a running or stopped installation.
pub async fn configure(installation: &Installation) {
    let secret = installation.folder.join("client-secret");
    std::fs::write(&secret, "the-client-secret").unwrap();
    let file = secret.display().to_string();
    let register = ["service", "configure", "github", "--client-id"];
    let rest = ["the-client", "--client-secret-file", &file];
    installation.run(&[&register[..], &rest[..]].concat()).await;
    std::fs::remove_file(&secret).unwrap();
}

/// Runs the tool; repeats it where the process is at its limit of running calls, as it asks for.
pub async fn run(process: &Process, user: &str) -> Value {
    let body = json!({"arguments": {}, "user_id": user});
    let path = format!("/v1/tools/{TOOL}/execute");
    loop {
        let answer = process.post(&path, &body).await;
        if answer.status != 503 {
            return answer.data();
        }
        assert_eq!(answer.code(), "overloaded");
    }
}

pub async fn press(process: &Process, url: &str) -> Page {
    submit(&process.client, url, &[]).await
}

/// The browser comes back from the provider with what it was given there.
pub async fn come_back(
    process: &Process,
    left: &Page,
    back: &std::collections::BTreeMap<String, String>,
) -> Page {
    let url = return_url(&process.url("/oauth/callback/github"), back);
    let cookie = left.cookie().unwrap();
    page_of(process.client.get(url).header("cookie", cookie)).await
}

pub async fn follow(process: &Process, provider: &Provider, connect_url: &str) -> Page {
    let left = press(process, connect_url).await;
    assert_eq!(left.status, 200, "{}", left.text);
    let back = provider.consent(&left.leads_to());
    come_back(process, &left, &back).await
}

/// A link for a user, and the id of the connection that it makes.
pub async fn link(process: &Process, user: &str) -> (String, String) {
    let body = json!({"service": "github", "user_id": user});
    let answer = process.post("/v1/connections/link", &body).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    let data = answer.data();
    let text = |key: &str| data[key].as_str().unwrap().to_owned();
    (text("connect_url"), text("connection_id"))
}

/// Connects and answers the connection's id.
pub async fn connect(process: &Process, provider: &Provider, user: &str) -> String {
    let (url, id) = link(process, user).await;
    let page = follow(process, provider, &url).await;
    assert!(page.text.contains("Connected"), "{}", page.text);
    id
}
