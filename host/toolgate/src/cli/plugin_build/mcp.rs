//! `toolgate plugin build --mcp`: from a remote MCP server to a plugin.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use serde::Serialize;

use crate::cli::output::{OutputFormat, counted};
use crate::cli::plugin_file::write_whole;
use crate::cli::secret_file::read_secret;
use toolgate_catalog::manifest::{AuthKind, Effect};
use toolgate_core::visible::visible_line;
use toolgate_egress::{AllowUpstream, Egress, EgressConfig};
use toolgate_mcp_upstream::account::{AccountChoice, SignInPlaces};
use toolgate_mcp_upstream::compose::TOOLS_DEFAULT_MAX;
use toolgate_mcp_upstream::{
    ComposedServer, SavedList, ServerNote, ServerSource, bake_beside, source_of,
};

/// Most tools and warnings that are printed without --notes.
const SHOWN_MAX: usize = 40;
/// Largest saved list, in bytes.
const SAVED_BYTES_MAX: u64 = 32 << 20;

/// The flags of `--mcp`.
#[derive(Debug, Args)]
pub(in crate::cli) struct McpArguments {
    /// Address of a remote MCP server that speaks Streamable HTTP, in place of a description
    #[arg(long = "mcp", value_name = "URL", group = "remote", conflicts_with_all = ["description", "all", "overlay", "strict"])]
    pub(super) url: Option<String>,
    /// A saved answer to `tools/list`, where the server cannot be asked
    #[arg(long, value_name = "FILE", requires = "url")]
    tools: Option<PathBuf>,
    /// The version of MCP that the server of --tools speaks
    #[arg(
        long,
        value_name = "VERSION",
        default_value = "2025-11-25",
        requires = "tools"
    )]
    protocol: String,
    /// Take this tool, query or mutation, by the server's name for it (repeatable) [default: all]
    #[arg(long, value_name = "TOOL", requires = "remote")]
    pub(super) only: Vec<String>,
    /// Most tools that are taken
    #[arg(long, value_name = "NUMBER", default_value_t = TOOLS_DEFAULT_MAX)]
    tools_max: usize,
    /// TOOL=read, TOOL=write or TOOL=destructive: what a tool does, in place of the server's hint (repeatable)
    #[arg(long, value_name = "TOOL=EFFECT", requires = "url", value_parser = parse_effect)]
    effect: Vec<(String, Effect)>,
    /// How users are known to the server: `auto` (what an MCP server publishes; `bearer` for GraphQL with --token-file),
    /// `none`, `bearer` (a token that each user enters) or `header:NAME` (a key that each user enters, sent in that header)
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = parse_account)]
    pub(super) auth: AccountChoice,
    /// Take an authorization server whose sign-in page is neither on its own site nor on that of its token endpoint
    #[arg(long, requires = "url")]
    allow_foreign_endpoints: bool,
    /// File with a token or key for asking the server now; it does not become part of the plugin
    #[arg(long, value_name = "FILE", requires = "remote")]
    pub(super) token_file: Option<PathBuf>,
    /// The server is in a private network: its address becomes a setting of the operator
    #[arg(long, requires = "remote")]
    pub(super) private: bool,
    /// Ask URL in place of HOST, as the gateway does that is started with the same flag (repeatable)
    #[arg(long, value_name = "HOST=URL", requires = "remote")]
    pub(super) allow_upstream: Vec<String>,
}

fn parse_effect(text: &str) -> Result<(String, Effect), String> {
    let (tool, effect) = text.rsplit_once('=').ok_or("an effect is TOOL=EFFECT")?;
    let effect = match effect {
        "read" => Effect::Read,
        "write" => Effect::Write,
        "destructive" => Effect::Destructive,
        _ => return Err("an effect is read, write or destructive".to_owned()),
    };
    Ok((tool.to_owned(), effect))
}

fn parse_account(text: &str) -> Result<AccountChoice, String> {
    match text.split_once(':') {
        None if text == "auto" => Ok(AccountChoice::Discover),
        None if text == "none" => Ok(AccountChoice::None),
        None if text == "bearer" => Ok(AccountChoice::Bearer),
        Some(("header", name)) if !name.is_empty() => Ok(AccountChoice::Header(name.to_owned())),
        _ => Err("use auto, none, bearer or header:NAME".to_owned()),
    }
}

