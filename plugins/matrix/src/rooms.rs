//! The account, its rooms and who is in them.

use toolgate_sdk::http::send_all;
use toolgate_sdk::prelude::*;

use crate::api::matrix;

/// Rooms whose name is looked up in one call.
const NAMED_ROOMS_MAX: usize = 40;

/// Tells which account is connected: its id and the device of the token.
#[tool(effect = "read", keywords = ["me", "account", "login"],
       example = {})]
pub fn whoami(cx: &Context) -> Result<Value, ToolError> {
    let answer = matrix(cx)?.get("/account/whoami").fetch()?;
    Ok(pick(&answer, &["user_id", "device_id", "is_guest"]))
}

#[derive(Args)]
pub struct GetProfile {
    /// Id of the person, for example `@mona:example.org`.
    user_id: String,
}

/// Reads the display name and picture of a person.
#[tool(effect = "read", keywords = ["user", "who", "name"],
       example = { "user_id": "@alice:example.org" })]
pub fn get_profile(args: GetProfile, cx: &Context) -> Result<Value, ToolError> {
    matrix(cx)?.get(path!("/profile/{}", args.user_id)).fetch()
}

/// Lists the rooms that the account is in, with the names of the first forty.
#[tool(effect = "read", keywords = ["channels", "chats", "id"],
       example = {})]
pub fn list_joined_rooms(cx: &Context) -> Result<Value, ToolError> {
    let client = matrix(cx)?;
    let answer = client.get("/joined_rooms").fetch()?;
    let ids = answer["joined_rooms"].as_array().into_iter().flatten();
    let ids: Vec<&str> = ids.filter_map(Value::as_str).collect();
    let asked = ids.iter().take(NAMED_ROOMS_MAX);
    let named = asked.map(|id| client.get(path!("/rooms/{}/state/m.room.name", id)));
    let mut names = send_all(named.collect()).into_iter();
    let rooms = ids.iter().map(|id| {
        // A room without a name answers 404.
        let name = names
            .next()
            .and_then(Result::ok)
            .and_then(|answer| answer.json().ok());
        let name = name.and_then(|state| state["name"].as_str().map(str::to_owned));
        pick(
            &json!({ "room_id": id, "name": name }),
            &["room_id", "name"],
        )
    });
    Ok(json!({ "total": ids.len(), "rooms": rooms.collect::<Vec<_>>() }))
}

#[derive(Args)]
pub struct OneRoom {
    /// Id of the room, for example `!abc:example.org`.
    room_id: String,
}

/// Reads a room: name, topic, alias, who made it, who may join, whether it is encrypted.
#[tool(effect = "read", keywords = ["state", "topic", "details"],
       example = { "room_id": "!636q39766251:example.org" })]
pub fn get_room(args: OneRoom, cx: &Context) -> Result<Value, ToolError> {
    let state = matrix(cx)?
        .get(path!("/rooms/{}/state", args.room_id))
        .fetch()?;
    let mut out = json!({ "room_id": args.room_id, "encrypted": false });
    let mut joined = 0;
    for event in state.as_array().into_iter().flatten() {
        let content = &event["content"];
        match event["type"].as_str().unwrap_or_default() {
            "m.room.name" => out["name"] = content["name"].clone(),
            "m.room.topic" => out["topic"] = content["topic"].clone(),
            "m.room.canonical_alias" => out["alias"] = content["alias"].clone(),
            "m.room.join_rules" => out["join_rule"] = content["join_rule"].clone(),
            "m.room.encryption" => out["encrypted"] = json!(true),
            "m.room.create" => out["creator"] = event["sender"].clone(),
            "m.room.member" if content["membership"] == "join" => joined += 1,
            _ => {}
        }
    }
    out["members"] = json!(joined);
    Ok(out)
}

/// Lists the people in a room with their display names.
#[tool(effect = "read", keywords = ["people", "who", "users"],
       example = { "room_id": "!636q39766251:example.org" })]
