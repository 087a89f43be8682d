//! The watched folder: files come, change and go while the gateway serves.

mod abandoned;
mod restarts;

use std::sync::Arc;

use serde_json::json;
use toolgate_gateway::{Caller, Error};
use toolgate_store::Role;
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::{Options, TestGateway};

/// Runs one statement on the gateway's database from outside.
async fn sql(gateway: &TestGateway, statement: &'static str) {
    let path = gateway.config.gateway.data_dir.join("toolgate.db");
    let pool = sqlx::SqlitePool::connect(&format!("sqlite://{}", path.display()))
        .await
        .unwrap();
    sqlx::query(statement).execute(&pool).await.unwrap();
    pool.close().await;
}

async fn search_finds(gateway: &TestGateway, tool: &str) -> bool {
    let list = gateway.get("/v1/tools/list?limit=500").await.data();
    list["tools"]
        .as_array()
        .unwrap()
        .iter()
        .any(|listed| listed["name"] == tool)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_dropped_into_the_folder_serves_without_a_restart() {
    let gateway = TestGateway::start(Options::default()).await;
    assert!(!search_finds(&gateway, "late_run").await);
    gateway.drop_file("late.wasm", &Fixture::new("late").build());
    gateway.wait_for_file("late.wasm", "active").await;
    assert!(search_finds(&gateway, "late_run").await);
    assert_eq!(
        gateway.execute("late_run", json!({})).await["status"],
        "success"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_says_when_a_plugin_is_still_being_loaded() {
    let gateway = TestGateway::start(Options::default()).await;
    let search = async || {
        let path = "/v1/tools/search?query=run+something";
        gateway.get(path).await.data()
    };
    assert_eq!(search().await.get("plugins_loading"), None);
    let file = Fixture::new("late").build();
    // A file that keeps changing is not taken yet.
    gateway
        .wait("the search to say that it is early", async || {
            gateway.drop_file("late.wasm", &file);
            search().await["plugins_loading"] == 1
        })
        .await;
    gateway.drop_file("late.wasm", &file);
    let health = gateway.get("/v1/health").await.data();
    assert_eq!(health["plugins"]["loading"], 1);
    gateway.drop_file("late.wasm", &file);
    let path = "/v1/tools/late_run/execute";
    let early = gateway.post(path, &json!({ "arguments": {} })).await;
    assert_eq!(early.code(), "tool_not_found");
    assert!(early.text.contains("in a few seconds"), "{}", early.text);
    assert!(
        early.text.contains("\"plugins_loading\":1"),
        "{}",
        early.text
    );
    gateway.wait_for_file("late.wasm", "active").await;
    let path = "/v1/tools/late_nope/execute";
    let nope = gateway.post(path, &json!({ "arguments": {} })).await;
    assert!(nope.text.contains("Search for the exact name"));
    assert_eq!(search().await.get("plugins_loading"), None);
    assert_eq!(
        gateway.get("/v1/health").await.data()["plugins"]["loading"],
        0
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_file_takes_its_tools_away() {
    let gateway = TestGateway::with_plugin("gone.wasm", Fixture::new("gone").build()).await;
    std::fs::remove_file(gateway.plugins_dir().join("gone.wasm")).unwrap();
    gateway
        .wait("the tool to be gone", async || {
            !search_finds(&gateway, "gone_run").await
        })
        .await;
    let answer = gateway
        .post("/v1/tools/gone_run/execute", &json!({ "arguments": {} }))
        .await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (404, "tool_not_found")
    );
    gateway.drop_file("gone.wasm", &Fixture::new("gone").build());
    gateway
        .wait("the tool to be back", async || {
            search_finds(&gateway, "gone_run").await
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_goes_while_the_database_is_away_takes_its_tools_away_at_once() {
    let gateway = TestGateway::with_plugin("gone.wasm", Fixture::new("gone").build()).await;
    let statement = "ALTER TABLE plugin_files RENAME TO plugin_files_away";
    sql(&gateway, statement).await;
    std::fs::remove_file(gateway.plugins_dir().join("gone.wasm")).unwrap();
    gateway
        .wait("the tool to be gone", async || {
            !search_finds(&gateway, "gone_run").await
        })
        .await;
    let body = json!({ "arguments": {} });
    let refused = gateway.post("/v1/tools/gone_run/execute", &body).await;
    assert_eq!(refused.code(), "tool_not_found");

    let statement = "ALTER TABLE plugin_files_away RENAME TO plugin_files";
    sql(&gateway, statement).await;
    gateway
        .wait("the database to be told", async || {
            gateway.file_state("gone.wasm").await.is_none()
        })
        .await;
    let store = gateway.gateway.store();
    gateway
        .wait("the service to be removed", async || {
            let row = store.find_plugin("gone").await.unwrap().unwrap();
            row.state.into_str() == "removed"
        })
        .await;
    gateway.drop_file("gone.wasm", &Fixture::new("gone").build());
    gateway.wait_for_file("gone.wasm", "active").await;
    assert!(search_finds(&gateway, "gone_run").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_goes_and_comes_back_while_the_database_is_away_serves_again() {
    let gateway = TestGateway::with_plugin("shy.wasm", Fixture::new("shy").build()).await;
    let file = gateway.plugins_dir().join("shy.wasm");
    let away = gateway.plugins_dir().join("shy.away");
    sql(
        &gateway,
        "ALTER TABLE plugin_files RENAME TO plugin_files_away",
    )
    .await;
    std::fs::rename(&file, &away).unwrap();
    gateway
        .wait("the tool to be gone", async || {
            !search_finds(&gateway, "shy_run").await
        })
        .await;
    std::fs::rename(&away, &file).unwrap();
    let statement = "ALTER TABLE plugin_files_away RENAME TO plugin_files";
    sql(&gateway, statement).await;
    gateway
        .wait("the tool to be back", async || {
            search_finds(&gateway, "shy_run").await
        })
        .await;
    gateway.wait_for_file("shy.wasm", "active").await;
    let row = gateway.gateway.store().find_plugin("shy").await.unwrap();
    assert_eq!(row.unwrap().state.into_str(), "active");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_became_of_a_file_is_told_once_the_database_takes_it() {
    let gateway = TestGateway::start(Options::default()).await;
    let statement = "ALTER TABLE plugin_files RENAME TO plugin_files_away";
    sql(&gateway, statement).await;
    gateway.drop_file("late.wasm", &Fixture::new("late").build());
    gateway
        .wait("the tool to serve", async || {
            search_finds(&gateway, "late_run").await
        })
        .await;
    let statement = "ALTER TABLE plugin_files_away RENAME TO plugin_files";
    sql(&gateway, statement).await;
    gateway.wait_for_file("late.wasm", "active").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_holds_another_service_takes_the_first_ones_tools_away() {
    let gateway = TestGateway::with_plugin("one.wasm", Fixture::new("before").build()).await;
    assert!(search_finds(&gateway, "before_run").await);
    gateway.drop_file("one.wasm", &Fixture::new("after").build());
    gateway
        .wait("the second service in place of the first", async || {
            search_finds(&gateway, "after_run").await && !search_finds(&gateway, "before_run").await
        })
        .await;
    let told = async || {
        let plugins = toolgate_gateway::plugins::list(gateway.gateway.store());
        let plugins = plugins.await.unwrap().plugins;
        let state = |name: &str| {
            let found = plugins.iter().find(|one| one.service == name).unwrap();
            found.state.to_string()
        };
        state("before") == "removed" && state("after") == "active"
    };
    gateway.wait("the list to say so", told).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_upgrade_leaves_the_good_version_serving_also_after_a_restart() {
    let (folders, plugins) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = || Options {
        data_dir: Some(folders.path().to_owned()),
        plugins_dir: Some(plugins.path().to_owned()),
        ..Options::default()
    };
    let gateway = TestGateway::start(options()).await;
    gateway.drop_file("solid.wasm", &Fixture::new("solid").build());
    gateway.wait_for_file("solid.wasm", "active").await;
    gateway.drop_file("solid.wasm", b"garbage");
    gateway.wait_for_file("solid.wasm", "quarantined").await;
    assert_eq!(
        gateway.execute("solid_run", json!({})).await["status"],
        "success"
    );
    gateway.stop().await;
    let again = TestGateway::start(options()).await;
    again
        .wait("the good version to serve", async || {
            search_finds(&again, "solid_run").await
        })
        .await;
    assert_eq!(
        again.execute("solid_run", json!({})).await["status"],
        "success"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_file_of_a_service_is_a_conflict_and_changes_nothing() {
    let gateway = TestGateway::with_plugin("first.wasm", Fixture::new("claimed").build()).await;
    let usurper = Fixture::new("claimed")
        .with("version", json!("9.9.9"))
        .build();
    gateway.drop_file("second.wasm", &usurper);
    let reason = gateway.wait_for_file("second.wasm", "conflict").await;
    assert!(reason.contains("first.wasm"), "{reason}");
    let list = gateway.get("/v1/tools/list?service=claimed").await.data();
    assert_eq!(list["tools"][0]["version"], "1.0.0");
    std::fs::remove_file(gateway.plugins_dir().join("first.wasm")).unwrap();
    gateway.wait_for_file("second.wasm", "active").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_that_asks_for_more_waits_for_the_operator() {
    let gateway = TestGateway::with_plugin("grow.wasm", Fixture::new("grow").build()).await;
    let wider = Fixture::new("grow")
        .with("version", json!("2.0.0"))
        .with("hosts", json!(["exfiltrate.example.com"]))
        .with("tools", json!([tool("run"), tool("more")]));
    gateway.drop_file("grow.wasm", &wider.build());
    let reason = gateway.wait_for_file("grow.wasm", "pending_approval").await;
    assert!(
        reason.contains("exfiltrate.example.com"),
        "the difference is named: {reason}"
    );
    assert!(
        !search_finds(&gateway, "grow_more").await,
        "nothing of it serves"
    );
    assert_eq!(
        gateway.execute("grow_run", json!({})).await["status"],
        "success",
        "the old one does"
    );

    let store = gateway.gateway.store();
    let waits = async || store.find_plugin("grow").await.unwrap().unwrap();
    let before = waits().await;
    for other in ["one", "two"] {
        let name = format!("{other}.wasm");
        gateway.drop_file(&name, &Fixture::new(other).build());
        gateway.wait_for_file(&name, "active").await;
    }
    assert_eq!(
        waits().await,
        before,
        "it waits without being written again and again"
    );

    let (shown, now_ms) = (before.pending_sha256, gateway.gateway.clock().now_ms());
    let operator = toolgate_tests::gateway::operator(&gateway.gateway)
        .await
        .unwrap();
    let approve = async |service, shown| {
        toolgate_gateway::plugins::approve(store, &operator, service, shown, now_ms).await
    };
    assert!(approve("grow", Some("another")).await.is_err());
    assert_eq!(waits().await.approve_sha256, None);
    approve("grow", shown.as_deref()).await.unwrap();
    gateway
        .wait("the approved version to serve", async || {
            search_finds(&gateway, "grow_more").await
        })
        .await;
    assert!(approve("nobody", None).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_does_not_take_the_place_of_another_services_file() {
    let theirs = Fixture::new("theirs");
    let gateway = TestGateway::with_plugin("ours.wasm", theirs.build()).await;
    let operator = operator(&gateway).await;
    let upload = async |fixture: Fixture| {
        let file = fixture.build().into();
        gateway.gateway.add_plugin(&operator, file).await
    };
    let read = || std::fs::read(gateway.plugins_dir().join("ours.wasm")).unwrap();

    let refused = upload(Fixture::new("ours")).await;
    assert!(
        matches!(&refused, Err(Error::Conflict(why)) if why.contains("theirs")),
        "{refused:?}"
    );
    assert_eq!(read(), theirs.build());
    // Nor when it is spoilt: the last good version still serves from it.
    gateway.drop_file("ours.wasm", b"garbage");
    gateway.wait_for_file("ours.wasm", "quarantined").await;
    let refused = upload(Fixture::new("ours")).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    assert_eq!(
        gateway.execute("theirs_run", json!({})).await["status"],
        "success"
    );

    // Its own service's file, and one whose place is free.
    let next = Fixture::new("theirs").with("version", json!("1.1.0"));
    let put = upload(next.clone()).await.unwrap();
    assert_eq!(put.file.as_deref(), Some("ours.wasm"));
    assert_eq!(read(), next.build());
    let put = upload(Fixture::new("free")).await.unwrap();
    assert_eq!(put.file.as_deref(), Some("free.wasm"));
    gateway.wait_for_file("free.wasm", "active").await;
    let names = std::fs::read_dir(gateway.plugins_dir()).unwrap();
    assert_eq!(names.count(), 2, "no half of a file is left");
}

/// Somebody who runs the installation.
async fn operator(gateway: &TestGateway) -> Caller {
    let id = toolgate_core::ids::ulid("req");
    let entered = gateway.gateway.authenticate(Some(&gateway.key), id, None);
    let mut caller = entered.await.unwrap();
    let principal = Arc::make_mut(&mut caller.principal);
    (principal.role, principal.operator) = (Some(Role::Admin), true);
    caller
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_that_asks_for_no_more_goes_in_by_itself() {
    let gateway = TestGateway::with_plugin("up.wasm", Fixture::new("up").build()).await;
    let mut run = tool("run");
    run["description"] = json!("Runs, as before.");
    let next = Fixture::new("up")
        .with("version", json!("1.1.0"))
        .with("tools", json!([run]));
    gateway.drop_file("up.wasm", &next.build());
    gateway
        .wait("the new description", async || {
            let schema = gateway.get("/v1/tools/up_run/schema").await.data();
            schema["description"] == "Runs, as before."
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_version_that_keeps_crashing_gives_way_to_the_one_before() {
    let good = Fixture::new("moody").with("version", json!("1.0.0"));
    let gateway = TestGateway::with_plugin("moody.wasm", good.build()).await;
    let run = async || gateway.execute("moody_run", json!({})).await;
    assert_eq!(run().await["status"], "success");
    let bad = Fixture::new("moody")
        .with("version", json!("1.1.0"))
        .invoke("(unreachable)");
    gateway.drop_file("moody.wasm", &bad.build());
    gateway
        .wait("the new version to serve", async || {
            run().await["reason"] == "plugin_crashed"
        })
        .await;
    for _ in 0..3 {
        assert_eq!(run().await["reason"], "plugin_crashed");
    }
    gateway
        .wait("the version before to serve again", async || {
            run().await["status"] == "success"
        })
        .await;
    let put_back = std::fs::read(gateway.plugins_dir().join("moody.wasm")).unwrap();
    assert_eq!(put_back, good.build());
}