/// One tool of the report.
#[derive(Debug, Serialize)]
struct BuiltTool {
    name: String,
    /// The server's own name.
    upstream: String,
    effect: Effect,
}

/// What became a plugin.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct McpReport {
    service: String,
    file: PathBuf,
    bytes: usize,
    protocol: String,
    tools: Vec<BuiltTool>,
    hosts: Vec<String>,
    /// Settings without which the plugin reaches nothing.
    settings: Vec<String>,
    /// `oauth2`, `bearer`, `api_key` or `none`.
    auth: &'static str,
    scopes: Vec<String>,
    /// Where users sign in and where the token is sent, as a sentence; absent without OAuth.
    #[serde(skip_serializing_if = "Option::is_none")]
    sign_in: Option<String>,
    /// That the authorization server is of another site than the MCP server.
    #[serde(skip_serializing_if = "Option::is_none")]
    sign_in_warning: Option<String>,
    notes: Vec<ServerNote>,
    warnings: Vec<String>,
    next: Vec<String>,
}

impl McpArguments {
    pub(super) async fn run(
        self,
        url: String,
        service: Option<String>,
        file: Option<PathBuf>,
        all_notes: bool,
        output: OutputFormat,
    ) -> anyhow::Result<()> {
        let account = match self.auth {
            AccountChoice::Discover if self.allow_foreign_endpoints => {
                AccountChoice::DiscoverForeign
            }
            chosen => chosen,
        };
        let source = ServerSource {
            url,
            private: self.private,
            service,
            only: BTreeSet::from_iter(self.only),
            tools_max: self.tools_max,
            effects: BTreeMap::from_iter(self.effect),
            account,
        };
        let token = self.token_file.as_deref().map(read_secret).transpose()?;
        let saved = self.tools.as_deref().map(read_saved).transpose()?;
        let saved = saved.as_deref().map(|text| SavedList {
            text,
            version: &self.protocol,
        });
        let egress = way_out(Vec::new(), &self.allow_upstream)?;
        let composed = source.build(&egress, token, saved).await?;
        let report = write_plugin(&composed, &source, file).await?;
        output.print(&report, |report| report.text(all_notes))
    }
}

/// The way to servers and their authorization servers, with the address policy of a gateway.
///
/// `settings`: allowed upstreams of the gateway's own settings; `flags`: those of the command.
pub(in crate::cli) fn way_out(
    settings: Vec<AllowUpstream>,
    flags: &[String],
) -> anyhow::Result<Egress> {
    let mut allow_upstreams = settings;
    for text in flags {
        let allowed =
            AllowUpstream::parse(text).with_context(|| format!("--allow-upstream {text}"))?;
        allow_upstreams.push(allowed);
    }
    let config = EgressConfig {
        allow_upstreams,
        ..EgressConfig::default()
    };
    Ok(Egress::new(config)?)
}

pub(in crate::cli) fn read_saved(file: &Path) -> anyhow::Result<String> {
    let size =
        std::fs::metadata(file).with_context(|| format!("{} cannot be read", file.display()))?;
    if size.len() > SAVED_BYTES_MAX {
        bail!("{} has more than {SAVED_BYTES_MAX} bytes", file.display());
    }
    std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))
}

/// Bakes the component and writes it. `file`: absent, `SERVICE.wasm`; one of another server that is there already is an
/// error.
pub(in crate::cli) async fn write_plugin(
    composed: &ComposedServer,
    source: &ServerSource,
    file: Option<PathBuf>,
) -> anyhow::Result<McpReport> {
    let manifest = &composed.manifest;
    let file = match file {
        Some(file) => file,
        None => derived_file(&manifest.service, source)?,
    };
    let wasm = bake_beside(composed.clone(), source.clone()).await?;
    write_whole(&file, &wasm)?;
    let slot = manifest.auth.first();
    let sign_in = slot.and_then(|slot| SignInPlaces::from_slot(slot, &source.url));
    let tools = manifest.tools.iter().map(|tool| BuiltTool {
        name: format!("{}_{}", manifest.service, tool.name),
        upstream: composed.table.tools[&tool.name].name.clone(),
        effect: tool.effect,
    });
    Ok(McpReport {
        service: manifest.service.clone(),
        bytes: wasm.len(),
        protocol: composed.table.version.clone(),
        tools: tools.collect(),
        hosts: manifest.hosts.clone(),
        settings: manifest.config.iter().map(|key| key.key.clone()).collect(),
        auth: slot.map_or("none", |slot| slot.kind.as_str()),
        scopes: slot.map(|slot| slot.scopes.clone()).unwrap_or_default(),
        sign_in: sign_in.as_ref().map(SignInPlaces::sentence),
        sign_in_warning: sign_in.as_ref().and_then(SignInPlaces::warning),
        notes: composed.notes.clone(),
        warnings: composed.warnings.clone(),
        next: next_steps(composed, source),
        file,
    })
}

