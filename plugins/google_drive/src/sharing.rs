//! Who may see and change files.

use toolgate_sdk::http::google::next_page;
use toolgate_sdk::prelude::*;

use crate::api::{api, id_of};

pub const PERMISSION: &str = "id,type,role,emailAddress,domain,displayName,expirationTime";

pub fn shown(permission: &Value) -> Value {
    pick(
        permission,
        &[
            "id",
            "kind=type",
            "role",
            "who=domain",
            "who=emailAddress",
            "name=displayName",
            "until=expirationTime",
        ],
    )
}

/// Everybody who may see a file.
fn permissions(cx: &Context, id: &str, cursor: Option<&str>) -> Result<Value, ToolError> {
    api(cx)
        .get(path!("/drive/v3/files/{}/permissions", id))
        .query("fields", format!("nextPageToken,permissions({PERMISSION})"))
        .query("pageSize", 100u32)
        .query("pageToken", cursor)
        .query("supportsAllDrives", true)
        .fetch()
}

/// The permission of a person, a domain or anyone, by what they are called.
pub fn permission_of(cx: &Context, id: &str, who: &str) -> Result<Value, ToolError> {
    let answer = permissions(cx, id, None)?;
    let mut all = answer["permissions"].as_array().into_iter().flatten();
    let same = |value: &Value| {
        let known = value.as_str();
        known.is_some_and(|known| known.eq_ignore_ascii_case(who))
    };
    let found = all.find(|one| {
        ["emailAddress", "domain", "id"]
            .iter()
            .any(|key| same(&one[*key]))
            || (who == "anyone" && one["type"] == "anyone")
    });
    found.cloned().ok_or_else(|| {
        ToolError::not_found(format!("`{who}` has no access of their own to this file"))
    })
}

#[derive(Args)]
pub struct ListPermissions {
    /// Id or address of the file or folder.
    file: String,
}

/// Lists who may see or change a file or folder.
#[tool(effect = "read", paginated, scopes = ["https://www.googleapis.com/auth/drive.readonly"], keywords = ["who has access", "shared with", "sharing"], example = { "file": "1a2B3cD4eF" })]
pub fn list_permissions(args: ListPermissions, cx: &Context) -> Result<Output, ToolError> {
    let id = id_of(&args.file, "file")?;
    let answer = permissions(cx, &id, cx.cursor())?;
    let all = answer["permissions"].as_array().into_iter().flatten();
    let all: Vec<Value> = all.map(shown).collect();
    Output::page(all, next_page(&answer))
}

#[derive(Args)]
pub enum Role {
    Reader,
    Commenter,
    Writer,
}

#[derive(Args)]
pub struct ShareFile {
    /// Id or address of the file or folder.
    file: String,
    /// Mail address of a person or group, a domain, or `anyone` who has the link.
    #[arg(min_length = 3)]
    with: String,
    /// What they may do.
    #[arg(default = "reader")]
    role: Role,
    /// Send them a mail about it.
    #[arg(default = true)]
    notify: bool,
    /// What that mail says.
    message: Option<String>,
}

/// Gives a person, a group, a domain or anyone with the link access to a file or folder; answers its address.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["give access", "invite", "permission", "public link"],
       example = { "file": "1a2B3cD4eF", "with": "anna@example.com", "role": "writer" })]
pub fn share_file(args: ShareFile, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    let mut body = json!({ "role": args.role });
    let person = args.with.contains('@');
    match args.with.as_str() {
        "anyone" => body["type"] = json!("anyone"),
        mail if person => {
            body["type"] = json!("user");
            body["emailAddress"] = json!(mail);
        }
        domain => {
            body["type"] = json!("domain");
            body["domain"] = json!(domain);
        }
    }
    let request = api(cx).post(path!("/drive/v3/files/{}/permissions", id));
    let request = request
        .query("fields", PERMISSION)
        .query("supportsAllDrives", true)
        .query("sendNotificationEmail", person.then_some(args.notify))
        .query(
            "emailMessage",
            args.message.filter(|_| person && args.notify),
        );
    let mut out = shown(&request.json(&body).fetch()?);
    out["url"] = json!(format!("https://drive.google.com/open?id={id}"));
    Ok(out)
}

#[derive(Args)]
pub struct RemovePermission {
    /// Id or address of the file or folder.
    file: String,
    /// Mail address, domain, `anyone`, or the id of the permission.
    who: String,
}

/// Takes somebody's access to a file or folder away.
#[tool(effect = "destructive", idempotent, scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["unshare", "stop sharing", "revoke access"],
       example = { "file": "1a2B3cD4eF", "who": "anna@example.com" })]
pub fn remove_permission(args: RemovePermission, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    let one = permission_of(cx, &id, &args.who)?;
    let permission = one["id"].as_str().unwrap_or_default();
    let request = api(cx).delete(path!("/drive/v3/files/{}/permissions/{}", id, permission));
    request.query("supportsAllDrives", true).send()?;
    Ok(json!({ "removed": shown(&one) }))
}
