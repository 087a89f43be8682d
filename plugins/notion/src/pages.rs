//! Pages: finding, reading, making, changing, moving.

use toolgate_sdk::prelude::*;

use crate::api::{id_of, next_cursor, notion};
use crate::blocks::blocks;
use crate::content::{BLOCKS_MAX, append};
use crate::properties::{read_all, title, write_all};

/// A page as this plugin shows it.
pub fn shown(page: &Value) -> Value {
    let mut out = pick(
        page,
        &[
            "id",
            "url",
            "created_time",
            "last_edited_time",
            "in_trash",
            "parent",
        ],
    );
    out["title"] = json!(title(&page["properties"]));
    out["properties"] = read_all(&page["properties"]);
    out
}

#[derive(Args)]
pub enum ObjectKind {
    Page,
    DataSource,
}

#[derive(Args)]
pub struct Search {
    /// Words of the title; all pages and data sources unless given.
    query: Option<String>,
    /// Only pages, or only data sources (the tables of databases).
    only: Option<ObjectKind>,
    /// Results on a page.
    #[arg(min = 1, max = 100, default = 20)]
    page_size: u32,
}

/// Finds pages and data sources by title, recently edited first.
///
/// Only what is shared with the connection can be found.
#[tool(effect = "read",
    queries = ["POST https://api.notion.com/v1/search"], paginated, keywords = ["find", "lookup", "list pages"], example = { "query": "Roadmap" },
       trigger = { name: "new_page", title: "New page",
                   description: "A page was made that the connection can read; words of the title keep the list short.",
                   arguments: { only: "page", page_size: 100 }, items: "", id: ["/id"], time: "/created_time" },
       trigger = { name: "changed_page", title: "New or changed page",
                   description: "A page that the connection can read was made or edited; words of the title keep the list short.",
                   arguments: { only: "page", page_size: 100 }, items: "", id: ["/id", "/last_edited_time"],
                   time: "/last_edited_time", order: "newest_first" })]
pub fn search(args: Search, cx: &Context) -> Result<Output, ToolError> {
    let mut body = json!({
        "page_size": args.page_size,
        "sort": { "timestamp": "last_edited_time", "direction": "descending" },
    });
    if let Some(query) = args.query {
        body["query"] = json!(query);
    }
    if let Some(only) = args.only {
        body["filter"] = json!({ "property": "object", "value": only });
    }
    if let Some(cursor) = cx.cursor() {
        body["start_cursor"] = json!(cursor);
    }
    let answer = notion(cx).post("/search").json(&body).fetch()?;
    let found = answer["results"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let found: Vec<Value> = found.iter().map(result).collect();
    Output::page(found, next_cursor(&answer))
}

fn result(found: &Value) -> Value {
    let mut out = pick(
        found,
        &[
            "object",
            "id",
            "url",
            "created_time",
            "last_edited_time",
            "parent",
        ],
    );
    let text = match found["object"].as_str() {
        Some("page") => title(&found["properties"]),
        _ => crate::rich_text::to_plain(&found["title"]),
    };
    out["title"] = json!(text);
    out
}

#[derive(Args)]
pub struct GetPage {
    /// Id or address of the page.
    page: String,
}

/// Reads a page's title and properties. Its text is read by notion_get_page_content.
#[tool(effect = "read", keywords = ["properties", "fields"],
       example = { "page": "https://www.notion.so/Tuscan-kale-be633bf1dfa0436db259571129a590e5?pvs=4" })]
pub fn get_page(args: GetPage, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.page, "page")?;
    Ok(shown(&notion(cx).get(path!("/pages/{}", id)).fetch()?))
}

#[derive(Args)]
pub struct CreatePage {
    /// Id or address of the page to put it under. Either this or data_source.
    parent_page: Option<String>,
    /// Id of the data source to add it to, as notion_search and notion_get_database show it.
    data_source: Option<String>,
    /// Title of the page.
    #[arg(max_length = 2000)]
    title: String,
    /// Further properties by name, for a page in a data source: texts, numbers, true or false,
    /// dates (`2026-01-31`), names of options, lists of names or ids.
    properties: Option<Map<String, Value>>,
    /// Text of the page in Markdown.
    content: Option<String>,
    /// One emoji as its icon.
    icon: Option<String>,
}

/// Creates a page under another page, or as a row of a data source, with its text from Markdown.
#[tool(effect = "write", keywords = ["new", "note", "document", "row", "add"],
       example = { "parent_page": "be633bf1dfa0436db259571129a590e5", "title": "Notes", "content": "# Today\n- one" })]
