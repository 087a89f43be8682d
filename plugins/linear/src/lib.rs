//! Linear: issues, comments, projects and cycles, over its GraphQL API.
//!
//! People say `ENG`, `In Progress`, `mona@example.com`; the API wants UUIDs. [`resolve`] turns names
//! into ids in one request. [`filter`] writes the filter of a list from plain arguments; the other
//! files are the tools, a subject each.

#![allow(unreachable_pub, reason = "the modules of a plugin are no library")]

mod api;
mod around;
mod comments;
mod documents;
mod filter;
mod issues;
mod projects;
mod relations;
mod resolve;
mod steps;
mod workspace;
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
        relations::get_issue_of_branch,
        relations::list_sub_issues,
        relations::list_issue_changes,
        writing::create_issue,
        writing::update_issue,
        steps::set_issue_cycle,
        writing::archive_issue,
        relations::restore_issue,
        relations::relate_issues,
        relations::remove_relation,
        relations::subscribe_to_issue,
        relations::set_issue_reminder,
        writing::create_comment,
        issues::list_comments,
        comments::update_comment,
        comments::delete_comment,
        comments::resolve_comment,
        comments::add_reaction,
        writing::link_url_to_issue,
        comments::list_issue_links,
        comments::delete_issue_link,
        around::get_viewer,
        around::list_teams,
        around::list_workflow_states,
        around::list_labels,
        workspace::create_label,
        workspace::update_label,
        workspace::delete_label,
        around::list_users,
        around::list_projects,
        projects::get_project,
        writing::create_project,
        projects::update_project,
        projects::delete_project,
        projects::list_project_updates,
        projects::create_project_update,
        steps::list_milestones,
        steps::create_milestone,
        steps::update_milestone,
        around::list_cycles,
        steps::list_cycle_issues,
        steps::create_cycle,
        documents::list_documents,
        documents::search_documents,
        documents::get_document,
        documents::create_document,
        documents::update_document,
        documents::delete_document,
        workspace::list_initiatives,
        workspace::create_initiative,
        workspace::add_project_to_initiative,
        workspace::list_views,
        workspace::list_view_issues,
        workspace::list_notifications,
        workspace::update_notification,
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
