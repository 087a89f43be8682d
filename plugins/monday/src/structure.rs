//! Changing boards, their groups and their columns, and reading what happened on a board.

use toolgate_sdk::prelude::*;

use crate::api::{ask, first, group_id, numbered, titled, titles};
use crate::values::person_ids;

#[derive(Args)]
pub struct UpdateBoard {
    /// Id of the board; ids come from monday_list_boards.
    board_id: String,
    /// New name.
    #[arg(min_length = 1, max_length = 255)]
    name: Option<String>,
    /// New description.
    description: Option<String>,
}

/// Renames a board or changes its description.
#[tool(effect = "write", idempotent, scopes = ["boards:write"], keywords = ["rename board", "edit"],
       example = { "board_id": "1234567890", "name": "Launch 2026" })]
pub fn update_board(args: UpdateBoard, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($board_id: ID!, $name: String!, $with_name: Boolean!, $text: String!, $with_text: Boolean!) { \
        name: update_board(board_id: $board_id, board_attribute: name, new_value: $name) @include(if: $with_name) \
        description: update_board(board_id: $board_id, board_attribute: description, new_value: $text) @include(if: $with_text) }";
    if args.name.is_none() && args.description.is_none() {
        let text = "say what shall change: name or description";
        return Err(ToolError::invalid("", text));
    }
    let variables = json!({
        "board_id": args.board_id,
        "name": args.name.as_deref().unwrap_or_default(), "with_name": args.name.is_some(),
        "text": args.description.as_deref().unwrap_or_default(), "with_text": args.description.is_some(),
    });
    ask(cx, DOCUMENT, variables)?;
    Ok(json!({ "updated": args.board_id }))
}

#[derive(Args)]
pub enum Copy {
    Structure,
    Items,
    ItemsAndUpdates,
}

#[derive(Args)]
pub struct DuplicateBoard {
    /// Id of the board; ids come from monday_list_boards.
    board_id: String,
    /// Name of the copy.
    #[arg(min_length = 1, max_length = 255)]
    name: Option<String>,
    /// What is copied: groups and columns alone, the items too, or also what was written on them.
    #[arg(default = "structure")]
    copy: Copy,
    /// Workspace to put it into; that of the board unless given.
    workspace_id: Option<String>,
}

/// Copies a board, for example one that serves as a template. A large one is filled in the background.
#[tool(effect = "write", scopes = ["boards:write"], keywords = ["copy board", "template", "clone"],
       example = { "board_id": "1234567890", "name": "Launch 2027" })]
pub fn duplicate_board(args: DuplicateBoard, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($board_id: ID!, $name: String, $kind: DuplicateBoardType!, $workspace: ID) { \
        duplicate_board(board_id: $board_id, board_name: $name, duplicate_type: $kind, workspace_id: $workspace) { \
        is_async board { id name url } } }";
    let kind = match args.copy {
        Copy::Structure => "duplicate_board_with_structure",
        Copy::Items => "duplicate_board_with_pulses",
        Copy::ItemsAndUpdates => "duplicate_board_with_pulses_and_updates",
    };
    let variables = json!({ "board_id": args.board_id, "name": args.name, "kind": kind,
                            "workspace": args.workspace_id });
    let made = &ask(cx, DOCUMENT, variables)?["duplicate_board"];
    let mut out = pick(&made["board"], &["id", "name", "url"]);
    out["complete"] = json!(made["is_async"] != true);
    Ok(out)
}

#[derive(Args)]
pub struct OneBoard {
    /// Id of the board; ids come from monday_list_boards.
    board_id: String,
}

/// Archives a board with all its items; it can be brought back in monday.com.
#[tool(effect = "destructive", idempotent, scopes = ["boards:write"], keywords = ["close board", "remove", "hide"],
       example = { "board_id": "1234567890" })]
pub fn archive_board(args: OneBoard, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str =
        "mutation($board_id: ID!) { archive_board(board_id: $board_id) { id state } }";
    let answer = ask(cx, DOCUMENT, json!({ "board_id": args.board_id }))?;
    Ok(pick(&answer["archive_board"], &["id", "state"]))
}

