//! Files by their handles: uploaded, returned by a tool, handed to another one, read by an agent that speaks MCP alone.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use toolgate_core::clock::Clock;
use toolgate_gateway::Scope;
use toolgate_gateway::tools::files::FILE_BYTES_MAX;
use toolgate_tests::gateway::{Answer, Options, PATIENCE, TestGateway, new_key, new_tenant};
use toolgate_tests::pdf;

use crate::mcp::forms;
use crate::provider_answers::{given, start, start_with};

/// Uploads a file; answers its description.
async fn upload(
    gateway: &TestGateway,
    query: &str,
    headers: &[(&str, &str)],
    content: impl Into<reqwest::Body>,
) -> Answer {
    let mut request = gateway
        .client
        .post(gateway.url(&format!("/v1/files{query}")))
        .bearer_auth(&gateway.key);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    Answer::read(request.body(content).send().await.unwrap()).await
}

/// The content of a file, or the part that a range names.
async fn download(gateway: &TestGateway, id: &str, range: Option<&str>) -> reqwest::Response {
    let path = format!("/v1/files/{id}/content");
    let mut request = gateway.client.get(gateway.url(&path));
    if let Some(range) = range {
        request = request.header("range", range);
    }
    request.bearer_auth(&gateway.key).send().await.unwrap()
}

/// Calls a tool over MCP, without a session; the content blocks of the answer.
async fn call_over_mcp(gateway: &TestGateway, tool: &str, arguments: &Value) -> Vec<Value> {
    let arguments = json!({ "tool_name": tool, "arguments": arguments.to_string() });
    let session = forms::open(gateway, "/mcp").await;
    let body = forms::call("svc_execute_tool", &arguments);
    let answer = forms::post(gateway, "/mcp", Some("*/*"), Some(&session), &body).await;
    let kind = answer.headers()["content-type"]
        .to_str()
        .unwrap()
        .to_owned();
    let message = forms::message(&kind, &answer.text().await.unwrap());
    assert!(message["result"]["isError"] != true, "{message}");
    message["result"]["content"].as_array().unwrap().clone()
}

