//! What happened to issues, how many there are, saved filters, copies.

use toolgate_sdk::prelude::*;

use crate::api::{jira, next_start};

#[derive(Args)]
pub struct ListChanges {
    /// Key of the issue.
    issue: String,
    /// Changes on a page.
    #[arg(min = 1, max = 100, default = 50)]
    limit: u32,
}

/// Lists the changes of an issue: who changed which field from what to what, and when; oldest first.
#[tool(effect = "read", paginated, keywords = ["changelog", "audit", "who changed status", "activity"],
       example = { "issue": "ED-1" })]
pub fn list_issue_changes(args: ListChanges, cx: &Context) -> Result<Output, ToolError> {
    let request = jira(cx).get(path!("/issue/{}/changelog", args.issue));
    let answer = request
        .query("startAt", cx.page_number(0)?)
        .query("maxResults", args.limit)
        .fetch()?;
    let changes = answer["values"].as_array().into_iter().flatten();
    let changes: Vec<Value> = changes
        .map(|change| {
            let mut out = pick(change, &["who=author/displayName", "created"]);
            out["changes"] = pick_each(
                &change["items"],
                &["field", "from=fromString", "to=toString"],
            );
            out
        })
        .collect();
    let next = next_start(&answer, changes.len());
    Output::page(changes, next)
}

#[derive(Args)]
pub struct CountIssues {
    /// JQL that names a limit such as a project, a person or a time.
    #[arg(min_length = 1, max_length = 4000)]
    jql: String,
}

/// Counts the issues that a JQL finds, about. Without reading them.
#[tool(effect = "read",
    queries = ["POST https://{site}.atlassian.net/rest/api/3/search/approximate-count"], keywords = ["how many tickets", "number of bugs"],
       example = { "jql": "project = ABC AND statusCategory != Done" })]
pub fn count_issues(args: CountIssues, cx: &Context) -> Result<Value, ToolError> {
    let request = jira(cx).post("/search/approximate-count");
    Ok(pick(
        &request.json(&json!({ "jql": args.jql })).fetch()?,
        &["count"],
    ))
}

#[derive(Args)]
pub struct ListFilters {
    /// Only filters with this in their name.
    name: Option<String>,
    /// Filters on a page.
    #[arg(min = 1, max = 100, default = 25)]
    limit: u32,
}

const FILTER: &[&str] = &[
    "id",
    "name",
    "jql",
    "owner=owner/displayName",
    "description",
];

/// Lists saved filters with their JQL, which jira_search_issues takes.
#[tool(effect = "read", paginated, keywords = ["saved searches", "saved jql"], example = { "name": "bugs" })]
pub fn list_filters(args: ListFilters, cx: &Context) -> Result<Output, ToolError> {
    let answer = jira(cx)
        .get("/filter/search")
        .query("filterName", args.name)
        .query("expand", "jql,owner,description")
        .query("startAt", cx.page_number(0)?)
        .query("maxResults", args.limit)
        .fetch()?;
    let shown = answer["values"].as_array().map_or(0, Vec::len);
    Output::page(
        pick_each(&answer["values"], FILTER),
        next_start(&answer, shown),
    )
}

#[derive(Args)]
pub struct CreateFilter {
    /// Name of the filter.
    #[arg(min_length = 1, max_length = 255)]
    name: String,
    /// Its JQL.
    #[arg(min_length = 1, max_length = 4000)]
    jql: String,
    /// What it is for.
    description: Option<String>,
}

/// Saves a JQL as a filter.
#[tool(effect = "write", keywords = ["save search"],
       example = { "name": "My open bugs", "jql": "assignee = currentUser() AND type = Bug AND statusCategory != Done" })]
pub fn create_filter(args: CreateFilter, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(&jira(cx).post("/filter").json(&args).fetch()?, FILTER))
}

#[derive(Args)]
pub struct CloneIssue {
    /// Key of the issue to copy.
    issue: String,
    /// Summary of the copy; that of the original unless given.
    #[arg(min_length = 1, max_length = 255)]
    summary: Option<String>,
    /// Key of the project for the copy; that of the original unless given.
    project: Option<String>,
}

/// Copies an issue with its type, summary, description, priority, labels and parent. Comments and files are not copied.
#[tool(effect = "write", keywords = ["clone", "duplicate ticket"],
       example = { "issue": "ED-1", "summary": "Same for Android" })]
pub fn clone_issue(args: CloneIssue, cx: &Context) -> Result<Value, ToolError> {
    let request = jira(cx).get(path!("/issue/{}", args.issue));
    let names = "project,issuetype,summary,description,priority,labels,parent";
    let original = request.query("fields", names).fetch()?;
    let old = &original["fields"];
    let mut fields = json!({
        "project": { "key": old["project"]["key"] },
        "issuetype": { "id": old["issuetype"]["id"] },
        "summary": old["summary"],
    });
    if let Some(summary) = args.summary {
        fields["summary"] = json!(summary);
    }
    if old["description"].is_object() {
        fields["description"] = old["description"].clone();
    }
    if old["priority"]["id"].is_string() {
        fields["priority"] = json!({ "id": old["priority"]["id"] });
    }
    if old["labels"]
        .as_array()
        .is_some_and(|labels| !labels.is_empty())
    {
        fields["labels"] = old["labels"].clone();
    }
    match args.project {
        // Types and parents of one project are not those of another.
        Some(project) => {
            fields["project"] = json!({ "key": project });
            fields["issuetype"] = json!({ "name": old["issuetype"]["name"] });
        }
        None if old["parent"]["key"].is_string() => {
            fields["parent"] = json!({ "key": old["parent"]["key"] });
        }
        None => {}
    }
    let request = jira(cx).post("/issue");
    Ok(pick(
        &request.json(&json!({ "fields": fields })).fetch()?,
        &["id", "key"],
    ))
}
