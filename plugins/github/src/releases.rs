//! Releases, settings of repositories and who may work on them.

use toolgate_sdk::prelude::*;

use crate::api::{github, page};

#[derive(Args)]
pub struct GetLatestRelease {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
}

/// Reads the newest full release of a repository, with its notes and files.
#[tool(effect = "read", scopes = ["repo"], keywords = ["current version", "newest version"],
       example = { "owner": "octocat", "repo": "hello-world" })]
pub fn get_latest_release(args: GetLatestRelease, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .get(path!("/repos/{}/{}/releases/latest", args.owner, args.repo))
            .fetch()?,
        &[
            "id",
            "tag_name",
            "name",
            "body",
            "author=author/login",
            "published_at",
            "html_url",
            "assets=assets/*/browser_download_url",
        ],
    ))
}

#[derive(Args)]
pub struct GetReleaseByTag {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Name of the tag, for example `v1.0.0`.
    #[arg(path)]
    tag: String,
}

/// Reads the release of a tag.
#[tool(effect = "read", scopes = ["repo"], keywords = ["release notes", "version"],
       example = { "owner": "octocat", "repo": "hello-world", "tag": "v1.0.0" })]
pub fn get_release_by_tag(args: GetReleaseByTag, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .get(path!(
                "/repos/{}/{}/releases/tags/{}",
                args.owner,
                args.repo,
                args.tag
            ))
            .fetch()?,
        &[
            "id",
            "tag_name",
            "name",
            "body",
            "author=author/login",
            "published_at",
            "html_url",
            "assets=assets/*/browser_download_url",
        ],
    ))
}

#[derive(Args)]
pub struct UpdateRelease {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Id of the release, as github_list_releases shows it.
    #[arg(path, min = 1)]
    release_id: u64,
    /// New tag.
    #[arg(min_length = 1)]
    tag_name: Option<String>,
    /// New title.
    name: Option<String>,
    /// New notes in Markdown.
    body: Option<String>,
    /// Whether it is an unpublished draft.
    draft: Option<bool>,
    /// Whether it is a preview.
    prerelease: Option<bool>,
}

/// Changes title, notes or state of a release; `draft: false` publishes a draft.
#[tool(effect = "write", idempotent, scopes = ["repo"], keywords = ["publish draft", "edit release notes"],
       example = { "owner": "octocat", "repo": "hello-world", "release_id": 1, "draft": false })]
pub fn update_release(args: UpdateRelease, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .patch(path!(
                "/repos/{}/{}/releases/{}",
                args.owner,
                args.repo,
                args.release_id
            ))
            .json(&args)
            .fetch()?,
        &[
            "id",
            "tag_name",
            "name",
            "draft",
            "prerelease",
            "published_at",
            "html_url",
        ],
    ))
}

#[derive(Args)]
pub struct DeleteRelease {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Id of the release, as github_list_releases shows it.
    #[arg(path, min = 1)]
    release_id: u64,
}

/// Deletes a release. Its tag stays.
#[tool(effect = "destructive", scopes = ["repo"], keywords = ["remove release"],
       example = { "owner": "octocat", "repo": "hello-world", "release_id": 1 })]
pub fn delete_release(args: DeleteRelease, cx: &Context) -> Result<Value, ToolError> {
    github(cx)
        .delete(path!(
            "/repos/{}/{}/releases/{}",
            args.owner,
            args.repo,
            args.release_id
        ))
        .send()?;
    Ok(json!({ "deleted": args.release_id }))
}

#[derive(Args)]
pub struct GenerateReleaseNotes {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Tag of the release, which need not be there yet.
    #[arg(min_length = 1)]
    tag_name: String,
    /// Branch or commit that the tag will point to.
    target_commitish: Option<String>,
    /// Tag to begin at.
    previous_tag_name: Option<String>,
}

/// Writes release notes from the pull requests that were merged since a tag. Nothing is published.
#[tool(effect = "write", scopes = ["repo"], keywords = ["changelog", "what is new"],
       example = { "owner": "octocat", "repo": "hello-world", "tag_name": "v1.1.0", "previous_tag_name": "v1.0.0" })]
pub fn generate_release_notes(
    args: GenerateReleaseNotes,
    cx: &Context,
) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .post(path!(
                "/repos/{}/{}/releases/generate-notes",
                args.owner,
                args.repo
            ))
            .json(&args)
            .fetch()?,
        &["name", "body"],
    ))
}

#[derive(Args)]
pub struct UpdateRepo {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// New name.
    #[arg(pattern = "^[A-Za-z0-9._-]{1,100}$")]
    name: Option<String>,
    /// New description.
    description: Option<String>,
    /// Address of its web page.
    homepage: Option<String>,
    /// Whether only those invited see it.
    private: Option<bool>,
    /// New default branch.
    default_branch: Option<String>,
    /// Whether it can only be read.
    archived: Option<bool>,
    /// Whether it has issues.
    has_issues: Option<bool>,
    /// Whether it has a wiki.
    has_wiki: Option<bool>,
    /// Whether it has projects.
    has_projects: Option<bool>,
    /// Delete branches once their pull request is merged.
    delete_branch_on_merge: Option<bool>,
}

