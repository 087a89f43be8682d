//! Linear: issues, comments, projects and cycles, over its GraphQL API.
//!
//! People say `ENG`, `In Progress`, `mona@example.com`; the API wants UUIDs. [`resolve`] turns names
//! into ids in one request. [`filter`] writes the filter of a list from plain arguments; the tools
//! are in [`issues`], [`writing`] and [`around`].

mod api;
mod around;
mod filter;
mod issues;
mod resolve;
mod writing;

toolgate_sdk::plugin! {
    service: "linear",
    title: "Linear",
    description: "Find, create, change and discuss issues in Linear, with its teams, projects, cycles and labels by name.",
    homepage: "https://linear.app/developers",
    categories: ["project_management", "tasks"],
    hosts: ["api.linear.app"],
    capabilities: ["egress"],
    auth: [
        {
            slot: "user",
            title: "Linear workspace",
            type: "oauth2",
            authorize_url: "https://linear.app/oauth/authorize",
            token_url: "https://api.linear.app/oauth/token",
            scopes: ["read"],
            scope_separator: ",",
            authorize_params: { prompt: "consent" },
            token_auth: "post",
            placement: { header: "authorization", template: "Bearer {secret}" },
            audience: ["https://api.linear.app"],
        },
        {
            slot: "key",
            title: "Personal API key",
            type: "api_key",
            fields: [{
                key: "secret",
                title: "API key",
                help: "Made in Linear under Settings, Security & access, Personal API keys.",
            }],
            placement: { header: "authorization", template: "{secret}" },
            audience: ["https://api.linear.app"],
        },
    ],
    tools: [
        issues::list_issues,
        issues::search_issues,
        issues::get_issue,
        writing::create_issue,
        writing::update_issue,
        writing::archive_issue,
        writing::create_comment,
        issues::list_comments,
        writing::link_url_to_issue,
        around::get_viewer,
        around::list_teams,
        around::list_workflow_states,
        around::list_labels,
        around::list_users,
        around::list_projects,
        writing::create_project,
        around::list_cycles,
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
