//! The account and its people.

use toolgate_sdk::plugin::NoArgs;
use toolgate_sdk::prelude::*;

use crate::api::{ask, first, numbered};
use crate::values::person_ids;

/// Reads the connection's own user with id, name, email address and account.
#[tool(effect = "read", queries = ["GRAPHQL https://api.monday.com/v2"], scopes = ["me:read"], keywords = ["who am i", "profile"],
       example = {})]
pub fn get_me(_: NoArgs, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "query { me { id name email title account { id name slug } } }";
    let answer = ask(cx, DOCUMENT, json!({}))?;
    Ok(pick(
        &answer["me"],
        &["id", "name", "email", "title", "account"],
    ))
}

#[derive(Args)]
pub struct ListUsers {
    /// Part of the name; everybody unless given.
    name: Option<String>,
    /// People on a page.
    #[arg(min = 1, max = 500, default = 50)]
    limit: u32,
}

/// Lists the people of the account, or finds one by name.
#[tool(effect = "read", queries = ["GRAPHQL https://api.monday.com/v2"], paginated, scopes = ["users:read"], keywords = ["members", "team", "assignees"], example = { "name": "mona" })]
pub fn list_users(args: ListUsers, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query($limit: Int, $page: Int, $name: String) { \
        users(limit: $limit, page: $page, name: $name) { id name email title status } }";
    let page = cx.page_number(1)?;
    let variables = json!({ "limit": args.limit, "page": page, "name": args.name });
    let answer = ask(cx, DOCUMENT, variables)?;
    let users = pick_each(
        &answer["users"],
        &["id", "name", "email", "title", "status"],
    );
    numbered(users, page, args.limit)
}

/// Lists the teams of the account with their members.
#[tool(effect = "read", queries = ["GRAPHQL https://api.monday.com/v2"], scopes = ["teams:read", "users:read"],
       keywords = ["groups", "departments", "people"], example = {})]
pub fn list_teams(_: NoArgs, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "query { teams { id name users { id name email } } }";
    let answer = ask(cx, DOCUMENT, json!({}))?;
    Ok(pick_each(
        &answer["teams"],
        &["id", "name", "members=users"],
    ))
}

#[derive(Args)]
pub struct ListBoardMembers {
    /// Id of the board; ids come from monday_list_boards.
    board_id: String,
}

/// Lists who owns a board and who follows it.
#[tool(effect = "read", queries = ["GRAPHQL https://api.monday.com/v2"], scopes = ["boards:read", "users:read"],
       keywords = ["subscribers", "owners", "who has access"], example = { "board_id": "1234567890" })]
pub fn list_board_members(args: ListBoardMembers, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "query($id: ID!) { boards(ids: [$id]) { id name owners { id name email } \
        subscribers { id name email } team_subscribers { id name } } }";
    let answer = ask(cx, DOCUMENT, json!({ "id": args.board_id }))?;
    let board = first(&answer["boards"], "board", &args.board_id)?;
    let fields = [
        "id",
        "name",
        "owners",
        "subscribers",
        "teams=team_subscribers",
    ];
    Ok(pick(board, &fields))
}

#[derive(Args)]
pub enum MemberKind {
    Subscriber,
    Owner,
}

#[derive(Args)]
pub struct AddBoardMembers {
    /// Id of the board; ids come from monday_list_boards.
    board_id: String,
    /// Whom to add: `me`, mail addresses or ids; one name at most.
    #[arg(min_items = 1, max_items = 50)]
    people: Vec<String>,
    /// What they become.
    #[arg(default = "subscriber")]
    kind: MemberKind,
}

/// Adds people to a board, as subscribers or as owners.
#[tool(effect = "write", idempotent, scopes = ["boards:write"], keywords = ["invite", "share board", "subscribe"],
       example = { "board_id": "1234567890", "people": ["anna@example.com"] })]
pub fn add_board_members(args: AddBoardMembers, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($board_id: ID!, $users: [ID!]!, $kind: BoardSubscriberKind) { \
        add_users_to_board(board_id: $board_id, user_ids: $users, kind: $kind) { id name } }";
    let users = person_ids(cx, &args.people, "/people")?;
    let variables = json!({ "board_id": args.board_id, "users": users, "kind": args.kind });
    let answer = ask(cx, DOCUMENT, variables)?;
    Ok(json!({ "board_id": args.board_id, "added": answer["add_users_to_board"] }))
}

#[derive(Args)]
pub struct RemoveBoardMembers {
    /// Id of the board; ids come from monday_list_boards.
    board_id: String,
    /// Whom to remove: `me`, mail addresses or ids; one name at most.
    #[arg(min_items = 1, max_items = 50)]
    people: Vec<String>,
}

/// Removes people from a board.
#[tool(effect = "destructive", idempotent, scopes = ["boards:write"], keywords = ["unsubscribe", "revoke access"],
       example = { "board_id": "1234567890", "people": ["anna@example.com"] })]
pub fn remove_board_members(args: RemoveBoardMembers, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($board_id: ID!, $users: [ID!]!) { \
        delete_subscribers_from_board(board_id: $board_id, user_ids: $users) { id name } }";
    let users = person_ids(cx, &args.people, "/people")?;
    let answer = ask(
        cx,
        DOCUMENT,
        json!({ "board_id": args.board_id, "users": users }),
    )?;
    Ok(json!({ "board_id": args.board_id, "removed": answer["delete_subscribers_from_board"] }))
}

#[derive(Args)]
pub struct NotifyUser {
    /// Who is told: `me`, a mail address, a name or an id.
    person: String,
    /// What is said.
    #[arg(min_length = 1, max_length = 1000)]
    text: String,
    /// Item or board that the notification leads to, by id.
    target_id: String,
}

/// Sends a person a notification within monday.com that leads to an item or a board.
#[tool(effect = "write", scopes = ["notifications:write"], keywords = ["remind", "ping", "alert", "bell"],
       example = { "person": "anna@example.com", "text": "Please look at this.", "target_id": "1234567891" })]
pub fn notify_user(args: NotifyUser, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($user: ID!, $target: ID!, $text: String!) { \
        create_notification(user_id: $user, target_id: $target, target_type: Project, text: $text) { id text } }";
    let users = person_ids(cx, std::slice::from_ref(&args.person), "/person")?;
    let variables = json!({ "user": users[0], "target": args.target_id, "text": args.text });
    let answer = ask(cx, DOCUMENT, variables)?;
    Ok(json!({ "notified": users[0], "text": answer["create_notification"]["text"] }))
}
