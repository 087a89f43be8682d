//! Gmail: finding, reading, writing and filing mail, over the Gmail API v1.
//!
//! Mail is MIME. Here it goes in and comes out as text: [`compose`] writes messages (RFC 5322, MIME)
//! and [`decode`] reads them, with [`words`] for headers and [`toolgate_sdk::html`] for bodies that
//! have no plain text. [`api`] holds what all requests share; the other files are the tools, a subject each.

#![allow(unreachable_pub, reason = "the modules of a plugin are no library")]

mod api;
mod compose;
mod decode;
mod drafts;
mod filters;
mod labels;
mod mailbox;
mod messages;
mod replying;
mod sending;
mod settings;
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
        messages::get_raw_message,
        messages::get_unsubscribe_options,
        messages::modify_labels,
        messages::modify_messages,
        messages::trash_message,
        messages::delete_message,
        threads::search_threads,
        threads::get_thread,
        threads::modify_thread_labels,
        threads::trash_thread,
        threads::delete_thread,
        sending::send_message,
        replying::reply_to_message,
        replying::forward_message,
        drafts::create_draft,
        replying::create_reply_draft,
        drafts::list_drafts,
        drafts::get_draft,
        drafts::update_draft,
        drafts::send_draft,
        drafts::delete_draft,
        labels::list_labels,
        labels::get_label,
        labels::create_label,
        labels::update_label,
        labels::delete_label,
        filters::list_filters,
        filters::get_filter,
        filters::create_filter,
        filters::delete_filter,
        settings::get_vacation_responder,
        settings::update_vacation_responder,
        settings::list_senders,
        settings::update_signature,
        settings::list_forwarding_addresses,
        mailbox::get_profile,
        mailbox::list_history,
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
