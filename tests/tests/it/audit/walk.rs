//! Everybody who changes something, one after the other, with a look at the log after each.

use std::collections::BTreeSet;
use std::process::Command;

use http::Method;
use serde_json::{Value, json};
use toolgate_core::ids;
use toolgate_gateway::audit::AuditAction;
use toolgate_gateway::identity::members::{self, Passwords};
use toolgate_store::{AuditEntry, Member, Role};
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::{Answer, Options, TestGateway, operator};
use toolgate_tests::process::program;
use toolgate_vault::Secret;

use super::tables::{INTERNAL, Leaves, PUBLIC, VERBS};

const EMAIL: &str = "owner@example.com";
pub const PASSWORD: &str = "correct horse battery";

/// A plugin that can be connected, configured, registered and called, and that takes events.
pub fn acme() -> Fixture {
    let slot = |name: &str, kind: &str| {
        json!({
            "slot": name, "title": name, "type": kind,
            "placement": { "header": "authorization", "template": "Bearer {secret}" },
            "audience": ["https://api.acme.test"],
        })
    };
    let mut oauth = slot("account", "oauth2");
    oauth["authorize_url"] = json!("https://api.acme.test/authorize");
    oauth["token_url"] = json!("https://api.acme.test/token");
    oauth["scopes"] = json!(["read"]);
    Fixture::new("acme")
        .hook()
        .with("hosts", json!(["api.acme.test"]))
        .with("capabilities", json!(["egress"]))
        .with("auth", json!([slot("key", "api_key"), oauth]))
        .with("tools", json!([polled()]))
        .with(
            "webhook",
            json!({ "signature": { "header": "x-signature", "signed": "{body}" } }),
        )
        .with(
            "config",
            json!([{ "key": "region", "title": "Region", "schema": { "type": "string", "description": "Where." } }]),
        )
}

/// The tool, with a trigger.
fn polled() -> Value {
    let mut run = tool("run");
    run["triggers"] = json!([{
        "name": "run_ended", "title": "Run ended", "description": "A run has ended.",
        "items": "/runs", "id": ["/id"],
    }]);
    run
}

/// The same, asking for one more host.
pub fn wider(version: &str) -> Vec<u8> {
    acme()
        .with("version", json!(version))
        .with(
            "hosts",
            json!(["api.acme.test", format!("v{version}.acme.test")]),
        )
        .build()
}

pub struct Walk {
    pub gateway: TestGateway,
    pub cookie: String,
    seen: BTreeSet<String>,
    /// Lines of the tables that were walked.
    pub walked: BTreeSet<String>,
    pub actions: BTreeSet<String>,
}

impl Walk {
    pub async fn start(database_url: Option<String>) -> Self {
        let gateway = TestGateway::start(Options {
            plugins: vec![("acme.wasm".to_owned(), acme().build())],
            database_url,
            ..Options::default()
        })
        .await;
        assert_eq!(gateway.wait_for_file("acme.wasm", "active").await, "");
        let owner = Member {
            workspace_id: operator(&gateway.gateway)
                .await
                .unwrap()
                .workspace_id
                .to_string(),
            id: ids::ulid("mem"),
            email: EMAIL.to_owned(),
            name: "Owner".to_owned(),
            role: Role::Owner,
            password_hash: Some(
                Passwords::default()
                    .hash(Secret::new(PASSWORD))
                    .await
                    .unwrap(),
            ),
            oidc_subject: None,
            created_at_ms: 1,
            last_seen_at_ms: None,
            vouched: true,
        };
        let by = operator(&gateway.gateway).await.unwrap();
        members::create(gateway.gateway.store(), &by, owner)
            .await
            .unwrap();
        let mut walk = Self {
            gateway,
            cookie: String::new(),
            seen: BTreeSet::new(),
            walked: BTreeSet::new(),
            actions: BTreeSet::new(),
        };
        walk.news().await;
        walk
    }

    /// All there is in the log of the first workspace, but for what the gateway does by itself.
    pub async fn entries(&self) -> Vec<AuditEntry> {
        let store = self.gateway.gateway.store();
        let first = store.first_workspace().await.unwrap().unwrap();
        let page = store
            .list_audit_entries(&first.id, None, 1_000)
            .await
            .unwrap();
        page.items
    }

