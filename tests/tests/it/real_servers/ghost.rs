//! Ghost: its Content API, after an owner has set it up and written.

use serde_json::{Value, json};
use toolgate_tests::gateway::{Answer, PATIENCE, client};
use toolgate_tests::tools;

use super::calls::{ServiceGateway, answer, refused, run};
use super::mariadb;
use super::server::{RealServer, large};

async fn start(home: &std::path::Path) -> RealServer {
    let mut server = RealServer::new();
    let port = mariadb::start(&mut server, "ghost").await;
    // Themes and what it writes.
    let content = server.path("content");
    let mut copy = tokio::process::Command::new("cp");
    copy.arg("-rL").arg(home.join("content")).arg(&content);
    server.finish(&mut copy).await;
    let mut command = tools::node().unwrap();
    command.arg("index.js").current_dir(home);
    for (name, value) in [
        ("NODE_ENV", "production"),
        ("url", server.url.as_str()),
        ("server__host", "127.0.0.1"),
        ("server__port", server.port()),
        ("database__client", "mysql"),
        ("database__connection__host", "127.0.0.1"),
        ("database__connection__port", &port.to_string()),
        ("database__connection__user", mariadb::USER),
        ("database__connection__password", mariadb::PASSWORD),
        ("database__connection__database", "ghost"),
        ("paths__contentPath", content.to_str().unwrap()),
        // It asks no service of its makers.
        ("privacy__useTinfoil", "true"),
        ("mail__transport", "stub"),
        ("logging__transports", "[\"stdout\"]"),
    ] {
        command.env(name, value);
    }
    server.spawn(&mut command);
    // It makes a hundred tables, and answers 503 meanwhile.
    server
        .answers_within(5 * PATIENCE, "/ghost/api/admin/site/")
        .await;
    server
}

/// The owner, as the admin pages send it.
struct Owner<'a> {
    server: &'a RealServer,
    cookie: Option<String>,
}

impl Owner<'_> {
    async fn post(&self, path: &str, body: Value) -> Answer {
        let mut request = client()
            .post(format!("{}/ghost/api/admin/{path}", self.server.url))
            .header("content-type", "application/json")
            .header("origin", &self.server.url);
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", cookie);
        }
        let answer = Answer::read(request.body(body.to_string()).send().await.unwrap()).await;
        assert_eq!(answer.status, 201, "{path}: {}", answer.text);
        answer
    }
}

/// Writes fourteen posts beside the one that is there from the start, and a page, and answers a key of the Content API.
async fn write(server: &RealServer) -> String {
    let (email, password) = ("ada@example.com", "0123456789abcdef");
    let mut owner = Owner {
        server,
        cookie: None,
    };
    let setup = json!({ "setup": [{ "name": "Ada", "email": email, "password": password, "blogTitle": "Bakery" }] });
    owner.post("authentication/setup/", setup).await;
    let login = json!({ "username": email, "password": password });
    let session = owner.post("session/", login).await;
    let cookie = session.headers["set-cookie"].to_str().unwrap();
    owner.cookie = cookie.split(';').next().map(str::to_owned);
    let integration = json!({ "integrations": [{ "name": "toolgate" }] });
    let made = owner.post("integrations/?include=api_keys", integration);
    let made = made.await.json();
    let keys = made["integrations"][0]["api_keys"].as_array().unwrap();
    let key = keys.iter().find(|key| key["type"] == "content").unwrap();
    for number in 1..=14 {
        let post = json!({
            "title": format!("Recipe {number}"), "status": "published", "tags": ["bread"], "html": "<p>Bake it.</p>",
        });
        owner
            .post("posts/?source=html", json!({ "posts": [post] }))
            .await;
    }
    let page = json!({ "title": "Imprint", "status": "published", "html": "<p>Berg Ltd</p>" });
    owner
        .post("pages/?source=html", json!({ "pages": [page] }))
        .await;
    key["secret"].as_str().unwrap().to_owned()
}

/// Lists, then one entry by its id and by its slug.
async fn reads_entries(gateway: &ServiceGateway) {
    for (many, one, filter, slug) in [
        ("posts", "post", "title:'Recipe 7'", "recipe-7"),
        ("pages", "page", "slug:imprint", "imprint"),
        ("authors", "author", "slug:ada", "ada"),
        ("tags", "tag", "slug:bread", "bread"),
    ] {
        let list = format!("ghost_list_{many}");
        let found = run(gateway, &list, json!({ "filter": filter })).await;
        let entry = &found[many][0];
        assert_eq!(entry["slug"], slug, "{list}: {found}");
        for (tool, arguments) in [
            (format!("ghost_get_{one}"), json!({ "id": entry["id"] })),
            (format!("ghost_get_{one}_by_slug"), json!({ "slug": slug })),
        ] {
            let found = run(gateway, &tool, arguments).await;
            assert_eq!(found["id"], entry["id"], "{tool}: {found}");
        }
    }
    for (tool, pointer) in [
        ("list_tiers", "/tiers/0/name"),
        ("list_newsletters", "/newsletters/0/name"),
        ("list_recommendations", "/recommendations"),
        ("get_settings", "/title"),
        ("get_search_index", "/posts/0/slug"),
    ] {
        let found = run(gateway, &format!("ghost_{tool}"), json!({})).await;
        assert!(found.pointer(pointer).is_some(), "{tool}: {found}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn posts_of_a_real_ghost_are_listed_and_read() {
    let Some(home) = large("ghost") else { return };
    let server = start(&home).await;
    let key = write(&server).await;
    let gateway = ServiceGateway::at_address("ghost", &server, "").await;
    let (status, text) = gateway.connect(&[("f_secret", &"0".repeat(26))]).await;
    assert_ne!(status, 200, "{text}");
    let (status, text) = gateway.connect(&[("f_secret", &key)]).await;
    assert_eq!(status, 200, "{text}");
    reads_entries(&gateway).await;

    let mut arguments = json!({ "limit": 5, "fields": "id" });
    for page in 1..=3 {
        let posts = answer(&gateway, "ghost_list_posts", arguments.clone()).await;
        let count = posts["result"]["posts"].as_array().map(Vec::len);
        assert_eq!(count, Some(5), "{posts}");
        let next = posts["next_cursor"].clone();
        // The third page is full and the last one.
        assert_eq!(next.is_string(), page < 3, "{posts}");
        arguments["cursor"] = next;
    }
    let missing = json!({ "slug": "no-such-post" });
    let said = refused(&gateway, "ghost_get_post_by_slug", missing).await;
    assert!(said.contains("Resource not found"), "{said}");
    gateway.every_tool_succeeded(&[]).await;
}
