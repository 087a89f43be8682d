//! `toolgate describe`: one tool and its arguments, for a person at a terminal.

use clap::Args;
use http::Method;
use serde_json::Value;

use super::gateway_client::{GatewayAddress, KEY_HELP, text};
use super::output::{OutputFormat, table};

#[derive(Debug, Args)]
#[command(after_help = KEY_HELP)]
pub(super) struct Describe {
    /// Exact name, as search prints it
    tool: String,
    #[command(flatten)]
    server: GatewayAddress,
}

impl Describe {
    pub(super) async fn run(self, output: OutputFormat) -> anyhow::Result<()> {
        let path = ["tools", &self.tool, "schema"];
        let schema = self.server.call(Method::GET, &path, &[], None).await?;
        output.print(&schema, shown)
    }
}

fn shown(tool: &Value) -> String {
    let name = text(tool, "name");
    let mut blocks = vec![format!("{name}\n{}", text(tool, "description"))];
    let schema = &tool["inputSchema"];
    let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
    let rows: Vec<Vec<String>> = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(argument, about)| {
            let needed = required.iter().any(|one| one == argument);
            vec![
                argument.clone(),
                kind(about),
                if needed { "required" } else { "" }.to_owned(),
                text(about, "description").to_owned(),
            ]
        })
        .collect();
    blocks.push(match rows.is_empty() {
        true => "It takes no arguments.".to_owned(),
        false => table(&["ARGUMENT", "TYPE", "", "DESCRIPTION"], &rows),
    });
    blocks.push(format!("Execute it: {}", example(name, tool, required)));
    blocks.join("\n\n")
}

/// The types of a schema, or what replaces them.
fn kind(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words
            .iter()
            .map(|word| {
                word.as_str()
                    .map_or_else(|| word.to_string(), str::to_owned)
            })
            .collect();
        return words.join("|");
    }
    match &schema["type"] {
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => {
            let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
            kinds.join("|")
        }
        _ => "any".to_owned(),
    }
}

/// A command with the tool's own first example, or with its required arguments to fill in.
fn example(name: &str, tool: &Value, required: &[Value]) -> String {
    let first = tool["examples"].as_array().and_then(|all| all.first());
    if let Some(arguments) = first.map(|one| one.get("arguments").unwrap_or(one))
        && arguments.as_object().is_some_and(|all| !all.is_empty())
    {
        let quoted = arguments.to_string().replace('\'', r"'\''");
        return format!("toolgate exec {name} --arguments '{quoted}'");
    }
    let mut command = format!("toolgate exec {name}");
    for argument in required.iter().filter_map(Value::as_str) {
        command.push_str(&format!(" {argument}=..."));
    }
    command
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_a_table_and_the_example_can_be_pasted() {
        let tool = json!({
            "name": "a_b", "description": "Does.",
            "inputSchema": {
                "properties": {"id": {"type": "integer", "description": "Which."}, "mode": {"enum": ["on", "off"]}},
                "required": ["id"],
            },
        });
        let text = shown(&tool);
        assert!(
            text.contains("id        integer  required  Which."),
            "{text}"
        );
        assert!(text.contains("on|off"), "{text}");
        assert!(text.ends_with("toolgate exec a_b id=..."), "{text}");
        let mut with = tool.clone();
        with["examples"] = json!([{"text": "it's"}]);
        let quoted = shown(&with);
        assert!(
            quoted.ends_with(r#"--arguments '{"text":"it'\''s"}'"#),
            "{quoted}"
        );
    }
}
