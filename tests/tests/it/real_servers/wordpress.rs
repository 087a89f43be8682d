//! WordPress at the addresses of WordPress.com: posts, pages, comments, and lists whose last page is full.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::calls::{ServiceGateway, answer, refused, run};
use super::server::{RealServer, installed};
use super::{mariadb, php};
use crate::connect::{get, press, register_for};
use toolgate_tests::provider::query_of;

const SETTINGS: &str = "WORDPRESS_CONFIG";
const HOST: &str = "public-api.wordpress.com";

/// A file of `tests/real_servers/wordpress`.
fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("real_servers/wordpress")
        .join(name)
}

/// A site with ten posts.
async fn start() -> RealServer {
    let mut server = RealServer::new();
    let port = mariadb::start(&mut server, "wordpress").await;
    let home = installed().join("root/usr/share/wordpress");
    server.write("wordpress", home.display().to_string());
    let content = server.path("content");
    std::fs::create_dir(&content).unwrap();
    let keys = ["AUTH", "SECURE_AUTH", "LOGGED_IN", "NONCE"].map(|name| {
        format!("define( '{name}_KEY', '{name}' ); define( '{name}_SALT', '{name} salt' );\n")
    });
    let settings = format!(
        "<?php\ndefine( 'DB_NAME', 'wordpress' );\ndefine( 'DB_USER', '{}' );\ndefine( 'DB_PASSWORD', '{}' );\n\
         define( 'DB_HOST', '127.0.0.1:{port}' );\ndefine( 'WP_HOME', '{url}' );\ndefine( 'WP_SITEURL', '{url}' );\n\
         define( 'WP_CONTENT_DIR', '{}' );\n{}$table_prefix = 'wp_';\n\
         // Application passwords need TLS or this.\ndefine( 'WP_ENVIRONMENT_TYPE', 'local' );\n\
         define( 'WP_HTTP_BLOCK_EXTERNAL', true );\ndefine( 'DISABLE_WP_CRON', true );\n",
        mariadb::USER,
        mariadb::PASSWORD,
        content.display(),
        keys.concat(),
        url = server.url,
    );
    let settings = server.write("config.php", settings);
    let mut install = php::php();
    install
        .arg(script("install.php"))
        .arg(home)
        .env(SETTINGS, &settings);
    let token = server.finish(&mut install).await;
    // It says a failure as a page.
    assert!(!token.contains('<'), "{token}");
    server.write("token", token.trim());
    let front = script("wordpress_com.php");
    php::serve(&mut server, &content, Some(&front), (SETTINGS, &settings));
    server
        .answers("/wp/v2/sites/bakery.example/categories")
        .await;
    server
}

/// Connects as a user does: the site's name, then WordPress.com's consent.
async fn connect(gateway: &ServiceGateway) {
    register_for(gateway, "wordpress").await;
    let asked = gateway.execute("wordpress_list_posts", json!({})).await;
    assert_eq!(asked["status"], "auth_required", "{asked}");
    let link = asked["connect_url"].as_str().unwrap();
    let left = press(gateway, link, &[("p_site", "bakery.example")]).await;
    assert_eq!(left.status, 200, "{}", left.text);
    let asked = query_of(&left.leads_to());
    let back = format!(
        "{}?code=a-code&state={}",
        asked["redirect_uri"], asked["state"]
    );
    let page = get(gateway, &back, left.cookie().as_deref()).await;
    assert!(page.text.contains("Connected"), "{}", page.text);
}

async fn writes_posts(gateway: &ServiceGateway) {
    let draft = json!({ "title": "Cake", "content": "<p>Bake it.</p>", "status": "draft", "categories": [1] });
    let draft = run(gateway, "wordpress_create_post", draft).await;
    let id = &draft["id"];
    let drafts = json!({ "status": ["draft", "pending"], "context": "edit" });
    let drafts = run(gateway, "wordpress_list_posts", drafts).await;
    assert_eq!(drafts[0]["title"]["raw"], "Cake", "{drafts}");
    let publish = json!({ "id": id, "status": "publish", "slug": "cake" });
    run(gateway, "wordpress_update_post", publish).await;
    let post = run(gateway, "wordpress_get_post", json!({ "id": id })).await;
    assert_eq!(post["status"], "publish", "{post}");
    let comment = json!({ "post": id, "content": "It tastes of lemon." });
    run(gateway, "wordpress_create_comment", comment).await;
    let comments = run(gateway, "wordpress_list_comments", json!({ "post": id })).await;
    assert_eq!(comments[0]["author_name"], "ada", "{comments}");
    let binned = run(gateway, "wordpress_delete_post", json!({ "id": id })).await;
    assert_eq!(binned["status"], "trash", "{binned}");
    let gone = json!({ "id": id, "force": true });
    let gone = run(gateway, "wordpress_delete_post", gone).await;
    assert_eq!(gone["deleted"], true, "{gone}");
    let said = refused(gateway, "wordpress_get_post", json!({ "id": id })).await;
    assert!(said.contains("Invalid post ID."), "{said}");
}

async fn writes_pages(gateway: &ServiceGateway) {
    let page = json!({ "title": "Imprint", "content": "<p>Berg Ltd</p>", "status": "publish" });
    let page = run(gateway, "wordpress_create_page", page).await;
    let change = json!({ "id": page["id"], "content": "<p>Berg GmbH</p>" });
    run(gateway, "wordpress_update_page", change).await;
    let pages = json!({ "search": "Berg GmbH", "fields": ["id", "title"] });
    let pages = run(gateway, "wordpress_list_pages", pages).await;
    let expected = json!([{ "id": page["id"], "title": { "rendered": "Imprint" } }]);
    assert_eq!(pages, expected);
}

/// Ten posts five at a time: the second page is full, and the server refuses a third one.
async fn ends_with_a_full_page(gateway: &ServiceGateway) {
    let mut arguments = json!({ "per_page": 5, "fields": ["id"] });
    let first = answer(gateway, "wordpress_list_posts", arguments.clone()).await;
    assert_eq!(first["result"].as_array().map(Vec::len), Some(5), "{first}");
    arguments["cursor"] = first["next_cursor"].clone();
    let second = answer(gateway, "wordpress_list_posts", arguments).await;
    assert_eq!(
        second["result"].as_array().map(Vec::len),
        Some(5),
        "{second}"
    );
    assert!(
        second.get("next_cursor").is_none_or(|next| next.is_null()),
        "{second}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn posts_and_pages_of_a_real_wordpress_are_written_and_listed() {
    let server = start().await;
    let gateway = ServiceGateway::in_place_of("wordpress", &server, &[HOST]).await;
    connect(&gateway).await;
    ends_with_a_full_page(&gateway).await;
    writes_posts(&gateway).await;
    writes_pages(&gateway).await;

    for (tool, pointer, expected) in [
        ("list_media", "/0/title/rendered", "Logo"),
        ("list_categories", "/0/name", "Uncategorized"),
        ("list_tags", "/0/name", "bread"),
        ("list_users", "/0/name", "ada"),
    ] {
        let found = run(&gateway, &format!("wordpress_{tool}"), json!({})).await;
        assert_eq!(
            found.pointer(pointer),
            Some(&json!(expected)),
            "{tool}: {found}"
        );
    }
    let unknown = json!({ "title": "Cake", "date": "tomorrow" });
    let said = refused(&gateway, "wordpress_create_post", unknown).await;
    assert!(said.contains("Invalid parameter(s): date"), "{said}");
    gateway.every_tool_succeeded(&[]).await;
}
