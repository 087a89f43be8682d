//! Notifications, stars, people, organisations and gists.

use toolgate_sdk::prelude::*;

use crate::api::{github, page};

#[derive(Args)]
pub struct StarRepo {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
}

/// Puts a star on a repository, which also keeps it in the account's list.
#[tool(effect = "write", idempotent, scopes = ["repo"], keywords = ["bookmark", "favourite"],
       example = { "owner": "octocat", "repo": "hello-world" })]
pub fn star_repo(args: StarRepo, cx: &Context) -> Result<Value, ToolError> {
    github(cx)
        .put(path!("/user/starred/{}/{}", args.owner, args.repo))
        .send()?;
    Ok(json!({ "starred": true }))
}

/// Removes the star from a repository.
#[tool(effect = "write", idempotent, scopes = ["repo"], keywords = ["remove bookmark"],
       example = { "owner": "octocat", "repo": "hello-world" })]
pub fn unstar_repo(args: StarRepo, cx: &Context) -> Result<Value, ToolError> {
    github(cx)
        .delete(path!("/user/starred/{}/{}", args.owner, args.repo))
        .send()?;
    Ok(json!({ "starred": false }))
}

#[derive(Args)]
pub enum ListStarredReposSort {
    Created,
    Updated,
}

#[derive(Args)]
pub struct ListStarredRepos {
    /// By what to sort.
    #[arg(default = "created")]
    sort: ListStarredReposSort,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the repositories that the connected account has starred.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["bookmarks", "favourites"],
       example = { "sort": "created" })]
pub fn list_starred_repos(args: ListStarredRepos, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get("/user/starred").query_fields(&args),
        args.per_page,
        &[
            "full_name",
            "description",
            "language",
            "stars=stargazers_count",
            "html_url",
        ],
    )
}

#[derive(Args)]
pub struct GetUser {
    /// Login.
    #[arg(path)]
    username: String,
}

/// Reads the public profile of a person or organisation.
#[tool(effect = "read", scopes = ["repo"], keywords = ["profile", "who is"],
       example = { "username": "octocat" })]
pub fn get_user(args: GetUser, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx).get(path!("/users/{}", args.username)).fetch()?,
        &[
            "login",
            "type",
            "name",
            "company",
            "location",
            "email",
            "bio",
            "public_repos",
            "followers",
            "html_url",
            "created_at",
        ],
    ))
}

#[derive(Args)]
pub enum ListUserReposSort {
    Created,
    Updated,
    Pushed,
    FullName,
}

#[derive(Args)]
pub struct ListUserRepos {
    /// Login.
    #[arg(path)]
    username: String,
    /// By what to sort.
    #[arg(default = "pushed")]
    sort: ListUserReposSort,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the public repositories of a person.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["projects of a user"],
       example = { "username": "octocat", "sort": "pushed" })]
pub fn list_user_repos(args: ListUserRepos, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx)
            .get(path!("/users/{}/repos", args.username))
            .query_fields(&args),
        args.per_page,
        &[
            "full_name",
            "description",
            "language",
            "stars=stargazers_count",
            "pushed_at",
            "html_url",
        ],
    )
}

#[derive(Args)]
pub struct ListMyOrgs {
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the organisations that the connected account belongs to.
#[tool(effect = "read", paginated, scopes = ["read:org"], keywords = ["organizations", "teams"],
       example = {})]
pub fn list_my_orgs(args: ListMyOrgs, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get("/user/orgs"),
        args.per_page,
        &["login", "description", "url"],
    )
}

#[derive(Args)]
pub enum ListOrgReposType {
    All,
    Public,
    Private,
    Forks,
    Sources,
    Member,
}

#[derive(Args)]
pub struct ListOrgRepos {
    /// Login of the organisation.
    #[arg(path)]
    org: String,
    /// Which repositories.
    #[arg(default = "all")]
    r#type: ListOrgReposType,
    /// By what to sort.
    #[arg(default = "pushed")]
    sort: ListUserReposSort,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the repositories of an organisation.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["company repositories"],
       example = { "org": "github", "sort": "pushed" })]
pub fn list_org_repos(args: ListOrgRepos, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx)
            .get(path!("/orgs/{}/repos", args.org))
            .query_fields(&args),
        args.per_page,
        &[
            "full_name",
            "description",
            "private",
            "archived",
            "language",
            "pushed_at",
            "html_url",
        ],
    )
}

#[derive(Args)]
pub struct CreateOrgRepo {
    /// Login of the organisation.
    #[arg(path)]
    org: String,
    /// Name of the new repository.
    #[arg(pattern = "^[A-Za-z0-9._-]{1,100}$")]
    name: String,
    /// One line about it.
    description: Option<String>,
    /// Only visible to the organisation and those it invites.
    #[arg(default = true)]
    private: bool,
    /// Start with a README.
    #[arg(default = true)]
    auto_init: bool,
}

