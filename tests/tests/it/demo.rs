//! `make demo` is a test too: the same script, on the program that was just built.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_gets_live_data_and_finds_the_new_plugin() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/demo.sh");
    let run = Command::new("bash")
        .arg(script)
        .env("TOOLGATE", crate::serving::program())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(300), run)
        .await
        .expect("the demo ends within five minutes")
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complaints}");
    assert!(
        said.contains("\"job\":\"self\""),
        "live data over REST: {said}"
    );
    assert!(
        said.contains("hackernews_"),
        "the plugin that came later: {said}"
    );
    assert!(said.trim_end().ends_with("demo: ok"), "{said}");
}
