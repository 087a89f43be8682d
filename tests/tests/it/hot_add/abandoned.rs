//! Changes of the folder by an operator who hangs up: each comes to its end, together with its entry in the audit log.

use std::fmt::Debug;

use super::*;
use crate::held_database::HeldDatabase;
use toolgate_gateway::audit::ListEntries;

fn names(gateway: &TestGateway) -> Vec<String> {
    let entries = std::fs::read_dir(gateway.plugins_dir()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

fn has_a_staged_file(names: &[String]) -> bool {
    names.iter().any(|name| name.ends_with(".part"))
}

/// Hangs up once the change has `begun`, as names of the folder show, and waits for the database to take its entry.
async fn hang_up<T: Debug>(
    gateway: &TestGateway,
    change: impl Future<Output = T>,
    begun: impl Fn(&[String]) -> bool,
) {
    let held = HeldDatabase::hold(&gateway.config.gateway.data_dir).await;
    let begins = gateway.wait("the change to begin", async || begun(&names(gateway)));
    tokio::select! {
        early = change => panic!("an early answer: {early:?}"),
        () = begins => {}
    }
    held.release().await;
}

/// How often an action is in the audit log.
async fn entries(gateway: &TestGateway, operator: &Caller, action: &str) -> usize {
    let page = gateway
        .gateway
        .audit_log(operator, ListEntries::default())
        .await
        .unwrap();
    let entries = page.entries.iter();
    entries.filter(|entry| entry.action == action).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_is_added_all_the_same() {
    let gateway = TestGateway::start(Options::default()).await;
    let operator = operator(&gateway).await;
    let file = Fixture::new("late").build().into();
    let adding = Box::pin(gateway.gateway.add_plugin(&operator, file));
    hang_up(&gateway, adding, has_a_staged_file).await;
    gateway.wait_for_file("late.wasm", "active").await;
    assert_eq!(names(&gateway), ["late.wasm"]);
    assert_eq!(entries(&gateway, &operator, "plugins.upload").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_is_rolled_back_all_the_same() {
    let first = Fixture::new("back").with("version", json!("1.0.0"));
    let gateway = TestGateway::with_plugin("back.wasm", first.build()).await;
    let operator = operator(&gateway).await;
    let serves = async |version: &str| {
        let row = gateway.gateway.store().find_plugin("back").await.unwrap();
        row.unwrap().active_version.as_deref() == Some(version)
    };
    let second = Fixture::new("back").with("version", json!("2.0.0"));
    gateway.drop_file("back.wasm", &second.build());
    gateway
        .wait("the second version", async || serves("2.0.0").await)
        .await;
    let going_back = gateway.gateway.roll_back_plugin(&operator, "back", "1.0.0");
    hang_up(&gateway, Box::pin(going_back), has_a_staged_file).await;
    gateway
        .wait("the first version", async || serves("1.0.0").await)
        .await;
    let file = std::fs::read(gateway.plugins_dir().join("back.wasm")).unwrap();
    assert_eq!(file, first.build());
    assert_eq!(entries(&gateway, &operator, "plugins.roll_back").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_is_removed_all_the_same_and_the_names_of_its_tools_are_free() {
    let gateway = TestGateway::with_plugin("gone.wasm", Fixture::new("gone").build()).await;
    let operator = operator(&gateway).await;
    let has_name = async || {
        let owners = gateway.gateway.store().tool_owners().await.unwrap();
        owners.contains_key("gone_run")
    };
    assert!(has_name().await);
    let removing = Box::pin(gateway.gateway.remove_plugin(&operator, "gone"));
    let is_taken = |names: &[String]| !names.iter().any(|name| name == "gone.wasm");
    hang_up(&gateway, removing, is_taken).await;
    gateway
        .wait("the names to be free", async || !has_name().await)
        .await;
    assert_eq!(names(&gateway), [""; 0]);
    assert_eq!(entries(&gateway, &operator, "plugins.remove").await, 1);
}
