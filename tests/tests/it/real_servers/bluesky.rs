//! A personal data server of Bluesky: what an account writes into its repository.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use toolgate_tests::gateway::{Answer, client};
use toolgate_tests::ports::free_port;
use toolgate_tests::tools;

use super::calls::{ServiceGateway, refused, run};
use super::mediawiki::PORTRAIT;
use super::server::{RealServer, large};

const ELSEWHERE: &str =
    "an app view answers it, a service of its own behind the personal data server";
const OF_APP_VIEW: &[(&str, &str)] = &[
    ("bluesky_search_posts", ELSEWHERE),
    ("bluesky_get_timeline", ELSEWHERE),
    ("bluesky_get_author_feed", ELSEWHERE),
    ("bluesky_get_post_thread", ELSEWHERE),
    ("bluesky_get_posts", ELSEWHERE),
    ("bluesky_get_profile", ELSEWHERE),
    ("bluesky_search_users", ELSEWHERE),
    ("bluesky_list_followers", ELSEWHERE),
    ("bluesky_list_follows", ELSEWHERE),
    ("bluesky_list_notifications", ELSEWHERE),
];

async fn start(home: &Path) -> RealServer {
    let mut server = RealServer::new();
    let (data, blobs) = (server.path("data"), server.path("data/blobs"));
    std::fs::create_dir_all(&blobs).unwrap();
    let directory = free_port().to_string();
    let mut command = tools::node().unwrap();
    command.arg("pds.mjs").current_dir(home);
    for (name, value) in [
        ("PLC_PORT", directory.as_str()),
        ("PDS_DID_PLC_URL", &format!("http://127.0.0.1:{directory}")),
        ("PDS_PORT", server.port()),
        ("PDS_HOSTNAME", "localhost"),
        ("PDS_DATA_DIRECTORY", data.to_str().unwrap()),
        ("PDS_BLOBSTORE_DISK_LOCATION", blobs.to_str().unwrap()),
        ("PDS_DEV_MODE", "true"),
        ("PDS_JWT_SECRET", &"0123456789abcdef".repeat(2)),
        ("PDS_ADMIN_PASSWORD", "0123456789abcdef"),
        ("PDS_PLC_ROTATION_KEY_K256_PRIVATE_KEY_HEX", &"1".repeat(64)),
        ("PDS_INVITE_REQUIRED", "false"),
        ("PDS_SERVICE_HANDLE_DOMAINS", ".test"),
        // It tells no relay what is new.
        ("PDS_CRAWLERS", ""),
    ] {
        command.env(name, value);
    }
    server.spawn(&mut command);
    server.answers("/xrpc/_health").await;
    server
}

/// Makes an account and answers its identifier and its access token.
async fn sign_up(server: &RealServer, name: &str) -> (String, String) {
    let account = json!({
        "email": format!("{name}@example.com"), "handle": format!("{name}.test"), "password": "0123456789abcdef",
    });
    let made = client()
        .post(format!(
            "{}/xrpc/com.atproto.server.createAccount",
            server.url
        ))
        .header("content-type", "application/json")
        .body(account.to_string());
    let made = Answer::read(made.send().await.unwrap()).await.json();
    let text = |key: &str| made[key].as_str().unwrap().to_owned();
    (text("did"), text("accessJwt"))
}

/// Likes, shares and deletes a post.
async fn reacts(gateway: &ServiceGateway, did: &str, post: &Value, now: &str) {
    let subject = json!({ "uri": post["uri"], "cid": post["cid"] });
    for tool in ["bluesky_like_post", "bluesky_repost"] {
        let reaction = json!({ "repo": did, "subject": subject, "createdAt": now });
        let reaction = run(gateway, tool, reaction).await;
        assert!(reaction["uri"].to_string().contains(did), "{reaction}");
    }
    let follow = json!({ "repo": did, "subject": did, "createdAt": now });
    run(gateway, "bluesky_follow_user", follow).await;
    let rkey = post["uri"].as_str().unwrap().rsplit('/').next();
    let gone = json!({ "repo": did, "collection": "app.bsky.feed.post", "rkey": rkey });
    run(gateway, "bluesky_delete_record", gone).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_with_a_picture_is_written_to_a_real_data_server() {
    let Some(home) = large("pds") else { return };
    let server = start(&home).await;
    let (did, token) = sign_up(&server, "ada").await;
    let (other, _) = sign_up(&server, "byron").await;
    let hosts = ["bsky.social", "public.api.bsky.app"];
    let gateway = ServiceGateway::in_place_of("bluesky", &server, &hosts).await;
    let (status, text) = gateway.connect(&[("f_secret", &token)]).await;
    assert_eq!(status, 200, "{text}");

    let found = run(
        &gateway,
        "bluesky_resolve_handle",
        json!({ "handle": "ada.test" }),
    )
    .await;
    assert_eq!(found["did"], did, "{found}");
    let picture = format!("data:image/png;base64,{}", STANDARD.encode(PORTRAIT));
    let picture = run(&gateway, "bluesky_upload_image", json!({ "body": picture })).await;
    assert_eq!(picture["blob"]["mimeType"], "image/png", "{picture}");
    let now = "2026-03-12T09:00:00Z";
    let post = json!({
        "repo": did, "text": "The first program", "createdAt": now, "langs": ["en"],
        "embed": {
            "type": "app.bsky.embed.images", "images": [{ "alt": "Portrait", "image": picture["blob"] }],
        },
    });
    let post = run(&gateway, "bluesky_create_post", post).await;
    reacts(&gateway, &did, &post, now).await;

    // Its 401 says nothing about the token, which the next call shows.
    let foreign = json!({ "repo": other, "text": "Not mine", "createdAt": now });
    refused(&gateway, "bluesky_create_post", foreign).await;
    let own = json!({ "repo": did, "text": "Mine", "createdAt": now });
    run(&gateway, "bluesky_create_post", own).await;
    let said = refused(&gateway, "bluesky_get_timeline", json!({})).await;
    assert!(said.contains("No service configured"), "{said}");
    gateway.every_tool_succeeded(OF_APP_VIEW).await;
}
