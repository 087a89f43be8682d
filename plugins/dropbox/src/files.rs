//! Folders, copies, moves, versions.

use toolgate_sdk::prelude::*;

use crate::api::{below, rpc, shown};
use crate::browse::OnePath;

/// Creates a folder, and those above it that are not there yet.
#[tool(effect = "write", scopes = ["files.content.write"], keywords = ["new folder", "make directory"], example = { "path": "/Reports/2026" })]
pub fn create_folder(args: OnePath, cx: &Context) -> Result<Value, ToolError> {
    let body = json!({ "path": args.below()?, "autorename": false });
    Ok(shown(
        &rpc(cx, "/files/create_folder_v2", &body)?["metadata"],
    ))
}

#[derive(Args)]
pub struct FromTo {
    /// Path or id of the file or folder.
    #[arg(min_length = 1)]
    from_path: String,
    /// The new path, with the name.
    #[arg(min_length = 1)]
    to_path: String,
    /// Take another name when there is something under the new path, in place of refusing.
    #[arg(default = false)]
    rename: bool,
}

impl FromTo {
    fn body(&self) -> Result<Value, ToolError> {
        Ok(json!({
            "from_path": below(&self.from_path, "from_path")?,
            "to_path": below(&self.to_path, "to_path")?,
            "autorename": self.rename,
        }))
    }
}

/// Copies a file or folder.
#[tool(effect = "write", scopes = ["files.content.write"], keywords = ["duplicate"], example = { "from_path": "/a.txt", "to_path": "/old/a.txt" })]
pub fn copy_file(args: FromTo, cx: &Context) -> Result<Value, ToolError> {
    Ok(shown(
        &rpc(cx, "/files/copy_v2", &args.body()?)?["metadata"],
    ))
}

/// Moves or renames a file or folder.
#[tool(effect = "write", scopes = ["files.content.write"], keywords = ["rename", "organise"], example = { "from_path": "/a.txt", "to_path": "/b.txt" })]
pub fn move_file(args: FromTo, cx: &Context) -> Result<Value, ToolError> {
    Ok(shown(
        &rpc(cx, "/files/move_v2", &args.body()?)?["metadata"],
    ))
}

/// Deletes a file, or a folder with all that is in it; Dropbox keeps them for a while.
#[tool(effect = "destructive", scopes = ["files.content.write"], keywords = ["remove", "trash"], example = { "path": "/old/a.txt" })]
pub fn delete_file(args: OnePath, cx: &Context) -> Result<Value, ToolError> {
    let body = json!({ "path": args.below()? });
    Ok(shown(&rpc(cx, "/files/delete_v2", &body)?["metadata"]))
}

#[derive(Args)]
pub struct ListRevisions {
    /// Path of the file, also of one that was deleted.
    #[arg(min_length = 1)]
    path: String,
    /// Most versions to answer.
    #[arg(min = 1, max = 100, default = 20)]
    limit: u32,
}

/// Lists the versions of a file, newest first, and whether it was deleted.
#[tool(effect = "read",
    queries = ["POST https://api.dropboxapi.com/2/files/list_revisions"], scopes = ["files.metadata.read"], keywords = ["history", "older versions", "undelete"], example = { "path": "/Reports/may.pdf" })]
pub fn list_revisions(args: ListRevisions, cx: &Context) -> Result<Value, ToolError> {
    let path = below(&args.path, "path")?;
    let body = json!({ "path": path, "mode": "path", "limit": args.limit });
    let answer = rpc(cx, "/files/list_revisions", &body)?;
    let fields = ["rev", "name", "bytes=size", "modified=server_modified"];
    Ok(json!({
        "deleted": answer["is_deleted"], "versions": pick_each(&answer["entries"], &fields),
    }))
}

#[derive(Args)]
pub struct RestoreFile {
    /// Path of the file, also of one that was deleted.
    #[arg(min_length = 1)]
    path: String,
    /// The version, as dropbox_list_revisions shows it; the newest unless given.
    rev: Option<String>,
}

/// Puts an older version of a file back, or a deleted file.
#[tool(effect = "write", idempotent, scopes = ["files.content.write", "files.metadata.read"], keywords = ["undo", "undelete", "recover", "version"], example = { "path": "/Reports/may.pdf", "rev": "a1c10ce0dd78" })]
pub fn restore_file(args: RestoreFile, cx: &Context) -> Result<Value, ToolError> {
    let path = below(&args.path, "path")?;
    let rev = match args.rev {
        Some(rev) => rev,
        None => {
            let body = json!({ "path": path, "mode": "path", "limit": 1 });
            let answer = rpc(cx, "/files/list_revisions", &body)?;
            let newest = answer["entries"][0]["rev"].as_str();
            newest
                .map(str::to_owned)
                .ok_or_else(|| ToolError::not_found("no version of this file is kept"))?
        }
    };
    let body = json!({ "path": path, "rev": rev });
    Ok(shown(&rpc(cx, "/files/restore", &body)?))
}
