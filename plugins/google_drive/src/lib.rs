//! Google Drive: files found by plain words, brought in and out, shared, over the Drive API v3.
//!
//! [`query`] writes Drive's query language from plain arguments, [`formats`] knows into what Google's
//! own formats can be exported. Contents go from the service to the caller and back on the host, never
//! through the plugin's memory, but for text that is read. The tools are in [`find`], [`content`],
//! [`files`] and [`sharing`].

mod api;
mod content;
mod files;
mod find;
mod formats;
mod query;
mod sharing;

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
        scopes: ["https://www.googleapis.com/auth/drive"],
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
        content::read_text,
        content::download_file,
        content::export_file,
        content::upload_file,
        content::update_file_content,
        files::create_folder,
        files::update_file,
        files::copy_file,
        files::trash_file,
        files::delete_file,
        sharing::list_permissions,
        sharing::share_file,
        sharing::remove_permission,
        sharing::list_comments,
        sharing::create_comment,
        find::list_shared_drives,
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
