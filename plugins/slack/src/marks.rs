//! Reactions, pins, planned messages, reminders.

use toolgate_sdk::prelude::*;

use crate::api::{call, slack};

#[derive(Args)]
pub struct RemoveReaction {
    /// Id of the channel, for example `C024BE91L`.
    channel: String,
    /// The message's ts.
    #[arg(pattern = "^[0-9]+\\.[0-9]+$")]
    timestamp: String,
    /// Name of the emoji without colons, for example `thumbsup`.
    #[arg(pattern = "^[^:\\s]+$")]
    name: String,
}

/// Removes one's own reaction from a message.
#[tool(effect = "destructive", idempotent, scopes = ["reactions:write"], keywords = ["emoji", "undo reaction"],
       example = { "channel": "C024BE91L", "timestamp": "1503435956.000247", "name": "thumbsup" })]
pub fn remove_reaction(args: RemoveReaction, cx: &Context) -> Result<Value, ToolError> {
    call(slack(cx).post("/reactions.remove").json(&args))?;
    Ok(json!({ "removed": args.name }))
}

#[derive(Args)]
pub struct GetReactions {
    /// Id of the channel, for example `C024BE91L`.
    channel: String,
    /// The message's ts.
    #[arg(pattern = "^[0-9]+\\.[0-9]+$")]
    timestamp: String,
}

/// Reads who reacted to a message, and how.
#[tool(effect = "read", scopes = ["reactions:read"], keywords = ["emoji", "votes"],
       example = { "channel": "C024BE91L", "timestamp": "1503435956.000247" },
       trigger = { name: "new_reaction", title: "Reaction to a message",
                   description: "A message has a further reaction: another emoji, or one more person with the same. Another message needs a trigger of its own.",
                   items: "/reactions", id: ["/name", "/count"] })]
pub fn get_reactions(args: GetReactions, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).get("/reactions.get").query_fields(&args))?["message"],
        &["ts", "text", "reactions"],
    ))
}

/// Removes a message from the pinned ones of a channel.
#[tool(effect = "write", idempotent, scopes = ["pins:write"], keywords = ["remove pin"],
       example = { "channel": "C024BE91L", "timestamp": "1503435956.000247" })]
pub fn unpin_message(args: GetReactions, cx: &Context) -> Result<Value, ToolError> {
    call(slack(cx).post("/pins.remove").json(&args))?;
    Ok(json!({ "unpinned": args.timestamp }))
}

#[derive(Args)]
pub struct ListPins {
    /// Id of the channel, for example `C024BE91L`.
    channel: String,
}

/// Lists the pinned messages of a channel.
#[tool(effect = "read", scopes = ["pins:read"], keywords = ["pinned messages"],
       example = { "channel": "C024BE91L" })]
pub fn list_pins(args: ListPins, cx: &Context) -> Result<Value, ToolError> {
    let answer = call(slack(cx).get("/pins.list").query_fields(&args))?;
    Ok(pick_each(
        &answer["items"],
        &[
            "type",
            "by=created_by",
            "text=message/text",
            "ts=message/ts",
            "url=message/permalink",
        ],
    ))
}

#[derive(Args)]
pub struct GetPermalink {
    /// Id of the channel, for example `C024BE91L`.
    channel: String,
    /// The message's ts.
    #[arg(pattern = "^[0-9]+\\.[0-9]+$")]
    message_ts: String,
}

/// Makes the address of a message, for a link to it.
#[tool(effect = "read", keywords = ["link to message", "url"],
       example = { "channel": "C024BE91L", "message_ts": "1503435956.000247" })]
pub fn get_permalink(args: GetPermalink, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).get("/chat.getPermalink").query_fields(&args))?,
        &["channel", "url=permalink"],
    ))
}

#[derive(Args)]
pub struct PostEphemeral {
    /// Id of the channel, for example `C024BE91L`.
    channel: String,
    /// Id of the person, who must be in the channel.
    user: String,
    /// The message in Slack's own form (`*bold*`, `<https://example.com|link>`).
    #[arg(min_length = 1, max_length = 40000)]
    text: String,
    /// Show it in the thread of the message with this ts.
    #[arg(pattern = "^[0-9]+\\.[0-9]+$")]
    thread_ts: Option<String>,
}

