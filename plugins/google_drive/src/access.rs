//! Access changed after it was given: roles, owners, requests for access, and what those with access may do.

use toolgate_sdk::http::google::next_page;
use toolgate_sdk::prelude::*;

use crate::api::{api, id_of};
use crate::sharing::{PERMISSION, Role, permission_of, shown};

#[derive(Args)]
pub struct UpdatePermission {
    /// Id or address of the file or folder.
    file: String,
    /// Mail address, domain, `anyone`, or the id of the permission.
    who: String,
    /// What they may do now.
    role: Option<Role>,
    /// When the access ends, for example `2026-12-31T18:00:00Z`; `never` removes the end.
    #[arg(pattern = "^(never|[0-9]{4}-[0-9]{2}-[0-9]{2}T.+)$", examples = ["2026-12-31T18:00:00Z"])]
    until: Option<String>,
}

/// Changes what a person, group or link may do with a file, or until when.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["change role", "make editor", "expire access", "viewer"],
       example = { "file": "1a2B3cD4eF", "who": "anna@example.com", "role": "reader" })]
pub fn update_permission(args: UpdatePermission, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    if args.role.is_none() && args.until.is_none() {
        return Err(ToolError::invalid("/role", "give role or until"));
    }
    let one = permission_of(cx, &id, &args.who)?;
    // Drive wants the role with every change.
    let mut body = json!({ "role": one["role"] });
    if let Some(role) = args.role {
        body["role"] = json!(role);
    }
    let never = args.until.as_deref() == Some("never");
    if let Some(until) = args.until.filter(|_| !never) {
        body["expirationTime"] = json!(until);
    }
    let permission = one["id"].as_str().unwrap_or_default();
    let request = api(cx).patch(path!("/drive/v3/files/{}/permissions/{}", id, permission));
    let request = request
        .query("fields", PERMISSION)
        .query("supportsAllDrives", true)
        .query("removeExpiration", never.then_some(true));
    Ok(shown(&request.json(&body).fetch()?))
}

#[derive(Args)]
pub struct TransferOwnership {
    /// Id or address of the file or folder.
    file: String,
    /// Mail address of the new owner, in the same organization.
    #[arg(pattern = "^[^@ ]+@[^@ ]+$")]
    to: String,
}

/// Makes another person the owner of a file or folder; the account stays an editor. Cannot be taken back by the account.
#[tool(effect = "destructive", scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["change owner", "hand over"],
       example = { "file": "1a2B3cD4eF", "to": "anna@example.com" })]
pub fn transfer_ownership(args: TransferOwnership, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    let request = api(cx).post(path!("/drive/v3/files/{}/permissions", id));
    let request = request
        .query("fields", PERMISSION)
        .query("supportsAllDrives", true)
        .query("transferOwnership", true);
    let body = json!({ "role": "owner", "type": "user", "emailAddress": args.to });
    Ok(shown(&request.json(&body).fetch()?))
}

#[derive(Args)]
pub struct UpdateSharingSettings {
    /// Id or address of the file.
    file: String,
    /// Whether editors may share it and change who has access.
    editors_can_share: Option<bool>,
    /// Whether those who may only read or comment may download, print and copy it.
    readers_can_download: Option<bool>,
}

/// Sets whether editors may share a file and whether readers may download, print and copy it.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["prevent download", "restrict sharing", "copy protection"],
       example = { "file": "1a2B3cD4eF", "readers_can_download": false })]
pub fn update_sharing_settings(
    args: UpdateSharingSettings,
    cx: &Context,
) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    let mut body = json!({});
    if let Some(allowed) = args.editors_can_share {
        body["writersCanShare"] = json!(allowed);
    }
    if let Some(allowed) = args.readers_can_download {
        body["copyRequiresWriterPermission"] = json!(!allowed);
    }
    if body == json!({}) {
        let text = "give editors_can_share or readers_can_download";
        return Err(ToolError::invalid("/editors_can_share", text));
    }
    let request = api(cx).patch(path!("/drive/v3/files/{}", id));
    let changed = request
        .query(
            "fields",
            "id,name,writersCanShare,copyRequiresWriterPermission",
        )
        .query("supportsAllDrives", true)
        .json(&body)
        .fetch()?;
    let mut out = pick(
        &changed,
        &["id", "name", "editors_can_share=writersCanShare"],
    );
    out["readers_can_download"] = json!(changed["copyRequiresWriterPermission"] != true);
    Ok(out)
}

#[derive(Args)]
pub struct ListAccessRequests {
    /// Id or address of the file or folder.
    file: String,
    /// Requests on a page.
    #[arg(min = 1, max = 100, default = 30)]
    limit: u32,
}

/// Lists who asked for access to a file and waits for an answer.
#[tool(effect = "read", paginated, scopes = ["https://www.googleapis.com/auth/drive.readonly"], keywords = ["pending requests", "wants access", "access proposals"], example = { "file": "1a2B3cD4eF" })]
pub fn list_access_requests(args: ListAccessRequests, cx: &Context) -> Result<Output, ToolError> {
    let id = id_of(&args.file, "file")?;
    let request = api(cx).get(path!("/drive/v3/files/{}/accessproposals", id));
    let request = request.query("pageSize", args.limit);
    let answer = request.query("pageToken", cx.cursor()).fetch()?;
    let fields = [
        "id=proposalId",
        "who=recipientEmailAddress",
        "asked_by=requesterEmailAddress",
        "message=requestMessage",
        "roles=rolesAndViews/*/role",
        "created=createTime",
    ];
    Output::page(
        pick_each(&answer["accessProposals"], &fields),
        next_page(&answer),
    )
}

#[derive(Args)]
pub struct AnswerAccessRequest {
    /// Id or address of the file or folder.
    file: String,
    /// Id of the request, as google_drive_list_access_requests shows it.
    request: String,
    /// Give the access, or deny it.
    accept: bool,
    /// What they may do, if the request is accepted.
    #[arg(default = "reader")]
    role: Role,
    /// Tell them by mail.
    #[arg(default = true)]
    notify: bool,
}

/// Accepts or denies a request for access to a file.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["grant access", "approve request", "deny"],
       example = { "file": "1a2B3cD4eF", "request": "p1", "accept": true, "role": "commenter" })]
pub fn answer_access_request(args: AnswerAccessRequest, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    let mut body = json!({
        "action": if args.accept { "ACCEPT" } else { "DENY" }, "sendNotification": args.notify,
    });
    if args.accept {
        body["role"] = json!([args.role]);
    }
    let address = path!(
        "/drive/v3/files/{}/accessproposals/{}:resolve",
        id,
        args.request
    );
    api(cx).post(address).json(&body).send()?;
    Ok(json!({ "request": args.request, "accepted": args.accept }))
}
