//! Requests that somebody would rather not have on record.

use serde_json::{Value, json};
use toolgate_core::clock::Clock;
use toolgate_tests::gateway::{Options, PATIENCE, TestGateway, client};

use crate::connect;
use crate::crash::{plugin, provider};
use crate::serving::serve_with;

/// Defence: `host/gateway/src/executions/journal.rs` writes each line before its request leaves, with or without a key.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_without_a_key_that_was_killed_in_the_middle_has_its_receipt() {
    let folder = tempfile::tempdir().unwrap();
    let provider = provider().await;
    let wasm = plugin(folder.path()).await;
    let upstream = format!("api.notes.io=http://{}", provider.address);
    let arguments = ["--allow-upstream", &upstream];
    let (mut child, first) = serve_with(folder.path(), "notes.wasm", &wasm, &arguments).await;
    let (rest, key) = (
        first["rest"].as_str().unwrap().to_owned(),
        first["key"].as_str().unwrap().to_owned(),
    );
    let call = |tool: &str, body: Value| {
        let request = client()
            .post(format!("{rest}/tools/{tool}/execute"))
            .header("authorization", format!("Bearer {key}"))
            .header("content-type", "application/json")
            .body(body.to_string());
        async move { request.send().await?.text().await }
    };
    let serves = async || {
        let dry = json!({ "arguments": {}, "dry_run": true });
        call("notes_create_note", dry)
            .await
            .unwrap()
            .contains("dry_run")
    };
    toolgate_tests::process::wait("the plugin to serve", serves).await;
    let writes = ["notes_create_note", "notes_replace_board"];
    let mut calls = Vec::new();
    for tool in writes {
        calls.push(tokio::spawn(call(tool, json!({ "arguments": {} }))));
        let done = tokio::time::timeout(PATIENCE, provider.done.acquire()).await;
        done.expect("the provider is asked").unwrap().forget();
    }
    child.start_kill().unwrap();
    child.wait().await.unwrap();
    for call in calls {
        assert!(call.await.unwrap().is_err(), "nobody was answered");
    }

    let clock = Clock::manual(Clock::system().now_ms());
    clock.advance_ms(120_000);
    let gateway = TestGateway::start(Options {
        data_dir: Some(folder.path().join("data")),
        plugins_dir: Some(folder.path().join("plugins")),
        clock: Some(clock),
        ..Options::default()
    })
    .await;
    let list = async || {
        let path = "/v1/executions?status=interrupted";
        gateway.get(path).await.data()["executions"].clone()
    };
    let marked = async || list().await.as_array().unwrap().len() == writes.len();
    gateway.wait("both to be marked", marked).await;
    for (receipt, tool) in list()
        .await
        .as_array()
        .unwrap()
        .iter()
        .zip(["notes_replace_board", "notes_create_note"])
    {
        assert_eq!(receipt["tool_name"], tool, "{receipt}");
        let left = &receipt["requests"][0];
        assert_eq!(left["origin"], "https://api.notes.io");
        assert!(left.get("status").is_none(), "{left}");
    }
}

