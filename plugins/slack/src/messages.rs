//! Writing, reading and searching messages.

use toolgate_sdk::prelude::*;

use crate::api::{call, page, slack};
use crate::text::{from_markdown, to_plain};

const POSTED: &[&str] = &["channel", "ts"];
const MESSAGE: &[&str] = &[
    "ts",
    "user",
    "bot_id",
    "username",
    "subtype",
    "text",
    "thread_ts",
    "reply_count",
    "reactions=reactions/*/name",
    "files=files/*/name",
    "edited=edited/ts",
];

#[derive(Args)]
pub struct PostMessage {
    /// Id of a channel or conversation, for example `C024BE91L`; `#name` works for public channels.
    #[arg(min_length = 1)]
    channel: String,
    /// The message in Markdown. Mention people as `<@U123>`, everybody present as `<!here>`.
    #[arg(min_length = 1, max_length = 40000)]
    text: String,
    /// Answer in the thread of the message with this ts.
    #[arg(pattern = "^[0-9]+\\.[0-9]+$")]
    thread_ts: Option<String>,
    /// Show the answer in the channel too.
    reply_broadcast: Option<bool>,
    /// Show previews of linked pages.
    #[arg(default = true)]
    unfurl_links: bool,
}

/// Sends a message to a channel, a person's conversation or a thread.
///
/// Answers channel and ts, which together identify the message.
#[tool(effect = "write", scopes = ["chat:write"], keywords = ["send", "tell", "write", "notify", "reply"],
       example = { "channel": "C024BE91L", "text": "The deploy is **done**." })]
pub fn post_message(mut args: PostMessage, cx: &Context) -> Result<Value, ToolError> {
    args.text = from_markdown(&args.text);
    Ok(pick(
        &call(slack(cx).post("/chat.postMessage").json(&args))?,
        POSTED,
    ))
}

#[derive(Args)]
pub struct UpdateMessage {
    /// Id of the channel.
    channel: String,
    /// The message's ts.
    #[arg(pattern = "^[0-9]+\\.[0-9]+$")]
    ts: String,
    /// The new text in Markdown; replaces the old one.
    #[arg(min_length = 1, max_length = 40000)]
    text: String,
}

/// Replaces the text of a message that the connected app or person sent.
#[tool(effect = "write", idempotent, scopes = ["chat:write"], keywords = ["edit", "change", "correct"],
       example = { "channel": "C1H9RESGL", "ts": "1503435956.000247", "text": "*new*" })]
pub fn update_message(mut args: UpdateMessage, cx: &Context) -> Result<Value, ToolError> {
    args.text = from_markdown(&args.text);
    Ok(pick(
        &call(slack(cx).post("/chat.update").json(&args))?,
        POSTED,
    ))
}

#[derive(Args)]
pub struct MessageAt {
    /// Id of the channel.
    channel: String,
    /// The message's ts.
    #[arg(pattern = "^[0-9]+\\.[0-9]+$")]
    ts: String,
}

/// Deletes a message. Cannot be taken back.
#[tool(effect = "destructive", scopes = ["chat:write"], keywords = ["remove"],
       example = { "channel": "C1H9RESGL", "ts": "1503435956.000247" })]
pub fn delete_message(args: MessageAt, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).post("/chat.delete").json(&args))?,
        POSTED,
    ))
}

#[derive(Args)]
pub struct ScheduleMessage {
    /// Id of the channel.
    #[arg(min_length = 1)]
    channel: String,
    /// The message in Markdown.
    #[arg(min_length = 1, max_length = 40000)]
    text: String,
    /// When to send it, in seconds since 1970 (UTC); at most 120 days ahead.
    post_at: u64,
    /// Answer in the thread of the message with this ts.
    #[arg(pattern = "^[0-9]+\\.[0-9]+$")]
    thread_ts: Option<String>,
}

/// Sends a message later, at a given time.
#[tool(effect = "write", scopes = ["chat:write"], keywords = ["later", "remind", "delay"],
       example = { "channel": "C1H9RESGL", "text": "hey", "post_at": 1767229200 })]
pub fn schedule_message(mut args: ScheduleMessage, cx: &Context) -> Result<Value, ToolError> {
    args.text = from_markdown(&args.text);
    let answer = call(slack(cx).post("/chat.scheduleMessage").json(&args))?;
    Ok(pick(
        &answer,
        &["channel", "scheduled_message_id", "post_at"],
    ))
}

#[derive(Args)]
pub struct GetChannelHistory {
    /// Id of the channel or conversation.
    channel: String,
    /// Only messages after this ts or moment in seconds since 1970.
    oldest: Option<String>,
    /// Only messages before this ts or moment in seconds since 1970.
    latest: Option<String>,
    /// Also the messages at exactly these moments.
    inclusive: Option<bool>,
    /// Messages on a page.
    #[arg(path, min = 1, max = 200, default = 50)]
    limit: u32,
}

/// Reads the messages of a channel or conversation, newest first. Threads show reply_count.
#[tool(effect = "read", paginated, scopes = ["channels:history"], keywords = ["read", "messages", "recent", "conversation"],
       example = { "channel": "C1", "limit": 2 },
       trigger = { name: "new_message", title: "New message",
                   description: "A message was posted in a channel or conversation that the connection can read; answers in threads are not told.",
                   arguments: { limit: 200 }, items: "", id: ["/ts"], time: "/ts", order: "newest_first",
                   interval_s: 60 })]