/// Shows a message in a channel to one person alone; it is gone when they restart Slack.
#[tool(effect = "write", scopes = ["chat:write"], keywords = ["only visible to you", "private notice"],
       example = { "channel": "C024BE91L", "user": "U123", "text": "Only you see this." })]
pub fn post_ephemeral(args: PostEphemeral, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).post("/chat.postEphemeral").json(&args))?,
        &["ts=message_ts"],
    ))
}

#[derive(Args)]
pub struct ListScheduledMessages {
    /// Only of this channel.
    channel: Option<String>,
    /// Only those sent at or after this time, in seconds since 1970.
    oldest: Option<String>,
    /// Only those sent at or before this time, in seconds since 1970.
    latest: Option<String>,
    /// Most messages.
    #[arg(min = 1, max = 100, default = 100)]
    limit: u32,
}

/// Lists messages that wait to be sent.
#[tool(effect = "read", queries = ["POST https://slack.com/api/chat.scheduledMessages.list"], scopes = ["chat:write"], keywords = ["planned messages", "queue"],
       example = { "channel": "C024BE91L" })]
pub fn list_scheduled_messages(
    args: ListScheduledMessages,
    cx: &Context,
) -> Result<Value, ToolError> {
    let answer = call(slack(cx).post("/chat.scheduledMessages.list").json(&args))?;
    Ok(pick_each(
        &answer["scheduled_messages"],
        &["id", "channel=channel_id", "post_at", "text"],
    ))
}

#[derive(Args)]
pub struct DeleteScheduledMessage {
    /// Id of the channel, for example `C024BE91L`.
    channel: String,
    /// Id of the message, as slack_list_scheduled_messages shows it.
    scheduled_message_id: String,
}

/// Cancels a message that waits to be sent.
#[tool(effect = "destructive", scopes = ["chat:write"], keywords = ["cancel scheduled"],
       example = { "channel": "C024BE91L", "scheduled_message_id": "Q1298393284" })]
pub fn delete_scheduled_message(
    args: DeleteScheduledMessage,
    cx: &Context,
) -> Result<Value, ToolError> {
    call(slack(cx).post("/chat.deleteScheduledMessage").json(&args))?;
    Ok(json!({ "deleted": args.scheduled_message_id }))
}

#[derive(Args)]
pub struct CreateReminder {
    /// What to be reminded of.
    #[arg(min_length = 1)]
    text: String,
    /// When: seconds since 1970, or words such as `in 15 minutes` or `every Thursday`.
    #[arg(min_length = 1)]
    time: String,
    /// Id of the person to remind; the connected one unless given.
    user: Option<String>,
}

/// Makes a reminder. Needs a user token.
#[tool(effect = "write", scopes = ["reminders:write"], keywords = ["remind me", "to-do"],
       example = { "text": "Water the plants", "time": "tomorrow at 9" })]
pub fn create_reminder(args: CreateReminder, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).post("/reminders.add").json(&args))?["reminder"],
        &["id", "text", "user", "time", "complete_at=complete_ts"],
    ))
}

/// Lists the reminders of the connected person. Needs a user token.
#[tool(effect = "read", scopes = ["reminders:read"], keywords = ["to-do", "remind"],
       example = {})]
pub fn list_reminders(cx: &Context) -> Result<Value, ToolError> {
    let answer = call(slack(cx).get("/reminders.list"))?;
    Ok(pick_each(
        &answer["reminders"],
        &[
            "id",
            "text",
            "user",
            "time",
            "recurring",
            "complete_at=complete_ts",
        ],
    ))
}

#[derive(Args)]
pub struct CompleteReminder {
    /// Id of the reminder, as slack_list_reminders shows it.
    reminder: String,
}

/// Deletes a reminder. Needs a user token.
#[tool(effect = "destructive", scopes = ["reminders:write"], keywords = ["remove reminder"],
       example = { "reminder": "Rm12345678" })]
pub fn delete_reminder(args: CompleteReminder, cx: &Context) -> Result<Value, ToolError> {
    call(slack(cx).post("/reminders.delete").json(&args))?;
    Ok(json!({ "deleted": args.reminder }))
}
