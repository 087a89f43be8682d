//! Discussions of a repository. GitHub has them in GraphQL alone.

use toolgate_sdk::prelude::*;

use crate::api::github;

const DISCUSSION: &[&str] = &[
    "id",
    "number",
    "title",
    "category=category/name",
    "author=author/login",
    "answered=isAnswered",
    "comments=comments/totalCount",
    "created=createdAt",
    "updated=updatedAt",
    "url",
];

fn ask(cx: &Context, document: &str, variables: Value) -> Result<Value, ToolError> {
    github(cx).graphql("/graphql", document, variables)
}

#[derive(Args)]
pub struct ListDiscussions {
    /// Account or organisation that owns the repository.
    owner: String,
    /// Name of the repository.
    repo: String,
    /// Only discussions that are (false: not) answered.
    answered: Option<bool>,
    /// Discussions on a page.
    #[arg(min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the discussions of a repository, recently active first.
#[tool(effect = "read", queries = ["GRAPHQL https://api.github.com/graphql"], paginated, scopes = ["repo"],
       keywords = ["forum", "questions", "threads"],
       example = { "owner": "octocat", "repo": "hello-world" })]
pub fn list_discussions(args: ListDiscussions, cx: &Context) -> Result<Output, ToolError> {
    let document = "query($owner: String!, $repo: String!, $answered: Boolean, $first: Int!, $after: String) {
        repository(owner: $owner, name: $repo) { discussions(first: $first, after: $after, answered: $answered,
            orderBy: { field: UPDATED_AT, direction: DESC }) {
            nodes { id number title category { name } author { login } isAnswered comments { totalCount }
                createdAt updatedAt url }
            pageInfo { hasNextPage endCursor } } } }";
    let variables = json!({
        "owner": args.owner, "repo": args.repo, "answered": args.answered, "first": args.per_page,
        "after": cx.cursor(),
    });
    let data = ask(cx, document, variables)?;
    let list = &data["repository"]["discussions"];
    let more = list["pageInfo"]["hasNextPage"] == true;
    let next = list["pageInfo"]["endCursor"].as_str().filter(|_| more);
    Output::page(
        pick_each(&list["nodes"], DISCUSSION),
        next.map(str::to_owned),
    )
}

#[derive(Args)]
pub struct GetDiscussion {
    /// Account or organisation that owns the repository.
    owner: String,
    /// Name of the repository.
    repo: String,
    /// Number of the discussion.
    #[arg(min = 1)]
    number: u32,
}

/// Reads a discussion with its text and its first hundred comments.
#[tool(effect = "read", queries = ["GRAPHQL https://api.github.com/graphql"], scopes = ["repo"],
       keywords = ["forum", "question", "thread"],
       example = { "owner": "octocat", "repo": "hello-world", "number": 3 })]
pub fn get_discussion(args: GetDiscussion, cx: &Context) -> Result<Value, ToolError> {
    let document = "query($owner: String!, $repo: String!, $number: Int!) {
        repository(owner: $owner, name: $repo) { discussion(number: $number) {
            id number title body category { name } author { login } isAnswered createdAt updatedAt url
            comments(first: 100) { totalCount nodes { id author { login } body isAnswer createdAt } } } } }";
    let variables = json!({ "owner": args.owner, "repo": args.repo, "number": args.number });
    let data = ask(cx, document, variables)?;
    let found = &data["repository"]["discussion"];
    if found.is_null() {
        return Err(ToolError::not_found(
            "there is no discussion with this number",
        ));
    }
    let mut out = pick(found, DISCUSSION);
    out["body"] = found["body"].clone();
    let fields = [
        "id",
        "author=author/login",
        "body",
        "answer=isAnswer",
        "created=createdAt",
    ];
    out["replies"] = pick_each(&found["comments"]["nodes"], &fields);
    Ok(out)
}

#[derive(Args)]
pub struct CreateDiscussion {
    /// Account or organisation that owns the repository.
    owner: String,
    /// Name of the repository.
    repo: String,
    /// Name of the category, for example `Ideas`.
    category: String,
    /// Title.
    #[arg(min_length = 1, max_length = 256)]
    title: String,
    /// Text in Markdown.
    #[arg(min_length = 1)]
    body: String,
}

/// Starts a discussion in a category, which is named.
#[tool(effect = "write", scopes = ["repo"], keywords = ["forum", "ask", "new thread"],
       example = { "owner": "octocat", "repo": "hello-world", "category": "Ideas", "title": "Dark mode", "body": "Please." })]
pub fn create_discussion(args: CreateDiscussion, cx: &Context) -> Result<Value, ToolError> {
    let document =
        "query($owner: String!, $repo: String!) { repository(owner: $owner, name: $repo) {
        id discussionCategories(first: 50) { nodes { id name } } } }";
    let variables = json!({ "owner": args.owner, "repo": args.repo });
    let data = ask(cx, document, variables)?;
    let repository = &data["repository"];
    let categories = repository["discussionCategories"]["nodes"].as_array();
    let categories = categories.map(Vec::as_slice).unwrap_or_default();
    let named = |category: &&Value| {
        let name = category["name"].as_str().unwrap_or_default();
        name.eq_ignore_ascii_case(&args.category)
    };
    let Some(category) = categories.iter().find(named) else {
        let names: Vec<&str> = categories
            .iter()
            .filter_map(|one| one["name"].as_str())
            .collect();
        return Err(ToolError::invalid(
            "/category",
            format!("there is no such category; known: {}", names.join(", ")),
        ));
    };
    let document = "mutation($input: CreateDiscussionInput!) { createDiscussion(input: $input) {
        discussion { id number title category { name } url } } }";
    let input = json!({
        "repositoryId": repository["id"], "categoryId": category["id"], "title": args.title, "body": args.body,
    });
    let data = ask(cx, document, json!({ "input": input }))?;
    Ok(pick(&data["createDiscussion"]["discussion"], DISCUSSION))
}

#[derive(Args)]
pub struct AddDiscussionComment {
    /// Id of the discussion, as github_get_discussion shows it.
    #[arg(min_length = 1)]
    discussion_id: String,
    /// Text in Markdown.
    #[arg(min_length = 1)]
    body: String,
    /// Id of the comment to answer.
    reply_to_id: Option<String>,
}

/// Comments on a discussion, or answers a comment of it.
#[tool(effect = "write", scopes = ["repo"], keywords = ["forum", "answer", "reply"],
       example = { "discussion_id": "D_kwDOAAAAA84AAABj", "body": "In the next release." })]
pub fn add_discussion_comment(
    args: AddDiscussionComment,
    cx: &Context,
) -> Result<Value, ToolError> {
    let document =
        "mutation($input: AddDiscussionCommentInput!) { addDiscussionComment(input: $input) {
        comment { id body createdAt url } } }";
    let mut input = json!({ "discussionId": args.discussion_id, "body": args.body });
    if let Some(comment) = args.reply_to_id {
        input["replyToId"] = json!(comment);
    }
    let data = ask(cx, document, json!({ "input": input }))?;
    let fields = ["id", "body", "created=createdAt", "url"];
    Ok(pick(&data["addDiscussionComment"]["comment"], &fields))
}
