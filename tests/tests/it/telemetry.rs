//! OpenTelemetry: what the program sends to a collector, and what it sends on to upstreams.

use std::path::Path;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Response;
use serde_json::{Value, json};
use toolgate_openapi::{self as openapi, BuildInput};
use toolgate_tests::bytes;
use toolgate_tests::collector::{OtlpCollector, TakenSpan};
use toolgate_tests::gateway::Answer;
use toolgate_tests::ports::free_port;
use toolgate_tests::process::{Installation, Process, wait};
use toolgate_tests::upstream::{Received, Upstream};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CLIENT_SPAN: &str = "00f067aa0ba902b7";
/// Stands for what a caller would not want to be seen.
const ARGUMENT: &str = "a-private-argument";

/// Both services answer a note; the second one's with an error.
async fn upstream() -> Upstream {
    Upstream::start(|request: &Received| {
        let status = if request.target.contains("/broken") {
            500
        } else {
            200
        };
        Response::builder()
            .status(status)
            .header("content-type", "application/json")
            .body(Body::from(r#"{"id":7}"#))
            .unwrap()
    })
    .await
}

/// A plugin of a description with one read, one write and one read that the provider fails.
async fn plugin(folder: &Path, service: &str, host: &str) -> Vec<u8> {
    let operation =
        |id: &str| json!({ "operationId": id, "responses": { "200": { "description": "Done." } } });
    let title = json!({ "name": "title", "in": "query", "schema": { "type": "string" } });
    let mut read = operation("list_notes");
    read["parameters"] = json!([title]);
    let document = json!({
        "openapi": "3.1.0",
        "info": { "title": service, "version": "1.0.0" },
        "servers": [{ "url": format!("https://{host}") }],
        "paths": {
            "/notes": { "get": read, "post": operation("create_note") },
            "/broken": { "get": operation("get_broken") },
        },
    });
    let description = folder.join(format!("{service}.json"));
    std::fs::write(&description, document.to_string()).unwrap();
    let handle = tokio::runtime::Handle::current();
    let input = BuildInput {
        description,
        ..BuildInput::default()
    };
    let built = tokio::task::spawn_blocking(move || handle.block_on(openapi::build(&input)));
    built.await.unwrap().unwrap().wasm
}

/// An installation with the services `notes` and `other`, that sends to `collector` what it has at once.
async fn installation(folder: &Path, upstream: &Upstream, collector: &str) -> Installation {
    let mut installation = Installation::new(folder, &[]);
    for (service, host) in [("notes", "api.notes.io"), ("other", "api.other.io")] {
        let wasm = plugin(folder, service, host).await;
        let file = folder.join(format!("plugins/{service}.wasm"));
        std::fs::write(file, wasm).unwrap();
        let mapping = format!("{host}={}", upstream.url());
        installation.allow_upstream.push(mapping);
    }
    let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    installation.environment = vec![
        set("OTEL_EXPORTER_OTLP_ENDPOINT", collector),
        set("OTEL_BSP_SCHEDULE_DELAY", "100"),
        set("OTEL_BLRP_SCHEDULE_DELAY", "100"),
        set("OTEL_METRIC_EXPORT_INTERVAL", "500"),
        set("TOOLGATE_TRACE_UPSTREAM", "https://api.notes.io"),
    ];
    installation
}

/// `svc_execute_tool` in the way of revision 2026-07-28, with a trace of the client's own.
async fn call(process: &Process, tool: &str, arguments: Value, traceparent: &str) -> Value {
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": "svc_execute_tool",
            "arguments": { "tool_name": tool, "arguments": arguments.to_string() },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "traceparent": traceparent,
                "tracestate": "vendor=1",
            },
        },
    });
    let request = process
        .client
        .post(process.url("/mcp"))
        .bearer_auth(&process.key)
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "svc_execute_tool")
        .body(body.to_string());
    let answer = Answer::read(request.send().await.unwrap()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

fn header<'a>(request: &'a Received, name: &str) -> Option<&'a str> {
    let found = request.headers.iter().find(|(key, _)| key == name);
    found.map(|(_, value)| value.as_str())
}

