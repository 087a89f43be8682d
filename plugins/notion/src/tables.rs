//! Making, changing and deleting databases and their data sources, and the templates of these.

use toolgate_sdk::prelude::*;

use crate::api::{id_of, next_cursor, notion};
use crate::columns::{Column, schema_of};
use crate::databases::columns;
use crate::pages::shown;
use crate::rich_text::{plain, to_plain};

fn database(database: &Value) -> Value {
    let fields = [
        "id",
        "url",
        "parent",
        "is_inline",
        "in_trash",
        "data_sources",
    ];
    let mut out = pick(database, &fields);
    out["title"] = json!(to_plain(&database["title"]));
    out
}

#[derive(Args)]
pub struct CreateDatabase {
    /// Id or address of the page to put it into.
    parent_page: String,
    /// Title of the database.
    #[arg(min_length = 1, max_length = 2000)]
    title: String,
    /// Its columns; a title column `Name` is added if none has the type title.
    #[arg(max_items = 100)]
    columns: Vec<Column>,
    /// A few words about it.
    #[arg(max_length = 2000)]
    description: Option<String>,
    /// Show it within the page instead of as a page of its own.
    #[arg(default = false)]
    inline: bool,
    /// One emoji as its icon.
    icon: Option<String>,
}

/// Creates a database with one table in a page. Returns its id and that of the data source, to which rows are added.
#[tool(effect = "write", keywords = ["new table", "tracker", "board"],
       example = { "parent_page": "be633bf1dfa0436db259571129a590e5", "title": "Tasks", "columns": [
           { "name": "Task", "type": "title" }, { "name": "Due", "type": "date" },
           { "name": "Stage", "type": "select", "options": ["Open", "Done"] }] })]
pub fn create_database(args: CreateDatabase, cx: &Context) -> Result<Value, ToolError> {
    let parent = id_of(&args.parent_page, "parent_page")?;
    let mut body = json!({
        "parent": { "type": "page_id", "page_id": parent },
        "title": plain(&args.title),
        "is_inline": args.inline,
        "initial_data_source": { "properties": schema_of(&args.columns)? },
    });
    if let Some(text) = &args.description {
        body["description"] = plain(text);
    }
    if let Some(emoji) = args.icon {
        body["icon"] = json!({ "type": "emoji", "emoji": emoji });
    }
    Ok(database(
        &notion(cx).post("/databases").json(&body).fetch()?,
    ))
}

#[derive(Args)]
pub struct UpdateDatabase {
    /// Id or address of the database.
    database: String,
    /// The new title.
    #[arg(min_length = 1, max_length = 2000)]
    title: Option<String>,
    /// The new description.
    #[arg(max_length = 2000)]
    description: Option<String>,
    /// Show it within its page, or as a page of its own.
    inline: Option<bool>,
    /// One emoji as its icon.
    icon: Option<String>,
    /// Lock it against changes in Notion's app, or unlock it.
    locked: Option<bool>,
    /// Id or address of the page to move it to.
    parent_page: Option<String>,
}

/// Changes title, description, icon, lock or place of a database.
#[tool(effect = "write", idempotent, keywords = ["rename", "move database", "edit table"],
       example = { "database": "59833787-2cf9-4fdf-8782-e53db20768a5", "title": "Tasks 2026" })]
pub fn update_database(args: UpdateDatabase, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.database, "database")?;
    let parent = args.parent_page.as_deref();
    let parent = parent.map(|page| id_of(page, "parent_page")).transpose()?;
    let mut body = json!({});
    for (key, value) in [
        ("title", args.title.map(|text| plain(&text))),
        ("description", args.description.map(|text| plain(&text))),
        ("is_inline", args.inline.map(Value::from)),
        (
            "icon",
            args.icon
                .map(|emoji| json!({ "type": "emoji", "emoji": emoji })),
        ),
        ("is_locked", args.locked.map(Value::from)),
        (
            "parent",
            parent.map(|page| json!({ "type": "page_id", "page_id": page })),
        ),
    ] {
        if let Some(value) = value {
            body[key] = value;
        }
    }
    if body == json!({}) {
        return Err(ToolError::invalid("/title", "say what shall change"));
    }
    let request = notion(cx).patch(path!("/databases/{}", id));
    Ok(database(&request.json(&body).fetch()?))
}

#[derive(Args)]
pub struct TrashDatabase {
    /// Id or address of the database.
    database: String,
    /// Take it out of the trash instead.
    #[arg(default = false)]
    restore: bool,
}