    /// The entries that were not there at the last look.
    pub async fn news(&mut self) -> Vec<AuditEntry> {
        let mut entries = self.entries().await;
        self.actions
            .extend(entries.iter().map(|entry| entry.action.clone()));
        entries.retain(|entry| self.seen.insert(entry.id.clone()) && entry.actor != "gateway");
        entries
    }

    /// One entry of this kind was left, or none.
    pub async fn left(&mut self, line: &str, leaves: Leaves, actor: &str) {
        let news = self.news().await;
        let told: Vec<&str> = news.iter().map(|entry| &*entry.action).collect();
        match leaves {
            Leaves::Entry(action) => assert_eq!(told, [action], "{line}"),
            Leaves::Nothing(_) => assert!(told.is_empty(), "{line}: {told:?}"),
            Leaves::EntryIn(..) => panic!("{line} is walked elsewhere"),
        }
        for entry in &news {
            assert!(entry.actor.starts_with(actor), "{line}: {}", entry.actor);
            assert!(!entry.subject.is_empty(), "{line}");
            let details: Value = serde_json::from_str(&entry.details).unwrap();
            assert!(details.is_object(), "{line}: {details}");
            assert_eq!(entry.request_id.is_some(), actor != "operator", "{line}");
        }
        self.walked.insert(line.to_owned());
    }

    /// A request of the dashboard.
    pub async fn ask(&self, method: Method, path: &str, body: Value) -> Answer {
        let (kind, bytes) = match body {
            Value::Null => ("application/json", Vec::new()),
            body => ("application/json", body.to_string().into_bytes()),
        };
        Answer::read(self.request(method, path, kind, bytes).await).await
    }

    pub async fn upload(&self, component: &[u8]) -> Answer {
        let (path, kind) = ("/internal/plugins", "application/wasm");
        Answer::read(
            self.request(Method::POST, path, kind, component.to_vec())
                .await,
        )
        .await
    }

    async fn request(
        &self,
        method: Method,
        path: &str,
        kind: &str,
        body: Vec<u8>,
    ) -> reqwest::Response {
        let request = self.gateway.client.request(method, self.gateway.url(path));
        let request = request
            .header("content-type", kind)
            .header("x-toolgate-dashboard", "1")
            .header("origin", self.gateway.url(""))
            .header("cookie", &self.cookie);
        request.body(body).send().await.unwrap()
    }

    pub async fn sign_in(&mut self) {
        let body = json!({ "email": EMAIL, "password": PASSWORD }).to_string();
        let response = self
            .request(
                Method::POST,
                "/internal/sign-in",
                "application/json",
                body.into(),
            )
            .await;
        assert_eq!(response.status(), 200);
        let cookies = response.headers().get_all("set-cookie").iter();
        let cookies = cookies.map(|one| one.to_str().unwrap().split(';').next().unwrap());
        self.cookie = cookies.collect::<Vec<_>>().join("; ");
        self.left(
            "POST /internal/sign-in",
            Leaves::Entry("members.sign_in"),
            "member:",
        )
        .await;
    }

    /// Walks a line of [`PUBLIC`] with the gateway's key; answers `data`.
    pub async fn rest(&mut self, method: Method, path: &str, body: Value) -> Value {
        let key = self.gateway.key.clone();
        self.rest_as(&key, method, path, body).await
    }

    async fn rest_as(&mut self, key: &str, method: Method, path: &str, body: Value) -> Value {
        let (line, leaves) = line(PUBLIC, &method, path);
        let body = (!body.is_null()).then(|| body.to_string());
        let answer = self.gateway.send(method, path, Some(key), body).await;
        assert!(answer.status < 300, "{line}: {}", answer.text);
        self.left(&line, leaves, "key:").await;
        answer.data()
    }

    /// Walks a line of [`INTERNAL`]; answers `data`.
    pub async fn internal(&mut self, method: Method, path: &str, body: Value) -> Value {
        let (line, leaves) = line(INTERNAL, &method, path);
        let answer = self.ask(method, path, body).await;
        assert!(answer.status < 300, "{line}: {}", answer.text);
        self.left(&line, leaves, "member:").await;
        answer.data()
    }

