//! Finding and reading issues.

use toolgate_sdk::prelude::*;

use crate::api::{ask, issue_fields, issue_key, page, shown};
use crate::filter::{self, ListIssues, Order};

/// Lists issues by team, assignee, state, labels, project, priority or time, all by name.
///
/// For words in the text use linear_search_issues.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], paginated, scopes = ["read"], keywords = ["tickets", "bugs", "backlog", "my tasks", "assigned to me", "open issues"],
       example = { "team": "ENG", "assignee": "me", "state_types": ["unstarted", "started"] },
       trigger = { name: "new_issue", title: "New issue",
                   description: "An issue was created; a team, a project or a label keeps the list short.",
                   arguments: { order: "created_at", limit: 100 }, items: "", id: ["/id"], time: "/created_at",
                   order: "newest_first" },
       trigger = { name: "changed_issue", title: "New or changed issue",
                   description: "An issue was created or changed; a team, a project or a label keeps the list short.",
                   arguments: { order: "updated_at", limit: 100 }, items: "", id: ["/id", "/updated_at"],
                   time: "/updated_at", order: "newest_first" })]
pub fn list_issues(args: ListIssues, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = concat!(
        "query Issues($filter: IssueFilter, $first: Int, $after: String, $orderBy: PaginationOrderBy, \
         $includeArchived: Boolean) { issues(filter: $filter, first: $first, after: $after, \
         orderBy: $orderBy, includeArchived: $includeArchived) { nodes { ",
        issue_fields!(),
        " } pageInfo { hasNextPage endCursor } } }"
    );
    let order = match args.order {
        Order::UpdatedAt => "updatedAt",
        Order::CreatedAt => "createdAt",
    };
    let variables = json!({
        "filter": filter::from_arguments(&args), "first": args.limit, "after": cx.cursor(),
        "orderBy": order, "includeArchived": args.include_archived,
    });
    page(&ask(cx, DOCUMENT, variables)?["issues"], shown)
}

#[derive(Args)]
pub struct SearchIssues {
    /// Words that stand in title, description or, where asked, comments.
    #[arg(min_length = 1, max_length = 500)]
    term: String,
    /// Also look into comments.
    #[arg(default = false)]
    include_comments: bool,
    /// Issues on a page.
    #[arg(min = 1, max = 100, default = 25)]
    limit: u32,
}

/// Finds issues by words in their text, best match first.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], paginated, scopes = ["read"], keywords = ["find", "full text", "tickets", "bugs"],
       example = { "term": "login fails" })]
pub fn search_issues(args: SearchIssues, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = concat!(
        "query Search($term: String!, $includeComments: Boolean, $first: Int, $after: String) { \
         searchIssues(term: $term, includeComments: $includeComments, first: $first, after: $after) \
         { nodes { ",
        issue_fields!(),
        " } pageInfo { hasNextPage endCursor } } }"
    );
    let variables = json!({
        "term": args.term, "includeComments": args.include_comments,
        "first": args.limit, "after": cx.cursor(),
    });
    page(&ask(cx, DOCUMENT, variables)?["searchIssues"], shown)
}

#[derive(Args)]
pub struct GetIssue {
    /// Identifier such as `ENG-123`, id or address of the issue.
    issue: String,
}

/// Reads an issue: description in Markdown, state, people, sub-issues, relations, links, newest comments.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], scopes = ["read"], keywords = ["ticket", "bug", "details", "show", "status"],
       example = { "issue": "ENG-123" })]
pub fn get_issue(args: GetIssue, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = concat!(
        "query Issue($id: String!) { issue(id: $id) { ",
        issue_fields!(),
        " description branchName creator { name } \
         children(first: 50) { nodes { identifier title state { name } } } \
         relations(first: 50) { nodes { type relatedIssue { identifier title } } } \
         attachments(first: 20) { nodes { title url } } \
         comments(last: 10) { nodes { body createdAt user { name } } } } }"
    );
    let id = issue_key(&args.issue, "issue")?;
    let answer = ask(cx, DOCUMENT, json!({ "id": id }))?;
    let issue = &answer["issue"];
    let mut out = shown(issue);
    let more = pick(
        issue,
        &[
            "description",
            "branch_name=branchName",
            "creator=creator/name",
        ],
    );
    for (key, value) in more.as_object().into_iter().flatten() {
        out[key] = value.clone();
    }
    for (key, list, fields) in [
        (
            "sub_issues",
            "children",
            &["identifier", "title", "state=state/name"][..],
        ),
        (
            "relations",
            "relations",
            &[
                "type",
                "identifier=relatedIssue/identifier",
                "title=relatedIssue/title",
            ],
        ),
        ("links", "attachments", &["title", "url"]),
        (
            "comments",
            "comments",
            &["author=user/name", "created_at=createdAt", "body"],
        ),
    ] {
        let nodes = &issue[list]["nodes"];
        if nodes.as_array().is_some_and(|all| !all.is_empty()) {
            out[key] = pick_each(nodes, fields);
        }
    }
    Ok(out)
}

#[derive(Args)]
pub struct ListComments {
    /// Identifier such as `ENG-123`, id or address of the issue.
    issue: String,
    /// Comments on a page.
    #[arg(min = 1, max = 100, default = 50)]
    limit: u32,
}

/// Lists the comments of an issue, newest first, in Markdown.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], paginated, scopes = ["read"], keywords = ["discussion", "thread", "replies"],
       example = { "issue": "ENG-123" })]
pub fn list_comments(args: ListComments, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query Comments($id: String!, $first: Int, $after: String) { \
        issue(id: $id) { comments(first: $first, after: $after) { \
        nodes { id body createdAt url user { name } parent { id } } \
        pageInfo { hasNextPage endCursor } } } }";
    let id = issue_key(&args.issue, "issue")?;
    let variables = json!({ "id": id, "first": args.limit, "after": cx.cursor() });
    let answer = ask(cx, DOCUMENT, variables)?;
    page(&answer["issue"]["comments"], |comment| {
        let fields = [
            "id",
            "author=user/name",
            "created_at=createdAt",
            "body",
            "url",
            "parent=parent/id",
        ];
        pick(comment, &fields)
    })
}
