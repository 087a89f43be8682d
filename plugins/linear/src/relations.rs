//! How issues are related, who follows them, and what happened to them.

use toolgate_sdk::prelude::*;

use crate::api::{ask, issue_fields, issue_key, made, page, shown};
use crate::resolve::{Wanted, resolve};

#[derive(Args, Clone, Copy, PartialEq)]
pub enum Relation {
    Blocks,
    BlockedBy,
    Duplicate,
    Related,
}

#[derive(Args)]
pub struct RelateIssues {
    /// Identifier such as `ENG-123`, id or address of the issue.
    issue: String,
    /// What it is to the other one; `duplicate` also closes it as a duplicate.
    #[arg(default = "related")]
    relation: Relation,
    /// Identifier, id or address of the other issue.
    other: String,
}

/// Relates two issues: one blocks, duplicates or is related to the other.
#[tool(effect = "write", scopes = ["write"], keywords = ["link issues", "blocked by", "dependency", "duplicate of"],
       example = { "issue": "ENG-123", "relation": "blocks", "other": "ENG-130" })]
pub fn relate_issues(args: RelateIssues, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Relate($input: IssueRelationCreateInput!) { \
        issueRelationCreate(input: $input) { success issueRelation { id type } } }";
    let (issue, other) = (
        issue_key(&args.issue, "issue")?,
        issue_key(&args.other, "other")?,
    );
    let (kind, from, to) = match args.relation {
        Relation::BlockedBy => ("blocks", &other, &issue),
        relation => (relation.as_str(), &issue, &other),
    };
    let input = json!({ "issueId": from, "relatedIssueId": to, "type": kind });
    let answer = ask(cx, DOCUMENT, json!({ "input": input }))?;
    let relation = made(&answer, "issueRelationCreate", "issueRelation")?;
    Ok(json!({ "id": relation["id"], "issue": from, "relation": relation["type"], "other": to }))
}

#[derive(Args)]
pub struct RemoveRelation {
    /// Identifier such as `ENG-123`, id or address of the issue.
    issue: String,
    /// Identifier, id or address of the other issue.
    other: String,
}

/// Removes all relations between two issues.
#[tool(effect = "destructive", idempotent, scopes = ["write"], keywords = ["unlink issues", "unblock", "not a duplicate"],
       example = { "issue": "ENG-123", "other": "ENG-130" })]
pub fn remove_relation(args: RemoveRelation, cx: &Context) -> Result<Value, ToolError> {
    const FIND: &str = "query Relations($id: String!, $other: String!) { other: issue(id: $other) { id } \
        issue(id: $id) { relations(first: 100) { nodes { id relatedIssue { id } } } \
        inverseRelations(first: 100) { nodes { id issue { id } } } } }";
    const DOCUMENT: &str =
        "mutation Unrelate($id: String!) { issueRelationDelete(id: $id) { success } }";
    let (issue, other) = (
        issue_key(&args.issue, "issue")?,
        issue_key(&args.other, "other")?,
    );
    let answer = ask(cx, FIND, json!({ "id": issue, "other": other }))?;
    let id = &answer["other"]["id"];
    let mut found = Vec::new();
    for (list, end) in [("relations", "relatedIssue"), ("inverseRelations", "issue")] {
        let nodes = answer["issue"][list]["nodes"]
            .as_array()
            .into_iter()
            .flatten();
        found.extend(
            nodes
                .filter(|one| one[end]["id"] == *id)
                .map(|one| one["id"].clone()),
        );
    }
    if found.is_empty() {
        let text = format!("{issue} and {other} are not related");
        return Err(ToolError::not_found(text));
    }
    for id in &found {
        let answer = ask(cx, DOCUMENT, json!({ "id": id }))?;
        made(&answer, "issueRelationDelete", "success")?;
    }
    Ok(json!({ "issue": issue, "other": other, "removed": found.len() }))
}

#[derive(Args)]
pub struct Subscribe {
    /// Identifier such as `ENG-123`, id or address of the issue.
    issue: String,
    /// Who: `me`, a mail address or a name.
    #[arg(default = "me", min_length = 1)]
    person: String,
    /// Stop following it instead.
    #[arg(default = false)]
    unsubscribe: bool,
}

/// Lets a person follow an issue and get notifications about it, or stops that.
#[tool(effect = "write", idempotent, scopes = ["write"], keywords = ["follow", "watch", "unsubscribe", "notify me"],
       example = { "issue": "ENG-123" })]
pub fn subscribe_to_issue(args: Subscribe, cx: &Context) -> Result<Value, ToolError> {
    const ON: &str = "mutation Subscribe($id: String!, $user: String) { \
        issueSubscribe(id: $id, userId: $user) { success } }";
    const OFF: &str = "mutation Unsubscribe($id: String!, $user: String) { \
        issueUnsubscribe(id: $id, userId: $user) { success } }";
    let id = issue_key(&args.issue, "issue")?;
    let wanted = Wanted {
        person: Some(&args.person),
        ..Wanted::default()
    };
    let found = resolve(cx, &wanted)?;
    let (document, mutation) = match args.unsubscribe {
        true => (OFF, "issueUnsubscribe"),
        false => (ON, "issueSubscribe"),
    };
    let answer = ask(cx, document, json!({ "id": id, "user": found.person }))?;
    made(&answer, mutation, "success")?;
    Ok(json!({ "issue": id, "person": args.person, "subscribed": !args.unsubscribe }))
}

