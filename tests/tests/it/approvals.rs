//! Calls that a person has to allow first, across the wire.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_gateway::Scope;
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{Options, TestGateway, new_key};

async fn start(database_url: Option<String>) -> TestGateway {
    let gateway = TestGateway::start(Options {
        plugins: vec![("asked.wasm".to_owned(), Fixture::new("asked").build())],
        database_url,
        ..Options::default()
    })
    .await;
    set(&gateway, json!({"permission": "ask"})).await;
    gateway
}

/// Plays each scene on SQLite and on a real PostgreSQL.
macro_rules! on_both {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() { super::$name(super::start(None).await).await })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                let url = tokio::task::spawn_blocking(toolgate_tests::postgres::fresh_url);
                super::$name(super::start(Some(url.await.unwrap())).await).await
            })+
        }
    };
}

on_both!(
    an_asked_call_runs_once_after_it_was_approved,
    a_denied_call_is_403_and_a_dry_run_needs_no_approval,
    an_agents_key_cannot_approve_its_own_call,
    approvals_are_listed_by_state_and_page,
);

async fn set(gateway: &TestGateway, rule: Value) {
    let path = "/v1/permissions/users/default/tools/asked_run";
    let answer = gateway.send(
        Method::PATCH,
        path,
        Some(&gateway.key),
        Some(rule.to_string()),
    );
    assert_eq!(answer.await.status, 200);
}

async fn decide(gateway: &TestGateway, asked: &Value, decision: &str) {
    let answer = gateway.decide(&asked["approval_id"], decision).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
}

async fn an_asked_call_runs_once_after_it_was_approved(gateway: TestGateway) {
    let asked = gateway.execute("asked_run", json!({"text": "a"})).await;
    assert_eq!(asked["status"], "approval_required");
    assert_eq!(asked["reason"], "approval_required");
    assert!(asked["requests"].is_array());
    let receipt = format!("/v1/executions/{}", asked["execution_id"].as_str().unwrap());
    assert_eq!(
        gateway.get(&receipt).await.data()["status"],
        "approval_required"
    );
    let waiting = gateway.execute("asked_run", json!({"text": "a"})).await;
    assert_eq!(waiting["approval_id"], asked["approval_id"]);

    decide(&gateway, &asked, "approve").await;
    let other = gateway.execute("asked_run", json!({"text": "b"})).await;
    assert_eq!(other["status"], "approval_required");
    let ran = gateway.execute("asked_run", json!({"text": "a"})).await;
    assert_eq!(ran["status"], "success", "{ran}");
    let again = gateway.execute("asked_run", json!({"text": "a"})).await;
    assert_eq!(again["status"], "approval_required");
    assert_ne!(again["approval_id"], asked["approval_id"]);
}

async fn a_denied_call_is_403_and_a_dry_run_needs_no_approval(gateway: TestGateway) {
    let asked = gateway.execute("asked_run", json!({})).await;
    decide(&gateway, &asked, "deny").await;
    let body = json!({"arguments": {}});
    let refused = gateway.post("/v1/tools/asked_run/execute", &body).await;
    assert_eq!(
        (refused.status, &*refused.code()),
        (403, "permission_denied")
    );
    let planned = json!({"arguments": {}, "dry_run": true});
    let planned = gateway.post("/v1/tools/asked_run/execute", &planned).await;
    assert_eq!(planned.status, 200, "{}", planned.text);
    let planned = planned.data();
    assert_eq!(
        (&planned["status"], &planned["requests"], &planned["result"]),
        (&json!("dry_run"), &json!([]), &Value::Null),
        "no result comes without a person"
    );

    set(&gateway, json!({"permission": "deny"})).await;
    let planned = json!({"arguments": {}, "dry_run": true});
    let planned = gateway.post("/v1/tools/asked_run/execute", &planned).await;
    assert_eq!(planned.code(), "permission_denied");
    set(&gateway, json!({"permission": "inherit"})).await;
    let ran = gateway.execute("asked_run", json!({})).await;
    assert_eq!(ran["status"], "success");
}

async fn an_agents_key_cannot_approve_its_own_call(gateway: TestGateway) {
    let agent = new_key(
        &gateway.gateway,
        "agent",
        &[Scope::ToolsRead, Scope::ToolsExecute],
    );
    let agent = agent.await.unwrap();
    let asked = gateway.execute("asked_run", json!({})).await;
    let path = format!("/v1/approvals/{}", asked["approval_id"].as_str().unwrap());
    let body = Some(json!({"decision": "approve"}).to_string());
    let refused = gateway.send(Method::POST, &path, Some(&agent), body).await;
    assert_eq!((refused.status, &*refused.code()), (403, "scope_denied"));
    let body = json!({"decision": "approve"});
    let own = gateway.post(&path, &body).await;
    assert_eq!((own.status, &*own.code()), (403, "permission_denied"));
    let unknown = json!({"decision": "perhaps"});
    assert_eq!(
        gateway.post(&path, &unknown).await.code(),
        "invalid_request"
    );
    let nobody = gateway
        .post("/v1/approvals/apr_x", &json!({"decision": "deny"}))
        .await;
    assert_eq!((nobody.status, &*nobody.code()), (404, "not_found"));
}

async fn approvals_are_listed_by_state_and_page(gateway: TestGateway) {
    let mut asked = Vec::new();
    for n in 0..3 {
        asked.push(
            gateway
                .execute("asked_run", json!({"text": format!("call {n}")}))
                .await,
        );
    }
    decide(&gateway, &asked[0], "approve").await;
    decide(&gateway, &asked[1], "deny").await;
    for (status, n) in [("approved", 0), ("denied", 1), ("pending", 2)] {
        let listed = gateway
            .get(&format!("/v1/approvals?status={status}"))
            .await
            .data();
        assert_eq!(listed["approvals"].as_array().unwrap().len(), 1, "{listed}");
        assert_eq!(
            listed["approvals"][0]["approval_id"],
            asked[n]["approval_id"]
        );
    }
    let (mut seen, mut path) = (Vec::new(), "/v1/approvals?limit=2".to_owned());
    loop {
        let page = gateway.get(&path).await.data();
        for approval in page["approvals"].as_array().unwrap() {
            seen.push(approval["approval_id"].clone());
        }
        match page["next_cursor"].as_str() {
            Some(cursor) => path = format!("/v1/approvals?limit=2&cursor={cursor}"),
            None => break,
        }
    }
    let mut expected: Vec<Value> = asked.iter().map(|one| one["approval_id"].clone()).collect();
    expected.sort_by_key(|id| std::cmp::Reverse(id.to_string()));
    seen.sort_by_key(|id| std::cmp::Reverse(id.to_string()));
    assert_eq!(seen, expected);
    let again = gateway.decide(&asked[0]["approval_id"], "deny").await;
    assert_eq!((again.status, &*again.code()), (409, "conflict"));
}
