//! `toolgate plugin new`: a description with an overlay to choose from, a remote MCP server, or a project in a language.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;
use serde::Serialize;

use super::output::OutputFormat;
use super::plugin_build::mcp::{way_out, write_plugin};
use super::plugin_project::{self, Lang};
use toolgate_mcp_upstream::account::AccountChoice;
use toolgate_mcp_upstream::client::ServerProblem;
use toolgate_mcp_upstream::compose::TOOLS_DEFAULT_MAX;
use toolgate_mcp_upstream::{ComposedServer, ServerSource};
use toolgate_openapi as openapi;

/// Start a plugin folder: from an OpenAPI description, or as a project in Rust, JavaScript or Python
///
/// `toolgate plugin new --openapi notes.yaml` keeps the description beside an overlay to choose from.
/// `toolgate plugin new --lang rust notes` writes a project that builds as it is: sources, tests, examples.
#[derive(Debug, Args)]
pub(super) struct New {
    /// A description: a file, or an https address that is fetched once
    #[arg(long, value_name = "FILE_OR_URL", required_unless_present_any = ["lang", "from"])]
    openapi: Option<String>,
    /// An address of a remote MCP server or of an OpenAPI description: which of the two it is, is found out
    #[arg(long, value_name = "URL", conflicts_with_all = ["openapi", "lang"])]
    from: Option<String>,
    /// Language of a new project
    #[arg(long, conflicts_with = "openapi", requires = "name")]
    lang: Option<Lang>,
    /// Service name of a new project
    #[arg(requires = "lang")]
    name: Option<String>,
    /// Service name in place of the derived one
    #[arg(long, value_name = "NAME", conflicts_with = "lang")]
    service: Option<String>,
    /// Folder of the package toolgate-sdk for a project in Rust, in place of the copy that comes with it
    #[arg(long, value_name = "PATH", requires = "lang")]
    sdk: Option<PathBuf>,
    /// Folder in which the plugin's folder is made
    #[arg(long, value_name = "DIR", default_value = "plugins")]
    into: PathBuf,
}

/// What `plugin new` made.
#[derive(Debug, Serialize)]
struct NewProject {
    folder: PathBuf,
    description: PathBuf,
    overlay: PathBuf,
    operations: usize,
}

impl New {
    pub(super) async fn run(self, output: OutputFormat) -> anyhow::Result<()> {
        if let (Some(lang), Some(name)) = (self.lang, &self.name) {
            if self.sdk.is_some() && lang != Lang::Rust {
                bail!(
                    "--sdk is only valid for a project in Rust; others contain a copy of their SDK"
                );
            }
            let project = plugin_project::write(lang, name, &self.into, self.sdk.as_deref())?;
            return output.print(&project, plugin_project::Project::text);
        }
        let source = match self.from {
            Some(url) => match mcp_server(&url, self.service.clone()).await? {
                AddressKind::Mcp { composed, source } => {
                    let report = write_plugin(&composed, &source, None).await?;
                    return output.print(&report, |report| report.text(false));
                }
                AddressKind::Other => url,
            },
            None => self.openapi.context("name a description with --openapi")?,
        };
        let text = match source.strip_prefix("https://") {
            Some(_) => fetch(&source).await?,
            None if source.contains("://") => {
                bail!("only files and https addresses are read")
            }
            None => std::fs::read_to_string(&source)
                .with_context(|| format!("{source} cannot be read"))?,
        };
        let value = openapi::document::parse(&source, &text)?;
        let title = value
            .pointer("/info/title")
            .and_then(|title| title.as_str())
            .unwrap_or("service");
        let service = self
            .service
            .unwrap_or_else(|| openapi::words::service(title));
        let folder = self.into.join(&service);
        if folder.exists() {
            bail!("{} exists already", folder.display());
        }
        std::fs::create_dir_all(&folder)?;
        let json = text.trim_start().starts_with('{');
        let description = folder.join(if json { "source.json" } else { "source.yaml" });
        std::fs::write(&description, &text)?;
        let overlay = folder.join("overlay.yaml");
        let choices = operations(&value);
        std::fs::write(&overlay, overlay_text(&service, &choices))?;
        let made = NewProject {
            folder,
            description,
            overlay,
            operations: choices.len(),
        };
        output.print(&made, |made| {
            format!(
                "{} has {} operations.\n1. Keep the ones an agent needs in {}.\n2. toolgate plugin build {} --overlay {} -o plugins/dist/{service}.wasm",
                made.description.display(),
                made.operations,
                made.overlay.display(),
                made.description.display(),
                made.overlay.display(),
            )
        })
    }
}

/// What is at an address.
enum AddressKind {
    Mcp {
        composed: Box<ComposedServer>,
        source: ServerSource,
    },
    /// No MCP server; it may be a description.
    Other,
}

/// Asks an address as an MCP server is asked. A server that wants a sign-in is one too, which is an error here.
async fn mcp_server(url: &str, service: Option<String>) -> anyhow::Result<AddressKind> {
    let source = ServerSource {
        url: url.to_owned(),
        private: false,
        service,
        only: Default::default(),
        tools_max: TOOLS_DEFAULT_MAX,
        effects: Default::default(),
        account: AccountChoice::Discover,
    };
    let egress = way_out(Vec::new(), &[])?;
    match source.build(&egress, None, None).await {
        Ok(composed) => Ok(AddressKind::Mcp {
            composed: Box::new(composed),
            source,
        }),
        Err(cause) => match cause.downcast_ref::<ServerProblem>() {
            Some(ServerProblem::SignIn { .. }) => {
                let sentence = "this is an MCP server that asks for a sign-in: use `toolgate plugin build --mcp`";
                Err(cause.context(sentence))
            }
            _ if url.starts_with("https://") => Ok(AddressKind::Other),
            _ => Err(cause),
        },
    }
}

/// How `x-toolgate: operations` names each operation, with its summary.
fn operations(value: &serde_json::Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (path, item) in value
        .get("paths")
        .and_then(|paths| paths.as_object())
        .into_iter()
        .flatten()
    {
        for method in ["get", "post", "put", "patch", "delete"] {
            if let Some(operation) = item.get(method) {
                let text = |key: &str| operation.get(key).and_then(|text| text.as_str());
                let name = text("operationId").map_or_else(
                    || format!("{} {path}", method.to_uppercase()),
                    str::to_owned,
                );
                found.push((
                    name,
                    openapi::words::clean(text("summary").unwrap_or_default(), 80),
                ));
            }
        }
    }
    found
}

fn overlay_text(service: &str, operations: &[(String, String)]) -> String {
    let mut text = format!(
        "overlay: 1.0.0\ninfo: {{ title: {service} for toolgate, version: 1.0.0 }}\nactions:\n  - target: $\n    update:\n      x-toolgate:\n        service: {service}\n        operations:\n"
    );
    for (name, summary) in operations {
        let quoted = serde_json::Value::from(name.as_str());
        let comment = if summary.is_empty() {
            String::new()
        } else {
            format!("  # {summary}")
        };
        text.push_str(&format!("          - {quoted}{comment}\n"));
    }
    text
}

async fn fetch(url: &str) -> anyhow::Result<String> {
    let max = usize::try_from(openapi::document::FILE_BYTES_MAX)?;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .https_only(true)
        .timeout(std::time::Duration::from_secs(60))
        .redirect(reqwest::redirect::Policy::limited(3))
        .build()?;
    let mut answer = client.get(url).send().await?.error_for_status()?;
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > max {
            bail!("{url} is larger than {max} bytes");
        }
    }
    String::from_utf8(bytes).with_context(|| format!("{url} is not UTF-8 text"))
}
