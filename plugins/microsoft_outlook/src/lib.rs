//! Outlook Mail: finding, reading, writing and filing mail, rules, settings and contacts, over Microsoft Graph.
//!
//! Mail goes in and comes out as text: [`mail`] writes messages and reads them, HTML and all. [`search`]
//! writes Outlook's search from plain arguments, [`api`] holds what all requests share; the tools are
//! in [`messages`], [`threads`], [`sending`], [`drafts`], [`folders`], [`rules`], [`settings`] and [`contacts`].

#![allow(unreachable_pub, reason = "the modules of a plugin are no library")]

mod api;
mod contacts;
mod drafts;
mod folders;
mod mail;
mod messages;
mod rules;
mod search;
mod sending;
mod settings;
mod threads;

toolgate_sdk::plugin! {
    service: "microsoft_outlook",
    title: "Outlook Mail",
    description: "Find, read, send, answer and file mail of an Outlook or Microsoft 365 mailbox; its folders, rules, automatic replies and contacts.",
    homepage: "https://learn.microsoft.com/graph/api/resources/mail-api-overview",
    categories: ["mail"],
    hosts: ["graph.microsoft.com"],
    request_headers: ["prefer"],
    response_types: ["*/*"],
    capabilities: ["egress", "blobs"],
    auth: [{
        slot: "user",
        title: "Outlook Mail account",
        type: "oauth2",
        authorize_url: "https://login.microsoftonline.com/{tenant}/oauth2/v2.0/authorize",
        token_url: "https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token",
        tenant: "common",
        scopes: ["offline_access", "User.Read", "Mail.Read"],
        token_auth: "post",
        scope_with: ["refresh"],
        placement: { header: "authorization", template: "Bearer {secret}" },
        audience: ["https://graph.microsoft.com"],
        account: { request: "GET https://graph.microsoft.com/v1.0/me", label: "/userPrincipalName" },
    }],
    limits: { memory_mib: 64 },
    tools: [
        messages::list_messages,
        search::search_messages,
        messages::get_message,
        threads::get_thread,
        threads::download_message,
        messages::list_attachments,
        messages::download_attachment,
        messages::update_message,
        threads::mark_messages,
        messages::move_message,
        threads::move_messages,
        threads::copy_message,
        messages::delete_message,
        sending::send_mail,
        sending::reply,
        sending::reply_all,
        sending::forward_message,
        sending::create_draft,
        drafts::create_reply_draft,
        drafts::create_forward_draft,
        drafts::update_draft,
        drafts::add_attachment,
        sending::send_draft,
        folders::list_folders,
        folders::create_folder,
        folders::rename_folder,
        folders::move_folder,
        folders::delete_folder,
        rules::list_rules,
        rules::create_rule,
        rules::delete_rule,
        settings::get_automatic_replies,
        settings::set_automatic_replies,
        settings::list_categories,
        settings::create_category,
        settings::get_profile,
        contacts::list_contacts,
        contacts::create_contact,
        contacts::update_contact,
        contacts::delete_contact,
        contacts::search_people,
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
