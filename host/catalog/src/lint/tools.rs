//! Tools: names, texts, schemas, and what they need.

use std::collections::HashSet;

use serde_json::Value;

use super::{Lint, ManifestPath, NAME_RULE, auth, defaults, is_name, schema, text};
use crate::described::{DeclaredRequest, SEND_BYTES_MAX, WITH_BYTES_MAX, WITH_MAX};
use crate::manifest::{ConfigKey, Effect, Manifest, Slot, ToolSpec};
use crate::mcp_calls::{self, MCP};
use crate::queries::{NamedQuery, QUERIES_MAX, QueryBase};
use crate::statements::statement_argument;
use crate::verbs::{CallNames, VerbPlace, changing_verb};
use crate::{arguments, hosts};

/// Most tools of one manifest.
pub const TOOLS_MAX: usize = 2_000;
/// Longest `<service>_<action>`, in characters.
pub const TOOL_NAME_CHARS_MAX: usize = 64;
const DESCRIPTION_CHARS_MAX: usize = 4_000;
const KEYWORDS_MAX: usize = 32;
/// What people say when they want a tool: so many texts.
const REQUESTS_MAX: usize = 8;
const REQUEST_CHARS_MAX: usize = 120;
const EXAMPLES_MAX: usize = 10;
const EXAMPLE_BYTES_MAX: usize = 16 * 1024;
/// Search inlines schemas up to this many bytes in all; a larger one never is.
const INLINED_BYTES_MAX: usize = 24_000;
/// Advice about arguments stops here for one tool.
const ADVICE_MAX: usize = 5;

/// Names that promise to change nothing, and names that promise to remove.
const READING: &[&str] = &[
    "get", "list", "search", "find", "read", "fetch", "count", "lookup", "query",
];
const REMOVING: &[&str] = &["delete", "remove", "destroy", "purge", "erase", "drop"];

pub(super) fn check(manifest: &Manifest, found: &mut Lint) {
    let root = ManifestPath::Root;
    let at = root.key("tools");
    match manifest.tools.len() {
        0 => found.error(&at, "the plugin offers no tool"),
        count if count > TOOLS_MAX => {
            found.error(
                &at,
                format!("{count} tools; at most {TOOLS_MAX} are accepted in one plugin: choose the operations that are needed, or split the service"),
            );
            return;
        }
        _ => {}
    }
    let mut seen = HashSet::new();
    let mut descriptions = HashSet::new();
    for (i, tool) in manifest.tools.iter().enumerate() {
        let at = at.index(i);
        if !seen.insert(tool.name.as_str()) {
            found.error(
                &at.key("name"),
                format!("the tool `{}` is declared twice", text::shown(&tool.name)),
            );
        }
        if !tool.description.is_empty() && !descriptions.insert(tool.description.as_str()) {
            found.warn(
                &at.key("description"),
                "another tool has the same description; say what differs",
            );
        }
        one(manifest, tool, found, &at);
    }
    for slot in &manifest.auth {
        if !manifest
            .tools
            .iter()
            .any(|tool| tool.auth.contains(&slot.slot))
        {
            found.warn(
                &root.key("auth"),
                format!("no tool uses the slot `{}`", text::shown(&slot.slot)),
            );
        }
    }
}

fn one(manifest: &Manifest, tool: &ToolSpec, found: &mut Lint, at: &ManifestPath<'_>) {
    name(manifest, tool, found, at);
    texts(tool, found, at);
    describes_itself(tool, found, at);
    effect(tool, found, at);
    queries(manifest, tool, found, at);
    request(manifest, tool, found, at);
    needs(manifest, tool, found, at);
    schemas(tool, found, at);
}

