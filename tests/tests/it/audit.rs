//! The audit log has an entry for every change, and none without one.

mod subjects;
mod tables;
mod walk;

use std::collections::BTreeSet;
use std::process::Command;

use http::Method;
use serde_json::{Value, json};
use toolgate_http::{internal, rest};
use toolgate_store::AuditEntry;
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::TestGateway;
use toolgate_tests::process::program;

use tables::{INTERNAL, Leaves, PUBLIC, VERBS};
use walk::Walk;

fn options(gateway: &TestGateway) -> internal::InternalOptions {
    internal::InternalOptions {
        rest: rest::RestOptions {
            metrics: gateway.gateway.metrics().clone(),
            metrics_here: false,
        },
        public_url: gateway.url(""),
    }
}

/// The verbs of a help text.
fn verbs(of: &[&str]) -> Vec<String> {
    let output = Command::new(program()).args(of).arg("--help").output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let listed = text.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    // A description that goes on in the next line is indented further.
    let names = listed.filter_map(|line| {
        line.strip_prefix("  ")
            .filter(|rest| !rest.starts_with(' '))
    });
    let names = names.filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_way_in_is_in_a_table() {
    let gateway = TestGateway::start(Default::default()).await;
    let known = |table: &[(&str, &str, Leaves)]| -> BTreeSet<String> {
        let lines = table
            .iter()
            .map(|(method, path, _)| format!("{method} {path}"));
        lines.collect()
    };
    let document = serde_json::to_value(rest::document()).unwrap();
    let mut public = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in ["post", "put", "patch", "delete"] {
            if item.get(method).is_some() {
                public.insert(format!("{} {path}", method.to_uppercase()));
            }
        }
    }
    assert_eq!(public, known(PUBLIC));

    let listed = internal::listed(gateway.gateway.clone(), options(&gateway));
    let changing = listed
        .into_iter()
        .filter(|route| route.method != Method::GET);
    let (mirrored, own): (Vec<_>, Vec<_>) = changing.partition(|route| route.mirrored);
    let own: BTreeSet<String> = own
        .into_iter()
        .map(|route| format!("{} {}", route.method, route.path))
        .collect();
    assert_eq!(own, known(INTERNAL));
    assert_eq!(mirrored.len(), PUBLIC.len());

    let mut found = BTreeSet::new();
    for group in verbs(&[]) {
        let within = verbs(&[&group]);
        if within.is_empty() || group == "model" {
            found.insert(group);
        } else {
            found.extend(within.into_iter().map(|verb| format!("{group} {verb}")));
        }
    }
    let known = VERBS.iter().map(|(verb, _)| (*verb).to_owned());
    assert_eq!(found, known.collect());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_leaves_its_entry_on_sqlite() {
    Walk::start(None).await.through_everything().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_leaves_its_entry_on_postgresql() {
    let url = tokio::task::spawn_blocking(toolgate_tests::postgres::fresh_url);
    let url = url.await.unwrap();
    Walk::start(Some(url)).await.through_everything().await;
}

/// A full disk, as far as the audit log goes: nothing can be added to it.
async fn spoil_the_log(gateway: &TestGateway) {
    let url = &gateway.config.gateway.database_url;
    let pool = sqlx::SqlitePool::connect(url).await.unwrap();
    let trigger =
        "CREATE TRIGGER spoilt BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'full'); END";
    sqlx::raw_sql(trigger).execute(&pool).await.unwrap();
    pool.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_written_down_is_not_done() {
    let mut walk = Walk::start(None).await;
    walk.sign_in().await;
    let skill = json!({"name": "One", "summary": "First", "instructions": "Do it."});
    let skill = walk.rest(Method::POST, "/v1/skills", skill).await["skill_id"].clone();
    let skill = format!("/v1/skills/{}", skill.as_str().unwrap());
    let gateway = &walk.gateway;
    spoil_the_log(gateway).await;

    let look = async || -> Vec<Value> {
        let mut seen = Vec::new();
        for path in [
            "/v1/skills",
            &skill,
            "/v1/toolsets",
            "/v1/webhooks",
            "/v1/permissions/default",
            "/v1/permissions/users/ada",
            "/v1/knowledge/documents",
        ] {
            seen.push(gateway.get(path).await.data());
        }
        for path in [
            "/internal/keys",
            "/internal/members",
            "/internal/workspace",
            "/internal/plugins",
        ] {
            seen.push(walk.ask(Method::GET, path, Value::Null).await.data());
        }
        let mut files: Vec<String> = std::fs::read_dir(gateway.plugins_dir())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        seen.push(json!(files));
        seen
    };
    let before = look().await;
    for (method, path, body) in [
        (
            Method::POST,
            "/v1/skills",
            json!({"name": "Two", "summary": "S", "instructions": "I"}),
        ),
        (Method::PUT, &*skill, json!({"summary": "Other"})),
        (Method::DELETE, &*skill, Value::Null),
        (
            Method::POST,
            "/v1/toolsets",
            json!({"name": "ours", "tools": ["acme_run"]}),
        ),
        (
            Method::POST,
            "/v1/webhooks",
            json!({"url": "https://app.example.com/in", "events": ["*"]}),
        ),
        (
            Method::PATCH,
            "/v1/permissions/default",
            json!({"default": "by_effect"}),
        ),
        (
            Method::PATCH,
            "/v1/permissions/users/ada/tools/acme_run",
            json!({"permission": "deny"}),
        ),
        (
            Method::POST,
            "/v1/knowledge/documents",
            json!({"content": "Text", "media_type": "text/plain"}),
        ),
    ] {
        let body = (!body.is_null()).then(|| body.to_string());
        let key = Some(&*gateway.key);
        let refused = gateway.send(method.clone(), path, key, body).await;
        assert_eq!(refused.status, 500, "{method} {path}: {}", refused.text);
    }
    for (method, path, body) in [
        (Method::POST, "/internal/keys", json!({"name": "new"})),
        (
            Method::POST,
            "/internal/members",
            json!({"email": "b@example.com", "role": "member"}),
        ),
        (
            Method::PATCH,
            "/internal/workspace",
            json!({"name": "Other", "keep_payloads": true}),
        ),
        (Method::DELETE, "/internal/plugins/acme", Value::Null),
    ] {
        let refused = walk.ask(method.clone(), path, body).await;
        assert_eq!(refused.status, 500, "{method} {path}: {}", refused.text);
    }
    let refused = walk.upload(&Fixture::new("other").build()).await;
    assert_eq!(refused.status, 500, "{}", refused.text);
    // The file that was not removed is judged once more.
    let as_before = async || look().await == before;
    toolgate_tests::process::wait("all to be as before", as_before).await;
}

/// The other direction: a change that does not happen leaves nothing.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_done_is_not_written_down() {
    let mut walk = Walk::start(None).await;
    walk.sign_in().await;
    let before = walk.entries().await.len();
    let id = "00000000-0000-4000-8000-000000000000";
    for (method, path, body) in [
        (
            Method::PUT,
            format!("/v1/skills/{id}"),
            json!({"summary": "Other"}),
        ),
        (Method::DELETE, format!("/v1/skills/{id}"), Value::Null),
        (
            Method::PATCH,
            "/v1/toolsets/none".to_owned(),
            json!({"title": "Other"}),
        ),
        (
            Method::PUT,
            "/v1/toolsets/none".to_owned(),
            json!({"tools": ["acme_run"]}),
        ),
        (Method::DELETE, "/v1/toolsets/none".to_owned(), Value::Null),
        (
            Method::DELETE,
            "/v1/webhooks/whk_none".to_owned(),
            Value::Null,
        ),
        (
            Method::DELETE,
            "/v1/connections/con_none".to_owned(),
            Value::Null,
        ),
        (
            Method::DELETE,
            "/v1/connections/con_none/hook".to_owned(),
            Value::Null,
        ),
        (
            Method::DELETE,
            "/v1/knowledge/documents/doc_none".to_owned(),
            Value::Null,
        ),
    ] {
        let body = (!body.is_null()).then(|| body.to_string());
        let key = Some(&*walk.gateway.key);
        let refused = walk.gateway.send(method.clone(), &path, key, body).await;
        assert_eq!(refused.status, 404, "{method} {path}: {}", refused.text);
    }
    let me = walk
        .ask(Method::GET, "/internal/me", Value::Null)
        .await
        .data();
    let me = format!("/internal/members/{}", me["member_id"].as_str().unwrap());
    for (method, path, body, status) in [
        (Method::DELETE, &*me, Value::Null, 409),
        (Method::PATCH, &me, json!({"role": "admin"}), 409),
        (
            Method::DELETE,
            "/internal/me/sign-ins/sin_none",
            Value::Null,
            404,
        ),
        (
            Method::DELETE,
            "/internal/services/acme/app",
            Value::Null,
            404,
        ),
        (Method::DELETE, "/internal/keys/key_none", Value::Null, 404),
    ] {
        let refused = walk.ask(method.clone(), path, body).await;
        assert_eq!(refused.status, status, "{method} {path}: {}", refused.text);
    }
    let after: Vec<AuditEntry> = walk.entries().await;
    assert_eq!(after.len(), before, "{after:?}");
}
