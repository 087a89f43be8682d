//! Notifications of the connected account.

use toolgate_sdk::prelude::*;

use crate::api::{github, page_where};

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
    /// Only those told for one of these reasons, such as `mention`, `review_requested` or `assign`; a page then has fewer.
    #[arg(path, max_items = 20)]
    reasons: Option<Vec<String>>,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the notifications of the connected account: what happened where, and why it is told.
#[tool(effect = "read", paginated, scopes = ["notifications"], keywords = ["inbox", "mentions", "unread"],
       example = { "all": false },
       trigger = { name: "mention", title: "Mention",
                   description: "The account or one of its teams was mentioned, or a conversation in which it was goes on.",
                   arguments: { all: true, participating: true, reasons: ["mention", "team_mention"], per_page: 50 },
                   items: "", id: ["/id", "/updated_at"], time: "/updated_at", order: "newest_first" })]
pub fn list_notifications(args: ListNotifications, cx: &Context) -> Result<Output, ToolError> {
    let keep = |one: &Value| {
        let reason = one["reason"].as_str().unwrap_or_default();
        let wanted = args.reasons.as_ref();
        wanted.is_none_or(|wanted| wanted.iter().any(|known| known == reason))
    };
    page_where(
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
        keep,
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
