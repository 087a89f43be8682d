//! Jira Cloud: issues and all around them over the REST API v3, boards and sprints over that of Jira Software.
//!
//! The address of the site is a parameter of the connection. Text goes in and comes out as Markdown;
//! [`adf`] turns it into Jira's document format and back. [`names`] finds people and fields by name.
//! Read [`api`], then [`issues`]; the other files are tools, a subject each.

#![allow(unreachable_pub, reason = "the modules of a plugin are no library")]

mod adf;
mod api;
mod attachments;
mod boards;
mod comments;
mod history;
mod issues;
mod links;
mod names;
mod planning;
mod projects;
mod sprints;
mod worklogs;

toolgate_sdk::plugin! {
    service: "jira",
    title: "Jira",
    description: "Search, read, create and move issues in Jira Cloud, with boards, sprints, files, links and versions.",
    homepage: "https://developer.atlassian.com/cloud/jira/platform/rest/v3/",
    categories: ["issue_tracking"],
    hosts: ["{site}.atlassian.net"],
    request_headers: ["x-atlassian-token"],
    response_types: ["*/*"],
    capabilities: ["egress", "blobs"],
    auth: [{
        slot: "user",
        title: "Jira account",
        type: "basic",
        fields: [
            { key: "username", title: "Mail address", secret: false },
            {
                key: "password",
                title: "API token",
                help: "Made at id.atlassian.com under Security, API tokens.",
            },
        ],
        placement: { basic: { username: "{username}", password: "{password}" } },
        audience: ["https://{site}.atlassian.net"],
        account: {
            request: "GET https://{site}.atlassian.net/rest/api/3/myself",
            label: "/displayName",
        },
    }],
    parameters: [{
        key: "site",
        title: "Site",
        pattern: "^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$",
        help: "The first part of the address: acme for acme.atlassian.net.",
    }],
    tools: [
        issues::search_issues,
        history::count_issues,
        issues::get_issue,
        issues::create_issue,
        history::clone_issue,
        issues::update_issue,
        issues::assign_issue,
        issues::list_transitions,
        issues::transition_issue,
        issues::delete_issue,
        history::list_issue_changes,
        comments::list_comments,
        comments::add_comment,
        comments::update_comment,
        comments::delete_comment,
        attachments::list_attachments,
        attachments::download_attachment,
        attachments::add_attachment,
        attachments::delete_attachment,
        links::list_link_types,
        links::list_issue_links,
        links::link_issues,
        links::delete_issue_link,
        links::add_web_link,
        links::delete_web_link,
        links::list_watchers,
        links::add_watcher,
        links::remove_watcher,
        worklogs::list_worklogs,
        worklogs::add_worklog,
        worklogs::delete_worklog,
        boards::list_boards,
        boards::get_board,
        boards::list_board_issues,
        boards::list_backlog,
        boards::move_to_backlog,
        boards::rank_issues,
        sprints::list_sprints,
        sprints::get_sprint,
        sprints::list_sprint_issues,
        sprints::create_sprint,
        sprints::update_sprint,
        sprints::delete_sprint,
        sprints::move_to_sprint,
        projects::list_projects,
        projects::get_project,
        planning::list_versions,
        planning::create_version,
        planning::update_version,
        planning::list_components,
        planning::create_component,
        planning::list_statuses,
        planning::list_create_fields,
        planning::list_fields,
        history::list_filters,
        history::create_filter,
        projects::search_users,
        projects::get_current_user,
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