fn name(manifest: &Manifest, tool: &ToolSpec, found: &mut Lint, at: &ManifestPath<'_>) {
    let at = at.key("name");
    let shown = text::shown(&tool.name);
    if !is_name(&tool.name) {
        found.error(&at, format!("the tool name `{shown}` must {NAME_RULE}"));
    }
    let chars = manifest.service.chars().count() + 1 + tool.name.chars().count();
    if chars > TOOL_NAME_CHARS_MAX {
        found.error(
            &at,
            format!(
                "`{}_{shown}` has {chars} characters; models accept at most {TOOL_NAME_CHARS_MAX}",
                text::shown(&manifest.service)
            ),
        );
    }
    let rest = tool.name.strip_prefix(manifest.service.as_str());
    if rest.is_some_and(|rest| rest.starts_with('_')) {
        found.warn(
            &at,
            format!("`{shown}` repeats the service, which is prefixed anyway"),
        );
    }
}

fn texts(tool: &ToolSpec, found: &mut Lint, at: &ManifestPath<'_>) {
    if let Some(title) = &tool.title {
        text::check(found, &at.key("title"), "title", title, 1, 100);
    }
    text::check(
        found,
        &at.key("description"),
        "description",
        &tool.description,
        1,
        DESCRIPTION_CHARS_MAX,
    );
    let keywords = at.key("keywords");
    if tool.keywords.len() > KEYWORDS_MAX {
        found.error(&keywords, format!("at most {KEYWORDS_MAX} keywords"));
    }
    for (i, keyword) in tool.keywords.iter().take(KEYWORDS_MAX).enumerate() {
        text::check(found, &keywords.index(i), "keyword", keyword, 1, 64);
    }
    let requests = at.key("requests");
    if tool.requests.len() > REQUESTS_MAX {
        found.error(&requests, format!("at most {REQUESTS_MAX} requests"));
    }
    for (i, request) in tool.requests.iter().take(REQUESTS_MAX).enumerate() {
        let at = requests.index(i);
        text::check(found, &at, "request", request, 1, REQUEST_CHARS_MAX);
    }
    if let Some(note) = &tool.deprecated {
        let at = at.key("deprecated");
        text::check(found, &at, "deprecation note", note, 1, 500);
    }
}

fn schemas(tool: &ToolSpec, found: &mut Lint, at: &ManifestPath<'_>) {
    let (input, arguments) = (at.key("input"), tool.input.value());
    let usable = schema::check(found, &input, &arguments);
    if arguments.get("type").and_then(Value::as_str) != Some("object") {
        found.error(
            &input,
            "arguments are an object: the schema needs `\"type\": \"object\"` at the top",
        );
    }
    if let Some(output) = &tool.output {
        schema::check(found, &at.key("output"), &output.value());
    }
    if usable {
        arguments_advice(tool, &arguments, found, &input);
        defaults::check(&arguments, found, &input);
        examples(tool, &arguments, found, at);
    }
}

fn describes_itself(tool: &ToolSpec, found: &mut Lint, at: &ManifestPath<'_>) {
    let at = at.key("description");
    let chars = tool.description.chars().count();
    if (1..20).contains(&chars) {
        found.warn(
            &at,
            "say in a sentence what the tool does and answers; agents choose by it",
        );
    }
    if chars > 1_024 {
        found.warn(&at, "over 1,024 characters, some clients cut a description");
    }
    if tool.title.as_deref() == Some(tool.description.as_str()) {
        found.warn(&at, "the description only repeats the title");
    }
}

fn effect(tool: &ToolSpec, found: &mut Lint, at: &ManifestPath<'_>) {
    let verb = tool.name.split('_').next().unwrap_or_default();
    let at = at.key("effect");
    if REMOVING.contains(&verb) && tool.effect != Effect::Destructive {
        found.warn(
            &at,
            format!("`{verb}` removes something; the effect should be `destructive`"),
        );
    }
    if READING.contains(&verb) && tool.effect == Effect::Destructive {
        found.warn(
            &at,
            format!("`{verb}` promises to change nothing; the effect says otherwise"),
        );
    }
    if tool.effect != Effect::Read {
        return;
    }
    let call = CallNames {
        id: Some(&tool.name),
        summary: tool.title.as_deref(),
        ..CallNames::default()
    };
    if let Some(changing) = changing_verb(&call) {
        let place = match changing.place {
            VerbPlace::Summary => "title",
            VerbPlace::Name | VerbPlace::Path | VerbPlace::Query => "name",
        };
        let verb = text::shown(&changing.verb);
        found.warn(
            &at,
            format!("`{verb}` in the {place} changes something; a tool declared `read` runs without asking anyone"),
        );
    }
    let said = format!(
        "{} {}",
        tool.title.as_deref().unwrap_or_default(),
        tool.description
    );
    if let Some(statement) = statement_argument(&tool.input.value(), &said) {
        let argument = text::shown(&statement.argument);
        found.warn(
            &at,
            format!(
                "`{argument}` looks like a statement that the service executes; say by `pattern` or `enum` which \
                 ones are accepted, or declare the tool `destructive`"
            ),
        );
    }
}

