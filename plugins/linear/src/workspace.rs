//! What belongs to the whole workspace: labels, initiatives, saved views, and the account's notifications.

use toolgate_sdk::prelude::*;

use crate::api::{ask, issue_fields, made, page, shown};
use crate::projects::project_id;
use crate::resolve::{Wanted, resolve};

const LABEL: &[&str] = &["id", "name", "color", "description", "team=team/key"];

#[derive(Args)]
pub struct CreateLabel {
    /// Name of the label.
    #[arg(min_length = 1, max_length = 80)]
    name: String,
    /// Team by key or name; a label of the whole workspace unless given.
    team: Option<String>,
    /// Its colour.
    #[arg(pattern = "^#[0-9a-fA-F]{6}$", examples = ["#eb5757"])]
    color: Option<String>,
    /// What it means.
    #[arg(max_length = 255)]
    description: Option<String>,
}

/// Creates a label of a team or of the whole workspace.
#[tool(effect = "write", scopes = ["write"], keywords = ["new tag"], example = { "name": "Regression", "team": "ENG", "color": "#eb5757" })]
pub fn create_label(args: CreateLabel, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Label($input: IssueLabelCreateInput!) { \
        issueLabelCreate(input: $input) { success issueLabel { id name color description team { key } } } }";
    let mut input = json!({ "name": args.name });
    if let Some(team) = &args.team {
        let wanted = Wanted {
            team: Some(team),
            ..Wanted::default()
        };
        input["teamId"] = json!(resolve(cx, &wanted)?.team);
    }
    for (key, value) in [("color", args.color), ("description", args.description)] {
        if let Some(value) = value {
            input[key] = json!(value);
        }
    }
    let answer = ask(cx, DOCUMENT, json!({ "input": input }))?;
    Ok(pick(
        made(&answer, "issueLabelCreate", "issueLabel")?,
        LABEL,
    ))
}

#[derive(Args)]
pub struct UpdateLabel {
    /// Id of the label, as linear_list_labels shows it.
    label: String,
    /// The new name.
    #[arg(min_length = 1, max_length = 80)]
    name: Option<String>,
    /// Its colour.
    #[arg(pattern = "^#[0-9a-fA-F]{6}$")]
    color: Option<String>,
    /// What it means.
    #[arg(max_length = 255)]
    description: Option<String>,
}

/// Changes the name, colour or description of a label.
#[tool(effect = "write", idempotent, scopes = ["write"], keywords = ["rename tag"],
       example = { "label": "1abe1000-9b5c-4a3d-9f5c-1f2c3d4e5f60", "name": "Regression" })]
pub fn update_label(args: UpdateLabel, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Label($id: String!, $input: IssueLabelUpdateInput!) { \
        issueLabelUpdate(id: $id, input: $input) { success issueLabel { id name color description team { key } } } }";
    let mut input = json!({});
    for (key, value) in [
        ("name", args.name),
        ("color", args.color),
        ("description", args.description),
    ] {
        if let Some(value) = value {
            input[key] = json!(value);
        }
    }
    if input == json!({}) {
        return Err(ToolError::invalid("/name", "say what shall change"));
    }
    let answer = ask(cx, DOCUMENT, json!({ "id": args.label, "input": input }))?;
    Ok(pick(
        made(&answer, "issueLabelUpdate", "issueLabel")?,
        LABEL,
    ))
}

#[derive(Args)]
pub struct OneLabel {
    /// Id of the label, as linear_list_labels shows it.
    label: String,
}

/// Deletes a label and takes it off all issues.
#[tool(effect = "destructive", idempotent, scopes = ["write"], keywords = ["remove tag"], example = { "label": "1abe1000-9b5c-4a3d-9f5c-1f2c3d4e5f60" })]
pub fn delete_label(args: OneLabel, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str =
        "mutation Delete($id: String!) { issueLabelDelete(id: $id) { success } }";
    let answer = ask(cx, DOCUMENT, json!({ "id": args.label }))?;
    made(&answer, "issueLabelDelete", "success")?;
    Ok(json!({ "deleted": args.label }))
}

