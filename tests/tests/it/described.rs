//! From an OpenAPI description to a plugin that serves: bytes, the sandbox, the wire, refusals.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_egress::{Egress, EgressConfig};
use toolgate_openapi::{self as openapi, BuildInput};
use toolgate_plugin_test::server::ReplayServer;
use toolgate_plugin_test::{TestCache, TestCall, TestPlugin, record, replay};
use toolgate_runtime::{CallEnd, Runtime};
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::upstream::Upstream;
use toolgate_vault::Secret;

pub fn plugin(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../plugins/{name}/openapi.yaml"))
}

pub async fn built(description: PathBuf) -> Vec<u8> {
    let input = BuildInput {
        description,
        ..BuildInput::default()
    };
    let handle = tokio::runtime::Handle::current();
    let built = tokio::task::spawn_blocking(move || handle.block_on(openapi::build(&input)));
    built.await.unwrap().unwrap().wasm
}

/// A description written to a file of its own, and what became of it.
fn described(name: &str, text: &str) -> Result<openapi::Described, openapi::Problem> {
    let folder = tempfile::tempdir().unwrap();
    let description = folder.path().join(name);
    std::fs::write(&description, text).unwrap();
    let started = Instant::now();
    let described = openapi::describe(&BuildInput {
        description,
        ..BuildInput::default()
    });
    // Far above what any of them takes, far below what an unbounded one would.
    assert!(started.elapsed() < Duration::from_secs(60), "{name}");
    described
}

fn with_paths(paths: Value) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Widgets", "version": "1.0.0" },
        "servers": [{ "url": "https://api.widgets.io" }],
        "paths": paths,
    })
}

