//! Creating and changing issues, comments, links and projects.

use toolgate_sdk::prelude::*;

use crate::api::{ask, issue_fields, issue_key, made, shown};
use crate::filter::Priority;
use crate::resolve::{Wanted, resolve};

fn labelled<'a>(field: &str, names: &'a Option<Vec<String>>) -> Vec<(&'a str, String)> {
    let names = names.iter().flatten().enumerate();
    names
        .map(|(index, name)| (name.as_str(), format!("/{field}/{index}")))
        .collect()
}

#[derive(Args)]
pub struct CreateIssue {
    /// Team by key or name, for example `ENG`.
    team: String,
    /// One line that says what it is about.
    #[arg(min_length = 1, max_length = 500)]
    title: String,
    /// The text, in Markdown.
    description: Option<String>,
    /// Who works on it: `me`, a mail address or a name.
    assignee: Option<String>,
    /// State by name, for example `Todo`; the team's first unless given.
    state: Option<String>,
    /// How urgent it is.
    priority: Option<Priority>,
    /// Names of labels.
    #[arg(max_items = 20)]
    labels: Option<Vec<String>>,
    /// Project by name.
    project: Option<String>,
    /// Identifier of the issue that this is a part of.
    parent: Option<String>,
    /// Day by which it is due.
    #[arg(format = "date")]
    due_date: Option<String>,
    /// Size in the points of the team's scale.
    #[arg(min = 0, max = 1000)]
    estimate: Option<u32>,
}

/// Creates an issue. Team, assignee, state, labels and project are given by name.
#[tool(effect = "write", scopes = ["write"], keywords = ["new ticket", "report bug", "file", "add task"],
       example = { "team": "ENG", "title": "Login fails on Safari", "assignee": "me", "priority": "high", "labels": ["Bug"] })]
pub fn create_issue(args: CreateIssue, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = concat!(
        "mutation Create($input: IssueCreateInput!) { issueCreate(input: $input) { success issue { ",
        issue_fields!(),
        " } } }"
    );
    let parent = args.parent.as_deref();
    let parent = parent
        .map(|parent| issue_key(parent, "parent"))
        .transpose()?;
    let found = resolve(
        cx,
        &Wanted {
            issue: parent.as_deref(),
            team: Some(&args.team),
            person: args.assignee.as_deref(),
            project: args.project.as_deref(),
            state: args.state.as_deref(),
            labels: labelled("labels", &args.labels),
        },
    )?;
    let mut input = json!({ "teamId": found.team, "title": args.title });
    for (key, value) in [
        ("description", json!(args.description)),
        ("assigneeId", json!(found.person)),
        ("stateId", json!(found.state)),
        ("priority", json!(args.priority.map(|one| one.number()))),
        ("labelIds", json!(args.labels.map(|_| found.labels))),
        ("projectId", json!(found.project)),
        ("parentId", json!(found.issue)),
        ("dueDate", json!(args.due_date)),
        ("estimate", json!(args.estimate)),
    ] {
        if !value.is_null() {
            input[key] = value;
        }
    }
    let answer = ask(cx, DOCUMENT, json!({ "input": input }))?;
    Ok(shown(made(&answer, "issueCreate", "issue")?))
}

#[derive(Args)]
pub struct UpdateIssue {
    /// Identifier such as `ENG-123`, id or address of the issue.
    issue: String,
    /// The new title.
    #[arg(min_length = 1, max_length = 500)]
    title: Option<String>,
    /// The new text, in Markdown; it takes the place of the old one.
    description: Option<String>,
    /// Who works on it now: `me`, `none`, a mail address or a name.
    assignee: Option<String>,
    /// State by name, for example `Done`, or a kind of state such as `completed`.
    state: Option<String>,
    /// How urgent it is.
    priority: Option<Priority>,
    /// Names of labels to add.
    #[arg(max_items = 20)]
    add_labels: Option<Vec<String>>,
    /// Names of labels to take off.
    #[arg(max_items = 20)]
    remove_labels: Option<Vec<String>>,
    /// Project by name, `none` to take it out of one.
    project: Option<String>,
    /// Day by which it is due, `none` for no such day.
    #[arg(pattern = "^(none|[0-9]{4}-[0-9]{2}-[0-9]{2})$")]
    due_date: Option<String>,
    /// Size in the points of the team's scale.
    #[arg(min = 0, max = 1000)]
    estimate: Option<u32>,
}

