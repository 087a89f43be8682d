//! Descriptions that somebody else published become plugins: the fixed sample of `tests/corpus`.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

#[tokio::test(flavor = "multi_thread")]
async fn published_descriptions_build_or_are_refused_for_a_cause_within_bounds() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus.sh");
    let run = Command::new("bash")
        .arg(script)
        .arg("sample")
        .env("TOOLGATE", crate::serving::program())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(300), run)
        .await
        .expect("the sample ends within five minutes")
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complaints}");
    assert!(said.starts_with("60 descriptions"), "{said}");
}
