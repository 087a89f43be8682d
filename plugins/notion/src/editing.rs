//! The text of pages changed in place. Notion does it itself, so blocks that stay keep their ids and comments.

use toolgate_sdk::prelude::*;

use crate::api::{id_of, notion};

fn change(cx: &Context, page: &str, kind: &str, what: Value) -> Result<Value, ToolError> {
    let id = id_of(page, "page")?;
    let body = json!({ "type": kind, kind: what });
    let changed = notion(cx)
        .patch(path!("/pages/{}/markdown", id))
        .json(&body)
        .fetch()?;
    Ok(pick(&changed, &["id", "markdown", "truncated"]))
}

#[derive(Args)]
pub struct Replacement {
    /// Text of the page to replace, written exactly as in the page; it must be there once unless `all` is true.
    #[arg(min_length = 1, max_length = 20000)]
    old: String,
    /// The text to put in its place, in Markdown; empty deletes the old text.
    #[arg(max_length = 20000)]
    new: String,
    /// Replace every place where the old text is found.
    #[arg(default = false)]
    all: bool,
}

#[derive(Args)]
pub struct EditPageContent {
    /// Id or address of the page.
    page: String,
    /// Replacements, made in this order.
    #[arg(min_items = 1, max_items = 100)]
    edits: Vec<Replacement>,
    /// Also delete subpages and databases that are in a replaced text.
    #[arg(default = false)]
    delete_subpages: bool,
}

/// Finds text in a page and replaces it; the rest of the page stays as it is. Returns the new text.
#[tool(effect = "write", keywords = ["find and replace", "correct", "rewrite", "change text"],
       example = { "page": "be633bf1dfa0436db259571129a590e5", "edits": [{ "old": "call Mona", "new": "call **Lisa**" }] })]
pub fn edit_page_content(args: EditPageContent, cx: &Context) -> Result<Value, ToolError> {
    let updates = args.edits.iter().map(
        |edit| json!({ "old_str": edit.old, "new_str": edit.new, "replace_all_matches": edit.all }),
    );
    let updates: Vec<Value> = updates.collect();
    let what = json!({
        "content_updates": updates, "allow_deleting_content": args.delete_subpages,
    });
    change(cx, &args.page, "update_content", what)
}

#[derive(Args)]
pub struct ReplacePageContent {
    /// Id or address of the page.
    page: String,
    /// The new text of the whole page, in Markdown.
    #[arg(max_length = 200000)]
    content: String,
    /// Also delete the subpages and databases of the page. Without it the call fails if the page has any.
    #[arg(default = false)]
    delete_subpages: bool,
}

/// Replaces the whole text of a page; its title and properties stay. Returns the new text.
#[tool(effect = "destructive", idempotent, keywords = ["overwrite", "rewrite", "set text", "clear page"],
       example = { "page": "be633bf1dfa0436db259571129a590e5", "content": "# Plan\n- [ ] first step" })]
pub fn replace_page_content(args: ReplacePageContent, cx: &Context) -> Result<Value, ToolError> {
    let what = json!({
        "new_str": args.content, "allow_deleting_content": args.delete_subpages,
    });
    change(cx, &args.page, "replace_content", what)
}

#[derive(Args)]
pub enum Place {
    Start,
    End,
}

#[derive(Args)]
pub struct InsertPageContent {
    /// Id or address of the page.
    page: String,
    /// Text to insert, in Markdown.
    #[arg(min_length = 1, max_length = 200000)]
    content: String,
    /// Where, if `after_block` is not given.
    #[arg(default = "start")]
    place: Place,
    /// Id of the block after which to insert, as notion_list_blocks shows it. At most 100 blocks are inserted.
    after_block: Option<String>,
}

/// Inserts Markdown at the start of a page or after one of its blocks.
#[tool(effect = "write", keywords = ["prepend", "add on top", "insert below"],
       example = { "page": "be633bf1dfa0436db259571129a590e5", "content": "> Draft", "place": "start" })]
pub fn insert_page_content(args: InsertPageContent, cx: &Context) -> Result<Value, ToolError> {
    let Some(after) = &args.after_block else {
        let what = json!({ "content": args.content, "position": { "type": args.place } });
        return change(cx, &args.page, "insert_content", what);
    };
    let after = id_of(after, "after_block")?;
    let id = id_of(&args.page, "page")?;
    let blocks = crate::blocks::blocks(&args.content);
    if blocks.len() > crate::content::BLOCKS_MAX {
        let text = "more than 100 blocks cannot be inserted after a block in one call";
        return Err(ToolError::invalid("/content", text));
    }
    let body = json!({
        "children": blocks,
        "position": { "type": "after_block", "after_block": { "id": after } },
    });
    let request = notion(cx).patch(path!("/blocks/{}/children", id));
    request.json(&body).send()?;
    Ok(json!({ "id": id, "blocks_inserted": blocks.len() }))
}
