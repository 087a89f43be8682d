//! `toolgate search`: tools of a running gateway, for a person at a terminal.

use clap::Args;
use http::Method;
use serde_json::Value;

use super::gateway_client::{GatewayAddress, KEY_HELP, text};
use super::output::{OutputFormat, counted};

/// Characters of a line of a description.
const LINE_CHARS: usize = 74;

#[derive(Debug, Args)]
#[command(after_help = KEY_HELP)]
pub(super) struct SearchCommand {
    /// What the tool should do, in your own words
    #[arg(required = true, value_name = "WORD")]
    query: Vec<String>,
    /// Only tools of this service
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
    /// How many tools to show, 1 to 100
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=100))]
    limit: u8,
    /// User that the tools would run for [default: the key's]
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    #[command(flatten)]
    server: GatewayAddress,
}

impl SearchCommand {
    pub(super) async fn run(self, output: OutputFormat) -> anyhow::Result<()> {
        let mut query = vec![
            ("query", self.query.join(" ")),
            ("limit", self.limit.to_string()),
        ];
        query.extend(self.service.map(|service| ("service", service)));
        query.extend(self.user.map(|user| ("user_id", user)));
        let path = ["tools", "search"];
        let found = self.server.call(Method::GET, &path, &query, None).await?;
        output.print(&found, shown)
    }
}

fn shown(found: &Value) -> String {
    let mut lines = Vec::new();
    let tools = found["tools"].as_array().map_or(&[][..], Vec::as_slice);
    match text(found, "confidence") {
        "none" if !tools.is_empty() => {
            lines.push("No tool seems to fit. The nearest:\n".to_owned())
        }
        "low" => lines.push("The right tool may be among these:\n".to_owned()),
        _ => {}
    }
    for tool in tools {
        let name = text(tool, "name");
        lines.push(format!("{name}  ({})", connection(tool)));
        lines.push(format!("    {}", first_line(text(tool, "description"))));
    }
    if tools.is_empty() {
        lines.push("No tool found.".to_owned());
    }
    let loading = found["plugins_loading"].as_u64().unwrap_or_default();
    if loading > 0 {
        let plugins = counted(usize::try_from(loading).unwrap_or(usize::MAX), "plugin");
        lines.push(format!(
            "\n{plugins} still loading: search again in a moment."
        ));
    }
    if let Some(first) = tools.first() {
        lines.push(format!(
            "\nArguments: toolgate describe {}",
            text(first, "name")
        ));
    }
    lines.join("\n")
}

fn connection(tool: &Value) -> String {
    let service = text(tool, "service");
    match text(tool, "connection") {
        "not_needed" => "no account needed".to_owned(),
        "connected" => "connected".to_owned(),
        "expired" => format!("connection expired: toolgate connect {service}"),
        "needs_setup" => format!("needs setup: toolgate service configure {service}"),
        _ => format!("not connected: toolgate connect {service}"),
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(LINE_CHARS) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_that_is_not_connected_says_how_to_connect() {
        let tool = |connection| json!({"name": "a_b", "service": "a", "connection": connection, "description": "Does.\nMore."});
        let text = shown(
            &json!({"confidence": "high", "tools": [tool("not_connected"), tool("not_needed")]}),
        );
        assert!(text.contains("toolgate connect a"), "{text}");
        assert!(text.contains("no account needed"), "{text}");
        assert!(
            text.contains("    Does.") && !text.contains("More"),
            "{text}"
        );
        assert!(text.ends_with("toolgate describe a_b"), "{text}");
    }

    #[test]
    fn a_long_description_is_cut_between_characters() {
        let cut = first_line(&"é".repeat(LINE_CHARS + 1));
        assert_eq!(cut.chars().count(), LINE_CHARS + 1, "{cut}");
        assert_eq!(first_line("short"), "short");
    }
}
