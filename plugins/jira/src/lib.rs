//! Jira Cloud: issues, comments, transitions, projects and people, over the REST API v3.
//!
//! The address of the site is a parameter of the connection. Text goes in and comes out as plain
//! text; [`adf`] turns it into Jira's document format and back. Read [`api`], then [`issues`] and
//! [`projects`].

mod adf;
mod api;
mod issues;
mod projects;

toolgate_sdk::plugin! {
    service: "jira",
    title: "Jira",
    description: "Search, read, create and move issues in Jira Cloud.",
    homepage: "https://developer.atlassian.com/cloud/jira/platform/rest/v3/",
    categories: ["issue_tracking"],
    hosts: ["{site}.atlassian.net"],
    capabilities: ["egress"],
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
        issues::get_issue,
        issues::create_issue,
        issues::update_issue,
        issues::assign_issue,
        issues::list_transitions,
        issues::transition_issue,
        issues::delete_issue,
        issues::list_comments,
        issues::add_comment,
        issues::add_worklog,
        projects::list_projects,
        projects::get_project,
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
