//! Where files are: their path, what is below a folder, shortcuts, and what changed.

use std::collections::VecDeque;

use toolgate_sdk::http::google::next_page;
use toolgate_sdk::prelude::*;

use crate::api::{FIELDS, api, file, id_of, shown};

const FOLDER: &str = "application/vnd.google-apps.folder";
/// Most folders above a file that are read.
const PARENTS_MAX: usize = 20;
/// Most requests spent on one tree.
const READS_MAX: usize = 30;

#[derive(Args)]
pub struct OneFile {
    /// Id or address of the file or folder.
    file: String,
}

/// Tells in which folders a file is, from the top down.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/drive.readonly"], keywords = ["location", "where is", "parent folders", "breadcrumb"], example = { "file": "1a2B3cD4eF" })]
pub fn get_file_path(args: OneFile, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    let mut folders = VecDeque::new();
    let mut next = Some(id);
    while let Some(id) = next.take() {
        let known = file(cx, &id, "id,name,parents")?;
        next = known["parents"][0].as_str().map(str::to_owned);
        folders.push_front(pick(&known, &["id", "name"]));
        if folders.len() > PARENTS_MAX {
            break;
        }
    }
    let names: Vec<&str> = folders
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    Ok(json!({ "path": names.join("/"), "folders": folders }))
}

#[derive(Args)]
pub struct ListFolderTree {
    /// Id or address of the folder; `root` is the top of My Drive.
    folder: String,
    /// How many levels of folders to read.
    #[arg(min = 1, max = 8, default = 3)]
    depth: u32,
    /// Only folders, no files.
    #[arg(default = false)]
    folders_only: bool,
}

/// Lists everything below a folder with its path, level by level. Returns truncated if there is more than one call may read.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/drive.readonly"], keywords = ["subfolders", "recursive", "directory structure", "all files"], example = { "folder": "1a2B3cD4eF", "depth": 2 })]
pub fn list_folder_tree(args: ListFolderTree, cx: &Context) -> Result<Value, ToolError> {
    let top = id_of(&args.folder, "folder")?;
    let mut waiting = VecDeque::from([(top, String::new(), 1)]);
    let mut found = Vec::new();
    let mut reads_left = READS_MAX;
    let mut truncated = false;
    while let Some((id, path, depth)) = waiting.pop_front() {
        let mut query = format!("'{id}' in parents and trashed = false");
        if args.folders_only {
            query.push_str(&format!(" and mimeType = '{FOLDER}'"));
        }
        let mut token: Option<String> = None;
        loop {
            if reads_left == 0 {
                truncated = true;
                break;
            }
            reads_left -= 1;
            let answer = api(cx)
                .get("/drive/v3/files")
                .query("q", &query)
                .query("orderBy", "folder,name")
                .query("includeItemsFromAllDrives", true)
                .query("supportsAllDrives", true)
                .query("pageSize", 500u32)
                .query("pageToken", &token)
                .query(
                    "fields",
                    "nextPageToken,files(id,name,mimeType,size,modifiedTime)",
                )
                .fetch()?;
            for one in answer["files"].as_array().into_iter().flatten() {
                let name = one["name"].as_str().unwrap_or_default();
                let own = format!("{path}/{name}");
                if one["mimeType"] == FOLDER
                    && depth < args.depth
                    && let Some(id) = one["id"].as_str()
                {
                    waiting.push_back((id.to_owned(), own.clone(), depth + 1));
                }
                let fields = ["id", "media_type=mimeType", "size", "modified=modifiedTime"];
                let mut entry = pick(one, &fields);
                entry["path"] = json!(own);
                found.push(entry);
            }
            token = next_page(&answer);
            if token.is_none() {
                break;
            }
        }
        if reads_left == 0 && !waiting.is_empty() {
            truncated = true;
            break;
        }
    }
    Ok(json!({ "files": found, "truncated": truncated }))
}

#[derive(Args)]
pub struct CreateShortcut {
    /// Id or address of the file or folder to which it leads.
    target: String,
    /// Id or address of the folder to put it into; the top of My Drive unless given.
    folder: Option<String>,
    /// Name of the shortcut; that of the target unless given.
    #[arg(min_length = 1, max_length = 500)]
    name: Option<String>,
}

