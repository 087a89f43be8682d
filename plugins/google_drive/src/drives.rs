//! Shared drives: whose files belong to a group instead of a person.

use toolgate_sdk::http::google::next_page;
use toolgate_sdk::prelude::*;

use crate::api::api;

const DRIVE: &[&str] = &[
    "id",
    "name",
    "created=createdTime",
    "hidden",
    "restrictions",
];

#[derive(Args)]
pub struct ListSharedDrives {
    /// Drives on a page.
    #[arg(min = 1, max = 100, default = 50)]
    limit: u32,
}

/// Lists the shared drives that the account belongs to.
#[tool(effect = "read", paginated, scopes = ["https://www.googleapis.com/auth/drive.readonly"], keywords = ["team drives"],
       example = {})]
pub fn list_shared_drives(args: ListSharedDrives, cx: &Context) -> Result<Output, ToolError> {
    let request = api(cx).get("/drive/v3/drives");
    let request = request.query("pageSize", args.limit);
    let answer = request.query("pageToken", cx.cursor()).fetch()?;
    let drives = pick_each(&answer["drives"], &["id", "name", "created=createdTime"]);
    Output::page(drives, next_page(&answer))
}

#[derive(Args)]
pub struct OneDrive {
    /// Id of the shared drive, as google_drive_list_shared_drives shows it.
    shared_drive: String,
}

/// Reads a shared drive: its name and what is restricted in it. Its members are listed by google_drive_list_permissions.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/drive.readonly"], keywords = ["team drive"], example = { "shared_drive": "0AbCdEfGhIjKUk9PVA" })]
pub fn get_shared_drive(args: OneDrive, cx: &Context) -> Result<Value, ToolError> {
    let request = api(cx).get(path!("/drive/v3/drives/{}", args.shared_drive));
    Ok(pick(&request.query("fields", "*").fetch()?, DRIVE))
}

#[derive(Args)]
pub struct CreateSharedDrive {
    /// Name of the shared drive.
    #[arg(min_length = 1, max_length = 200)]
    name: String,
}

/// Creates a shared drive. Members are added with google_drive_share_file and its id.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["new team drive"], example = { "name": "Marketing" })]
pub fn create_shared_drive(args: CreateSharedDrive, cx: &Context) -> Result<Value, ToolError> {
    // The same number makes Drive answer a repeated request with the same drive.
    let number: String = cx
        .random_bytes(16)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let request = api(cx).post("/drive/v3/drives").query("requestId", number);
    Ok(pick(
        &request.json(&json!({ "name": args.name })).fetch()?,
        DRIVE,
    ))
}

#[derive(Args)]
pub struct UpdateSharedDrive {
    /// Id of the shared drive, as google_drive_list_shared_drives shows it.
    shared_drive: String,
    /// The new name.
    #[arg(min_length = 1, max_length = 200)]
    name: Option<String>,
    /// Whether only people of the organization may have access.
    domain_users_only: Option<bool>,
    /// Whether only members may have access to files in it.
    members_only: Option<bool>,
    /// Whether readers may download, print and copy files in it.
    readers_can_download: Option<bool>,
}

/// Renames a shared drive or changes what is restricted in it.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["rename team drive", "restrict"],
       example = { "shared_drive": "0AbCdEfGhIjKUk9PVA", "name": "Marketing 2026", "domain_users_only": true })]
pub fn update_shared_drive(args: UpdateSharedDrive, cx: &Context) -> Result<Value, ToolError> {
    let mut body = json!({});
    if let Some(name) = args.name {
        body["name"] = json!(name);
    }
    for (key, value) in [
        ("domainUsersOnly", args.domain_users_only),
        ("driveMembersOnly", args.members_only),
        (
            "copyRequiresWriterPermission",
            args.readers_can_download.map(|allowed| !allowed),
        ),
    ] {
        if let Some(value) = value {
            body["restrictions"][key] = json!(value);
        }
    }
    if body == json!({}) {
        return Err(ToolError::invalid("/name", "say what shall change"));
    }
    let request = api(cx).patch(path!("/drive/v3/drives/{}", args.shared_drive));
    let request = request.query("fields", "*");
    Ok(pick(&request.json(&body).fetch()?, DRIVE))
}

#[derive(Args)]
pub struct HideSharedDrive {
    /// Id of the shared drive, as google_drive_list_shared_drives shows it.
    shared_drive: String,
    /// Show it again instead.
    #[arg(default = false)]
    show: bool,
}

/// Hides a shared drive from the account's own list, or shows it again. Other members do not notice.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["unhide team drive"], example = { "shared_drive": "0AbCdEfGhIjKUk9PVA" })]
pub fn hide_shared_drive(args: HideSharedDrive, cx: &Context) -> Result<Value, ToolError> {
    let address = if args.show {
        path!("/drive/v3/drives/{}/unhide", args.shared_drive)
    } else {
        path!("/drive/v3/drives/{}/hide", args.shared_drive)
    };
    let request = api(cx).post(address).query("fields", "*");
    Ok(pick(&request.fetch()?, DRIVE))
}

/// Deletes an empty shared drive for good.
#[tool(effect = "destructive", idempotent, scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["remove team drive"], example = { "shared_drive": "0AbCdEfGhIjKUk9PVA" })]
pub fn delete_shared_drive(args: OneDrive, cx: &Context) -> Result<Value, ToolError> {
    let address = path!("/drive/v3/drives/{}", args.shared_drive);
    api(cx).delete(address).send()?;
    Ok(json!({ "deleted": args.shared_drive }))
}
