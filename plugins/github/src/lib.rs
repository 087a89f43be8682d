//! GitHub: repositories, issues, pull requests, files, releases, workflow runs and search, over the
//! REST API.
//!
//! Answers are cut down to what an agent needs; file contents come and go as text. Read
//! [`api`] for what all requests share, then the tools by subject.

#![allow(unreachable_pub, reason = "the modules of a plugin are no library")]

mod actions;
mod api;
mod branches;
mod discussions;
mod events;
mod files;
mod issue_details;
mod issues;
mod labels;
mod notifications;
mod people;
mod projects;
mod pulls;
mod releases;
mod repos;
mod reviews;
mod runs;
mod search;

toolgate_sdk::plugin! {
    service: "github",
    title: "GitHub",
    description: "Work with repositories, issues, pull requests, files, releases, discussions, projects and workflow runs on GitHub.",
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
        files::delete_file,
        search::search_issues,
        search::search_repositories,
        search::search_code,
        actions::list_workflow_runs,
        actions::dispatch_workflow,
        branches::create_branch,
        branches::get_branch,
        branches::rename_branch,
        branches::delete_branch,
        branches::get_branch_protection,
        branches::merge_branch,
        branches::compare_refs,
        branches::get_commit,
        branches::list_check_runs,
        branches::list_check_annotations,
        branches::get_commit_status,
        branches::create_commit_status,
        branches::list_tags,
        labels::list_labels,
        labels::create_label,
        labels::update_label,
        labels::delete_label,
        labels::add_labels,
        labels::remove_label,
        labels::list_milestones,
        labels::create_milestone,
        labels::update_milestone,
        issue_details::add_assignees,
        issue_details::remove_assignees,
        issue_details::lock_issue,
        issue_details::list_issue_events,
        issue_details::add_reaction,
        issue_details::update_issue_comment,
        issue_details::delete_issue_comment,
        issue_details::list_sub_issues,
        issue_details::add_sub_issue,
        issue_details::list_my_issues,
        reviews::update_pull_request,
        reviews::update_pull_request_branch,
        reviews::request_reviewers,
        reviews::remove_reviewers,
        reviews::list_pull_request_commits,
        reviews::list_pull_request_reviews,
        reviews::list_review_comments,
        reviews::create_review_comment,
        reviews::reply_to_review_comment,
        reviews::dismiss_review,
        runs::get_workflow_run,
        runs::list_workflow_jobs,
        runs::rerun_workflow,
        runs::rerun_failed_jobs,
        runs::cancel_workflow_run,
        runs::list_run_artifacts,
        runs::list_workflows,
        runs::enable_workflow,
        runs::disable_workflow,
        runs::list_variables,
        runs::create_variable,
        runs::list_deployments,
        runs::list_environments,
        releases::get_latest_release,
        releases::get_release_by_tag,
        releases::update_release,
        releases::delete_release,
        releases::generate_release_notes,
        releases::update_repo,
        releases::fork_repo,
        releases::replace_topics,
        releases::list_collaborators,
        releases::add_collaborator,
        releases::remove_collaborator,
        releases::list_contributors,
        releases::get_languages,
        notifications::list_notifications,
        notifications::mark_notification_read,
        notifications::mark_all_notifications_read,
        people::star_repo,
        people::unstar_repo,
        people::list_starred_repos,
        people::get_user,
        people::list_user_repos,
        people::list_my_orgs,
        people::list_org_repos,
        people::create_org_repo,
        people::list_org_members,
        people::list_teams,
        people::list_team_members,
        people::list_gists,
        people::get_gist,
        people::create_gist,
        people::search_users,
        people::search_commits,
        discussions::list_discussions,
        discussions::get_discussion,
        discussions::create_discussion,
        discussions::add_discussion_comment,
        projects::list_projects,
        projects::list_project_fields,
        projects::list_project_items,
        projects::add_project_item,
        projects::add_project_draft,
        projects::update_project_item,
        projects::remove_project_item,
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