/// The id of a group of a board by title or id.
fn group_of(cx: &Context, board_id: &str, name: &str) -> Result<String, ToolError> {
    const GROUPS: &str =
        "query($board_id: ID!) { boards(ids: [$board_id]) { groups { id title } } }";
    let answer = ask(cx, GROUPS, json!({ "board_id": board_id }))?;
    group_id(
        &first(&answer["boards"], "board", board_id)?["groups"],
        name,
    )
}

#[derive(Args)]
pub struct RenameGroup {
    /// Id of the board; ids come from monday_list_boards.
    board_id: String,
    /// The group, by title or id.
    group: String,
    /// New title.
    #[arg(min_length = 1, max_length = 255)]
    title: String,
}

/// Renames a group (a section of items) of a board.
#[tool(effect = "write", idempotent, scopes = ["boards:write"], keywords = ["section", "sprint", "rename"],
       example = { "board_id": "1234567890", "group": "Next week", "title": "This week" })]
pub fn rename_group(args: RenameGroup, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($board_id: ID!, $group_id: String!, $title: String!) { \
        update_group(board_id: $board_id, group_id: $group_id, group_attribute: title, new_value: $title) { id title } }";
    let group = group_of(cx, &args.board_id, &args.group)?;
    let variables = json!({ "board_id": args.board_id, "group_id": group, "title": args.title });
    Ok(pick(
        &ask(cx, DOCUMENT, variables)?["update_group"],
        &["id", "title"],
    ))
}

#[derive(Args)]
pub struct OneGroup {
    /// Id of the board; ids come from monday_list_boards.
    board_id: String,
    /// The group, by title or id.
    group: String,
}

/// Deletes a group of a board with all its items; monday.com keeps them in the recycle bin for thirty days.
#[tool(effect = "destructive", idempotent, scopes = ["boards:write"], keywords = ["remove section", "sprint"],
       example = { "board_id": "1234567890", "group": "Old ideas" })]
pub fn delete_group(args: OneGroup, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($board_id: ID!, $group_id: String!) { \
        delete_group(board_id: $board_id, group_id: $group_id) { id deleted } }";
    let group = group_of(cx, &args.board_id, &args.group)?;
    let variables = json!({ "board_id": args.board_id, "group_id": group });
    Ok(pick(
        &ask(cx, DOCUMENT, variables)?["delete_group"],
        &["id", "deleted"],
    ))
}

/// The id of a column of a board by title or id.
pub fn column_of(cx: &Context, board_id: &str, name: &str) -> Result<String, ToolError> {
    const COLUMNS: &str =
        "query($board_id: ID!) { boards(ids: [$board_id]) { columns { id title } } }";
    let answer = ask(cx, COLUMNS, json!({ "board_id": board_id }))?;
    let columns = &first(&answer["boards"], "board", board_id)?["columns"];
    let found = titled(columns, name).and_then(|column| column["id"].as_str());
    found.map(str::to_owned).ok_or_else(|| {
        let text = format!(
            "the board has no column `{name}`; it has {}",
            titles(columns)
        );
        ToolError::invalid("/column", text)
    })
}

#[derive(Args)]
pub struct RenameColumn {
    /// Id of the board; ids come from monday_list_boards.
    board_id: String,
    /// The column, by title or id.
    column: String,
    /// New title.
    #[arg(min_length = 1, max_length = 255)]
    title: String,
}

/// Renames a column of a board.
#[tool(effect = "write", idempotent, scopes = ["boards:write"], keywords = ["field", "property", "rename"],
       example = { "board_id": "1234567890", "column": "Due", "title": "Deadline" })]
pub fn rename_column(args: RenameColumn, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($board_id: ID!, $column_id: String!, $title: String!) { \
        change_column_title(board_id: $board_id, column_id: $column_id, title: $title) { id title type } }";
    let column = column_of(cx, &args.board_id, &args.column)?;
    let variables = json!({ "board_id": args.board_id, "column_id": column, "title": args.title });
    Ok(pick(
        &ask(cx, DOCUMENT, variables)?["change_column_title"],
        &["id", "title", "type"],
    ))
}

#[derive(Args)]
pub struct OneColumn {
    /// Id of the board; ids come from monday_list_boards.
    board_id: String,
    /// The column, by title or id.
    column: String,
}

