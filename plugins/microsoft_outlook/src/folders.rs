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
#[tool(effect = "read", paginated, scopes = ["Mail.ReadWrite"], keywords = ["mailbox", "directories", "unread count"],
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
