//! Markdown to Notion's blocks.
//!
//! Headings, paragraphs, bulleted, numbered and to-do lists (nested by indentation, two levels as
//! one request may hold), quotes, fenced code, tables, dividers and images. What is none of these
//! is a paragraph.

use toolgate_sdk::markdown::is_delimiter_row;
use toolgate_sdk::{Value, json};

use crate::rich_text::{from_markdown, plain};

/// Deepest nesting that one request may hold.
const DEPTH_MAX: usize = 2;

/// The blocks of a Markdown text.
pub fn blocks(markdown: &str) -> Vec<Value> {
    let lines: Vec<&str> = markdown.lines().collect();
    let mut out: Vec<Value> = Vec::new();
    let mut paragraph = String::new();
    // Indentation of the list items that are open, outermost first.
    let mut open: Vec<usize> = Vec::new();
    let mut index = 0;
    while index < lines.len() {
        let line = lines[index];
        let trimmed = line.trim();
        index += 1;
        if let Some(language) = trimmed.strip_prefix("```") {
            flush(&mut paragraph, &mut out);
            let length = lines[index..]
                .iter()
                .take_while(|l| !l.trim().starts_with("```"))
                .count();
            let code = lines[index..index + length].join("\n");
            out.push(code_block(&code, language.trim()));
            index += length + 1;
            open.clear();
            continue;
        }
        if trimmed.starts_with('|') && lines.get(index).is_some_and(|next| is_delimiter_row(next)) {
            flush(&mut paragraph, &mut out);
            let rows = lines[index + 1..]
                .iter()
                .take_while(|l| l.trim().starts_with('|'))
                .count();
            out.push(table(trimmed, &lines[index + 1..index + 1 + rows]));
            index += rows + 1;
            open.clear();
            continue;
        }
        if trimmed.is_empty() {
            flush(&mut paragraph, &mut out);
            continue;
        }
        if let Some(item) = list_item(trimmed) {
            flush(&mut paragraph, &mut out);
            let indent = line.len() - line.trim_start().len();
            open.retain(|outer| *outer < indent);
            let depth = open.len().min(DEPTH_MAX);
            open.push(indent);
            place(item, depth, &mut out);
            continue;
        }
        if let Some(block) = single(trimmed) {
            flush(&mut paragraph, &mut out);
            out.push(block);
            open.clear();
            continue;
        }
        if !paragraph.is_empty() {
            paragraph.push('\n');
        }
        paragraph.push_str(trimmed);
        open.clear();
    }
    flush(&mut paragraph, &mut out);
    out
}

fn block(kind: &str, content: Value) -> Value {
    json!({ "object": "block", "type": kind, kind: content })
}

fn text_block(kind: &str, text: &str) -> Value {
    block(kind, json!({ "rich_text": from_markdown(text) }))
}

fn flush(paragraph: &mut String, out: &mut Vec<Value>) {
    if !paragraph.is_empty() {
        out.push(text_block("paragraph", paragraph));
        paragraph.clear();
    }
}

/// A block that is one line: heading, divider, quote, image.
fn single(line: &str) -> Option<Value> {
    let level = line.chars().take_while(|c| *c == '#').count();
    if (1..=6).contains(&level)
        && let Some(text) = line[level..].strip_prefix(' ')
    {
        return Some(text_block(
            ["heading_1", "heading_2", "heading_3"][level.min(3) - 1],
            text.trim(),
        ));
    }
    if line.len() >= 3
        && ["-", "*", "_"]
            .iter()
            .any(|c| line.replace(c, "").is_empty())
    {
        return Some(block("divider", json!({})));
    }
    if let Some(text) = line.strip_prefix("> ") {
        return Some(text_block("quote", text));
    }
    let (alt, rest) = line.strip_prefix("![")?.split_once("](")?;
    let url = rest
        .strip_suffix(')')
        .filter(|url| url.starts_with("https://"))?;
    let image = json!({ "type": "external", "external": { "url": url }, "caption": plain(alt) });
    Some(block("image", image))
}

fn list_item(line: &str) -> Option<Value> {
    for mark in ["- ", "* ", "+ "] {
        if let Some(text) = line.strip_prefix(mark) {
            for (box_, checked) in [("[ ] ", false), ("[x] ", true), ("[X] ", true)] {
                if let Some(text) = text.strip_prefix(box_) {
                    let content = json!({ "rich_text": from_markdown(text), "checked": checked });
                    return Some(block("to_do", content));
                }
            }
            return Some(text_block("bulleted_list_item", text));
        }
    }
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    let text = line[digits..]
        .strip_prefix(". ")
        .or_else(|| line[digits..].strip_prefix(") "))?;
    (1..=9)
        .contains(&digits)
        .then(|| text_block("numbered_list_item", text))
}