/// Deletes a column of a board with the values that items have in it.
#[tool(effect = "destructive", idempotent, scopes = ["boards:write"], keywords = ["remove field", "property"],
       example = { "board_id": "1234567890", "column": "Budget" })]
pub fn delete_column(args: OneColumn, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($board_id: ID!, $column_id: String!) { \
        delete_column(board_id: $board_id, column_id: $column_id) { id title } }";
    let column = column_of(cx, &args.board_id, &args.column)?;
    let variables = json!({ "board_id": args.board_id, "column_id": column });
    let gone = &ask(cx, DOCUMENT, variables)?["delete_column"];
    Ok(json!({ "deleted": gone["id"], "title": gone["title"] }))
}

#[derive(Args)]
pub struct ListActivity {
    /// Id of the board; ids come from monday_list_boards.
    board_id: String,
    /// Only what happened to this item.
    item_id: Option<String>,
    /// Only what this person did: `me`, a mail address, a name or an id.
    person: Option<String>,
    /// Only since this moment.
    #[arg(format = "date-time")]
    since: Option<String>,
    /// Only until this moment.
    #[arg(format = "date-time")]
    until: Option<String>,
    /// Entries on a page.
    #[arg(min = 1, max = 500, default = 50)]
    limit: u32,
}

/// Lists what was changed on a board, by whom and when, newest first, with old and new values.
#[tool(effect = "read", queries = ["GRAPHQL https://api.monday.com/v2"], paginated, scopes = ["boards:read"],
       keywords = ["history", "log", "who changed", "audit"], example = { "board_id": "1234567890", "since": "2026-03-01T00:00:00Z" })]
pub fn list_activity(args: ListActivity, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query($board_id: ID!, $items: [ID!], $users: [ID!], $from: ISO8601DateTime, $to: ISO8601DateTime, \
        $limit: Int, $page: Int) { boards(ids: [$board_id]) { activity_logs(item_ids: $items, user_ids: $users, from: $from, \
        to: $to, limit: $limit, page: $page) { id event entity data user_id created_at } } }";
    let page = cx.page_number(1)?;
    let person = match &args.person {
        Some(person) => Some(person_ids(cx, std::slice::from_ref(person), "/person")?),
        None => None,
    };
    let variables = json!({
        "board_id": args.board_id, "items": args.item_id.map(|id| [id]), "users": person,
        "from": args.since, "to": args.until, "limit": args.limit, "page": page,
    });
    let answer = ask(cx, DOCUMENT, variables)?;
    let logs = &first(&answer["boards"], "board", &args.board_id)?["activity_logs"];
    let logs = logs.as_array().into_iter().flatten();
    let shown: Vec<Value> = logs.map(shown_entry).collect();
    numbered(Value::from(shown), page, args.limit)
}

/// An entry of the log: its data is JSON in a text, its time a count of 100 nanoseconds since 1970.
fn shown_entry(entry: &Value) -> Value {
    let mut out = pick(entry, &["event", "entity", "user_id"]);
    let data: Value = entry["data"]
        .as_str()
        .and_then(|text| text.parse().ok())
        .unwrap_or_default();
    for (name, path) in [
        ("item_id", "/pulse_id"),
        ("item", "/pulse_name"),
        ("column", "/column_title"),
        ("group", "/group_name"),
        ("before", "/previous_value"),
        ("after", "/value"),
    ] {
        if let Some(value) = data.pointer(path).filter(|value| !value.is_null()) {
            out[name] = value.clone();
        }
    }
    // monday.com writes a number here, and a text wherever an id is an argument.
    if let Some(id) = out["item_id"].as_u64() {
        out["item_id"] = json!(id.to_string());
    }
    let ticks = entry["created_at"]
        .as_str()
        .and_then(|text| text.parse::<i64>().ok());
    out["at"] = ticks.map_or_else(
        || entry["created_at"].clone(),
        |ticks| json!(moment(ticks / 10_000_000)),
    );
    out
}

/// Seconds since 1970 as UTC in ISO 8601, by the civil calendar (H. Hinnant, "chrono-compatible low-level date algorithms").
fn moment(seconds: i64) -> String {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::moment;

    #[test]
    fn seconds_become_a_moment_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_774_947_723, "2026-03-31T09:02:03Z"),
        ] {
            assert_eq!(moment(seconds), text);
        }
    }
}