/// Moves a database with all its pages to the trash, or takes it out again.
#[tool(effect = "destructive", idempotent, keywords = ["delete table", "remove", "restore"],
       example = { "database": "59833787-2cf9-4fdf-8782-e53db20768a5" })]
pub fn trash_database(args: TrashDatabase, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.database, "database")?;
    let request = notion(cx).patch(path!("/databases/{}", id));
    let changed = request
        .json(&json!({ "in_trash": !args.restore }))
        .fetch()?;
    Ok(pick(&changed, &["id", "in_trash", "url"]))
}

#[derive(Args)]
pub struct UpdateDataSource {
    /// Id of the data source, as notion_search and notion_get_database show it.
    data_source: String,
    /// The new title.
    #[arg(min_length = 1, max_length = 2000)]
    title: Option<String>,
    /// Move it to the trash (true) or take it out again (false).
    trashed: Option<bool>,
}

/// Renames a data source (one table of a database), or moves it to the trash and back. Its columns have tools of their own.
#[tool(effect = "destructive", idempotent, keywords = ["rename table", "delete table"],
       example = { "data_source": "248104cd477e80fdb757e945d38000bd", "title": "Shops" })]
pub fn update_data_source(args: UpdateDataSource, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.data_source, "data_source")?;
    let mut body = json!({});
    if let Some(title) = &args.title {
        body["title"] = plain(title);
    }
    if let Some(trashed) = args.trashed {
        body["in_trash"] = json!(trashed);
    }
    if body == json!({}) {
        return Err(ToolError::invalid("/title", "give title or trashed"));
    }
    let request = notion(cx).patch(path!("/data_sources/{}", id));
    let source = request.json(&body).fetch()?;
    let mut out = pick(&source, &["id", "url", "in_trash"]);
    out["title"] = json!(to_plain(&source["title"]));
    out["properties"] = columns(&source["properties"]);
    Ok(out)
}

#[derive(Args)]
pub struct ListTemplates {
    /// Id of the data source, as notion_search and notion_get_database show it.
    data_source: String,
    /// Only templates whose name contains this.
    name: Option<String>,
    /// Templates on a page.
    #[arg(min = 1, max = 100, default = 50)]
    page_size: u32,
}

/// Lists the page templates of a data source, with the one that is used by default.
#[tool(effect = "read", paginated, keywords = ["forms", "blueprint"],
       example = { "data_source": "248104cd477e80fdb757e945d38000bd" })]
pub fn list_templates(args: ListTemplates, cx: &Context) -> Result<Output, ToolError> {
    let id = id_of(&args.data_source, "data_source")?;
    let request = notion(cx).get(path!("/data_sources/{}/templates", id));
    let answer = request
        .query("name", args.name)
        .query("page_size", args.page_size)
        .query("start_cursor", cx.cursor())
        .fetch()?;
    let templates = pick_each(&answer["templates"], &["id", "name", "is_default"]);
    Output::page(templates, next_cursor(&answer))
}

#[derive(Args)]
pub struct CreatePageFromTemplate {
    /// Id of the data source to add the page to.
    data_source: String,
    /// Title of the page.
    #[arg(max_length = 2000)]
    title: String,
    /// Id of the template, as notion_list_templates shows it; the default one unless given.
    template: Option<String>,
    /// Further properties by name, as in notion_create_page.
    properties: Option<Map<String, Value>>,
}

/// Adds a page to a data source from one of its templates. Notion fills in the template's text a moment later.
#[tool(effect = "write", keywords = ["new row", "use template"],
       example = { "data_source": "248104cd477e80fdb757e945d38000bd", "title": "Weekly review" })]
pub fn create_page_from_template(
    args: CreatePageFromTemplate,
    cx: &Context,
) -> Result<Value, ToolError> {
    let id = id_of(&args.data_source, "data_source")?;
    let source = notion(cx).get(path!("/data_sources/{}", id)).fetch()?;
    let schema = Some(&source["properties"]);
    let mut values = args.properties.unwrap_or_default();
    values.insert(crate::pages::title_name(schema), json!(args.title));
    let template = match &args.template {
        Some(template) => {
            json!({ "type": "template_id", "template_id": id_of(template, "template")? })
        }
        None => json!({ "type": "default" }),
    };
    let body = json!({
        "parent": { "type": "data_source_id", "data_source_id": id },
        "properties": crate::properties::write_all(&values, schema)?,
        "template": template,
    });
    Ok(shown(&notion(cx).post("/pages").json(&body).fetch()?))
}
