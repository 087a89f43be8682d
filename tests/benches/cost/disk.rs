//! What many real calls leave on the disk: the files of the database and the log of receipts, while the
//! program runs and after it has ended.

use std::path::Path;
use std::sync::Arc;

use toolgate_tests::process::wait;

use crate::bare::Server;
use crate::real_calls::{Client, rest_call, start_toolgate};

const CALLS: usize = 100_000;
const CONNECTIONS: usize = 16;

pub async fn measure() -> anyhow::Result<()> {
    let upstream = Server::program("upstream").await?;
    let folder = tempfile::tempdir()?;
    let toolgate = start_toolgate(folder.path(), &upstream).await?;
    let request = Arc::new(rest_call(&toolgate));
    let mut workers = Vec::new();
    for _ in 0..CONNECTIONS {
        let request = request.clone();
        workers.push(tokio::spawn(async move {
            let mut client = Client::connect(request).await?;
            for _ in 0..CALLS / CONNECTIONS {
                client.call().await?;
            }
            anyhow::Ok(())
        }));
    }
    for worker in workers {
        worker.await??;
    }
    let data = folder.path().join("data");
    // The log is empty once the receipts in it are rows.
    wait("the receipts to be rows", async || {
        bytes(&data.join("receipts"), "").is_ok_and(|bytes| bytes == 0)
    })
    .await;
    let running = bytes(&data, "toolgate.db")?;
    toolgate.signal("TERM").await;
    toolgate.ended().await;
    let ended = bytes(&data, "toolgate.db")?;
    println!(
        "| disk for {CALLS} real calls, SQLite | {:.1} MB | {:.1} MB while it runs, with the write-ahead log | |",
        ended as f64 / 1e6,
        running as f64 / 1e6
    );
    Ok(())
}

/// The size of the files in `folder` whose names begin with `prefix`.
fn bytes(folder: &Path, prefix: &str) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for file in std::fs::read_dir(folder)? {
        let file = file?;
        if file.file_name().to_string_lossy().starts_with(prefix) {
            bytes += file.metadata()?.len();
        }
    }
    Ok(bytes)
}
