//! Clients that an admin names: machines that act for a user by their secret, and apps that can neither describe
//! nor register themselves. And the switches for the others.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::{Value, json};
use toolgate_store::Role;
use toolgate_tests::gateway::{Answer, Options, TestGateway, new_tenant};
use toolgate_tests::postgres;
use toolgate_tests::process::program;

use super::way::{
    App, AppTokens, MemberBrowser, REDIRECT, call_at, error_of, form, gateway, gateway_with,
    is_let_in, member, register,
};
use super::whole::actions;

struct Machine<'a> {
    gateway: &'a TestGateway,
    id: String,
    secret: String,
}

impl<'a> Machine<'a> {
    async fn named(gateway: &'a TestGateway, admin: &MemberBrowser<'_>, body: Value) -> Self {
        let made = admin.ask(Method::POST, "/internal/app-clients", body).await;
        assert_eq!(made.status, 201, "{}", made.text);
        let made = made.data();
        let text = |name: &str| made[name].as_str().unwrap().to_owned();
        Self {
            gateway,
            id: text("client_id"),
            secret: text("client_secret"),
        }
    }

    fn basic(&self) -> String {
        format!(
            "Basic {}",
            STANDARD.encode(format!("{}:{}", self.id, self.secret))
        )
    }

    /// A request with the secret in the header, or with what is in the form.
    async fn ask(&self, authorization: Option<String>, pairs: &[(&str, &str)]) -> Answer {
        let resource = self.gateway.url("/mcp");
        let mut all = vec![("grant_type", "client_credentials")];
        if !pairs.iter().any(|(name, _)| *name == "resource") {
            all.push(("resource", &resource));
        }
        all.extend(pairs.iter().filter(|(_, value)| !value.is_empty()));
        let request = self.gateway.client.post(self.gateway.url("/oauth/token"));
        let mut request = request
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form(&all));
        if let Some(value) = authorization {
            request = request.header("authorization", value);
        }
        Answer::read(request.send().await.unwrap()).await
    }

    async fn token(&self) -> String {
        let answer = self.ask(Some(self.basic()), &[]).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let body = answer.json();
        assert!(body.get("refresh_token").is_none(), "{body}");
        body["access_token"].as_str().unwrap().to_owned()
    }
}

