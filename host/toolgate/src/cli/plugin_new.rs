//! `toolgate plugin new`: a description with an overlay to choose from, a remote server, or a project in a language.

mod start;

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;
use serde::Serialize;

use super::output::OutputFormat;
use super::plugin_build::build_graphql;
use super::plugin_build::graphql::introspect;
use super::plugin_build::mcp::{way_out, write_plugin};
use super::plugin_project::{self, Lang};
use start::StartedDescription;
use toolgate_egress::Egress;
use toolgate_mcp_upstream::account::AccountChoice;
use toolgate_mcp_upstream::client::ServerProblem;
use toolgate_mcp_upstream::compose::TOOLS_DEFAULT_MAX;
use toolgate_mcp_upstream::{ComposedServer, ServerSource};
use toolgate_openapi as openapi;
use toolgate_openapi::graphql::{DEPTH_DEFAULT, GraphqlAccount, GraphqlEndpoint, GraphqlInput};

/// Start a plugin folder: from a description, or as a project in Rust, JavaScript or Python
///
/// `toolgate plugin new --openapi notes.yaml` keeps the description beside an overlay to choose from.
/// `toolgate plugin new --lang rust notes` writes a project that builds as it is: sources, tests, examples.
#[derive(Debug, Args)]
pub(super) struct New {
    /// A description: a file, or an https address that is fetched once
    #[arg(long, value_name = "FILE_OR_URL", required_unless_present_any = ["lang", "from"])]
    openapi: Option<String>,
    /// The address of an MCP server, a GraphQL server or a description; a file with a description, a HAR archive or a
    /// `curl` command; or such a command itself: what it is, is found out
    #[arg(long, value_name = "URL_OR_FILE", conflicts_with_all = ["openapi", "lang"])]
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
    #[serde(skip)]
    service: String,
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
        let source = match &self.from {
            Some(from) if openapi::curl::is_command(from) => from.clone(),
            Some(url) if url.contains("://") => {
                match self.server(url, output).await? {
                    // A server became a plugin.
                    true => return Ok(()),
                    false => url.clone(),
                }
            }
            Some(file) => file.clone(),
            None => {
                let named = self.openapi.clone();
                named.context("name a description with --openapi")?
            }
        };
        let started = StartedDescription::read(&source, &text_of(&source).await?)?;
        output.print(&self.write(&started)?, NewProject::text)
    }

    /// Makes a plugin of a server at an address. False: no server that is known is there; it may be a description.
    async fn server(&self, url: &str, output: OutputFormat) -> anyhow::Result<bool> {
        match mcp_server(url, self.service.clone()).await? {
            AddressKind::Mcp { composed, source } => {
                let report = write_plugin(&composed, &source, None).await?;
                output.print(&report, |report| report.text(false))?;
            }
            AddressKind::Graphql(input) => {
                let place = |service: &str| PathBuf::from(format!("{service}.wasm"));
                let report = build_graphql(*input, place, false).await?;
                output.print(&report, |report| report.text(false))?;
            }
            AddressKind::Other => return Ok(false),
        }
        Ok(true)
    }

    /// The folder with the description and an overlay that lists its operations.
    fn write(&self, started: &StartedDescription) -> anyhow::Result<NewProject> {
        let title = started.value.pointer("/info/title");
        let title = title.and_then(|title| title.as_str()).unwrap_or("service");
        let service = self.service.clone();
        let service = service.unwrap_or_else(|| openapi::words::service(title));
        let folder = self.into.join(&service);
        if folder.exists() {
            bail!("{} exists already", folder.display());
        }
        std::fs::create_dir_all(&folder)?;
        let description = folder.join(started.file);
        std::fs::write(&description, &started.text)?;
        let overlay = folder.join("overlay.yaml");
        let choices = operations(&started.value);
        std::fs::write(&overlay, overlay_text(&service, &choices))?;
        Ok(NewProject {
            service,
            folder,
            description,
            overlay,
            operations: choices.len(),
        })
    }
}

impl NewProject {
    fn text(&self) -> String {
        let (description, overlay) = (self.description.display(), self.overlay.display());
        format!(
            "{description} has {} operations.\n1. Keep the ones an agent needs in {overlay}.\n2. toolgate plugin build \
             {description} --overlay {overlay} -o plugins/dist/{}.wasm",
            self.operations, self.service,
        )
    }
}

/// What is at an address, in a file, or the command itself.
async fn text_of(source: &str) -> anyhow::Result<String> {
    if openapi::curl::is_command(source) {
        return Ok(source.to_owned());
    }
    if source.starts_with("https://") {
        return fetch(source).await;
    }
    if source.contains("://") {
        bail!("only files and https addresses are read");
    }
    let size = std::fs::metadata(source).with_context(|| format!("{source} cannot be read"))?;
    if size.len() > openapi::document::FILE_BYTES_MAX {
        bail!(
            "{source} is larger than {} bytes",
            openapi::document::FILE_BYTES_MAX
        );
    }
    std::fs::read_to_string(source).with_context(|| format!("{source} cannot be read"))
}

/// What is at an address.
enum AddressKind {
    Mcp {
        composed: Box<ComposedServer>,
        source: ServerSource,
    },
    Graphql(Box<GraphqlInput>),
    /// No server that is known; it may be a description.
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
            _ if url.starts_with("https://") => {
                let input = graphql_server(&egress, url, source.service).await;
                Ok(input.map_or(AddressKind::Other, |input| {
                    AddressKind::Graphql(Box::new(input))
                }))
            }
            _ => Err(cause),
        },
    }
}

/// Asks an address for a GraphQL schema. `None`: it has none to give, or its name is that of a file.
async fn graphql_server(
    egress: &Egress,
    url: &str,
    service: Option<String>,
) -> Option<GraphqlInput> {
    let endpoint = GraphqlEndpoint::parse(url, false).ok()?;
    let of_a_file = [".json", ".yaml", ".yml", ".txt", ".graphql"];
    if of_a_file.iter().any(|end| endpoint.path().ends_with(end)) {
        return None;
    }
    let account = GraphqlAccount::None;
    let text = introspect(egress, &endpoint, None, &account).await.ok()?;
    Some(GraphqlInput {
        name: url.to_owned(),
        text,
        endpoint,
        service,
        only: Default::default(),
        depth: DEPTH_DEFAULT,
        account,
        overlays: Vec::new(),
    })
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