/// Changes settings of a repository: name, description, visibility, default branch, archived.
#[tool(effect = "write", idempotent, scopes = ["repo"], keywords = ["rename repository", "archive", "settings"],
       example = { "owner": "octocat", "repo": "hello-world", "description": "Greets the world", "has_wiki": false })]
pub fn update_repo(args: UpdateRepo, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .patch(path!("/repos/{}/{}", args.owner, args.repo))
            .json(&args)
            .fetch()?,
        &[
            "full_name",
            "description",
            "private",
            "archived",
            "default_branch",
            "html_url",
        ],
    ))
}

#[derive(Args)]
pub struct ForkRepo {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Organisation to put it into.
    organization: Option<String>,
    /// Name of the copy.
    name: Option<String>,
    /// Only the default branch.
    #[arg(default = false)]
    default_branch_only: bool,
}

/// Makes a copy of a repository in the connected account or in an organisation.
#[tool(effect = "write", scopes = ["repo"], keywords = ["fork", "copy repository"],
       example = { "owner": "octocat", "repo": "hello-world" })]
pub fn fork_repo(args: ForkRepo, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .post(path!("/repos/{}/{}/forks", args.owner, args.repo))
            .json(&args)
            .fetch()?,
        &["full_name", "html_url", "default_branch"],
    ))
}

#[derive(Args)]
pub struct ReplaceTopics {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Topics in lower case.
    #[arg(max_items = 20)]
    names: Vec<String>,
}

/// Sets the topics of a repository; those it had go.
#[tool(effect = "write", idempotent, scopes = ["repo"], keywords = ["tags", "keywords"],
       example = { "owner": "octocat", "repo": "hello-world", "names": ["rust", "gateway"] })]
pub fn replace_topics(args: ReplaceTopics, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .put(path!("/repos/{}/{}/topics", args.owner, args.repo))
            .json(&args)
            .fetch()?,
        &["names"],
    ))
}

#[derive(Args)]
pub struct ListCollaborators {
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

/// Lists who may work on a repository, with role.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["members", "access", "who has access"],
       example = { "owner": "octocat", "repo": "hello-world" })]
pub fn list_collaborators(args: ListCollaborators, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get(path!("/repos/{}/{}/collaborators", args.owner, args.repo)),
        args.per_page,
        &["login", "role=role_name", "html_url"],
    )
}

#[derive(Args)]
pub enum AddCollaboratorPermission {
    Pull,
    Triage,
    Push,
    Maintain,
    Admin,
}

#[derive(Args)]
pub struct AddCollaborator {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Login of the person.
    #[arg(path)]
    username: String,
    /// What they may do.
    #[arg(default = "push")]
    permission: AddCollaboratorPermission,
}

/// Invites a person to a repository, or changes what they may do.
#[tool(effect = "write", idempotent, scopes = ["repo"], keywords = ["give access", "invite", "share repository"],
       example = { "owner": "octocat", "repo": "hello-world", "username": "hubot", "permission": "push" })]
pub fn add_collaborator(args: AddCollaborator, cx: &Context) -> Result<Value, ToolError> {
    github(cx)
        .put(path!(
            "/repos/{}/{}/collaborators/{}",
            args.owner,
            args.repo,
            args.username
        ))
        .json(&args)
        .send()?;
    Ok(json!({ "invited": args.username }))
}

#[derive(Args)]
pub struct RemoveCollaborator {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Login of the person.
    #[arg(path)]
    username: String,
}

/// Takes a person's access to a repository away.
#[tool(effect = "destructive", scopes = ["repo"], keywords = ["revoke access"],
       example = { "owner": "octocat", "repo": "hello-world", "username": "hubot" })]
pub fn remove_collaborator(args: RemoveCollaborator, cx: &Context) -> Result<Value, ToolError> {
    github(cx)
        .delete(path!(
            "/repos/{}/{}/collaborators/{}",
            args.owner,
            args.repo,
            args.username
        ))
        .send()?;
    Ok(json!({ "removed": args.username }))
}

/// Lists who has committed to a repository, most commits first.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["authors", "who wrote this"],
       example = { "owner": "octocat", "repo": "hello-world" })]
pub fn list_contributors(args: ListCollaborators, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get(path!("/repos/{}/{}/contributors", args.owner, args.repo)),
        args.per_page,
        &["login", "commits=contributions", "html_url"],
    )
}

/// Tells how many bytes of each language a repository has.
#[tool(effect = "read", scopes = ["repo"], keywords = ["programming languages"],
       example = { "owner": "octocat", "repo": "hello-world" })]
pub fn get_languages(args: GetLatestRelease, cx: &Context) -> Result<Value, ToolError> {
    github(cx)
        .get(path!("/repos/{}/{}/languages", args.owner, args.repo))
        .fetch()
}
