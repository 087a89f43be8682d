//! MediaWiki in the place of Wikipedia: articles, links, categories and revisions.

use std::path::PathBuf;

use serde_json::{Value, json};
use tokio::process::Command;

use super::calls::{ServiceGateway, answer, refused, run};
use super::php;
use super::server::{RealServer, installed};

const SETTINGS: &str = "MW_CONFIG_FILE";

/// What Wikipedia runs beside MediaWiki.
const NOT_MEDIAWIKI: &[(&str, &str)] = &[
    (
        "wikipedia_get_summary",
        "`/api/rest_v1` is a service of Wikimedia of its own, and no part of MediaWiki",
    ),
    (
        "wikipedia_find_articles_nearby",
        "the extension GeoData is not in the package",
    ),
    (
        "wikipedia_get_page_views",
        "the statistics are a service of wikimedia.org",
    ),
    (
        "wikipedia_list_most_read",
        "the statistics are a service of wikimedia.org",
    ),
];

const ADA: &str = "'''Ada Lovelace''' was the first computer programmer. [[File:Portrait.png|thumb|Portrait]]\n\n\
    == Life ==\nA daughter of [[Lord Byron]].\n\n== Work ==\nNotes on the [[Analytical Engine]] and on [[AC/DC]].\n\n\
    [[Category:Mathematicians]]\n[[de:Ada Lovelace]]\n";

/// The smallest picture.
pub(super) const PORTRAIT: &[u8] = include_bytes!("../../../real_servers/portrait.png");

/// A script of MediaWiki.
fn maintenance(server: &RealServer, script: &str) -> Command {
    let mut command = php::php();
    command
        .arg(wiki().join("maintenance").join(script))
        .env(SETTINGS, server.path("LocalSettings.php"))
        .current_dir(server.folder.path());
    command
}

fn wiki() -> PathBuf {
    installed().join("root/usr/share/mediawiki")
}

/// A wiki with three articles, of which one has two revisions and a picture.
async fn start() -> RealServer {
    let mut server = RealServer::new();
    let mut install = maintenance(&server, "install.php");
    install
        .args(["--dbtype", "sqlite", "--dbname", "wiki", "--dbpath"])
        .arg(server.path("data"))
        .arg("--confpath")
        .arg(server.folder.path())
        .args(["--server", &server.url, "--scriptpath", "/w"])
        .args(["--pass", "0123456789abcdef", "Encyclopedia", "Ada"])
        // The settings that it is about to write.
        .env_remove(SETTINGS);
    server.finish(&mut install).await;
    let settings = server.path("LocalSettings.php");
    let written = std::fs::read_to_string(&settings).unwrap();
    let images = server.path("images");
    // Debian's own belongs to the user of the web server, and files in /tmp to who made them first.
    let cache = server.path("cache");
    std::fs::create_dir(&cache).unwrap();
    let more = format!(
        "{written}\n$wgArticlePath = '/wiki/$1';\nwfLoadExtension( 'TextExtracts' );\n$wgJobRunRate = 0;\n\
         $wgEnableUploads = true;\n$wgUseImageMagick = false;\n$wgUploadPath = '/images';\n\
         $wgUploadDirectory = '{}';\n$wgCacheDirectory = $wgTmpDirectory = '{}';\n\
         $wgShowExceptionDetails = true;\n",
        images.display(),
        cache.display()
    );
    std::fs::write(&settings, more).unwrap();

    let german = "INSERT INTO interwiki (iw_prefix, iw_url, iw_local, iw_trans, iw_api, iw_wikiid) \
        VALUES ('de', 'https://de.wikipedia.org/wiki/$1', 1, 0, '', '')";
    let mut interwiki = maintenance(&server, "sql.php");
    server.finish(interwiki.args(["--query", german])).await;
    let pictures = server.write("pictures/Portrait.png", PORTRAIT);
    let mut import = maintenance(&server, "importImages.php");
    server.finish(import.arg(pictures.parent().unwrap())).await;
    let first = server.write("first/Ada Lovelace", "Ada was a countess.");
    let mut import = maintenance(&server, "importTextFiles.php");
    server.finish(import.arg(first)).await;
    let mut import = maintenance(&server, "importTextFiles.php");
    import.args(["--overwrite", "--summary", "Say what she did"]);
    for (title, text) in [
        ("Ada Lovelace", ADA),
        (
            "Lord Byron",
            "The father of [[Ada Lovelace]]. [[Category:Poets]]",
        ),
        (
            "Analytical Engine",
            "[[Ada Lovelace]] wrote of it. [[Category:Machines]]",
        ),
    ] {
        import.arg(server.write(&format!("second/{title}"), text));
    }
    server.finish(&mut import).await;
    server
        .finish(&mut maintenance(&server, "runJobs.php"))
        .await;

    let site = server.path("site");
    std::fs::create_dir(&site).unwrap();
    std::os::unix::fs::symlink(wiki(), site.join("w")).unwrap();
    php::serve(&mut server, &site, None, (SETTINGS, &settings));
    server.answers("/w/api.php").await;
    server
}

/// The tools that name an article by one argument and answer what a pointer finds.
const OF_ADA: &[(&str, &str, &str, &str)] = &[
    ("get_source", "title", "/title", "Ada Lovelace"),
    ("get_text", "titles", "/title", "Ada Lovelace"),
    ("list_sections", "page", "/sections/1/line", "Work"),
    ("list_languages", "title", "/0/code", "de"),
    ("list_media", "title", "/0/title", "Portrait.png"),
    (
        "list_categories",
        "titles",
        "/query/pages/0/categories/0/title",
        "Category:Mathematicians",
    ),
    (
        "list_revisions",
        "title",
        "/revisions/0/comment",
        "Say what she did",
    ),
];

