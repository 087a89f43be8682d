//! The account, its repositories, and their commits, branches and releases.

use toolgate_sdk::prelude::*;

use crate::api::{github, page};

const REPO: &[&str] = &[
    "full_name",
    "description",
    "private",
    "fork",
    "archived",
    "html_url",
    "default_branch",
    "language",
    "topics",
    "stars=stargazers_count",
    "open_issues=open_issues_count",
    "pushed_at",
];
const RELEASE: &[&str] = &[
    "id",
    "tag_name",
    "name",
    "body",
    "draft",
    "prerelease",
    "author=author/login",
    "published_at",
    "html_url",
    "assets=assets/*/browser_download_url",
];

/// Tells which GitHub account is connected: login, name, mail address and counts.
#[tool(effect = "read", scopes = ["read:user"], keywords = ["whoami", "me", "profile"],
       example = {})]
pub fn get_authenticated_user(cx: &Context) -> Result<Value, ToolError> {
    let user = github(cx).get("/user").fetch()?;
    let fields = [
        "login",
        "id",
        "name",
        "email",
        "company",
        "html_url",
        "public_repos",
        "followers",
    ];
    Ok(pick(&user, &fields))
}

#[derive(Args)]
pub enum Visibility {
    All,
    Public,
    Private,
}

#[derive(Args)]
pub enum RepoSort {
    Created,
    Updated,
    Pushed,
    FullName,
}

#[derive(Args)]
pub struct ListMyRepos {
    /// Which repositories.
    #[arg(default = "all")]
    visibility: Visibility,
    /// By what to sort.
    #[arg(default = "pushed")]
    sort: RepoSort,
    /// Repositories on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the repositories that the connected account owns or works on, recently pushed first.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["repositories", "projects"],
       example = { "visibility": "public", "per_page": 1 })]
pub fn list_my_repos(args: ListMyRepos, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get("/user/repos").query_fields(&args),
        args.per_page,
        REPO,
    )
}

#[derive(Args)]
pub struct GetRepo {
    /// Account or organisation, for example `rust-lang`.
    #[arg(path)]
    owner: String,
    /// Name of the repository, for example `cargo`.
    #[arg(path)]
    repo: String,
}

/// Reads one repository: description, default branch, language, topics and counts.
#[tool(effect = "read", scopes = ["repo"], example = { "owner": "octocat", "repo": "hello-world" })]
pub fn get_repo(args: GetRepo, cx: &Context) -> Result<Value, ToolError> {
    let repo = github(cx)
        .get(path!("/repos/{}/{}", args.owner, args.repo))
        .fetch()?;
    Ok(pick(&repo, REPO))
}

#[derive(Args)]
pub struct CreateRepo {
    /// Name of the new repository.
    #[arg(pattern = "^[A-Za-z0-9._-]{1,100}$")]
    name: String,
    /// One line about it.
    description: Option<String>,
    /// Only visible to the account and those it invites.
    #[arg(default = true)]
    private: bool,
    /// Start with a README, so that it can be cloned at once.
    #[arg(default = true)]
    auto_init: bool,
    /// Language of the .gitignore, for example `Rust`.
    gitignore_template: Option<String>,
    /// Licence, for example `mit` or `apache-2.0`.
    license_template: Option<String>,
}

/// Creates a repository in the connected account, private unless said otherwise.
#[tool(effect = "write", scopes = ["repo"], keywords = ["new", "repository"],
       example = { "name": "Hello-World", "description": "This your first repo!", "private": false })]
pub fn create_repo(args: CreateRepo, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx).post("/user/repos").json(&args).fetch()?,
        REPO,
    ))
}

#[derive(Args)]
pub struct ListCommits {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Branch, tag or commit to start from; the default branch unless given.
    sha: Option<String>,
    /// Only commits that touch this file or folder.
    path: Option<String>,
    /// Only commits by this login or mail address.
    author: Option<String>,
    /// Only commits after this moment.
    #[arg(format = "date-time")]
    since: Option<String>,
    /// Only commits before this moment.
    #[arg(format = "date-time")]
    until: Option<String>,
    /// Commits on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists commits of a repository, newest first: message, author, date.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["history", "log", "changes", "latest commits"],
       example = { "owner": "octocat", "repo": "hello-world", "path": "src/main.rs", "since": "2026-01-01T00:00:00Z" })]
pub fn list_commits(args: ListCommits, cx: &Context) -> Result<Output, ToolError> {
    let address = path!("/repos/{}/{}/commits", args.owner, args.repo);
    let fields = [
        "sha",
        "message=commit/message",
        "author=author/login",
        "author_name=commit/author/name",
        "date=commit/author/date",
        "html_url",
    ];
    page(
        cx,
        github(cx).get(address).query_fields(&args),
        args.per_page,
        &fields,
    )
}

#[derive(Args)]
pub struct ListOfRepo {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the branches of a repository with the commit each points to.
#[tool(effect = "read", paginated, scopes = ["repo"],
       example = { "owner": "octocat", "repo": "hello-world" })]
pub fn list_branches(args: ListOfRepo, cx: &Context) -> Result<Output, ToolError> {
    let address = path!("/repos/{}/{}/branches", args.owner, args.repo);
    page(
        cx,
        github(cx).get(address),
        args.per_page,
        &["name", "sha=commit/sha", "protected"],
    )
}

/// Lists the releases of a repository, newest first, with notes and files.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["versions", "changelog"],
       example = { "owner": "octocat", "repo": "hello-world" },
       trigger = { name: "new_release", title: "New release",
                   description: "A release of a repository was published, or drafted where the account sees drafts.",
                   arguments: { per_page: 50 }, items: "", id: ["/id", "/published_at"], time: "/published_at",
                   interval_s: 900 })]
pub fn list_releases(args: ListOfRepo, cx: &Context) -> Result<Output, ToolError> {
    let address = path!("/repos/{}/{}/releases", args.owner, args.repo);
    page(cx, github(cx).get(address), args.per_page, RELEASE)
}

#[derive(Args)]
pub struct CreateRelease {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Tag of the release, for example `v1.2.0`; made when it does not exist.
    #[arg(min_length = 1)]
    tag_name: String,
    /// Branch or commit for a new tag; the default branch unless given.
    target_commitish: Option<String>,
    /// Title; the tag unless given.
    name: Option<String>,
    /// Release notes in Markdown.
    body: Option<String>,
    /// Keep it unpublished.
    #[arg(default = false)]
    draft: bool,
    /// Mark it as not ready for production.
    #[arg(default = false)]
    prerelease: bool,
    /// Let GitHub write title and notes from the merged pull requests.
    #[arg(default = false)]
    generate_release_notes: bool,
}

/// Publishes a release of a repository, or keeps it as a draft.
#[tool(effect = "write", scopes = ["repo"], keywords = ["publish", "version", "tag"],
       example = { "owner": "octocat", "repo": "hello-world", "tag_name": "v1.0.0", "body": "Description of the release" })]
pub fn create_release(args: CreateRelease, cx: &Context) -> Result<Value, ToolError> {
    let address = path!("/repos/{}/{}/releases", args.owner, args.repo);
    Ok(pick(
        &github(cx).post(address).json(&args).fetch()?,
        RELEASE,
    ))
}
