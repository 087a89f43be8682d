//! What kind of project a folder holds, and how a component is made of it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, bail};
use serde_json::Value;
use tokio::process::Command;

use toolgate_openapi::{self as openapi, BuildInput};

/// The project of one plugin.
#[derive(Debug)]
pub(super) struct DevProject {
    folder: PathBuf,
    kind: ProjectKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ProjectKind {
    Rust,
    JavaScript,
    Python {
        source: PathBuf,
    },
    Description {
        file: PathBuf,
        overlay: Option<PathBuf>,
    },
}

impl DevProject {
    /// # Errors
    /// Where the folder holds nothing that a plugin can be made of.
    pub(super) fn detect(folder: &Path) -> anyhow::Result<Self> {
        let folder = folder
            .canonicalize()
            .with_context(|| format!("{} cannot be read", folder.display()))?;
        let has = |name: &str| folder.join(name).is_file();
        let kind = if has("Cargo.toml") {
            ProjectKind::Rust
        } else if has("package.json") {
            ProjectKind::JavaScript
        } else if has("pyproject.toml") {
            ProjectKind::Python {
                source: python_source(&folder)?,
            }
        } else {
            let names = [
                "openapi.yaml",
                "openapi.yml",
                "openapi.json",
                "source.yaml",
                "source.yml",
                "source.json",
            ];
            let Some(file) = names.into_iter().find(|name| has(name)) else {
                bail!(
                    "{} holds no plugin: neither Cargo.toml, package.json, pyproject.toml nor openapi.yaml; `toolgate plugin new` writes one",
                    folder.display()
                );
            };
            let overlay = folder.join("overlay.yaml");
            ProjectKind::Description {
                file: folder.join(file),
                overlay: overlay.is_file().then_some(overlay),
            }
        };
        Ok(Self { folder, kind })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What builds it.
    pub(super) fn tool(&self) -> &'static str {
        match self.kind {
            ProjectKind::Rust => "cargo build",
            ProjectKind::JavaScript => "npm run build",
            ProjectKind::Python { .. } => "toolgate_plugin.build",
            ProjectKind::Description { .. } => "toolgate plugin build",
        }
    }

    /// Builds the component; `scratch` is a file that the build may write. What the tools say goes to
    /// standard error as it comes.
    pub(super) async fn build(&self, scratch: &Path) -> anyhow::Result<Vec<u8>> {
        let built = match &self.kind {
            ProjectKind::Rust => self.build_rust().await?,
            ProjectKind::JavaScript => {
                let mut npm = Command::new("npm");
                npm.args(["run", "--silent", "build", "--", "-o"])
                    .arg(scratch);
                self.run(npm).await?;
                scratch.to_owned()
            }
            ProjectKind::Python { source } => {
                let own = self.folder.join(".venv/bin/python");
                let mut python = if own.is_file() {
                    Command::new(own)
                } else {
                    Command::new("python3")
                };
                python
                    .args(["-m", "toolgate_plugin.build"])
                    .arg(source)
                    .arg("-o")
                    .arg(scratch);
                if self.folder.join("sdk/toolgate_plugin").is_dir() {
                    python.env("PYTHONPATH", "sdk");
                }
                self.run(python).await?;
                scratch.to_owned()
            }
            ProjectKind::Description { file, overlay } => {
                let input = BuildInput {
                    description: file.clone(),
                    overlays: overlay.iter().cloned().collect(),
                    service: None,
                };
                let handle = tokio::runtime::Handle::current();
                let built =
                    tokio::task::spawn_blocking(move || handle.block_on(openapi::build(&input)));
                return Ok(built.await??.wasm);
            }
        };
        tokio::fs::read(&built)
            .await
            .with_context(|| format!("{} cannot be read", built.display()))
    }

    async fn run(&self, mut command: Command) -> anyhow::Result<()> {
        command
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(std::io::stderr())
            .kill_on_drop(true);
        let program = command
            .as_std()
            .get_program()
            .to_string_lossy()
            .into_owned();
        let status = command
            .status()
            .await
            .with_context(|| format!("{program} cannot be started"))?;
        if !status.success() {
            bail!("{} failed", self.tool());
        }
        Ok(())
    }

    /// The component that cargo says it has made, wherever its target folder is.
    async fn build_rust(&self) -> anyhow::Result<PathBuf> {
        let mut cargo = Command::new("cargo");
        cargo
            .args(["build", "--message-format", "json-render-diagnostics"])
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .kill_on_drop(true);
        let output = cargo.output().await.context("cargo cannot be started")?;
        if !output.status.success() {
            bail!("cargo build failed");
        }
        let messages = String::from_utf8_lossy(&output.stdout);
        let manifest = self.folder.join("Cargo.toml");
        component_of(&messages, &manifest).context(
            "cargo has made no .wasm file: the package needs `crate-type = [\"cdylib\"]` and a build for wasm32-unknown-unknown, as `toolgate plugin new --lang rust` writes it",
        )
    }
}

/// The file with a component among cargo's messages, of the package of this manifest.
fn component_of(messages: &str, manifest: &Path) -> Option<PathBuf> {
    let mut files = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        if message["reason"] != "compiler-artifact" {
            return None;
        }
        if message["manifest_path"].as_str().map(Path::new) != Some(manifest) {
            return None;
        }
        let files = message["filenames"].as_array()?;
        let wasm = files.iter().filter_map(Value::as_str);
        wasm.filter(|name| name.ends_with(".wasm"))
            .map(PathBuf::from)
            .next()
    });
    files.next_back()
}

/// The module that holds the plugin: the one in `src`, or the one with the name of the folder.
fn python_source(folder: &Path) -> anyhow::Result<PathBuf> {
    let entries = std::fs::read_dir(folder.join("src")).into_iter().flatten();
    let modules: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "py"))
        .collect();
    let named = |path: &&PathBuf| path.file_stem() == folder.file_name();
    match modules.as_slice() {
        [one] => Ok(one.clone()),
        all => all.iter().find(named).cloned().with_context(|| {
            format!(
                "{} has {} modules; the one with the plugin has the name of the folder",
                folder.join("src").display(),
                all.len()
            )
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_known_by_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let refused = DevProject::detect(folder.path()).unwrap_err().to_string();
        assert!(refused.contains("holds no plugin"), "{refused}");
        for (file, tool) in [
            ("openapi.yaml", "toolgate plugin build"),
            ("package.json", "npm run build"),
            ("Cargo.toml", "cargo build"),
        ] {
            std::fs::write(folder.path().join(file), "").unwrap();
            assert_eq!(DevProject::detect(folder.path()).unwrap().tool(), tool);
        }
    }

    #[test]
    fn the_component_is_the_one_of_this_package() {
        let messages = r#"{"reason":"compiler-artifact","manifest_path":"/a/sdk/Cargo.toml","filenames":["/a/t/libsdk.rlib"]}
{"reason":"compiler-artifact","manifest_path":"/a/Cargo.toml","filenames":["/a/t/notes.wasm"]}
{"reason":"build-finished","success":true}"#;
        let found = component_of(messages, Path::new("/a/Cargo.toml"));
        assert_eq!(found, Some(PathBuf::from("/a/t/notes.wasm")));
        assert_eq!(component_of(messages, Path::new("/b/Cargo.toml")), None);
    }
}
