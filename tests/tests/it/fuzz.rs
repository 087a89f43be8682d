//! Mutated inputs for every parser of untrusted input: plugin files, manifests, OpenAPI descriptions, arguments, keys,
//! callbacks and MCP messages. None may cause a panic, a status of 500 or above, or a timeout. `make fuzz SECONDS=600` runs
//! longer. The fuzz test of the egress policy is in its crate.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use reqwest::RequestBuilder;
use reqwest::header::HeaderValue;
use serde_json::json;
use toolgate_catalog::manifest::Manifest;
use toolgate_gateway::connections::callback::SHARED_CALLBACK_PATH;
use toolgate_openapi::BuildInput;
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{Answer, TestGateway, built_plugin};
use toolgate_tests::settings::number;

/// Of each target in a run of all tests.
const SECONDS: u64 = 2;
/// One input takes no longer than this, also on a busy machine.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);
const CHANGES_MAX: usize = 8;
/// Longest part that is removed, repeated or taken from elsewhere.
const PART_MAX: usize = 40;
const REPEATS_MAX: usize = 300;
/// What parsers stumble over.
const TOKENS: [&str; 24] = [
    "\0",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "{",
    "}",
    "[",
    "]",
    "null",
    "-1",
    "1e999",
    "18446744073709551616",
    "0x",
    "\r\n",
    "%00",
    "%ff",
    "&",
    "=",
    ";",
    "../",
    "\u{feff}",
    "\u{202e}",
    "\u{1f600}",
];

/// Random mutations of the given inputs. The same seed makes the same inputs.
struct Inputs {
    seed: u64,
    random: StdRng,
    given: Vec<Vec<u8>>,
    until: Instant,
    made: usize,
}

impl Inputs {
    fn new(given: &[&[u8]]) -> Self {
        let seed = number("TOOLGATE_TEST_SEED", 1);
        let seconds = number("TOOLGATE_TEST_FUZZ_SECONDS", SECONDS);
        Self {
            seed,
            random: StdRng::seed_from_u64(seed),
            given: given.iter().map(|bytes| bytes.to_vec()).collect(),
            until: Instant::now() + Duration::from_secs(seconds),
            made: 0,
        }
    }

    fn next(&mut self) -> Option<Vec<u8>> {
        if Instant::now() > self.until {
            println!("{} inputs", self.made);
            return None;
        }
        self.made += 1;
        let mut bytes = self.given.choose(&mut self.random)?.clone();
        for _ in 0..self.random.random_range(1..=CHANGES_MAX) {
            self.change(&mut bytes);
        }
        Some(bytes)
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.random.random_range(0..=bytes.len());
        let to = (at + self.random.random_range(0..=PART_MAX)).min(bytes.len());
        match self.random.random_range(0..6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << self.random.random_range(0..8),
            1 if at < bytes.len() => bytes[at] = self.random.random(),
            2 => drop(bytes.drain(at..to)),
            3 => {
                let times = self.random.random_range(1..=REPEATS_MAX);
                let part = bytes[at..to].repeat(times);
                bytes.splice(at..to, part);
            }
            4 => {
                let other = self.given.choose(&mut self.random).cloned();
                let other = other.unwrap_or_default();
                let from = self.random.random_range(0..=other.len());
                let end = (from + PART_MAX).min(other.len());
                bytes.splice(at..to, other[from..end].iter().copied());
            }
            _ => {
                let token = TOKENS.choose(&mut self.random).unwrap_or(&"");
                bytes.splice(at..at, token.bytes());
            }
        }
    }

    /// An input that failed, with the seed that makes it again.
    fn told(&self, bytes: &[u8]) -> String {
        let (seed, made) = (self.seed, self.made);
        format!(
            "input {made} of TOOLGATE_TEST_SEED={seed}: {}",
            bytes.escape_ascii()
        )
    }

    /// For what has no connection between it and the test.
    fn try_all(mut self, mut target: impl FnMut(&[u8])) {
        while let Some(bytes) = self.next() {
            let began = Instant::now();
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(&bytes))) {
                println!("{}", self.told(&bytes));
                resume_unwind(panic);
            }
            assert!(began.elapsed() < ANSWER_WITHIN, "{}", self.told(&bytes));
        }
        assert!(self.made > 0);
    }

    /// For what a gateway is asked. `None`: such a request cannot be sent at all.
    async fn send_all(
        mut self,
        gateway: &TestGateway,
        request: impl Fn(&[u8]) -> Option<RequestBuilder>,
    ) {
        let mut sent = 0;
        while let Some(bytes) = self.next() {
            let Some(request) = request(&bytes) else {
                continue;
            };
            let answer = request.timeout(ANSWER_WITHIN).send().await;
            let Ok(answer) = answer else {
                panic!("{answer:?} to {}", self.told(&bytes));
            };
            let status = answer.status().as_u16();
            let text = answer.text().await;
            assert!(
                status < 500 && text.is_ok(),
                "{status} {text:?} to {}",
                self.told(&bytes)
            );
            sent += 1;
        }
        assert!(sent > 0);
        let ready: Answer = gateway.get("/readyz").await;
        assert_eq!(ready.status, 200, "{}", ready.text);
    }
}