/// The handle in a text.
fn handle(text: &str) -> String {
    let from = text.find("file_").unwrap_or_else(|| panic!("{text}"));
    text[from..from + "file_".len() + 26].to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_a_tool_returned_goes_into_another_tool_by_its_handle_over_mcp() {
    let (gateway, upstream, next) = start().await;
    // Larger than any request may be.
    for (kib, inline) in [(200, true), (2_048, true), (7_000, false)] {
        let content = "0123456789abcdef".repeat(64 * kib);
        *next.lock().unwrap() = given(
            200,
            &[
                ("content-type", "application/pdf"),
                ("content-disposition", "attachment; filename=\"report.pdf\""),
            ],
            content.clone(),
        );
        let blocks = call_over_mcp(&gateway, "things_get_file", &json!({})).await;
        let text = blocks[0]["text"].as_str().unwrap();
        let id = handle(text);
        assert!(text.contains("report.pdf"), "{text}");
        assert!(text.len() < 2_000, "no model reads the content: {text}");
        let link = &blocks[1];
        assert_eq!(link["type"], "resource_link");
        assert_eq!(link["uri"], format!("toolgate://files/{id}"));
        assert_eq!(
            (&link["name"], &link["size"]),
            (&json!("report.pdf"), &json!(content.len()))
        );

        *next.lock().unwrap() = given(200, &[("content-type", "application/json")], "{}");
        call_over_mcp(&gateway, "things_put_file", &json!({ "file": id })).await;
        let sent = upstream.received().pop().unwrap();
        assert_eq!(sent.method, "POST");
        assert!(sent.body.contains("filename=\"report.pdf\""));
        assert!(sent.body.contains(&content), "{kib} KiB arrive whole");

        let over_rest = gateway.get(&format!("/v1/files/{id}")).await.data();
        let hash = hex::encode(Sha256::digest(&content));
        assert_eq!(over_rest["sha256"], hash, "{over_rest}");
        assert!(over_rest["execution_id"].is_string(), "{over_rest}");
        *next.lock().unwrap() = given(200, &[("content-type", "application/pdf")], content);
        let ran = gateway.execute("things_get_file", json!({})).await;
        assert_eq!(ran["files"][0]["content"].is_string(), inline, "{kib} KiB");
        assert_eq!(ran["files"][0]["sha256"], hash);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_is_passed_to_a_tool_and_read_back() {
    let (gateway, upstream, _next) = start().await;
    let content = "fedcba9876543210".repeat(131_072);
    let named = (
        "content-disposition",
        "attachment; filename*=UTF-8''r%C3%A9sum%C3%A9.txt",
    );
    let digest = "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:";
    let kept = upload(
        &gateway,
        "",
        &[named, ("content-type", "text/plain")],
        content.clone(),
    )
    .await;
    assert_eq!(kept.status, 201, "{}", kept.text);
    let kept = kept.data();
    assert_eq!(kept["name"], "r\u{e9}sum\u{e9}.txt");
    assert_eq!(
        (&kept["media_type"], &kept["size_bytes"]),
        (&json!("text/plain"), &json!(2_097_152))
    );
    let id = kept["file_id"].as_str().unwrap();
    let ran = gateway
        .execute("things_put_file", json!({ "file": id }))
        .await;
    assert_eq!(ran["status"], "success", "{ran}");
    let sent = upstream.received().pop().unwrap();
    assert!(sent.body.contains("filename*=UTF-8''r%C3%A9sum%C3%A9.txt"));
    assert!(sent.body.contains(&content), "2 MiB arrive whole");

    let whole = download(&gateway, id, None).await;
    assert_eq!(whole.status(), 200);
    let headers = whole.headers().clone();
    assert_eq!(headers["content-type"], "text/plain");
    assert_eq!(
        headers["content-disposition"],
        "attachment; filename=\"r_sum_.txt\"; filename*=UTF-8''r%C3%A9sum%C3%A9.txt"
    );
    assert_eq!(headers["x-content-type-options"], "nosniff");
    assert!(whole.text().await.unwrap() == content);
    for (range, from, end) in [("bytes=0-15", 0, 16), ("bytes=-7", 2_097_145, 2_097_152)] {
        let part = download(&gateway, id, Some(range)).await;
        assert_eq!(part.status(), StatusCode::PARTIAL_CONTENT);
        assert_eq!(
            part.headers()["content-range"],
            format!("bytes {from}-{}/2097152", end - 1)
        );
        assert_eq!(part.text().await.unwrap(), content[from..end]);
    }
    let beyond = download(&gateway, id, Some("bytes=2097152-")).await;
    let beyond = Answer::read(beyond).await;
    assert_eq!((beyond.status, &*beyond.code()), (400, "invalid_request"));

    let hashed = [("repr-digest", digest)];
    assert_eq!(upload(&gateway, "", &hashed, "hello").await.status, 201);
    let other = upload(&gateway, "", &hashed, "hellO").await;
    assert_eq!((other.status, &*other.code()), (400, "invalid_request"));
    let long = upload(&gateway, "?expires_in=604801", &[], "x").await;
    assert_eq!(long.status, 400);
    // The refusal is read although the client has not sent the whole.
    for more in [1, 8 << 20, 31 << 20] {
        let large = upload(&gateway, "", &[], vec![0_u8; (32 << 20) + more]).await;
        assert_eq!(large.status, 413, "{more}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_upload_with_its_key_is_one_file() {
    let (gateway, _upstream, _next) = start().await;
    let keyed = [("idempotency-key", "one"), ("content-type", "text/plain")];
    let first = upload(&gateway, "", &keyed, "hello").await.data();
    let again = upload(&gateway, "", &keyed, "hello").await.data();
    assert_eq!(first, again);
    let other = upload(&gateway, "", &keyed, "other").await;
    assert_eq!(other.code(), "idempotency_conflict");
    let listed = gateway.get("/v1/files").await.data();
    assert_eq!(listed["files"], json!([first]));
    let id = first["file_id"].as_str().unwrap();
    let path = format!("/v1/files/{id}");
    let deleted = gateway
        .send(Method::DELETE, &path, Some(&gateway.key), None)
        .await;
    assert_eq!(deleted.data(), json!({ "file_id": id, "deleted": true }));
    assert_eq!(gateway.get(&path).await.code(), "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_exactly_the_bound_is_taken_and_one_byte_more_is_refused() {
    let (gateway, _upstream, _next) = start().await;
    let most = vec![7_u8; FILE_BYTES_MAX];
    let kept = upload(&gateway, "", &[], most.clone()).await;
    assert_eq!(kept.status, 201, "{}", kept.text);
    let kept = kept.data();
    assert_eq!(kept["size_bytes"], FILE_BYTES_MAX);
    assert_eq!(kept["sha256"], hex::encode(Sha256::digest(&most)));
    let id = kept["file_id"].as_str().unwrap();
    let back = download(&gateway, id, None).await;
    assert!(back.bytes().await.unwrap() == most, "it comes back whole");

    let more = upload(&gateway, "", &[], vec![7_u8; FILE_BYTES_MAX + 1]).await;
    assert_eq!(more.status, 413, "{}", more.text);
    let listed = gateway.get("/v1/files").await.data();
    assert_eq!(listed["files"], json!([kept]), "nothing else is kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handle_that_has_expired_is_no_file_any_more() {
    let clock = Clock::manual(1_800_000_000_000);
    let (gateway, upstream, _next) = start_with(Options {
        clock: Some(clock.clone()),
        ..Options::default()
    })
    .await;
    let kept = upload(&gateway, "?expires_in=60", &[], "for a minute").await;
    let kept = kept.data();
    let id = kept["file_id"].as_str().unwrap();
    let put = json!({ "file": id });

    clock.advance_ms(59_999);
    assert_eq!(download(&gateway, id, None).await.status(), 200);
    let ran = gateway.execute("things_put_file", put.clone()).await;
    assert_eq!(ran["status"], "success", "{ran}");
    let sent = upstream.received().len();

    clock.advance_ms(1);
    for path in ["", "/content", "/text"] {
        let refused = gateway.get(&format!("/v1/files/{id}{path}")).await;
        assert_eq!((refused.status, &*refused.code()), (404, "not_found"));
    }
    assert_eq!(
        gateway.get("/v1/files").await.data()["files"],
        json!([]),
        "it is not listed"
    );
    let ran = gateway.execute("things_put_file", put).await;
    assert_eq!(ran["status"], "error", "{ran}");
    assert_eq!(upstream.received().len(), sent, "nothing was sent");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_is_cut_off_leaves_nothing_and_gives_its_place_back() {
    let (gateway, _upstream, _next) = start().await;
    let head = format!(
        "POST /v1/files HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nidempotency-key: cut\r\n\
         content-type: text/plain\r\n",
        gateway.address, gateway.key
    );
    // More of them than a workspace may have at a time, of a stated length and of none.
    for number in 0..20 {
        let body = match number % 2 {
            0 => "content-length: 1000\r\n\r\nhello",
            _ => "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
        };
        let mut client = TcpStream::connect(gateway.address).await.unwrap();
        client
            .write_all(format!("{head}{body}").as_bytes())
            .await
            .unwrap();
        client.shutdown().await.unwrap();
        // The gateway has noticed once it closes the connection, too.
        let mut said = Vec::new();
        let closed = tokio::time::timeout(PATIENCE, client.read_to_end(&mut said)).await;
        closed.expect("the connection is closed").unwrap();
        let said = String::from_utf8_lossy(&said);
        assert!(
            said.is_empty() || said.starts_with("HTTP/1.1 400"),
            "{said}"
        );
    }
    assert_eq!(gateway.get("/v1/files").await.data()["files"], json!([]));
    // Neither a place nor the key is taken by them.
    let whole = [("idempotency-key", "cut"), ("content-type", "text/plain")];
    let whole = upload(&gateway, "", &whole, "hello").await;
    assert_eq!(whole.status, 201, "{}", whole.text);
    let listed = gateway.get("/v1/files").await.data();
    assert_eq!(listed["files"], json!([whole.data()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_its_users_alone() {
    let (gateway, upstream, _next) = start().await;
    let own = upload(&gateway, "?user_id=ada", &[], "of ada").await.data();
    let id = own["file_id"].as_str().unwrap();
    let (tenant, _) = new_tenant(&gateway.gateway, "other").await.unwrap();
    let confined = [Scope::ToolsExecute, Scope::ToolsRead];
    let confined = new_key(&gateway.gateway, "of default", &confined)
        .await
        .unwrap();
    let reader = new_key(&gateway.gateway, "reader", &[Scope::ToolsRead])
        .await
        .unwrap();
    for (key, code) in [
        (&tenant, "not_found"),
        (&confined, "not_found"),
        (&reader, "scope_denied"),
    ] {
        for path in ["", "/content", "/text"] {
            let path = format!("/v1/files/{id}{path}");
            let refused = gateway.send(Method::GET, &path, Some(key), None).await;
            assert_eq!(refused.code(), code, "{path}");
        }
        let path = format!("/v1/files/{id}");
        let refused = gateway.send(Method::DELETE, &path, Some(key), None).await;
        assert_eq!(refused.code(), code);
    }
    for key in [&tenant, &confined] {
        let listed = gateway
            .send(Method::GET, "/v1/files", Some(key), None)
            .await;
        assert_eq!(listed.data()["files"], json!([]));
    }
    // The user of the key is not the file's: the handle is no file, and nothing is sent.
    let sent = upstream.received().len();
    let ran = gateway
        .execute("things_put_file", json!({ "file": id }))
        .await;
    assert_eq!(ran["status"], "error", "{ran}");
    assert_eq!(upstream.received().len(), sent);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_a_tool_is_refused_once_its_user_may_not_run_the_tool() {
    let (gateway, _upstream, next) = start().await;
    *next.lock().unwrap() = given(200, &[("content-type", "application/pdf")], "%PDF-1.4 x");
    let ran = gateway.execute("things_get_file", json!({})).await;
    let id = ran["files"][0]["file_id"].as_str().unwrap();
    assert_eq!(download(&gateway, id, None).await.status(), 200);
    let rule = json!({ "permission": "deny" });
    let path = "/v1/permissions/users/default/tools/things_get_file";
    let set = gateway
        .send(
            Method::PATCH,
            path,
            Some(&gateway.key),
            Some(rule.to_string()),
        )
        .await;
    assert_eq!(set.status, 200, "{}", set.text);
    let refused = Answer::read(download(&gateway, id, None).await).await;
    assert_eq!(refused.code(), "permission_denied");
    let body = json!({ "arguments": { "file": id } });
    let passed = gateway
        .post("/v1/tools/things_put_file/execute", &body)
        .await;
    assert_eq!(passed.code(), "permission_denied");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_speaks_mcp_reads_the_text_of_files() {
    let (gateway, _upstream, next) = start().await;
    let document = pdf::pages(&["Invoice 2026-118", "Total 120 EUR"]);
    *next.lock().unwrap() = given(200, &[("content-type", "application/pdf")], document);
    let blocks = call_over_mcp(&gateway, "things_get_file", &json!({})).await;
    let id = handle(blocks[0]["text"].as_str().unwrap());
    let read = call_over_mcp(&gateway, "toolgate_read_file", &json!({ "file_id": id })).await;
    let text = read[0]["text"].as_str().unwrap();
    assert!(
        text.contains("Invoice 2026-118") && text.contains("Total 120 EUR"),
        "{text}"
    );

    let plain = [("content-type", "text/plain; charset=iso-8859-1")];
    let latin: Vec<u8> = [vec![0xe9; 150_000], b"end".to_vec()].concat();
    let kept = upload(&gateway, "", &plain, latin).await.data();
    let session = forms::open(&gateway, "/mcp").await;
    let mut uri = format!("toolgate://files/{}", kept["file_id"].as_str().unwrap());
    let mut whole = String::new();
    loop {
        let body = json!({ "jsonrpc": "2.0", "id": 9, "method": "resources/read", "params": { "uri": uri } });
        let answer = forms::post(&gateway, "/mcp", Some("*/*"), Some(&session), &body).await;
        let kind = answer.headers()["content-type"]
            .to_str()
            .unwrap()
            .to_owned();
        let message = forms::message(&kind, &answer.text().await.unwrap());
        let text = message["result"]["contents"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned();
        let (_, piece) = text.split_once("\n\nContent:\n").unwrap();
        let (piece, last) = piece.rsplit_once("\n\n[").unwrap();
        whole.push_str(piece);
        match last.split_once("read the resource ") {
            Some((_, rest)) => rest.split(' ').next().unwrap().clone_into(&mut uri),
            None => break,
        }
    }
    assert_eq!(whole.chars().count(), 150_003);
    assert!(whole.starts_with('\u{e9}') && whole.ends_with("end"));

    let picture = upload(&gateway, "", &[("content-type", "image/png")], "\u{89}PNG")
        .await
        .data();
    let read = json!({ "file_id": picture["file_id"] });
    let read = call_over_mcp(&gateway, "toolgate_read_file", &read).await;
    assert!(
        read[0]["text"]
            .as_str()
            .unwrap()
            .contains("has no text to read")
    );
}
