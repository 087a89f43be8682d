//! Large plugins: off until the operator allows them, then beside the ordinary ones with bounds of
//! their own.

use serde_json::json;
use toolgate_runtime::limits::{COMPONENT_BYTES_MAX, MEMORY_BYTES_MAX};
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::{Options, TestGateway};

const MIB: usize = 1 << 20;
/// What the large plugins of these tests ask for.
const ASKED: usize = 96;

/// A plugin of two tools: `bad` grows its memory by MiB until it is told no and then answers how many
/// it got; `fine` answers at once.
fn exceeds_fair_share(service: &str, memory_mib: usize) -> Fixture {
    let grow = "(loop $on
        (if (i32.ne (memory.grow (i32.const 16)) (i32.const -1)) (then (br $on))))
        (unreachable)";
    Fixture::new(service)
        .with("tools", json!([tool("bad"), tool("fine")]))
        .with("limits", json!({ "memory_mib": memory_mib }))
        .invoke(&format!(
            "(if (result i32) (i32.eq (local.get $tool_bytes) (i32.const 3)) (then {grow}) (else (call $ok)))"
        ))
}

/// A component that is valid and has many bytes: a section that nobody reads.
fn padded(mut component: Vec<u8>, bytes: usize) -> Vec<u8> {
    let mut section = vec![0];
    let mut length = bytes + 2;
    while length >= 0x80 {
        section.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    section.push(length as u8);
    section.extend([1, b'x']);
    component.extend(section);
    component.resize(component.len() + bytes, 0);
    component
}

/// Why a file does not serve. What an earlier process wrote of it is waited over.
async fn quarantined(gateway: &TestGateway, name: &str) -> String {
    let reason = async || {
        let files = gateway.gateway.store().list_plugin_files().await.unwrap();
        let file = files.into_iter().find(|file| file.file_name == name)?;
        (file.state.into_str() == "quarantined").then_some(file.reason?)
    };
    let what = format!("{name} to be quarantined");
    gateway.wait(&what, async || reason().await.is_some()).await;
    reason().await.unwrap()
}

async fn active(gateway: &TestGateway, services: u64) {
    let what = format!("{services} services");
    gateway
        .wait(&what, async || {
            let health = gateway.get("/v1/health").await.data();
            health["plugins"]["active"] == services
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_plugin_is_quarantined_until_the_flag_allows_it() {
    let folder = tempfile::tempdir().unwrap();
    let over = usize::try_from(COMPONENT_BYTES_MAX).unwrap();
    let options = |allow_large_plugins| Options {
        plugins: vec![
            (
                "large.wasm".to_owned(),
                exceeds_fair_share("large", ASKED).build(),
            ),
            (
                "heavy.wasm".to_owned(),
                padded(exceeds_fair_share("heavy", ASKED).build(), over),
            ),
            (
                "bloated.wasm".to_owned(),
                padded(exceeds_fair_share("bloated", 64).build(), over),
            ),
            (
                "huge.wasm".to_owned(),
                padded(exceeds_fair_share("huge", ASKED).build(), 48 * MIB),
            ),
            (
                "small.wasm".to_owned(),
                exceeds_fair_share("small", 64).build(),
            ),
        ],
        data_dir: Some(folder.path().join("data")),
        allow_large_plugins,
        ..Options::default()
    };

    let gateway = TestGateway::start(options(false)).await;
    for name in ["large.wasm", "heavy.wasm", "bloated.wasm"] {
        let reason = quarantined(&gateway, name).await;
        assert!(reason.contains("--allow-large-plugins"), "{name}: {reason}");
    }
    let served = gateway.execute("small_fine", json!({})).await;
    assert_eq!(served["status"], "success", "{served}");
    let unknown = gateway
        .post("/v1/tools/large_fine/execute", &json!({"arguments": {}}))
        .await;
    assert_eq!((unknown.status, &*unknown.code()), (404, "tool_not_found"));
    drop(gateway);

    let gateway = TestGateway::start(options(true)).await;
    active(&gateway, 3).await;
    for name in ["large", "heavy", "small"] {
        let answer = gateway.execute(&format!("{name}_fine"), json!({})).await;
        assert_eq!(answer["status"], "success", "{name}: {answer}");
    }
    for (name, says) in [
        ("bloated.wasm", "at most 64 MiB of memory"),
        ("huge.wasm", "at most 48 MiB"),
    ] {
        let what = format!("{name} to be judged anew");
        gateway
            .wait(&what, async || {
                quarantined(&gateway, name).await.contains(says)
            })
            .await;
    }
    drop(gateway);

    // What is remembered of an inspection is not a permission.
    let gateway = TestGateway::start(options(false)).await;
    for name in ["large.wasm", "heavy.wasm"] {
        let reason = quarantined(&gateway, name).await;
        assert!(reason.contains("--allow-large-plugins"), "{name}: {reason}");
    }
    active(&gateway, 1).await;
    let listed = gateway.gateway.store().find_plugin("large").await.unwrap();
    assert_eq!(listed.unwrap().state.into_str(), "quarantined");
    let tools = gateway.get("/v1/tools/list").await.data();
    let names = tools["tools"].as_array().unwrap().iter();
    let names: Vec<&str> = names.filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["small_bad", "small_fine"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_size_ends_at_its_own_memory() {
    let gateway = TestGateway::start(Options {
        plugins: vec![
            (
                "large.wasm".to_owned(),
                exceeds_fair_share("large", ASKED).build(),
            ),
            (
                "greedy.wasm".to_owned(),
                exceeds_fair_share("greedy", 100_000).build(),
            ),
            (
                "small.wasm".to_owned(),
                exceeds_fair_share("small", 64).build(),
            ),
        ],
        allow_large_plugins: true,
        ..Options::default()
    })
    .await;
    let ordinary = MEMORY_BYTES_MAX / MIB;
    for (service, most) in [("large", ASKED), ("greedy", 256), ("small", ordinary)] {
        let answer = gateway.execute(&format!("{service}_bad"), json!({})).await;
        assert_eq!(answer["reason"], "limit_exceeded", "{answer}");
        let text = answer["error"]["message"].as_str().unwrap();
        assert!(text.contains(&format!("{most} MiB")), "{service}: {text}");
        let next = gateway.execute(&format!("{service}_fine"), json!({})).await;
        assert_eq!(next["status"], "success", "the next call works: {next}");
    }
}
