//! Dropbox: files and folders, versions and shared links, over the HTTP API v2.
//!
//! Dropbox takes the arguments of uploads and downloads as JSON in a header and answers 409 to
//! everything that did not work; [`api`] deals with both. The tools are in [`browse`], [`content`],
//! [`files`] and [`sharing`].

#![allow(unreachable_pub, reason = "the modules of a plugin are no library")]

mod api;
mod browse;
mod content;
mod files;
mod sharing;

toolgate_sdk::plugin! {
    service: "dropbox",
    title: "Dropbox",
    description: "Find, read, upload, download, move and share files in Dropbox, with their older versions.",
    homepage: "https://www.dropbox.com/developers/documentation/http/documentation",
    categories: ["storage"],
    hosts: ["api.dropboxapi.com", "content.dropboxapi.com"],
    request_headers: ["dropbox-api-arg"],
    response_types: ["*/*"],
    capabilities: ["egress", "blobs"],
    auth: [{
        slot: "user",
        title: "Dropbox account",
        type: "oauth2",
        authorize_url: "https://www.dropbox.com/oauth2/authorize",
        token_url: "https://api.dropboxapi.com/oauth2/token",
        revoke_url: "https://api.dropboxapi.com/2/auth/token/revoke",
        scopes: ["account_info.read", "files.metadata.read"],
        authorize_params: { token_access_type: "offline", include_granted_scopes: "user" },
        token_auth: "post",
        placement: { header: "authorization", template: "Bearer {secret}" },
        audience: ["https://api.dropboxapi.com", "https://content.dropboxapi.com"],
    }],
    limits: { memory_mib: 64 },
    tools: [
        browse::list_folder,
        browse::search_files,
        browse::get_metadata,
        content::read_text,
        content::download_file,
        content::upload_file,
        content::get_temporary_link,
        files::create_folder,
        files::copy_file,
        files::move_file,
        files::delete_file,
        files::list_revisions,
        files::restore_file,
        sharing::create_shared_link,
        sharing::list_shared_links,
        browse::get_account,
    ],
}

#[cfg(test)]
mod tests {
    use toolgate_sdk::json;
    use toolgate_sdk::testing::MockHost;

    use super::PLUGIN;

    #[test]
    fn every_example_is_answered_as_written() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
        toolgate_sdk::testing::replay_folder(&PLUGIN, folder);
    }

    /// Too long for an example file.
    #[test]
    fn a_large_file_goes_in_pieces() {
        let piece = "x".repeat(4 * 1024 * 1024);
        let request = |name: &str, arguments: String, body: &str| {
            let url = format!("https://content.dropboxapi.com/2/files/upload_session/{name}");
            let headers = json!({ "dropbox-api-arg": arguments });
            json!({ "method": "POST", "url": url, "headers": headers, "body": body })
        };
        let first = json!({ "close": false });
        let cursor = |offset: u64| json!({ "offset": offset, "session_id": "s1" });
        let second = json!({ "close": false, "cursor": cursor(4_194_304) });
        let commit = json!({ "autorename": false, "mode": "add", "path": "/big.bin" });
        let last = json!({ "commit": commit, "cursor": cursor(8_388_608) });
        let opened = json!({ "body": { "session_id": "s1" } });
        let made = json!({ "body": { ".tag": "file", "name": "big.bin", "size": 8_388_612 } });
        let mut host = MockHost::new()
            .exchange(request("start", first.to_string(), &piece), opened)
            .exchange(request("append_v2", second.to_string(), &piece), json!({}))
            .exchange(request("finish", last.to_string(), "tail"), made);
        let bytes = format!("{piece}{piece}tail").into_bytes();
        let media_type = "application/octet-stream".to_owned();
        host.files.insert("big.bin".to_owned(), (media_type, bytes));
        let arguments = json!({ "content": "big.bin", "path": "/big.bin" });
        let made = host
            .call(&PLUGIN, "upload_file", &arguments, None)
            .expect("a file");
        assert_eq!(made.value()["bytes"], 8_388_612);
    }
}
