//! The Atlassian Document Format: Markdown to documents, documents to Markdown.

use toolgate_sdk::markdown::{Block, Marker, Span, blocks, write};
use toolgate_sdk::{Value, json};

/// Deepest nesting that is read.
const DEPTH_MAX: usize = 32;

/// A document of the Markdown in `text`.
pub fn document(text: &str) -> Value {
    let all = blocks(text);
    let mut content: Vec<Value> = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let items = all[at..]
            .iter()
            .take_while(|block| matches!(block, Block::Item(..)))
            .count();
        if items > 0 {
            content.extend(lists(&all[at..at + items], 0));
            at += items;
        } else {
            content.push(block(&all[at]));
            at += 1;
        }
    }
    json!({ "type": "doc", "version": 1, "content": content })
}

fn block(block: &Block) -> Value {
    match block {
        Block::Heading(level, spans) => {
            json!({ "type": "heading", "attrs": { "level": level }, "content": inline(spans) })
        }
        Block::Paragraph(spans) | Block::Item(_, _, spans) => paragraph(spans),
        Block::Quote(spans) => json!({ "type": "blockquote", "content": [paragraph(spans)] }),
        Block::Code { language, text } => {
            let mut code = json!({ "type": "codeBlock", "content": [] });
            if !language.is_empty() {
                code["attrs"] = json!({ "language": language });
            }
            if !text.is_empty() {
                code["content"] = json!([{ "type": "text", "text": text }]);
            }
            code
        }
        Block::Table(rows) => {
            let rows = rows.iter().enumerate().map(|(index, cells)| {
                let kind = if index == 0 {
                    "tableHeader"
                } else {
                    "tableCell"
                };
                let cells = cells
                    .iter()
                    .map(|cell| json!({ "type": kind, "content": [paragraph(cell)] }));
                json!({ "type": "tableRow", "content": cells.collect::<Vec<Value>>() })
            });
            json!({ "type": "table", "content": rows.collect::<Vec<Value>>() })
        }
        Block::Rule => json!({ "type": "rule" }),
        // Pictures have to be attachments in Jira, so one of the web is a link.
        Block::Image { alt, url } => paragraph(&[Span {
            text: if alt.is_empty() {
                url.clone()
            } else {
                alt.clone()
            },
            link: Some(url.clone()),
            ..Span::default()
        }]),
    }
}

/// The lists of a run of items, those of a greater depth within the item above them.
fn lists(items: &[Block], depth: usize) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    let mut at = 0;
    while at < items.len() {
        let Block::Item(_, marker, spans) = &items[at] else {
            break;
        };
        let below = items[at + 1..]
            .iter()
            .take_while(|item| matches!(item, Block::Item(level, ..) if *level > depth))
            .count();
        let spans = match marker {
            // Task lists are refused in some fields of Jira.
            Marker::Check(done) => {
                let square = if *done { "[x] " } else { "[ ] " };
                let mut all = vec![Span {
                    text: square.to_owned(),
                    ..Span::default()
                }];
                all.extend(spans.iter().cloned());
                all
            }
            _ => spans.clone(),
        };
        let mut content = vec![paragraph(&spans)];
        content.extend(lists(&items[at + 1..at + 1 + below], depth + 1));
        let item = json!({ "type": "listItem", "content": content });
        let kind = if *marker == Marker::Number {
            "orderedList"
        } else {
            "bulletList"
        };
        match out.last_mut().filter(|list| list["type"] == kind) {
            Some(list) => {
                if let Some(all) = list["content"].as_array_mut() {
                    all.push(item);
                }
            }
            None => out.push(json!({ "type": kind, "content": [item] })),
        }
        at += 1 + below;
    }
    out
}

fn paragraph(spans: &[Span]) -> Value {
    json!({ "type": "paragraph", "content": inline(spans) })
}

fn inline(spans: &[Span]) -> Vec<Value> {
    let mut out = Vec::new();
    for span in spans {
        let mut marks = Vec::new();
        for (set, kind) in [
            (span.bold && !span.code, "strong"),
            (span.italic && !span.code, "em"),
            (span.strike && !span.code, "strike"),
            (span.code, "code"),
        ] {
            if set {
                marks.push(json!({ "type": kind }));
            }
        }
        if let Some(link) = &span.link {
            marks.push(json!({ "type": "link", "attrs": { "href": link } }));
        }
        for (index, line) in span.text.split('\n').enumerate() {
            if index > 0 {
                out.push(json!({ "type": "hardBreak" }));
            }
            if !line.is_empty() {
                let mut text = json!({ "type": "text", "text": line });
                if !marks.is_empty() {
                    text["marks"] = json!(marks);
                }
                out.push(text);
            }
        }
    }
    out
}

/// The Markdown of a document; a text that is none already stays as it is.
pub fn to_markdown(document: &Value) -> String {
    match document.as_str() {
        Some(text) => text.trim().to_owned(),
        None => read_all(document, 0).join("\n\n").trim().to_owned(),
    }
}

/// Each block below a node.
fn read_all(node: &Value, depth: usize) -> Vec<String> {
    if depth > DEPTH_MAX {
        return Vec::new();
    }
    let children = node["content"].as_array().into_iter().flatten();
    let blocks = children.map(|child| read(child, depth + 1));
    blocks.filter(|text| !text.is_empty()).collect()
}

