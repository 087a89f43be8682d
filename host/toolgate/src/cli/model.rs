//! `toolgate model`: the sentence model that search by meaning needs.

use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::Subcommand;
use serde::Serialize;

use super::output::OutputFormat;
use crate::config::{Config, shipped_model_dir};
use toolgate_search::embeddings::files::{self, FILES, ModelFile};
use toolgate_search::embeddings::quantize::quantize;

/// Where the model is published, under the names of [`files::PUBLISHED`].
const PUBLISHED: &str =
    "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main";
/// Longest silence of the server.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// Width of the progress bar.
const BAR: usize = 40;

#[derive(Debug, Subcommand)]
pub(super) enum ModelCommand {
    /// Fetch all-MiniLM-L6-v2 (91 MB, of which 23 MB are kept; Apache-2.0), or read it from a folder
    ///
    /// With it, search ranks by meaning too; a running gateway takes it up within seconds. Files are
    /// compared with their pinned SHA-256 before they are used, wherever they come from.
    Install {
        /// Folder that holds model.safetensors and tokenizer.json, instead of fetching them
        #[arg(long, value_name = "DIR", conflicts_with = "url")]
        from: Option<PathBuf>,
        /// Address below which the two files are published
        #[arg(long, value_name = "URL", default_value = PUBLISHED)]
        url: String,
    },
    /// Say whether the model is installed and whole
    Status,
}

/// What was installed, or found.
#[derive(Serialize)]
struct InstalledModel {
    folder: PathBuf,
    installed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl ModelCommand {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let mut folder = files::folder(&config.gateway.data_dir);
        if let Self::Install { from, url } = self {
            toolgate_gateway::make_private_dir(&config.gateway.data_dir)?;
            fs::create_dir_all(&folder)
                .with_context(|| format!("{} cannot be made", folder.display()))?;
            // The weights last: a gateway takes the model once both are there.
            for (published, installed) in files::PUBLISHED.iter().zip(&FILES) {
                let from = from.as_deref();
                install(published, installed, from, &url, &folder, output).await?;
            }
        }
        if files::look(&folder).is_none()
            && let Some(shipped) = shipped_model_dir()
        {
            folder = shipped;
        }
        let problem = files::verify(&folder).err().map(|cause| cause.to_string());
        let found = InstalledModel {
            folder,
            installed: problem.is_none(),
            problem,
        };
        output.print(&found, |found| match &found.problem {
            None => format!(
                "all-MiniLM-L6-v2 is installed in {}",
                found.folder.display()
            ),
            Some(problem) => {
                format!("Not installed: {problem}. `toolgate model install` brings it.")
            }
        })
    }
}

/// Brings one file under another name, judges it, and only then gives it its name.
async fn install(
    file: &ModelFile,
    installed: &ModelFile,
    from: Option<&Path>,
    url: &str,
    folder: &Path,
    output: OutputFormat,
) -> anyhow::Result<()> {
    let target = folder.join(installed.name);
    if files::verify_file(&target, installed).is_ok() {
        return Ok(());
    }
    let part = folder.join(format!("{}.part", file.name));
    match from {
        Some(from) => {
            let source = from.join(file.name);
            fs::copy(&source, &part)
                .with_context(|| format!("{} cannot be copied", source.display()))?;
        }
        None => {
            let url = format!("{}/{}", url.trim_end_matches('/'), file.name);
            let fetched = fetch(&url, file, &part, output).await;
            fetched.with_context(|| {
                format!("{url} was not fetched; fetch it elsewhere and use --from DIR")
            })?;
        }
    }
    if let Err(cause) = files::verify_file(&part, file) {
        fs::remove_file(&part)?;
        return Err(cause).with_context(|| format!("{} was not installed", file.name));
    }
    if file.name != installed.name {
        quantize_file(&part, installed)?;
    }
    fs::rename(&part, &target).with_context(|| format!("{} cannot be written", target.display()))
}

/// Makes the installed weights of the published ones, in their place.
fn quantize_file(path: &Path, installed: &ModelFile) -> anyhow::Result<()> {
    let quantized = quantize(&fs::read(path)?)?;
    fs::write(path, quantized).with_context(|| format!("{} cannot be written", path.display()))?;
    files::verify_file(path, installed).with_context(|| {
        format!(
            "{} came out otherwise than on other machines",
            installed.name
        )
    })
}

async fn fetch(
    url: &str,
    file: &ModelFile,
    part: &Path,
    output: OutputFormat,
) -> anyhow::Result<()> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let loopback = url::Url::parse(url)?
        .host_str()
        .is_some_and(|host| host == "127.0.0.1");
    let client = reqwest::Client::builder()
        // What counts is the pinned hash; a copy on this machine may be served plainly.
        .https_only(!loopback)
        .read_timeout(SILENCE_MAX)
        .redirect(reqwest::redirect::Policy::limited(5))
        .build()?;
    let mut answer = client.get(url).send().await?.error_for_status()?;
    let mut written = 0_u64;
    let mut into = io::BufWriter::new(fs::File::create(part)?);
    let shown = !output.json && io::stderr().is_terminal();
    while let Some(chunk) = answer.chunk().await? {
        written += chunk.len() as u64;
        ensure!(
            written <= file.bytes,
            "the answer is longer than the {} bytes of the file",
            file.bytes
        );
        into.write_all(&chunk)?;
        if shown {
            let _ = write!(io::stderr(), "\r{}", bar(file.name, written, file.bytes));
        }
    }
    if shown {
        let _ = writeln!(io::stderr());
    }
    into.flush()?;
    Ok(())
}

fn bar(name: &str, written: u64, all: u64) -> String {
    let done = (written * BAR as u64 / all.max(1)) as usize;
    format!(
        "{name:<18} [{}{}] {:>3} % of {} MB",
        "#".repeat(done),
        " ".repeat(BAR.saturating_sub(done)),
        written * 100 / all.max(1),
        all.div_ceil(1_000_000)
    )
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn the_bar_fills_with_what_was_written() {
        assert!(bar("x", 0, 2_000_000).contains(&format!("[{}]   0 % of 2 MB", " ".repeat(40))));
        assert!(bar("x", 2, 2).contains(&format!("[{}] 100 %", "#".repeat(40))));
    }
}
