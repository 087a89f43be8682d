//! Writing Markdown into a document: at its end, at a place, in a section.

use toolgate_sdk::http::google::file_id;
use toolgate_sdk::prelude::*;

use crate::api::{address, batch};
use crate::compile::{Place, range, requests};
use crate::reader::{Document, read};

fn written(id: &str) -> Value {
    json!({ "document": id, "url": address(id), "written": true })
}

/// The requests for a text in a paragraph of its own behind the line end at `end`.
fn behind(document: &Document, markdown: &str, end: u64) -> Vec<Value> {
    let before = Place {
        index: end - 1,
        ..document.place(end)
    };
    let mut all = vec![json!({ "insertText": { "location": before.location(), "text": "\n" } })];
    all.extend(requests(markdown, &document.place(end)));
    all
}

fn some(markdown: &str) -> Result<(), ToolError> {
    if markdown.trim().is_empty() {
        return Err(ToolError::invalid("/content", "there is nothing to write"));
    }
    Ok(())
}

#[derive(Args)]
pub struct AppendContent {
    /// Id or address of the document.
    document: String,
    /// What to write, in Markdown.
    #[arg(min_length = 1)]
    content: String,
    /// Title or id of the tab; the first unless given.
    tab: Option<String>,
}

/// Writes Markdown at the end of a document: headings, lists, tables, links, marks.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/documents"], keywords = ["add", "write", "paragraph", "table", "insert text"],
       example = { "document": "1dOcId", "content": "## Next steps\n\n1. Call Anna" })]
pub fn append_content(args: AppendContent, cx: &Context) -> Result<Value, ToolError> {
    some(&args.content)?;
    let id = file_id(&args.document, "document")?;
    let document = read(cx, &id, args.tab.as_deref())?;
    let (place, new) = document.append_place();
    let all = if new {
        behind(&document, &args.content, place.index)
    } else {
        requests(&args.content, &place)
    };
    batch(cx, &id, &all, document.revision.as_deref())?;
    Ok(written(&id))
}

#[derive(Args)]
pub struct InsertContent {
    /// Id or address of the document.
    document: String,
    /// What to write, in Markdown.
    #[arg(min_length = 1)]
    content: String,
    /// Text of the paragraph to write behind, or a part of it that stands nowhere else; at the
    /// beginning of the document unless given.
    after: Option<String>,
    /// Title or id of the tab; the first unless given.
    tab: Option<String>,
}

/// Writes Markdown at the beginning of a document, or behind the paragraph that holds a text.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/documents"], keywords = ["add", "write", "middle", "top", "insert text"],
       example = { "document": "1dOcId", "content": "- one more point", "after": "Open questions" })]
pub fn insert_content(args: InsertContent, cx: &Context) -> Result<Value, ToolError> {
    some(&args.content)?;
    let id = file_id(&args.document, "document")?;
    let document = read(cx, &id, args.tab.as_deref())?;
    let all = match &args.after {
        Some(text) => behind(&document, &args.content, document.find(text, "after")?.end),
        None => {
            let start = document.paragraphs().first().map_or(1, |first| first.start);
            let place = Place {
                fills: false,
                ..document.place(start)
            };
            requests(&args.content, &place)
        }
    };
    batch(cx, &id, &all, document.revision.as_deref())?;
    Ok(written(&id))
}

#[derive(Args)]
pub struct ReplaceSection {
    /// Id or address of the document.
    document: String,
    /// The heading of the section, as google_docs_get_outline shows it. It stays.
    heading: String,
    /// What shall stand below it, in Markdown.
    #[arg(min_length = 1)]
    content: String,
    /// Title or id of the tab; the first unless given.
    tab: Option<String>,
}

/// Writes a section anew: all below a heading, up to the next heading of its level, becomes the given Markdown.
#[tool(effect = "destructive", idempotent, scopes = ["https://www.googleapis.com/auth/documents"], keywords = ["rewrite", "update section", "edit"],
       example = { "document": "1dOcId", "heading": "Status", "content": "All **green**." })]
pub fn replace_section(args: ReplaceSection, cx: &Context) -> Result<Value, ToolError> {
    some(&args.content)?;
    let id = file_id(&args.document, "document")?;
    let document = read(cx, &id, args.tab.as_deref())?;
    let (heading, end) = document.section(&args.heading)?;
    let mut all = Vec::new();
    if end > heading.end {
        let range = range(heading.end, end, document.tab.as_deref());
        all.push(json!({ "deleteContentRange": { "range": range } }));
    }
    all.extend(behind(&document, &args.content, heading.end));
    batch(cx, &id, &all, document.revision.as_deref())?;
    Ok(written(&id))
}

#[derive(Args)]
pub struct DeleteSection {
    /// Id or address of the document.
    document: String,
    /// The heading of the section, as google_docs_get_outline shows it. It goes too.
    heading: String,
    /// Title or id of the tab; the first unless given.
    tab: Option<String>,
}

/// Deletes a section: its heading and all below, up to the next heading of its level.
#[tool(effect = "destructive", scopes = ["https://www.googleapis.com/auth/documents"], keywords = ["remove", "cut"],
       example = { "document": "1dOcId", "heading": "Draft notes" })]
pub fn delete_section(args: DeleteSection, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.document, "document")?;
    let document = read(cx, &id, args.tab.as_deref())?;
    let (heading, end) = document.section(&args.heading)?;
    let range = range(
        heading.start,
        end.max(heading.end - 1),
        document.tab.as_deref(),
    );
    let all = [json!({ "deleteContentRange": { "range": range } })];
    batch(cx, &id, &all, document.revision.as_deref())?;
    Ok(json!({ "document": id, "url": address(&id), "deleted": heading.text.trim() }))
}
