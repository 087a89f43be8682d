//! GitHub's search, in its own query language.

use toolgate_sdk::prelude::*;

use crate::api::{github, page};

#[derive(Args)]
pub enum IssueOrder {
    Comments,
    Reactions,
    Interactions,
    Created,
    Updated,
}

#[derive(Args)]
pub struct SearchIssues {
    /// Words and qualifiers, for example `is:open is:pr review-requested:@me` or
    /// `repo:octocat/hello-world label:bug crash`.
    #[arg(min_length = 1, max_length = 256)]
    q: String,
    /// By what to sort; best match unless given.
    sort: Option<IssueOrder>,
    /// Results on a page.
    #[arg(path, min = 1, max = 100, default = 20)]
    per_page: u32,
}

/// Searches issues and pull requests in all repositories that the account can see.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["find", "bugs", "pr", "assigned to me"],
       example = { "q": "is:open assignee:@me" },
       trigger = { name: "review_request", title: "Review requested",
                   description: "A review of an open pull request was requested from the account or one of its teams.",
                   arguments: { q: "is:open is:pr archived:false review-requested:@me", per_page: 100 },
                   items: "/items", id: ["/html_url"] })]
pub fn search_issues(args: SearchIssues, cx: &Context) -> Result<Output, ToolError> {
    let fields = [
        "number",
        "title",
        "state",
        "repository=repository_url",
        "author=user/login",
        "labels=labels/*/name",
        "comments",
        "updated_at",
        "html_url",
        "pull_request=pull_request/html_url",
    ];
    page(
        cx,
        github(cx).get("/search/issues").query_fields(&args),
        args.per_page,
        &fields,
    )
}

#[derive(Args)]
pub enum RepoOrder {
    Stars,
    Forks,
    #[arg(rename = "help-wanted-issues")]
    HelpWantedIssues,
    Updated,
}

#[derive(Args)]
pub struct SearchRepositories {
    /// Words and qualifiers, for example `tetris language:rust stars:>100`.
    #[arg(min_length = 1, max_length = 256)]
    q: String,
    /// By what to sort; best match unless given.
    sort: Option<RepoOrder>,
    /// Results on a page.
    #[arg(path, min = 1, max = 100, default = 20)]
    per_page: u32,
}

/// Searches repositories by name, description, language, topic or stars.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["find", "projects"],
       example = { "q": "topic:wasm language:rust", "sort": "stars" })]
pub fn search_repositories(args: SearchRepositories, cx: &Context) -> Result<Output, ToolError> {
    let fields = [
        "full_name",
        "description",
        "private",
        "language",
        "topics",
        "stars=stargazers_count",
        "pushed_at",
        "html_url",
    ];
    page(
        cx,
        github(cx).get("/search/repositories").query_fields(&args),
        args.per_page,
        &fields,
    )
}

#[derive(Args)]
pub struct SearchCode {
    /// Words and qualifiers, for example `parse_url repo:octocat/hello-world` or
    /// `org:rust-lang filename:Cargo.toml`.
    #[arg(min_length = 1, max_length = 256)]
    q: String,
    /// Results on a page.
    #[arg(path, min = 1, max = 100, default = 20)]
    per_page: u32,
}

/// Searches the contents of files; answers the files and the lines that match.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["find", "grep", "source"],
       example = { "q": "parse_url repo:octocat/hello-world" })]
pub fn search_code(args: SearchCode, cx: &Context) -> Result<Output, ToolError> {
    let request = github(cx)
        .get("/search/code")
        .query("q", &args.q)
        .header("accept", "application/vnd.github.text-match+json");
    let fields = [
        "path",
        "repository=repository/full_name",
        "sha",
        "html_url",
        "matches=text_matches/*/fragment",
    ];
    page(cx, request, args.per_page, &fields)
}
