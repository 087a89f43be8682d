//! monday.com: boards, items, updates and people, over its GraphQL API.
//!
//! A board's columns have ids that no one remembers and values in a form of their own for each type.
//! Here both go by title and as plain JSON: [`values`] writes what a column takes and reads what it
//! shows. [`api`] holds what all requests share; the tools are in [`boards`], [`items`], [`writing`]
//! and [`people`].

mod api;
mod boards;
mod items;
mod people;
mod values;
mod writing;

toolgate_sdk::plugin! {
    service: "monday",
    title: "monday.com",
    description: "Boards, items, updates, groups, columns and workspaces of monday.com, with column values by title.",
    homepage: "https://developer.monday.com/api-reference/docs/basics",
    categories: ["tasks", "project_management"],
    hosts: ["api.monday.com"],
    request_headers: ["api-version"],
    capabilities: ["egress"],
    auth: [
        {
            slot: "user",
            title: "monday.com account",
            type: "oauth2",
            authorize_url: "https://auth.monday.com/oauth2/authorize",
            token_url: "https://auth.monday.com/oauth2/token",
            pkce: false,
            scopes: ["boards:read", "users:read", "workspaces:read", "updates:read", "me:read"],
            authorize_params: { force_install_if_needed: "True" },
            token_auth: "post",
            placement: { header: "authorization", template: "Bearer {secret}" },
            audience: ["https://api.monday.com"],
        },
        {
            slot: "token",
            title: "monday.com API token",
            type: "bearer",
            fields: [{
                key: "secret",
                title: "API token",
                help: "Shown in monday.com under the profile picture, Developers, API token.",
            }],
            placement: { header: "authorization", template: "Bearer {secret}" },
            audience: ["https://api.monday.com"],
        },
    ],
    tools: [
        people::get_me,
        boards::list_boards,
        boards::get_board,
        items::list_items,
        items::get_items,
        items::search_items,
        writing::create_item,
        writing::create_subitem,
        writing::update_item,
        writing::move_item,
        writing::archive_item,
        writing::delete_item,
        writing::create_update,
        boards::create_board,
        boards::create_group,
        boards::create_column,
        boards::list_workspaces,
        people::list_users,
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
