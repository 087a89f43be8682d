//! Gmail: finding, reading, writing and filing mail, over the Gmail API v1.
//!
//! Mail is MIME. Here it goes in and comes out as text: [`compose`] writes messages (RFC 5322, MIME)
//! and [`decode`] reads them, with [`words`] for headers and [`toolgate_sdk::html`] for bodies that
//! have no plain text. [`api`] holds what all requests share; the tools are in [`messages`], [`threads`],
//! [`sending`] and [`labels`].

mod api;
mod compose;
mod decode;
mod labels;
mod messages;
mod sending;
mod threads;
mod words;

toolgate_sdk::plugin! {
    service: "gmail",
    title: "Gmail",
    description: "Find, read, send, answer and file mail in a Gmail mailbox.",
    homepage: "https://developers.google.com/workspace/gmail/api",
    categories: ["mail"],
    hosts: ["gmail.googleapis.com"],
    capabilities: ["egress", "blobs"],
    auth: [{
        slot: "user",
        title: "Google account",
        type: "oauth2",
        authorize_url: "https://accounts.google.com/o/oauth2/v2/auth",
        token_url: "https://oauth2.googleapis.com/token",
        revoke_url: "https://oauth2.googleapis.com/revoke",
        scopes: ["https://www.googleapis.com/auth/gmail.readonly"],
        authorize_params: { access_type: "offline", prompt: "consent", include_granted_scopes: "true" },
        token_auth: "post",
        placement: { header: "authorization", template: "Bearer {secret}" },
        audience: ["https://gmail.googleapis.com"],
        account: {
            request: "GET https://gmail.googleapis.com/gmail/v1/users/me/profile",
            label: "/emailAddress",
        },
    }],
    limits: { memory_mib: 64 },
    tools: [
        messages::search_messages,
        messages::get_message,
        messages::get_attachment,
        messages::modify_labels,
        messages::trash_message,
        messages::delete_message,
        threads::search_threads,
        threads::get_thread,
        sending::send_message,
        sending::reply_to_message,
        sending::create_draft,
        sending::list_drafts,
        sending::send_draft,
        labels::list_labels,
        labels::create_label,
        labels::create_filter,
        labels::get_profile,
        labels::list_history,
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