/// Puts a shortcut to a file or folder into another folder.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["link to file", "add to my drive", "alias"], example = { "target": "1a2B3cD4eF", "folder": "root" })]
pub fn create_shortcut(args: CreateShortcut, cx: &Context) -> Result<Value, ToolError> {
    let target = id_of(&args.target, "target")?;
    let mut body = json!({
        "mimeType": "application/vnd.google-apps.shortcut",
        "shortcutDetails": { "targetId": target },
    });
    body["name"] = match args.name {
        Some(name) => json!(name),
        None => file(cx, &target, "name")?["name"].clone(),
    };
    if let Some(folder) = &args.folder {
        body["parents"] = json!([id_of(folder, "folder")?]);
    }
    let request = api(cx).post("/drive/v3/files").query("fields", FIELDS);
    let request = request.query("supportsAllDrives", true);
    Ok(shown(&request.json(&body).fetch()?))
}

#[derive(Args)]
pub struct ListChanges {
    /// Changes after this point, as the call before returned it. Without it the call returns only where changes begin now.
    since: Option<String>,
    /// Changes on a page.
    #[arg(min = 1, max = 500, default = 100)]
    limit: u32,
}

/// Lists files that were added, changed, trashed or removed since the last call. Call it once without `since` to begin.
#[tool(effect = "read", paginated, scopes = ["https://www.googleapis.com/auth/drive.readonly"], keywords = ["sync", "new files", "what changed", "watch"], example = { "since": "8431" })]
pub fn list_changes(args: ListChanges, cx: &Context) -> Result<Output, ToolError> {
    let Some(since) = args.since else {
        let request = api(cx).get("/drive/v3/changes/startPageToken");
        let answer = request.query("supportsAllDrives", true).fetch()?;
        let begin = json!({ "changes": [], "since": answer["startPageToken"] });
        return Output::page(begin, None);
    };
    let answer = api(cx)
        .get("/drive/v3/changes")
        .query("pageToken", cx.cursor().unwrap_or(&since))
        .query("pageSize", args.limit)
        .query("includeItemsFromAllDrives", true)
        .query("supportsAllDrives", true)
        .query(
            "fields",
            format!("nextPageToken,newStartPageToken,changes(fileId,removed,time,file({FIELDS}))"),
        )
        .fetch()?;
    let changes = answer["changes"].as_array().into_iter().flatten();
    let changes = changes.map(|change| {
        let mut out = pick(change, &["id=fileId", "removed", "time"]);
        if change["file"].is_object() {
            out["file"] = shown(&change["file"]);
        }
        out
    });
    let changes: Vec<Value> = changes.collect();
    let mut data = json!({ "changes": changes });
    if let Some(since) = answer["newStartPageToken"].as_str() {
        data["since"] = json!(since);
    }
    Output::page(data, next_page(&answer))
}

/// Deletes everything in the trash of My Drive for good.
#[tool(effect = "destructive", idempotent, scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["clear bin", "free space"], example = {})]
pub fn empty_trash(cx: &Context) -> Result<Value, ToolError> {
    api(cx).delete("/drive/v3/files/trash").send()?;
    Ok(json!({ "emptied": true }))
}

#[derive(Args)]
pub struct LockFile {
    /// Id or address of the file.
    file: String,
    /// Why nobody may change it; shown to those who open it.
    #[arg(max_length = 500)]
    reason: Option<String>,
    /// Unlock it instead.
    #[arg(default = false)]
    unlock: bool,
}

/// Locks a file so that nobody can change its content, comments or title, or unlocks it.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["read only", "freeze", "unlock", "protect"], example = { "file": "1a2B3cD4eF", "reason": "Signed version" })]
pub fn lock_file(args: LockFile, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    let mut restriction = json!({ "readOnly": !args.unlock });
    if let Some(reason) = args.reason.filter(|_| !args.unlock) {
        restriction["reason"] = json!(reason);
    }
    let request = api(cx).patch(path!("/drive/v3/files/{}", id));
    let request = request
        .query("fields", "id,name,contentRestrictions")
        .query("supportsAllDrives", true);
    let changed = request
        .json(&json!({ "contentRestrictions": [restriction] }))
        .fetch()?;
    let fields = [
        "id",
        "name",
        "locked=contentRestrictions/0/readOnly",
        "reason=contentRestrictions/0/reason",
    ];
    Ok(pick(&changed, &fields))
}