/// The one span of this name.
fn span<'a>(spans: &'a [TakenSpan], name: &str) -> &'a TakenSpan {
    let mut found = spans.iter().filter(|span| span.name == name);
    let first = found.next();
    let first = first.unwrap_or_else(|| panic!("no span {name} in {spans:#?}"));
    assert!(found.next().is_none(), "{name} twice in {spans:#?}");
    first
}

const TOOLS: [&str; 3] = ["notes_list_notes", "notes_create_note", "other_list_notes"];

#[tokio::test(flavor = "multi_thread")]
async fn one_trace_leads_from_a_clients_meta_to_the_request_of_the_upstream() {
    let folder = tempfile::tempdir().unwrap();
    let (upstream, collector) = (upstream().await, OtlpCollector::start().await);
    let installation = installation(folder.path(), &upstream, &collector.url()).await;
    let process = installation.serve(&TOOLS).await;
    let parent = format!("00-{TRACE}-{CLIENT_SPAN}-01");

    let answer = call(&process, "notes_create_note", json!({}), &parent).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    let of_trace = || {
        let mut spans = collector.taken().spans;
        spans.retain(|span| span.trace_id == TRACE);
        spans
    };
    wait("the whole trace", async || {
        of_trace().iter().any(|span| span.parent_id == CLIENT_SPAN)
    })
    .await;
    let spans = of_trace();

    let mcp = span(&spans, "tools/call svc_execute_tool");
    assert_eq!(mcp.parent_id, CLIENT_SPAN);
    for attribute in [
        "mcp.method.name=tools/call",
        "mcp.protocol.version=2026-07-28",
        "gen_ai.operation.name=execute_tool",
        "gen_ai.tool.name=svc_execute_tool",
    ] {
        assert!(mcp.has(attribute), "{attribute} in {mcp:?}");
    }
    assert!(!mcp.failed);
    let execution = span(&spans, "execute_tool notes_create_note");
    assert_eq!(execution.parent_id, mcp.span_id);
    for attribute in [
        "gen_ai.operation.name=execute_tool",
        "gen_ai.tool.name=notes_create_note",
        "toolgate.service=notes",
        "toolgate.execution.status=success",
    ] {
        assert!(execution.has(attribute), "{attribute} in {execution:?}");
    }
    let sandbox = span(&spans, "sandbox notes");
    assert_eq!(sandbox.parent_id, execution.span_id);
    assert!(sandbox.has("toolgate.sandbox.end=returned"), "{sandbox:?}");
    let hop = span(&spans, "POST");
    assert_eq!(hop.parent_id, sandbox.span_id);
    for attribute in [
        "http.request.method=POST",
        "server.address=api.notes.io",
        "server.port=443",
        "http.response.status_code=200",
    ] {
        assert!(hop.has(attribute), "{attribute} in {hop:?}");
    }
    // A write is on the disk before it leaves, and its receipt before the answer.
    let database = spans
        .iter()
        .filter(|span| span.has("db.system.name=sqlite"));
    let receipts = spans.iter().filter(|span| span.name.starts_with("receipt"));
    let waits: Vec<_> = database.chain(receipts).collect();
    assert!(!waits.is_empty(), "{spans:#?}");
    for wait in waits {
        let below = spans.iter().any(|span| span.span_id == wait.parent_id);
        assert!(below, "{wait:?} is below a span of the trace");
    }
    // The HTTP request is a trace of its own, to which the call is linked.
    wait("the span of the HTTP request", async || {
        let spans = collector.taken().spans;
        spans
            .iter()
            .any(|span| mcp.links.contains(&span.span_id) && span.name == "POST /mcp")
    })
    .await;

    // The upstream that the operator trusts continues the trace below the hop.
    let received = upstream.received();
    let sent = received.iter().find(|one| one.method == "POST").unwrap();
    let expected = format!("00-{TRACE}-{}-01", hop.span_id);
    assert_eq!(header(sent, "traceparent"), Some(expected.as_str()));
    assert_eq!(header(sent, "tracestate"), Some("vendor=1"));
    // Another one learns nothing.
    let answer = call(&process, "other_list_notes", json!({}), &parent).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    let received = upstream.received();
    let sent = received.last().unwrap();
    assert_eq!(sent.method, "GET");
    assert_eq!(header(sent, "traceparent"), None);
    assert_eq!(header(sent, "tracestate"), None);
    process.signal("TERM").await;
    process.ended().await;
    let resource = collector.taken().resource;
    assert!(
        resource.contains(&"service.name=toolgate".to_owned()),
        "{resource:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tools_error_is_an_error_of_its_spans_and_no_argument_or_secret_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let (upstream, collector) = (upstream().await, OtlpCollector::start().await);
    let installation = installation(folder.path(), &upstream, &collector.url()).await;
    let process = installation
        .serve(&["notes_get_broken", "notes_list_notes"])
        .await;
    let parent = format!("00-{TRACE}-{CLIENT_SPAN}-01");
    let answer = call(&process, "notes_get_broken", json!({}), &parent).await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    // A header is the parent of a call over REST.
    let arguments = json!({ "arguments": { "title": ARGUMENT } });
    let request = process
        .client
        .post(process.url("/v1/tools/notes_list_notes/execute"))
        .bearer_auth(&process.key)
        .header(
            "traceparent",
            parent.replace(CLIENT_SPAN, "00f067aa0ba902b8"),
        )
        .header("content-type", "application/json")
        .body(arguments.to_string());
    let answer = Answer::read(request.send().await.unwrap()).await;
    assert_eq!(answer.data()["status"], "success", "{}", answer.text);
    assert!(
        upstream
            .received()
            .iter()
            .any(|one| one.target.contains(ARGUMENT))
    );
    // Nothing of an unsampled trace is recorded, and the upstream is told so.
    let unsampled = format!("00-{}-{CLIENT_SPAN}-00", TRACE.replace('4', "5"));
    call(&process, "notes_list_notes", json!({}), &unsampled).await;
    let received = upstream.received();
    let sent = header(received.last().unwrap(), "traceparent").unwrap();
    assert!(
        sent.starts_with(&unsampled[..36]) && sent.ends_with("-00"),
        "{sent}"
    );
    process.signal("TERM").await;
    process.ended().await;

    let taken = collector.taken();
    let spans = &taken.spans;
    for name in [
        "tools/call svc_execute_tool",
        "execute_tool notes_get_broken",
    ] {
        assert!(span(spans, name).failed, "{name}");
    }
    let mcp = span(spans, "tools/call svc_execute_tool");
    assert!(mcp.has("error.type=tool_error"), "{mcp:?}");
    let execution = span(spans, "execute_tool notes_get_broken");
    assert!(execution.has("error.type=provider_error"), "{execution:?}");
    let rest = span(spans, "POST /v1/tools/{tool_name}/execute");
    assert_eq!(
        (&*rest.trace_id, &*rest.parent_id),
        (TRACE, "00f067aa0ba902b8")
    );
    assert!(
        !rest.failed && rest.has("http.response.status_code=200"),
        "{rest:?}"
    );
    let execution = span(spans, "execute_tool notes_list_notes");
    assert_eq!(execution.parent_id, rest.span_id);

    for metric in [
        "http.server.request.duration",
        "mcp.server.operation.duration",
        "gen_ai.execute_tool.duration",
        "http.client.request.duration",
        "db.client.operation.duration",
        "toolgate.catalog.tools",
        "toolgate.http.connections",
    ] {
        assert!(taken.metrics.iter().any(|one| one == metric), "{metric}");
    }
    let line = taken.lines.iter().find(|(line, _)| line == "request");
    assert!(line.is_some(), "{:?}", taken.lines);
    let in_trace = taken.lines.iter().any(|(_, trace)| trace == TRACE);
    assert!(in_trace, "no line belongs to the trace: {:?}", taken.lines);
    for body in &taken.bodies {
        for secret in [ARGUMENT, &process_key(folder.path())] {
            assert!(
                !bytes::contains(body, secret),
                "{secret} was sent to the collector"
            );
        }
    }
}

fn process_key(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("key")).unwrap()
}

