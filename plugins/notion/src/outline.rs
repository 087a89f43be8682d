//! Where pages are and what they look like: subpages, single blocks, icon, cover, lock.

use toolgate_sdk::prelude::*;

use crate::api::{id_of, next_cursor, notion};
use crate::content::shown as block_shown;
use crate::pages::shown;

#[derive(Args)]
pub struct OneBlock {
    /// Id of the block, as notion_list_blocks shows it.
    block: String,
}

/// Reads one block of a page: its type, its text and whether blocks are nested in it.
#[tool(effect = "read", keywords = ["paragraph", "to-do"],
       example = { "block": "00000000-0000-0000-0000-000000000004" })]
pub fn get_block(args: OneBlock, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.block, "block")?;
    Ok(block_shown(
        &notion(cx).get(path!("/blocks/{}", id)).fetch()?,
    ))
}

#[derive(Args)]
pub struct ListSubpages {
    /// Id or address of the page.
    page: String,
}

/// Lists the pages and databases directly below a page, with their ids and titles.
#[tool(effect = "read", paginated, keywords = ["child pages", "table of contents", "what is in"],
       example = { "page": "be633bf1dfa0436db259571129a590e5" })]
pub fn list_subpages(args: ListSubpages, cx: &Context) -> Result<Output, ToolError> {
    let id = id_of(&args.page, "page")?;
    let request = notion(cx).get(path!("/blocks/{}/children", id));
    let answer = request
        .query("page_size", 100)
        .query("start_cursor", cx.cursor())
        .fetch()?;
    let blocks = answer["results"].as_array().into_iter().flatten();
    let found = blocks.filter_map(|block| {
        let kind = match block["type"].as_str()? {
            "child_page" => "page",
            "child_database" => "database",
            _ => return None,
        };
        let title = &block[block["type"].as_str()?]["title"];
        Some(json!({ "id": block["id"], "kind": kind, "title": title }))
    });
    let found: Vec<Value> = found.collect();
    Output::page(found, next_cursor(&answer))
}

#[derive(Args)]
pub struct UpdatePageAppearance {
    /// Id or address of the page.
    page: String,
    /// One emoji, the `https://` address of an image, or `none`.
    icon: Option<String>,
    /// The `https://` address of an image, or `none`.
    #[arg(pattern = "^(none|https://.+)$")]
    cover: Option<String>,
    /// Lock the page against changes in Notion's app, or unlock it.
    locked: Option<bool>,
}

/// Sets or removes the icon and the cover image of a page, or locks it.
#[tool(effect = "write", idempotent, keywords = ["emoji", "banner", "lock page", "header image"],
       example = { "page": "be633bf1dfa0436db259571129a590e5", "cover": "https://example.com/cover.png", "locked": true })]
pub fn update_page_appearance(
    args: UpdatePageAppearance,
    cx: &Context,
) -> Result<Value, ToolError> {
    let id = id_of(&args.page, "page")?;
    let image = |url: &str| json!({ "type": "external", "external": { "url": url } });
    let mut body = json!({});
    if let Some(icon) = &args.icon {
        body["icon"] = match icon.as_str() {
            "none" => Value::Null,
            url if url.starts_with("https://") => image(url),
            emoji => json!({ "type": "emoji", "emoji": emoji }),
        };
    }
    if let Some(cover) = &args.cover {
        body["cover"] = match cover.as_str() {
            "none" => Value::Null,
            url => image(url),
        };
    }
    if let Some(locked) = args.locked {
        body["is_locked"] = json!(locked);
    }
    if body == json!({}) {
        return Err(ToolError::invalid("/icon", "give icon, cover or locked"));
    }
    let request = notion(cx).patch(path!("/pages/{}", id));
    Ok(shown(&request.json(&body).fetch()?))
}
