//! What the operator's commands do with servers and plugin files that mean no good.

use serde_json::{Value, json};
use toolgate_catalog::manifest::Effect;
use toolgate_mcp_upstream::account::AccountChoice;
use toolgate_tests::mcp_upstream::{component, composed, source};
use toolgate_tests::process::Installation;
use toolgate_tests::provider::query_of;
use toolgate_tests::upstream::Upstream;

use super::{VERSION, answer, message, of, one_tool, result, server};

pub(super) const PUBLIC: &str = "https://mcp.example.net/mcp";
pub(super) const ISSUER: &str = "https://id.example.org";
/// What [`ISSUER`] answers where a token is asked for.
pub(super) const PAGE: &str = "<html><title>Our portal</title><p>Welcome back</p></html>";

/// A server with one tool, whose users sign in at [`ISSUER`], which says `metadata` of itself.
pub(super) async fn signs_in(metadata: Value) -> Upstream {
    let protected = json!({"resource": PUBLIC, "authorization_servers": [ISSUER]});
    Upstream::start(move |request| {
        let message = message(request);
        let said = |document: &Value| answer(200, "application/json", document.to_string());
        match message["method"].as_str() {
            Some("initialize") => result(
                &message,
                &json!({"protocolVersion": VERSION, "capabilities": {"tools": {}}, "serverInfo": {"name": "odd", "version": "1"}}),
            ),
            Some("notifications/initialized") => answer(202, "text/plain", ""),
            Some("tools/list") => result(&message, &one_tool()),
            Some(_) => answer(400, "application/json", "{}"),
            None if request.target.contains("oauth-protected-resource") => said(&protected),
            None if request.target.contains("oauth-authorization-server") => said(&metadata),
            // It cannot read metadata documents of clients.
            None if request.target.contains("client_id=https") => {
                answer(400, "application/json", r#"{"error":"invalid_client"}"#)
            }
            None if request.target == "/token" => answer(200, "text/html", PAGE),
            None if request.target == "/register" => {
                answer(201, "application/json", r#"{"client_id": "registered"}"#)
            }
            None => answer(404, "text/plain", "nothing here"),
        }
    })
    .await
}

/// The metadata of [`ISSUER`].
pub(super) fn metadata(authorize: &str, token: &str) -> Value {
    json!({"issuer": ISSUER, "authorization_endpoint": authorize, "token_endpoint": token,
        "code_challenge_methods_supported": ["S256"]})
}

/// What stands in for the public names.
pub(super) fn upstreams(server: &Upstream) -> Vec<String> {
    let names = ["mcp.example.net", "id.example.org"];
    names
        .map(|name| format!("{name}={}", server.url()))
        .to_vec()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_at_one_site_whose_code_goes_to_another_is_refused() {
    let own_token = format!("{ISSUER}/token");
    let server = signs_in(metadata("https://bank.example/authorize", &own_token)).await;
    let mut source = source(PUBLIC, "odd");
    let refused = composed(&source, None, &upstreams(&server)).await;
    let said = refused.expect_err("two sites").to_string();
    assert!(
        said.contains("bank.example") && said.contains("--allow-foreign-endpoints"),
        "{said}"
    );
    source.account = AccountChoice::DiscoverForeign;
    let made = composed(&source, None, &upstreams(&server)).await.unwrap();
    let slot = made.manifest.auth.first().expect("a slot");
    assert_eq!(
        slot.authorize_url.as_deref(),
        Some("https://bank.example/authorize")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authorization_server_that_lists_other_resources_is_refused() {
    let (authorize, token) = (format!("{ISSUER}/authorize"), format!("{ISSUER}/token"));
    for (listed, taken) in [("https://api.example.org", false), (PUBLIC, true)] {
        let mut metadata = metadata(&authorize, &token);
        metadata["protected_resources"] = json!([listed]);
        let server = signs_in(metadata).await;
        let made = composed(&source(PUBLIC, "odd"), None, &upstreams(&server)).await;
        match made {
            Ok(made) => assert!(taken && made.manifest.auth.len() == 1, "{listed}"),
            Err(why) => {
                let why = why.to_string();
                assert!(!taken && why.contains("protected_resources"), "{why}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_says_where_users_sign_in_and_where_their_token_goes() {
    let (authorize, token) = (format!("{ISSUER}/authorize"), format!("{ISSUER}/token"));
    let server = signs_in(metadata(&authorize, &token)).await;
    let folder = tempfile::tempdir().unwrap();
    let mut installation = Installation::new(folder.path(), &[]);
    installation.allow_upstream = upstreams(&server);
    let report = installation
        .run(&["plugin", "build", "--mcp", PUBLIC, "--service", "odd"])
        .await;
    let sentence =
        format!("Users sign in at {ISSUER}; the token is sent to https://mcp.example.net.");
    assert_eq!(report["sign_in"], sentence, "{report}");
    let warning = report["sign_in_warning"].as_str().unwrap_or_default();
    assert!(warning.contains("another site"), "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_in_place_of_a_token_connects_nobody_and_its_title_is_said() {
    let (authorize, token) = (format!("{ISSUER}/authorize"), format!("{ISSUER}/token"));
    let mut metadata = metadata(&authorize, &token);
    metadata["registration_endpoint"] = json!(format!("{ISSUER}/register"));
    metadata["token_endpoint_auth_methods_supported"] = json!(["none"]);
    let server = signs_in(metadata).await;
    let folder = tempfile::tempdir().unwrap();
    let mut installation = Installation::new(folder.path(), &[]);
    installation.allow_upstream = upstreams(&server);
    let file = folder.path().join("plugins/odd.wasm").display().to_string();
    let build = ["plugin", "build", "--mcp", PUBLIC, "--service", "odd"];
    installation
        .run(&[&build[..], &["--output", &file]].concat())
        .await;
    let process = installation.serve(&["odd_do_it"]).await;
    installation.run(&["service", "register", "odd"]).await;

    let body = json!({"arguments": {}, "user_id": "ada"});
    let run = async || process.post("/v1/tools/odd_do_it/execute", &body).await;
    let asked = run().await.data();
    let link = asked["connect_url"].as_str().unwrap();
    let left = crate::connect::submit(&process.client, link, &[]).await;
    let query = query_of(&left.leads_to());
    let back = format!("{}?code=c&state={}", query["redirect_uri"], query["state"]);
    let mut request = process.client.get(back);
    if let Some(cookie) = left.cookie() {
        request = request.header("cookie", cookie);
    }
    let page = request.send().await.unwrap().text().await.unwrap();
    let said = "The provider refused the connection (Our portal)";
    assert!(page.contains(said), "{page}");
    assert!(!page.contains("Welcome back"), "{page}");
    let again = run().await.data();
    assert_eq!(again["status"], "auth_required", "{again}");
}

/// The source section of a plugin file is no right. Another address in it is not asked, and gets no token.
#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_asks_the_server_of_the_approved_manifest_alone() {
    let honest = server(|_| one_tool(), |_, message| result(message, &json!({}))).await;
    let other = server(|_| one_tool(), |_, message| result(message, &json!({}))).await;
    let mut source = source(PUBLIC, "odd");
    source.account = AccountChoice::Bearer;
    let made = composed(&source, None, &upstreams(&honest)).await.unwrap();
    source.url = of(&other).url;
    let wasm = component(&made, &source).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut installation = Installation::new(folder.path(), &[]);
    installation.allow_upstream = upstreams(&honest);
    std::fs::write(folder.path().join("plugins/odd.wasm"), wasm).unwrap();
    let _process = installation.serve(&["odd_do_it"]).await;
    let token = folder.path().join("token");
    std::fs::write(&token, "a-token-of-the-operator").unwrap();
    let token = token.display().to_string();
    let refresh = ["plugin", "refresh", "odd", "--token-file", &token];
    let before = honest.received().len();
    for more in [&["--dry-run"][..], &[]] {
        let said = installation.refused(&[&refresh[..], more].concat()).await;
        assert!(
            said.contains(PUBLIC) && said.contains(&source.url),
            "{said}"
        );
        assert!(said.contains("plugin build --mcp"), "{said}");
    }
    assert_eq!(other.received().len(), 0, "{:?}", other.received());
    assert_eq!(honest.received().len(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_said_to_only_read_and_may_write_is_no_read() {
    let tool = |name: &str, schema: Value| {
        json!({"name": name, "description": "Does what it says.", "inputSchema": schema,
            "annotations": {"readOnlyHint": true}})
    };
    let plain = || json!({"type": "object"});
    let sql = json!({"type": "object", "properties": {"sql": {"type": "string"}}});
    let tools = json!({"tools": [
        tool("look", plain()),
        tool("dElEtE_note", plain()),
        tool("d\u{435}lete_all", plain()),
        tool("query", sql),
        tool("exec", plain()),
    ]});
    let server = server(
        move |_| tools.clone(),
        |_, message| result(message, &json!({})),
    )
    .await;
    let made = composed(&of(&server), None, &[]).await.unwrap();
    let effects: Vec<Effect> = made.manifest.tools.iter().map(|tool| tool.effect).collect();
    use Effect::{Destructive, Read, Write};
    assert_eq!(effects, [Read, Destructive, Write, Destructive, Write]);
    let printed = made
        .notes
        .iter()
        .filter(|note| note.message.contains("--effect"));
    assert_eq!(printed.count(), 4, "{:?}", made.notes);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_takes_the_name_of_another_plugin_replaces_no_file() {
    let odd = server(|_| one_tool(), |_, message| result(message, &json!({}))).await;
    let folder = tempfile::tempdir().unwrap();
    let installation = Installation::new(folder.path(), &[]);
    let file = folder.path().join("odd.wasm");
    std::fs::write(&file, "another plugin").unwrap();
    let url = of(&odd).url;
    let build = ["plugin", "build", "--mcp", &url];
    let said = installation.refused(&build).await;
    assert!(
        said.contains("-o odd.wasm") && said.contains("--service"),
        "{said}"
    );
    assert_eq!(std::fs::read(&file).unwrap(), b"another plugin");
    installation
        .run(&[&build[..], &["-o", "odd.wasm"]].concat())
        .await;
    // What was built from this address is built again without a word.
    installation.run(&build).await;
    let second = server(|_| one_tool(), |_, message| result(message, &json!({}))).await;
    let url = of(&second).url;
    let said = installation
        .refused(&["plugin", "build", "--mcp", &url])
        .await;
    assert!(said.contains("was not built from"), "{said}");
}