fn needs(manifest: &Manifest, tool: &ToolSpec, found: &mut Lint, at: &ManifestPath<'_>) {
    let slots: Vec<&Slot> = manifest
        .auth
        .iter()
        .filter(|slot| tool.auth.contains(&slot.slot))
        .collect();
    for (i, name) in tool.auth.iter().enumerate() {
        if !manifest.auth.iter().any(|slot| slot.slot == *name) {
            found.error(
                &at.key("auth").index(i),
                format!("`{}` is not a slot of `auth`", text::shown(name)),
            );
        }
        if tool.auth[..i].contains(name) {
            found.error(
                &at.key("auth").index(i),
                format!("`{}` is listed twice", text::shown(name)),
            );
        }
    }
    let separator = slots
        .first()
        .map_or(" ", |slot| slot.scope_separator.as_str());
    auth::scopes(&tool.scopes, separator, found, &at.key("scopes"));
    if tool.auth.is_empty() && !tool.scopes.is_empty() {
        found.error(
            &at.key("scopes"),
            "scopes without a slot in `auth` mean nothing",
        );
    }
    if tool.auth.is_empty() && tool.auth_optional {
        found.warn(
            &at.key("auth_optional"),
            "the tool uses no slot, so there is nothing optional",
        );
    }
}

/// What a reading tool sends besides GET and HEAD: a few places that the manifest names anyway.
fn queries(manifest: &Manifest, tool: &ToolSpec, found: &mut Lint, at: &ManifestPath<'_>) {
    let at = at.key("queries");
    if !tool.queries.is_empty() && tool.effect != Effect::Read {
        found.error(
            &at,
            "only a tool declared `read` names queries; one that changes something may send any method",
        );
    }
    if tool.queries.len() > QUERIES_MAX {
        found.error(&at, format!("at most {QUERIES_MAX} queries"));
    }
    let mut seen = HashSet::new();
    for (i, entry) in tool.queries.iter().take(QUERIES_MAX).enumerate() {
        let at = at.index(i);
        if !seen.insert(entry) {
            found.error(&at, format!("`{}` is listed twice", text::shown(entry)));
        }
        let query = match NamedQuery::parse(entry) {
            Ok(query) => query,
            Err(why) => {
                found.error(
                    &at,
                    format!("`{}` is not a query: {why}", text::shown(entry)),
                );
                continue;
            }
        };
        let known = match query.base {
            QueryBase::Host(host) => manifest.hosts.iter().any(|own| hosts::covers(own, host)),
            QueryBase::Named(name) => holds_address(manifest, name),
        };
        if !known {
            found.error(
                &at,
                format!(
                    "`{}` is at none of `hosts`, and no setting or parameter holds its address",
                    text::shown(entry)
                ),
            );
        }
    }
}

/// Whether a setting or parameter of this name may hold an address.
fn holds_address(manifest: &Manifest, name: &str) -> bool {
    let setting = |key: &ConfigKey| key.adds_host && key.key == name;
    manifest.config.iter().any(setting)
        || manifest.parameters.iter().any(|own| own.key == name)
        || manifest
            .auth
            .iter()
            .any(|slot| slot.token_parameters.contains_key(name))
}

