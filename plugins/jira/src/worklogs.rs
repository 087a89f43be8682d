//! Time spent on issues.

use toolgate_sdk::prelude::*;

use crate::adf::{document, to_markdown};
use crate::api::{jira, next_start};

#[derive(Args)]
pub struct AddWorklog {
    /// Key of the issue.
    issue: String,
    /// Time spent, for example `1h 30m`.
    #[arg(pattern = "^[0-9]+[wdhm]( [0-9]+[wdhm])*$")]
    time_spent: String,
    /// What was done.
    comment: Option<String>,
}

/// Records time spent on an issue.
#[tool(effect = "write", keywords = ["time", "hours", "tracking"],
       example = { "issue": "ED-1", "time_spent": "1h 30m", "comment": "Tests" })]
pub fn add_worklog(args: AddWorklog, cx: &Context) -> Result<Value, ToolError> {
    let mut body = json!({ "timeSpent": args.time_spent });
    if let Some(text) = args.comment {
        body["comment"] = document(&text);
    }
    let entry = jira(cx)
        .post(path!("/issue/{}/worklog", args.issue))
        .json(&body)
        .fetch()?;
    Ok(pick(&entry, &["id", "time_spent=timeSpent", "started"]))
}

#[derive(Args)]
pub struct ListWorklogs {
    /// Key of the issue.
    issue: String,
    /// Entries on a page.
    #[arg(min = 1, max = 100, default = 50)]
    limit: u32,
}

/// Lists the time that was recorded on an issue: who, when, how long, for what.
#[tool(effect = "read", paginated, keywords = ["time tracking", "hours spent", "timesheet"],
       example = { "issue": "ED-1" })]
pub fn list_worklogs(args: ListWorklogs, cx: &Context) -> Result<Output, ToolError> {
    let request = jira(cx).get(path!("/issue/{}/worklog", args.issue));
    let answer = request
        .query("startAt", cx.page_number(0)?)
        .query("maxResults", args.limit)
        .fetch()?;
    let entries = answer["worklogs"].as_array().into_iter().flatten();
    let entries: Vec<Value> = entries
        .map(|entry| {
            let fields = [
                "id",
                "who=author/displayName",
                "started",
                "time_spent=timeSpent",
                "seconds=timeSpentSeconds",
            ];
            let mut out = pick(entry, &fields);
            let text = to_markdown(&entry["comment"]);
            if !text.is_empty() {
                out["comment"] = json!(text);
            }
            out
        })
        .collect();
    let next = next_start(&answer, entries.len());
    Output::page(entries, next)
}

#[derive(Args)]
pub struct DeleteWorklog {
    /// Key of the issue.
    issue: String,
    /// Id of the entry, as jira_list_worklogs shows it.
    worklog: String,
}

/// Deletes an entry of time spent on an issue.
#[tool(effect = "destructive", idempotent, keywords = ["remove time entry"],
       example = { "issue": "ED-1", "worklog": "100028" })]
pub fn delete_worklog(args: DeleteWorklog, cx: &Context) -> Result<Value, ToolError> {
    let address = path!("/issue/{}/worklog/{}", args.issue, args.worklog);
    jira(cx).delete(address).send()?;
    Ok(json!({ "deleted": args.worklog }))
}