async fn gateway() -> TestGateway {
    let answers = "(call $answer (local.get $arguments) (local.get $arguments_bytes))";
    let demo = Fixture::new("demo").invoke(answers).build();
    TestGateway::with_plugin("demo.wasm", demo).await
}

#[test]
fn plugin_files() {
    let plain = Fixture::new("plain").build();
    let shipped = built_plugin("hackernews").unwrap();
    Inputs::new(&[&plain, &shipped]).try_all(|bytes| drop(toolgate_runtime::inspect::read(bytes)));
}

#[test]
fn manifests() {
    let shipped = toolgate_runtime::inspect::read(&built_plugin("github").unwrap()).unwrap();
    let plain = Fixture::new("plain").manifest.to_string();
    Inputs::new(&[plain.as_bytes(), shipped.manifest_json.as_bytes()])
        .try_all(|bytes| drop(Manifest::parse(&String::from_utf8_lossy(bytes))));
}

#[test]
fn openapi_descriptions() {
    let folder = tempfile::tempdir().unwrap();
    let plugins = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins");
    let shipped = std::fs::read(plugins.join("hackernews/openapi.yaml")).unwrap();
    let small = json!({
        "openapi": "3.1.0",
        "info": { "title": "Notes", "version": "1.0.0" },
        "servers": [{ "url": "https://{region}.notes.io", "variables": { "region": { "default": "eu" } } }],
        "paths": { "/notes/{id}": { "get": {
            "operationId": "get_note",
            "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "$ref": "#/components/schemas/Id" } }],
            "responses": { "200": { "description": "Done." } },
        } } },
        "components": { "schemas": { "Id": { "type": "string", "pattern": "^[a-z]+$" } } },
    });
    let description = folder.path().join("description.yaml");
    Inputs::new(&[&shipped, small.to_string().as_bytes()]).try_all(|bytes| {
        std::fs::write(&description, bytes).unwrap();
        let input = BuildInput {
            description: description.clone(),
            ..BuildInput::default()
        };
        drop(toolgate_openapi::describe(&input));
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_of_a_call() {
    let gateway = gateway().await;
    let url = gateway.url("/v1/tools/demo_run/execute");
    let nested = json!({ "arguments": { "a": [1, -2.5e3, "\u{e9}", null, { "b": true }] }, "user_id": "ada" });
    let text = json!({ "arguments": "{\"a\": 1}", "session_id": "s" });
    let given = [nested.to_string(), text.to_string()];
    let inputs = Inputs::new(&[given[0].as_bytes(), given[1].as_bytes()]);
    inputs
        .send_all(&gateway, |bytes| {
            let request = gateway.client.post(&url).bearer_auth(&gateway.key);
            Some(
                request
                    .header("content-type", "application/json")
                    .body(bytes.to_vec()),
            )
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn api_keys() {
    let gateway = gateway().await;
    let url = gateway.url("/v1/tools/list");
    let own = format!("Bearer {}", gateway.key);
    let inputs = Inputs::new(&[own.as_bytes(), b"Basic YWRhOmFkYQ==", b"Bearer tga_1.2.3"]);
    inputs
        .send_all(&gateway, |bytes| {
            let value = HeaderValue::from_bytes(bytes).ok()?;
            Some(gateway.client.get(&url).header("authorization", value))
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn callbacks_of_providers() {
    let gateway = gateway().await;
    let given: [&[u8]; 2] = [
        b"code=4%2F0AX4&state=c3RhdGU&scope=a%20b&iss=https%3A%2F%2Fprovider.example",
        b"error=access_denied&error_description=The+user+said+no&state=c3RhdGU",
    ];
    Inputs::new(&given)
        .send_all(&gateway, |bytes| {
            let query = String::from_utf8_lossy(bytes);
            let url = gateway.url(&format!("{SHARED_CALLBACK_PATH}/github?{query}"));
            // Longer than a request line may be.
            (url.len() < 8_000).then(|| gateway.client.get(url))
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_messages() {
    let gateway = gateway().await;
    let url = gateway.url("/mcp");
    let client = json!({ "name": "fuzz", "version": "1" });
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client,
    } });
    let call = json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {
        "name": "svc_execute_tool", "arguments": { "tool_name": "demo_run", "arguments": "{}" },
        "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "progressToken": 7,
            "io.modelcontextprotocol/clientInfo": client, "io.modelcontextprotocol/clientCapabilities": {} },
    } });
    let given = [initialize.to_string(), call.to_string()];
    let inputs = Inputs::new(&[given[0].as_bytes(), given[1].as_bytes()]);
    inputs
        .send_all(&gateway, |bytes| {
            let stateless = bytes.len() % 2 == 0;
            let mut request = gateway.client.post(&url).bearer_auth(&gateway.key);
            if stateless {
                request = request
                    .header("mcp-protocol-version", "2026-07-28")
                    .header("mcp-method", "tools/call")
                    .header("mcp-name", "svc_execute_tool");
            }
            let request = request
                .header("content-type", "application/json")
                .header("accept", "application/json, text/event-stream");
            Some(request.body(bytes.to_vec()))
        })
        .await;
}
