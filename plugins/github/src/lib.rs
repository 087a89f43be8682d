//! GitHub: repositories, issues, pull requests, files, releases, workflow runs and search, over the
//! REST API.
//!
//! Answers are cut down to what an agent needs; file contents come and go as text. Read
//! [`api`] for what all requests share, then the tools by subject.

mod actions;
mod api;
mod events;
mod files;
mod issues;
mod pulls;
mod repos;
mod search;

toolgate_sdk::plugin! {
    service: "github",
    title: "GitHub",
    description: "Work with repositories, issues, pull requests, files, releases and workflow runs on GitHub.",
    homepage: "https://docs.github.com/en/rest",
    categories: ["code_hosting"],
    hosts: ["api.github.com"],
    request_headers: ["x-github-api-version"],
    capabilities: ["egress"],
    auth: [
        {
            slot: "user",
            title: "GitHub account",
            type: "oauth2",
            authorize_url: "https://github.com/login/oauth/authorize",
            token_url: "https://github.com/login/oauth/access_token",
            scopes: ["repo", "read:user"],
            token_auth: "post",
            placement: { header: "authorization", template: "Bearer {secret}" },
            audience: ["https://api.github.com"],
            account: { request: "GET https://api.github.com/user", label: "/login" },
        },
        {
            slot: "token",
            title: "Personal access token",
            type: "bearer",
            fields: [{
                key: "secret",
                title: "Personal access token",
                help: "Made at github.com under Settings, Developer settings, Personal access tokens.",
            }],
            placement: { header: "authorization", template: "Bearer {secret}" },
            audience: ["https://api.github.com"],
            account: { request: "GET https://api.github.com/user", label: "/login" },
        },
    ],
    webhook: {
        signature: { header: "x-hub-signature-256", prefix: "sha256=", signed: "{body}" },
    },
    normalize: events::normalize,
    tools: [
        repos::get_authenticated_user,
        repos::list_my_repos,
        repos::get_repo,
        repos::create_repo,
        repos::list_commits,
        repos::list_branches,
        repos::list_releases,
        repos::create_release,
        issues::list_issues,
        issues::get_issue,
        issues::create_issue,
        issues::update_issue,
        issues::list_issue_comments,
        issues::create_issue_comment,
        pulls::list_pull_requests,
        pulls::get_pull_request,
        pulls::list_pull_request_files,
        pulls::create_pull_request,
        pulls::create_pull_request_review,
        pulls::merge_pull_request,
        files::get_file_contents,
        files::create_or_update_file,
        search::search_issues,
        search::search_repositories,
        search::search_code,
        actions::list_workflow_runs,
        actions::dispatch_workflow,
    ],
}

#[cfg(test)]
mod tests {
    use super::PLUGIN;

    #[test]
    fn every_example_is_answered_as_written() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
        toolgate_sdk::testing::replay_folder(&PLUGIN, folder);
    }
}
