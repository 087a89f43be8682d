//! The watched folder: files come, change and go while the gateway serves.

use serde_json::json;
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::{Options, TestGateway};

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
    gateway.wait_for_file("late.wasm", "active").await;
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
    toolgate::gateway::plugins::approve(store, "grow", gateway.gateway.clock().now_ms())
        .await
        .unwrap();
    gateway
        .wait("the approved version to serve", async || {
            search_finds(&gateway, "grow_more").await
        })
        .await;
    assert!(
        toolgate::gateway::plugins::approve(store, "nobody", 0)
            .await
            .is_err()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_that_asks_for_no_more_goes_in_by_itself() {
    let gateway = TestGateway::with_plugin("up.wasm", Fixture::new("up").build()).await;
    let next = Fixture::new("up")
        .with("version", json!("1.1.0"))
        .with("tools", json!([tool("run"), tool("more")]));
    gateway.drop_file("up.wasm", &next.build());
    gateway
        .wait("the new tool", async || {
            search_finds(&gateway, "up_more").await
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_warm_start_compiles_nothing_and_serves_at_once() {
    let (folders, plugins) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = || Options {
        data_dir: Some(folders.path().to_owned()),
        plugins_dir: Some(plugins.path().to_owned()),
        ..Options::default()
    };
    let first = TestGateway::start(options()).await;
    first.drop_file("warm.wasm", &Fixture::new("warm").build());
    first.wait_for_file("warm.wasm", "active").await;
    first.stop().await;
    // A file that was just written settles first; age it as a real restart would find it.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let file = std::fs::File::options()
        .write(true)
        .open(plugins.path().join("warm.wasm"))
        .unwrap();
    file.set_modified(old).unwrap();
    let again = TestGateway::start(options()).await;
    assert!(
        search_finds(&again, "warm_run").await,
        "ready when the start returns"
    );
    assert_eq!(
        again.execute("warm_run", json!({})).await["status"],
        "success"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn compiled_code_that_was_touched_is_compiled_again_and_never_run() {
    let (folders, plugins) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = || Options {
        data_dir: Some(folders.path().to_owned()),
        plugins_dir: Some(plugins.path().to_owned()),
        ..Options::default()
    };
    let first = TestGateway::start(options()).await;
    first.drop_file("safe.wasm", &Fixture::new("safe").build());
    first.wait_for_file("safe.wasm", "active").await;
    first.stop().await;
    let mut touched = 0;
    for entry in std::fs::read_dir(folders.path().join("code")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|kind| kind == "cwasm") {
            let mut bytes = std::fs::read(&path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0xff;
            std::fs::write(&path, bytes).unwrap();
            touched += 1;
        }
    }
    assert_eq!(touched, 1);
    let again = TestGateway::start(options()).await;
    again
        .wait("the plugin to serve", async || {
            search_finds(&again, "safe_run").await
        })
        .await;
    assert_eq!(
        again.execute("safe_run", json!({})).await["status"],
        "success"
    );
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