#[derive(Args)]
pub struct Listed {
    /// Entries on a page.
    #[arg(min = 1, max = 100, default = 25)]
    limit: u32,
}

/// Lists initiatives (groups of projects towards a goal) with status, owner, date and projects.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], paginated, scopes = ["read"], keywords = ["goals", "strategy", "roadmap", "okr"], example = {})]
pub fn list_initiatives(args: Listed, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query Initiatives($first: Int, $after: String) { \
        initiatives(first: $first, after: $after) { nodes { id name description url status targetDate \
        owner { name } projects { nodes { name } } } pageInfo { hasNextPage endCursor } } }";
    let variables = json!({ "first": args.limit, "after": cx.cursor() });
    page(&ask(cx, DOCUMENT, variables)?["initiatives"], |one| {
        let fields = [
            "id",
            "name",
            "description",
            "url",
            "status",
            "target_date=targetDate",
            "owner=owner/name",
            "projects=projects/nodes/*/name",
        ];
        pick(one, &fields)
    })
}

#[derive(Args)]
pub struct CreateInitiative {
    /// Name of the initiative.
    #[arg(min_length = 1, max_length = 80)]
    name: String,
    /// What it is for, in a line.
    #[arg(max_length = 255)]
    description: Option<String>,
    /// Who owns it: `me`, a mail address or a name.
    owner: Option<String>,
    /// Day on which it shall be done.
    #[arg(format = "date")]
    target_date: Option<String>,
}

/// Creates an initiative, to which projects are added with linear_add_project_to_initiative.
#[tool(effect = "write", scopes = ["write"], keywords = ["new goal", "strategy"], example = { "name": "Faster product", "target_date": "2026-12-31" })]
pub fn create_initiative(args: CreateInitiative, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Initiative($input: InitiativeCreateInput!) { \
        initiativeCreate(input: $input) { success initiative { id name url status } } }";
    let mut input = json!({ "name": args.name });
    if let Some(owner) = &args.owner {
        let wanted = Wanted {
            person: Some(owner),
            ..Wanted::default()
        };
        input["ownerId"] = json!(resolve(cx, &wanted)?.person);
    }
    for (key, value) in [
        ("description", args.description),
        ("targetDate", args.target_date),
    ] {
        if let Some(value) = value {
            input[key] = json!(value);
        }
    }
    let answer = ask(cx, DOCUMENT, json!({ "input": input }))?;
    let made = made(&answer, "initiativeCreate", "initiative")?;
    Ok(pick(made, &["id", "name", "url", "status"]))
}

#[derive(Args)]
pub struct AddProjectToInitiative {
    /// Id of the initiative, as linear_list_initiatives shows it.
    initiative: String,
    /// Project by name or id.
    #[arg(min_length = 1)]
    project: String,
}

/// Adds a project to an initiative.
#[tool(effect = "write", scopes = ["write"], keywords = ["group project", "goal"],
       example = { "initiative": "171a0000-9b5c-4a3d-9f5c-1f2c3d4e5f60", "project": "Faster search" })]
pub fn add_project_to_initiative(
    args: AddProjectToInitiative,
    cx: &Context,
) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Add($input: InitiativeToProjectCreateInput!) { \
        initiativeToProjectCreate(input: $input) { success initiativeToProject { id } } }";
    let project = project_id(cx, &args.project)?;
    let input = json!({ "initiativeId": args.initiative, "projectId": project });
    let answer = ask(cx, DOCUMENT, json!({ "input": input }))?;
    let made = made(&answer, "initiativeToProjectCreate", "initiativeToProject")?;
    Ok(json!({ "id": made["id"], "initiative": args.initiative, "project": project }))
}

