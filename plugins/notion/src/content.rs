//! The text of pages: read as Markdown, appended as Markdown, changed block by block.

use toolgate_sdk::prelude::*;

use crate::api::{id_of, next_cursor, notion};
use crate::blocks::blocks;
use crate::markdown::lines_of;

/// Most blocks that one request may carry.
pub const BLOCKS_MAX: usize = 100;
/// Most requests spent on reading one page.
const READS_MAX: usize = 40;
/// Deepest nesting that is read.
const DEPTH_MAX: usize = 4;

#[derive(Args)]
pub struct GetPageContent {
    /// Id or address of the page, or of a block with content.
    page: String,
}

/// Reads the text of a page as Markdown, with what is nested in lists, toggles and columns.
///
/// Answers markdown, and truncated when the page is larger than one call may read.
#[tool(effect = "read", keywords = ["text", "body", "read", "document"],
       example = { "page": "be633bf1dfa0436db259571129a590e5" })]
pub fn get_page_content(args: GetPageContent, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.page, "page")?;
    let mut reads_left = READS_MAX;
    let mut truncated = false;
    let tree = read_tree(cx, &id, DEPTH_MAX, &mut reads_left, &mut truncated)?;
    let mut markdown = String::new();
    lines_of(&tree, 0, &mut markdown);
    Ok(json!({ "id": id, "markdown": markdown.trim_end(), "truncated": truncated }))
}

/// The blocks below `id`, each with its children in its own content.
fn read_tree(
    cx: &Context,
    id: &str,
    depth: usize,
    reads_left: &mut usize,
    truncated: &mut bool,
) -> Result<Vec<Value>, ToolError> {
    let mut all: Vec<Value> = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        if *reads_left == 0 || depth == 0 {
            *truncated = true;
            break;
        }
        *reads_left -= 1;
        let request = notion(cx).get(path!("/blocks/{}/children", id));
        let mut answer = request
            .query("page_size", 100)
            .query("start_cursor", &cursor)
            .fetch()?;
        cursor = next_cursor(&answer);
        if let Value::Array(page) = answer["results"].take() {
            all.extend(page);
        }
        if cursor.is_none() {
            break;
        }
    }
    for block in &mut all {
        let kind = block["type"].as_str().unwrap_or_default().to_owned();
        let page = kind == "child_page" || kind == "child_database";
        if block["has_children"] == true && !page {
            let id = block["id"].as_str().unwrap_or_default().to_owned();
            let children = read_tree(cx, &id, depth - 1, reads_left, truncated)?;
            if let Some(content) = block.get_mut(kind.as_str()).and_then(Value::as_object_mut) {
                content.insert("children".to_owned(), Value::Array(children));
            }
        }
    }
    Ok(all)
}

/// Appends blocks in as many requests as they need; answers how many there were.
pub fn append(cx: &Context, id: &str, blocks: &[Value]) -> Result<usize, ToolError> {
    for some in blocks.chunks(BLOCKS_MAX) {
        let body = json!({ "children": some });
        notion(cx)
            .patch(path!("/blocks/{}/children", id))
            .json(&body)
            .send()?;
    }
    Ok(blocks.len())
}

#[derive(Args)]
pub struct AppendContent {
    /// Id or address of the page, or of a block to nest it under.
    page: String,
    /// Text in Markdown: headings, lists, to-dos, quotes, code, tables, images, links.
    #[arg(min_length = 1, max_length = 200000)]
    content: String,
}

/// Appends Markdown to the end of a page.
#[tool(effect = "write", keywords = ["add", "write", "text"],
       example = { "page": "be633bf1dfa0436db259571129a590e5", "content": "## Decisions\n- [ ] call Mona" })]
pub fn append_content(args: AppendContent, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.page, "page")?;
    let appended = append(cx, &id, &blocks(&args.content))?;
    Ok(json!({ "id": id, "blocks_appended": appended }))
}

#[derive(Args)]
pub struct ListBlocks {
    /// Id or address of the page, or of a block.
    page: String,
    /// Blocks on a page.
    #[arg(min = 1, max = 100, default = 50)]
    page_size: u32,
}

/// Lists the blocks of a page with their ids, for changing or deleting one of them.
#[tool(effect = "read", paginated, keywords = ["children", "structure", "ids"],
       example = { "page": "be633bf1dfa0436db259571129a590e5", "page_size": 1 })]
pub fn list_blocks(args: ListBlocks, cx: &Context) -> Result<Output, ToolError> {
    let id = id_of(&args.page, "page")?;
    let request = notion(cx).get(path!("/blocks/{}/children", id));
    let request = request
        .query("page_size", args.page_size)
        .query("start_cursor", cx.cursor());
    let answer = request.fetch()?;
    let blocks = answer["results"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let shown: Vec<Value> = blocks.iter().map(shown).collect();
    Output::page(shown, next_cursor(&answer))
}

pub fn shown(block: &Value) -> Value {
    let mut out = pick(block, &["id", "type", "has_children", "last_edited_time"]);
    let mut markdown = String::new();
    lines_of(std::slice::from_ref(block), 0, &mut markdown);
    out["markdown"] = json!(markdown.trim_end());
    out
}

#[derive(Args)]
pub struct UpdateBlock {
    /// Id of the block, as notion_list_blocks shows it.
    block: String,
    /// New text in Markdown, one block of the same kind; replaces the old text.
    #[arg(min_length = 1, max_length = 20000)]
    content: String,
}

/// Replaces the text of one block: a paragraph, heading, list item, to-do, quote or code.
#[tool(effect = "write", idempotent, keywords = ["edit", "change", "tick", "check"],
       example = { "block": "00000000-0000-0000-0000-000000000004", "content": "- [x] cook it" })]
pub fn update_block(args: UpdateBlock, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.block, "block")?;
    let old = notion(cx).get(path!("/blocks/{}", id)).fetch()?;
    let kind = old["type"].as_str().unwrap_or_default();
    let mut new = blocks(&args.content);
    // Text without marks fits every kind of block that holds text.
    let fits = new.len() == 1 && (new[0]["type"] == kind || new[0]["type"] == "paragraph");
    if !fits || old[kind].get("rich_text").is_none() {
        return Err(ToolError::invalid(
            "/content",
            format!("expected the text of one block of the type {kind}"),
        ));
    }
    let made = new[0]["type"].as_str().unwrap_or_default().to_owned();
    let content = new[0][made.as_str()].take();
    let changed = notion(cx)
        .patch(path!("/blocks/{}", id))
        .json(&json!({ kind: content }))
        .fetch()?;
    Ok(shown(&changed))
}

#[derive(Args)]
pub struct DeleteBlock {
    /// Id of the block, as notion_list_blocks shows it.
    block: String,
}

/// Moves a block and what is nested in it to the trash.
#[tool(effect = "destructive", idempotent, keywords = ["remove"],
       example = { "block": "00000000-0000-0000-0000-000000000004" })]
pub fn delete_block(args: DeleteBlock, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.block, "block")?;
    Ok(pick(
        &notion(cx).delete(path!("/blocks/{}", id)).fetch()?,
        &["id", "type", "in_trash"],
    ))
}
