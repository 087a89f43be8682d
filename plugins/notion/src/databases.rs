//! Databases and their data sources, the tables within them.

use toolgate_sdk::prelude::*;

use crate::api::{id_of, next_cursor, notion};
use crate::pages::shown;
use crate::rich_text::{plain, to_plain};

#[derive(Args)]
pub struct GetDatabase {
    /// Id or address of the database.
    database: String,
}

/// Reads a database: its title and its data sources with their ids.
#[tool(effect = "read", keywords = ["table"],
       example = { "database": "59833787-2cf9-4fdf-8782-e53db20768a5" })]
pub fn get_database(args: GetDatabase, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.database, "database")?;
    let database = notion(cx).get(path!("/databases/{}", id)).fetch()?;
    let mut out = pick(
        &database,
        &["id", "url", "parent", "in_trash", "data_sources"],
    );
    out["title"] = json!(to_plain(&database["title"]));
    Ok(out)
}

#[derive(Args)]
pub struct GetDataSource {
    /// Id of the data source, as notion_search and notion_get_database show it.
    data_source: String,
}

/// Reads the columns of a data source: name, type, and the options of a choice.
#[tool(effect = "read", keywords = ["schema", "columns", "properties", "table"],
       example = { "data_source": "248104cd477e80fdb757e945d38000bd" })]
pub fn get_data_source(args: GetDataSource, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.data_source, "data_source")?;
    let source = notion(cx).get(path!("/data_sources/{}", id)).fetch()?;
    let mut out = pick(&source, &["id", "url", "parent", "in_trash"]);
    out["title"] = json!(to_plain(&source["title"]));
    out["properties"] = columns(&source["properties"]);
    Ok(out)
}

pub fn columns(properties: &Value) -> Value {
    let mut out = Map::new();
    for (name, property) in properties.as_object().into_iter().flatten() {
        let kind = property["type"].as_str().unwrap_or_default();
        let mut column = json!({ "type": kind });
        let options = pick(&property[kind], &["options=options/*/name"]);
        if let Some(options) = options.get("options") {
            column["options"] = options.clone();
        }
        out.insert(name.clone(), column);
    }
    Value::Object(out)
}

#[derive(Args)]
pub enum Direction {
    Ascending,
    Descending,
}

#[derive(Args)]
pub struct Sort {
    /// Name of the property, or `created_time` or `last_edited_time`.
    property: String,
    /// Smallest or largest first.
    #[arg(default = "ascending")]
    direction: Direction,
}

#[derive(Args)]
pub struct QueryDataSource {
    /// Id of the data source, as notion_search and notion_get_database show it.
    data_source: String,
    /// Notion's filter object, for example `{"property":"Status","status":{"equals":"Done"}}`;
    /// several in `{"and":[...]}` or `{"or":[...]}`.
    filter: Option<Map<String, Value>>,
    /// By what to sort, first first.
    #[arg(max_items = 10)]
    sorts: Option<Vec<Sort>>,
    /// Pages (rows) on a page.
    #[arg(min = 1, max = 100, default = 25)]
    page_size: u32,
}

/// Lists the pages (rows) of a data source with their properties, filtered and sorted.
#[tool(effect = "read",
    queries = ["POST https://api.notion.com/v1/data_sources/{id}/query"], paginated, keywords = ["table", "rows", "filter", "database", "tasks"],
       example = { "data_source": "248104cd477e80fdb757e945d38000bd",
                   "filter": { "property": "Done", "checkbox": { "equals": false } } },
       trigger = { name: "new_row", title: "New row of a database",
                   description: "A row was added to a data source, which is a table of a database; a filter chooses among the rows.",
                   arguments: { sorts: [{ property: "created_time", direction: "descending" }], page_size: 100 },
                   items: "", id: ["/id"], time: "/created_time", order: "newest_first" },
       trigger = { name: "changed_row", title: "New or changed row of a database",
                   description: "A row of a data source was added or edited; a filter chooses among the rows.",
                   arguments: { sorts: [{ property: "last_edited_time", direction: "descending" }], page_size: 100 },
                   items: "", id: ["/id", "/last_edited_time"], time: "/last_edited_time", order: "newest_first" })]
pub fn query_data_source(args: QueryDataSource, cx: &Context) -> Result<Output, ToolError> {
    let id = id_of(&args.data_source, "data_source")?;
    let mut body = json!({ "page_size": args.page_size });
    if let Some(filter) = args.filter {
        body["filter"] = Value::Object(filter);
    }
    if let Some(sorts) = args.sorts {
        body["sorts"] = sorts.iter().map(sort).collect();
    }
    if let Some(cursor) = cx.cursor() {
        body["start_cursor"] = json!(cursor);
    }
    let answer = notion(cx)
        .post(path!("/data_sources/{}/query", id))
        .json(&body)
        .fetch()?;
    let rows = answer["results"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let rows: Vec<Value> = rows.iter().map(shown).collect();
    Output::page(rows, next_cursor(&answer))
}

pub fn sort(sort: &Sort) -> Value {
    let timestamp = ["created_time", "last_edited_time"].contains(&sort.property.as_str());
    let key = if timestamp { "timestamp" } else { "property" };
    json!({ key: sort.property, "direction": sort.direction })
}

#[derive(Args)]
pub struct CreateDataSource {
    /// Id or address of the database to put it into.
    database: String,
    /// Title of the data source.
    title: String,
    /// Columns by name in Notion's own form, for example
    /// `{"Name":{"title":{}},"Done":{"checkbox":{}}}`; one of them has the type title.
    #[arg(min_properties = 1)]
    properties: Map<String, Value>,
}

/// Adds a data source (a table) to a database.
#[tool(effect = "write", keywords = ["new", "table", "columns"],
       example = { "database": "59833787-2cf9-4fdf-8782-e53db20768a5", "title": "Shops", "properties": {"Name": {"title": {}}} })]
pub fn create_data_source(args: CreateDataSource, cx: &Context) -> Result<Value, ToolError> {
    let database = id_of(&args.database, "database")?;
    let body = json!({
        "parent": { "type": "database_id", "database_id": database },
        "title": plain(&args.title),
        "properties": args.properties,
    });
    let source = notion(cx).post("/data_sources").json(&body).fetch()?;
    let mut out = pick(&source, &["id", "url", "parent"]);
    out["properties"] = columns(&source["properties"]);
    Ok(out)
}
