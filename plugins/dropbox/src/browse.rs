//! Listing, searching and looking at files.

use toolgate_sdk::plugin::NoArgs;
use toolgate_sdk::prelude::*;

use crate::api::{below, path, rpc, shown};

#[derive(Args)]
pub struct ListFolder {
    /// Path of the folder, for example `/Reports`; the top unless given.
    #[arg(default = "/")]
    path: String,
    /// Also what is in the folders below.
    #[arg(default = false)]
    recursive: bool,
    /// Entries on a page.
    #[arg(min = 1, max = 2000, default = 100)]
    limit: u32,
}

/// Lists the files and folders in a folder, or in all below it.
#[tool(effect = "read",
    queries = ["POST https://api.dropboxapi.com/2/files/list_folder", "POST https://api.dropboxapi.com/2/files/list_folder/continue"], paginated, scopes = ["files.metadata.read"], keywords = ["directory", "browse", "contents"], example = { "path": "/Reports" })]
pub fn list_folder(args: ListFolder, cx: &Context) -> Result<Output, ToolError> {
    let answer = match cx.cursor() {
        Some(cursor) => rpc(
            cx,
            "/files/list_folder/continue",
            &json!({ "cursor": cursor }),
        )?,
        None => {
            let path = path(&args.path, "path")?;
            let body = json!({ "path": path, "recursive": args.recursive, "limit": args.limit });
            rpc(cx, "/files/list_folder", &body)?
        }
    };
    let entries = answer["entries"].as_array().into_iter().flatten();
    let entries: Vec<Value> = entries.map(shown).collect();
    Output::page(entries, more(&answer))
}

fn more(answer: &Value) -> Option<String> {
    let cursor = answer["cursor"]
        .as_str()
        .filter(|_| answer["has_more"] == true);
    cursor.map(str::to_owned)
}

#[derive(Args)]
pub enum Category {
    Image,
    Document,
    Pdf,
    Spreadsheet,
    Presentation,
    Audio,
    Video,
    Folder,
    Paper,
}

#[derive(Args)]
pub struct SearchFiles {
    /// Words in the name or content.
    #[arg(min_length = 1, max_length = 1000)]
    query: String,
    /// Only below this folder.
    folder: Option<String>,
    /// Only files of these kinds.
    #[arg(max_items = 9)]
    categories: Option<Vec<Category>>,
    /// Look at names only.
    #[arg(default = false)]
    names_only: bool,
    /// Found files on a page.
    #[arg(min = 1, max = 1000, default = 50)]
    limit: u32,
}

/// Finds files and folders by words in their name or content.
#[tool(effect = "read",
    queries = ["POST https://api.dropboxapi.com/2/files/search_v2", "POST https://api.dropboxapi.com/2/files/search/continue_v2"], paginated, scopes = ["files.metadata.read"], keywords = ["find", "look for", "full text"], example = { "query": "invoice may", "folder": "/Accounting" })]
pub fn search_files(args: SearchFiles, cx: &Context) -> Result<Output, ToolError> {
    let answer = match cx.cursor() {
        Some(cursor) => rpc(
            cx,
            "/files/search/continue_v2",
            &json!({ "cursor": cursor }),
        )?,
        None => {
            let mut options =
                json!({ "max_results": args.limit, "filename_only": args.names_only });
            if let Some(folder) = &args.folder {
                options["path"] = json!(path(folder, "folder")?);
            }
            if let Some(categories) = &args.categories {
                options["file_categories"] = json!(categories);
            }
            rpc(
                cx,
                "/files/search_v2",
                &json!({ "query": args.query, "options": options }),
            )?
        }
    };
    let matches = answer["matches"].as_array().into_iter().flatten();
    let matches: Vec<Value> = matches
        .map(|one| shown(&one["metadata"]["metadata"]))
        .collect();
    Output::page(matches, more(&answer))
}

#[derive(Args)]
pub struct OnePath {
    /// Path such as `/Reports/may.pdf`, or the id of the file or folder.
    #[arg(min_length = 1)]
    path: String,
}

impl OnePath {
    pub fn below(&self) -> Result<String, ToolError> {
        below(&self.path, "path")
    }
}

/// Reads name, path, size, time and revision of a file or folder.
#[tool(effect = "read",
    queries = ["POST https://api.dropboxapi.com/2/files/get_metadata"], scopes = ["files.metadata.read"], keywords = ["details", "info", "exists"], example = { "path": "/Reports/may.pdf" })]
pub fn get_metadata(args: OnePath, cx: &Context) -> Result<Value, ToolError> {
    let body = json!({ "path": args.below()? });
    Ok(shown(&rpc(cx, "/files/get_metadata", &body)?))
}

/// Tells whose Dropbox this is and how much space is used and left, in bytes.
#[tool(effect = "read",
    queries = ["POST https://api.dropboxapi.com/2/users/get_current_account", "POST https://api.dropboxapi.com/2/users/get_space_usage"], scopes = ["account_info.read"], keywords = ["who am i", "storage", "quota", "space left"],
       example = {})]
pub fn get_account(_: NoArgs, cx: &Context) -> Result<Value, ToolError> {
    let account = rpc(cx, "/users/get_current_account", &Value::Null)?;
    let space = rpc(cx, "/users/get_space_usage", &Value::Null)?;
    let used = space["used"].as_u64();
    let limit = space["allocation"]["allocated"].as_u64();
    let left = limit
        .zip(used)
        .map(|(limit, used)| limit.saturating_sub(used));
    let mut out = pick(
        &account,
        &[
            "id=account_id",
            "name=name/display_name",
            "email",
            "type=account_type/.tag",
        ],
    );
    for (key, bytes) in [
        ("used_bytes", used),
        ("limit_bytes", limit),
        ("left_bytes", left),
    ] {
        if let Some(bytes) = bytes {
            out[key] = json!(bytes);
        }
    }
    Ok(out)
}