/// The request of a described tool: bounded, readable, at a host of the manifest.
fn request(manifest: &Manifest, tool: &ToolSpec, found: &mut Lint, at: &ManifestPath<'_>) {
    let Some(request) = &tool.request else {
        return;
    };
    let at = at.key("request");
    text::check(
        found,
        &at.key("send"),
        "request",
        &request.send,
        1,
        SEND_BYTES_MAX,
    );
    let with = at.key("with");
    if request.with.len() > WITH_MAX {
        found.error(&with, format!("at most {WITH_MAX} entries"));
    }
    for (i, entry) in request.with.iter().take(WITH_MAX).enumerate() {
        text::check(found, &with.index(i), "entry", entry, 1, WITH_BYTES_MAX);
    }
    match DeclaredRequest::parse(request) {
        Ok(read) => {
            if read.method == MCP && (mcp_calls::tool_of(request).is_none() || read.has_holes()) {
                let message = "a request of MCP has a whole address, and the server's name of the tool as the only entry of `with`";
                found.error(&at, message);
            }
            let known = match (read.host, read.setting) {
                (Some(host), _) => manifest.hosts.iter().any(|own| hosts::covers(own, host)),
                (None, Some(name)) => holds_address(manifest, name),
                (None, None) => false,
            };
            if !known {
                let message = "its address is at none of `hosts`, and no setting holds it";
                found.error(&at.key("send"), message);
            }
        }
        Err(why) => found.error(&at.key("send"), format!("is not a request: {why}")),
    }
}

fn arguments_advice(tool: &ToolSpec, schema: &Value, found: &mut Lint, at: &ManifestPath<'_>) {
    let bytes = tool.input.text().get().len();
    if bytes > INLINED_BYTES_MAX {
        found.warn(at, format!("the schema has {bytes} bytes; over {INLINED_BYTES_MAX} search can never show it inline"));
    }
    for keyword in ["anyOf", "oneOf", "allOf", "not"] {
        if schema.get(keyword).is_some() {
            found.warn(at, format!("`{keyword}` at the top is refused by some model providers; put it into a property"));
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties_at = at.key("properties");
    let mut advice = 0;
    for (name, property) in properties.into_iter().flatten() {
        let at = properties_at.key(name);
        let mut advise = |found: &mut Lint, message: &str| {
            advice += 1;
            if advice <= ADVICE_MAX {
                found.warn(&at, message);
            }
        };
        if property.get("description").is_none() && property.get("$ref").is_none() {
            advise(
                found,
                "describe this argument, so that it can be filled without other documentation",
            );
        }
        let typed = ["type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"];
        if property.is_object() && !typed.iter().any(|key| property.get(key).is_some()) {
            advise(found, "say which `type` this argument has");
        }
        if property.get("properties").is_some() && property.get("type").is_none() {
            advise(
                found,
                "models stumble over nested `properties` without `\"type\": \"object\"`",
            );
        }
    }
    for name in tool.input.required() {
        if !properties.is_some_and(|p| p.contains_key(name)) {
            found.warn(
                &at.key("required"),
                format!(
                    "`{}` is required but not described in `properties`",
                    text::shown(name)
                ),
            );
        }
    }
}

fn examples(tool: &ToolSpec, schema: &Value, found: &mut Lint, at: &ManifestPath<'_>) {
    let needs_arguments = tool.input.required().next().is_some();
    if tool.examples.is_empty() && needs_arguments {
        found.warn(at, "give one example of arguments in `examples`");
    }
    let at = at.key("examples");
    if tool.examples.len() > EXAMPLES_MAX {
        found.error(&at, format!("at most {EXAMPLES_MAX} examples"));
    }
    if tool.examples.is_empty() {
        return;
    }
    let Ok(validator) = arguments::compile(schema) else {
        return; // reported with the schema
    };
    for (i, example) in tool.examples.iter().take(EXAMPLES_MAX).enumerate() {
        if example.to_string().len() > EXAMPLE_BYTES_MAX {
            found.error(
                &at.index(i),
                format!("an example has at most {EXAMPLE_BYTES_MAX} bytes"),
            );
        } else if let Some(first) = arguments::violations(&validator, schema, example).first() {
            found.warn(
                &at.index(i),
                format!(
                    "the example does not fit the schema: {} {}",
                    first.path, first.message
                ),
            );
        }
    }
}
