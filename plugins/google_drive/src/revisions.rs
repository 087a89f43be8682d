//! Older versions of files.

use toolgate_sdk::http::google::next_page;
use toolgate_sdk::prelude::*;

use crate::api::{api, file, id_of};

const REVISION: &str = "id,mimeType,modifiedTime,size,keepForever,originalFilename,lastModifyingUser(displayName,emailAddress)";

fn shown(revision: &Value) -> Value {
    let fields = [
        "id",
        "modified=modifiedTime",
        "by=lastModifyingUser/displayName",
        "name=originalFilename",
        "media_type=mimeType",
        "size",
        "kept_forever=keepForever",
    ];
    pick(revision, &fields)
}

#[derive(Args)]
pub struct ListRevisions {
    /// Id or address of the file.
    file: String,
    /// Versions on a page.
    #[arg(min = 1, max = 200, default = 50)]
    limit: u32,
}

/// Lists the versions of a file, oldest first: when and by whom each was saved.
#[tool(effect = "read", paginated, scopes = ["https://www.googleapis.com/auth/drive.readonly"], keywords = ["version history", "who changed", "previous versions"], example = { "file": "1a2B3cD4eF" })]
pub fn list_revisions(args: ListRevisions, cx: &Context) -> Result<Output, ToolError> {
    let id = id_of(&args.file, "file")?;
    let answer = api(cx)
        .get(path!("/drive/v3/files/{}/revisions", id))
        .query("fields", format!("nextPageToken,revisions({REVISION})"))
        .query("pageSize", args.limit)
        .query("pageToken", cx.cursor())
        .fetch()?;
    let all = answer["revisions"].as_array().into_iter().flatten();
    let all: Vec<Value> = all.map(shown).collect();
    Output::page(all, next_page(&answer))
}

#[derive(Args)]
pub struct OneRevision {
    /// Id or address of the file.
    file: String,
    /// Id of the version, as google_drive_list_revisions shows it.
    revision: String,
}

/// Reads when and by whom a version of a file was saved.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/drive.readonly"], keywords = ["version details"], example = { "file": "1a2B3cD4eF", "revision": "42" })]
pub fn get_revision(args: OneRevision, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    let request = api(cx).get(path!("/drive/v3/files/{}/revisions/{}", id, args.revision));
    Ok(shown(&request.query("fields", REVISION).fetch()?))
}

/// Downloads an older version of a file. Google documents have none that can be downloaded.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/drive.readonly"], keywords = ["old version", "restore", "get previous version"], example = { "file": "1a2B3cD4eF", "revision": "42" })]
pub fn download_revision(args: OneRevision, cx: &Context) -> Result<Output, ToolError> {
    let id = id_of(&args.file, "file")?;
    let known = file(cx, &id, "id,name,mimeType")?;
    let media_type = known["mimeType"].as_str().unwrap_or_default();
    if crate::formats::is_google(media_type) {
        let text = "older versions of Google's own documents cannot be downloaded";
        return Err(ToolError::invalid("/file", text));
    }
    let request = api(cx).get(path!("/drive/v3/files/{}/revisions/{}", id, args.revision));
    let content = request.query("alt", "media").download()?;
    let told = json!({
        "id": id, "revision": args.revision, "name": known["name"], "bytes": content.size(),
    });
    Ok(Output::new(told)?.file(content))
}

#[derive(Args)]
pub struct KeepRevision {
    /// Id or address of the file.
    file: String,
    /// Id of the version, as google_drive_list_revisions shows it.
    revision: String,
    /// Keep it for good, or let Drive delete it after 30 days. At most 200 versions of a file are kept.
    #[arg(default = true)]
    keep: bool,
}

/// Keeps a version of a file for good; Drive deletes other versions after 30 days.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["pin version", "keep forever"], example = { "file": "1a2B3cD4eF", "revision": "42" })]
pub fn keep_revision(args: KeepRevision, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    let request = api(cx).patch(path!("/drive/v3/files/{}/revisions/{}", id, args.revision));
    let request = request.query("fields", REVISION);
    Ok(shown(
        &request.json(&json!({ "keepForever": args.keep })).fetch()?,
    ))
}

/// Deletes an older version of a file for good. The current version cannot be deleted.
#[tool(effect = "destructive", scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["remove version"], example = { "file": "1a2B3cD4eF", "revision": "42" })]
pub fn delete_revision(args: OneRevision, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    let address = path!("/drive/v3/files/{}/revisions/{}", id, args.revision);
    api(cx).delete(address).send()?;
    Ok(json!({ "deleted": args.revision }))
}
