//! Views of databases: tables, boards, calendars and the rows that they show.

use toolgate_sdk::http::send_all;
use toolgate_sdk::prelude::*;

use crate::api::{id_of, next_cursor, notion};
use crate::pages::shown;

const VIEW: &[&str] = &[
    "id",
    "name",
    "type",
    "url",
    "data_source_id",
    "filter",
    "sorts",
];

#[derive(Args)]
pub struct ListViews {
    /// Id or address of the database.
    database: String,
    /// Views on a page.
    #[arg(min = 1, max = 30, default = 20)]
    page_size: u32,
}

/// Lists the views of a database (table, board, calendar, ...) with name, type, filter and sorts.
#[tool(effect = "read", paginated, keywords = ["boards", "tabs", "layouts"],
       example = { "database": "59833787-2cf9-4fdf-8782-e53db20768a5" })]
pub fn list_views(args: ListViews, cx: &Context) -> Result<Output, ToolError> {
    let id = id_of(&args.database, "database")?;
    let answer = notion(cx)
        .get("/views")
        .query("database_id", id)
        .query("page_size", args.page_size)
        .query("start_cursor", cx.cursor())
        .fetch()?;
    // The list has only the ids.
    let ids = answer["results"].as_array().into_iter().flatten();
    let ids = ids.filter_map(|view| view["id"].as_str());
    let requests = ids.map(|id| notion(cx).get(path!("/views/{}", id)));
    let mut views = Vec::new();
    for view in send_all(requests.collect()) {
        views.push(pick(&view?.json()?, VIEW));
    }
    Output::page(views, next_cursor(&answer))
}

#[derive(Args)]
pub struct OneView {
    /// Id of the view, as notion_list_views shows it.
    view: String,
}

/// Reads one view with its filter and sorts in Notion's own form.
#[tool(effect = "read", keywords = ["board", "layout"],
       example = { "view": "1b6104cd-477e-80fd-b757-e945d38000aa" })]
pub fn get_view(args: OneView, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.view, "view")?;
    Ok(pick(&notion(cx).get(path!("/views/{}", id)).fetch()?, VIEW))
}

#[derive(Args)]
pub struct ListViewRows {
    /// Id of the view, as notion_list_views shows it.
    view: String,
    /// Rows on a page.
    #[arg(min = 1, max = 40, default = 20)]
    page_size: u32,
}

/// Lists the rows (pages) that a view shows, with its filter and in its order.
#[tool(effect = "read",
    queries = ["POST https://api.notion.com/v1/views/{id}/queries"], paginated, keywords = ["board items", "filtered rows", "run view"],
       example = { "view": "1b6104cd-477e-80fd-b757-e945d38000aa" })]
pub fn list_view_rows(args: ListViewRows, cx: &Context) -> Result<Output, ToolError> {
    let id = id_of(&args.view, "view")?;
    // The cursor is the id of the stored query and Notion's own cursor.
    let answer = match cx.cursor().and_then(|cursor| cursor.split_once(' ')) {
        Some((query, cursor)) => notion(cx)
            .get(path!("/views/{}/queries/{}", id, query))
            .query("page_size", args.page_size)
            .query("start_cursor", cursor)
            .fetch()?,
        None => notion(cx)
            .post(path!("/views/{}/queries", id))
            .json(&json!({ "page_size": args.page_size }))
            .fetch()?,
    };
    let query = cx.cursor().and_then(|cursor| cursor.split(' ').next());
    let query = query.or(answer["id"].as_str()).unwrap_or_default();
    let next = next_cursor(&answer).map(|cursor| format!("{query} {cursor}"));
    let ids = answer["results"].as_array().into_iter().flatten();
    let ids = ids.filter_map(|page| page["id"].as_str());
    let requests = ids.map(|id| notion(cx).get(path!("/pages/{}", id)));
    let mut rows = Vec::new();
    for page in send_all(requests.collect()) {
        rows.push(shown(&page?.json()?));
    }
    Output::page(rows, next)
}

#[derive(Args)]
pub enum Layout {
    Table,
    Board,
    List,
    Calendar,
    Timeline,
    Gallery,
}

#[derive(Args)]
pub struct CreateView {
    /// Id or address of the database.
    database: String,
    /// Id of the data source whose rows it shows, as notion_get_database shows it.
    data_source: String,
    /// Name of the view.
    #[arg(min_length = 1, max_length = 200)]
    name: String,
    /// How it shows the rows.
    #[arg(default = "table")]
    layout: Layout,
    /// Notion's filter object, as in notion_query_data_source.
    filter: Option<Map<String, Value>>,
}

/// Adds a view (table, board, calendar, ...) to a database.
#[tool(effect = "write", keywords = ["new board", "kanban", "layout", "tab"],
       example = { "database": "59833787-2cf9-4fdf-8782-e53db20768a5", "data_source": "248104cd477e80fdb757e945d38000bd", "name": "Open", "layout": "list" })]
pub fn create_view(args: CreateView, cx: &Context) -> Result<Value, ToolError> {
    let mut body = json!({
        "database_id": id_of(&args.database, "database")?,
        "data_source_id": id_of(&args.data_source, "data_source")?,
        "name": args.name,
        "type": args.layout,
    });
    if let Some(filter) = args.filter {
        body["filter"] = Value::Object(filter);
    }
    Ok(pick(&notion(cx).post("/views").json(&body).fetch()?, VIEW))
}

#[derive(Args)]
pub struct UpdateView {
    /// Id of the view, as notion_list_views shows it.
    view: String,
    /// The new name.
    #[arg(min_length = 1, max_length = 200)]
    name: Option<String>,
    /// Notion's filter object; replaces the old filter. An empty object removes it.
    filter: Option<Map<String, Value>>,
}

/// Renames a view or changes its filter.
#[tool(effect = "write", idempotent, keywords = ["rename board", "edit layout"],
       example = { "view": "1b6104cd-477e-80fd-b757-e945d38000aa", "name": "This week" })]
pub fn update_view(args: UpdateView, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.view, "view")?;
    let mut body = json!({});
    if let Some(name) = args.name {
        body["name"] = json!(name);
    }
    match args.filter {
        Some(filter) if filter.is_empty() => body["filter"] = Value::Null,
        Some(filter) => body["filter"] = Value::Object(filter),
        None if body == json!({}) => {
            return Err(ToolError::invalid("/name", "give name or filter"));
        }
        None => {}
    }
    let request = notion(cx).patch(path!("/views/{}", id));
    Ok(pick(&request.json(&body).fetch()?, VIEW))
}

/// Deletes a view. The rows stay.
#[tool(effect = "destructive", idempotent, keywords = ["remove board", "remove tab"],
       example = { "view": "1b6104cd-477e-80fd-b757-e945d38000aa" })]
pub fn delete_view(args: OneView, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.view, "view")?;
    notion(cx).delete(path!("/views/{}", id)).send()?;
    Ok(json!({ "deleted": id }))
}
