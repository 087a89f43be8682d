//! Messages: sending, reading, searching, reacting, taking back.

use toolgate_sdk::prelude::*;

use crate::api::{matrix, transaction};

#[derive(Args)]
pub enum MessageKind {
    #[arg(rename = "m.text")]
    Text,
    #[arg(rename = "m.notice")]
    Notice,
    #[arg(rename = "m.emote")]
    Emote,
}

#[derive(Args)]
pub struct SendMessage {
    /// Id of the room, for example `!abc:example.org`.
    room_id: String,
    /// The message as plain text.
    #[arg(min_length = 1, max_length = 60000)]
    text: String,
    /// The same message as HTML (Matrix' own subset), for clients that show it.
    #[arg(max_length = 60000)]
    html: Option<String>,
    /// A message of a person, a notice of a program, or something somebody does.
    #[arg(default = "m.text")]
    kind: MessageKind,
    /// Id of the message that this one answers.
    reply_to: Option<String>,
}

/// Sends a message to a room. The account must be in the room.
#[tool(effect = "write", keywords = ["send", "tell", "write", "chat", "notify"],
       example = { "room_id": "!abc:example.org", "text": "The deploy is done." })]
pub fn send_message(args: SendMessage, cx: &Context) -> Result<Value, ToolError> {
    let mut content = json!({ "msgtype": args.kind, "body": args.text });
    if let Some(html) = args.html {
        content["format"] = json!("org.matrix.custom.html");
        content["formatted_body"] = json!(html);
    }
    if let Some(event) = args.reply_to {
        content["m.relates_to"] = json!({ "m.in_reply_to": { "event_id": event } });
    }
    let address = path!(
        "/rooms/{}/send/m.room.message/{}",
        args.room_id,
        transaction(cx)
    );
    matrix(cx)?.put(address).json(&content).fetch()
}

/// An event as an agent reads it.
fn shown(event: &Value) -> Value {
    let fields = [
        "event_id",
        "type",
        "sender",
        "sent_at_ms=origin_server_ts",
        "room_id",
        "text=content/body",
        "kind=content/msgtype",
        "replies_to=content/m.relates_to/m.in_reply_to/event_id",
        "relates_to=content/m.relates_to/event_id",
        "reaction=content/m.relates_to/key",
        "membership=content/membership",
        "name=content/name",
        "topic=content/topic",
        "redacted=unsigned/redacted_because/event_id",
    ];
    pick(event, &fields)
}

#[derive(Args)]
pub struct ListMessages {
    /// Id of the room.
    room_id: String,
    /// Events on a page.
    #[arg(min = 1, max = 100, default = 30)]
    limit: u32,
    /// Only messages; leaves out who came, went and changed the room.
    #[arg(default = true)]
    messages_only: bool,
}

/// Reads the messages of a room, newest first.
#[tool(effect = "read", paginated, keywords = ["history", "read", "chat", "recent"],
       example = { "room_id": "!636q39766251:example.org", "limit": 3 })]
pub fn list_messages(args: ListMessages, cx: &Context) -> Result<Output, ToolError> {
    let filter = args
        .messages_only
        .then(|| json!({ "types": ["m.room.message"] }).to_string());
    let request = matrix(cx)?
        .get(path!("/rooms/{}/messages", args.room_id))
        .query("dir", "b");
    let request = request
        .query("limit", args.limit)
        .query("from", cx.cursor())
        .query("filter", filter);
    let answer = request.fetch()?;
    let events = answer["chunk"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let events: Vec<Value> = events.iter().map(shown).collect();
    Output::page(events, answer["end"].as_str().map(str::to_owned))
}

#[derive(Args)]
pub struct EventAt {
    /// Id of the room.
    room_id: String,
    /// Id of the message, for example `$abc123`.
    event_id: String,
}

/// Reads one message or other event of a room.
#[tool(effect = "read", keywords = ["event"],
       example = { "room_id": "!636q39766251:example.org", "event_id": "$143273582443PhrSn:example.org" })]
