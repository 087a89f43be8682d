//! The gateway as a client that authorization servers know by its metadata document.

use serde_json::{Value, json};
use toolgate_tests::process::{Installation, Process};
use toolgate_tests::provider::query_of;
use toolgate_tests::upstream::Upstream;

use super::operator::{ISSUER, PUBLIC, metadata, signs_in, upstreams};

/// The public address of the gateway.
const GATE: &str = "https://gate.example.net";
const DOCUMENT: &str = "/oauth/client/odd.json";

/// An authorization server that takes documents and registrations.
fn takes_both() -> Value {
    let (authorize, token) = (format!("{ISSUER}/authorize"), format!("{ISSUER}/token"));
    let mut metadata = metadata(&authorize, &token);
    metadata["client_id_metadata_document_supported"] = json!(true);
    metadata["registration_endpoint"] = json!(format!("{ISSUER}/register"));
    metadata["token_endpoint_auth_methods_supported"] = json!(["none"]);
    metadata
}

/// A gateway with the plugin of a server, as [`GATE`] for the public where `reachable`.
async fn serving(server: &Upstream, reachable: bool) -> (Installation, Process, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut installation = Installation::new(folder.path(), &[]);
    let public = ("TOOLGATE_PUBLIC_URL".to_owned(), GATE.to_owned());
    installation.environment.push(public);
    installation.allow_upstream = upstreams(server);
    let gate = match reachable {
        true => format!("http://127.0.0.1:{}", installation.port),
        // It answers 404 there.
        false => server.url(),
    };
    let gate = format!("gate.example.net={gate}");
    installation.allow_upstream.push(gate);
    let file = folder.path().join("plugins/odd.wasm").display().to_string();
    let build = ["plugin", "build", "--mcp", PUBLIC, "--service", "odd"];
    installation
        .run(&[&build[..], &["--output", &file]].concat())
        .await;
    let process = installation.serve(&["odd_do_it"]).await;
    (installation, process, folder)
}

/// Whether the server was asked for a registration.
fn was_asked(server: &Upstream) -> bool {
    let received = server.received();
    received.iter().any(|request| request.target == "/register")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_whose_document_can_be_read_is_known_by_it() {
    let server = signs_in(takes_both()).await;
    let (installation, process, _folder) = serving(&server, true).await;
    let before = process.get(DOCUMENT).await;
    assert_eq!(before.status, 404, "no registration is by it: {before:?}");
    let registered = installation.run(&["service", "register", "odd"]).await;
    let id = format!("{GATE}{DOCUMENT}");
    assert_eq!(registered["client_id"], id, "{registered}");
    assert!(!was_asked(&server), "no registration is asked for");
    let document = process.get(DOCUMENT).await.json();
    assert_eq!(document["client_id"], id, "{document}");
    assert_eq!(
        document["redirect_uris"],
        json!([format!("{GATE}/oauth/callback/odd")])
    );
    let other = process.get("/oauth/client/other.json").await;
    assert_eq!(other.status, 404, "{other:?}");
    let asked = process
        .post(
            "/v1/tools/odd_do_it/execute",
            &json!({"arguments": {}, "user_id": "ada"}),
        )
        .await
        .data();
    assert_eq!(asked["status"], "auth_required", "{asked}");

    let registered = installation
        .run(&["service", "register", "odd", "--no-document"])
        .await;
    assert_eq!(registered["client_id"], "registered", "{registered}");
    let after = process.get(DOCUMENT).await;
    assert_eq!(after.status, 404, "{after:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_whose_document_cannot_be_read_is_registered() {
    let server = signs_in(takes_both()).await;
    let (installation, _process, _folder) = serving(&server, false).await;
    let registered = installation.run(&["service", "register", "odd"]).await;
    assert_eq!(registered["client_id"], "registered", "{registered}");
    assert!(was_asked(&server));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_cannot_read_the_document_is_asked_for_a_registration() {
    let server = signs_in(takes_both()).await;
    let (installation, process, _folder) = serving(&server, true).await;
    let registered = installation.run(&["service", "register", "odd"]).await;
    assert_eq!(registered["client_id"], format!("{GATE}{DOCUMENT}"));
    let asked = process
        .post(
            "/v1/tools/odd_do_it/execute",
            &json!({"arguments": {}, "user_id": "ada"}),
        )
        .await
        .data();
    assert!(!was_asked(&server), "nobody has signed in");
    let link = asked["connect_url"].as_str().unwrap();
    let link = link.replacen(GATE, &process.base, 1);
    let left = crate::connect::submit(&process.client, &link, &[]).await;
    let query = query_of(&left.leads_to());
    assert_eq!(query["client_id"], "registered");
    assert!(was_asked(&server));
    let document = process.get(DOCUMENT).await;
    assert_eq!(
        document.status, 404,
        "no registration is by it: {document:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_stays_where_the_next_one_does_not_succeed() {
    let mut metadata = takes_both();
    metadata
        .as_object_mut()
        .unwrap()
        .remove("registration_endpoint");
    let server = signs_in(metadata).await;
    let (installation, process, _folder) = serving(&server, false).await;
    installation
        .run(&["service", "configure", "odd", "--client-id", "own"])
        .await;
    let said = installation.refused(&["service", "register", "odd"]).await;
    assert!(said.contains("client metadata document"), "{said}");
    let document = process.get(DOCUMENT).await;
    assert_eq!(
        document.status, 404,
        "the registration is by it: {document:?}"
    );
    let asked = process
        .post(
            "/v1/tools/odd_do_it/execute",
            &json!({"arguments": {}, "user_id": "ada"}),
        )
        .await
        .data();
    assert_eq!(asked["status"], "auth_required", "{asked}");
}
