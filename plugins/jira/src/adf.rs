//! The Atlassian Document Format: plain text to documents, documents to text.
//!
//! Written are paragraphs, line breaks, bulleted lists and fenced code; read is whatever holds text.

use toolgate_sdk::{Value, json};

/// Deepest nesting that is read.
const DEPTH_MAX: usize = 32;

/// A document of the paragraphs, `- ` lists and fenced code in `text`.
pub fn document(text: &str) -> Value {
    let mut content: Vec<Value> = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    let mut code: Option<Vec<&str>> = None;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            match code.take() {
                Some(code) => content.push(code_block(&code)),
                None => {
                    flush(&mut lines, &mut content);
                    code = Some(Vec::new());
                }
            }
        } else if let Some(code) = &mut code {
            code.push(line);
        } else if line.trim().is_empty() {
            flush(&mut lines, &mut content);
        } else {
            lines.push(line);
        }
    }
    if let Some(code) = code {
        content.push(code_block(&code));
    }
    flush(&mut lines, &mut content);
    json!({ "type": "doc", "version": 1, "content": content })
}

fn code_block(lines: &[&str]) -> Value {
    let text = lines.join("\n");
    let content = if text.is_empty() {
        json!([])
    } else {
        json!([{ "type": "text", "text": text }])
    };
    json!({ "type": "codeBlock", "content": content })
}

/// Lines up to an empty one: list items become a list, other lines one paragraph.
fn flush(lines: &mut Vec<&str>, content: &mut Vec<Value>) {
    let mut at = 0;
    while at < lines.len() {
        let item = |line: &&str| line.trim_start().starts_with("- ");
        let list = item(&lines[at]);
        let count = lines[at..]
            .iter()
            .take_while(|line| item(line) == list)
            .count();
        let run = &lines[at..at + count];
        content.push(if list {
            let items: Vec<Value> = run
                .iter()
                .map(|line| {
                    let text = line.trim_start().trim_start_matches("- ");
                    json!({ "type": "listItem", "content": [paragraph(&[text])] })
                })
                .collect();
            json!({ "type": "bulletList", "content": items })
        } else {
            paragraph(run)
        });
        at += count;
    }
    lines.clear();
}

fn paragraph(lines: &[&str]) -> Value {
    let mut content = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            content.push(json!({ "type": "hardBreak" }));
        }
        if !line.is_empty() {
            content.push(json!({ "type": "text", "text": line }));
        }
    }
    json!({ "type": "paragraph", "content": content })
}

/// The text of a document; a text that is none already stays as it is.
pub fn to_text(document: &Value) -> String {
    let mut out = document.as_str().unwrap_or_default().to_owned();
    read(document, 0, &mut out);
    out.trim().to_owned()
}

fn read(node: &Value, depth: usize, out: &mut String) {
    if depth > DEPTH_MAX {
        return;
    }
    let kind = node["type"].as_str().unwrap_or_default();
    match kind {
        "text" => {
            let text = node["text"].as_str().unwrap_or_default();
            out.push_str(text);
            let marks = node["marks"].as_array().into_iter().flatten();
            for href in marks.filter_map(|mark| mark["attrs"]["href"].as_str()) {
                if href != text {
                    out.push_str(&format!(" ({href})"));
                }
            }
        }
        "hardBreak" => out.push('\n'),
        "mention" | "emoji" | "status" | "date" => {
            let attrs = &node["attrs"];
            let text = attrs["text"]
                .as_str()
                .or_else(|| attrs["shortName"].as_str());
            out.push_str(
                text.or_else(|| attrs["timestamp"].as_str())
                    .unwrap_or_default(),
            );
        }
        "inlineCard" | "blockCard" => {
            out.push_str(node["attrs"]["url"].as_str().unwrap_or_default())
        }
        "listItem" | "taskItem" => out.push_str("- "),
        "codeBlock" => out.push_str("```\n"),
        "rule" => out.push_str("---"),
        _ => {}
    }
    for child in node["content"].as_array().into_iter().flatten() {
        read(child, depth + 1, out);
    }
    match kind {
        "codeBlock" => out.push_str("\n```\n\n"),
        "paragraph" | "heading" if depth <= 1 => out.push_str("\n\n"),
        "bulletList" | "orderedList" | "taskList" if depth <= 1 => out.push('\n'),
        "paragraph" | "heading" | "rule" | "tableRow" | "blockCard" | "taskItem" => out.push('\n'),
        "tableCell" | "tableHeader" => out.push(' '),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read_again() {
        for text in [
            "one\ntwo\n\nthree",
            "list:\n\n- a\n- b\n\nend",
            "```\nlet a = 1;\n\nb\n```\n\nafter",
            "",
        ] {
            assert_eq!(to_text(&document(text)), text);
        }
    }

    #[test]
    fn links_mentions_and_plain_texts_are_read() {
        let document = json!({ "type": "doc", "content": [{ "type": "paragraph", "content": [
            { "type": "mention", "attrs": { "text": "@Mona" } }, { "type": "text", "text": " see " },
            { "type": "text", "text": "this", "marks": [{ "type": "link", "attrs": { "href": "https://a.example" } }] }
        ] }] });
        assert_eq!(to_text(&document), "@Mona see this (https://a.example)");
        assert_eq!(to_text(&json!("old text")), "old text");
        assert_eq!(to_text(&Value::Null), "");
    }
}
