//! Groups of people, status and presence.

use toolgate_sdk::prelude::*;

use crate::api::{call, slack};

#[derive(Args)]
pub struct ListUserGroups {
    /// With the ids of the members.
    #[arg(default = false)]
    include_users: bool,
    /// Disabled groups too.
    #[arg(default = false)]
    include_disabled: bool,
}

/// Lists the groups of people that can be mentioned together, with their handles.
#[tool(effect = "read", scopes = ["usergroups:read"], keywords = ["handles", "mention groups"],
       example = { "include_users": true })]
pub fn list_user_groups(args: ListUserGroups, cx: &Context) -> Result<Value, ToolError> {
    let answer = call(slack(cx).get("/usergroups.list").query_fields(&args))?;
    Ok(pick_each(
        &answer["usergroups"],
        &[
            "id",
            "name",
            "handle",
            "description",
            "members=users",
            "count=user_count",
        ],
    ))
}

#[derive(Args)]
pub struct CreateUserGroup {
    /// Name.
    #[arg(min_length = 1)]
    name: String,
    /// Handle to mention it by, without `@`.
    handle: Option<String>,
    /// What it is for.
    description: Option<String>,
}

/// Makes a group of people that can be mentioned together.
#[tool(effect = "write", scopes = ["usergroups:write"], keywords = ["new handle"],
       example = { "name": "Support", "handle": "support" })]
pub fn create_user_group(args: CreateUserGroup, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).post("/usergroups.create").json(&args))?["usergroup"],
        &["id", "name", "handle", "description"],
    ))
}

#[derive(Args)]
pub struct ListUserGroupMembers {
    /// Id of the group, as slack_list_user_groups shows it.
    usergroup: String,
}

/// Lists the ids of the people in a group.
#[tool(effect = "read", scopes = ["usergroups:read"], keywords = ["who is in group"],
       example = { "usergroup": "S0604QSJC" })]
pub fn list_user_group_members(
    args: ListUserGroupMembers,
    cx: &Context,
) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).get("/usergroups.users.list").query_fields(&args))?,
        &["users"],
    ))
}

#[derive(Args)]
pub struct GetPresence {
    /// Id of the person, for example `U123`.
    user: String,
}

/// Reads whether a person is active or away.
#[tool(effect = "read", scopes = ["users:read"], keywords = ["online", "status"],
       example = { "user": "U123" })]
pub fn get_presence(args: GetPresence, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).get("/users.getPresence").query_fields(&args))?,
        &["presence", "online", "last_activity"],
    ))
}

#[derive(Args)]
pub struct GetUserProfile {
    /// Id of the person, for example `U123`.
    user: String,
    /// With the names of custom fields.
    #[arg(default = false)]
    include_labels: bool,
}

/// Reads the profile of a person with the custom fields of the workspace.
#[tool(effect = "read", scopes = ["users.profile:read"], keywords = ["custom fields", "phone", "pronouns"],
       example = { "user": "U123", "include_labels": true })]
pub fn get_user_profile(args: GetUserProfile, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).get("/users.profile.get").query_fields(&args))?["profile"],
        &[
            "real_name",
            "display_name",
            "title",
            "phone",
            "email",
            "status=status_text",
            "emoji=status_emoji",
            "fields",
        ],
    ))
}

#[derive(Args)]
pub struct SetStatusProfile {
    /// Text; empty to remove it.
    #[arg(max_length = 100)]
    status_text: String,
    /// Emoji, for example `:palm_tree:`; empty for the usual one.
    status_emoji: String,
    /// When it ends, in seconds since 1970; 0 for never.
    #[arg(min = 0)]
    status_expiration: Option<u64>,
}

#[derive(Args)]
pub struct SetStatus {
    /// The status.
    profile: SetStatusProfile,
}

/// Sets the status of the connected person: text, emoji and when it ends. Needs a user token.
#[tool(effect = "write", idempotent, scopes = ["users.profile:write"], keywords = ["away message", "out of office", "in a meeting"],
       example = { "profile": {"status_text": "In a meeting", "status_emoji": ":spiral_calendar_pad:", "status_expiration": 0} })]
pub fn set_status(args: SetStatus, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).post("/users.profile.set").json(&args))?["profile"],
        &[
            "status=status_text",
            "emoji=status_emoji",
            "until=status_expiration",
        ],
    ))
}

#[derive(Args)]
pub enum SetPresencePresence {
    Auto,
    Away,
}

#[derive(Args)]
pub struct SetPresence {
    /// `auto` lets Slack decide.
    presence: SetPresencePresence,
}

/// Shows the connected person or app as away, or lets Slack decide.
#[tool(effect = "write", idempotent, scopes = ["users:write"], keywords = ["go online", "away"],
       example = { "presence": "away" })]
pub fn set_presence(args: SetPresence, cx: &Context) -> Result<Value, ToolError> {
    call(slack(cx).post("/users.setPresence").json(&args))?;
    Ok(json!({ "presence": "away" }))
}

/// Reads whether a person is not to be disturbed, and until when.
#[tool(effect = "read", scopes = ["dnd:read"], keywords = ["dnd", "snooze"],
       example = { "user": "U123" })]
pub fn get_do_not_disturb(args: GetPresence, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).get("/dnd.info").query_fields(&args))?,
        &[
            "dnd_enabled",
            "from=next_dnd_start_ts",
            "until=next_dnd_end_ts",
            "snooze_enabled",
            "snooze_until=snooze_endtime",
        ],
    ))
}

#[derive(Args)]
pub struct SnoozeNotifications {
    /// Minutes.
    #[arg(min = 1, max = 1440)]
    num_minutes: u32,
}

/// Silences the notifications of the connected person for some minutes. Needs a user token.
#[tool(effect = "write", idempotent, scopes = ["dnd:write"], keywords = ["do not disturb", "mute"],
       example = { "num_minutes": 60 })]
pub fn snooze_notifications(args: SnoozeNotifications, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).post("/dnd.setSnooze").json(&args))?,
        &["snooze_enabled", "until=snooze_endtime"],
    ))
}

/// Lists the custom emoji of the workspace with their pictures.
#[tool(effect = "read", scopes = ["emoji:read"], keywords = ["custom emoji", "icons"],
       example = {})]
pub fn list_emoji(cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(&call(slack(cx).get("/emoji.list"))?, &["emoji"]))
}

#[derive(Args)]
pub struct GetBotInfo {
    /// Id of the bot, as messages show it in `bot_id`.
    bot: String,
}

/// Reads which app a bot belongs to.
#[tool(effect = "read", scopes = ["users:read"], keywords = ["app", "integration"],
       example = { "bot": "B12345678" })]
pub fn get_bot_info(args: GetBotInfo, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).get("/bots.info").query_fields(&args))?["bot"],
        &["id", "name", "app=app_id", "user=user_id", "deleted"],
    ))
}
