//! Matrix: rooms, messages and members, over the client-server API v3.
//!
//! The account lives on some homeserver: matrix.org unless the operator names another
//! (`homeserver`). Read [`api`] for what all requests share, then [`messages`] and [`rooms`].

#![allow(unreachable_pub, reason = "the modules of a plugin are no library")]

mod api;
mod messages;
mod rooms;

toolgate_sdk::plugin! {
    service: "matrix",
    title: "Matrix",
    description: "Send, read and search messages and work with rooms on a Matrix homeserver.",
    homepage: "https://spec.matrix.org/latest/client-server-api/",
    categories: ["chat"],
    hosts: ["matrix-client.matrix.org"],
    capabilities: ["egress"],
    auth: [{
        slot: "user",
        title: "Matrix account",
        type: "bearer",
        fields: [{
            key: "secret",
            title: "Access token",
            help: "In Element: All settings, Help & About, Advanced, Access Token.",
        }],
        placement: { header: "authorization", template: "Bearer {secret}" },
        audience: ["https://matrix-client.matrix.org", "{homeserver}"],
    }],
    config: [{
        key: "homeserver",
        title: "Address of the homeserver",
        schema: { type: "string", format: "uri", pattern: "^https?://" },
        adds_host: true,
    }],
    tools: [
        messages::send_message,
        messages::list_messages,
        messages::get_message,
        messages::search_messages,
        messages::react_to_message,
        messages::redact_message,
        rooms::whoami,
        rooms::get_profile,
        rooms::list_joined_rooms,
        rooms::get_room,
        rooms::list_room_members,
        rooms::create_room,
        rooms::join_room,
        rooms::leave_room,
        rooms::invite_user,
        rooms::set_room_topic,
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
