//! Workspaces and their folders.

use toolgate_sdk::prelude::*;

use crate::api::{ask, numbered};

#[derive(Args)]
pub enum WorkspaceKind {
    Open,
    Closed,
}

#[derive(Args)]
pub struct CreateWorkspace {
    /// Name of the workspace.
    #[arg(min_length = 1, max_length = 255)]
    name: String,
    /// Who enters it: everybody of the account, or only those invited.
    #[arg(default = "open")]
    kind: WorkspaceKind,
    /// What it is for.
    description: Option<String>,
}

/// Creates a workspace and answers its id.
#[tool(effect = "write", scopes = ["workspaces:write"], keywords = ["new area", "department"], example = { "name": "Marketing" })]
pub fn create_workspace(args: CreateWorkspace, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($name: String!, $kind: WorkspaceKind!, $description: String) { \
        create_workspace(name: $name, kind: $kind, description: $description) { id name kind } }";
    let variables =
        json!({ "name": args.name, "kind": args.kind, "description": args.description });
    let answer = ask(cx, DOCUMENT, variables)?;
    Ok(pick(&answer["create_workspace"], &["id", "name", "kind"]))
}

#[derive(Args)]
pub struct ListFolders {
    /// Only folders of these workspaces; ids come from monday_list_workspaces.
    #[arg(max_items = 50)]
    workspace_ids: Option<Vec<String>>,
    /// Folders on a page.
    #[arg(min = 1, max = 100, default = 25)]
    limit: u32,
}

/// Lists the folders of workspaces with the boards and docs in them.
#[tool(effect = "read", queries = ["GRAPHQL https://api.monday.com/v2"], paginated, scopes = ["workspaces:read", "boards:read"],
       keywords = ["directory", "structure"], example = { "workspace_ids": ["987654"] })]
pub fn list_folders(args: ListFolders, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query($limit: Int, $page: Int, $workspace_ids: [ID]) { \
        folders(limit: $limit, page: $page, workspace_ids: $workspace_ids) { \
        id name parent { name } workspace { name } children { id name } } }";
    let page = cx.page_number(1)?;
    let variables =
        json!({ "limit": args.limit, "page": page, "workspace_ids": args.workspace_ids });
    let answer = ask(cx, DOCUMENT, variables)?;
    let fields = [
        "id",
        "name",
        "parent=parent/name",
        "workspace=workspace/name",
        "boards=children",
    ];
    numbered(pick_each(&answer["folders"], &fields), page, args.limit)
}

#[derive(Args)]
pub struct CreateFolder {
    /// Name of the folder.
    #[arg(min_length = 1, max_length = 255)]
    name: String,
    /// Workspace to put it into; ids come from monday_list_workspaces.
    workspace_id: Option<String>,
    /// Folder to put it into; ids come from monday_list_folders.
    parent_folder_id: Option<String>,
}

/// Creates a folder for boards in a workspace and answers its id.
#[tool(effect = "write", scopes = ["workspaces:write"], keywords = ["new directory", "organise boards"],
       example = { "name": "Campaigns", "workspace_id": "987654" })]
pub fn create_folder(args: CreateFolder, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($name: String!, $workspace: ID, $parent: ID) { \
        create_folder(name: $name, workspace_id: $workspace, parent_folder_id: $parent) { id name } }";
    let variables = json!({ "name": args.name, "workspace": args.workspace_id, "parent": args.parent_folder_id });
    let answer = ask(cx, DOCUMENT, variables)?;
    Ok(pick(&answer["create_folder"], &["id", "name"]))
}
