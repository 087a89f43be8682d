//! The official clients, which know nothing but the address. The test plays the person.

use std::process::Stdio;
use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};
use toolgate_core::clock::Clock;
use toolgate_core::ids;
use toolgate_store::Role;
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::issuer::Issuer;
use toolgate_tests::mcp::{Client, client_program};
use toolgate_tests::upstream::Upstream;

use super::way::{MemberBrowser, gateway_with, param};

const REDIRECT: &str = "http://127.0.0.1:5555/callback";
const DOCUMENT: &str = "https://client.example/client.json";
/// No step takes longer, however slow the machine.
const STEP_MAX: Duration = Duration::from_secs(120);

struct Official {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Official {
    /// At the address of a toolset or at the main one.
    fn start(
        client: Client,
        gateway: &TestGateway,
        document: Option<&str>,
        toolset: Option<&str>,
    ) -> Self {
        let mut job =
            json!({ "url": gateway.url("/mcp"), "redirect": REDIRECT, "document": document });
        if let Some(name) = toolset {
            job["url"] = json!(gateway.url(&format!("/mcp/t/{name}")));
            job["tool"] = json!("demo_run");
            job["arguments"] = json!({ "text": "hello" });
        }
        Self::with(client, job)
    }

    /// At the main address where the job names no tool.
    fn with(client: Client, mut job: Value) -> Self {
        if job.get("tool").is_none() {
            job["tool"] = json!("svc_execute_tool");
            job["arguments"] =
                json!({ "tool_name": "demo_run", "arguments": r#"{"text":"hello"}"# });
        }
        let mut child = client_program(client, "sign_in", job)
            .unwrap()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        Self {
            stdin: child.stdin.take().unwrap(),
            lines: BufReader::new(child.stdout.take().unwrap()).lines(),
            child,
        }
    }

    async fn say(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.stdin.write_all(line.as_bytes()).await.unwrap();
    }

    async fn hear(&mut self) -> Value {
        let line = tokio::time::timeout(STEP_MAX, self.lines.next_line()).await;
        let line = line.expect("the client says something").unwrap();
        serde_json::from_str(&line.expect("the client goes on")).unwrap()
    }

    /// What a browser and its person do with the address that the client opens.
    async fn sign_in(&mut self, gateway: &TestGateway, person: &MemberBrowser<'_>) {
        let heard = self.hear().await;
        let url = heard["open"].as_str().unwrap_or_else(|| panic!("{heard}"));
        let opened = gateway.client.get(url).send().await.unwrap();
        assert_eq!(opened.status(), 303);
        let page = opened.headers()["location"].to_str().unwrap();
        let request_id = param(page, "request").unwrap();
        let decided = person.decide(&request_id, true).await.data();
        self.say(decided["url"].clone()).await;
    }

    async fn called(&mut self) {
        let heard = self.hear().await;
        let text = heard["called"].as_str();
        has_run(text.unwrap_or_else(|| panic!("{heard}")));
    }

    /// Four calls at once, all with a token that is over.
    async fn called_together(&mut self) {
        self.say(json!("together")).await;
        let heard = self.hear().await;
        let texts = heard["together"].as_array();
        let texts = texts.unwrap_or_else(|| panic!("{heard}"));
        assert_eq!(texts.len(), 4, "{heard}");
        for text in texts {
            has_run(text.as_str().unwrap());
        }
    }
}

fn has_run(text: &str) {
    let ran = text.contains("Tool: demo_run") && text.contains("hello");
    assert!(ran, "{text}");
}

async fn from_the_address_alone(client: Client, document: Option<&str>) {
    goes_from_the_address(client, document, None).await;
}

async fn goes_from_the_address(client: Client, document: Option<&str>, toolset: Option<&str>) {
    let host = Upstream::start(|_| {
        let document = json!({ "client_id": DOCUMENT, "client_name": "Official client",
            "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none" });
        let answer = Response::builder().header("content-type", "application/json");
        answer.body(Body::from(document.to_string())).unwrap()
    });
    let host = host.await;
    let options = Options {
        allow_upstream: vec![format!("client.example={}", host.url())],
        ..Options::default()
    };
    let gateway = &gateway_with(options).await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    if let Some(name) = toolset {
        let body = json!({ "name": name, "tools": ["demo_run"] });
        let made = gateway.post("/v1/toolsets", &body).await;
        assert_eq!(made.status, 201, "{}", made.text);
    }
    let mut client = Official::start(client, gateway, document, toolset);
    client.sign_in(gateway, &person).await;
    client.called().await;
    assert_eq!(host.received().len(), usize::from(document.is_some()));

    // It renews its token without asking anybody.
    client.say(json!("expire")).await;
    client.called().await;
    client.called_together().await;
    let apps = person.apps().await;
    assert_eq!(apps.len(), 1, "{apps:?}");
    assert_eq!(apps[0]["client_name"], "Official client");
    assert_eq!(apps[0]["toolset"].as_str(), toolset);

    // Disconnected by the member, it has to ask again.
    let path = format!("/internal/apps/{}", apps[0]["app_id"].as_str().unwrap());
    let ended = person.ask(Method::DELETE, &path, Value::Null).await;
    assert_eq!(ended.status, 200, "{}", ended.text);
    client.say(json!("call")).await;
    client.sign_in(gateway, &person).await;
    client.called().await;
    client.say(json!("end")).await;
    let ended = tokio::time::timeout(STEP_MAX, client.child.wait()).await;
    assert!(ended.unwrap().unwrap().success());
}

const PYTHON: Client = Client::Python("auto");
const JAVASCRIPT: Client = Client::JavaScript("auto");

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_signs_in_with_a_metadata_document() {
    from_the_address_alone(PYTHON, Some(DOCUMENT)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_signs_in_by_registering_itself() {
    from_the_address_alone(PYTHON, None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_signs_in_with_a_metadata_document() {
    from_the_address_alone(JAVASCRIPT, Some(DOCUMENT)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_signs_in_by_registering_itself() {
    from_the_address_alone(JAVASCRIPT, None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_sdk_of_sessions_signs_in_with_a_metadata_document() {
    from_the_address_alone(Client::JavaScriptSdk1, Some(DOCUMENT)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_sdk_of_sessions_signs_in_by_registering_itself() {
    from_the_address_alone(Client::JavaScriptSdk1, None).await;
}

/// A client that an admin has named, with its secret; with an assertion of an issuer where `issuer` signs one.
async fn without_a_person(client: Client, issuer: Option<&Issuer>) {
    let options = Options {
        id_jag_issuer: issuer.map(Issuer::url).into_iter().collect(),
        ..Options::default()
    };
    let gateway = &gateway_with(options).await;
    let admin = MemberBrowser::new(gateway, "eve@example.com", Role::Admin).await;
    let mut body = json!({ "name": "Official client" });
    if issuer.is_none() {
        body["acts_for"] = json!("reports");
    }
    let named = admin
        .ask(Method::POST, "/internal/app-clients", body)
        .await
        .data();
    let id = named["client_id"].as_str().unwrap().to_owned();
    let own = json!({
        "id": id, "secret": named["client_secret"], "issuer": gateway.url("/oauth"), "assertion": issuer.is_some(),
    });
    let job = json!({ "url": gateway.url("/mcp"), "redirect": REDIRECT, "document": null, "client": own });
    let mut client = Official::with(client, job);
    if let Some(issuer) = issuer {
        let asked = client.hear().await;
        let told = &asked["assertion"];
        let now_s = Clock::system().now_ms() / 1_000;
        let claims = json!({
            "iss": issuer.url(), "sub": "account-9", "email": "eve@example.com", "aud": told["audience"],
            "resource": told["resource"], "client_id": id, "jti": ids::uuid(), "iat": now_s, "exp": now_s + 300,
        });
        let header = json!({ "alg": "EdDSA", "kid": "one", "typ": "oauth-id-jag+jwt" });
        client.say(json!(issuer.sign(&header, &claims))).await;
    }
    client.called().await;
    let receipts = gateway.get("/v1/executions?limit=1").await.data();
    let user = match issuer {
        Some(_) => "eve@example.com",
        None => "reports",
    };
    assert_eq!(receipts["executions"][0]["user_id"], user, "{receipts}");
    client.say(json!("end")).await;
    let ended = tokio::time::timeout(STEP_MAX, client.child.wait()).await;
    assert!(ended.unwrap().unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_comes_as_a_machine() {
    without_a_person(PYTHON, None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_comes_as_a_machine() {
    without_a_person(JAVASCRIPT, None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_comes_with_an_assertion() {
    without_a_person(PYTHON, Some(&Issuer::start().await)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_comes_with_an_assertion() {
    without_a_person(JAVASCRIPT, Some(&Issuer::start().await)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_signs_in_at_a_toolset() {
    goes_from_the_address(PYTHON, Some(DOCUMENT), Some("support")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_signs_in_at_a_toolset() {
    goes_from_the_address(JAVASCRIPT, None, Some("support")).await;
}
