//! A run belongs to its user and its workspace; a key does with it what the key may do.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_gateway::Scope;
use toolgate_tests::gateway::{Answer, TestGateway, new_key, new_tenant};

use super::{RUN, Shop, connect, key_for, path_of, result_of, resume, run, run_with, switch_as};

const BOTH: [Scope; 2] = [Scope::ToolsRead, Scope::ToolsExecute];

async fn send(gateway: &TestGateway, key: &str, method: Method, path: &str) -> Answer {
    let body = (method == Method::POST).then(|| "{}".to_owned());
    gateway.send(method, path, Some(key), body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_else_reads_resumes_or_cancels_a_run() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let script = "log('planted');\nawait shop.createNote({ text: 'before' });\n\
        await ledger.addEntry({ text: 'asked' });\nexport default 'planted';";
    let paused = run(&gateway, script).await;
    assert_eq!(paused["status"], "paused", "{paused}");
    let (tenant, _) = new_tenant(&gateway.gateway, "tenant").await.unwrap();
    switch_as(&gateway, &tenant, true).await;
    let bob = key_for(&gateway, "bob", &BOTH, None).await;
    for key in [&tenant, &bob] {
        for (method, action) in [
            (Method::GET, ""),
            (Method::POST, "/resume"),
            (Method::POST, "/cancel"),
        ] {
            let refused = send(&gateway, key, method, &path_of(&paused, action)).await;
            assert_eq!(
                (refused.status, &*refused.code()),
                (404, "not_found"),
                "{action}: {}",
                refused.text
            );
            assert!(!refused.text.contains("planted"), "{}", refused.text);
        }
        let listed = send(&gateway, key, Method::GET, "/v1/scripts/runs").await;
        assert_eq!(listed.data()["items"], json!([]));
        let unknown = path_of(&json!({"run_id": "run_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"}), "");
        let unknown = send(&gateway, key, Method::GET, &unknown).await;
        assert_eq!(unknown.code(), "not_found", "as one that is not there");
    }
    let of_others = send(
        &gateway,
        &bob,
        Method::GET,
        "/v1/scripts/runs?user_id=default",
    );
    assert_eq!(of_others.await.code(), "scope_denied");
    // Its own user does all of that.
    let own = key_for(&gateway, "default", &BOTH, None).await;
    let read = send(&gateway, &own, Method::GET, &path_of(&paused, "")).await;
    assert_eq!(read.data()["status"], "paused");
    connect(&gateway, &paused["pause"]["connect_url"]).await;
    let ran = resume(&gateway, &paused).await.data();
    assert_eq!(result_of(&ran), "planted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_needs_the_scope_to_execute_and_acts_for_its_own_user() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let paused = run(&gateway, "await ledger.addEntry({ text: 'asked' });").await;
    let reader = new_key(&gateway.gateway, "reader", &[Scope::ToolsRead]);
    let reader = reader.await.unwrap();
    let body = json!({"script": "await shop.createNote({ text: 'a' });"});
    let post = async |key: &str, path: &str, body: &Value| {
        let body = Some(body.to_string());
        gateway.send(Method::POST, path, Some(key), body).await
    };
    for path in [
        RUN.to_owned(),
        path_of(&paused, "/resume"),
        path_of(&paused, "/cancel"),
    ] {
        let body = if path == RUN { body.clone() } else { json!({}) };
        let refused = post(&reader, &path, &body).await;
        assert_eq!(
            (refused.status, &*refused.code()),
            (403, "scope_denied"),
            "{path}"
        );
    }
    let bob = key_for(&gateway, "bob", &BOTH, None).await;
    let of_others = json!({"script": "export default 1;", "user_id": "default"});
    let refused = post(&bob, RUN, &of_others).await;
    assert_eq!((refused.status, &*refused.code()), (403, "scope_denied"));
    assert!(shop.api.received().is_empty());

    // A script has no more than its key: a user's own connections, and no tool that is denied to that user.
    let own = post(&bob, RUN, &body).await.data();
    assert_eq!(own["status"], "done", "{own}");
    let listed = gateway
        .get("/v1/executions?tool_name=shop_create_note")
        .await;
    let listed = listed.data();
    assert_eq!(listed["executions"][0]["user_id"], "bob", "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_for_another_user_has_that_users_connections() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let script = "export default (await ledger.addEntry({ text: args.text })).id;";
    let paused = run_with(
        &gateway,
        json!({"script": script, "arguments": {"text": "mine"}}),
    );
    connect(&gateway, &paused.await["pause"]["connect_url"]).await;
    let body = json!({"script": script, "arguments": {"text": "hers"}, "user_id": "eve"});
    let hers = run_with(&gateway, body).await;
    assert_eq!(hers["pause"]["reason"], "connection", "{hers}");
    assert!(shop.written().is_empty());
    let mine = json!({"script": script, "arguments": {"text": "mine"}});
    assert_eq!(result_of(&run_with(&gateway, mine).await), &json!(7));
    let listed = gateway.get("/v1/scripts/runs?user_id=eve").await.data();
    assert_eq!(listed["items"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed["items"][0]["run_id"], hers["run_id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_runs_share_no_state() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let leaves = r#"globalThis.planted = "state of another run";
Object.prototype.planted = "state of another run";
Array.prototype.map = () => "state of another run";
JSON.stringify = () => "state of another run";
const item = await shop.getItem({ id: "a" });
export default item.price;
"#;
    run(&gateway, leaves).await;
    let looks = r#"const item = await shop.getItem({ id: "a" });
export default [typeof globalThis.planted, typeof {}.planted, [1].map((n) => n + 1), JSON.stringify(item)];
"#;
    let ran = run(&gateway, looks).await;
    let expected = json!(["undefined", "undefined", [2], "{\"id\":\"a\",\"price\":1}"]);
    assert_eq!(result_of(&ran), &expected);
}
