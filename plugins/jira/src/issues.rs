//! Issues: finding, reading, making, changing, moving.

use toolgate_sdk::prelude::*;

use crate::adf::{document, to_markdown};
use crate::api::jira;
use crate::names::{field_ids, person};

/// Fields asked for, comma-separated.
pub const FIELDS: &str = "summary,status,issuetype,priority,assignee,reporter,labels,parent,created,updated,duedate,resolution,description,project";

pub fn shown(issue: &Value) -> Value {
    let fields = [
        "key",
        "summary=fields/summary",
        "status=fields/status/name",
        "type=fields/issuetype/name",
        "priority=fields/priority/name",
        "assignee=fields/assignee/displayName",
        "reporter=fields/reporter/displayName",
        "labels=fields/labels",
        "parent=fields/parent/key",
        "project=fields/project/key",
        "resolution=fields/resolution/name",
        "due=fields/duedate",
        "created=fields/created",
        "updated=fields/updated",
    ];
    let mut out = pick(issue, &fields);
    let text = to_markdown(&issue["fields"]["description"]);
    if !text.is_empty() {
        out["description"] = json!(text);
    }
    out
}

#[derive(Args)]
pub enum IssueOrder {
    Created,
    Updated,
}

impl IssueOrder {
    fn clause(&self) -> &'static str {
        match self {
            Self::Created => "ORDER BY created DESC",
            Self::Updated => "ORDER BY updated DESC",
        }
    }
}

#[derive(Args)]
pub struct SearchIssues {
    /// JQL, for example `assignee = currentUser() AND statusCategory != Done ORDER BY updated`. It
    /// must name a limit such as a project, a person or a time.
    #[arg(min_length = 1, max_length = 4000)]
    jql: String,
    /// By which time to sort, newest first; instead of an ORDER BY in the JQL.
    order: Option<IssueOrder>,
    /// Issues on a page.
    #[arg(min = 1, max = 100, default = 25)]
    limit: u32,
}

/// Finds issues by Jira's query language.
#[tool(effect = "read", paginated, keywords = ["find", "tickets", "bugs", "tasks", "assigned", "list"],
       example = { "jql": "project = ABC AND status = \"In Progress\"" },
       trigger = { name: "new_issue", title: "New issue",
                   description: "An issue was created that a JQL without ORDER BY finds, for example `project = ABC`.",
                   arguments: { order: "created", limit: 100 }, items: "", id: ["/key"], time: "/created",
                   order: "newest_first" },
       trigger = { name: "changed_issue", title: "New or changed issue",
                   description: "An issue was created or changed that a JQL without ORDER BY finds, for example `project = ABC`.",
                   arguments: { order: "updated", limit: 100 }, items: "", id: ["/key", "/updated"],
                   time: "/updated", order: "newest_first" })]