pub fn list_room_members(args: OneRoom, cx: &Context) -> Result<Value, ToolError> {
    let answer = matrix(cx)?
        .get(path!("/rooms/{}/joined_members", args.room_id))
        .fetch()?;
    let members = answer["joined"].as_object().into_iter().flatten();
    let members = members.map(|(id, member)| {
        pick(
            &json!({ "user_id": id, "name": member["display_name"] }),
            &["user_id", "name"],
        )
    });
    Ok(members.collect())
}

#[derive(Args)]
pub enum Preset {
    #[arg(rename = "private_chat")]
    Private,
    #[arg(rename = "public_chat")]
    Public,
    #[arg(rename = "trusted_private_chat")]
    TrustedPrivate,
}

#[derive(Args)]
pub struct CreateRoom {
    /// Name of the room.
    #[arg(max_length = 255)]
    name: Option<String>,
    /// What it is about.
    topic: Option<String>,
    /// Local part of an alias: `team` becomes `#team:example.org`.
    room_alias_name: Option<String>,
    /// People to invite, by id.
    #[arg(max_items = 50)]
    invite: Option<Vec<String>>,
    /// Who may join: those who are invited, everybody, or the invited with the same rights.
    #[arg(default = "private_chat")]
    preset: Preset,
    /// A direct conversation.
    #[arg(default = false)]
    is_direct: bool,
}

/// Creates a room and invites people to it.
#[tool(effect = "write", keywords = ["new", "channel", "chat"], example = { "name": "Release 1.2", "invite": ["@mona:example.org"] })]
pub fn create_room(args: CreateRoom, cx: &Context) -> Result<Value, ToolError> {
    matrix(cx)?.post("/createRoom").json(&args).fetch()
}

#[derive(Args)]
pub struct JoinRoom {
    /// Id or alias of the room, for example `#team:example.org`.
    room: String,
}

/// Joins a room, by invitation or because it is open.
#[tool(effect = "write", idempotent, keywords = ["enter", "accept invitation"],
       example = { "room": "#monkeys:matrix.org" })]
pub fn join_room(args: JoinRoom, cx: &Context) -> Result<Value, ToolError> {
    matrix(cx)?
        .post(path!("/join/{}", args.room))
        .json(&json!({}))
        .fetch()
}

/// Leaves a room, or declines an invitation to it.
#[tool(effect = "destructive", idempotent, keywords = ["exit", "decline"],
       example = { "room_id": "!636q39766251:example.org" })]
pub fn leave_room(args: OneRoom, cx: &Context) -> Result<Value, ToolError> {
    matrix(cx)?
        .post(path!("/rooms/{}/leave", args.room_id))
        .json(&json!({}))
        .send()?;
    Ok(json!({ "room_id": args.room_id, "left": true }))
}

#[derive(Args)]
pub struct InviteUser {
    /// Id of the room.
    #[arg(path)]
    room_id: String,
    /// Id of the person, for example `@mona:example.org`.
    user_id: String,
    /// Why, for the person to see.
    reason: Option<String>,
}

/// Invites a person to a room.
#[tool(effect = "write", keywords = ["add", "people"],
       example = { "room_id": "!636q39766251:example.org", "user_id": "@cheeky_monkey:matrix.org" })]
pub fn invite_user(args: InviteUser, cx: &Context) -> Result<Value, ToolError> {
    matrix(cx)?
        .post(path!("/rooms/{}/invite", args.room_id))
        .json(&args)
        .send()?;
    Ok(json!({ "room_id": args.room_id, "invited": args.user_id }))
}

#[derive(Args)]
pub struct SetRoomTopic {
    /// Id of the room.
    #[arg(path)]
    room_id: String,
    /// The new topic.
    #[arg(max_length = 4000)]
    topic: String,
}

/// Changes the topic of a room.
#[tool(effect = "write", idempotent, keywords = ["description", "subject"],
       example = { "room_id": "!636q39766251:example.org", "topic": "Weather" })]
pub fn set_room_topic(args: SetRoomTopic, cx: &Context) -> Result<Value, ToolError> {
    matrix(cx)?
        .put(path!("/rooms/{}/state/m.room.topic", args.room_id))
        .json(&args)
        .fetch()
}
