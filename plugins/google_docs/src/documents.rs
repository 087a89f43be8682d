//! Creating and reading documents.

use toolgate_sdk::http::google::file_id;
use toolgate_sdk::prelude::*;

use crate::api::{address, batch, docs};
use crate::compile::{Place, requests};
use crate::reader::read;

/// Longest text that one answer holds, in characters.
const TEXT_CHARS_MAX: usize = 100_000;

#[derive(Args)]
pub struct CreateDocument {
    /// Title of the document.
    #[arg(min_length = 1, max_length = 500)]
    title: String,
    /// Its text in Markdown: headings, lists, tables, links, marks.
    content: Option<String>,
}

/// Creates a document in My Drive, with its text from Markdown; answers its id and address.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/documents"], keywords = ["new doc", "write document", "report", "note"],
       example = { "title": "Minutes", "content": "# Decisions\n\n- ship on **Monday**" })]
pub fn create_document(args: CreateDocument, cx: &Context) -> Result<Value, ToolError> {
    let made = docs(cx)
        .post("/documents")
        .json(&json!({ "title": args.title }))
        .fetch()?;
    let id = made["documentId"].as_str().unwrap_or_default();
    let place = Place {
        index: 1,
        tab: None,
        fills: true,
    };
    let requests = requests(args.content.as_deref().unwrap_or_default(), &place);
    if !requests.is_empty() {
        batch(cx, id, &requests, None).map_err(|mut error| {
            let left = format!("; the empty document {} was made", address(id));
            error.message.push_str(&left);
            error
        })?;
    }
    Ok(json!({ "document": id, "title": made["title"], "url": address(id) }))
}

#[derive(Args)]
pub struct GetDocument {
    /// Id or address of the document.
    document: String,
    /// Title or id of the tab; the first unless given.
    tab: Option<String>,
}

/// Reads a document as Markdown, with the names of its tabs.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/documents.readonly"], keywords = ["open", "content", "text", "read doc"],
       example = { "document": "https://docs.google.com/document/d/1dOcId/edit" })]
pub fn get_document(args: GetDocument, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.document, "document")?;
    let document = read(cx, &id, args.tab.as_deref())?;
    let markdown = document.markdown();
    let end = markdown
        .char_indices()
        .nth(TEXT_CHARS_MAX)
        .map(|(at, _)| at);
    let mut out = json!({
        "document": id, "title": document.title, "url": address(&id),
        "markdown": markdown[..end.unwrap_or(markdown.len())],
    });
    if end.is_some() {
        out["truncated"] = json!(true);
    }
    if document.tabs.len() > 1 {
        out["tabs"] = json!(document.tabs);
    }
    Ok(out)
}

/// Lists the headings of a document with their level, and its tabs: where things can be written.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/documents.readonly"], keywords = ["headings", "structure", "sections", "table of contents"],
       example = { "document": "1dOcId" })]
pub fn get_outline(args: GetDocument, cx: &Context) -> Result<Value, ToolError> {
    let id = file_id(&args.document, "document")?;
    let document = read(cx, &id, args.tab.as_deref())?;
    let headings = document.paragraphs().into_iter();
    let headings = headings.filter(|one| one.level > 0 && !one.text.trim().is_empty());
    let headings: Vec<Value> = headings
        .map(|one| json!({ "level": one.level, "heading": one.text.trim() }))
        .collect();
    Ok(json!({ "title": document.title, "headings": headings, "tabs": document.tabs }))
}
