//! Notion: pages, their text, databases, comments and people, over the REST API.
//!
//! Notion keeps text as trees of blocks and values as typed objects. Here text goes in and comes
//! out as Markdown ([`blocks`] writes, [`markdown`] reads, [`rich_text`] serves both) and values as
//! plain JSON ([`properties`]). [`api`] holds what all requests share; the tools are in [`pages`],
//! [`content`], [`databases`] and [`people`].

mod api;
mod blocks;
mod content;
mod databases;
mod markdown;
mod pages;
mod people;
mod properties;
mod rich_text;

toolgate_sdk::plugin! {
    service: "notion",
    title: "Notion",
    description: "Search, read and write pages and databases in a Notion workspace, with text as Markdown.",
    homepage: "https://developers.notion.com",
    categories: ["notes"],
    hosts: ["api.notion.com"],
    request_headers: ["notion-version"],
    capabilities: ["egress"],
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
        content::get_page_content,
        content::append_content,
        content::list_blocks,
        content::update_block,
        content::delete_block,
        databases::get_database,
        databases::get_data_source,
        databases::query_data_source,
        databases::create_data_source,
        people::list_comments,
        people::create_comment,
        people::list_users,
        people::get_user,
        people::get_bot_user,
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
