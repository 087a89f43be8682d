//! What the walk does, by subject.

use http::Method;
use serde_json::{Value, json};
use toolgate_gateway::Scope;
use toolgate_tests::gateway::new_key;

use super::tables::Leaves;
use super::walk::{PASSWORD, Walk, acme, text, wider};
use crate::connect::{allow_pages, press};

impl Walk {
    pub async fn public_routes(&mut self) {
        let skill = json!({"name": "One", "summary": "First", "instructions": "Do it."});
        let skill = self.rest(Method::POST, "/v1/skills", skill).await;
        let skill = format!("/v1/skills/{}", text(&skill["skill_id"]));
        self.rest(Method::PUT, &skill, json!({"summary": "Other"}))
            .await;
        self.rest(Method::DELETE, &skill, Value::Null).await;

        let toolset = json!({"name": "ours", "tools": ["acme_run"]});
        self.rest(Method::POST, "/v1/toolsets", toolset).await;
        self.rest(
            Method::PATCH,
            "/v1/toolsets/ours",
            json!({"title": "Other"}),
        )
        .await;
        let whole = json!({"tools": ["acme_run"]});
        self.rest(Method::PUT, "/v1/toolsets/ours", whole).await;
        self.rest(Method::DELETE, "/v1/toolsets/ours", Value::Null)
            .await;

        let document = json!({"content": "Text", "media_type": "text/plain"});
        let document = self
            .rest(Method::POST, "/v1/knowledge/documents", document)
            .await;
        let document = format!("/v1/knowledge/documents/{}", text(&document["document_id"]));
        self.rest(Method::DELETE, &document, Value::Null).await;

        let hook = json!({"url": "https://app.example.com/in", "events": ["tool.failed"]});
        let hook = self.rest(Method::POST, "/v1/webhooks", hook).await;
        let hook = format!("/v1/webhooks/{}", text(&hook["webhook_id"]));
        let delivery = self
            .rest(Method::POST, &format!("{hook}/test"), Value::Null)
            .await;
        let again = format!(
            "{hook}/deliveries/{}/resend",
            text(&delivery["delivery_id"])
        );
        self.rest(Method::POST, &again, Value::Null).await;
        self.rest(Method::PATCH, &hook, json!({"description": "Ours"}))
            .await;
        self.rest(Method::POST, &format!("{hook}/rotate"), json!({}))
            .await;
        self.rest(Method::DELETE, &hook, Value::Null).await;

        let trigger = json!({"service": "acme", "trigger": "run_ended"});
        let trigger = self.rest(Method::POST, "/v1/triggers", trigger).await;
        let trigger = format!("/v1/triggers/{}", text(&trigger["trigger_id"]));
        self.rest(Method::PATCH, &trigger, json!({"paused": true}))
            .await;
        self.rest(Method::POST, &format!("{trigger}/test"), Value::Null)
            .await;
        self.rest(Method::DELETE, &trigger, Value::Null).await;

        self.rest(Method::PUT, "/v1/code-mode", json!({"enabled": true}))
            .await;
        let script = json!({"script": "await sleep(1); export default 1;"});
        let run = self.rest(Method::POST, "/v1/scripts/run", script).await;
        assert_eq!(run["status"], "done", "{run}");
        // It calls a tool for which a person has to be asked.
        let ask = json!({"permission": "ask"});
        self.rest(
            Method::PATCH,
            "/v1/permissions/users/eve/services/acme",
            ask,
        )
        .await;
        let script =
            json!({"script": "export default await acme.run({ n: 1 });", "user_id": "eve"});
        let run = self.rest(Method::POST, "/v1/scripts/run", script).await;
        assert_eq!(run["status"], "paused", "{run}");
        let run = format!("/v1/scripts/runs/{}", text(&run["run_id"]));
        for verb in ["resume", "cancel"] {
            self.rest(Method::POST, &format!("{run}/{verb}"), Value::Null)
                .await;
        }

        let of_ada = "/v1/permissions/users/ada";
        let allow = json!({"permission": "allow"});
        self.rest(
            Method::PATCH,
            &format!("{of_ada}/services/acme"),
            allow.clone(),
        )
        .await;
        let batch = json!({"tools": {"acme_run": "allow"}});
        self.rest(Method::PATCH, &format!("{of_ada}/batch"), batch)
            .await;
        let ask = json!({"permission": "ask"});
        self.rest(Method::PATCH, &format!("{of_ada}/tools/acme_run"), ask)
            .await;

        for (decision, action) in [("approve", "approvals.approve"), ("deny", "approvals.deny")] {
            let arguments = json!({"arguments": {"n": decision}, "user_id": "ada"});
            let asked = self
                .rest(Method::POST, "/v1/tools/acme_run/execute", arguments)
                .await;
            let id = &asked["approval_id"];
            let approver = new_key(
                &self.gateway.gateway,
                decision,
                &[Scope::Approvals, Scope::UsersAny],
            );
            let approver = approver.await.unwrap();
            self.news().await;
            let decided = self.gateway.decide_as(&approver, id, decision).await;
            assert_eq!(decided.status, 200, "{}", decided.text);
            let line = "POST /v1/approvals/{approval_id}";
            self.left(line, Leaves::Entry(action), "key:").await;
        }
        let default = json!({"default": "allow"});
        self.rest(Method::PATCH, "/v1/permissions/default", default)
            .await;

        let link = json!({"service": "acme", "user_id": "ada", "slot": "key"});
        let link = self.rest(Method::POST, "/v1/connections/link", link).await;
        let form = [("f_secret", "a-key-of-twenty-letters")];
        let page = press(&self.gateway, text(&link["connect_url"]), &form).await;
        assert_eq!(page.status, 200, "{}", page.text);
        let news = self.news().await;
        assert_eq!(
            (&*news[0].action, &*news[0].actor),
            ("connections.connect", "user:ada")
        );
        assert_eq!(news.len(), 1);
        let connection = format!("/v1/connections/{}", text(&link["connection_id"]));
        self.rest(Method::PUT, &format!("{connection}/hook"), json!({}))
            .await;
        self.rest(Method::DELETE, &format!("{connection}/hook"), Value::Null)
            .await;
        self.rest(Method::DELETE, &connection, Value::Null).await;

        allow_pages(&self.gateway).await;
        self.news().await;
        let link = json!({
            "service": "acme", "user_id": "ada", "slot": "key", "confirm_url": "https://app.test/done",
        });
        let link = self.rest(Method::POST, "/v1/connections/link", link).await;
        let page = press(&self.gateway, text(&link["connect_url"]), &form).await;
        let to = page.leads_to();
        let (_, code) = to.split_once("connect_code=").unwrap();
        let confirm = json!({"code": code, "user_id": "ada"});
        self.rest(Method::POST, "/v1/connections/confirm", confirm)
            .await;
    }