fn get(id: &str) -> Value {
    json!({ "get": { "operationId": id, "responses": { "200": { "description": "The answer." } } } })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_description_gives_the_same_bytes_and_the_runtime_accepts_them() {
    let first = built(plugin("todoist")).await;
    assert!(first == built(plugin("todoist")).await, "two builds differ");
    let folder = tempfile::tempdir().unwrap();
    let egress = Egress::new(EgressConfig::default()).unwrap();
    let runtime = Runtime::open(folder.path(), [1; 32], egress).unwrap();
    let inspected = runtime.inspect(first).await.unwrap();
    assert_eq!(inspected.manifest.service, "todoist");
    assert!(inspected.manifest.tools.len() >= 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_described_plugin_answers_through_a_gateway() {
    let upstream = Upstream::start(|_| {
        axum::http::Response::builder()
            .header("content-type", "application/json")
            .body(r#"{"id":8863,"title":"Ask","by":"pg","type":"story"}"#.into())
            .unwrap()
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let description = folder.path().join("stories.json");
    let mut text = with_paths(json!({ "/stories/{id}": get("get_story") }));
    text["paths"]["/stories/{id}"]["get"]["parameters"] = json!([
        { "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } },
        { "name": "lang", "in": "query", "schema": { "type": "string" } },
    ]);
    std::fs::write(&description, text.to_string()).unwrap();
    let gateway = TestGateway::start(Options {
        plugins: vec![("widgets.wasm".to_owned(), built(description).await)],
        allow_upstream: vec![format!("api.widgets.io={}", upstream.url())],
        ..Options::default()
    })
    .await;
    let arguments = json!({ "id": 8863, "lang": "de at" });
    let answer = gateway.execute("widgets_get_story", arguments).await;
    assert_eq!(answer["status"], "success", "{answer}");
    assert_eq!(answer["result"]["by"], "pg");
    let target = upstream.received()[0].target.clone();
    assert!(
        ["/stories/8863?lang=de+at", "/stories/8863?lang=de%20at"].contains(&target.as_str()),
        "{target}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn whole_numbers_fixed_queries_and_pages_arrive_as_the_service_means_them() {
    let upstream = Upstream::start(|_| {
        axum::http::Response::builder()
            .header("content-type", "application/json")
            .body(r#"{"items":[1,2,3,4,5]}"#.into())
            .unwrap()
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let description = folder.path().join("search.json");
    let limit = json!({ "name": "limit", "in": "query", "schema": { "type": "integer" } });
    let text = json!({ "type": "object", "properties": { "size": { "type": "number" } } });
    let mut search = get("search_widgets")["get"].take();
    search["parameters"] =
        json!([limit, { "name": "page", "in": "query", "schema": { "type": "integer" } }]);
    search["requestBody"] =
        json!({ "required": true, "content": { "application/json": { "schema": text } } });
    search["x-toolgate"] = json!({ "paginated": { "style": "page", "param": "page", "items": "/items", "size": "limit" } });
    let document = with_paths(json!({ "/search?q=a%20b&include=a&include=b": { "post": search } }));
    std::fs::write(&description, document.to_string()).unwrap();
    let gateway = TestGateway::start(Options {
        plugins: vec![("widgets.wasm".to_owned(), built(description).await)],
        allow_upstream: vec![format!("api.widgets.io={}", upstream.url())],
        ..Options::default()
    })
    .await;
    let arguments = json!({ "limit": 5.0, "size": 2.0 });
    let answer = gateway.execute("widgets_search_widgets", arguments).await;
    assert_eq!(answer["status"], "success", "{answer}");
    let arguments = json!({ "limit": 5.0, "size": 2.5, "cursor": "2" });
    let answer = gateway.execute("widgets_search_widgets", arguments).await;
    assert_eq!(answer["status"], "success", "{answer}");
    let received = upstream.received();
    let asked: Vec<(String, Value)> = received
        .iter()
        .map(|request| {
            let target = request.target.replace('+', "%20");
            (target, serde_json::from_str(&request.body).unwrap())
        })
        .collect();
    let first = "/search?include=a&include=b&q=a%20b&limit=5";
    assert_eq!(
        asked,
        [
            (first.to_owned(), json!({ "size": 2 })),
            (format!("{first}&page=2"), json!({ "size": 2.5 })),
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn graphql_pages_are_followed_and_its_errors_are_errors() {
    let upstream = Upstream::start(|request| {
        let asked: Value = serde_json::from_str(&request.body).unwrap();
        let variables = &asked["variables"];
        let answer = if variables["first"] == 7 {
            json!({ "errors": [{ "message": "no access", "extensions": { "code": "FORBIDDEN" } }], "data": null })
        } else {
            let last = variables["after"] == "c1";
            let issue = if last { "TG-2" } else { "TG-1" };
            json!({ "data": { "issues": {
                "nodes": [{ "identifier": issue }],
                "pageInfo": { "hasNextPage": !last, "endCursor": if last { "c2" } else { "c1" } },
            } } })
        };
        axum::http::Response::builder()
            .header("content-type", "application/json")
            .body(answer.to_string().into())
            .unwrap()
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let description = folder.path().join("issues.json");
    let mut list = get("list_issues")["get"].take();
    list["requestBody"] = json!({ "content": { "application/json": { "schema": {
        "type": "object", "properties": { "first": { "type": "integer", "default": 25 } } } } } });
    list["x-toolgate"] = json!({
        "graphql": "query($first: Int, $after: String) { issues(first: $first, after: $after) { nodes { identifier } } }",
        "result": "/data/issues/nodes",
        "paginated": { "style": "cursor", "param": "after", "next": "/data/issues/pageInfo/endCursor", "more": "/data/issues/pageInfo/hasNextPage" },
    });
    let document = with_paths(json!({ "/graphql#list_issues": { "post": list } }));
    std::fs::write(&description, document.to_string()).unwrap();
    let gateway = TestGateway::start(Options {
        plugins: vec![("widgets.wasm".to_owned(), built(description).await)],
        allow_upstream: vec![format!("api.widgets.io={}", upstream.url())],
        ..Options::default()
    })
    .await;
    let tool = "widgets_list_issues";
    let schema = gateway.get(&format!("/v1/tools/{tool}/schema")).await;
    let annotations = schema.data()["annotations"].take();
    assert_eq!(annotations["readOnlyHint"], true, "a query reads");

    let first = gateway.execute(tool, json!({ "first": 1 })).await;
    assert_eq!(
        first["result"],
        json!([{ "identifier": "TG-1" }]),
        "{first}"
    );
    let cursor = first["next_cursor"].as_str().unwrap();
    let arguments = json!({ "first": 1, "cursor": cursor });
    let second = gateway.execute(tool, arguments).await;
    assert_eq!(second["result"], json!([{ "identifier": "TG-2" }]));
    assert_eq!(second["next_cursor"], Value::Null, "{second}");
    let refused = gateway.execute(tool, json!({ "first": 7 })).await;
    assert_eq!(refused["status"], "error", "{refused}");
    assert_eq!(refused["error"]["code"], "FORBIDDEN", "{refused}");

    let received = upstream.received();
    assert_eq!(received[0].target, "/graphql");
    let sent: Value = serde_json::from_str(&received[1].body).unwrap();
    assert_eq!(sent["variables"], json!({ "first": 1, "after": "c1" }));
    assert!(sent["query"].as_str().unwrap().starts_with("query($first"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_field_of_one_alternative_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let description = folder.path().join("pay.json");
    let schema = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let fields =
        |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } } });
    let mut pay = get("pay")["get"].take();
    pay["requestBody"] = json!({ "required": true, "content": { "application/json": {
        "schema": { "allOf": [schema("Base"), { "oneOf": [schema("Card"), schema("Bank")] }] } } } });
    let mut document = with_paths(json!({ "/payments": { "post": pay } }));
    document["components"]["schemas"] =
        json!({ "Base": fields("amount"), "Card": fields("card_number"), "Bank": fields("iban") });
    std::fs::write(&description, document.to_string()).unwrap();
    let file = folder.path().join("pay.wasm");
    std::fs::write(&file, built(description).await).unwrap();
    let cache = TestCache::new().unwrap();
    let rig = TestPlugin::open(&file, &[], &cache).await.unwrap();
    let test_call = TestCall {
        tool: "pay".to_owned(),
        arguments: json!({ "amount": "7", "card_number": "4242" }),
        ..TestCall::default()
    };
    let (_, planned) = rig.plan(&test_call).await.unwrap();
    let sent: Value = serde_json::from_str(&planned[0].body).unwrap();
    assert_eq!(sent, test_call.arguments);
    let tool = rig.manifest.tools[0].input.value();
    let names = tool["properties"].as_object().unwrap();
    assert!(names.contains_key("card_number") && names.contains_key("iban"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_live_run_carries_the_credential_and_its_recording_does_not() {
    const TOKEN: &str = "tok-5f2b9c1e77";
    // The hostile part: the provider repeats the credential in its answer.
    let upstream = Upstream::start(|_| {
        let body =
            format!(r#"{{"results":[{{"id":"1","content":"{TOKEN}"}}],"next_cursor":"c2"}}"#);
        axum::http::Response::builder()
            .header("content-type", "application/json")
            .body(body.into())
            .unwrap()
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("todoist.wasm");
    std::fs::write(&file, built(plugin("todoist")).await).unwrap();
    let cache = TestCache::new().unwrap();
    let to = format!("api.todoist.com={}", upstream.url());
    let rig = TestPlugin::open(&file, &[to], &cache).await.unwrap();
    let mut test_call = TestCall {
        tool: "list_tasks".to_owned(),
        arguments: json!({ "limit": 1 }),
        secrets: Some([("secret".to_owned(), Secret::new(TOKEN.to_owned()))].into()),
        ..TestCall::default()
    };
    let (ended, exchanges) = rig.run_recorded(&test_call).await.unwrap();
    let shown = replay::shown(&ended);
    assert!(matches!(ended, CallEnd::Returned(_)), "{shown}");
    let sent = &upstream.received()[0];
    let authorization = sent
        .headers
        .iter()
        .find(|(name, _)| name == "authorization");
    assert_eq!(authorization.unwrap().1, format!("Bearer {TOKEN}"));
    let example = record::example(&test_call, &ended, exchanges).unwrap();
    let text = serde_json::to_string(&example).unwrap();
    assert!(!text.contains(TOKEN), "{text}");

    let server = ReplayServer::start().await.unwrap();
    let example = example.filled(&rig.manifest);
    let again = TestPlugin::replaying(&file, &server, std::slice::from_ref(&example), &cache);
    let again = again.await.unwrap();
    let differences = replay::replay(&again, &server, &example).await.unwrap();
    assert!(
        differences.is_empty(),
        "a recording replays: {differences:?}"
    );

    test_call.secrets = Some([].into());
    let ended = rig.run(&test_call).await.unwrap();
    let shown = replay::shown(&ended);
    assert!(
        matches!(ended, CallEnd::Refused(_)),
        "nothing is made up: {shown}"
    );
    assert_eq!(upstream.received().len(), 1);
}

#[test]
fn operations_past_the_bound_ask_for_a_choice() {
    let many = |count: usize| {
        let paths: serde_json::Map<String, Value> = (0..count)
            .map(|n| (format!("/things/{n}"), get(&format!("get_thing_{n}"))))
            .collect();
        with_paths(paths.into())
    };
    let most = described("most.json", &many(openapi::TOOLS_MAX).to_string()).unwrap();
    assert_eq!(most.manifest.tools.len(), openapi::TOOLS_MAX);
    let refused = described("many.json", &many(2_000).to_string()).unwrap_err();
    assert_eq!(refused.pointer, "/paths");
    assert!(refused.message.contains("operations: [...]"), "{refused}");
    let mut chosen = many(2_000);
    chosen["x-toolgate"] = json!({ "operations": ["get_thing_7", "GET /things/1999"] });
    let chosen = described("chosen.json", &chosen.to_string()).unwrap();
    assert_eq!(chosen.manifest.tools.len(), 2);
}

#[test]
fn a_recursive_schema_is_described_down_to_where_it_returns() {
    let node = json!({ "$ref": "#/components/schemas/Node" });
    let mut text = with_paths(json!({ "/nodes": { "post": {
        "operationId": "create_node",
        "requestBody": { "content": { "application/json": { "schema": node } } },
        "responses": { "200": { "description": "The node." } },
    } } }));
    text["components"]["schemas"]["Node"] = json!({ "type": "object", "properties": {
        "name": { "type": "string" },
        "children": { "type": "array", "items": node },
    } });
    let made = described("recursive.json", &text.to_string()).unwrap();
    let told = made
        .notes
        .iter()
        .any(|note| note.message.contains("recursive"));
    assert!(told, "{:?}", made.notes);
    let schema = made.manifest.tools[0].input.text().get().to_owned();
    assert!(
        schema.contains("children") && !schema.contains("$ref"),
        "{schema}"
    );
}

#[test]
fn what_only_the_network_could_tell_is_named_and_never_fetched() {
    let mut far = get("get_far");
    far["get"]["parameters"] = json!([{ "$ref": "https://elsewhere.example/p.yaml#/P" }]);
    let text = with_paths(json!({ "/near": get("get_near"), "/far": far }));
    let made = described("remote.json", &text.to_string()).unwrap();
    let told = made
        .notes
        .iter()
        .find(|note| note.message.contains("network"));
    let named = told.is_some_and(|note| note.pointer.starts_with("/paths/~1far"));
    assert!(named, "{:?}", made.notes);
}

#[test]
fn colliding_names_become_different_tools() {
    let paths =
        json!({ "/a": get("list things"), "/b": get("list-things"), "/c": get("listThings") });
    let made = described("collide.json", &with_paths(paths).to_string()).unwrap();
    let tools = made.manifest.tools.iter();
    let names: std::collections::BTreeSet<&str> = tools.map(|tool| tool.name.as_str()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
}

#[test]
fn wrong_types_bombs_and_depth_are_refused_with_file_and_cause() {
    let mut bomb = String::from("openapi: 3.1.0\na: &a [x,x,x,x,x,x,x,x,x,x]\n");
    for (from, to) in "abcdefgh".chars().zip("bcdefghi".chars()) {
        let ten = vec![format!("*{from}"); 10].join(",");
        bomb.push_str(&format!("{to}: &{to} [{ten}]\n"));
    }
    for (name, text, cause) in [
        ("bomb.yaml", bomb, "YAML"),
        ("deep.yaml", "[".repeat(100_000), "YAML"),
        ("deep.json", "{\"a\":".repeat(100_000), "JSON"),
        (
            "paths.json",
            with_paths(json!([1, 2])).to_string(),
            "write an object",
        ),
        (
            "none.json",
            with_paths(json!({})).to_string(),
            "no operation",
        ),
        ("list.json", "[]".to_owned(), "not an OpenAPI description"),
        (
            "version.json",
            json!({ "openapi": 4 }).to_string(),
            "version `4`",
        ),
        ("empty.yaml", String::new(), ""),
        ("binary.yaml", "\0\0\0".to_owned(), ""),
    ] {
        let refused = described(name, &text).map(|_| ()).unwrap_err().to_string();
        assert!(refused.contains(name), "{name}: {refused}");
        assert!(refused.contains(cause), "{name}: {refused}");
        assert!(refused.len() < 2_000, "{name}: {} bytes", refused.len());
    }
}

#[test]
fn one_wrong_operation_does_not_cost_the_good_ones() {
    let paths = json!({
        "/good": get("get_good"),
        "/odd": { "get": { "operationId": 7, "parameters": "none", "summary": [], "responses": [] } },
        "/null": null,
        "/text": "nothing",
        "/body": { "post": { "operationId": "body", "requestBody": 3, "responses": {} } },
    });
    let made = described("odd.json", &with_paths(paths).to_string()).unwrap();
    let mut tools = made.manifest.tools.iter();
    assert!(tools.any(|tool| tool.name == "get_good"));
}
