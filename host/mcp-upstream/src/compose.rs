//! From what a server lists to a manifest and a table.
//!
//! Pure. A tool that the manifest's lint refuses is left out with that sentence, so that one bad tool does not keep the
//! others from serving; what the lint refuses of the whole is an error.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::account::{self, AccountChoice, ProtectedServer};
use super::address::RemoteAddress;
use super::client::ServerProblem;
use super::listing::ServerListing;
use super::notes::{ServerNote, ServerNotes, shown};
use super::tools::{MappedTool, ToolTerms};
use toolgate_catalog::lint::lint;
use toolgate_catalog::manifest::{
    Capability, DeclaredLimits, Effect, MANIFEST_VERSION, Manifest, Slot,
};
use toolgate_catalog::reserved::is_reserved;
use toolgate_mcp_wire::STATELESS_VERSION;
use toolgate_mcp_wire::message::{
    METHOD_HEADER, NAME_HEADER, PARAM_HEADER_PREFIX, SESSION_HEADER, VERSION_HEADER,
};
use toolgate_mcp_wire::table::UpstreamTable;
use toolgate_openapi::words;

/// Most tools of a server, unless its operator says more.
pub const TOOLS_DEFAULT_MAX: usize = 300;
const TITLE_CHARS_MAX: usize = 60;
/// Largest part of an answer that a call may need, in MiB.
const RESPONSE_MIB: u32 = 16;

/// What the operator says beside the server.
#[derive(Clone, Debug)]
pub struct ServerChoices {
    /// In place of the name that is made of the server's own.
    pub service: Option<String>,
    /// The server's names of the tools to take; empty: all.
    pub only: BTreeSet<String>,
    pub tools_max: usize,
    pub effects: BTreeMap<String, Effect>,
    pub account: AccountChoice,
    /// Whether the plugin was made before: a tool that was chosen then and that the server no longer lists is left out.
    /// Otherwise it is an error.
    pub again: bool,
}

/// The plugin of a server, before it is baked into a component.
#[derive(Clone, Debug)]
pub struct ComposedServer {
    pub manifest: Manifest,
    /// As the component's `describe` returns it and its custom section contains it.
    pub manifest_json: String,
    pub table: UpstreamTable,
    pub notes: Vec<ServerNote>,
    /// Advice of the manifest's lint.
    pub warnings: Vec<String>,
}

/// The service's name where nobody chose one: that of the title, without the words that are the gateway's own,
/// such as `mcp`.
fn service_name(title: &str) -> String {
    let name = words::service(title);
    let mut rest = name.as_str();
    while is_reserved(rest) {
        match rest.split_once('_') {
            Some((_, after)) if after.starts_with(|c: char| c.is_ascii_lowercase()) => rest = after,
            _ => return format!("remote_{rest}"),
        }
    }
    rest.to_owned()
}

/// Composes the plugin of a server. `protected`: where its users sign in.
pub fn compose(
    address: &RemoteAddress,
    listing: ServerListing,
    choices: &ServerChoices,
    protected: Option<&ProtectedServer>,
) -> Result<ComposedServer, ServerProblem> {
    let mut notes = listing.notes;
    let title = title(&listing.info, address);
    let service = match &choices.service {
        Some(name) => name.clone(),
        None => service_name(&title),
    };
    let slot = account::slot(address, &choices.account, protected, &title)?;
    let chosen = chosen(listing.tools, choices)?;
    let send = address.send();
    let terms = ToolTerms {
        service: &service,
        send: &send,
        slot: slot.as_ref().map(|slot| slot.slot.as_str()),
        effects: &choices.effects,
        headers: listing.version == STATELESS_VERSION,
    };
    let mapped = terms.map(&chosen, &mut notes);
    let about = AboutServer {
        service,
        title,
        version: words::version(
            listing
                .info
                .get("version")
                .and_then(Value::as_str)
                .unwrap_or_default(),
        ),
        homepage: homepage(&listing.info, address),
    };
    let mut manifest = about.manifest(address, slot);
    let kept = usable(&mut manifest, mapped, &mut notes);
    let found = lint(&manifest);
    if let Some(reason) = found.reason() {
        return Err(ServerProblem::Answer(format!(
            "no plugin can be made of the server: {reason}"
        )));
    }
    let table = UpstreamTable {
        address: address.table(),
        version: listing.version,
        slot: terms_slot(&manifest),
        tools: kept
            .into_iter()
            .map(|tool| (tool.spec.name, tool.upstream))
            .collect(),
    };
    let manifest_json =
        serde_json::to_string(&manifest).map_err(|why| ServerProblem::Answer(why.to_string()))?;
    Ok(ComposedServer {
        manifest,
        manifest_json,
        table,
        notes: notes.0,
        warnings: found.warnings.iter().map(ToString::to_string).collect(),
    })
}

fn terms_slot(manifest: &Manifest) -> Option<String> {
    manifest.auth.first().map(|slot| slot.slot.clone())
}