pub fn get_message(args: EventAt, cx: &Context) -> Result<Value, ToolError> {
    let address = path!("/rooms/{}/event/{}", args.room_id, args.event_id);
    Ok(shown(&matrix(cx)?.get(address).fetch()?))
}

#[derive(Args)]
pub enum SearchOrder {
    Rank,
    Recent,
}

#[derive(Args)]
pub struct SearchMessages {
    /// Words to look for.
    #[arg(min_length = 1, max_length = 500)]
    text: String,
    /// Only in these rooms, by id.
    #[arg(max_items = 50)]
    rooms: Option<Vec<String>>,
    /// Only from these people, by id.
    #[arg(max_items = 50)]
    senders: Option<Vec<String>>,
    /// Best first or newest first.
    #[arg(default = "recent")]
    order: SearchOrder,
}

/// Searches messages in the rooms that the account is in. Encrypted messages cannot be found.
#[tool(effect = "read",
    queries = ["POST https://matrix-client.matrix.org/_matrix/client/v3/search", "POST {homeserver}/_matrix/client/v3/search"], paginated, keywords = ["find", "grep"],
       example = { "text": "martians and men", "rooms": ["!636q39766251:example.org"] })]
pub fn search_messages(args: SearchMessages, cx: &Context) -> Result<Output, ToolError> {
    let mut filter = json!({});
    if let Some(rooms) = args.rooms {
        filter["rooms"] = json!(rooms);
    }
    if let Some(senders) = args.senders {
        filter["senders"] = json!(senders);
    }
    let body = json!({ "search_categories": { "room_events": {
        "search_term": args.text, "keys": ["content.body"], "order_by": args.order, "filter": filter,
    } } });
    let request = matrix(cx)?
        .post("/search")
        .query("next_batch", cx.cursor())
        .json(&body);
    let answer = request.fetch()?;
    let found = &answer["search_categories"]["room_events"];
    let results = found["results"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let results: Vec<Value> = results.iter().map(|one| shown(&one["result"])).collect();
    let next = found["next_batch"].as_str().map(str::to_owned);
    Output::page(
        json!({ "total": found["count"], "messages": results }),
        next,
    )
}

#[derive(Args)]
pub struct ReactToMessage {
    /// Id of the room.
    room_id: String,
    /// Id of the message.
    event_id: String,
    /// The reaction, mostly one emoji.
    #[arg(min_length = 1, max_length = 50)]
    reaction: String,
}

/// Reacts to a message with an emoji.
#[tool(effect = "write", keywords = ["emoji", "like", "acknowledge"],
       example = { "room_id": "!636q39766251:example.org", "event_id": "$143273582443PhrSn:example.org", "reaction": "👍" })]
pub fn react_to_message(args: ReactToMessage, cx: &Context) -> Result<Value, ToolError> {
    let relation =
        json!({ "rel_type": "m.annotation", "event_id": args.event_id, "key": args.reaction });
    let address = path!(
        "/rooms/{}/send/m.reaction/{}",
        args.room_id,
        transaction(cx)
    );
    matrix(cx)?
        .put(address)
        .json(&json!({ "m.relates_to": relation }))
        .fetch()
}

#[derive(Args)]
pub struct RedactMessage {
    /// Id of the room.
    room_id: String,
    /// Id of the message.
    event_id: String,
    /// Why, for everybody to see.
    reason: Option<String>,
}

/// Removes the content of a message for everybody. Cannot be taken back.
#[tool(effect = "destructive", keywords = ["delete", "remove"],
       example = { "room_id": "!636q39766251:example.org", "event_id": "$143273582443PhrSn:example.org", "reason": "Indecent material" })]
pub fn redact_message(args: RedactMessage, cx: &Context) -> Result<Value, ToolError> {
    let address = path!(
        "/rooms/{}/redact/{}/{}",
        args.room_id,
        args.event_id,
        transaction(cx)
    );
    let body = pick(&json!({ "reason": args.reason }), &["reason"]);
    matrix(cx)?.put(address).json(&body).fetch()
}
