//! `make demo` is a test too: the same script, on the program that was just built.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use toolgate_tests::gateway::PATIENCE;

const DEMO_MAX: Duration = Duration::from_secs(300);

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_gets_live_data_and_finds_the_new_plugin() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/demo.sh");
    let demo = Command::new("bash")
        .arg(script)
        .env("TOOLGATE", crate::serving::program())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let group = format!("-{}", demo.id().unwrap());
    let mut run = Box::pin(demo.wait_with_output());
    let Ok(output) = tokio::time::timeout(DEMO_MAX, &mut run).await else {
        // What it started is stopped by the script itself, if it gets to.
        let asked = Command::new("kill").args(["-TERM", "--", &group]).status();
        asked.await.unwrap();
        let stopped = tokio::time::timeout(PATIENCE, run).await.is_ok();
        panic!("the demo ends within five minutes; it stopped when it was asked: {stopped}");
    };
    let output = output.unwrap();
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