pub fn create_page(args: CreatePage, cx: &Context) -> Result<Value, ToolError> {
    let (parent, schema) = match (&args.parent_page, &args.data_source) {
        (Some(page), None) => (
            json!({ "type": "page_id", "page_id": id_of(page, "parent_page")? }),
            None,
        ),
        (None, Some(source)) => {
            let id = id_of(source, "data_source")?;
            let source = notion(cx).get(path!("/data_sources/{}", id)).fetch()?;
            let parent = json!({ "type": "data_source_id", "data_source_id": id });
            (parent, Some(source["properties"].clone()))
        }
        _ => {
            let text = "give either parent_page or data_source";
            return Err(ToolError::invalid("/parent_page", text));
        }
    };
    let mut values = args.properties.unwrap_or_default();
    values.insert(title_name(schema.as_ref()), json!(args.title));
    let mut body = json!({ "parent": parent, "properties": write_all(&values, schema.as_ref())? });
    if let Some(emoji) = args.icon {
        body["icon"] = json!({ "type": "emoji", "emoji": emoji });
    }
    let mut children = blocks(args.content.as_deref().unwrap_or_default());
    let rest = children.split_off(children.len().min(BLOCKS_MAX));
    if !children.is_empty() {
        body["children"] = json!(children);
    }
    let page = notion(cx).post("/pages").json(&body).fetch()?;
    if let Some(id) = page["id"].as_str() {
        append(cx, id, &rest)?;
    }
    Ok(shown(&page))
}

/// What the title property is called: `title`, or as the data source names it.
pub fn title_name(schema: Option<&Value>) -> String {
    let all = schema.and_then(Value::as_object).into_iter().flatten();
    let named = all
        .into_iter()
        .find(|(_, property)| property["type"] == "title");
    named.map_or_else(|| "title".to_owned(), |(name, _)| name.clone())
}

#[derive(Args)]
pub struct UpdatePage {
    /// Id or address of the page.
    page: String,
    /// Properties to change, by name; null empties one. Values as in notion_create_page.
    properties: Option<Map<String, Value>>,
    /// One emoji as its icon.
    icon: Option<String>,
}

/// Changes properties of a page: title, status, dates, people, whatever its data source has.
#[tool(effect = "write", idempotent, keywords = ["edit", "set", "status", "assign", "rename"],
       example = { "page": "be633bf1dfa0436db259571129a590e5", "properties": { "Status": "Done" } })]
pub fn update_page(args: UpdatePage, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.page, "page")?;
    let mut body = json!({});
    if let Some(values) = args.properties {
        let page = notion(cx).get(path!("/pages/{}", id)).fetch()?;
        body["properties"] = write_all(&values, Some(&page["properties"]))?;
    }
    if let Some(emoji) = args.icon {
        body["icon"] = json!({ "type": "emoji", "emoji": emoji });
    }
    Ok(shown(
        &notion(cx)
            .patch(path!("/pages/{}", id))
            .json(&body)
            .fetch()?,
    ))
}

#[derive(Args)]
pub struct TrashPage {
    /// Id or address of the page.
    page: String,
    /// Take it out of the trash instead.
    #[arg(default = false)]
    restore: bool,
}

/// Moves a page to the trash, or takes it out again.
#[tool(effect = "destructive", idempotent, keywords = ["delete", "remove", "archive", "restore"],
       example = { "page": "be633bf1dfa0436db259571129a590e5" })]
pub fn trash_page(args: TrashPage, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.page, "page")?;
    let body = json!({ "in_trash": !args.restore });
    let page = notion(cx)
        .patch(path!("/pages/{}", id))
        .json(&body)
        .fetch()?;
    Ok(pick(&page, &["id", "in_trash", "url"]))
}

#[derive(Args)]
pub struct MovePage {
    /// Id or address of the page.
    page: String,
    /// Id or address of the page to put it under. Either this or data_source.
    parent_page: Option<String>,
    /// Id of the data source to make it a row of.
    data_source: Option<String>,
}

/// Moves a page under another page or into a data source.
#[tool(effect = "write", idempotent, keywords = ["organise", "parent"],
       example = { "page": "be633bf1dfa0436db259571129a590e5", "parent_page": "59833787-2cf9-4fdf-8782-e53db20768a5" })]
pub fn move_page(args: MovePage, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.page, "page")?;
    let parent = match (&args.parent_page, &args.data_source) {
        (Some(page), None) => {
            json!({ "type": "page_id", "page_id": id_of(page, "parent_page")? })
        }
        (None, Some(source)) => {
            json!({ "type": "data_source_id", "data_source_id": id_of(source, "data_source")? })
        }
        _ => {
            let text = "give either parent_page or data_source";
            return Err(ToolError::invalid("/parent_page", text));
        }
    };
    let body = json!({ "parent": parent });
    let page = notion(cx)
        .post(path!("/pages/{}/move", id))
        .json(&body)
        .fetch()?;
    Ok(pick(&page, &["id", "parent", "url"]))
}