pub fn get_channel_history(args: GetChannelHistory, cx: &Context) -> Result<Output, ToolError> {
    let request = slack(cx).get("/conversations.history").query_fields(&args);
    readable(page(cx, request, args.limit, "messages", MESSAGE)?)
}

#[derive(Args)]
pub struct GetThreadReplies {
    /// Id of the channel.
    channel: String,
    /// The ts of the message that the thread belongs to.
    #[arg(pattern = "^[0-9]+\\.[0-9]+$")]
    ts: String,
    /// Only replies after this ts or moment in seconds since 1970.
    oldest: Option<String>,
    /// Messages on a page.
    #[arg(path, min = 1, max = 200, default = 50)]
    limit: u32,
}

/// Reads a thread: the message and its replies, oldest first.
#[tool(effect = "read", paginated, scopes = ["channels:history"], keywords = ["answers", "discussion"],
       example = { "channel": "C1", "ts": "1512104434.000490" })]
pub fn get_thread_replies(args: GetThreadReplies, cx: &Context) -> Result<Output, ToolError> {
    let request = slack(cx).get("/conversations.replies").query_fields(&args);
    readable(page(cx, request, args.limit, "messages", MESSAGE)?)
}

/// A page of messages with their text as people read it.
fn readable(page: Output) -> Result<Output, ToolError> {
    let mut messages = page.value();
    plain(&mut messages);
    Output::page(messages, page.next_cursor)
}

fn plain(messages: &mut Value) {
    for message in messages.as_array_mut().into_iter().flatten() {
        if let Some(Value::String(text)) = message.get_mut("text") {
            *text = to_plain(text);
        }
    }
}

#[derive(Args)]
pub enum SearchSort {
    Score,
    Timestamp,
}

#[derive(Args)]
pub struct SearchMessages {
    /// Words and Slack's modifiers, for example `deploy in:#ops from:@mona after:2026-01-01`.
    #[arg(min_length = 1, max_length = 500)]
    query: String,
    /// Best first or newest first.
    #[arg(default = "score")]
    sort: SearchSort,
    /// Messages on a page.
    #[arg(min = 1, max = 100, default = 20)]
    count: u32,
}

/// Searches messages in the whole workspace. Slack allows it with a user token (xoxp-) only.
#[tool(effect = "read", paginated, auth = ["user", "token"], scopes = ["search:read"], keywords = ["find", "grep"],
       example = { "query": "pickleface", "count": 1 },
       trigger = { name: "found_message", title: "Mention or other found message",
                   description: "A message was posted that a search finds: with `<@U024BE7LH>` one that mentions this person, or with words. Needs a user token.",
                   arguments: { sort: "timestamp", count: 100 }, items: "/messages", id: ["/channel", "/ts"],
                   time: "/ts", order: "newest_first" })]
pub fn search_messages(args: SearchMessages, cx: &Context) -> Result<Output, ToolError> {
    let number = cx.page_number(1)?;
    let answer = call(
        slack(cx)
            .get("/search.messages")
            .query_fields(&args)
            .query("page", number),
    )?;
    let found = &answer["messages"];
    let fields = [
        "ts",
        "user",
        "username",
        "text",
        "channel=channel/id",
        "channel_name=channel/name",
        "permalink",
    ];
    let mut matches = pick_each(&found["matches"], &fields);
    plain(&mut matches);
    let pages = found
        .pointer("/paging/pages")
        .and_then(Value::as_u64)
        .unwrap_or(0);
    let next = (number < pages).then(|| (number + 1).to_string());
    Output::page(
        json!({ "total": found["total"], "messages": matches }),
        next,
    )
}

#[derive(Args)]
pub struct AddReaction {
    /// Id of the channel.
    channel: String,
    /// The message's ts.
    #[arg(pattern = "^[0-9]+\\.[0-9]+$")]
    timestamp: String,
    /// Name of the emoji without colons, for example `thumbsup`.
    #[arg(pattern = "^[^:\\s]+$")]
    name: String,
}

/// Adds an emoji reaction to a message.
#[tool(effect = "write", idempotent, scopes = ["reactions:write"], keywords = ["emoji", "like", "acknowledge"],
       example = { "channel": "C1", "timestamp": "1503435956.000247", "name": "thumbsup" })]
pub fn add_reaction(args: AddReaction, cx: &Context) -> Result<Value, ToolError> {
    done(
        call(slack(cx).post("/reactions.add").json(&args)),
        "already_reacted",
    )
}

#[derive(Args)]
pub struct PinMessage {
    /// Id of the channel.
    channel: String,
    /// The message's ts.
    #[arg(pattern = "^[0-9]+\\.[0-9]+$")]
    timestamp: String,
}

/// Pins a message to its channel.
#[tool(effect = "write", idempotent, scopes = ["pins:write"], keywords = ["bookmark", "keep"],
       example = { "channel": "C1", "timestamp": "1503435956.000247" })]
pub fn pin_message(args: PinMessage, cx: &Context) -> Result<Value, ToolError> {
    done(
        call(slack(cx).post("/pins.add").json(&args)),
        "already_pinned",
    )
}

/// What is so already counts as done.
fn done(outcome: Result<Value, ToolError>, already: &str) -> Result<Value, ToolError> {
    match outcome {
        Err(error) if error.code.as_deref() == Some(already) => {
            Ok(json!({ "done": true, "already": true }))
        }
        other => other.map(|_| json!({ "done": true })),
    }
}
