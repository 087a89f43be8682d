//! Answers as servers on other platforms write them, replayed byte for byte: letter case and parameters of headers, line
//! ends and comments of event streams, members that are `null`, byte order marks.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use toolgate_mcp_upstream::ServerSource;
use toolgate_tests::mcp_upstream::{composed, source};

use super::{gateway_of, in_session};

/// How a platform answers a message of this method, whole.
type ReplayedAnswer = fn(&str, &Value) -> String;

const NOTHING: &str = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// A server at a free port, one request for each connection.
async fn replayed(answers: ReplayedAnswer) -> ServerSource {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let Some(message) = request(&mut stream).await else {
                    return;
                };
                let answer = match message["method"].as_str() {
                    Some(method) => answers(method, &message),
                    None => NOTHING.to_owned(),
                };
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    source(&format!("http://{address}/mcp"), "odd")
}

/// The message of a request; `null` where it has none.
async fn request(stream: &mut TcpStream) -> Option<Value> {
    let mut bytes = Vec::new();
    loop {
        if let Some(head) = bytes.windows(4).position(|part| part == b"\r\n\r\n") {
            let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
            let length = text
                .lines()
                .find_map(|line| line.strip_prefix("content-length:"));
            let length = length.map_or(0, |length| length.trim().parse::<usize>().unwrap());
            if let Some(body) = bytes.get(head + 4..head + 4 + length) {
                return Some(serde_json::from_slice(body).unwrap_or_default());
            }
        }
        let mut part = [0; 4_096];
        match stream.read(&mut part).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&part[..count]),
        }
    }
}

fn answered(head: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\n{head}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

/// Spring and Jackson: absent members are `null`, a charset stands in each media type, no space follows a field.
fn java(method: &str, message: &Value) -> String {
    const JSON: &str = "Content-Type: application/json;charset=UTF-8\r\n";
    const STREAM: &str = "Content-Type: text/event-stream;charset=UTF-8\r\n";
    let id = &message["id"];
    match method {
        "initialize" => {
            let body = json!({"jsonrpc": "2.0", "id": id, "error": null, "result": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"completions": null, "experimental": null, "logging": {}, "prompts": null,
                    "resources": null, "tools": {"listChanged": true}},
                "serverInfo": {"name": "weather-server", "title": null, "version": "1.0.0"},
                "instructions": null, "_meta": null}});
            let head = format!("{JSON}Mcp-Session-Id: 5b0fA-1\r\n");
            answered(&head, &body.to_string())
        }
        "notifications/initialized" => {
            "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_owned()
        }
        "tools/list" => {
            let tool = json!({"name": "getWeather", "title": null, "description": "Tells the weather of a city.",
                "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
                    "additionalProperties": null, "$defs": null, "definitions": null},
                "outputSchema": null, "annotations": null, "_meta": null});
            let body = json!({"jsonrpc": "2.0", "id": id, "error": null,
                "result": {"tools": [tool], "nextCursor": null, "_meta": null}});
            let stream =
                format!(":keep-alive\r\n\r\nid:5b0f_0\r\nevent:message\r\ndata:{body}\r\n\r\n");
            answered(STREAM, &stream)
        }
        "tools/call" => {
            let body = json!({"jsonrpc": "2.0", "id": id, "error": null, "result": {
                "content": [
                    {"type": "text", "annotations": null, "text": "sunny", "_meta": null},
                    {"type": "resource", "annotations": null, "resource":
                        {"uri": "file:///sky.txt", "mimeType": "text/plain", "text": "blue", "blob": null}},
                ],
                "isError": false, "structuredContent": null, "_meta": null}});
            answered(JSON, &format!("\u{feff}{body}"))
        }
        _ => {
            let body = json!({"jsonrpc": "2.0", "id": id, "result": null,
                "error": {"code": -32601, "message": "Method not found", "data": null}});
            answered(JSON, &body.to_string())
        }
    }
}

/// ASP.NET: every answer is a stream in chunks, with a byte order mark and carriage returns.
fn dotnet(method: &str, message: &Value) -> String {
    let id = &message["id"];
    let result = match method {
        "initialize" => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"logging": {}, "tools": {"listChanged": true}},
            "serverInfo": {"name": "WeatherServer", "version": "1.0.0.0"}}),
        "notifications/initialized" => {
            return "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nCONNECTION: close\r\n\r\n"
                .to_owned();
        }
        "tools/list" => json!({"tools": [{
            "name": "get_weather",
            "description": "Tells the weather of a city.",
            "inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
                "properties": {"city": {"description": "The city", "type": ["string", "null"], "default": null}}},
            "annotations": {"title": "Weather", "destructiveHint": false, "readOnlyHint": true}}]}),
        "tools/call" => json!({"content": [{"type": "text", "text": "sunny"}]}),
        _ => return NOTHING.to_owned(),
    };
    let answer = json!({"result": result, "id": id, "jsonrpc": "2.0"});
    let notes = json!({"method": "notifications/message", "params": {"level": "info", "data": "called"}, "jsonrpc": "2.0"});
    let stream = format!(
        "\u{feff}: comment\r\nevent: message\r\ndata: {notes}\r\n\r\nevent: message\r\nid: 7\r\ndata: {answer}\r\n\r\n"
    );
    format!(
        "HTTP/1.1 200 OK\r\nCONTENT-TYPE: Text/Event-Stream\r\nCache-Control: no-cache,no-store\r\n\
         Content-Encoding: identity\r\nMCP-SESSION-ID: CfDJ8_x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
         {:x}\r\n{stream}\r\n0\r\n\r\n",
        stream.len()
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_as_a_java_server_writes_them_are_read() {
    let source = replayed(java).await;
    let made = composed(&source, None, &[]).await.unwrap();
    let tool = &made.manifest.tools[0];
    assert_eq!(tool.name, "get_weather", "{:?}", made.notes);
    assert!(tool.output.is_none(), "{tool:?}");
    let gateway = gateway_of(&source).await;
    let ran = gateway
        .execute("odd_get_weather", json!({"city": "Oslo"}))
        .await;
    assert_eq!(ran["status"], "success", "{ran}");
    assert_eq!(
        ran["result"]["content"],
        json!([
            {"type": "text", "text": "sunny"},
            {"type": "resource", "resource": {"uri": "file:///sky.txt", "mimeType": "text/plain", "text": "blue"}},
        ])
    );
    let nothing = json!({ "arguments": {} });
    let refused = gateway
        .post("/v1/tools/odd_get_weather/execute", &nothing)
        .await;
    assert_eq!(refused.code(), "invalid_arguments", "the schema holds");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_as_a_dotnet_server_writes_them_are_read() {
    let source = replayed(dotnet).await;
    let made = composed(&source, None, &[]).await.unwrap();
    let tool = &made.manifest.tools[0];
    assert_eq!(tool.title.as_deref(), Some("Weather"));
    let gateway = gateway_of(&source).await;
    for arguments in [json!({"city": "Oslo"}), json!({"city": null})] {
        let ran = in_session(&gateway, "one", "odd_get_weather", arguments).await;
        assert_eq!(ran["result"], "sunny", "{ran}");
    }
}