    /// Another key is entered for the connection that there is; an origin is registered.
    pub async fn account_question(&mut self) {
        let origin = json!({"origin": "https://other.test"});
        let origin = self
            .internal(Method::POST, "/internal/origins", origin)
            .await;
        let origin = format!("/internal/origins/{}", text(&origin["origin_id"]));
        self.internal(Method::DELETE, &origin, Value::Null).await;
        let listed = self.gateway.get("/v1/connections?user_id=ada").await.data();
        let link = json!({
            "service": "acme", "user_id": "ada", "connection_id": listed["connections"][0]["connection_id"],
        });
        let link = self.rest(Method::POST, "/v1/connections/link", link).await;
        let form = [("f_secret", "another-key-of-some-letters")];
        let page = press(&self.gateway, text(&link["connect_url"]), &form).await;
        let to = page.leads_to();
        let (_, code) = to.split_once("?code=").unwrap();
        let path = format!("/internal/connections/questions/{code}");
        self.internal(Method::POST, &path, json!({"answer": "use"}))
            .await;
    }

    pub async fn keys_and_workspace(&mut self) {
        let made = self
            .internal(Method::POST, "/internal/keys", json!({"name": "new"}))
            .await;
        let key = format!("/internal/keys/{}", text(&made["key_id"]));
        self.internal(Method::PATCH, &key, json!({"name": "other"}))
            .await;
        self.internal(Method::POST, &format!("{key}/rotate"), Value::Null)
            .await;
        self.internal(Method::DELETE, &key, Value::Null).await;
        let change = json!({"name": "Ours", "keep_payloads": true});
        self.internal(Method::PATCH, "/internal/workspace", change)
            .await;
        self.internal(Method::PATCH, "/internal/me", json!({"name": "Ada"}))
            .await;
    }

