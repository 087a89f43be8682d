//! Finding files, and looking at what there is.

use toolgate_sdk::http::google::next_page;
use toolgate_sdk::plugin::NoArgs;
use toolgate_sdk::prelude::*;

use crate::api::{FIELDS, api, file, id_of, shown};
use crate::query;

#[derive(Args)]
pub enum Kind {
    Folder,
    Document,
    Spreadsheet,
    Presentation,
    Form,
    Pdf,
    Image,
    Video,
    Audio,
}

#[derive(Args)]
pub struct SearchFiles {
    /// Words in the name, all of them; `"several words"` in quotes stay together.
    pub name: Option<String>,
    /// Words in the content or name, all of them; phrases in quotes.
    pub text: Option<String>,
    /// What it is, whatever program it is for.
    pub kind: Option<Kind>,
    /// Only what lies in this folder: its id or address, `root` for the top of My Drive.
    pub folder: Option<String>,
    /// Mail address of the owner, `me` for the account itself.
    pub owner: Option<String>,
    /// Changed on this day or later, or since a moment.
    #[arg(examples = ["2026-03-01"])]
    pub modified_after: Option<String>,
    /// Changed before this day or moment.
    #[arg(examples = ["2026-04-01"])]
    pub modified_before: Option<String>,
    /// Only what others shared with the account.
    #[arg(default = false)]
    pub shared_with_me: bool,
    /// Only what has a star.
    #[arg(default = false)]
    pub starred: bool,
    /// Look in the trash instead.
    #[arg(default = false)]
    pub trashed: bool,
    /// Id of the shared drive to look in; everything that the account sees unless given.
    pub shared_drive: Option<String>,
    /// Files on a page.
    #[arg(min = 1, max = 200, default = 30)]
    pub limit: u32,
}

/// Finds files and folders by name, content, kind, folder, owner or time; lists a folder. Newest first, unless text is searched.
#[tool(effect = "read", paginated, scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["find document", "folder contents", "list files", "browse", "recent files"],
       example = { "name": "budget 2026", "kind": "spreadsheet" })]
pub fn search_files(args: SearchFiles, cx: &Context) -> Result<Output, ToolError> {
    // The service sorts full text by relevance and refuses another order.
    let order = args.text.is_none().then_some("modifiedTime desc");
    let corpora = match &args.shared_drive {
        Some(_) => "drive",
        None => "allDrives",
    };
    let answer = api(cx)
        .get("/drive/v3/files")
        .query("q", query::of(&args)?)
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
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["details", "link", "owner", "info"], example = { "file": "1a2B3cD4eF" })]
pub fn get_file(args: OneFile, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    Ok(shown(&file(cx, &id, FIELDS)?))
}

#[derive(Args)]
pub struct ListSharedDrives {
    /// Drives on a page.
    #[arg(min = 1, max = 100, default = 50)]
    limit: u32,
}

/// Lists the shared drives that the account belongs to.
#[tool(effect = "read", paginated, scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["team drives"],
       example = {})]
pub fn list_shared_drives(args: ListSharedDrives, cx: &Context) -> Result<Output, ToolError> {
    let request = api(cx).get("/drive/v3/drives");
    let request = request.query("pageSize", args.limit);
    let answer = request.query("pageToken", cx.cursor()).fetch()?;
    let drives = pick_each(&answer["drives"], &["id", "name", "created=createdTime"]);
    Output::page(drives, next_page(&answer))
}

/// Tells whose Drive this is and how much space is used and left, in bytes.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["storage", "quota", "space left", "account"],
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
