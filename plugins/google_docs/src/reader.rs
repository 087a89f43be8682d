//! A document as it is: Markdown for the reader, places for the writer.

use toolgate_sdk::markdown::{Span, write};
use toolgate_sdk::prelude::*;

use crate::api::docs;
use crate::compile::{Place, units};

/// One tab of a document.
#[derive(Debug)]
pub struct Document {
    pub title: String,
    /// Of the tab, where one was asked for.
    pub tab: Option<String>,
    /// Titles and ids of all tabs.
    pub tabs: Vec<Value>,
    pub revision: Option<String>,
    content: Vec<Value>,
    lists: Value,
    objects: Value,
}

/// A paragraph outside of tables.
#[derive(Debug)]
pub struct Paragraph {
    pub start: u64,
    /// Behind its line end.
    pub end: u64,
    /// Its text; what is no text is one character.
    pub text: String,
    /// 1 to 6, 0 for no heading.
    pub level: u8,
}

/// Reads a document, and of it the tab with that title or id, else the first.
pub fn read(cx: &Context, id: &str, tab: Option<&str>) -> Result<Document, ToolError> {
    let request = docs(cx).get(path!("/documents/{}", id));
    let mut answer = request.query("includeTabsContent", true).fetch()?;
    let mut tabs = Vec::new();
    collect(&answer["tabs"], &mut tabs);
    let wanted = match tab {
        None => tabs.first(),
        Some(name) => tabs.iter().find(|tab| {
            let known = &tab["tabProperties"];
            known["tabId"] == name || known["title"] == name
        }),
    };
    let Some(found) = wanted.copied().cloned() else {
        let known = tabs
            .iter()
            .filter_map(|tab| tab["tabProperties"]["title"].as_str());
        let text = format!(
            "the document has the tabs {}",
            known.collect::<Vec<_>>().join(", ")
        );
        return Err(ToolError::invalid("/tab", text));
    };
    let shown = tabs
        .iter()
        .map(|tab| pick(&tab["tabProperties"], &["id=tabId", "title"]));
    let shown = shown.collect();
    let mut body = found["documentTab"].clone();
    let content = match body["body"]["content"].take() {
        Value::Array(content) => content,
        _ => Vec::new(),
    };
    Ok(Document {
        title: text_of(&answer["title"].take()),
        tab: tab.and_then(|_| found["tabProperties"]["tabId"].as_str().map(str::to_owned)),
        tabs: shown,
        revision: answer["revisionId"].as_str().map(str::to_owned),
        content,
        lists: body["lists"].take(),
        objects: body["inlineObjects"].take(),
    })
}

