//! Notion: pages, their text, databases, comments and people, over the REST API.
//!
//! Notion keeps text as trees of blocks and values as typed objects. Here text goes in and comes
//! out as Markdown ([`blocks`] writes, [`markdown`] reads, [`rich_text`] serves both) and values as
//! plain JSON ([`properties`]). [`api`] holds what all requests share; the tools are in [`pages`],
//! [`content`], [`databases`] and [`people`].

#![allow(unreachable_pub, reason = "the modules of a plugin are no library")]

mod api;
mod blocks;
mod columns;
mod comments;
mod conditions;
mod content;
mod databases;
mod editing;
mod markdown;
mod outline;
mod pages;
mod people;
mod properties;
mod rich_text;
mod rows;
mod tables;
mod uploads;
mod views;

toolgate_sdk::plugin! {
    service: "notion",
    title: "Notion",
    description: "Search, read and write pages and databases in a Notion workspace, with text as Markdown.",
    homepage: "https://developers.notion.com",
    categories: ["notes"],
    hosts: ["api.notion.com"],
    request_headers: ["notion-version"],
    capabilities: ["egress", "blobs"],
    auth: [
        {
            slot: "user",
            title: "Notion workspace",
            type: "oauth2",
            authorize_url: "https://api.notion.com/v1/oauth/authorize",
            token_url: "https://api.notion.com/v1/oauth/token",
            revoke_url: "https://api.notion.com/v1/oauth/revoke",
            authorize_params: { owner: "user" },
            token_auth: "basic",
            placement: { header: "authorization", template: "Bearer {secret}" },
            audience: ["https://api.notion.com"],
        },
        {
            slot: "token",
            title: "Internal integration secret",
            type: "bearer",
            fields: [{
                key: "secret",
                title: "Integration secret",
                help: "Made at notion.so/my-integrations; the integration must be added to the pages it shall see.",
            }],
            placement: { header: "authorization", template: "Bearer {secret}" },
            audience: ["https://api.notion.com"],
        },
    ],
    tools: [
        pages::search,
        pages::get_page,
        pages::create_page,
        pages::update_page,
        pages::trash_page,
        pages::move_page,
        outline::list_subpages,
        outline::update_page_appearance,
        content::get_page_content,
        content::append_content,
        editing::edit_page_content,
        editing::insert_page_content,
        editing::replace_page_content,
        content::list_blocks,
        outline::get_block,
        content::update_block,
        content::delete_block,
        databases::get_database,
        tables::create_database,
        tables::update_database,
        tables::trash_database,
        databases::get_data_source,
        databases::query_data_source,
        rows::find_rows,
        rows::get_page_property,
        databases::create_data_source,
        tables::update_data_source,
        columns::add_column,
        columns::update_column,
        columns::remove_column,
        tables::list_templates,
        tables::create_page_from_template,
        views::list_views,
        views::get_view,
        views::list_view_rows,
        views::create_view,
        views::update_view,
        views::delete_view,
        comments::list_comments,
        comments::get_comment,
        comments::create_comment,
        comments::update_comment,
        comments::delete_comment,
        uploads::upload_file,
        uploads::import_file,
        uploads::get_file_upload,
        uploads::list_file_uploads,
        uploads::attach_upload,
        people::list_users,
        people::find_user,
        people::get_user,
        people::get_bot_user,
        people::list_custom_emojis,
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
