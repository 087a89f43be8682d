//! `toolgate docs`: the documentation as files, for a web server of one's own.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde_json::json;

use super::output::{OutputFormat, counted};

#[derive(Debug, Args)]
pub(super) struct Docs {
    /// Folder to write to; made if it is missing, files of the same names are replaced
    folder: PathBuf,
}

impl Docs {
    pub(super) fn run(self, output: OutputFormat) -> anyhow::Result<()> {
        let site = toolgate_http::guide::site(super::reference::pages());
        fs::create_dir_all(&self.folder)
            .with_context(|| format!("{} cannot be made", self.folder.display()))?;
        let mut written = 0;
        for (name, file) in site.files() {
            let path = self.folder.join(name);
            fs::write(&path, &file.bytes)
                .with_context(|| format!("{} cannot be written", path.display()))?;
            written += 1;
        }
        let index = self.folder.join("index.html");
        output.print(&json!({ "files": written, "index": index }), |_| {
            format!(
                "{} written. Open {}",
                counted(written, "file"),
                index.display()
            )
        })
    }
}
