//! Channels: finding, making, joining, and who is in them.

use toolgate_sdk::prelude::*;

use crate::api::{call, filtered, page, slack};

const CHANNEL: &[&str] = &[
    "id",
    "name",
    "is_private",
    "is_archived",
    "is_member",
    "topic=topic/value",
    "purpose=purpose/value",
    "num_members",
    "user",
];

#[derive(Args)]
pub struct ListChannels {
    /// Only channels with this in their name, topic or purpose; looks through up to 2,000 channels.
    #[arg(path)]
    query: Option<String>,
    /// Also private channels that the app is in.
    #[arg(path, default = false)]
    private: bool,
    /// Leave out archived channels.
    #[arg(default = true)]
    exclude_archived: bool,
    /// Channels on a page.
    #[arg(path, min = 1, max = 200, default = 100)]
    limit: u32,
}

/// Lists channels with their ids, or finds them by name.
#[tool(effect = "read", paginated, scopes = ["channels:read"], keywords = ["find", "rooms", "conversations", "id"],
       example = { "query": "deploy" })]
pub fn list_channels(args: ListChannels, cx: &Context) -> Result<Output, ToolError> {
    let types = if args.private {
        "public_channel,private_channel"
    } else {
        "public_channel"
    };
    let request = || {
        slack(cx)
            .get("/conversations.list")
            .query_fields(&args)
            .query("types", types)
    };
    match &args.query {
        Some(wanted) => filtered(cx, request, wanted, args.limit, "channels", CHANNEL),
        None => page(cx, request(), args.limit, "channels", CHANNEL),
    }
}

#[derive(Args)]
pub struct OneChannel {
    /// Id of the channel, for example `C024BE91L`.
    channel: String,
}

/// Reads one channel or conversation: name, topic, purpose, number of members.
#[tool(effect = "read", scopes = ["channels:read"], keywords = ["topic", "purpose", "details"],
       example = { "channel": "C012AB3CD" })]
pub fn get_channel_info(args: OneChannel, cx: &Context) -> Result<Value, ToolError> {
    let request = slack(cx).get("/conversations.info").query_fields(&args);
    Ok(pick(
        &call(request.query("include_num_members", true))?["channel"],
        CHANNEL,
    ))
}

#[derive(Args)]
pub struct CreateChannel {
    /// Name in lower case, without spaces and dots.
    #[arg(pattern = "^[^A-Z\\s.#]{1,80}$")]
    name: String,
    /// Only those who are invited can see it.
    #[arg(default = false)]
    is_private: bool,
}

/// Creates a channel.
#[tool(effect = "write", scopes = ["channels:manage"], keywords = ["new", "room"],
       example = { "name": "deploys" })]
pub fn create_channel(args: CreateChannel, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).post("/conversations.create").json(&args))?["channel"],
        CHANNEL,
    ))
}

/// Has the connected app or person join a public channel, so that it can read and write there.
#[tool(effect = "write", idempotent, scopes = ["channels:join"], keywords = ["enter"],
       example = { "channel": "C012AB3CD" })]
pub fn join_channel(args: OneChannel, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).post("/conversations.join").json(&args))?["channel"],
        CHANNEL,
    ))
}

#[derive(Args)]
pub struct InviteToChannel {
    /// Id of the channel.
    channel: String,
    /// Ids of the people, for example `["U123", "U456"]`.
    #[arg(path, min_items = 1, max_items = 100)]
    users: Vec<String>,
}

/// Invites people to a channel.
#[tool(effect = "write", scopes = ["channels:manage"], keywords = ["add", "people", "members"],
       example = { "channel": "C012AB3CD", "users": ["U1", "U2"] })]
pub fn invite_to_channel(args: InviteToChannel, cx: &Context) -> Result<Value, ToolError> {
    let body = json!({ "channel": args.channel, "users": args.users.join(",") });
    Ok(pick(
        &call(slack(cx).post("/conversations.invite").json(&body))?["channel"],
        CHANNEL,
    ))
}

#[derive(Args)]
pub struct ListChannelMembers {
    /// Id of the channel.
    channel: String,
    /// Ids on a page.
    #[arg(path, min = 1, max = 200, default = 100)]
    limit: u32,
}

/// Lists the ids of the people in a channel.
#[tool(effect = "read", paginated, scopes = ["channels:read"], keywords = ["people", "who"],
       example = { "channel": "C1" })]
pub fn list_channel_members(args: ListChannelMembers, cx: &Context) -> Result<Output, ToolError> {
    let request = slack(cx).get("/conversations.members").query_fields(&args);
    let answer = call(
        request
            .query("limit", args.limit)
            .query("cursor", cx.cursor()),
    )?;
    Output::page(&answer["members"], crate::api::next_cursor(&answer))
}
