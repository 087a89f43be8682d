//! Where credentials are written and how the gateway names itself, through described plugins.

use axum::body::Body;
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use toolgate_gateway::connections::apps;
use toolgate_store::ALL_WORKSPACES;
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::provider::Provider;
use toolgate_tests::upstream::{Received, Upstream};
use toolgate_vault::{Secret, Vault};

use super::{follow, open, press};
use crate::described::{built, plugin};

/// A description of one tool, `things_list`, with this security scheme.
async fn things(scheme: Value, parameters: Value) -> Vec<u8> {
    let description = json!({
        "openapi": "3.1.0",
        "info": { "title": "Things", "version": "1.0.0", "description": "Things." },
        "servers": [{ "url": "https://api.things.io" }],
        "security": [{ "user": [] }],
        "x-toolgate": { "service": "things", "categories": ["testing"], "parameters": parameters },
        "paths": { "/things": { "get": {
            "operationId": "list", "summary": "List things", "description": "Lists all things.",
            "responses": { "200": { "description": "The answer." } },
        } } },
        "components": { "securitySchemes": { "user": scheme } },
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("things.json");
    std::fs::write(&file, description.to_string()).unwrap();
    built(file).await
}

async fn gateway(service: &str, plugin: Vec<u8>, hosts: &[&str], url: &str) -> TestGateway {
    TestGateway::start(Options {
        plugins: vec![(format!("{service}.wasm"), plugin)],
        allow_upstream: hosts.iter().map(|host| format!("{host}={url}")).collect(),
        ..Options::default()
    })
    .await
}

async fn register(gateway: &TestGateway, service: &str, secret: Option<&str>) {
    let store = gateway.gateway.store();
    let manifest = toolgate_gateway::plugins::manifest(store, service)
        .await
        .unwrap();
    let vault = Vault::open(&gateway.config.gateway.master_key_file).unwrap();
    let app = apps::NewApp {
        client_id: "the-client".to_owned(),
        client_secret: secret.map(Secret::new),
        scopes: None,
        scopes_max: Vec::new(),
        base_url: None,
        redirect_name: None,
        tenant: None,
        callback: None,
    };
    let operator = toolgate_tests::gateway::operator(&gateway.gateway)
        .await
        .unwrap();
    apps::register(store, &vault, &operator, &manifest, ALL_WORKSPACES, app, 1)
        .await
        .unwrap();
}

/// Connects by OAuth and answers the connection's id.
async fn connect(gateway: &TestGateway, provider: &Provider, service: &str) -> String {
    let body = json!({ "service": service });
    let link = gateway.post("/v1/connections/link", &body).await.data();
    let page = follow(gateway, provider, link["connect_url"].as_str().unwrap()).await;
    assert!(page.text.contains("Connected"), "{}", page.text);
    link["connection_id"].as_str().unwrap().to_owned()
}

fn header<'a>(request: &'a Received, name: &str) -> &'a str {
    let found = request.headers.iter().find(|(known, _)| known == name);
    found.map_or("", |(_, value)| value)
}

