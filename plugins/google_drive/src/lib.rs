//! Google Drive: files found by plain words, brought in and out, shared, over the Drive API v3.
//!
//! [`query`] writes Drive's query language from plain arguments, [`formats`] knows into what Google's
//! own formats can be exported. Contents go from the service to the caller and back on the host, never
//! through the plugin's memory, but for text that is read. The tools are in [`find`], [`content`],
//! [`files`] and [`sharing`].

#![allow(unreachable_pub, reason = "the modules of a plugin are no library")]

mod access;
mod api;
mod approvals;
mod comments;
mod content;
mod drives;
mod files;
mod find;
mod formats;
mod query;
mod revisions;
mod sharing;
mod tree;

toolgate_sdk::plugin! {
    service: "google_drive",
    title: "Google Drive",
    description: "Find, read, upload, download, organise and share files in Google Drive.",
    homepage: "https://developers.google.com/workspace/drive/api/reference/rest/v3",
    categories: ["storage"],
    hosts: ["www.googleapis.com"],
    request_headers: ["x-upload-content-type"],
    response_types: ["*/*"],
    capabilities: ["egress", "blobs"],
    auth: [{
        slot: "user",
        title: "Google account",
        type: "oauth2",
        authorize_url: "https://accounts.google.com/o/oauth2/v2/auth",
        token_url: "https://oauth2.googleapis.com/token",
        revoke_url: "https://oauth2.googleapis.com/revoke",
        scopes: ["https://www.googleapis.com/auth/drive.readonly"],
        authorize_params: { access_type: "offline", prompt: "consent", include_granted_scopes: "true" },
        token_auth: "post",
        placement: { header: "authorization", template: "Bearer {secret}" },
        audience: ["https://www.googleapis.com"],
        account: {
            request: "GET https://www.googleapis.com/drive/v3/about?fields=user",
            label: "/user/emailAddress",
        },
    }],
    limits: { memory_mib: 64 },
    tools: [
        find::search_files,
        find::get_file,
        tree::get_file_path,
        tree::list_folder_tree,
        tree::list_changes,
        content::read_text,
        content::download_file,
        content::export_file,
        content::upload_file,
        content::create_text_file,
        content::update_file_content,
        files::create_folder,
        tree::create_shortcut,
        files::update_file,
        files::copy_file,
        tree::lock_file,
        files::trash_file,
        tree::empty_trash,
        files::delete_file,
        sharing::list_permissions,
        sharing::share_file,
        access::update_permission,
        sharing::remove_permission,
        access::transfer_ownership,
        access::update_sharing_settings,
        access::list_access_requests,
        access::answer_access_request,
        comments::list_comments,
        comments::get_comment,
        comments::create_comment,
        comments::resolve_comment,
        comments::update_comment,
        comments::delete_comment,
        revisions::list_revisions,
        revisions::get_revision,
        revisions::download_revision,
        revisions::keep_revision,
        revisions::delete_revision,
        approvals::list_approvals,
        approvals::start_approval,
        approvals::decide_approval,
        drives::list_shared_drives,
        drives::get_shared_drive,
        drives::create_shared_drive,
        drives::update_shared_drive,
        drives::hide_shared_drive,
        drives::delete_shared_drive,
        find::get_about,
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