fn read(node: &Value, depth: usize) -> String {
    match node["type"].as_str().unwrap_or_default() {
        "paragraph" => line(node),
        "heading" => {
            let level = node["attrs"]["level"].as_u64().unwrap_or(1).clamp(1, 6) as usize;
            format!("{} {}", "#".repeat(level), line(node))
        }
        "bulletList" | "taskList" | "decisionList" => items(node, depth, false),
        "orderedList" => items(node, depth, true),
        "codeBlock" => {
            let language = node["attrs"]["language"].as_str().unwrap_or_default();
            let texts = node["content"].as_array().into_iter().flatten();
            let code: String = texts.filter_map(|text| text["text"].as_str()).collect();
            format!("```{language}\n{code}\n```")
        }
        "blockquote" => {
            let text = read_all(node, depth).join("\n\n");
            text.lines()
                .map(|line| format!("> {line}").trim_end().to_owned())
                .collect::<Vec<_>>()
                .join("\n")
        }
        "table" => table(node, depth),
        "rule" => "---".to_owned(),
        "blockCard" | "embedCard" => node["attrs"]["url"].as_str().unwrap_or_default().to_owned(),
        "expand" | "nestedExpand" => {
            let mut all = vec![
                node["attrs"]["title"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
            ];
            all.extend(read_all(node, depth));
            all.retain(|text| !text.is_empty());
            all.join("\n\n")
        }
        "media" => node["attrs"]["alt"]
            .as_str()
            .map_or_else(String::new, |alt| format!("[file: {alt}]")),
        _ => read_all(node, depth).join("\n\n"),
    }
}

/// The inline nodes of a block in one text.
fn line(node: &Value) -> String {
    let mut spans: Vec<Span> = Vec::new();
    for child in node["content"].as_array().into_iter().flatten() {
        let attrs = &child["attrs"];
        let attr = |key: &str| attrs[key].as_str();
        let mut span = Span::default();
        match child["type"].as_str().unwrap_or_default() {
            "text" => {
                span.text = child["text"].as_str().unwrap_or_default().to_owned();
                for mark in child["marks"].as_array().into_iter().flatten() {
                    match mark["type"].as_str().unwrap_or_default() {
                        "strong" => span.bold = true,
                        "em" => span.italic = true,
                        "strike" => span.strike = true,
                        "code" => span.code = true,
                        "link" => span.link = mark["attrs"]["href"].as_str().map(str::to_owned),
                        _ => {}
                    }
                }
            }
            "hardBreak" => span.text = "\n".to_owned(),
            "inlineCard" => span.text = attr("url").unwrap_or_default().to_owned(),
            _ => {
                let text = attr("text").or(attr("shortName")).or(attr("timestamp"));
                span.text = text.unwrap_or_default().to_owned();
            }
        }
        spans.push(span);
    }
    write(&spans)
}

fn items(list: &Value, depth: usize, ordered: bool) -> String {
    let mut out = Vec::new();
    let children = list["content"].as_array().into_iter().flatten();
    for (index, item) in children.enumerate() {
        let marker = match item["attrs"]["state"].as_str() {
            Some("DONE") => "- [x] ".to_owned(),
            Some("TODO") => "- [ ] ".to_owned(),
            _ if ordered => format!("{}. ", index + 1),
            _ => "- ".to_owned(),
        };
        // An item of a task list holds text itself, others hold blocks.
        let text = match item["type"].as_str() {
            Some("taskItem" | "decisionItem") => line(item),
            _ => read_all(item, depth + 1).join("\n"),
        };
        let space = " ".repeat(if ordered { marker.len() } else { 2 });
        let text = text.replace('\n', &format!("\n{space}"));
        out.push(format!("{marker}{text}"));
    }
    out.join("\n")
}

fn table(table: &Value, depth: usize) -> String {
    let mut out = Vec::new();
    let rows = table["content"].as_array().into_iter().flatten();
    for (index, row) in rows.enumerate() {
        let cells = row["content"].as_array().into_iter().flatten();
        let cells = cells.map(|cell| read_all(cell, depth + 2).join(" ").replace('\n', " "));
        let cells: Vec<String> = cells.map(|cell| cell.replace('|', "\\|")).collect();
        out.push(format!("| {} |", cells.join(" | ")));
        if index == 0 {
            out.push(format!("|{}", "---|".repeat(cells.len())));
        }
    }
    out.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read_again() {
        for text in [
            "one\ntwo\n\nthree",
            "list:\n\n- a\n- b\n\nend",
            "- a\n  - b\n  - c\n- d",
            "1. a\n2. b",
            "- [ ] open\n- [x] done",
            "```rust\nlet a = 1;\n\nb\n```\n\nafter",
            "# Title\n\n**bold** *it* `code` [link](https://a.example)",
            "> quoted",
            "| a | b |\n|---|---|\n| 1 | 2 |",
            "---",
            "",
        ] {
            assert_eq!(to_markdown(&document(text)), text);
        }
    }

    #[test]
    fn links_mentions_and_plain_texts_are_read() {
        let document = json!({ "type": "doc", "content": [{ "type": "paragraph", "content": [
            { "type": "mention", "attrs": { "text": "@Mona" } }, { "type": "text", "text": " see " },
            { "type": "text", "text": "this", "marks": [{ "type": "link", "attrs": { "href": "https://a.example" } }] }
        ] }] });
        assert_eq!(
            to_markdown(&document),
            "@Mona see [this](https://a.example)"
        );
        assert_eq!(to_markdown(&json!("old text")), "old text");
        assert_eq!(to_markdown(&Value::Null), "");
    }

    #[test]
    fn a_document_nested_without_end_is_cut() {
        let mut node = json!({ "type": "text", "text": "deep" });
        for _ in 0..200 {
            node = json!({ "type": "panel", "content": [node] });
        }
        assert_eq!(to_markdown(&node), "");
    }
}
