//! Parse the command line, open, run.

use std::process::ExitCode;

/// Requests are many small allocations on every thread; this one serves a third more of them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    Box::pin(toolgate::cli::main()).await
}