/// Changes an issue: move it to a state, assign it, retitle it, add or remove labels, set priority, project or due day.
#[tool(effect = "write", idempotent, scopes = ["write"], keywords = ["edit", "close", "assign", "move", "status", "done", "prioritise"],
       example = { "issue": "ENG-123", "state": "Done", "remove_labels": ["Blocked"] })]
pub fn update_issue(args: UpdateIssue, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = concat!(
        "mutation Update($id: String!, $input: IssueUpdateInput!) { \
         issueUpdate(id: $id, input: $input) { success issue { ",
        issue_fields!(),
        " } } }"
    );
    let id = issue_key(&args.issue, "issue")?;
    let named = |value: &Option<String>| value.clone().filter(|value| value != "none");
    let (person, project) = (named(&args.assignee), named(&args.project));
    let mut labels = labelled("add_labels", &args.add_labels);
    let added = labels.len();
    labels.extend(labelled("remove_labels", &args.remove_labels));
    let mut found = resolve(
        cx,
        &Wanted {
            issue: Some(&id),
            team: None,
            person: person.as_deref(),
            project: project.as_deref(),
            state: args.state.as_deref(),
            labels,
        },
    )?;
    let removed = found.labels.split_off(added);
    let mut input = json!({});
    for (key, value) in [
        ("title", json!(args.title)),
        ("description", json!(args.description)),
        ("assigneeId", json!(found.person)),
        ("stateId", json!(found.state)),
        ("priority", json!(args.priority.map(|one| one.number()))),
        (
            "addedLabelIds",
            json!(args.add_labels.map(|_| found.labels)),
        ),
        (
            "removedLabelIds",
            json!(args.remove_labels.map(|_| removed)),
        ),
        ("projectId", json!(found.project)),
        ("dueDate", json!(named(&args.due_date))),
        ("estimate", json!(args.estimate)),
    ] {
        if !value.is_null() {
            input[key] = value;
        }
    }
    for (key, value) in [
        ("assigneeId", &args.assignee),
        ("projectId", &args.project),
        ("dueDate", &args.due_date),
    ] {
        if value.as_deref() == Some("none") {
            input[key] = Value::Null;
        }
    }
    if input == json!({}) {
        return Err(ToolError::invalid("", "say what shall change"));
    }
    let variables = json!({ "id": found.issue, "input": input });
    let answer = ask(cx, DOCUMENT, variables)?;
    Ok(shown(made(&answer, "issueUpdate", "issue")?))
}

#[derive(Args)]
pub struct ArchiveIssue {
    /// Identifier such as `ENG-123`, id or address of the issue.
    issue: String,
    /// Put it into the trash, from where Linear deletes it, in place of the archive.
    #[arg(default = false)]
    trash: bool,
}

/// Archives an issue, or moves it to the trash.
#[tool(effect = "destructive", idempotent, scopes = ["write"], keywords = ["delete", "remove", "trash"],
       example = { "issue": "ENG-123" })]
pub fn archive_issue(args: ArchiveIssue, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Archive($id: String!, $trash: Boolean) { \
        issueArchive(id: $id, trash: $trash) { success } }";
    let id = issue_key(&args.issue, "issue")?;
    let answer = ask(cx, DOCUMENT, json!({ "id": id, "trash": args.trash }))?;
    made(&answer, "issueArchive", "success")?;
    Ok(json!({ "issue": id, "archived": true, "trashed": args.trash }))
}

#[derive(Args)]
pub struct CreateComment {
    /// Identifier such as `ENG-123`, id or address of the issue.
    issue: String,
    /// The comment, in Markdown.
    #[arg(min_length = 1)]
    body: String,
    /// Id of the comment to answer, as linear_list_comments shows it.
    reply_to: Option<String>,
}

