//! Notifications of the connected account.

use toolgate_sdk::prelude::*;

use crate::api::{github, page};

#[derive(Args)]
pub struct ListNotifications {
    /// Also those that were read.
    #[arg(default = false)]
    all: bool,
    /// Only where the account takes part or is mentioned.
    #[arg(default = false)]
    participating: bool,
    /// Only since this moment.
    #[arg(format = "date-time")]
    since: Option<String>,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the notifications of the connected account: what happened where, and why it is told.
#[tool(effect = "read", paginated, scopes = ["notifications"], keywords = ["inbox", "mentions", "unread"],
       example = { "all": false })]
pub fn list_notifications(args: ListNotifications, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get("/notifications").query_fields(&args),
        args.per_page,
        &[
            "id",
            "unread",
            "reason",
            "title=subject/title",
            "type=subject/type",
            "url=subject/url",
            "repo=repository/full_name",
            "updated_at",
        ],
    )
}

#[derive(Args)]
pub struct MarkNotificationRead {
    /// Id of the notification, as github_list_notifications shows it.
    #[arg(path)]
    thread_id: String,
}

/// Marks one notification as read.
#[tool(effect = "write", idempotent, scopes = ["notifications"], keywords = ["inbox", "dismiss"],
       example = { "thread_id": "1" })]
pub fn mark_notification_read(
    args: MarkNotificationRead,
    cx: &Context,
) -> Result<Value, ToolError> {
    github(cx)
        .patch(path!("/notifications/threads/{}", args.thread_id))
        .send()?;
    Ok(json!({ "read": args.thread_id }))
}

/// Marks all notifications of the connected account as read.
#[tool(effect = "write", idempotent, scopes = ["notifications"], keywords = ["clear inbox"],
       example = {})]
pub fn mark_all_notifications_read(cx: &Context) -> Result<Value, ToolError> {
    github(cx)
        .put("/notifications")
        .json(&json!({"read": true}))
        .send()?;
    Ok(json!({ "read": true }))
}