/// `SERVICE.wasm`. The name may be the server's own, so a file that is there already is replaced only if it was built
/// from the same address.
fn derived_file(service: &str, source: &ServerSource) -> anyhow::Result<PathBuf> {
    let file = PathBuf::from(format!("{service}.wasm"));
    if std::fs::symlink_metadata(&file).is_err() {
        return Ok(file);
    }
    let made_of = std::fs::read(&file).ok().and_then(|wasm| source_of(&wasm));
    if made_of.is_none_or(|made_of| made_of.url != source.url) {
        let (file, url) = (file.display(), visible_line(&source.url));
        bail!(
            "{file} exists and was not built from {url}, so it is kept: choose another name with --service NAME, or \
             replace it with `toolgate plugin build --mcp {url} -o {file}`"
        );
    }
    Ok(file)
}

/// What the operator does before the first call.
fn next_steps(composed: &ComposedServer, source: &ServerSource) -> Vec<String> {
    let manifest = &composed.manifest;
    let service = &manifest.service;
    let mut next = vec!["put the file into the plugins folder of the gateway".to_owned()];
    for key in &manifest.config {
        next.push(format!(
            "toolgate service configure {service} --set {}={}",
            key.key, source.url
        ));
    }
    if manifest
        .auth
        .iter()
        .any(|slot| slot.kind == AuthKind::Oauth2)
    {
        next.push(format!(
            "toolgate service register {service}, or toolgate service configure {service} --client-id ID"
        ));
    }
    next
}

impl McpReport {
    pub(in crate::cli) fn text(&self, all: bool) -> String {
        let mut lines = vec![format!(
            "{}: {}, {} KB, MCP {}",
            self.file.display(),
            counted(self.tools.len(), "tool"),
            self.bytes.div_ceil(1000),
            self.protocol
        )];
        let shown = if all { usize::MAX } else { SHOWN_MAX };
        for tool in self.tools.iter().take(shown) {
            let effect = match tool.effect {
                Effect::Read => "read",
                Effect::Write => "write",
                Effect::Destructive => "destructive",
            };
            let own = visible_line(&tool.upstream);
            lines.push(format!("  {effect:<11} {} ({own})", tool.name));
        }
        if self.tools.len() > shown {
            lines.push(format!(
                "  and {} more; --notes prints all",
                self.tools.len() - shown
            ));
        }
        lines.push(match self.hosts.is_empty() {
            true => format!(
                "reaches only the address that you set as {}",
                self.settings.join(", ")
            ),
            false => format!("reaches only {}", self.hosts.join(", ")),
        });
        let mut account = format!("account: {}", self.auth);
        if !self.scopes.is_empty() {
            account.push_str(&format!(", scopes {}", self.scopes.join(" ")));
        }
        lines.push(account);
        // In front of the notes, of which a server can cause so many that the rest is not shown.
        lines.extend(self.sign_in.clone());
        let warning = self.sign_in_warning.iter();
        lines.extend(warning.map(|text| format!("warning {text}")));
        let notes = self.notes.iter();
        let notes =
            notes.map(|note| format!("{} {note}", if note.left_out { "left out" } else { "note" }));
        let warnings = self.warnings.iter().map(|text| format!("warning {text}"));
        let all_lines: Vec<String> = notes.chain(warnings).collect();
        lines.extend(all_lines.iter().take(shown).map(|line| format!("  {line}")));
        if all_lines.len() > shown {
            lines.push(format!(
                "  and {} more; --notes prints all",
                all_lines.len() - shown
            ));
        }
        for (number, step) in self.next.iter().enumerate() {
            lines.push(format!("{}. {step}", number + 1));
        }
        lines.join("\n")
    }
}
