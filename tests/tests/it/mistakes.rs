//! Mistakes of plugin authors: one table for each way to write a plugin, with each error message as a snapshot. A message
//! names the place and what to write there.

mod description;
mod rust;

use std::process::Stdio;

use tokio::process::Command;

/// Standard output of a command, whether it succeeds or not.
async fn said_by(command: &mut Command) -> String {
    let output = command
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .expect("it starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
