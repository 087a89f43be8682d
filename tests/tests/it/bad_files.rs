//! Files that are not plugins: each is quarantined with a reason, and nothing else is disturbed.

use serde_json::{Value, json};
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::process::{Installation, wait};

fn good() -> Vec<u8> {
    Fixture::new("steady").build()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_bad_file_is_quarantined_with_its_reason_and_the_good_one_serves() {
    let good = good();
    let many: Vec<Value> = (0..10_000).map(|n| tool(&format!("t{n}"))).collect();
    let mut odd_schema = tool("run");
    odd_schema["input"] =
        json!({ "type": "object", "properties": { "n": { "type": "nonsense" } } });
    let mut lie = Fixture::new("liar");
    let mut told = lie.manifest.clone();
    told["description"] = json!("Asks for less than it says inside.");
    lie.section = Some(told.to_string());
    let egress_unasked = Fixture::new("sneaky")
        .fields(r#"(import "toolgate:plugin/egress@0.1.0" "connected" (func $connected (param i32 i32) (result i32)))"#)
        .invoke("(drop (call $connected (i32.const 224) (i32.const 2))) (call $ok)");
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("text.wasm", b"hello".to_vec(), "not WebAssembly"),
        ("empty.wasm", Vec::new(), "not WebAssembly"),
        (
            "module.wasm",
            wat::parse_str("(module)").unwrap(),
            "core WebAssembly module",
        ),
        ("cut.wasm", good[..good.len() / 2].to_vec(), "damaged"),
        ("world.wasm", other_world(), "built for another world"),
        (
            "bare.wasm",
            Fixture::new("bare").build_without_section(),
            "no custom section",
        ),
        ("lie.wasm", lie.build(), "returns a different manifest"),
        (
            "twice.wasm",
            Fixture::new("twice")
                .with("tools", json!([tool("run"), tool("run")]))
                .build(),
            "run",
        ),
        (
            "schema.wasm",
            Fixture::new("schema")
                .with("tools", json!([odd_schema]))
                .build(),
            "/tools/0/input",
        ),
        (
            "many.wasm",
            Fixture::new("many").with("tools", many.into()).build(),
            "tools",
        ),
        (
            "unknown_key.wasm",
            Fixture::new("odd").with("rights", json!(["all"])).build(),
            "rights",
        ),
        (
            "host.wasm",
            Fixture::new("wide").with("hosts", json!(["*.com"])).build(),
            "*.com",
        ),
        ("sneaky.wasm", egress_unasked.build(), "`egress`"),
        ("sockets.wasm", sockets(), "may import"),
        (
            "large.wasm",
            vec![0; (16 << 20) + 1],
            "--allow-large-plugins",
        ),
    ];
    let mut plugins = vec![("steady.wasm".to_owned(), good)];
    plugins.extend(
        cases
            .iter()
            .map(|(name, bytes, _)| ((*name).to_owned(), bytes.clone())),
    );
    let gateway = TestGateway::start(Options {
        plugins,
        ..Options::default()
    })
    .await;

    for (name, _, expected) in &cases {
        let reason = gateway.wait_for_file(name, "quarantined").await;
        assert!(reason.contains(expected), "{name}: {reason}");
    }
    assert_eq!(
        gateway.execute("steady_run", json!({})).await["status"],
        "success"
    );
    let health = gateway.get("/v1/health").await.data();
    assert_eq!(health["plugins"]["active"], 1);
    assert_eq!(health["plugins"]["quarantined"], cases.len());
}

/// A component that exports something else.
fn other_world() -> Vec<u8> {
    let manifest = Fixture::new("other")
        .manifest
        .to_string()
        .replace('"', "\\\"");
    wat::parse_str(format!(
        r#"(component
            (core module $m (func (export "f")))
            (core instance $i (instantiate $m))
            (func (export "run") (canon lift (core func $i "f")))
            (@custom "toolgate:manifest" "{manifest}"))"#
    ))
    .unwrap()
}