/// Defence: `host/egress/src/receipt.rs` keeps what was asked and no value that looks like a credential.
#[tokio::test(flavor = "multi_thread")]
async fn a_line_names_the_whole_request_and_no_credential_of_its_query() {
    let upstream = toolgate_tests::upstream::Upstream::start(|_| {
        axum::http::Response::builder()
            .header("content-type", "application/json")
            .body("{}".into())
            .unwrap()
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let parameter = |name: &str| json!({ "name": name, "in": "query", "description": name, "schema": { "type": "string" } });
    let document = json!({
        "openapi": "3.1.0",
        "info": { "title": "Finder", "version": "1.0.0" },
        "servers": [{ "url": "https://api.finder.io" }],
        "paths": { "/find": {
            "post": {
                "operationId": "find",
                "parameters": [parameter("q"), parameter("api_key")],
                "requestBody": { "content": { "application/json": { "schema": {
                    "type": "object", "properties": { "text": { "type": "string", "description": "Text." } } } } } },
                "responses": { "200": { "description": "Done." } },
            },
        } },
    });
    let description = folder.path().join("finder.json");
    std::fs::write(&description, document.to_string()).unwrap();
    let input = toolgate_openapi::BuildInput {
        description,
        ..toolgate_openapi::BuildInput::default()
    };
    let handle = tokio::runtime::Handle::current();
    let built =
        tokio::task::spawn_blocking(move || handle.block_on(toolgate_openapi::build(&input)));
    let gateway = TestGateway::start(Options {
        plugins: vec![("finder.wasm".to_owned(), built.await.unwrap().unwrap().wasm)],
        allow_upstream: vec![format!("api.finder.io={}", upstream.url())],
        ..Options::default()
    })
    .await;
    let arguments = json!({ "q": "blue hat", "api_key": "my-own", "text": "x" });
    let ran = gateway.execute("finder_find", arguments).await;
    assert_eq!(ran["status"], "success", "{ran}");
    let id = ran["execution_id"].as_str().unwrap();
    let receipt = gateway.get(&format!("/v1/executions/{id}")).await.data();
    let line = &receipt["requests"][0];
    assert_eq!(
        (&line["method"], &line["origin"], &line["path"]),
        (
            &json!("POST"),
            &json!("https://api.finder.io"),
            &json!("/find")
        )
    );
    let query = line["query"].as_str().unwrap();
    assert!(
        query.contains("q=blue") && query.contains("api_key=[redacted]"),
        "{query}"
    );
    let received = upstream.received();
    assert_eq!(line["bytes_out"], received[0].body.len());
    let hash = <sha2::Sha256 as sha2::Digest>::digest(received[0].body.as_bytes());
    assert_eq!(line["body_sha256"], hex::encode(hash));
    assert!(!receipt.to_string().contains("my-own"), "{receipt}");
}

/// Defence: `host/gateway/src/connections/requests.rs` writes down what the gateway itself sends.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_gateway_sends_for_a_connection_has_receipts_without_any_token() {
    let (gateway, provider) = connect::world().await;
    let id = connect::connect(&gateway, &provider, "ada").await;
    provider.expire_access_tokens();
    let ran = connect::run(&gateway, "ada").await;
    assert_eq!(ran["status"], "success", "{ran}");
    let path = format!("/v1/connections/{id}");
    gateway
        .send(reqwest::Method::DELETE, &path, None, None)
        .await;
    let page = gateway
        .get("/v1/executions?kind=connection&user_id=ada")
        .await;
    let data = page.data();
    let receipts = data["executions"].as_array().unwrap();
    let mut seen: Vec<_> = receipts
        .iter()
        .map(|one| {
            assert_eq!(
                (&one["kind"], &one["connection_id"]),
                (&json!("connection"), &json!(id))
            );
            assert_eq!(one["status"], "success", "{one}");
            let request = &one["requests"][0];
            let (tool, method) = (one["tool_name"].as_str(), request["method"].as_str());
            (tool.unwrap().to_owned(), method.unwrap().to_owned())
        })
        .collect();
    seen.sort();
    let expected = [
        ("host:account_check", "GET"),
        ("host:token_refresh", "POST"),
        ("host:token_request", "POST"),
    ];
    for (tool, method) in expected {
        assert!(
            seen.contains(&(tool.to_owned(), method.to_owned())),
            "{tool}: {seen:?}"
        );
    }
    for secret in provider.secrets() {
        assert!(!page.text.contains(&secret), "{}", page.text);
    }
    // Calls are listed apart, and counted apart.
    let calls = gateway.get("/v1/executions?user_id=ada").await.data();
    let kinds = calls["executions"].as_array().unwrap();
    assert!(!kinds.is_empty() && kinds.iter().all(|one| one["kind"] == "tool"));
}

/// Defence: `host/gateway/src/connections/requests.rs`, for what is sent when a connection is taken away.
#[tokio::test(flavor = "multi_thread")]
async fn the_request_that_revokes_a_token_has_a_receipt_without_the_token() {
    let provider = toolgate_tests::provider::Provider::start().await;
    let mut fixture = super::token_parameters::fixture("/instance_name");
    fixture.manifest["auth"][0]["revoke_url"] = json!("https://api.spy.io/revoke");
    let (gateway, link) = super::token_parameters::linked(&fixture, &provider).await;
    let url = link["connect_url"].as_str().unwrap();
    assert_eq!(connect::connected(&gateway, &provider, url).await, 200);
    let path = format!(
        "/v1/connections/{}",
        link["connection_id"].as_str().unwrap()
    );
    let key = Some(gateway.key.as_str());
    let gone = gateway
        .send(reqwest::Method::DELETE, &path, key, None)
        .await;
    assert_eq!(gone.status, 200, "{}", gone.text);
    let page = async || gateway.get("/v1/executions?kind=connection").await;
    let revocations = |data: &Value| -> Vec<Value> {
        let receipts = data["executions"].as_array().unwrap().iter();
        let of_it = receipts
            .filter(|one| one["tool_name"] == "host:revocation" && one["status"] == "success");
        of_it.cloned().collect()
    };
    gateway
        .wait("the revocation's receipt", async || {
            !revocations(&page().await.data()).is_empty()
        })
        .await;
    let page = page().await;
    for receipt in revocations(&page.data()) {
        let request = &receipt["requests"][0];
        assert_eq!(
            (&request["method"], &request["origin"], &request["path"]),
            (
                &json!("POST"),
                &json!("https://api.spy.io"),
                &json!("/revoke")
            ),
            "{receipt}"
        );
        assert_eq!(receipt["connection_id"], link["connection_id"]);
    }
    assert!(!provider.memory().revoked.is_empty(), "the provider knows");
    for secret in provider.secrets() {
        assert!(!page.text.contains(&secret), "{}", page.text);
    }
}
