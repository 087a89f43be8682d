//! Folders, names, places, copies, the trash.

use toolgate_sdk::prelude::*;

use crate::api::{FIELDS, api, file, id_of, shown};

const FOLDER: &str = "application/vnd.google-apps.folder";

#[derive(Args)]
pub struct CreateFolder {
    /// Name of the folder.
    #[arg(min_length = 1, max_length = 500)]
    name: String,
    /// Id or address of the folder to make it in; the top of My Drive unless given.
    folder: Option<String>,
}

/// Creates an empty folder and answers its id and address.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["new folder", "make directory"], example = { "name": "Contracts" })]
pub fn create_folder(args: CreateFolder, cx: &Context) -> Result<Value, ToolError> {
    let mut body = json!({ "name": args.name, "mimeType": FOLDER });
    if let Some(folder) = &args.folder {
        body["parents"] = json!([id_of(folder, "folder")?]);
    }
    let request = api(cx).post("/drive/v3/files").query("fields", FIELDS);
    let request = request.query("supportsAllDrives", true);
    Ok(shown(&request.json(&body).fetch()?))
}

#[derive(Args)]
pub struct UpdateFile {
    /// Id or address of the file or folder.
    file: String,
    /// The new name, with its ending.
    #[arg(min_length = 1, max_length = 500)]
    name: Option<String>,
    /// Id or address of the folder to move it to; `root` is the top of My Drive.
    folder: Option<String>,
    /// A few words about it.
    description: Option<String>,
    /// Give it a star, or take it off.
    starred: Option<bool>,
}

/// Renames a file or folder, moves it to another folder, describes it or gives it a star.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["rename", "move", "organise", "star"],
       example = { "file": "1a2B3cD4eF", "name": "Budget 2026.xlsx" })]
pub fn update_file(args: UpdateFile, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    let mut body = json!({});
    for (key, value) in [
        ("name", args.name.map(Value::from)),
        ("description", args.description.map(Value::from)),
        ("starred", args.starred.map(Value::from)),
    ] {
        if let Some(value) = value {
            body[key] = value;
        }
    }
    let mut request = api(cx).patch(path!("/drive/v3/files/{}", id));
    match &args.folder {
        Some(folder) => {
            let folder = id_of(folder, "folder")?;
            let known = file(cx, &id, "parents")?;
            let before = known["parents"].as_array().into_iter().flatten();
            let before: Vec<&str> = before.filter_map(Value::as_str).collect();
            request = request.query("addParents", folder);
            if !before.is_empty() {
                request = request.query("removeParents", before.join(","));
            }
        }
        None if body == json!({}) => {
            return Err(ToolError::invalid("", "say what shall change"));
        }
        None => {}
    }
    let request = request.query("supportsAllDrives", true);
    Ok(shown(&request.query("fields", FIELDS).json(&body).fetch()?))
}

#[derive(Args)]
pub struct CopyFile {
    /// Id or address of the file.
    file: String,
    /// Name of the copy; "Copy of" and the old one unless given.
    #[arg(min_length = 1, max_length = 500)]
    name: Option<String>,
    /// Id or address of the folder to put it into; that of the original unless given.
    folder: Option<String>,
}

/// Copies a file, for example a template before it is filled.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["duplicate", "template"], example = { "file": "1a2B3cD4eF", "name": "Offer Acme" })]
pub fn copy_file(args: CopyFile, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    let mut body = json!({});
    if let Some(name) = args.name {
        body["name"] = json!(name);
    }
    if let Some(folder) = &args.folder {
        body["parents"] = json!([id_of(folder, "folder")?]);
    }
    let request = api(cx).post(path!("/drive/v3/files/{}/copy", id));
    let request = request.query("supportsAllDrives", true);
    Ok(shown(&request.query("fields", FIELDS).json(&body).fetch()?))
}

#[derive(Args)]
pub struct TrashFile {
    /// Id or address of the file or folder.
    file: String,
    /// Take it out of the trash instead.
    #[arg(default = false)]
    restore: bool,
}

/// Moves a file or folder to the trash, or takes it out again.
#[tool(effect = "destructive", idempotent, scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["delete", "remove", "restore", "bin"], example = { "file": "1a2B3cD4eF" })]
pub fn trash_file(args: TrashFile, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    let request = api(cx).patch(path!("/drive/v3/files/{}", id));
    let request = request
        .query("supportsAllDrives", true)
        .query("fields", FIELDS);
    Ok(shown(
        &request.json(&json!({ "trashed": !args.restore })).fetch()?,
    ))
}

#[derive(Args)]
pub struct DeleteFile {
    /// Id or address of the file, or of a folder with all that is in it.
    file: String,
}

/// Deletes a file or folder for good, past the trash. To be able to go back use google_drive_trash_file.
#[tool(effect = "destructive", scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["erase", "permanently"], example = { "file": "1a2B3cD4eF" })]
pub fn delete_file(args: DeleteFile, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    let request = api(cx).delete(path!("/drive/v3/files/{}", id));
    request.query("supportsAllDrives", true).send()?;
    Ok(json!({ "deleted": id }))
}