#[tokio::test(flavor = "multi_thread")]
async fn twitch_sees_the_operators_client_id_beside_the_token_and_is_told_of_the_end() {
    let provider = Provider::start().await;
    let description = plugin("twitch");
    let hosts = ["id.twitch.tv", "api.twitch.tv"];
    let url = provider.upstream.url();
    let gateway = gateway("twitch", built(description).await, &hosts, &url).await;
    register(&gateway, "twitch", Some("the-client-secret")).await;
    let id = connect(&gateway, &provider, "twitch").await;
    for _ in 0..2 {
        let answer = gateway.execute("twitch_get_users", json!({})).await;
        assert_eq!(answer["status"], "success", "{answer}");
        let received = provider.upstream.received();
        let last = received.last().unwrap();
        assert_eq!(header(last, "client-id"), "the-client", "{last:?}");
        assert!(header(last, "authorization").starts_with("Bearer access-token-"));
        // Also with a token that was renewed.
        provider.expire_access_tokens();
    }
    let path = format!("/v1/connections/{id}");
    let key = Some(gateway.key.as_str());
    let deleted = gateway.send(Method::DELETE, &path, key, None).await.data();
    assert_eq!(deleted["revoked_at_provider"], true, "{deleted}");
    let revoked = provider.memory().revoked.clone();
    assert_eq!(revoked.len(), 1);
    assert!(revoked[0].starts_with("refresh-token-"), "{revoked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn salesforce_says_in_the_token_answer_where_the_organization_lives() {
    let provider = Provider::start().await;
    let address = json!("https://acme.my.salesforce.com");
    provider
        .memory()
        .beside
        .insert("instance_url".to_owned(), address);
    let description = plugin("salesforce");
    let hosts = ["login.salesforce.com", "acme.my.salesforce.com"];
    let url = provider.upstream.url();
    let gateway = gateway("salesforce", built(description).await, &hosts, &url).await;
    register(&gateway, "salesforce", Some("the-client-secret")).await;
    let body = json!({ "service": "salesforce" });
    let link = gateway.post("/v1/connections/link", &body).await.data();
    let link = link["connect_url"].as_str().unwrap();
    let page = open(&gateway, link).await;
    assert!(
        !page.text.contains("<label"),
        "nobody fills it in: {}",
        page.text
    );
    follow(&gateway, &provider, link).await;
    let arguments = json!({ "q": "SELECT Id FROM Lead" });
    let answer = gateway.execute("salesforce_query", arguments).await;
    assert_eq!(answer["status"], "success", "{answer}");
    let path = format!(
        "/v1/executions/{}",
        answer["execution_id"].as_str().unwrap()
    );
    let receipt = gateway.get(&path).await.data();
    assert_eq!(
        receipt["requests"][0]["host"], "acme.my.salesforce.com",
        "{receipt}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gateway_names_itself_at_the_token_endpoint_as_the_manifest_says() {
    for (method, secret) in [
        ("basic", Some("the-client-secret")),
        ("post", Some("the-client-secret")),
        ("none", None),
    ] {
        let provider = Provider::start().await;
        provider.memory().public = method == "none";
        let scheme = json!({
            "type": "oauth2", "description": "Things account",
            "flows": { "authorizationCode": {
                "authorizationUrl": "https://id.things.io/authorize",
                "tokenUrl": "https://id.things.io/token", "scopes": { "read": "Read" },
            } },
            "x-toolgate": { "token_auth": method },
        });
        let plugin = things(scheme, json!([])).await;
        let hosts = ["id.things.io", "api.things.io"];
        let gateway = gateway("things", plugin, &hosts, &provider.upstream.url()).await;
        register(&gateway, "things", secret).await;
        connect(&gateway, &provider, "things").await;
        provider.expire_access_tokens();
        let answer = gateway.execute("things_list", json!({})).await;
        assert_eq!(answer["status"], "success", "{method}: {answer}");
        assert_eq!(provider.memory().clients, [method, method]);
    }
}

const SECRET_KEY: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The signature that a service in eu-west-1 computes of what it received (AWS Signature Version 4).
fn signature(request: &Received, service: &str, signed: &str) -> String {
    let (path, query) = request
        .target
        .split_once('?')
        .unwrap_or((&request.target, ""));
    let headers: String = signed
        .split(';')
        .map(|name| format!("{name}:{}\n", header(request, name).trim()))
        .collect();
    let body = hex(&Sha256::digest(request.body.as_bytes()));
    let canonical = format!(
        "{}\n{path}\n{query}\n{headers}\n{signed}\n{body}",
        request.method
    );
    let time = header(request, "x-amz-date");
    let (day, scope) = (
        &time[..8],
        format!("{}/eu-west-1/{service}/aws4_request", &time[..8]),
    );
    let digest = hex(&Sha256::digest(canonical.as_bytes()));
    let key = ["eu-west-1", service, "aws4_request"].iter().fold(
        mac(format!("AWS4{SECRET_KEY}").as_bytes(), day),
        |key, part| mac(&key, part),
    );
    hex(&mac(
        &key,
        &format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{digest}"),
    ))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_signed_for_aws_and_the_key_stays_here() {
    let upstream = Upstream::start(|request| {
        let said = json!({ "sent": format!("{:?}", request.headers), "key": SECRET_KEY });
        axum::http::Response::builder()
            .header("content-type", "application/json")
            .body(Body::from(said.to_string()))
            .unwrap()
    })
    .await;
    let scheme = json!({
        "type": "apiKey", "in": "header", "name": "authorization", "description": "AWS key",
        "x-toolgate": {
            "fields": [
                { "key": "access_key_id", "title": "Key id", "secret": false },
                { "key": "secret_access_key", "title": "Secret key" },
            ],
            "placement": { "aws_sigv4": { "service": "execute-api", "region": "{region}" } },
        },
    });
    let region =
        json!([{ "key": "region", "title": "Region", "enum": ["eu-west-1", "us-east-1"] }]);
    let plugin = things(scheme, region).await;
    let gateway = gateway("things", plugin, &["api.things.io"], &upstream.url()).await;
    let body = json!({ "service": "things" });
    let link = gateway.post("/v1/connections/link", &body).await.data();
    let form = [
        ("p_region", "eu-west-1"),
        ("f_access_key_id", "AKIDEXAMPLE"),
        ("f_secret_access_key", SECRET_KEY),
    ];
    let page = press(&gateway, link["connect_url"].as_str().unwrap(), &form).await;
    assert_eq!(page.status, 200, "{}", page.text);
    let answer = gateway.execute("things_list", json!({})).await;
    assert_eq!(answer["status"], "success", "{answer}");
    assert!(!answer.to_string().contains(SECRET_KEY), "{answer}");

    let received = upstream.received();
    let request = received.last().unwrap();
    assert!(!format!("{request:?}").contains(SECRET_KEY));
    assert_signed(request, "execute-api", &["host"]);
}

/// The request is signed as the service expects it, and the signature covers these headers.
fn assert_signed(request: &Received, service: &str, covered: &[&str]) {
    let authorization = header(request, "authorization");
    let day = &header(request, "x-amz-date")[..8];
    let begins = format!(
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/{day}/eu-west-1/{service}/aws4_request, SignedHeaders="
    );
    let rest = authorization.strip_prefix(&begins).expect(authorization);
    let (signed, given) = rest.split_once(", Signature=").expect(rest);
    let names: Vec<&str> = signed.split(';').collect();
    for name in covered {
        assert!(names.contains(name), "{name}: {signed}");
    }
    assert_eq!(given, signature(request, service, signed), "{request:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_temporary_key_signs_body_action_and_session_token_of_a_shipped_service() {
    const TOKEN: &str = "FwoGZXIvYXdzEXAMPLEsessionTOKENvalue";
    let upstream = Upstream::start(|_| {
        let said = json!({ "MessageId": "m-1" });
        axum::http::Response::builder()
            .header("content-type", "application/x-amz-json-1.0")
            .body(Body::from(said.to_string()))
            .unwrap()
    })
    .await;
    let sqs = built(plugin("aws_sqs")).await;
    let hosts = ["sqs.eu-west-1.amazonaws.com"];
    let gateway = gateway("aws_sqs", sqs, &hosts, &upstream.url()).await;
    let body = json!({ "service": "aws_sqs", "slot": "temporary_key" });
    let link = gateway.post("/v1/connections/link", &body).await.data();
    let form = [
        ("p_region", "eu-west-1"),
        ("f_access_key_id", "AKIDEXAMPLE"),
        ("f_secret_access_key", SECRET_KEY),
        ("f_session_token", TOKEN),
    ];
    let page = press(&gateway, link["connect_url"].as_str().unwrap(), &form).await;
    assert_eq!(page.status, 200, "{}", page.text);
    let arguments = json!({
        "QueueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/orders",
        "MessageBody": "{\"order\": 1042}",
    });
    let answer = gateway
        .execute("aws_sqs_send_message", arguments.clone())
        .await;
    assert_eq!(answer["status"], "success", "{answer}");
    assert_eq!(answer["result"]["MessageId"], "m-1", "{answer}");

    let received = upstream.received();
    let request = received.last().unwrap();
    assert!(!format!("{request:?}").contains(SECRET_KEY));
    let sent: Value = serde_json::from_str(&request.body).unwrap();
    assert_eq!(sent, arguments);
    assert_eq!(header(request, "x-amz-target"), "AmazonSQS.SendMessage");
    assert_eq!(
        header(request, "content-type"),
        "application/x-amz-json-1.0"
    );
    assert_eq!(header(request, "x-amz-security-token"), TOKEN);
    let covered = [
        "host",
        "x-amz-target",
        "content-type",
        "x-amz-security-token",
    ];
    assert_signed(request, "sqs", &covered);
}
