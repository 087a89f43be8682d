//! What a script sees, as TypeScript declarations: the services with their tools, and the gateway's own functions.
//!
//! A model reads them, so they are short. Tools are hostile: no text of one leaves the comment or the literal that it
//! stands in ([`text`]), and no schema makes a declaration longer than [`DECLARATION_BYTES_MAX`].

mod text;
mod types;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use serde_json::Value;

use super::Tool;
use super::manifest::Effect;
use super::script_names::{is_script_global, script_function};
use text::{comment, method, property};
use types::{ANY_OBJECT, type_text};

/// Declaration of one tool. Of one that would be longer the result is `unknown`, and if that is not enough, its arguments
/// are `Record<string, unknown>`.
pub const DECLARATION_BYTES_MAX: usize = 32 << 10;
/// Name and comment of a tool.
const HEAD_BYTES_MAX: usize = 4 << 10;
/// Description of one tool.
const DESCRIPTION_CHARS_MAX: usize = 300;
/// Why a tool is deprecated.
const DEPRECATION_CHARS_MAX: usize = 120;

/// The functions and values of the gateway.
const OWN: &str = r#"// A script is an ES module with top-level await. Its result is its default export or, if that is a function, what
// `await` of it with `args` gives. Each call of a tool is an execution of its own; a call that fails throws a ToolError.
/** The arguments of the run, frozen. */
declare const args: any;
interface ToolError extends Error { name: "ToolError"; code: string; canRetry: boolean; connectUrl: string | null; tool: string }
/** Finds tools by words. */
declare function search(query: string, options?: { limit?: number; services?: string[] }): Promise<any>;
/** The schema of a tool, by its whole name. */
declare function describe(tool: string): Promise<any>;
declare const skills: { get(name: string): Promise<any> };
/** At most 60,000 ms. */
declare function sleep(ms: number): Promise<void>;
declare function progress(done: number, total?: number, message?: string): void;
declare function log(...values: unknown[]): void;
interface Console { log(...values: unknown[]): void; info(...values: unknown[]): void; warn(...values: unknown[]): void; error(...values: unknown[]): void }
declare var console: Console;
"#;

/// TypeScript declarations of these tools, one object for each service, and of what else a script sees. Sorted by name;
/// compiles under `tsc --strict` without the types of browsers (`--lib es2022`).
pub fn declarations<'a>(tools: impl IntoIterator<Item = &'a Tool>) -> String {
    let mut services: BTreeMap<&str, BTreeMap<&str, &Tool>> = BTreeMap::new();
    for tool in tools {
        let of_service = services.entry(tool.service()).or_default();
        of_service.insert(tool.action(), tool);
    }
    let mut whole = OWN.to_owned();
    let mut members = String::new();
    for (service, tools) in &services {
        if is_script_global(service) {
            let object = service_object(service, tools, 0);
            let _ = writeln!(whole, "declare const {service}: {object};");
            let _ = writeln!(members, "  {service}: typeof {service};");
        } else {
            let object = service_object(service, tools, 1);
            let _ = writeln!(members, "  {}: {object};", property(service));
        }
    }
    let _ = match members.is_empty() {
        true => writeln!(whole, "declare const tools: {{}};"),
        false => writeln!(whole, "declare const tools: {{\n{members}}};"),
    };
    whole
}

/// The type of a service's object, whose closing brace has this indentation.
fn service_object(service: &str, tools: &BTreeMap<&str, &Tool>, indent: usize) -> String {
    let mut with_name: HashMap<String, usize> = HashMap::new();
    for tool in tools.values() {
        let camel = script_function(service, &tool.name);
        *with_name.entry(camel).or_default() += 1;
    }
    let mut object = "{\n".to_owned();
    for (action, tool) in tools {
        let camel = script_function(service, &tool.name);
        // What two tools could be called is the name of neither.
        let name: &str = match with_name.get(&camel) {
            Some(1) => &camel,
            _ => action,
        };
        object.push_str(&declaration(name, tool, indent + 1));
    }
    object.push_str(&"  ".repeat(indent));
    object.push('}');
    object
}

/// One function with its comment.
fn declaration(name: &str, tool: &Tool, indent: usize) -> String {
    let margin = "  ".repeat(indent);
    let mut head = format!("{margin}/** {} */\n{margin}", about(tool));
    head.push_str(&method(name));
    let room = DECLARATION_BYTES_MAX - HEAD_BYTES_MAX;
    let arguments = arguments(tool, room, indent);
    let left = room.saturating_sub(arguments.len());
    let result = tool.output_schema.as_ref();
    let result = result.and_then(|schema| serde_json::from_str(schema.get()).ok());
    let is_object = |schema: &Value| schema.get("type").and_then(Value::as_str) == Some("object");
    let has_fields = result.as_ref().is_some_and(is_object);
    let result = result.and_then(|schema: Value| type_text(&schema, left, indent));
    let result = result.map_or_else(|| "unknown".to_owned(), |result| result.text);
    let result = match tool.spec().paginated {
        true => page(&result, has_fields),
        false => result,
    };
    format!("{head}({arguments}): Promise<{result}>;\n")
}

/// A page of results. A script finds the cursor of the next one among the members of an object, and beside any other
/// result.
fn page(result: &str, has_fields: bool) -> String {
    if has_fields {
        format!("({result}) & {{ next_cursor: string | null }}")
    } else {
        format!("{{ result: {result}; next_cursor: string | null }}")
    }
}

/// The parameter of a function: none where the tool takes nothing, optional where everything in it is.
fn arguments(tool: &Tool, bytes_max: usize, indent: usize) -> String {
    let Ok(schema) = serde_json::from_str::<Value>(tool.input_schema.get()) else {
        return format!("args: {ANY_OBJECT}");
    };
    let has = |word: &str| schema.get(word).is_some();
    let combined = ["$ref", "allOf", "anyOf", "oneOf"].into_iter().any(has);
    let mark = if combined || !tool.required.is_empty() || has("minProperties") {
        ""
    } else {
        "?"
    };
    let Some(written) = type_text(&schema, bytes_max, indent) else {
        return format!("args{mark}: {ANY_OBJECT}");
    };
    let named = schema.get("properties").and_then(Value::as_object);
    let open = matches!(
        schema.get("additionalProperties"),
        Some(Value::Bool(true) | Value::Object(_))
    );
    let takes_nothing = named.is_none_or(serde_json::Map::is_empty)
        && !open
        && !has("patternProperties")
        && mark == "?";
    if takes_nothing {
        return String::new();
    }
    format!("args{mark}: {}", written.text)
}

/// What a tool does, in one line.
fn about(tool: &Tool) -> String {
    let spec = tool.spec();
    let mut line = comment(tool.description(), DESCRIPTION_CHARS_MAX);
    if line.is_empty() {
        line = comment(
            spec.title.as_deref().unwrap_or_default(),
            DESCRIPTION_CHARS_MAX,
        );
    }
    if !line.is_empty() && !line.ends_with(['.', '!', '?']) {
        line.push('.');
    }
    let mut say = |note: &str| {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(note);
    };
    match tool.effect() {
        Effect::Read => {}
        Effect::Write => say("Effect: write."),
        Effect::Destructive => say("Effect: destructive."),
    }
    if spec.paginated {
        say("Paginated: pass `next_cursor` as `cursor` until it is null.");
    }
    if let Some(note) = &spec.deprecated {
        let note = comment(note, DEPRECATION_CHARS_MAX);
        say(&format!("Deprecated: {note}"));
    }
    line
}
