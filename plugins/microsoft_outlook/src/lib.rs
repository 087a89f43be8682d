//! Outlook Mail: finding, reading, writing and filing mail, over Microsoft Graph.
//!
//! Mail goes in and comes out as text: [`mail`] writes messages and reads them, HTML and all. [`search`]
//! writes Outlook's search from plain arguments, [`api`] holds what all requests share; the tools are
//! in [`messages`], [`sending`] and [`folders`].

mod api;
mod folders;
mod mail;
mod messages;
mod search;
mod sending;

toolgate_sdk::plugin! {
    service: "microsoft_outlook",
    title: "Outlook Mail",
    description: "Find, read, send, answer and file mail in an Outlook or Microsoft 365 mailbox.",
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
        authorize_url: "https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
        token_url: "https://login.microsoftonline.com/common/oauth2/v2.0/token",
        scopes: ["offline_access", "User.Read", "Mail.ReadWrite"],
        token_auth: "post",
        placement: { header: "authorization", template: "Bearer {secret}" },
        audience: ["https://graph.microsoft.com"],
        account: { request: "GET https://graph.microsoft.com/v1.0/me", label: "/userPrincipalName" },
    }],
    limits: { memory_mib: 64 },
    tools: [
        messages::list_messages,
        search::search_messages,
        messages::get_message,
        messages::list_attachments,
        messages::download_attachment,
        messages::update_message,
        messages::move_message,
        messages::delete_message,
        sending::send_mail,
        sending::reply,
        sending::reply_all,
        sending::forward_message,
        sending::create_draft,
        sending::send_draft,
        folders::list_folders,
        folders::create_folder,
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
