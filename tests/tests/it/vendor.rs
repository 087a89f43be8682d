//! What the tools would send, held against the descriptions that the vendors publish in packages: `tests/vendor`.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_sends_what_its_vendor_describes() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("vendor.sh");
    let run = Command::new("bash")
        .arg(script)
        .env("TOOLGATE", crate::serving::program())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(600), run)
        .await
        .expect("the check ends within ten minutes")
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complaints}");
    // Nothing was left out in silence: the big ones are there.
    let sum = said.lines().last().unwrap_or_default();
    let decided = sum
        .split(", ")
        .nth(1)
        .and_then(|part| part.split(' ').next());
    let decided: u32 = decided.and_then(|number| number.parse().ok()).expect(&said);
    assert!(decided >= 750, "{said}");
}
