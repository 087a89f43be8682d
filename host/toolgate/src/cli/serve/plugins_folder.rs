//! Whether there is a plugins folder: a gateway without one would serve nothing and not say why.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, bail};

pub(super) fn check(folder: &Path) -> anyhow::Result<()> {
    let shown = folder.display();
    match std::fs::read_dir(folder) {
        Ok(_) => Ok(()),
        Err(cause) if cause.kind() == ErrorKind::NotFound => bail!(
            "the plugins folder {shown} does not exist; name the folder of the *.wasm files with --plugins-dir, or make it: mkdir -p {shown}"
        ),
        Err(cause) => Err(cause).with_context(|| {
            format!("the plugins folder {shown} cannot be read; name another with --plugins-dir")
        }),
    }
}
