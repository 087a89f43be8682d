//! Folders.

use toolgate_sdk::prelude::*;

use crate::api::{folder_id, graph, next_page, page};

const FOLDER: [&str; 5] = [
    "id",
    "name=displayName",
    "unread=unreadItemCount",
    "messages=totalItemCount",
    "folders=childFolderCount",
];

#[derive(Args)]
pub struct ListFolders {
    /// Only the folders within this one: its name or id; those at the top unless given.
    parent: Option<String>,
    /// Folders on a page.
    #[arg(min = 1, max = 200, default = 50)]
    limit: u32,
}

/// Lists the folders of the mailbox, or of a folder, with how much in them is unread.
#[tool(effect = "read", paginated, scopes = ["Mail.Read"], keywords = ["mailbox", "directories", "unread count"],
       example = { "parent": "inbox" })]
pub fn list_folders(args: ListFolders, cx: &Context) -> Result<Output, ToolError> {
    let answer = match (cx.cursor(), &args.parent) {
        (Some(cursor), _) => graph(cx).get(page(cursor)?).fetch()?,
        (None, parent) => {
            let request = match parent {
                Some(parent) => {
                    let id = folder_id(cx, parent, "parent")?;
                    graph(cx).get(path!("/mailFolders/{}/childFolders", id))
                }
                None => graph(cx).get("/mailFolders"),
            };
            request.query("$top", args.limit).fetch()?
        }
    };
    Output::page(pick_each(&answer["value"], &FOLDER), next_page(&answer))
}

#[derive(Args)]
pub struct CreateFolder {
    /// Name of the folder.
    #[arg(min_length = 1, max_length = 255)]
    name: String,
    /// Folder to make it in: its name or id; at the top unless given.
    parent: Option<String>,
}

/// Creates a mail folder, at the top or within another one.
#[tool(effect = "write", scopes = ["Mail.ReadWrite"], keywords = ["new folder", "organise"], example = { "name": "Projects", "parent": "inbox" })]
pub fn create_folder(args: CreateFolder, cx: &Context) -> Result<Value, ToolError> {
    let request = match &args.parent {
        Some(parent) => {
            let id = folder_id(cx, parent, "parent")?;
            graph(cx).post(path!("/mailFolders/{}/childFolders", id))
        }
        None => graph(cx).post("/mailFolders"),
    };
    let made = request.json(&json!({ "displayName": args.name })).fetch()?;
    Ok(pick(&made, &FOLDER))
}

#[derive(Args)]
pub struct RenameFolder {
    /// Folder: the name of one at the top, or an id.
    #[arg(min_length = 1)]
    folder: String,
    /// New name.
    #[arg(min_length = 1, max_length = 255)]
    name: String,
}

/// Renames a mail folder.
#[tool(effect = "write", idempotent, scopes = ["Mail.ReadWrite"], keywords = ["change folder", "organise"],
       example = { "folder": "Projects", "name": "Projects 2026" })]
pub fn rename_folder(args: RenameFolder, cx: &Context) -> Result<Value, ToolError> {
    let id = folder_id(cx, &args.folder, "folder")?;
    let request = graph(cx).patch(path!("/mailFolders/{}", id));
    let changed = request.json(&json!({ "displayName": args.name })).fetch()?;
    Ok(pick(&changed, &FOLDER))
}

#[derive(Args)]
pub struct MoveFolder {
    /// Folder: the name of one at the top, or an id.
    #[arg(min_length = 1)]
    folder: String,
    /// Folder to move it into: `inbox`, `archive`, the name of one at the top, or an id.
    #[arg(min_length = 1)]
    parent: String,
}

/// Moves a mail folder with all its messages into another one.
#[tool(effect = "write", scopes = ["Mail.ReadWrite"], keywords = ["nest folder", "organise"],
       example = { "folder": "Projects", "parent": "archive" })]
pub fn move_folder(args: MoveFolder, cx: &Context) -> Result<Value, ToolError> {
    let id = folder_id(cx, &args.folder, "folder")?;
    let parent = folder_id(cx, &args.parent, "parent")?;
    let request = graph(cx).post(path!("/mailFolders/{}/move", id));
    let moved = request.json(&json!({ "destinationId": parent })).fetch()?;
    Ok(pick(&moved, &FOLDER))
}

#[derive(Args)]
pub struct DeleteFolder {
    /// Folder: the name of one at the top, or an id.
    #[arg(min_length = 1)]
    folder: String,
}

/// Deletes a mail folder with all its messages; it goes to the deleted items.
#[tool(effect = "destructive", idempotent, scopes = ["Mail.ReadWrite"], keywords = ["remove folder"],
       example = { "folder": "Old projects" })]
pub fn delete_folder(args: DeleteFolder, cx: &Context) -> Result<Value, ToolError> {
    let id = folder_id(cx, &args.folder, "folder")?;
    graph(cx).delete(path!("/mailFolders/{}", id)).send()?;
    Ok(json!({ "deleted": id }))
}