pub fn search_issues(args: SearchIssues, cx: &Context) -> Result<Output, ToolError> {
    let jql = match &args.order {
        None => args.jql,
        Some(_) if is_sorted(&args.jql) => {
            let text = "the JQL has an ORDER BY of its own; leave out one of them";
            return Err(ToolError::invalid("/order", text));
        }
        Some(order) => format!("{} {}", args.jql.trim_end(), order.clause()),
    };
    let request = jira(cx)
        .get("/search/jql")
        .query("jql", jql)
        .query("fields", FIELDS);
    let request = request
        .query("maxResults", args.limit)
        .query("nextPageToken", cx.cursor());
    let answer = request.fetch()?;
    let issues = answer["issues"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let issues: Vec<Value> = issues.iter().map(shown).collect();
    Output::page(issues, answer["nextPageToken"].as_str().map(str::to_owned))
}

/// Whether the words ORDER BY stand in a query, be it within a text.
fn is_sorted(jql: &str) -> bool {
    let words = jql.split_whitespace();
    let next = words.clone().skip(1);
    words.zip(next).any(|(first, second)| {
        first.eq_ignore_ascii_case("order") && second.eq_ignore_ascii_case("by")
    })
}

#[derive(Args)]
pub struct OneIssue {
    /// Key of the issue, for example `ABC-123`.
    pub issue: String,
}

/// Reads one issue: summary, description, status, people, dates.
#[tool(effect = "read", keywords = ["ticket", "bug", "task"], example = { "issue": "ABC-123" })]
pub fn get_issue(args: OneIssue, cx: &Context) -> Result<Value, ToolError> {
    let request = jira(cx)
        .get(path!("/issue/{}", args.issue))
        .query("fields", FIELDS);
    Ok(shown(&request.fetch()?))
}

#[derive(Args)]
pub struct CreateIssue {
    /// Key of the project, for example `ABC`.
    project: String,
    /// Name of the issue type, for example `Task`, `Bug` or `Story`.
    #[arg(default = "Task")]
    issue_type: String,
    /// One line that says what it is about.
    #[arg(min_length = 1, max_length = 255)]
    summary: String,
    /// Text in Markdown.
    description: Option<String>,
    /// Name of the priority, for example `High`.
    priority: Option<String>,
    /// Who to assign: `me`, a mail address, a name or an account id.
    assignee: Option<String>,
    /// Labels, without spaces.
    #[arg(max_items = 50)]
    labels: Option<Vec<String>>,
    /// Key of the parent issue or epic.
    parent: Option<String>,
    /// Due date.
    #[arg(format = "date")]
    due: Option<String>,
    /// Further fields by name or id in Jira's own form, for example `{"Story Points": 3}`.
    fields: Option<Map<String, Value>>,
}

/// Creates an issue in a project.
#[tool(effect = "write", keywords = ["new", "ticket", "bug", "task", "story", "report"],
       example = { "project": "ABC", "issue_type": "Bug", "summary": "Crash on start" })]
pub fn create_issue(args: CreateIssue, cx: &Context) -> Result<Value, ToolError> {
    let assignee = args.assignee.as_deref();
    let assignee = assignee
        .map(|who| person(cx, who, "assignee"))
        .transpose()?;
    let mut fields = field_ids(cx, args.fields.unwrap_or_default())?;
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            fields.insert(name.to_owned(), value);
        }
    };
    set("project", Some(json!({ "key": args.project })));
    set("issuetype", Some(json!({ "name": args.issue_type })));
    set("summary", Some(json!(args.summary)));
    set("description", args.description.map(|text| document(&text)));
    set(
        "priority",
        args.priority.map(|name| json!({ "name": name })),
    );
    set("assignee", assignee.map(|id| json!({ "accountId": id })));
    set("labels", args.labels.map(|labels| json!(labels)));
    set("parent", args.parent.map(|key| json!({ "key": key })));
    set("duedate", args.due.map(|date| json!(date)));
    let issue = jira(cx)
        .post("/issue")
        .json(&json!({ "fields": fields }))
        .fetch()?;
    Ok(pick(&issue, &["id", "key"]))
}

#[derive(Args)]
pub struct UpdateIssue {
    /// Key of the issue.
    issue: String,
    /// New summary.
    #[arg(min_length = 1, max_length = 255)]
    summary: Option<String>,
    /// New description; replaces the old one.
    description: Option<String>,
    /// Name of the priority.
    priority: Option<String>,
    /// All labels it shall have; replaces the old ones.
    #[arg(max_items = 50)]
    labels: Option<Vec<String>>,
    /// Due date.
    #[arg(format = "date")]
    due: Option<String>,
    /// Further fields by name or id in Jira's own form; null empties one.
    fields: Option<Map<String, Value>>,
}

/// Changes fields of an issue. Its status is changed by jira_transition_issue.
#[tool(effect = "write", idempotent, keywords = ["edit", "ticket", "priority", "labels"],
       example = { "issue": "ED-1", "summary": "New", "labels": [] })]