    pub async fn people(&mut self) {
        let invite = async |walk: &mut Self, email: &str| {
            let body = json!({"email": email, "role": "member"});
            walk.internal(Method::POST, "/internal/members", body).await
        };
        let withdrawn = invite(self, "c@example.com").await;
        let withdrawn = format!(
            "/internal/invitations/{}",
            text(&withdrawn["invitation_id"])
        );
        self.internal(Method::DELETE, &withdrawn, Value::Null).await;

        let joins = invite(self, "b@example.com").await;
        let owner = self.cookie.clone();
        let token = |made: &Value, field: &str| {
            let url = text(&made[field]).to_owned();
            url.split_once('#').unwrap().1.to_owned()
        };
        let body = json!({"token": token(&joins, "join_url"), "name": "Bob", "password": PASSWORD});
        let bob = self.internal(Method::POST, "/internal/setup", body).await;
        let bob = format!("/internal/members/{}", text(&bob["member_id"]));
        self.cookie = owner;
        self.internal(Method::PATCH, &bob, json!({"role": "admin"}))
            .await;
        let reset = self
            .internal(Method::POST, &format!("{bob}/reset"), Value::Null)
            .await;
        let body = json!({"token": token(&reset, "join_url"), "password": "another horse battery"});
        let set = self.ask(Method::POST, "/internal/setup", body).await;
        assert_eq!(set.status, 200, "{}", set.text);
        let news = self.news().await;
        let told: Vec<&str> = news.iter().map(|entry| &*entry.action).collect();
        assert_eq!(told, ["members.set_password"]);
        self.internal(Method::DELETE, &bob, Value::Null).await;

        let first = self.cookie.clone();
        self.cookie.clear();
        self.sign_in().await;
        let sign_ins = self
            .ask(Method::GET, "/internal/me/sign-ins", Value::Null)
            .await
            .data();
        let sign_ins = sign_ins["sign_ins"].as_array().unwrap().clone();
        let other = sign_ins.iter().find(|one| one["current"] == false).unwrap();
        let other = format!("/internal/me/sign-ins/{}", text(&other["sign_in_id"]));
        self.internal(Method::DELETE, &other, Value::Null).await;
        assert_ne!(self.cookie, first);
        let change =
            json!({"current_password": PASSWORD, "new_password": "the third horse battery"});
        self.internal(Method::POST, "/internal/me/password", change)
            .await;
        let back = json!({"current_password": "the third horse battery", "new_password": PASSWORD});
        self.internal(Method::POST, "/internal/me/password", back)
            .await;
        self.internal(Method::POST, "/internal/sign-out", Value::Null)
            .await;
        self.cookie.clear();
        self.sign_in().await;
    }

    pub async fn services_and_plugins(&mut self) {
        let settings = "/internal/services/acme/settings";
        self.internal(Method::PUT, settings, json!({"set": {"region": "eu"}}))
            .await;
        self.internal(Method::PUT, settings, json!({"set": {"region": null}}))
            .await;
        let app = "/internal/services/acme/app";
        self.internal(Method::PUT, app, json!({"client_id": "ours"}))
            .await;
        self.internal(Method::DELETE, app, Value::Null).await;

        let first = self.plugin().await["sha256"].clone();
        let uploaded = self.upload(&wider("2.0.0")).await;
        assert_eq!(uploaded.status, 202, "{}", uploaded.text);
        self.left(
            "POST /internal/plugins",
            Leaves::Entry("plugins.upload"),
            "member:",
        )
        .await;
        self.gateway
            .wait_for_file("acme.wasm", "pending_approval")
            .await;
        let second = uploaded.data()["sha256"].clone();
        let approve = "/internal/plugins/acme/approve";
        self.internal(Method::POST, approve, json!({"sha256": second}))
            .await;
        self.serves("2.0.0").await;
        let back = "/internal/plugins/acme/rollback";
        self.internal(Method::POST, back, json!({"sha256": first}))
            .await;
        self.serves("1.0.0").await;
    }

