//! Docs (workdocs), Markdown in and out.

use toolgate_sdk::prelude::*;

use crate::api::{ask, numbered};

#[derive(Args)]
pub struct ListDocs {
    /// Only docs of these workspaces; ids come from monday_list_workspaces.
    #[arg(max_items = 50)]
    workspace_ids: Option<Vec<String>>,
    /// Docs on a page.
    #[arg(min = 1, max = 100, default = 25)]
    limit: u32,
}

/// Lists docs with id, name and address, the last used first.
#[tool(effect = "read", queries = ["GRAPHQL https://api.monday.com/v2"], paginated, scopes = ["docs:read"],
       keywords = ["documents", "notes", "pages", "workdocs"], example = { "limit": 50 })]
pub fn list_docs(args: ListDocs, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query($limit: Int, $page: Int, $workspace_ids: [ID]) { \
        docs(limit: $limit, page: $page, workspace_ids: $workspace_ids, order_by: used_at) { \
        id name doc_kind url created_at updated_at workspace { name } created_by { name } } }";
    let page = cx.page_number(1)?;
    let variables =
        json!({ "limit": args.limit, "page": page, "workspace_ids": args.workspace_ids });
    let answer = ask(cx, DOCUMENT, variables)?;
    let fields = [
        "id",
        "name",
        "kind=doc_kind",
        "url",
        "created_at",
        "updated_at",
        "workspace=workspace/name",
        "author=created_by/name",
    ];
    numbered(pick_each(&answer["docs"], &fields), page, args.limit)
}

#[derive(Args)]
pub struct OneDoc {
    /// Id of the doc; ids come from monday_list_docs.
    doc_id: String,
}

/// Reads a doc as Markdown.
#[tool(effect = "read", queries = ["GRAPHQL https://api.monday.com/v2"], scopes = ["docs:read"],
       keywords = ["document", "notes", "read page"], example = { "doc_id": "12345" })]
pub fn read_doc(args: OneDoc, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "query($id: ID!) { docs(ids: [$id]) { id name url updated_at } \
        export_markdown_from_doc(docId: $id) { success markdown error } }";
    let answer = ask(cx, DOCUMENT, json!({ "id": args.doc_id }))?;
    let text = done(&answer["export_markdown_from_doc"])?;
    let mut out = pick(&answer["docs"][0], &["id", "name", "url", "updated_at"]);
    out["markdown"] = text["markdown"].clone();
    Ok(out)
}

/// What a doc operation answered, where it says that it succeeded.
fn done(answer: &Value) -> Result<&Value, ToolError> {
    if answer["success"] == true {
        return Ok(answer);
    }
    let why = answer["error"]
        .as_str()
        .unwrap_or("monday.com gives no reason");
    Err(ToolError::new(ErrorKind::Upstream, why.to_owned()))
}

/// Writes Markdown at the end of a doc.
fn append(cx: &Context, doc_id: &Value, markdown: &str) -> Result<(), ToolError> {
    const DOCUMENT: &str = "mutation($id: ID!, $markdown: String!) { \
        add_content_to_doc_from_markdown(docId: $id, markdown: $markdown) { success error } }";
    let variables = json!({ "id": doc_id, "markdown": markdown });
    let answer = ask(cx, DOCUMENT, variables)?;
    done(&answer["add_content_to_doc_from_markdown"]).map(|_| ())
}

#[derive(Args)]
pub struct CreateDoc {
    /// Workspace to put it into; ids come from monday_list_workspaces.
    workspace_id: String,
    /// Title of the doc.
    #[arg(min_length = 1, max_length = 255)]
    name: String,
    /// What it begins with, in Markdown.
    #[arg(max_length = 100000)]
    markdown: Option<String>,
    /// Folder of the workspace to put it into; ids come from monday_list_folders.
    folder_id: Option<String>,
}

/// Creates a doc in a workspace, with its text in Markdown.
#[tool(effect = "write", scopes = ["docs:write"], keywords = ["new document", "notes", "write page"],
       example = { "workspace_id": "987654", "name": "Minutes", "markdown": "# Minutes\n\n- Launch on Monday" })]
pub fn create_doc(args: CreateDoc, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str =
        "mutation($location: CreateDocInput!) { create_doc(location: $location) { id name url } }";
    let mut workspace =
        json!({ "workspace_id": args.workspace_id, "name": args.name, "kind": "public" });
    if let Some(folder) = args.folder_id {
        workspace["folder_id"] = json!(folder);
    }
    let answer = ask(
        cx,
        DOCUMENT,
        json!({ "location": { "workspace": workspace } }),
    )?;
    let made = &answer["create_doc"];
    if let Some(markdown) = args.markdown.filter(|text| !text.trim().is_empty()) {
        append(cx, &made["id"], &markdown)?;
    }
    Ok(pick(made, &["id", "name", "url"]))
}

#[derive(Args)]
pub struct AppendToDoc {
    /// Id of the doc; ids come from monday_list_docs.
    doc_id: String,
    /// What to add, in Markdown.
    #[arg(min_length = 1, max_length = 100000)]
    markdown: String,
}

/// Adds text in Markdown to the end of a doc.
#[tool(effect = "write", scopes = ["docs:write"], keywords = ["write document", "add notes"],
       example = { "doc_id": "12345", "markdown": "## Next steps\n\n1. Call Anna" })]
pub fn append_to_doc(args: AppendToDoc, cx: &Context) -> Result<Value, ToolError> {
    append(cx, &json!(args.doc_id), &args.markdown)?;
    Ok(json!({ "doc_id": args.doc_id, "appended": true }))
}

#[derive(Args)]
pub struct SetDescription {
    /// Id of the item.
    item_id: String,
    /// The whole description in Markdown; it replaces the present one.
    #[arg(min_length = 1, max_length = 100000)]
    markdown: String,
}

/// Writes the description of an item, the doc within it, in Markdown.
#[tool(effect = "write", idempotent, scopes = ["boards:write", "docs:write"], keywords = ["item text", "details", "brief"],
       example = { "item_id": "1234567891", "markdown": "Call before **noon**." })]
pub fn set_item_description(args: SetDescription, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($id: ID!, $markdown: String!) { \
        set_item_description_content(item_id: $id, markdown: $markdown) { success error } }";
    let variables = json!({ "id": args.item_id, "markdown": args.markdown });
    done(&ask(cx, DOCUMENT, variables)?["set_item_description_content"])?;
    Ok(json!({ "item_id": args.item_id, "described": true }))
}
