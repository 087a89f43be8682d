//! Parse the command line, open, run.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    toolgate::cli::main().await
}