fn collect<'a>(tabs: &'a Value, out: &mut Vec<&'a Value>) {
    for tab in tabs.as_array().into_iter().flatten() {
        out.push(tab);
        collect(&tab["childTabs"], out);
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl Document {
    pub fn paragraphs(&self) -> Vec<Paragraph> {
        let paragraphs = self
            .content
            .iter()
            .filter(|one| one["paragraph"].is_object());
        paragraphs
            .map(|one| Paragraph {
                start: one["startIndex"].as_u64().unwrap_or(1),
                end: one["endIndex"].as_u64().unwrap_or(1),
                text: paragraph_text(&one["paragraph"]),
                level: level(&one["paragraph"]),
            })
            .collect()
    }

    /// Behind the last line end.
    pub fn end(&self) -> u64 {
        let last = self.content.last();
        last.and_then(|one| one["endIndex"].as_u64()).unwrap_or(2)
    }

    /// The end of the document, and whether a new paragraph has to be begun there.
    pub fn append_place(&self) -> (Place, bool) {
        let last = self.paragraphs().pop();
        let empty = last.is_none_or(|last| last.text.trim_end_matches('\n').is_empty());
        let index = if empty { self.end() - 1 } else { self.end() };
        (self.place(index), !empty)
    }

    /// A place in a paragraph that is empty or about to be made.
    pub fn place(&self, index: u64) -> Place {
        Place {
            index,
            tab: self.tab.clone(),
            fills: true,
        }
    }

    /// The only paragraph that holds `text`, as a place to write behind.
    pub fn find(&self, text: &str, field: &str) -> Result<Paragraph, ToolError> {
        let all = self.paragraphs().into_iter();
        let mut found = all.filter(|paragraph| paragraph.text.contains(text));
        match (found.next(), found.next()) {
            (Some(one), None) => Ok(one),
            (Some(_), Some(_)) => Err(ToolError::invalid(
                format!("/{field}"),
                format!(
                    "`{text}` stands in several paragraphs; give more of the one that is meant"
                ),
            )),
            _ => Err(ToolError::invalid(
                format!("/{field}"),
                format!("no paragraph outside of tables holds `{text}`"),
            )),
        }
    }

    /// A heading and where its section ends: at the next one of the same or a higher level.
    pub fn section(&self, heading: &str) -> Result<(Paragraph, u64), ToolError> {
        let all = self.paragraphs();
        let same = |one: &&Paragraph| {
            one.level > 0 && one.text.trim().to_lowercase() == heading.trim().to_lowercase()
        };
        let at = all.iter().position(|one| same(&one)).ok_or_else(|| {
            let known = all.iter().filter(|one| one.level > 0);
            let known: Vec<&str> = known.map(|one| one.text.trim()).take(50).collect();
            let text = format!(
                "there is no heading `{heading}`; there are: {}",
                known.join(", ")
            );
            ToolError::invalid("/heading", text)
        })?;
        if all.iter().filter(same).count() > 1 {
            let text = format!("the document has the heading `{heading}` more than once");
            return Err(ToolError::invalid("/heading", text));
        }
        let level = all[at].level;
        let next = all[at + 1..]
            .iter()
            .find(|one| (1..=level).contains(&one.level));
        let end = next.map_or_else(|| self.end() - 1, |next| next.start);
        let heading = all.into_iter().nth(at);
        heading
            .map(|heading| (heading, end))
            .ok_or_else(|| ToolError::internal("the heading is gone"))
    }

    /// Every place where `text` stands, in tables too, as start and end.
    pub fn occurrences(&self, text: &str) -> Vec<(u64, u64)> {
        let mut out = Vec::new();
        find_in(&self.content, text, &mut out);
        out
    }

    pub fn markdown(&self) -> String {
        let mut out = String::new();
        let mut list_before = false;
        for one in &self.content {
            let mut block = String::new();
            let mut list = false;
            if let Some(paragraph) = one.get("paragraph") {
                list = paragraph["bullet"].is_object();
                block = self.paragraph_markdown(paragraph);
            } else if one["table"].is_object() {
                block = self.table_markdown(&one["table"]);
            }
            if block.trim().is_empty() {
                continue;
            }
            if !out.is_empty() {
                out.push_str(if list && list_before { "\n" } else { "\n\n" });
            }
            out.push_str(block.trim_end());
            list_before = list;
        }
        out
    }

    fn paragraph_markdown(&self, paragraph: &Value) -> String {
        let level = level(paragraph);
        let mut spans = self.spans(paragraph);
        let text: String = spans.iter().map(|span| span.text.as_str()).collect();
        if text.trim().is_empty() && paragraph["paragraphStyle"]["borderBottom"].is_object() {
            return "---".to_owned();
        }
        let code = spans.iter().any(|span| !span.text.trim().is_empty())
            && spans
                .iter()
                .all(|span| span.code || span.text.trim().is_empty());
        if code && text.contains('\n') {
            return format!("```\n{}\n```", text.trim_end());
        }
        if level > 0 {
            // A heading is bold by itself.
            spans.iter_mut().for_each(|span| span.bold = false);
        }
        let text = write(&spans);
        if level > 0 {
            return format!(
                "{} {}",
                "#".repeat(usize::from(level)),
                text.replace('\n', " ")
            );
        }
        let Some(bullet) = paragraph.get("bullet").filter(|bullet| bullet.is_object()) else {
            return text;
        };
        let depth = bullet["nestingLevel"].as_u64().unwrap_or(0);
        let list = &self.lists[text_of(&bullet["listId"]).as_str()];
        let nesting = &list["listProperties"]["nestingLevels"][depth as usize];
        let numbered = nesting["glyphType"]
            .as_str()
            .is_some_and(|glyph| !matches!(glyph, "GLYPH_TYPE_UNSPECIFIED" | "NONE"));
        let mark = if numbered { "1." } else { "-" };
        format!("{}{mark} {text}", "    ".repeat(depth as usize))
    }

    fn table_markdown(&self, table: &Value) -> String {
        let mut out = String::new();
        let rows = table["tableRows"].as_array().into_iter().flatten();
        for (index, row) in rows.enumerate() {
            let cells = row["tableCells"].as_array().into_iter().flatten();
            let cells: Vec<String> = cells
                .map(|cell| {
                    let inner = cell["content"].as_array().into_iter().flatten();
                    let inner = inner.map(|one| {
                        let mut spans = self.spans(&one["paragraph"]);
                        if index == 0 {
                            spans.iter_mut().for_each(|span| span.bold = false);
                        }
                        write(&spans)
                    });
                    let inner: Vec<String> = inner.filter(|text| !text.is_empty()).collect();
                    inner.join(" ").replace('\n', " ").replace('|', "\\|")
                })
                .collect();
            out.push_str(&format!("| {} |\n", cells.join(" | ")));
            if index == 0 {
                let rule = vec!["---"; cells.len()].join(" | ");
                out.push_str(&format!("| {rule} |\n"));
            }
        }
        out
    }

    fn spans(&self, paragraph: &Value) -> Vec<Span> {
        let mut out = Vec::new();
        for element in paragraph["elements"].as_array().into_iter().flatten() {
            if let Some(run) = element.get("textRun") {
                let style = &run["textStyle"];
                let font = style["weightedFontFamily"]["fontFamily"].as_str();
                out.push(Span {
                    text: text_of(&run["content"])
                        .trim_end_matches('\n')
                        .replace('\u{b}', "\n"),
                    bold: style["bold"] == true,
                    italic: style["italic"] == true,
                    strike: style["strikethrough"] == true,
                    code: font
                        .is_some_and(|font| font.contains("Courier") || font.contains("Mono")),
                    link: style["link"]["url"].as_str().map(str::to_owned),
                });
            } else if let Some(object) = element.get("inlineObjectElement") {
                let id = text_of(&object["inlineObjectId"]);
                let embedded =
                    &self.objects[id.as_str()]["inlineObjectProperties"]["embeddedObject"];
                let title = embedded["title"]
                    .as_str()
                    .or(embedded["description"].as_str());
                out.push(bare(format!("[image: {}]", title.unwrap_or("untitled"))));
            } else if let Some(link) = element.get("richLink") {
                let properties = &link["richLinkProperties"];
                out.push(Span {
                    link: properties["uri"].as_str().map(str::to_owned),
                    ..bare(text_of(&properties["title"]))
                });
            } else if let Some(person) = element.get("person") {
                let properties = &person["personProperties"];
                let name = properties["name"].as_str().or(properties["email"].as_str());
                out.push(bare(format!("@{}", name.unwrap_or_default())));
            } else if element["horizontalRule"].is_object() {
                out.push(bare("---".to_owned()));
            }
        }
        out
    }
}

fn bare(text: String) -> Span {
    Span {
        text,
        ..Span::default()
    }
}

fn level(paragraph: &Value) -> u8 {
    match paragraph["paragraphStyle"]["namedStyleType"].as_str() {
        Some("TITLE") => 1,
        Some(name) => name
            .strip_prefix("HEADING_")
            .and_then(|level| level.parse().ok())
            .unwrap_or(0),
        None => 0,
    }
}

/// The text of a paragraph, one character for each element that is none, so that places fit.
fn paragraph_text(paragraph: &Value) -> String {
    let mut out = String::new();
    for element in paragraph["elements"].as_array().into_iter().flatten() {
        match element["textRun"]["content"].as_str() {
            Some(text) => out.push_str(text),
            None => out.push('\u{fffc}'),
        }
    }
    out
}

fn find_in(content: &[Value], text: &str, out: &mut Vec<(u64, u64)>) {
    for one in content {
        if one["paragraph"].is_object() {
            let whole = paragraph_text(&one["paragraph"]);
            let start = one["startIndex"].as_u64().unwrap_or(1);
            for (at, found) in whole.match_indices(text) {
                let from = start + units(&whole[..at]);
                out.push((from, from + units(found)));
            }
        }
        let rows = one["table"]["tableRows"].as_array().into_iter().flatten();
        for cell in rows.flat_map(|row| row["tableCells"].as_array().into_iter().flatten()) {
            if let Some(content) = cell["content"].as_array() {
                find_in(content, text, out);
            }
        }
    }
}
