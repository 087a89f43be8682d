//! Channels as such: name, topic, who stays, links at the head.

use toolgate_sdk::prelude::*;

use crate::api::{call, page, slack};

#[derive(Args)]
pub struct RenameChannel {
    /// Id of the channel, for example `C024BE91L`.
    channel: String,
    /// New name in lower case, without spaces and dots.
    #[arg(min_length = 1, max_length = 80)]
    name: String,
}

/// Renames a channel; links to it and its messages stay as they are.
#[tool(effect = "write", scopes = ["channels:manage"], keywords = ["change name"],
       example = { "channel": "C024BE91L", "name": "deploys" })]
pub fn rename_channel(args: RenameChannel, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).post("/conversations.rename").json(&args))?["channel"],
        &[
            "id",
            "name",
            "is_private",
            "is_archived",
            "topic=topic/value",
            "purpose=purpose/value",
        ],
    ))
}

#[derive(Args)]
pub struct SetChannelTopic {
    /// Id of the channel, for example `C024BE91L`.
    channel: String,
    /// The topic; empty to remove it.
    #[arg(max_length = 250)]
    topic: String,
}

/// Sets the topic of a channel, shown at its head.
#[tool(effect = "write", idempotent, scopes = ["channels:manage"], keywords = ["headline", "change topic"],
       example = { "channel": "C024BE91L", "topic": "Release on Friday" })]
pub fn set_channel_topic(args: SetChannelTopic, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).post("/conversations.setTopic").json(&args))?["channel"],
        &[
            "id",
            "name",
            "is_private",
            "is_archived",
            "topic=topic/value",
            "purpose=purpose/value",
        ],
    ))
}

#[derive(Args)]
pub struct SetChannelPurpose {
    /// Id of the channel, for example `C024BE91L`.
    channel: String,
    /// The description.
    #[arg(max_length = 250)]
    purpose: String,
}

/// Sets what a channel is for.
#[tool(effect = "write", idempotent, scopes = ["channels:manage"], keywords = ["description", "about"],
       example = { "channel": "C024BE91L", "purpose": "All about deploys" })]
pub fn set_channel_purpose(args: SetChannelPurpose, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).post("/conversations.setPurpose").json(&args))?,
        &["purpose"],
    ))
}

#[derive(Args)]
pub struct ArchiveChannel {
    /// Id of the channel, for example `C024BE91L`.
    channel: String,
}

/// Archives a channel: it can be read and searched, but nobody writes there any more.
#[tool(effect = "destructive", scopes = ["channels:manage"], keywords = ["close channel", "delete channel"],
       example = { "channel": "C024BE91L" })]
pub fn archive_channel(args: ArchiveChannel, cx: &Context) -> Result<Value, ToolError> {
    call(slack(cx).post("/conversations.archive").json(&args))?;
    Ok(json!({ "archived": args.channel }))
}

/// Opens an archived channel again. Needs a user token.
#[tool(effect = "write", idempotent, scopes = ["channels:manage"], keywords = ["reopen channel", "restore"],
       example = { "channel": "C024BE91L" })]
pub fn unarchive_channel(args: ArchiveChannel, cx: &Context) -> Result<Value, ToolError> {
    call(slack(cx).post("/conversations.unarchive").json(&args))?;
    Ok(json!({ "restored": args.channel }))
}

/// Has the connected app or person leave a channel.
#[tool(effect = "write", idempotent, scopes = ["channels:manage"], keywords = ["exit"],
       example = { "channel": "C024BE91L" })]
pub fn leave_channel(args: ArchiveChannel, cx: &Context) -> Result<Value, ToolError> {
    call(slack(cx).post("/conversations.leave").json(&args))?;
    Ok(json!({ "left": args.channel }))
}

#[derive(Args)]
pub struct RemoveFromChannel {
    /// Id of the channel, for example `C024BE91L`.
    channel: String,
    /// Id of the person.
    user: String,
}

/// Removes a person from a channel.
#[tool(effect = "destructive", idempotent, scopes = ["channels:manage"], keywords = ["take out", "expel member"],
       example = { "channel": "C024BE91L", "user": "U123" })]
pub fn remove_from_channel(args: RemoveFromChannel, cx: &Context) -> Result<Value, ToolError> {
    call(slack(cx).post("/conversations.kick").json(&args))?;
    Ok(json!({ "removed": args.user }))
}