/// The tools that the operator wants, within the bound.
fn chosen(tools: Vec<Value>, choices: &ServerChoices) -> Result<Vec<Value>, ServerProblem> {
    let name = |tool: &Value| {
        tool.get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let listed: BTreeSet<String> = tools.iter().map(name).collect();
    let mut wanted = choices.only.iter().chain(choices.effects.keys());
    let missing = wanted.find(|name| !listed.contains(*name));
    if let Some(missing) = missing.filter(|_| !choices.again) {
        return Err(ServerProblem::Answer(format!(
            "the server lists no tool `{}`",
            shown(missing)
        )));
    }
    let mut tools = tools;
    if !choices.only.is_empty() {
        tools.retain(|tool| choices.only.contains(&name(tool)));
    }
    if tools.len() > choices.tools_max {
        return Err(ServerProblem::Answer(format!(
            "the server lists {} tools; at most {} are taken: choose some with --only NAME, or raise the bound with --tools-max",
            tools.len(),
            choices.tools_max
        )));
    }
    Ok(tools)
}

/// What the manifest says about the server as a whole.
struct AboutServer {
    service: String,
    title: String,
    version: String,
    homepage: String,
}

impl AboutServer {
    fn manifest(self, address: &RemoteAddress, slot: Option<Slot>) -> Manifest {
        let description = format!(
            "Tools of the MCP server {} at {}, with the names and descriptions that the server gives them.",
            self.title,
            address.host()
        );
        let sent = [SESSION_HEADER, VERSION_HEADER, METHOD_HEADER, NAME_HEADER];
        Manifest {
            manifest: MANIFEST_VERSION,
            service: self.service,
            config: address.config(&self.title),
            title: self.title,
            version: self.version,
            description,
            homepage: Some(self.homepage),
            categories: vec!["mcp".to_owned()],
            hosts: address.hosts(),
            request_headers: sent.iter().map(|name| (*name).to_owned()).collect(),
            response_headers: vec![SESSION_HEADER.to_owned()],
            response_types: Vec::new(),
            capabilities: vec![Capability::Egress, Capability::Blobs, Capability::Kv],
            auth: slot.into_iter().collect(),
            parameters: Vec::new(),
            limits: DeclaredLimits {
                response_mib: Some(RESPONSE_MIB),
                ..DeclaredLimits::default()
            },
            webhook: None,
            tools: Vec::new(),
        }
    }
}

/// Puts each tool into the manifest that the lint takes by itself.
fn usable(
    manifest: &mut Manifest,
    mapped: Vec<MappedTool>,
    notes: &mut ServerNotes,
) -> Vec<MappedTool> {
    let mut kept = Vec::new();
    for mut tool in mapped {
        manifest.tools = vec![tool.spec.clone()];
        let mut refused = refusal(manifest);
        if refused.is_some() && tool.spec.output.is_some() {
            // What a result looks like is advice; the arguments decide.
            manifest.tools[0].output = None;
            if refusal(manifest).is_none() {
                tool.spec.output = None;
                refused = None;
                notes.changed(
                    &tool.upstream.name,
                    "the schema of its result cannot be used and is left out",
                );
            }
        }
        match refused {
            Some(reason) => notes.left_out(&tool.upstream.name, reason),
            None => kept.push(tool),
        }
    }
    if kept.iter().any(|tool| !tool.upstream.headers.is_empty()) {
        manifest
            .request_headers
            .push(format!("{PARAM_HEADER_PREFIX}*"));
    }
    manifest.tools = kept.iter().map(|tool| tool.spec.clone()).collect();
    kept
}

/// What the lint says against the only tool of the manifest.
fn refusal(manifest: &Manifest) -> Option<String> {
    let found = lint(manifest);
    let of_tool = found
        .errors
        .into_iter()
        .find(|error| error.path.starts_with("/tools/0"));
    of_tool.map(|error| {
        let place = error
            .path
            .trim_start_matches("/tools/0")
            .trim_start_matches('/');
        format!("{place}: {}", error.message)
    })
}

fn title(info: &Map<String, Value>, address: &RemoteAddress) -> String {
    let text = |key: &str| info.get(key).and_then(Value::as_str);
    let named = text("title").or_else(|| text("name")).unwrap_or_default();
    let clean = words::clean(named, TITLE_CHARS_MAX);
    match clean.is_empty() {
        true => address.host().to_owned(),
        false => clean,
    }
}

fn homepage(info: &Map<String, Value>, address: &RemoteAddress) -> String {
    let said = info.get("websiteUrl").and_then(Value::as_str);
    let plain = |text: &&str| {
        text.starts_with("https://")
            && text.len() <= 400
            && text.bytes().all(|byte| byte.is_ascii_graphic())
    };
    said.filter(plain)
        .map_or_else(|| address.origin(), str::to_owned)
}

#[cfg(test)]
mod tests;
