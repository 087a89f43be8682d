//! `keep_database VERSION`: has the program of this version fill a database of each kind, and keeps them in
//! `tests/databases/VERSION`. Run once for each release, with its program in `$TOOLGATE`; what an earlier
//! version wrote is never made anew. `tests/tests/it/upgrades.rs` migrates them.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::json;
use toolgate_tests::component::Fixture;
use toolgate_tests::postgres;
use toolgate_tests::process::{Installation, Process};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let version = std::env::args().nth(1).context("which version?")?;
    let kept = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("databases")
        .join(version);
    ensure!(!kept.exists(), "{} is there already", kept.display());
    std::fs::create_dir_all(&kept)?;
    let folder = tempfile::tempdir()?;
    let mut installation = Installation::new(folder.path(), &[]);
    let plugin = Fixture::new("kept").build();
    std::fs::write(folder.path().join("plugins/kept.wasm"), plugin)?;
    fill(&installation).await?;
    let data = folder.path().join("data");
    write(
        &kept.join("sqlite.db.gz"),
        &std::fs::read(data.join("toolgate.db"))?,
    )?;
    std::fs::copy(data.join("master.key"), kept.join("master.key"))?;
    std::fs::copy(folder.path().join("key"), kept.join("sqlite.key"))?;

    let url = tokio::task::spawn_blocking(postgres::fresh_url).await?;
    installation.database_url = Some(url.clone());
    fill(&installation).await?;
    std::fs::copy(folder.path().join("key"), kept.join("postgres.key"))?;
    let dump = tokio::task::spawn_blocking(move || postgres::dump(&url)).await?;
    write(&kept.join("postgres.sql.gz"), &dump)
}

/// A row in each of the tables that people would miss.
async fn fill(installation: &Installation) -> anyhow::Result<()> {
    let process = installation.serve(&["kept_run"]).await;
    post(
        &process,
        "/v1/tools/kept_run/execute",
        json!({ "arguments": {} }),
    )
    .await?;
    let skill =
        json!({ "name": "Kept", "summary": "Of an earlier version.", "instructions": "Read." });
    post(&process, "/v1/skills", skill).await?;
    let document =
        json!({ "title": "Kept", "media_type": "text/plain", "content": "A kept sentence." });
    post(&process, "/v1/knowledge/documents", document).await?;
    let webhook = json!({ "url": "https://hooks.example.com/kept", "events": ["skill.*"] });
    post(&process, "/v1/webhooks", webhook).await?;
    // SIGTERM writes what is queued and takes the log into the database.
    process.signal("TERM").await;
    process.ended().await;
    Ok(())
}

async fn post(process: &Process, path: &str, body: serde_json::Value) -> anyhow::Result<()> {
    let answer = process.post(path, &body).await;
    ensure!(
        answer.status < 300,
        "{path}: {} {}",
        answer.status,
        answer.text
    );
    Ok(())
}

fn write(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let mut gzip = Command::new("gzip")
        .args(["-9", "--no-name"])
        .stdin(Stdio::piped())
        .stdout(std::fs::File::create(file)?)
        .spawn()?;
    gzip.stdin.take().context("a pipe")?.write_all(bytes)?;
    ensure!(gzip.wait()?.success(), "gzip");
    Ok(())
}