    async fn plugin(&self) -> Value {
        self.ask(Method::GET, "/internal/plugins/acme", Value::Null)
            .await
            .data()
    }

    async fn serves(&self, version: &str) {
        let serves = async || self.plugin().await["version"] == version;
        self.gateway
            .wait(&format!("{version} to serve"), serves)
            .await;
    }

    pub async fn command_line(&mut self) {
        self.verb("key create", &["--name", "third"]).await;
        self.verb("key revoke", &["third"]).await;
        self.verb("member create", &["--email", "d@example.com"])
            .await;
        let file = self.gateway.config.gateway.data_dir.join("password");
        std::fs::write(&file, PASSWORD).unwrap();
        let output = [
            "--email",
            "e@example.com",
            "--password-file",
            file.to_str().unwrap(),
        ];
        let (verb, leaves) = ("member create", Leaves::Entry("members.create"));
        self.verb_that(verb, &output, leaves).await;
        self.verb("member reset", &["e@example.com"]).await;
        self.verb("member remove", &["e@example.com"]).await;
        let machine = ["--name", "Nightly", "--acts-for", "reports"];
        self.verb("client create", &machine).await;
        self.verb("client remove", &["Nightly"]).await;
        self.verb("service configure", &["acme", "--set", "region=us"])
            .await;
        let app = ["acme", "--client-id", "ours"];
        self.verb_that(
            "service configure",
            &app,
            Leaves::Entry("services.register_app"),
        )
        .await;
        self.verb("origin add", &["https://other.test"]).await;
        self.verb("origin remove", &["https://other.test"]).await;
        self.verb("toolset create", &["theirs", "--tool", "acme_run"])
            .await;
        self.verb("toolset update", &["theirs", "--title", "Other"])
            .await;
        self.verb("toolset delete", &["theirs"]).await;
        self.verb("vault rotate", &[]).await;
        self.verb("vault adopt", &[]).await;

        self.gateway.drop_file("acme.wasm", &wider("3.0.0"));
        self.gateway
            .wait_for_file("acme.wasm", "pending_approval")
            .await;
        let pending = self.plugin().await["pending"]["sha256"].clone();
        self.verb("plugin approve", &["acme", "--sha256", text(&pending)])
            .await;
        self.serves("3.0.0").await;
        self.verb("plugin rollback", &["acme", "--to", "1.0.0"])
            .await;
        self.serves("1.0.0").await;
        self.verb("plugin remove", &["acme"]).await;
        self.gateway
            .wait("the removed file to be forgotten", async || {
                self.gateway.file_state("acme.wasm").await.is_none()
            })
            .await;
        self.gateway.drop_file("acme.wasm", &acme().build());
        self.gateway.wait_for_file("acme.wasm", "active").await;
        std::fs::remove_file(self.gateway.plugins_dir().join("acme.wasm")).unwrap();
        self.gateway
            .wait("the file to be dropped", async || {
                self.entries()
                    .await
                    .iter()
                    .any(|entry| entry.action == "plugins.drop")
            })
            .await;
        self.gateway.drop_file("acme.wasm", &acme().build());
        self.gateway.wait_for_file("acme.wasm", "active").await;
        self.news().await;
        self.internal(Method::DELETE, "/internal/plugins/acme", Value::Null)
            .await;

        let made = self.command("workspace create", &["second"]);
        self.command("workspace set", &["second", "--rpm", "100"]);
        self.command("workspace uses", &["second", "--forget"]);
        assert!(self.news().await.is_empty());
        let store = self.gateway.gateway.store();
        let own = store
            .list_audit_entries(text(&made["workspace_id"]), None, 10)
            .await
            .unwrap();
        let own: Vec<(&str, &str)> = own
            .items
            .iter()
            .map(|one| (&*one.actor, &*one.action))
            .collect();
        assert_eq!(
            own,
            [
                ("operator", "workspace.change"),
                ("operator", "workspace.change"),
                ("operator", "workspace.create")
            ]
        );
        self.actions.insert("workspace.create".to_owned());
        self.walked.insert("workspace create".to_owned());
        self.walked.insert("workspace set".to_owned());
        self.walked.insert("workspace uses".to_owned());
    }
}
