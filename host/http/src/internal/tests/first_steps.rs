//! Which first steps of a workspace are done, by who asks.

use serde_json::{Value, json};

use super::BrowserRequest;
use toolgate_gateway::Scope;
use toolgate_gateway::dashboard::first_steps::LAST_BACKUP_FILE;
use toolgate_gateway::testing::TestWorld;
use toolgate_store::Role;

/// The steps that somebody is shown, and the client that called last.
async fn steps(world: &TestWorld, who: &BrowserRequest) -> (Vec<(String, bool)>, Value) {
    let (parts, body) = who.send(world, "GET", "/internal/first-steps").await;
    assert_eq!(parts.status, 200, "{body}");
    let steps = body["data"]["steps"].as_array().unwrap().iter();
    let steps = steps.map(|one| {
        let name = one["step"].as_str().unwrap().to_owned();
        (name, one["done"].as_bool().unwrap())
    });
    (steps.collect(), body["data"]["last_client"].clone())
}

fn done(steps: &[(String, bool)]) -> Vec<&str> {
    let done = steps.iter().filter(|(_, done)| *done);
    done.map(|(step, _)| step.as_str()).collect()
}

#[tokio::test]
async fn first_steps_are_those_that_a_role_can_do_and_are_done_by_the_workspace_itself() {
    let world = TestWorld::open().await;
    let owner = BrowserRequest::new(&world.member(Role::Owner, true).await);
    let (all, last) = steps(&world, &owner).await;
    let names: Vec<&str> = all.iter().map(|(step, _)| step.as_str()).collect();
    let expected = [
        "connect_service",
        "run_tool",
        "connect_client",
        "invite",
        "public_address",
        "back_up",
    ];
    assert_eq!(names, expected);
    assert_eq!((done(&all), last), (Vec::new(), Value::Null));

    let member = BrowserRequest::new(&world.member(Role::Member, true).await);
    std::fs::write(world.data_dir().join(LAST_BACKUP_FILE), "now").unwrap();
    let _ = world.caller(&[Scope::ToolsRead]).await;
    let (all, last) = steps(&world, &owner).await;
    assert_eq!(done(&all), ["connect_client", "invite", "back_up"]);
    assert_eq!(last["kind"], json!("key"), "{last}");

    let (own, last) = steps(&world, &member).await;
    assert_eq!(own.len(), 3, "{own:?}");
    assert_eq!((done(&own), last), (Vec::new(), Value::Null), "no key");

    let other = BrowserRequest::new(&world.member(Role::Owner, false).await);
    let (theirs, last) = steps(&world, &other).await;
    assert_eq!(theirs.len(), 4, "not the operator's: {theirs:?}");
    assert_eq!((done(&theirs), last), (Vec::new(), Value::Null));
}
