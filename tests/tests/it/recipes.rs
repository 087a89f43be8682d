//! `docs/recipes.md`: each recipe is run as it is there, in the order of the page, against a real gateway.

use std::path::Path;
use std::process::Stdio;

use axum::body::Body;
use axum::http::Response;
use tempfile::TempDir;
use tokio::process::Command;
use toolgate_tests::gateway::{Options, PATIENCE, TestGateway, built_plugin};
use toolgate_tests::process::program;
use toolgate_tests::upstream::Upstream;

const RECIPES: usize = 10;
const TITLE: &str = "My YC app: Dropbox";

/// A service in Hacker News' place.
pub(crate) async fn hacker_news() -> Upstream {
    Upstream::start(|request| {
        let body = match &*request.target {
            "/v0/topstories.json" => "[8863,9224]".to_owned(),
            "/v0/item/8863.json" => {
                serde_json::json!({ "id": 8863, "type": "story", "title": TITLE }).to_string()
            }
            _ => "null".to_owned(),
        };
        let mut answer = Response::new(Body::from(body));
        let json = "application/json".parse().unwrap();
        answer.headers_mut().insert("content-type", json);
        answer
    })
    .await
}

/// A page of the documentation: the first block of code of each section by the section's heading.
fn sections(page: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(page);
    let text = std::fs::read_to_string(path).unwrap();
    let parts = text.split("\n## ").skip(1);
    let sections = parts.map(|part| {
        let (title, _) = part.split_once('\n').unwrap();
        (title.to_owned(), shell(part).to_owned())
    });
    sections.collect()
}

/// The first commands of a text.
pub(crate) fn shell(text: &str) -> &str {
    let (_, rest) = text.split_once("\n```sh\n").expect("commands");
    rest.split_once("\n```").expect("an end").0
}

/// What the commands of a page are run against.
struct Recipes {
    gateway: TestGateway,
    news: Upstream,
    receiver: Upstream,
    folder: TempDir,
    /// The function with which the page sends requests.
    function: String,
}

impl Recipes {
    async fn start() -> Self {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/recipes.md");
        let page = std::fs::read_to_string(page).unwrap();
        let news = hacker_news().await;
        let receiver = Upstream::start(|_| Response::new(Body::empty())).await;
        let folder = tempfile::tempdir().unwrap();
        let gateway = TestGateway::start(Options {
            plugins: vec![(
                "hackernews.wasm".into(),
                built_plugin("hackernews").unwrap(),
            )],
            allow_upstream: vec![
                format!("hacker-news.firebaseio.com={}", news.url()),
                format!("hooks.example.test={}", receiver.url()),
            ],
            data_dir: Some(folder.path().join("data")),
            ..Options::default()
        })
        .await;
        Self {
            gateway,
            news,
            receiver,
            folder,
            function: shell(&page).to_owned(),
        }
    }

    async fn run(&self, commands: &str) -> String {
        let own = program().canonicalize().unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::iter::once(own.parent().unwrap().to_owned()).chain(std::env::split_paths(&path));
        let output = Command::new("bash")
            .args(["-euc", &format!("{}\n{commands}", self.function)])
            .current_dir(self.folder.path())
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("TOOLGATE_URL", self.gateway.url(""))
            .env("TOOLGATE_API_KEY", &self.gateway.key)
            .env("TOOLGATE_DATA_DIR", self.folder.path().join("data"))
            .env("RECEIVER", "https://hooks.example.test/failed")
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(PATIENCE, output).await;
        let output = output.expect("it ends in time").unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let log = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{commands}\n{said}\n{log}");
        said
    }

    /// Checks what a recipe printed; `sent`: the requests that Hacker News got meanwhile.
    async fn check(&self, title: &str, said: &str, sent: usize) {
        let words: &[&str] = match title {
            "Find a tool and run it" => &["hackernews_list_top_stories", TITLE],
            "See what a call would send" => {
                &["https://hacker-news.firebaseio.com/v0/item/8863.json"]
            }
            "Make a key that may only look" => {
                &["hackernews_list_top_stories", "refused with status 3"]
            }
            "Ask a person before a tool runs" => &["waits for a person", "\"approved\"", "9224"],
            "Give a client a fixed list of tools" => {
                &["\"hackernews_list_top_stories\"", "\"hackernews_get_item\""]
            }
            "Repeat a call that may have been done" => &[TITLE],
            "Find out what was sent" => &[TITLE, "exe_", "/v0/item/8863.json"],
            "Answer from your own documents" => &["\"passages\":[{", "120 EUR"],
            "Hear of every failed call" => &["webhook.test"],
            "Write a procedure that agents follow" => &["\"skills\":[{", "Morning news"],
            other => panic!("no check for the recipe {other}"),
        };
        for word in words {
            assert!(said.contains(word), "{title}: {word} in {said}");
        }
        let expected = match title {
            "Find a tool and run it"
            | "Ask a person before a tool runs"
            | "Repeat a call that may have been done"
            | "Find out what was sent" => 1,
            _ => 0,
        };
        assert_eq!(sent, expected, "{title}: {said}");
        if title == "Repeat a call that may have been done" {
            let ids = said.split("\"execution_id\":\"").skip(1);
            let ids: Vec<&str> = ids.filter_map(|rest| rest.split('"').next()).collect();
            assert!(ids.len() == 2 && ids[0] == ids[1], "{ids:?} in {said}");
        }
        if title == "Hear of every failed call" {
            let arrived = async || !self.receiver.received().is_empty();
            self.gateway.wait("the test event", arrived).await;
            let event = &self.receiver.received()[0];
            assert_eq!(event.target, "/failed");
            assert!(event.body.contains("webhook.test"), "{event:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_recipe_does_what_the_page_says() {
    let recipes = Recipes::start().await;
    let sections = sections("docs/recipes.md");
    assert_eq!(sections.len(), RECIPES);
    for (title, commands) in sections {
        let before = recipes.news.received().len();
        let said = recipes.run(&commands).await;
        let sent = recipes.news.received().len() - before;
        recipes.check(&title, &said, sent).await;
    }
}
