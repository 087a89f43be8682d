//! Finding files, and looking at what there is.

use toolgate_sdk::http::google::next_page;
use toolgate_sdk::plugin::NoArgs;
use toolgate_sdk::prelude::*;

use crate::api::{FIELDS, api, file, id_of, shown};
use crate::query::{self, SearchFiles};

/// Finds files and folders by name, content, kind, folder, owner or time; lists a folder. Newest first, unless text is searched.
#[tool(effect = "read", paginated, scopes = ["https://www.googleapis.com/auth/drive.readonly"], keywords = ["find document", "folder contents", "list files", "browse", "recent files"],
       example = { "name": "budget 2026", "kind": "spreadsheet" },
       trigger = { name: "new_file", title: "New file",
                   description: "A file or folder was made or uploaded; a folder, a kind or a name keeps the list short.",
                   arguments: { order: "created", limit: 100 }, items: "", id: ["/id"], time: "/created",
                   order: "newest_first" },
       trigger = { name: "changed_file", title: "New or changed file",
                   description: "A file or folder was made or changed; a folder, a kind or a name keeps the list short.",
                   arguments: { order: "modified", limit: 100 }, items: "", id: ["/id", "/modified"],
                   time: "/modified", order: "newest_first" })]
pub fn search_files(args: SearchFiles, cx: &Context) -> Result<Output, ToolError> {
    // The service sorts full text by relevance and refuses another order.
    let order = match (&args.order, &args.text) {
        (Some(_), Some(_)) => {
            let text = "a search for text is sorted by relevance; leave out `order` or `text`";
            return Err(ToolError::invalid("/order", text));
        }
        (Some(order), None) => Some(order.key()),
        (None, None) => Some(query::FileOrder::Modified.key()),
        (None, Some(_)) => None,
    };
    let corpora = match &args.shared_drive {
        Some(_) => "drive",
        None => "allDrives",
    };
    let answer = api(cx)
        .get("/drive/v3/files")
        .query("q", query::from_arguments(&args)?)
        .query("orderBy", order)
        .query("corpora", corpora)
        .query("driveId", args.shared_drive)
        .query("includeItemsFromAllDrives", true)
        .query("supportsAllDrives", true)
        .query("pageSize", args.limit)
        .query("pageToken", cx.cursor())
        .query("fields", format!("nextPageToken,files({FIELDS})"))
        .fetch()?;
    let files = answer["files"].as_array().into_iter().flatten();
    let files: Vec<Value> = files.map(shown).collect();
    Output::page(files, next_page(&answer))
}

#[derive(Args)]
pub struct OneFile {
    /// Id or address of the file or folder.
    file: String,
}

/// Reads name, type, size, folder, owners, times and address of a file, not its content.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/drive.readonly"], keywords = ["details", "link", "owner", "info"], example = { "file": "1a2B3cD4eF" })]
pub fn get_file(args: OneFile, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    Ok(shown(&file(cx, &id, FIELDS)?))
}

/// Tells whose Drive this is and how much space is used and left, in bytes.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/drive.readonly"], keywords = ["storage", "quota", "space left", "account"],
       example = {})]
pub fn get_about(_: NoArgs, cx: &Context) -> Result<Value, ToolError> {
    let request = api(cx).get("/drive/v3/about");
    let answer = request.query("fields", "user,storageQuota").fetch()?;
    let bytes = |key: &str| answer["storageQuota"][key].as_str()?.parse::<u64>().ok();
    let (limit, used) = (bytes("limit"), bytes("usage"));
    let left = limit
        .zip(used)
        .map(|(limit, used)| limit.saturating_sub(used));
    Ok(json!({
        "account": answer["user"]["emailAddress"], "name": answer["user"]["displayName"],
        "limit_bytes": limit, "used_bytes": used, "left_bytes": left,
        "trash_bytes": bytes("usageInDriveTrash"),
    }))
}
