//! monday.com: boards, items, updates and people, over its GraphQL API.
//!
//! A board's columns have ids that no one remembers and values in a form of their own for each type.
//! Here both go by title and as plain JSON: [`values`] writes what a column takes and reads what it
//! shows. [`api`] holds what all requests share; the tools are in [`boards`], [`structure`], [`items`],
//! [`search`], [`writing`], [`updates`], [`docs`], [`files`], [`workspaces`] and [`people`].

#![allow(unreachable_pub, reason = "the modules of a plugin are no library")]

mod api;
mod boards;
mod docs;
mod files;
mod items;
mod people;
mod search;
mod structure;
mod updates;
mod values;
mod workspaces;
mod writing;

toolgate_sdk::plugin! {
    service: "monday",
    title: "monday.com",
    description: "Boards, items, updates, docs, files, groups, columns, workspaces and people of monday.com, with values by title.",
    homepage: "https://developer.monday.com/api-reference/docs/basics",
    categories: ["tasks", "project_management"],
    hosts: ["api.monday.com"],
    request_headers: ["api-version"],
    capabilities: ["egress", "blobs"],
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
        search::search,
        search::list_my_items,
        boards::list_boards,
        boards::get_board,
        items::list_items,
        items::get_items,
        items::search_items,
        writing::create_item,
        writing::create_subitem,
        writing::update_item,
        writing::move_item,
        writing::move_item_to_board,
        writing::duplicate_item,
        writing::archive_item,
        writing::delete_item,
        writing::create_update,
        updates::list_updates,
        updates::edit_update,
        updates::delete_update,
        updates::pin_update,
        files::list_files,
        files::add_file,
        docs::list_docs,
        docs::read_doc,
        docs::create_doc,
        docs::append_to_doc,
        docs::set_item_description,
        boards::create_board,
        structure::update_board,
        structure::duplicate_board,
        structure::archive_board,
        boards::create_group,
        structure::rename_group,
        structure::delete_group,
        boards::create_column,
        structure::rename_column,
        structure::delete_column,
        structure::list_activity,
        boards::list_workspaces,
        workspaces::create_workspace,
        workspaces::list_folders,
        workspaces::create_folder,
        people::list_users,
        people::list_teams,
        people::list_board_members,
        people::add_board_members,
        people::remove_board_members,
        people::notify_user,
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