#[derive(Args)]
pub struct SetReminder {
    /// Identifier such as `ENG-123`, id or address of the issue.
    issue: String,
    /// When to remind.
    #[arg(format = "date-time", examples = ["2026-04-01T09:00:00Z"])]
    at: String,
}

/// Lets Linear remind the connected account of an issue at a time.
#[tool(effect = "write", idempotent, scopes = ["write"], keywords = ["remind me", "snooze", "follow up"],
       example = { "issue": "ENG-123", "at": "2026-04-01T09:00:00Z" })]
pub fn set_issue_reminder(args: SetReminder, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Remind($id: String!, $at: DateTime!) { \
        issueReminder(id: $id, reminderAt: $at) { success } }";
    let id = issue_key(&args.issue, "issue")?;
    let answer = ask(cx, DOCUMENT, json!({ "id": id, "at": args.at }))?;
    made(&answer, "issueReminder", "success")?;
    Ok(json!({ "issue": id, "remind_at": args.at }))
}

#[derive(Args)]
pub struct OneIssue {
    /// Identifier such as `ENG-123`, id or address of the issue.
    issue: String,
}

/// Takes an issue out of the archive or the trash.
#[tool(effect = "write", idempotent, scopes = ["write"], keywords = ["unarchive", "undelete", "bring back"],
       example = { "issue": "ENG-123" })]
pub fn restore_issue(args: OneIssue, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Restore($id: String!) { issueUnarchive(id: $id) { success } }";
    let id = issue_key(&args.issue, "issue")?;
    let answer = ask(cx, DOCUMENT, json!({ "id": id }))?;
    made(&answer, "issueUnarchive", "success")?;
    Ok(json!({ "issue": id, "restored": true }))
}

#[derive(Args)]
pub struct IssuePage {
    /// Identifier such as `ENG-123`, id or address of the issue.
    issue: String,
    /// Entries on a page.
    #[arg(min = 1, max = 100, default = 50)]
    limit: u32,
}

/// Lists what changed in an issue: state, assignee, priority, title, cycle and project, with who and when.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], paginated, scopes = ["read"], keywords = ["activity", "audit", "who changed"], example = { "issue": "ENG-123" })]
pub fn list_issue_changes(args: IssuePage, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query History($id: String!, $first: Int, $after: String) { \
        issue(id: $id) { history(first: $first, after: $after) { nodes { createdAt actor { name } \
        fromState { name } toState { name } fromAssignee { name } toAssignee { name } \
        fromPriority toPriority fromTitle toTitle fromDueDate toDueDate \
        fromCycle { number } toCycle { number } fromProject { name } toProject { name } } \
        pageInfo { hasNextPage endCursor } } } }";
    let id = issue_key(&args.issue, "issue")?;
    let variables = json!({ "id": id, "first": args.limit, "after": cx.cursor() });
    let answer = ask(cx, DOCUMENT, variables)?;
    page(&answer["issue"]["history"], |change| {
        let fields = [
            "who=actor/name",
            "at=createdAt",
            "from_state=fromState/name",
            "to_state=toState/name",
            "from_assignee=fromAssignee/name",
            "to_assignee=toAssignee/name",
            "from_priority=fromPriority",
            "to_priority=toPriority",
            "from_title=fromTitle",
            "to_title=toTitle",
            "from_due_date=fromDueDate",
            "to_due_date=toDueDate",
            "from_cycle=fromCycle/number",
            "to_cycle=toCycle/number",
            "from_project=fromProject/name",
            "to_project=toProject/name",
        ];
        pick(change, &fields)
    })
}

/// Lists the sub-issues of an issue.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], paginated, scopes = ["read"], keywords = ["children", "subtasks", "parts"], example = { "issue": "ENG-123" })]
pub fn list_sub_issues(args: IssuePage, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = concat!(
        "query Children($id: String!, $first: Int, $after: String) { issue(id: $id) { \
         children(first: $first, after: $after) { nodes { ",
        issue_fields!(),
        " } pageInfo { hasNextPage endCursor } } } }"
    );
    let id = issue_key(&args.issue, "issue")?;
    let variables = json!({ "id": id, "first": args.limit, "after": cx.cursor() });
    page(&ask(cx, DOCUMENT, variables)?["issue"]["children"], shown)
}

#[derive(Args)]
pub struct OfBranch {
    /// Name of the branch, for example `mona/eng-123-login-fails`.
    #[arg(min_length = 1, max_length = 250)]
    branch: String,
}

/// Finds the issue to which a git branch belongs.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], scopes = ["read"], keywords = ["git branch", "pull request issue"], example = { "branch": "mona/eng-123-login-fails" })]
pub fn get_issue_of_branch(args: OfBranch, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = concat!(
        "query Branch($name: String!) { issueVcsBranchSearch(branchName: $name) { ",
        issue_fields!(),
        " } }"
    );
    let answer = ask(cx, DOCUMENT, json!({ "name": args.branch }))?;
    let issue = &answer["issueVcsBranchSearch"];
    if issue.is_null() {
        return Err(ToolError::not_found(format!(
            "no issue belongs to `{}`",
            args.branch
        )));
    }
    Ok(shown(issue))
}
