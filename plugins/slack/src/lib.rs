//! Slack: messages, channels, people and reactions, over the Web API.
//!
//! Slack answers 200 to nearly everything and says in the body whether it worked; [`api`] makes
//! errors of that. [`text`] turns Markdown into what Slack shows, and back.

#![allow(unreachable_pub, reason = "the modules of a plugin are no library")]

mod api;
mod channels;
mod directory;
mod files;
mod marks;
mod messages;
mod people;
mod rooms;
mod text;

toolgate_sdk::plugin! {
    service: "slack",
    title: "Slack",
    description: "Send, read and search messages, and work with channels, files, canvases, reminders and people in a Slack workspace.",
    homepage: "https://api.slack.com",
    categories: ["chat"],
    hosts: ["slack.com", "files.slack.com"],
    capabilities: ["egress", "blobs"],
    auth: [
        {
            slot: "bot",
            title: "Slack workspace",
            type: "oauth2",
            authorize_url: "https://slack.com/oauth/v2/authorize",
            token_url: "https://slack.com/api/oauth.v2.access",
            revoke_url: "https://slack.com/api/auth.revoke",
            pkce: false,
            scopes: ["channels:read", "channels:history", "groups:read", "users:read"],
            scope_separator: ",",
            token_auth: "post",
            // An installation without a bot has the user's token alone.
            token_answer: { access_token: ["/access_token", "/authed_user/access_token"] },
            placement: { header: "authorization", template: "Bearer {secret}" },
            audience: ["https://slack.com", "https://files.slack.com"],
            account: { request: "GET https://slack.com/api/auth.test", label: "/team" },
        },
        {
            slot: "user",
            title: "Slack user",
            type: "oauth2",
            authorize_url: "https://slack.com/oauth/v2/authorize",
            token_url: "https://slack.com/api/oauth.v2.access",
            revoke_url: "https://slack.com/api/auth.revoke",
            pkce: false,
            scopes: ["channels:read", "channels:history", "groups:read", "users:read"],
            scope_separator: ",",
            scope_param: "user_scope",
            token_auth: "post",
            token_answer: { access_token: "/authed_user/access_token" },
            placement: { header: "authorization", template: "Bearer {secret}" },
            audience: ["https://slack.com", "https://files.slack.com"],
            account: { request: "GET https://slack.com/api/auth.test", label: "/user" },
        },
        {
            slot: "token",
            title: "Bot or user token",
            type: "bearer",
            fields: [{
                key: "secret",
                title: "Token",
                help: "Begins with xoxb- (bot) or xoxp- (user); shown under OAuth & Permissions of the Slack app.",
            }],
            placement: { header: "authorization", template: "Bearer {secret}" },
            audience: ["https://slack.com", "https://files.slack.com"],
            account: { request: "GET https://slack.com/api/auth.test", label: "/team" },
        },
    ],
    webhook: {
        signature: {
            header: "x-slack-signature",
            prefix: "v0=",
            signed: "v0:{timestamp}:{body}",
            timestamp: { header: "x-slack-request-timestamp" },
        },
        delivery: "/event_id",
        challenge: { at: "/type", is: "url_verification", answer: "/challenge" },
        event: { name: [{ body: "/event/type" }], data: "/event" },
    },
    tools: [
        messages::post_message,
        messages::update_message,
        messages::delete_message,
        messages::schedule_message,
        messages::get_channel_history,
        messages::get_thread_replies,
        messages::search_messages,
        messages::add_reaction,
        messages::pin_message,
        channels::list_channels,
        channels::get_channel_info,
        channels::create_channel,
        channels::join_channel,
        channels::invite_to_channel,
        channels::list_channel_members,
        people::open_dm,
        people::list_users,
        people::get_user,
        people::lookup_user_by_email,
        people::get_team_info,
        rooms::rename_channel,
        rooms::set_channel_topic,
        rooms::set_channel_purpose,
        rooms::archive_channel,
        rooms::unarchive_channel,
        rooms::leave_channel,
        rooms::remove_from_channel,
        rooms::list_my_channels,
        rooms::mark_channel_read,
        rooms::list_bookmarks,
        rooms::add_bookmark,
        rooms::remove_bookmark,
        marks::remove_reaction,
        marks::get_reactions,
        marks::unpin_message,
        marks::list_pins,
        marks::get_permalink,
        marks::post_ephemeral,
        marks::list_scheduled_messages,
        marks::delete_scheduled_message,
        marks::create_reminder,
        marks::list_reminders,
        marks::delete_reminder,
        directory::list_user_groups,
        directory::create_user_group,
        directory::list_user_group_members,
        directory::get_presence,
        directory::get_user_profile,
        directory::set_status,
        directory::set_presence,
        directory::get_do_not_disturb,
        directory::snooze_notifications,
        directory::list_emoji,
        directory::get_bot_info,
        files::upload_file,
        files::download_file,
        files::list_files,
        files::get_file_info,
        files::delete_file,
        files::create_canvas,
        files::create_channel_canvas,
        files::edit_canvas,
        files::find_canvas_sections,
        files::delete_canvas,
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
