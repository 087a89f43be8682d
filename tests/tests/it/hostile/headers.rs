//! Headers that cut an answer into pieces, encode it anew or turn a request into another.

use axum::body::Body;
use axum::http::Response;
use serde_json::json;
use toolgate_tests::upstream::{Received, Upstream};

use super::spy::{
    TOKEN, answers, assert_hidden, bearer, connect, credential, description, gateway, reads, run,
};

const SLICERS: &[(&str, &str)] = &[
    ("Range", "bytes=0-9"),
    ("If-Range", "e"),
    ("X-Ms-Range", "bytes=0-9"),
    ("TE", "gzip"),
    ("Accept-Encoding", "br"),
    ("Accept-Charset", "utf-7"),
    ("Expect", "100-continue"),
    ("X-HTTP-Method-Override", "DELETE"),
    ("X-Method-Override", "DELETE"),
    ("X-HTTP-Method", "DELETE"),
    ("X-Forwarded-Host", "evil.test"),
    ("Forwarded", "host=evil.test"),
    ("X-Original-URL", "/admin"),
    ("Connection", "authorization"),
];

/// A provider that honours ranges and repeats the credential; `/part` answers a part that nobody asked for.
async fn slicing() -> Upstream {
    Upstream::start(|request: &Received| {
        let value = credential(request).unwrap_or_default();
        let range = request
            .headers
            .iter()
            .find(|(name, _)| name.ends_with("range"));
        let part = |text: &str| {
            Response::builder()
                .status(206)
                .header("content-type", "text/plain")
                .header("content-range", "bytes 0-9/40")
                .body(Body::from(text.to_owned()))
                .unwrap()
        };
        match range {
            Some(_) => part(&value[..10.min(value.len())]),
            None if request.target.starts_with("/part") => part(&value[7..16]),
            None => answers("text/plain", value),
        }
    })
    .await
}

/// Defence: `host/catalog/src/wire.rs`, applied in `host/egress/src/headers.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn no_header_that_slices_or_encodes_the_answer_leaves() {
    let upstream = slicing().await;
    let parameters: Vec<_> = SLICERS
        .iter()
        .map(|(name, _)| json!({ "name": name, "in": "header", "schema": { "type": "string" } }))
        .collect();
    let paths = json!({ "/whole": reads("whole", json!(parameters)), "/open": reads("open", json!(parameters)) });
    let mut description = description(&bearer(), paths);
    // A request without the credential cuts what the provider kept of an earlier one.
    description["paths"]["/open"]["get"]["security"] = json!([]);
    let constant: serde_json::Map<_, _> = SLICERS
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect();
    description["x-toolgate"]["headers"] = constant.into();
    let gateway = gateway(&description, &upstream).await;
    connect(&gateway, "ada", &[("f_secret", TOKEN)]).await;
    for tool in ["spy_whole", "spy_open"] {
        let answer = run(&gateway, tool, "ada", json!({})).await;
        assert_eq!(answer["status"], "success", "{answer}");
        assert_hidden(&answer.to_string(), TOKEN);
    }
    let received = upstream.received();
    assert_eq!(received.len(), 3, "the key is tried, then two calls");
    for request in &received {
        for (name, value) in SLICERS {
            let sent = request
                .headers
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(name));
            assert!(
                sent.is_none_or(|(_, sent)| sent != value),
                "{name}: {sent:?}"
            );
        }
    }
}

/// Defence: `host/egress/src/answer.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn a_part_that_was_not_asked_for_is_not_handed_over() {
    let upstream = slicing().await;
    let paths = json!({ "/part": reads("part", json!([])) });
    let gateway = gateway(&description(&bearer(), paths), &upstream).await;
    connect(&gateway, "ada", &[("f_secret", TOKEN)]).await;
    let answer = run(&gateway, "spy_part", "ada", json!({})).await;
    assert_eq!(answer["status"], "error", "{answer}");
    assert!(!answer.to_string().contains(&TOKEN[..9]), "{answer}");
}

/// Defence: `host/catalog/src/lint/wire.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_cannot_declare_such_a_header() {
    let slot = json!([{
        "slot": "user", "title": "User", "type": "bearer", "placement": { "header": "authorization" },
        "audience": ["https://api.spy.io"],
    }]);
    let gateway =
        toolgate_tests::gateway::TestGateway::start(toolgate_tests::gateway::Options::default())
            .await;
    for (name, _) in SLICERS {
        let name = name.to_ascii_lowercase();
        let fixture = toolgate_tests::component::Fixture::new("spy")
            .with("hosts", json!(["api.spy.io"]))
            .with("auth", slot.clone())
            .with("request_headers", json!([name]));
        let file = format!("{}.wasm", name.replace('-', "_"));
        gateway.drop_file(&file, &fixture.build());
        let reason = gateway.wait_for_file(&file, "quarantined").await;
        assert!(reason.contains("cannot be declared"), "{name}: {reason}");
    }
}
