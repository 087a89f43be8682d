//! Code mode is off until an administrator switches it on, for one workspace.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_gateway::Scope;
use toolgate_tests::gateway::{TestGateway, new_key, new_tenant};
use toolgate_tests::mcp::{Client, ToolsetClient};

use super::{RUN, Shop, result_of, run, switch, switch_as};
use crate::mcp::wire::{answer, stateless};
use crate::parity::{say, say_as, tool_answer};

const TOOL: &str = "svc_run_script";

/// The tools that the gateway lists over MCP.
async fn listed(gateway: &TestGateway) -> Vec<String> {
    let listed = answer(stateless(gateway, "tools/list", None, json!({})));
    let listed = listed.await.json();
    let tools = listed["result"]["tools"].as_array();
    let tools = tools.unwrap_or_else(|| panic!("{listed}")).iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

/// A gateway whose code mode nobody has switched on.
async fn untouched(shop: &Shop) -> TestGateway {
    let gateway = shop.gateway().await;
    switch(&gateway, false).await;
    gateway
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_workspace_refuses_scripts_and_says_who_switches_them_on() {
    let shop = Shop::start().await;
    let gateway = TestGateway::start(shop.options()).await;
    let shown = gateway.get("/v1/code-mode").await.data();
    assert_eq!(shown["enabled"], false, "off from the beginning");
    let body = json!({"script": "await shop.createNote({ text: 'a' });"});
    let refused = gateway.post(RUN, &body).await;
    assert_eq!(
        (refused.status, &*refused.code()),
        (403, "permission_denied"),
        "{}",
        refused.text
    );
    assert!(refused.text.contains("administrator"), "{}", refused.text);
    // Not listed, so some clients cannot call it; one that does is refused.
    let said = tool_answer(&gateway, &gateway.key, TOOL, body).await;
    let answer = said.json();
    let refused = answer["result"]["isError"] == true || answer["error"].is_object();
    assert!(refused, "{answer}");
    assert!(!listed(&gateway).await.contains(&TOOL.to_owned()));
    assert!(shop.api.received().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_switched_on_is_listed_and_runs_until_it_is_switched_off() {
    let shop = Shop::start().await;
    let gateway = untouched(&shop).await;
    assert!(!listed(&gateway).await.contains(&TOOL.to_owned()));
    switch(&gateway, true).await;
    assert!(listed(&gateway).await.contains(&TOOL.to_owned()));
    let script = "export default (await shop.listItems({})).items.length;";
    assert_eq!(result_of(&run(&gateway, script).await), &json!(3));
    let said = say(&gateway, TOOL, json!({"script": script})).await;
    assert!(!said.is_error && said.text.contains('3'), "{}", said.text);

    let before = shop.api.received().len();
    switch(&gateway, false).await;
    assert!(!listed(&gateway).await.contains(&TOOL.to_owned()));
    let refused = gateway.post(RUN, &json!({"script": script})).await;
    assert_eq!(refused.status, 403, "{}", refused.text);
    assert_eq!(shop.api.received().len(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_run_does_not_go_on_while_code_mode_is_off() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let paused = run(&gateway, "await ledger.addEntry({ text: 'a' });").await;
    assert_eq!(paused["status"], "paused", "{paused}");
    super::connect(&gateway, &paused["pause"]["connect_url"]).await;
    switch(&gateway, false).await;
    let refused = super::resume(&gateway, &paused).await;
    assert_eq!(refused.status, 403, "{}", refused.text);
    assert!(shop.written().is_empty());
    switch(&gateway, true).await;
    let resumed = super::resume(&gateway, &paused).await.data();
    assert_eq!(resumed["status"], "done", "{resumed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_an_administrator_switches_it_and_the_audit_log_says_who_did() {
    let shop = Shop::start().await;
    let gateway = untouched(&shop).await;
    let scopes = [Scope::ToolsRead, Scope::ToolsExecute, Scope::UsersAny];
    let agent = new_key(&gateway.gateway, "agent", &scopes).await.unwrap();
    let body = Some(json!({"enabled": true}).to_string());
    let refused = gateway.send(Method::PUT, "/v1/code-mode", Some(&agent), body);
    let refused = refused.await;
    assert_eq!(refused.status, 403, "{}", refused.text);
    let read = gateway.get("/v1/code-mode").await.data();
    assert_eq!(read["enabled"], false);

    // Of another workspace nothing changes.
    let (tenant, _) = new_tenant(&gateway.gateway, "tenant").await.unwrap();
    switch_as(&gateway, &tenant, true).await;
    let read = gateway.get("/v1/code-mode").await.data();
    assert_eq!(read["enabled"], false);
    let said = say_as(
        &gateway,
        &tenant,
        TOOL,
        json!({"script": "export default 41 + 1;"}),
    );
    let said = said.await;
    assert!(said.text.contains("42"), "{}", said.text);

    let store = gateway.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let entries = store.list_audit_entries(&workspace.id, None, 200).await;
    let entries = entries.unwrap().items.into_iter();
    let of_mode: Vec<Value> = entries
        .filter(|one| one.action == "workspace.code_mode")
        .map(|one| serde_json::from_str(&one.details).unwrap())
        .collect();
    assert_eq!(of_mode.len(), 2, "on for the test, and off: {of_mode:?}");
}

/// An official client at the main address hears that its list has changed.
async fn a_client_hears_of_the_switch(client: Client) {
    let shop = Shop::start().await;
    let gateway = untouched(&shop).await;
    let url = gateway.url("/mcp");
    let connecting = ToolsetClient::connect(client, &url, &gateway.key);
    let (mut client, negotiated) = connecting.await.unwrap();
    assert_eq!(negotiated["list_changed"], true, "{negotiated}");
    let listed = client.list().await.unwrap().to_string();
    assert!(!listed.contains(TOOL), "{listed}");
    for enabled in [true, false] {
        switch(&gateway, enabled).await;
        client.changed().await.unwrap();
        let listed = client.list().await.unwrap().to_string();
        assert_eq!(listed.contains(TOOL), enabled, "{listed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_the_stateless_era_hears_of_the_switch() {
    a_client_hears_of_the_switch(Client::Python("auto")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_the_session_era_hears_of_the_switch() {
    a_client_hears_of_the_switch(Client::JavaScript("legacy")).await;
}
