//! Notion's blocks to Markdown.

use toolgate_sdk::Value;

use crate::rich_text::{to_markdown, to_plain};

/// Writes blocks as Markdown, four spaces for each level of nesting. Children stand where
/// [`crate::content`] put them: in the block's own content, under `children`.
pub fn lines_of(blocks: &[Value], depth: usize, out: &mut String) {
    let mut before = "";
    for block in blocks {
        let kind = block["type"].as_str().unwrap_or_default();
        let list = is_list(kind);
        let same_list = list && is_list(before);
        if depth == 0 && !same_list && !out.is_empty() {
            out.push('\n');
        }
        let content = &block[kind];
        write(kind, content, depth, out);
        before = kind;
    }
}

fn is_list(kind: &str) -> bool {
    matches!(
        kind,
        "bulleted_list_item" | "numbered_list_item" | "to_do" | "toggle"
    )
}

fn write(kind: &str, content: &Value, depth: usize, out: &mut String) {
    let text = to_markdown(&content["rich_text"]);
    let indent = "    ".repeat(depth);
    let mut line = |prefix: &str, text: &str| {
        for (index, one) in text.split('\n').enumerate() {
            let prefix = if index == 0 {
                prefix
            } else {
                continuation(prefix)
            };
            out.push_str(&format!("{indent}{prefix}{one}\n"));
        }
    };
    match kind {
        "paragraph" => line("", &text),
        "heading_1" => line("# ", &text),
        "heading_2" => line("## ", &text),
        "heading_3" | "heading_4" => line("### ", &text),
        "bulleted_list_item" | "toggle" => line("- ", &text),
        "numbered_list_item" => line("1. ", &text),
        "to_do" if content["checked"] == true => line("- [x] ", &text),
        "to_do" => line("- [ ] ", &text),
        "quote" | "callout" => line("> ", &text),
        "divider" => line("", "---"),
        "code" => {
            let language = match content["language"].as_str() {
                Some("plain text") | None => "",
                Some(language) => language,
            };
            let code = to_plain_or_content(&content["rich_text"]);
            line("", &format!("```{language}\n{code}\n```"));
        }
        "equation" => line(
            "",
            &format!("$${}$$", content["expression"].as_str().unwrap_or_default()),
        ),
        "child_page" | "child_database" => {
            line(
                "",
                &format!(
                    "[{kind}: {}]",
                    content["title"].as_str().unwrap_or_default()
                ),
            );
        }
        "table" => return table(content, &indent, out),
        "image" | "video" | "file" | "pdf" | "audio" => {
            let of = content["type"].as_str().unwrap_or_default();
            let url = content[of]["url"].as_str().unwrap_or_default();
            let bang = if kind == "image" { "!" } else { "" };
            line("", &format!("{bang}[{}]({url})", caption(content, kind)));
        }
        "bookmark" | "embed" | "link_preview" => {
            let url = content["url"].as_str().unwrap_or_default();
            line("", &format!("[{}]({url})", caption(content, url)));
        }
        "column_list" | "column" | "synced_block" | "table_of_contents" | "breadcrumb" => {}
        other => line("", &format!("[{other}]")),
    }
    if let Some(children) = content["children"].as_array() {
        let deeper = if matches!(kind, "column_list" | "column" | "synced_block") {
            0
        } else {
            1
        };
        lines_of(children, depth + deeper, out);
    }
}

/// What stands before the further lines of a block.
fn continuation(prefix: &str) -> &str {
    match prefix {
        "> " => "> ",
        "- " => "  ",
        "1. " => "   ",
        "- [ ] " | "- [x] " => "      ",
        _ => "",
    }
}

fn caption(content: &Value, otherwise: &str) -> String {
    let caption = to_plain_or_content(&content["caption"]);
    if caption.is_empty() {
        otherwise.to_owned()
    } else {
        caption
    }
}

fn to_plain_or_content(rich_text: &Value) -> String {
    let plain = to_plain(rich_text);
    if !plain.is_empty() {
        return plain;
    }
    let pieces = rich_text.as_array().into_iter().flatten();
    pieces
        .filter_map(|piece| piece["text"]["content"].as_str())
        .collect()
}

fn table(content: &Value, indent: &str, out: &mut String) {
    for (index, row) in content["children"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let cells = row["table_row"]["cells"].as_array().into_iter().flatten();
        let cells: Vec<String> = cells.map(to_markdown).collect();
        out.push_str(&format!("{indent}| {} |\n", cells.join(" | ")));
        if index == 0 {
            let rule = vec!["---"; cells.len()].join(" | ");
            out.push_str(&format!("{indent}| {rule} |\n"));
        }
    }
}