pub fn update_issue(args: UpdateIssue, cx: &Context) -> Result<Value, ToolError> {
    let mut fields = field_ids(cx, args.fields.unwrap_or_default())?;
    let changes = [
        ("summary", args.summary.map(|text| json!(text))),
        ("description", args.description.map(|text| document(&text))),
        (
            "priority",
            args.priority.map(|name| json!({ "name": name })),
        ),
        ("labels", args.labels.map(|labels| json!(labels))),
        ("duedate", args.due.map(|date| json!(date))),
    ];
    for (name, value) in changes {
        if let Some(value) = value {
            fields.insert(name.to_owned(), value);
        }
    }
    let body = json!({ "fields": fields });
    jira(cx)
        .put(path!("/issue/{}", args.issue))
        .json(&body)
        .send()?;
    Ok(json!({ "key": args.issue, "updated": true }))
}

#[derive(Args)]
pub struct AssignIssue {
    /// Key of the issue.
    issue: String,
    /// Who to assign: `me`, a mail address, a name or an account id; leave out to unassign.
    account_id: Option<String>,
}

/// Assigns an issue to a person, or to nobody.
#[tool(effect = "write", idempotent, keywords = ["owner", "ticket", "unassign"],
       example = { "issue": "ED-1", "account_id": "5b10a2844c20165700ede21g" })]
pub fn assign_issue(args: AssignIssue, cx: &Context) -> Result<Value, ToolError> {
    let who = args.account_id.as_deref();
    let who = who.map(|who| person(cx, who, "account_id")).transpose()?;
    let body = json!({ "accountId": who });
    jira(cx)
        .put(path!("/issue/{}/assignee", args.issue))
        .json(&body)
        .send()?;
    Ok(json!({ "key": args.issue, "assignee": who }))
}

/// Lists the transitions that an issue can take now, with the status each leads to.
#[tool(effect = "read", keywords = ["workflow", "status", "states", "which states"],
       example = { "issue": "ED-1" })]
pub fn list_transitions(args: OneIssue, cx: &Context) -> Result<Value, ToolError> {
    let answer = jira(cx)
        .get(path!("/issue/{}/transitions", args.issue))
        .fetch()?;
    Ok(pick_each(
        &answer["transitions"],
        &["id", "name", "to=to/name"],
    ))
}

#[derive(Args)]
pub struct TransitionIssue {
    /// Key of the issue.
    issue: String,
    /// Name of the transition or of the status it leads to, for example `Done`; or its id.
    to: String,
}

/// Moves an issue to another status, by the name of the status or of the transition.
#[tool(effect = "write", keywords = ["status", "close", "done", "start", "resolve", "workflow"],
       example = { "issue": "ABC-123", "to": "Done" })]
pub fn transition_issue(args: TransitionIssue, cx: &Context) -> Result<Value, ToolError> {
    let address = path!("/issue/{}/transitions", args.issue);
    let answer = jira(cx).get(address.clone()).fetch()?;
    let all = answer["transitions"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let is = |value: &Value| {
        value
            .as_str()
            .is_some_and(|text| text.eq_ignore_ascii_case(&args.to))
    };
    let found = all
        .iter()
        .find(|one| is(&one["id"]) || is(&one["name"]) || is(&one["to"]["name"]));
    let Some(found) = found else {
        let known: Vec<&str> = all
            .iter()
            .filter_map(|one| one["to"]["name"].as_str())
            .collect();
        let text = format!(
            "the issue cannot go to `{}` now; it can go to {}",
            args.to,
            known.join(", ")
        );
        return Err(ToolError::invalid("/to", text));
    };
    jira(cx)
        .post(address)
        .json(&json!({ "transition": { "id": found["id"] } }))
        .send()?;
    Ok(json!({ "key": args.issue, "status": found["to"]["name"] }))
}

/// Deletes an issue and its subtasks. Cannot be taken back.
#[tool(effect = "destructive", idempotent, keywords = ["remove", "ticket"],
       example = { "issue": "ED-1" })]
pub fn delete_issue(args: OneIssue, cx: &Context) -> Result<Value, ToolError> {
    jira(cx)
        .delete(path!("/issue/{}", args.issue))
        .query("deleteSubtasks", true)
        .send()?;
    Ok(json!({ "key": args.issue, "deleted": true }))
}