/// Creates a repository in an organisation, private unless said otherwise.
#[tool(effect = "write", scopes = ["repo"], keywords = ["new repository", "company"],
       example = { "org": "github", "name": "playground" })]
pub fn create_org_repo(args: CreateOrgRepo, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .post(path!("/orgs/{}/repos", args.org))
            .json(&args)
            .fetch()?,
        &["full_name", "private", "default_branch", "html_url"],
    ))
}

#[derive(Args)]
pub enum ListOrgMembersRole {
    All,
    Admin,
    Member,
}

#[derive(Args)]
pub struct ListOrgMembers {
    /// Login of the organisation.
    #[arg(path)]
    org: String,
    /// Only those in this role.
    #[arg(default = "all")]
    role: ListOrgMembersRole,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the members of an organisation that the account may see.
#[tool(effect = "read", paginated, scopes = ["read:org"], keywords = ["people", "colleagues"],
       example = { "org": "github" })]
pub fn list_org_members(args: ListOrgMembers, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx)
            .get(path!("/orgs/{}/members", args.org))
            .query_fields(&args),
        args.per_page,
        &["login", "type", "html_url"],
    )
}

#[derive(Args)]
pub struct ListTeams {
    /// Login of the organisation.
    #[arg(path)]
    org: String,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the teams of an organisation.
#[tool(effect = "read", paginated, scopes = ["read:org"], keywords = ["groups"],
       example = { "org": "github" })]
pub fn list_teams(args: ListTeams, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get(path!("/orgs/{}/teams", args.org)),
        args.per_page,
        &[
            "id",
            "name",
            "slug",
            "description",
            "privacy",
            "parent=parent/slug",
        ],
    )
}

#[derive(Args)]
pub struct ListTeamMembers {
    /// Login of the organisation.
    #[arg(path)]
    org: String,
    /// Slug of the team, as github_list_teams shows it.
    #[arg(path)]
    team_slug: String,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the members of a team.
#[tool(effect = "read", paginated, scopes = ["read:org"], keywords = ["people in team"],
       example = { "org": "github", "team_slug": "justice-league" })]
pub fn list_team_members(args: ListTeamMembers, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get(path!("/orgs/{}/teams/{}/members", args.org, args.team_slug)),
        args.per_page,
        &["login", "html_url"],
    )
}

/// Lists the gists of the connected account.
#[tool(effect = "read", paginated, scopes = ["gist"], keywords = ["snippets", "pastes"],
       example = {})]
pub fn list_gists(args: ListMyOrgs, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get("/gists"),
        args.per_page,
        &["id", "description", "public", "created_at", "html_url"],
    )
}

#[derive(Args)]
pub struct GetGist {
    /// Id of the gist.
    #[arg(path)]
    gist_id: String,
}

/// Reads a gist with the text of its files.
#[tool(effect = "read", scopes = ["gist"], keywords = ["snippet", "paste"],
       example = { "gist_id": "aa5a315d61ae9438b18d" })]
pub fn get_gist(args: GetGist, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx).get(path!("/gists/{}", args.gist_id)).fetch()?,
        &[
            "id",
            "description",
            "public",
            "files",
            "html_url",
            "updated_at",
        ],
    ))
}

#[derive(Args)]
pub struct CreateGist {
    /// A few words about it.
    description: Option<String>,
    /// Listed for everyone, or only for those with the address.
    #[arg(default = false)]
    public: bool,
    /// Texts by file name, for example `{"notes.md": {"content": "Hello"}}`.
    files: Map<String, Value>,
}

/// Publishes one or more text files as a gist.
#[tool(effect = "write", scopes = ["gist"], keywords = ["snippet", "paste", "share code"],
       example = { "description": "Notes", "public": false, "files": {"notes.md": {"content": "Hello"}} })]
pub fn create_gist(args: CreateGist, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx).post("/gists").json(&args).fetch()?,
        &["id", "description", "public", "html_url"],
    ))
}

#[derive(Args)]
pub struct SearchUsers {
    /// Words and qualifiers, for example `mona location:berlin language:rust`.
    #[arg(min_length = 1, max_length = 256)]
    q: String,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Finds people and organisations by name, place or language.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["find developer", "find account"],
       example = { "q": "octo in:login" })]
pub fn search_users(args: SearchUsers, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get("/search/users").query_fields(&args),
        args.per_page,
        &["login", "type", "html_url"],
    )
}

#[derive(Args)]
pub struct SearchCommits {
    /// Words and qualifiers, for example `repo:octocat/hello-world author:mona fix`.
    #[arg(min_length = 1, max_length = 256)]
    q: String,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Finds commits by words of their message, author or date.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["find change", "history"],
       example = { "q": "repo:octocat/hello-world build" })]
pub fn search_commits(args: SearchCommits, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get("/search/commits").query_fields(&args),
        args.per_page,
        &[
            "sha",
            "message=commit/message",
            "author=author/login",
            "date=commit/author/date",
            "repo=repository/full_name",
            "html_url",
        ],
    )
}