/// Lists the saved views of issues with their ids.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], paginated, scopes = ["read"], keywords = ["saved filters", "custom views", "boards"], example = {})]
pub fn list_views(args: Listed, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query Views($first: Int, $after: String) { \
        customViews(first: $first, after: $after) { nodes { id name description shared team { key } \
        owner { name } } pageInfo { hasNextPage endCursor } } }";
    let variables = json!({ "first": args.limit, "after": cx.cursor() });
    page(&ask(cx, DOCUMENT, variables)?["customViews"], |one| {
        pick(
            one,
            &[
                "id",
                "name",
                "description",
                "shared",
                "team=team/key",
                "owner=owner/name",
            ],
        )
    })
}

#[derive(Args)]
pub struct ListViewIssues {
    /// Id of the view, as linear_list_views shows it.
    view: String,
    /// Issues on a page.
    #[arg(min = 1, max = 100, default = 25)]
    limit: u32,
}

/// Lists the issues that a saved view shows.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], paginated, scopes = ["read"], keywords = ["run saved filter", "board issues"], example = { "view": "71e30000-9b5c-4a3d-9f5c-1f2c3d4e5f60" })]
pub fn list_view_issues(args: ListViewIssues, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = concat!(
        "query View($id: String!, $first: Int, $after: String) { customView(id: $id) { \
         issues(first: $first, after: $after) { nodes { ",
        issue_fields!(),
        " } pageInfo { hasNextPage endCursor } } } }"
    );
    let variables = json!({ "id": args.view, "first": args.limit, "after": cx.cursor() });
    page(
        &ask(cx, DOCUMENT, variables)?["customView"]["issues"],
        shown,
    )
}

/// Lists the notifications of the connected account, newest first, each with its issue and whether it was read.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], paginated, scopes = ["read"], keywords = ["inbox", "mentions", "unread"], example = {})]
pub fn list_notifications(args: Listed, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query Inbox($first: Int, $after: String) { \
        notifications(first: $first, after: $after) { nodes { id type title subtitle url createdAt readAt \
        snoozedUntilAt actor { name } ... on IssueNotification { issue { identifier } } } \
        pageInfo { hasNextPage endCursor } } }";
    let variables = json!({ "first": args.limit, "after": cx.cursor() });
    page(&ask(cx, DOCUMENT, variables)?["notifications"], |one| {
        let fields = [
            "id",
            "type",
            "title",
            "subtitle",
            "issue=issue/identifier",
            "actor=actor/name",
            "url",
            "created_at=createdAt",
            "read_at=readAt",
            "snoozed_until=snoozedUntilAt",
        ];
        pick(one, &fields)
    })
}

#[derive(Args)]
pub struct UpdateNotification {
    /// Id of the notification, as linear_list_notifications shows it.
    notification: String,
    /// When it was read.
    #[arg(format = "date-time")]
    read_at: Option<String>,
    /// Until when it is put off.
    #[arg(format = "date-time")]
    snoozed_until: Option<String>,
}

/// Marks a notification as read, or puts it off until a time.
#[tool(effect = "write", idempotent, scopes = ["write"], keywords = ["mark as read", "snooze", "inbox"],
       example = { "notification": "70710000-9b5c-4a3d-9f5c-1f2c3d4e5f60", "read_at": "2026-04-01T09:00:00Z" })]
pub fn update_notification(args: UpdateNotification, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Read($id: String!, $input: NotificationUpdateInput!) { \
        notificationUpdate(id: $id, input: $input) { success notification { id readAt snoozedUntilAt } } }";
    let mut input = json!({});
    for (key, value) in [
        ("readAt", args.read_at),
        ("snoozedUntilAt", args.snoozed_until),
    ] {
        if let Some(value) = value {
            input[key] = json!(value);
        }
    }
    if input == json!({}) {
        return Err(ToolError::invalid(
            "/read_at",
            "give read_at or snoozed_until",
        ));
    }
    let answer = ask(
        cx,
        DOCUMENT,
        json!({ "id": args.notification, "input": input }),
    )?;
    let made = made(&answer, "notificationUpdate", "notification")?;
    Ok(pick(
        made,
        &["id", "read_at=readAt", "snoozed_until=snoozedUntilAt"],
    ))
}