/// Puts a list item under the last item `depth` levels down.
fn place(item: Value, depth: usize, out: &mut Vec<Value>) {
    if depth > 0
        && let Some(parent) = out.last_mut()
    {
        let kind = parent["type"].as_str().unwrap_or_default().to_owned();
        if let Some(content) = parent[kind.as_str()].as_object_mut() {
            let children = content.entry("children").or_insert_with(|| json!([]));
            if let Some(children) = children.as_array_mut() {
                return place(item, depth - 1, children);
            }
        }
    }
    out.push(item);
}

fn code_block(code: &str, language: &str) -> Value {
    let known = match language {
        "" | "text" | "txt" => "plain text",
        "js" => "javascript",
        "ts" => "typescript",
        "py" => "python",
        "rs" => "rust",
        "sh" | "zsh" => "shell",
        "yml" => "yaml",
        "md" => "markdown",
        "c#" | "csharp" => "c#",
        "cpp" => "c++",
        other if LANGUAGES.contains(&other) => other,
        _ => "plain text",
    };
    block(
        "code",
        json!({ "rich_text": plain(code), "language": known }),
    )
}

/// Languages that Notion knows under the name that Markdown authors use.
const LANGUAGES: [&str; 34] = [
    "bash",
    "c",
    "c++",
    "clojure",
    "css",
    "dart",
    "diff",
    "docker",
    "elixir",
    "erlang",
    "go",
    "graphql",
    "haskell",
    "html",
    "java",
    "javascript",
    "json",
    "kotlin",
    "latex",
    "lua",
    "makefile",
    "markdown",
    "mermaid",
    "perl",
    "php",
    "python",
    "ruby",
    "rust",
    "scala",
    "shell",
    "sql",
    "swift",
    "typescript",
    "yaml",
];

fn cells(line: &str) -> Vec<&str> {
    line.trim()
        .trim_start_matches('|')
        .trim_end_matches('|')
        .split('|')
        .map(str::trim)
        .collect()
}

fn table(header: &str, rows: &[&str]) -> Value {
    let width = cells(header).len();
    let row = |line: &&str| {
        let mut cells: Vec<Value> = cells(line).into_iter().map(from_markdown).collect();
        cells.resize(width, json!([]));
        block("table_row", json!({ "cells": cells }))
    };
    let children: Vec<Value> = std::iter::once(&header).chain(rows).map(row).collect();
    let shape = json!({
        "table_width": width, "has_column_header": true, "has_row_header": false, "children": children
    });
    block("table", shape)
}

#[cfg(test)]
mod tests {
    use super::blocks;
    use crate::markdown::lines_of;

    /// Blocks as the reader shows them: what was written comes out again.
    fn there_and_back(markdown: &str) -> String {
        let mut out = String::new();
        lines_of(&blocks(markdown), 0, &mut out);
        out.trim_end().to_owned()
    }

    #[test]
    fn what_is_written_can_be_read_again() {
        for markdown in [
            "# Title\n\ntext with **bold** and `code`\nin two lines",
            "- one\n    - two\n        - three\n- four",
            "1. one\n1. two",
            "- [ ] open\n- [x] done",
            "> quoted",
            "```rust\nfn main() {}\n\n# no heading\n```",
            "before\n\n---\n\nafter",
            "| a | b |\n| --- | --- |\n| 1 | **2** |",
            "![logo](https://a.example/x.png)",
        ] {
            assert_eq!(there_and_back(markdown), markdown);
        }
    }

    #[test]
    fn nesting_stops_where_a_request_may_not_go_deeper() {
        let list = blocks("- a\n  - b\n    - c\n      - d\n        - e");
        let innermost =
            &list[0]["bulleted_list_item"]["children"][0]["bulleted_list_item"]["children"];
        assert_eq!(innermost.as_array().map(Vec::len), Some(3));
    }

    #[test]
    fn odd_text_stays_text() {
        for (markdown, kind) in [
            ("#hashtag", "paragraph"),
            ("2024. was long ago", "numbered_list_item"),
            ("-no item", "paragraph"),
            ("| no table |", "paragraph"),
            ("```\nunclosed", "code"),
            ("--", "paragraph"),
        ] {
            let list = blocks(markdown);
            assert_eq!(
                (list.len(), list[0]["type"].as_str()),
                (1, Some(kind)),
                "{markdown}"
            );
        }
        assert!(blocks("\n \n").is_empty());
    }
}