/// Three seconds for the collector; the rest is for a machine that does other work too.
const ENDS_WITHIN: Duration = Duration::from_secs(9);

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_slow_or_away_holds_up_nothing_and_what_is_dropped_is_counted() {
    let slow = OtlpCollector::slow(Duration::from_secs(600)).await;
    let away = format!("http://127.0.0.1:{}", free_port());
    for (collector, outcome) in [(slow.url(), "dropped"), (away, "failed")] {
        let folder = tempfile::tempdir().unwrap();
        let upstream = upstream().await;
        let mut installation = installation(folder.path(), &upstream, &collector).await;
        let small = ("OTEL_BSP_MAX_QUEUE_SIZE".to_owned(), "8".to_owned());
        installation.environment.push(small);
        let process = installation.serve(&["notes_list_notes"]).await;
        let body = json!({ "arguments": {} });
        let mut longest = Duration::ZERO;
        for _ in 0..50 {
            let began = Instant::now();
            let answer = process
                .post("/v1/tools/notes_list_notes/execute", &body)
                .await;
            longest = longest.max(began.elapsed());
            assert_eq!(answer.data()["status"], "success", "{}", answer.text);
        }
        assert!(longest < Duration::from_secs(5), "{outcome}: {longest:?}");
        let line = format!(r#"toolgate_telemetry_total{{signal="spans",outcome="{outcome}"}} "#);
        wait(&line, async || {
            let metrics = process.get("/metrics").await.text;
            metrics.lines().any(|one| one.starts_with(&line))
        })
        .await;
        let began = Instant::now();
        process.signal("TERM").await;
        process.ended().await;
        assert!(
            began.elapsed() < ENDS_WITHIN,
            "{outcome}: {:?}",
            began.elapsed()
        );
        if outcome == "failed" {
            let log = installation.log();
            let said = log.matches("telemetry.collector_away").count();
            assert!((1..=2).contains(&said), "{log}");
        }
    }
}

/// Each of these calls goes on in a task that may outlive its request.
#[tokio::test(flavor = "multi_thread")]
async fn a_streamed_and_a_keyed_call_over_rest_keep_their_trace() {
    let folder = tempfile::tempdir().unwrap();
    let (upstream, collector) = (upstream().await, OtlpCollector::start().await);
    let installation = installation(folder.path(), &upstream, &collector.url()).await;
    let process = installation.serve(&["notes_create_note"]).await;
    for (trace, header_name, value) in [
        (TRACE.replace('4', "6"), "accept", "text/event-stream"),
        (TRACE.replace('4', "7"), "idempotency-key", "one-note"),
    ] {
        let request = process
            .client
            .post(process.url("/v1/tools/notes_create_note/execute"))
            .bearer_auth(&process.key)
            .header("traceparent", format!("00-{trace}-{CLIENT_SPAN}-01"))
            .header("content-type", "application/json")
            .header(header_name, value)
            .body(r#"{"arguments":{}}"#);
        let answer = Answer::read(request.send().await.unwrap()).await;
        assert!(answer.text.contains("success"), "{}", answer.text);
        let received = upstream.received();
        let sent = header(received.last().unwrap(), "traceparent");
        let in_trace = sent.is_some_and(|sent| sent.starts_with(&format!("00-{trace}-")));
        assert!(in_trace, "{header_name}: {sent:?}");
        wait("the span of the call", async || {
            let spans = collector.taken().spans;
            let mut calls = spans.iter().filter(|span| span.trace_id == trace);
            calls.any(|span| span.name == "execute_tool notes_create_note")
        })
        .await;
    }
}

/// Off is the default, and then nothing is propagated either.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_collector_no_upstream_learns_of_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = upstream().await;
    let mut installation = installation(folder.path(), &upstream, "").await;
    installation
        .environment
        .retain(|(name, _)| name != "OTEL_EXPORTER_OTLP_ENDPOINT");
    let process = installation.serve(&["notes_list_notes"]).await;
    let parent = format!("00-{TRACE}-{CLIENT_SPAN}-01");
    call(&process, "notes_list_notes", json!({}), &parent).await;
    let received = upstream.received();
    assert_eq!(header(received.last().unwrap(), "traceparent"), None);
    let metrics = process.get("/metrics").await.text;
    assert!(!metrics.contains("toolgate_telemetry_total"), "{metrics}");
}