    /// Walks a line of [`VERBS`]; answers the document.
    pub async fn verb(&mut self, verb: &'static str, more: &[&str]) -> Value {
        let (_, leaves) = VERBS.iter().find(|(known, _)| *known == verb).unwrap();
        self.verb_that(verb, more, *leaves).await
    }

    /// The same with another entry than the table's.
    pub async fn verb_that(&mut self, verb: &'static str, more: &[&str], leaves: Leaves) -> Value {
        let document = self.command(verb, more);
        self.left(verb, leaves, "operator").await;
        document
    }

    pub fn command(&self, verb: &str, more: &[&str]) -> Value {
        let config = &self.gateway.config.gateway;
        let output = Command::new(program())
            .args(verb.split(' '))
            .args(more)
            .args(["--json", "--database-url", &config.database_url])
            .arg("--data-dir")
            .arg(&config.data_dir)
            .arg("--plugins-dir")
            .arg(&config.plugins_dir)
            .output()
            .unwrap();
        assert!(output.status.success(), "{verb}: {output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    pub async fn through_everything(mut self) {
        self.public_routes().await;
        self.sign_in().await;
        self.account_question().await;
        self.keys_and_workspace().await;
        self.people().await;
        self.services_and_plugins().await;
        self.command_line().await;

        let entries = |table: &[(&str, &str, Leaves)]| -> Vec<String> {
            let entries = table
                .iter()
                .filter(|(_, _, leaves)| matches!(leaves, Leaves::Entry(_)));
            entries
                .map(|(method, path, _)| format!("{method} {path}"))
                .collect()
        };
        let verbs = VERBS
            .iter()
            .filter(|(_, leaves)| matches!(leaves, Leaves::Entry(_)));
        let all = verbs.map(|(verb, _)| (*verb).to_owned());
        let all: Vec<String> = all
            .chain(entries(PUBLIC))
            .chain(entries(INTERNAL))
            .collect();
        let missed: Vec<&String> = all
            .iter()
            .filter(|line| !self.walked.contains(*line))
            .collect();
        assert!(missed.is_empty(), "not walked: {missed:?}");
        // They need a provider, a stolen cookie, a plugin that crashes, a first start or, those of apps, a
        // client that signs in (`apps`).
        let elsewhere = [
            "apps.block",
            "apps.code_reused",
            "apps.connect",
            "apps.enter",
            "apps.enter_by_assertion",
            "apps.refresh_reused",
            "apps.refuse",
            "apps.refuse_assertion",
            "apps.refuse_token",
            "apps.revoke",
            "apps.revoke_token",
            "apps.unblock",
            // Of other users: `hostile::readings`.
            "approvals.read",
            "connections.revoke",
            "executions.read",
            "executions.read_payloads",
            "files.read",
            "members.end_account",
            "members.link_account",
            "members.offer_setup",
            "members.refresh_reused",
            // Of MCP servers: `mcp_upstreams::door` and `mcp_upstreams::schedule`.
            "plugins.ask_server",
            "plugins.refresh",
            "plugins.revert",
            "results.read",
            "scripts.read",
            "sessions.read",
            // Of a toolset's Skill: `hostile::skill_changes`.
            "skills.propose",
            "skills.reject",
            // Of other users: `hostile::readings`.
            "triggers.read",
        ];
        let unseen = AuditAction::ALL.iter().map(|action| action.into_str());
        let unseen: Vec<&str> = unseen
            .filter(|word| !self.actions.contains(*word))
            .collect();
        assert_eq!(unseen, elsewhere);
    }
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

/// The line of a table that a path belongs to.
fn line(table: &[(&str, &str, Leaves)], method: &Method, path: &str) -> (String, Leaves) {
    let fits = |template: &str| {
        let (one, other): (Vec<_>, Vec<_>) =
            (path.split('/').collect(), template.split('/').collect());
        one.len() == other.len()
            && other
                .iter()
                .zip(&one)
                .all(|(part, said)| part.starts_with('{') || part == said)
    };
    // A fixed path stands before one with something in it.
    let fitting = table
        .iter()
        .filter(|(known, template, _)| method.as_str() == *known && fits(template));
    let best = fitting.min_by_key(|(_, template, _)| template.matches('{').count());
    let (known, template, leaves) =
        best.unwrap_or_else(|| panic!("{method} {path} is in no table"));
    (format!("{known} {template}"), *leaves)
}
