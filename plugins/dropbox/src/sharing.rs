//! Links for others.

use toolgate_sdk::prelude::*;

use crate::api::{below, path, rpc};

fn shown(link: &Value) -> Value {
    pick(
        link,
        &[
            "url",
            "name",
            "path=path_lower",
            "kind=.tag",
            "expires",
            "for=link_permissions/resolved_visibility/.tag",
        ],
    )
}

/// Who can open a link.
#[derive(Args)]
pub enum Audience {
    Public,
    Team,
    NoOne,
}

#[derive(Args)]
pub struct CreateSharedLink {
    /// Path or id of the file or folder.
    #[arg(min_length = 1)]
    path: String,
    /// Who can open it; as the account's settings say unless given.
    audience: Option<Audience>,
    /// Moment after which it no longer works; not with every plan.
    #[arg(format = "date-time")]
    expires: Option<String>,
}

fn links(cx: &Context, body: &Value) -> Result<Value, ToolError> {
    rpc(cx, "/sharing/list_shared_links", body)
}

/// Makes a link to a file or folder, or answers the one that there is.
#[tool(effect = "write", idempotent, scopes = ["sharing.write", "sharing.read"], keywords = ["share", "public link", "send file"], example = { "path": "/Reports/may.pdf", "audience": "public" })]
pub fn create_shared_link(args: CreateSharedLink, cx: &Context) -> Result<Value, ToolError> {
    let path = below(&args.path, "path")?;
    let mut settings = json!({});
    if let Some(audience) = &args.audience {
        settings["audience"] = json!(audience);
    }
    if let Some(expires) = &args.expires {
        settings["expires"] = json!(expires);
    }
    let body = json!({ "path": path, "settings": settings });
    let made = rpc(cx, "/sharing/create_shared_link_with_settings", &body);
    match made {
        Ok(link) => Ok(shown(&link)),
        Err(error)
            if error
                .code
                .as_deref()
                .is_some_and(|code| code.starts_with("shared_link_already_exists")) =>
        {
            let found = links(cx, &json!({ "path": path, "direct_only": true }))?;
            let first = found["links"].get(0).ok_or(error)?;
            let mut out = shown(first);
            out["made_before"] = json!(true);
            Ok(out)
        }
        Err(error) => Err(error),
    }
}

#[derive(Args)]
pub struct ListSharedLinks {
    /// Only links to this file or folder, and to the folders that it is in.
    path: Option<String>,
}

/// Lists the links that the account has made.
#[tool(effect = "read",
    queries = ["POST https://api.dropboxapi.com/2/sharing/list_shared_links"], paginated, scopes = ["sharing.read"], keywords = ["shared", "public links"], example = { "path": "/Reports" })]
pub fn list_shared_links(args: ListSharedLinks, cx: &Context) -> Result<Output, ToolError> {
    let mut body = json!({});
    if let Some(wanted) = &args.path {
        body["path"] = json!(path(wanted, "path")?);
    }
    if let Some(cursor) = cx.cursor() {
        body["cursor"] = json!(cursor);
    }
    let answer = links(cx, &body)?;
    let all = answer["links"].as_array().into_iter().flatten();
    let all: Vec<Value> = all.map(shown).collect();
    let next = answer["cursor"]
        .as_str()
        .filter(|_| answer["has_more"] == true);
    Output::page(all, next.map(str::to_owned))
}
