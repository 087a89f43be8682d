//! People, direct conversations and the workspace.

use toolgate_sdk::prelude::*;

use crate::api::{call, filtered, page, slack};

const USER: &[&str] = &[
    "id",
    "name",
    "real_name=profile/real_name",
    "display_name=profile/display_name",
    "email=profile/email",
    "title=profile/title",
    "status=profile/status_text",
    "tz",
    "is_bot",
    "deleted",
];

#[derive(Args)]
pub struct OpenDm {
    /// Ids of the people: one for a direct conversation, up to eight for a group.
    #[arg(min_items = 1, max_items = 8)]
    users: Vec<String>,
}

/// Opens a direct conversation with one or several people; its id is what slack_post_message takes
/// as channel.
#[tool(effect = "write", idempotent, scopes = ["im:write", "mpim:write"], keywords = ["direct message", "dm", "private"],
       example = { "users": ["U1"] })]
pub fn open_dm(args: OpenDm, cx: &Context) -> Result<Value, ToolError> {
    let body = json!({ "users": args.users.join(",") });
    let answer = call(slack(cx).post("/conversations.open").json(&body))?;
    Ok(pick(&answer, &["channel=channel/id", "already_open"]))
}

#[derive(Args)]
pub struct ListUsers {
    /// Only people with this in their name, mail address or title; looks through up to 2,000 people.
    query: Option<String>,
    /// People on a page.
    #[arg(min = 1, max = 200, default = 100)]
    limit: u32,
}

/// Lists the people of the workspace with their ids, or finds them by name.
#[tool(effect = "read", paginated, scopes = ["users:read"], keywords = ["find", "members", "who", "id"],
       example = { "query": "mona" })]
pub fn list_users(args: ListUsers, cx: &Context) -> Result<Output, ToolError> {
    let request = || slack(cx).get("/users.list");
    match &args.query {
        Some(wanted) => filtered(cx, request, wanted, args.limit, "members", USER),
        None => page(cx, request(), args.limit, "members", USER),
    }
}

#[derive(Args)]
pub struct GetUser {
    /// Id of the person, for example `U123`.
    user: String,
}

/// Reads one person: names, title, time zone, status.
#[tool(effect = "read", scopes = ["users:read"], keywords = ["profile", "who"],
       example = { "user": "W012A3CDE" })]
pub fn get_user(args: GetUser, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).get("/users.info").query_fields(&args))?["user"],
        USER,
    ))
}

#[derive(Args)]
pub struct LookupUserByEmail {
    /// Mail address.
    #[arg(format = "email")]
    email: String,
}

/// Finds the person with a mail address.
#[tool(effect = "read", scopes = ["users:read.email"], keywords = ["find", "mail"],
       example = { "email": "spengler@ghostbusters.example.com" })]
pub fn lookup_user_by_email(args: LookupUserByEmail, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &call(slack(cx).get("/users.lookupByEmail").query_fields(&args))?["user"],
        USER,
    ))
}

/// Tells which workspace is connected: name, domain, id.
#[tool(effect = "read", scopes = ["team:read"], keywords = ["workspace", "organisation"],
       example = {})]
pub fn get_team_info(cx: &Context) -> Result<Value, ToolError> {
    let answer = call(slack(cx).get("/team.info"))?;
    Ok(pick(
        &answer["team"],
        &["id", "name", "domain", "email_domain"],
    ))
}