async fn reads_articles(gateway: &ServiceGateway) {
    for (tool, key, pointer, expected) in OF_ADA {
        let found = run(
            gateway,
            &format!("wikipedia_{tool}"),
            json!({ *key: "Ada Lovelace" }),
        )
        .await;
        assert_eq!(
            found.pointer(pointer),
            Some(&json!(expected)),
            "{tool}: {found}"
        );
    }
    let words = json!({ "q": "programmer", "limit": 5 });
    let found = run(gateway, "wikipedia_search_pages", words).await;
    assert_eq!(found[0]["title"], "Ada Lovelace", "{found}");
    let found = run(gateway, "wikipedia_complete_title", json!({ "q": "Ada" })).await;
    assert_eq!(found[0]["title"], "Ada Lovelace", "{found}");
    let html = run(
        gateway,
        "wikipedia_get_html",
        json!({ "title": "Ada Lovelace" }),
    )
    .await;
    assert!(html.to_string().contains("Analytical Engine"), "{html}");
    let section = json!({ "page": "Ada Lovelace", "section": "1" });
    let section = run(gateway, "wikipedia_get_section", section).await;
    assert!(section.to_string().contains("Lord Byron"), "{section}");
    let file = json!({ "title": "File:Portrait.png" });
    let file = run(gateway, "wikipedia_get_file", file).await;
    assert_eq!(file["original"]["width"], 40, "{file}");
    let random = run(
        gateway,
        "wikipedia_list_random_articles",
        json!({ "rnlimit": 2 }),
    )
    .await;
    assert_eq!(random.as_array().map(Vec::len), Some(2), "{random}");
}

/// A page of a list at a time, as long as there is one more.
async fn all_pages(
    gateway: &ServiceGateway,
    tool: &str,
    mut arguments: Value,
    list: &str,
) -> Vec<Value> {
    let mut found = Vec::new();
    loop {
        let mut page = answer(gateway, tool, arguments.clone()).await;
        let entries = page["result"].pointer_mut(list);
        let entries = entries.unwrap_or_else(|| panic!("{tool} has no {list}"));
        let Value::Array(entries) = entries.take() else {
            panic!("{tool} has no list");
        };
        found.extend(entries);
        assert!(found.len() < 20, "{tool} does not end: {found:?}");
        match page["next_cursor"].take() {
            Value::Null => return found,
            cursor => arguments["cursor"] = cursor,
        }
    }
}

async fn follows_links(gateway: &ServiceGateway) {
    let links = json!({ "titles": "Ada Lovelace", "pllimit": 1 });
    let links = all_pages(
        gateway,
        "wikipedia_list_links",
        links,
        "/query/pages/0/links",
    )
    .await;
    let titles: Vec<&Value> = links.iter().map(|link| &link["title"]).collect();
    assert_eq!(titles, ["AC/DC", "Analytical Engine", "Lord Byron"]);
    let backlinks = json!({ "bltitle": "Ada Lovelace", "bllimit": 1 });
    let backlinks = all_pages(
        gateway,
        "wikipedia_list_backlinks",
        backlinks,
        "/query/backlinks",
    )
    .await;
    assert_eq!(backlinks.len(), 2, "{backlinks:?}");
    let members = json!({ "cmtitle": "Category:Poets", "cmtype": "page", "cmlimit": 1 });
    let members = all_pages(
        gateway,
        "wikipedia_list_category_members",
        members,
        "/query/categorymembers",
    )
    .await;
    assert_eq!(members[0]["title"], "Lord Byron", "{members:?}");
}

async fn compares_revisions(gateway: &ServiceGateway) {
    let revisions = json!({ "title": "Ada Lovelace" });
    let revisions = run(gateway, "wikipedia_list_revisions", revisions).await;
    let (newer, older) = (
        &revisions["revisions"][0]["id"],
        &revisions["revisions"][1]["id"],
    );
    // MediaWiki 1.43 redirects a title with a space to an address with `{type}` in it.
    let count = json!({ "title": "Ada_Lovelace", "type": "edits" });
    let count = run(gateway, "wikipedia_count_edits", count).await;
    assert_eq!(count["count"], 2, "{count}");
    let revision = run(gateway, "wikipedia_get_revision", json!({ "id": older })).await;
    assert_eq!(revision["source"], "Ada was a countess.", "{revision}");
    let pair = json!({ "from": older, "to": newer });
    let difference = run(gateway, "wikipedia_compare_revisions", pair).await;
    assert!(
        difference.to_string().contains("programmer"),
        "{difference}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn articles_of_a_real_mediawiki_are_found_read_and_compared() {
    let server = start().await;
    let hosts = ["en.wikipedia.org", "wikimedia.org"];
    let gateway = ServiceGateway::in_place_of("wikipedia", &server, &hosts).await;
    reads_articles(&gateway).await;
    follows_links(&gateway).await;
    compares_revisions(&gateway).await;

    let missing = json!({ "title": "Charles Babbage" });
    let said = refused(&gateway, "wikipedia_get_source", missing).await;
    assert!(said.contains("does not exist"), "{said}");
    // The action API says this with status 200.
    let missing = json!({ "page": "Charles Babbage", "section": "1" });
    let said = refused(&gateway, "wikipedia_get_section", missing).await;
    assert!(said.contains("page you specified doesn't exist"), "{said}");
    gateway.every_tool_succeeded(NOT_MEDIAWIKI).await;
}