#[derive(Args)]
pub struct ListMyChannels {
    /// Id of the person; the connected one unless given.
    user: Option<String>,
    /// Kinds, separated by commas: public_channel, private_channel, mpim, im.
    #[arg(pattern = "^[a-z_,]+$", default = "public_channel")]
    types: String,
    /// Leave out archived channels.
    #[arg(default = true)]
    exclude_archived: bool,
    /// Entries on a page.
    #[arg(path, min = 1, max = 200, default = 100)]
    limit: u32,
}

/// Lists the channels and conversations that the connected app, or a person, is in.
#[tool(effect = "read", paginated, scopes = ["channels:read"], keywords = ["joined channels", "memberships"],
       example = { "types": "public_channel,private_channel" })]
pub fn list_my_channels(args: ListMyChannels, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        slack(cx).get("/users.conversations").query_fields(&args),
        args.limit,
        "channels",
        &[
            "id",
            "name",
            "is_private",
            "is_archived",
            "topic=topic/value",
            "purpose=purpose/value",
        ],
    )
}

#[derive(Args)]
pub struct MarkChannelRead {
    /// Id of the channel, for example `C024BE91L`.
    channel: String,
    /// The message's ts.
    #[arg(pattern = "^[0-9]+\\.[0-9]+$")]
    ts: String,
}

/// Marks a channel as read up to a message, for the connected person or app.
#[tool(effect = "write", idempotent, scopes = ["channels:manage"], keywords = ["unread", "read cursor"],
       example = { "channel": "C024BE91L", "ts": "1503435956.000247" })]
pub fn mark_channel_read(args: MarkChannelRead, cx: &Context) -> Result<Value, ToolError> {
    call(slack(cx).post("/conversations.mark").json(&args))?;
    Ok(json!({ "read_to": args.ts }))
}

#[derive(Args)]
pub struct ListBookmarks {
    /// Id of the channel, for example `C024BE91L`.
    channel_id: String,
}

/// Lists the links at the head of a channel.
#[tool(effect = "read", queries = ["POST https://slack.com/api/bookmarks.list"], scopes = ["bookmarks:read"], keywords = ["pinned links"],
       example = { "channel_id": "C024BE91L" })]
pub fn list_bookmarks(args: ListBookmarks, cx: &Context) -> Result<Value, ToolError> {
    let answer = call(slack(cx).post("/bookmarks.list").json(&args))?;
    Ok(pick_each(
        &answer["bookmarks"],
        &["id", "title", "link", "emoji", "type", "date_created"],
    ))
}

#[derive(Args)]
pub enum AddBookmarkType {
    Link,
}

#[derive(Args)]
pub struct AddBookmark {
    /// Id of the channel, for example `C024BE91L`.
    channel_id: String,
    /// Text of the link.
    #[arg(min_length = 1)]
    title: String,
    /// Kind of bookmark.
    #[arg(default = "link")]
    r#type: AddBookmarkType,
    /// Address.
    #[arg(format = "uri")]
    link: String,
    /// Emoji in front, for example `:book:`.
    emoji: Option<String>,
}

/// Adds a link at the head of a channel.
#[tool(effect = "write", scopes = ["bookmarks:write"], keywords = ["pin link"],
       example = { "channel_id": "C024BE91L", "title": "Runbook", "type": "link", "link": "https://example.com/runbook" })]
pub fn add_bookmark(args: AddBookmark, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).post("/bookmarks.add").json(&args))?["bookmark"],
        &["id", "title", "link", "type"],
    ))
}

#[derive(Args)]
pub struct RemoveBookmark {
    /// Id of the channel, for example `C024BE91L`.
    channel_id: String,
    /// Id of the link, as slack_list_bookmarks shows it.
    bookmark_id: String,
}

/// Removes a link from the head of a channel.
#[tool(effect = "destructive", idempotent, scopes = ["bookmarks:write"], keywords = ["unpin link"],
       example = { "channel_id": "C024BE91L", "bookmark_id": "Bk123" })]
pub fn remove_bookmark(args: RemoveBookmark, cx: &Context) -> Result<Value, ToolError> {
    call(slack(cx).post("/bookmarks.remove").json(&args))?;
    Ok(json!({ "removed": args.bookmark_id }))
}
