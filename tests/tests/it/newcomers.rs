//! The steps of the documents, word for word, from nothing to a called tool outside this repository: here those of a
//! description, which take seconds. Rust, JavaScript and Python, and the bounds on time and size, are `make newcomers`;
//! `author_loop.rs` and `authors.rs` build what `plugin new` writes in these languages.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use toolgate_tests::process::program;

#[tokio::test(flavor = "multi_thread")]
async fn the_documented_steps_lead_to_a_called_tool_outside_this_repository() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("authors/newcomer.sh");
    let run = Command::new("bash")
        .arg(script)
        .arg("openapi")
        .env("TOOLGATE", program())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(600), run).await;
    let output = output.expect("it ends in time").unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complaints}");
    print!("{said}");
    assert!(said.starts_with("openapi: "), "{said}");
}