async fn a_machine_gets_tokens(database_url: Option<String>) {
    let options = Options {
        database_url,
        ..Options::default()
    };
    let gateway = &gateway_with(options).await;
    let admin = MemberBrowser::new(gateway, "eve@example.com", Role::Admin).await;
    let body = json!({
        "name": "Nightly report", "acts_for": "reports", "scopes": ["tools:read", "tools:execute"],
    });
    let machine = Machine::named(gateway, &admin, body).await;
    let token = machine.token().await;
    assert!(is_let_in(gateway, &token).await);
    let in_form = [
        ("client_id", machine.id.as_str()),
        ("client_secret", machine.secret.as_str()),
        ("scope", "tools:read"),
    ];
    let less = machine.ask(None, &in_form).await;
    assert_eq!(less.json()["scope"], "tools:read", "{}", less.text);
    // It names no address, and words that mean nothing here, or more than it has.
    for (scope, expected) in [
        ("openid", "tools:read tools:execute"),
        ("tools:read offline_access profile", "tools:read"),
        ("tools:execute skills:write admin", "tools:execute"),
    ] {
        let asked = [("resource", ""), ("scope", scope)];
        let issued = machine.ask(Some(machine.basic()), &asked).await;
        assert_eq!(issued.json()["scope"], expected, "{}", issued.text);
        let token = issued.json()["access_token"].as_str().unwrap().to_owned();
        let search = json!({ "query": "run" });
        let found = call_at(gateway, "/mcp", Some(&token), "svc_search_tools", search).await;
        let allowed = if expected == "tools:execute" {
            403
        } else {
            200
        };
        assert_eq!(found.status, allowed, "{}", found.text);
    }
    // It acts for its user, under its own name.
    let receipts = gateway.get("/v1/executions?limit=1").await.data();
    let receipt = &receipts["executions"][0];
    assert_eq!(receipt["user_id"], "reports", "{receipt}");
    assert_eq!(receipt["key"]["name"], "Nightly report", "{receipt}");
    // Not more than it was named for.
    let skills = call_at(gateway, "/mcp", Some(&token), "svc_list_skills", json!({})).await;
    assert_eq!((skills.status, skills.code()), (403, "scope_denied".into()));

    let elsewhere = gateway.url("/mcp/key");
    let wrong = format!("Basic {}", STANDARD.encode(format!("{}:wrong", machine.id)));
    for (authorization, pairs, error) in [
        (Some(wrong), &[][..], "invalid_client"),
        (
            None,
            &[("client_id", machine.id.as_str())],
            "invalid_client",
        ),
        (
            Some(machine.basic()),
            &[("resource", elsewhere.as_str())],
            "invalid_target",
        ),
        (
            Some(machine.basic()),
            &[("scope", "skills:read")],
            "invalid_scope",
        ),
        (
            Some(machine.basic()),
            &[("scope", "admin")],
            "invalid_scope",
        ),
    ] {
        let refused = machine.ask(authorization, pairs).await;
        assert_eq!(error_of(&refused).1, error, "{pairs:?}: {}", refused.text);
    }
    // It gives one token back, and is removed with the other.
    let other = machine.token().await;
    let body = form(&[("token", token.as_str())]);
    let revoke = gateway.client.post(gateway.url("/oauth/revoke")).body(body);
    let revoke = revoke
        .header("content-type", "application/x-www-form-urlencoded")
        .header("authorization", machine.basic());
    assert_eq!(revoke.send().await.unwrap().status(), 200);
    assert!(!is_let_in(gateway, &token).await);
    assert!(is_let_in(gateway, &other).await);
    let listed = admin
        .ask(Method::GET, "/internal/app-clients", Value::Null)
        .await;
    assert!(!listed.text.contains(&machine.secret), "{}", listed.text);
    assert_eq!(listed.data()["clients"][0]["acts_for"], "reports");
    let path = format!("/internal/app-clients/{}", machine.id);
    assert_eq!(
        admin.ask(Method::DELETE, &path, Value::Null).await.status,
        200
    );
    assert!(!is_let_in(gateway, &other).await);
    let refused = machine.ask(Some(machine.basic()), &[]).await;
    assert_eq!(error_of(&refused), (401, "invalid_client".into()));
    let told = actions(gateway).await;
    for action in [
        "apps.client_create",
        "apps.client_remove",
        "apps.revoke_token",
    ] {
        assert!(
            told.iter().any(|(one, _)| one == action),
            "{action}: {told:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_gets_tokens_by_its_secret_on_sqlite() {
    a_machine_gets_tokens(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_gets_tokens_by_its_secret_on_postgresql() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url);
    a_machine_gets_tokens(Some(url.await.unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_an_admin_switches_off_loses_what_it_holds_and_gets_no_more() {
    let gateway = &gateway().await;
    let admin = MemberBrowser::new(gateway, "eve@example.com", Role::Admin).await;
    let body = json!({ "name": "Nightly report", "acts_for": "reports" });
    let machine = Machine::named(gateway, &admin, body).await;
    let held = machine.token().await;
    assert!(is_let_in(gateway, &held).await);
    let (blocks, block) = ("/internal/app-blocks", json!({ "client_id": machine.id }));

    // To another workspace the client is not known.
    let (_, theirs) = new_tenant(&gateway.gateway, "theirs").await.unwrap();
    member(gateway, "mallory@example.com", Role::Owner, Some(&theirs)).await;
    let mallory = MemberBrowser::sign_in(gateway, "mallory@example.com").await;
    let refused = mallory.ask(Method::POST, blocks, block.clone()).await;
    assert_eq!(refused.status, 404, "{}", refused.text);
    assert!(!refused.text.contains("Nightly"), "{}", refused.text);
    assert!(is_let_in(gateway, &held).await);

    let blocked = admin.ask(Method::POST, blocks, block.clone()).await;
    assert_eq!(blocked.status, 200, "{}", blocked.text);
    assert!(!is_let_in(gateway, &held).await);
    let refused = machine.ask(Some(machine.basic()), &[]).await;
    assert_eq!(error_of(&refused), (400, "invalid_grant".into()));
    let told = actions(gateway).await;
    assert!(told.iter().any(|(one, _)| one == "apps.block"), "{told:?}");

    let unblocked = admin.ask(Method::DELETE, blocks, block).await;
    assert_eq!(unblocked.status, 200, "{}", unblocked.text);
    assert!(is_let_in(gateway, &machine.token().await).await);
    assert!(!is_let_in(gateway, &held).await, "what has ended stays so");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_has_tokens_for_a_toolset_of_its_workspace() {
    let gateway = &gateway().await;
    let admin = MemberBrowser::new(gateway, "eve@example.com", Role::Admin).await;
    let body = json!({ "name": "Nightly report", "acts_for": "reports" });
    let machine = Machine::named(gateway, &admin, body).await;
    let resource = gateway.url("/mcp/t/desk");
    let asked = [("resource", resource.as_str())];
    let refused = machine.ask(Some(machine.basic()), &asked).await;
    assert_eq!(error_of(&refused), (400, "invalid_target".into()));
    let toolset = json!({ "name": "desk", "tools": ["demo_run"] });
    let made = gateway.post("/v1/toolsets", &toolset).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let issued = machine.ask(Some(machine.basic()), &asked).await.json();
    let token = issued["access_token"].as_str();
    let token = token.unwrap_or_else(|| panic!("{issued}"));
    let call = json!({ "text": "hello" });
    let ran = call_at(gateway, "/mcp/t/desk", Some(token), "demo_run", call).await;
    assert!(
        ran.status == 200 && ran.text.contains("hello"),
        "{}",
        ran.text
    );
    assert!(
        !is_let_in(gateway, token).await,
        "it is for the toolset alone"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_client_that_an_admin_named_acts_by_itself() {
    let gateway = &gateway().await;
    let metadata =
        json!({ "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "client_secret_basic" });
    let made = register(gateway, &metadata).await.json();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    let machine = Machine {
        gateway,
        id: text("client_id"),
        secret: text("client_secret"),
    };
    let refused = machine.ask(Some(machine.basic()), &[]).await;
    assert_eq!(error_of(&refused), (400, "unauthorized_client".into()));
    // Nor is one named by a member, or without what it takes.
    let ada = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let eve = MemberBrowser::new(gateway, "eve@example.com", Role::Admin).await;
    let body = json!({ "name": "Mine", "acts_for": "ada@example.com" });
    let path = "/internal/app-clients";
    let refused = ada.ask(Method::POST, path, body).await;
    assert_eq!(
        (refused.status, refused.code()),
        (403, "role_denied".into())
    );
    for bad in [
        json!({ "name": "" }),
        json!({ "name": "x\u{202e}y" }),
        json!({ "name": "x", "acts_for": "no user id\n" }),
        json!({ "name": "x", "acts_for": "u", "public": true }),
        json!({ "name": "x", "scopes": ["admin"] }),
        json!({ "name": "x", "scopes": ["nonsense"] }),
        json!({ "name": "x", "redirect_uris": ["http://evil.test/cb"] }),
        json!({ "name": "x", "more": 1 }),
    ] {
        let refused = eve.ask(Method::POST, path, bad.clone()).await;
        assert_eq!(refused.status, 400, "{bad}: {}", refused.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_named_app_is_let_in_by_members_of_its_workspace_alone() {
    let gateway = &gateway().await;
    let eve = MemberBrowser::new(gateway, "eve@example.com", Role::Admin).await;
    let body = json!({
        "name": "Desk", "redirect_uris": [REDIRECT], "public": true, "scopes": ["tools:read", "tools:execute"],
    });
    let made = eve
        .ask(Method::POST, "/internal/app-clients", body)
        .await
        .data();
    assert!(made.get("client_secret").is_none(), "{made}");
    let app = App {
        gateway,
        id: made["client_id"].as_str().unwrap().to_owned(),
    };
    let (_, theirs) = new_tenant(&gateway.gateway, "theirs").await.unwrap();
    member(gateway, "mallory@example.com", Role::Owner, Some(&theirs)).await;
    let mallory = MemberBrowser::sign_in(gateway, "mallory@example.com").await;
    let waiting = app.ask(&[]).await;
    let path = format!("/internal/app-requests/{waiting}");
    assert_eq!(
        mallory.ask(Method::GET, &path, Value::Null).await.status,
        404
    );
    assert_eq!(mallory.decide(&waiting, true).await.status, 404);
    let shown = eve.ask(Method::GET, &path, Value::Null).await.data();
    assert_eq!(shown["named_by_admin"], true, "{shown}");
    assert_eq!(shown["scopes"].as_array().unwrap().len(), 2, "{shown}");
    let tokens = app.connect(&eve).await;
    assert!(is_let_in(gateway, &tokens.access).await);
    // Removed, it loses what members have granted it.
    let path = format!("/internal/app-clients/{}", app.id);
    assert_eq!(
        mallory.ask(Method::DELETE, &path, Value::Null).await.status,
        404
    );
    assert!(is_let_in(gateway, &tokens.access).await);
    assert_eq!(
        eve.ask(Method::DELETE, &path, Value::Null).await.status,
        200
    );
    assert!(!is_let_in(gateway, &tokens.access).await);
    assert_eq!(
        error_of(&app.refresh(&tokens.refresh, &[]).await).1,
        "invalid_client"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_names_a_machine_at_the_command_line() {
    let gateway = &gateway().await;
    let data_dir = gateway.config.gateway.data_dir.display().to_string();
    let run = async |arguments: &[&str]| -> Value {
        let output = tokio::process::Command::new(program())
            .args(["client", "--json", "--data-dir", &data_dir])
            .args(["--public-url", &gateway.url("")])
            .args(arguments)
            .output();
        let output = output.await.unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let made = run(&["create", "--name", "Nightly", "--acts-for", "reports"]).await;
    assert_eq!(made["resource"], gateway.url("/mcp"));
    assert_eq!(made["token_endpoint"], gateway.url("/oauth/token"));
    let machine = Machine {
        gateway,
        id: made["client_id"].as_str().unwrap().to_owned(),
        secret: made["client_secret"].as_str().unwrap().to_owned(),
    };
    let token = machine.token().await;
    assert!(is_let_in(gateway, &token).await);
    let listed = run(&["list"]).await;
    assert_eq!(listed["clients"][0]["name"], "Nightly");
    assert!(!listed.to_string().contains(&machine.secret));
    assert_eq!(
        run(&["remove", "Nightly"]).await["client_id"],
        made["client_id"]
    );
    assert!(!is_let_in(gateway, &token).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_switches_kinds_of_clients_off() {
    let options = Options {
        no_client_registration: true,
        no_client_documents: true,
        ..Options::default()
    };
    let closed = &gateway_with(options).await;
    let metadata = closed.url("/.well-known/oauth-authorization-server/oauth");
    let metadata = Answer::read(closed.client.get(metadata).send().await.unwrap()).await;
    let metadata = metadata.json();
    assert_eq!(metadata.get("registration_endpoint"), None);
    assert_eq!(metadata["client_id_metadata_document_supported"], false);
    let asked = json!({ "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none" });
    let refused = register(closed, &asked).await;
    assert_eq!(error_of(&refused), (400, "access_denied".into()));
    let app = App {
        gateway: closed,
        id: "https://client.example/client.json".to_owned(),
    };
    let (status, location) = app.open(&app.query(&[])).await;
    assert_eq!((status, location.as_str()), (400, ""));
    // What an admin names is let in all the same.
    let eve = MemberBrowser::new(closed, "eve@example.com", Role::Admin).await;
    let body = json!({ "name": "Desk", "redirect_uris": [REDIRECT], "public": true });
    let made = eve
        .ask(Method::POST, "/internal/app-clients", body)
        .await
        .data();
    let app = App {
        gateway: closed,
        id: made["client_id"].as_str().unwrap().to_owned(),
    };
    let code = app.code(&eve, &[]).await;
    let tokens = AppTokens::read(&app.exchange(&code, &[]).await);
    assert!(is_let_in(closed, &tokens.access).await);
}