/// Comments on an issue, or answers a comment in its thread.
#[tool(effect = "write", scopes = ["write"], keywords = ["reply", "note", "discuss", "answer"],
       example = { "issue": "ENG-123", "body": "Fixed in **2.4**." })]
pub fn create_comment(args: CreateComment, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Comment($input: CommentCreateInput!) { \
        commentCreate(input: $input) { success comment { id url createdAt } } }";
    let id = issue_key(&args.issue, "issue")?;
    let wanted = Wanted {
        issue: Some(&id),
        ..Wanted::default()
    };
    let found = resolve(cx, &wanted)?;
    let mut input = json!({ "issueId": found.issue, "body": args.body });
    if let Some(parent) = args.reply_to {
        input["parentId"] = json!(parent);
    }
    let answer = ask(cx, DOCUMENT, json!({ "input": input }))?;
    let comment = made(&answer, "commentCreate", "comment")?;
    Ok(pick(comment, &["id", "url", "created_at=createdAt"]))
}

#[derive(Args)]
pub struct LinkUrl {
    /// Identifier such as `ENG-123`, id or address of the issue.
    issue: String,
    /// The address to link, for example of a pull request or a document.
    #[arg(format = "uri")]
    url: String,
    /// What the link says; the page's own title unless given.
    title: Option<String>,
}

/// Attaches a link to an issue.
#[tool(effect = "write", idempotent, scopes = ["write"], keywords = ["attach", "reference", "pull request"],
       example = { "issue": "ENG-123", "url": "https://example.com/design", "title": "Design" })]
pub fn link_url_to_issue(args: LinkUrl, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Link($issueId: String!, $url: String!, $title: String) { \
        attachmentLinkURL(issueId: $issueId, url: $url, title: $title) { \
        success attachment { id title url } } }";
    let id = issue_key(&args.issue, "issue")?;
    let variables = json!({ "issueId": id, "url": args.url, "title": args.title });
    let answer = ask(cx, DOCUMENT, variables)?;
    let attachment = made(&answer, "attachmentLinkURL", "attachment")?;
    Ok(pick(attachment, &["id", "title", "url"]))
}

#[derive(Args)]
pub struct CreateProject {
    /// Name of the project.
    #[arg(min_length = 1, max_length = 200)]
    name: String,
    /// Team by key or name.
    team: String,
    /// What it is for, in a line.
    #[arg(max_length = 255)]
    description: Option<String>,
    /// The whole text, in Markdown.
    content: Option<String>,
    /// Who leads it: `me`, a mail address or a name.
    lead: Option<String>,
    /// Day on which it begins.
    #[arg(format = "date")]
    start_date: Option<String>,
    /// Day on which it shall be done.
    #[arg(format = "date")]
    target_date: Option<String>,
}

/// Creates a project of a team.
#[tool(effect = "write", scopes = ["write"], keywords = ["new project", "roadmap", "initiative"],
       example = { "name": "Faster search", "team": "ENG", "target_date": "2026-06-30" })]
pub fn create_project(args: CreateProject, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Project($input: ProjectCreateInput!) { \
        projectCreate(input: $input) { success project { id name url startDate targetDate } } }";
    let wanted = Wanted {
        team: Some(&args.team),
        person: args.lead.as_deref(),
        ..Wanted::default()
    };
    let found = resolve(cx, &wanted)?;
    let mut input = json!({ "name": args.name, "teamIds": [found.team] });
    for (key, value) in [
        ("description", args.description),
        ("content", args.content),
        ("leadId", found.person),
        ("startDate", args.start_date),
        ("targetDate", args.target_date),
    ] {
        if let Some(value) = value {
            input[key] = json!(value);
        }
    }
    let answer = ask(cx, DOCUMENT, json!({ "input": input }))?;
    let project = made(&answer, "projectCreate", "project")?;
    let fields = [
        "id",
        "name",
        "url",
        "start_date=startDate",
        "target_date=targetDate",
    ];
    Ok(pick(project, &fields))
}