/// A plugin that would like a socket.
fn sockets() -> Vec<u8> {
    let manifest = Fixture::new("sockets")
        .manifest
        .to_string()
        .replace('"', "\\\"");
    wat::parse_str(format!(
        r#"(component
            (import "wasi:sockets/instance-network@0.2.6" (instance (export "f" (func))))
            (@custom "toolgate:manifest" "{manifest}"))"#
    ))
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_200_mb_file_is_refused_by_its_size_alone() {
    let gateway = TestGateway::start(Options::default()).await;
    let file = std::fs::File::create(gateway.plugins_dir().join("huge.wasm")).unwrap();
    file.set_len(200 << 20).unwrap();
    let reason = gateway.wait_for_file("huge.wasm", "quarantined").await;
    assert!(reason.contains("200 MiB"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_is_damaged_is_taken_from_the_folder_again() {
    let folder = tempfile::tempdir().unwrap();
    let (data, plugins) = (folder.path().join("data"), folder.path().join("plugins"));
    let options = || Options {
        data_dir: Some(data.clone()),
        plugins_dir: Some(plugins.clone()),
        ..Options::default()
    };
    let first = Options {
        plugins: vec![("steady.wasm".to_owned(), good())],
        ..options()
    };
    TestGateway::start(first).await.stop().await;
    // Another content of the same size, and no machine code that would hide it.
    let copies = std::fs::read_dir(data.join("plugins")).unwrap();
    let copies: Vec<_> = copies.map(|copy| copy.unwrap().path()).collect();
    assert_eq!(copies.len(), 1, "{copies:?}");
    let whole = std::fs::read(&copies[0]).unwrap();
    std::fs::remove_file(&copies[0]).unwrap();
    std::fs::write(&copies[0], vec![7; whole.len()]).unwrap();
    std::fs::remove_dir_all(data.join("code")).unwrap();

    let gateway = TestGateway::start(options()).await;
    let call = json!({ "arguments": {} });
    let serves = async || {
        let answer = gateway.post("/v1/tools/steady_run/execute", &call).await;
        answer.status == 200 && answer.data()["status"] == "success"
    };
    gateway.wait("the plugin to serve again", serves).await;
    assert_eq!(std::fs::read(&copies[0]).unwrap(), whole);
    assert_eq!(gateway.wait_for_file("steady.wasm", "active").await, "");
}

/// A file whose taking meets an error that passes serves by itself, and one that was refused for what it is is
/// told of once.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_met_an_error_that_passed_serves_without_being_touched() {
    let folder = tempfile::tempdir().unwrap();
    let installation = Installation::new(folder.path(), &[]);
    std::fs::write(folder.path().join("plugins/text.wasm"), b"hello").unwrap();
    let process = installation.serve(&[]).await;
    let state_of = async |file: &str| {
        let listed = installation.run(&["plugin", "list"]).await;
        let files = listed["files"].as_array().cloned().unwrap_or_default();
        let file = files.iter().find(|one| one["file"] == *file).cloned();
        file.unwrap_or_default()
    };
    // The folder of copies is a file: nothing can be copied there. Even root cannot.
    let copies = folder.path().join("data/plugins");
    let aside = folder.path().join("copies");
    std::fs::rename(&copies, &aside).unwrap();
    std::fs::write(&copies, b"").unwrap();
    std::fs::write(folder.path().join("plugins/steady.wasm"), good()).unwrap();
    wait("the file to be quarantined", async || {
        state_of("steady.wasm").await["state"] == "quarantined"
    })
    .await;
    let reason = state_of("steady.wasm").await["reason"].to_string();
    assert!(reason.contains("tries again by itself"), "{reason}");
    std::fs::remove_file(&copies).unwrap();
    std::fs::rename(&aside, &copies).unwrap();
    wait("the file to serve", async || {
        process.get("/v1/tools/steady_run/schema").await.status == 200
    })
    .await;
    assert_eq!(state_of("steady.wasm").await["state"], "active");
    assert_eq!(state_of("text.wasm").await["state"], "quarantined");
    process.signal("TERM").await;
    process.ended().await;
    let log = installation.log();
    let told = log
        .lines()
        .filter(|line| line.contains("not WebAssembly"))
        .count();
    assert_eq!(told, 1, "{log}");
}
