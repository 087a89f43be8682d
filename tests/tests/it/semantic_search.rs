//! Search by meaning over the wire: what health says, what changes with the model, what happens when it
//! has too much to do or its files are not the pinned ones.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use toolgate_tests::gateway::{Options, TestGateway, built_plugin};
use toolgate_tests::process::{Installation, program};
use toolgate_tests::search::{installed_model, model_folder};

/// Shares no word with any tool of the plugins below, nor a synonym: words alone find nothing.
const UNWORDED: &str = "applaud with smiley";
const MEANT: &str = "slack_add_reaction";

fn options(database_url: Option<String>) -> Options {
    let plugins = ["github", "slack", "notion"].map(|service| {
        let component = built_plugin(service).expect("the plugin was built");
        (format!("{service}.wasm"), component)
    });
    Options {
        plugins: plugins.into(),
        database_url,
        ..Options::default()
    }
}

/// Lays the model into a data folder without copying it.
fn lay_model(data_dir: &Path) {
    let folder = toolgate_search::embeddings::files::folder(data_dir);
    std::fs::create_dir_all(&folder).unwrap();
    for file in std::fs::read_dir(installed_model().unwrap()).unwrap() {
        let file = file.unwrap();
        std::os::unix::fs::symlink(file.path(), folder.join(file.file_name())).unwrap();
    }
}

async fn search(gateway: &TestGateway, query: &str) -> Value {
    let query = query.replace(' ', "+");
    let path = format!("/v1/tools/search?query={query}");
    gateway.get(&path).await.data()
}

async fn wait_for_model(gateway: &TestGateway, state: &str) {
    let what = format!("the model to be {state}");
    let said = async || gateway.get("/v1/health").await.data()["search_model"] == state;
    gateway.wait(&what, said).await;
}

macro_rules! on_both {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() { super::$name(None).await })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                let url = tokio::task::spawn_blocking(toolgate_tests::postgres::fresh_url);
                super::$name(Some(url.await.unwrap())).await
            })+
        }
    };
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_without_the_model_leaves_its_files_alone() {
    let folder = tempfile::tempdir().unwrap();
    let data_dir = folder.path().join("data");
    std::fs::create_dir_all(&data_dir).unwrap();
    lay_model(&data_dir);
    let gateway = TestGateway::start(Options {
        data_dir: Some(data_dir),
        no_model: true,
        ..options(None)
    })
    .await;
    let health = gateway.get("/v1/health").await.data();
    assert_eq!(health["search"], "lexical");
    assert_eq!(health["search_model"], "off");
    let found = search(&gateway, "create an issue").await;
    assert_eq!(found["ranking"], "lexical");
    assert_eq!(found["lexical_reason"], "model_off");
}

on_both!(a_model_that_arrives_while_serving_changes_what_is_found);

async fn a_model_that_arrives_while_serving_changes_what_is_found(database_url: Option<String>) {
    let gateway = TestGateway::start(options(database_url)).await;
    let health = gateway.get("/v1/health").await.data();
    assert_eq!(health["search"], "lexical");
    assert_eq!(health["search_model"], "not_installed");
    let by_words = search(&gateway, UNWORDED).await;
    assert_eq!(by_words["ranking"], "lexical");
    assert_eq!(by_words["lexical_reason"], "model_not_installed");
    assert_eq!(by_words["confidence"], "none", "{by_words}");
    assert_ne!(by_words["tools"][0]["name"], MEANT, "{by_words}");

    lay_model(&gateway.config.gateway.data_dir);
    wait_for_model(&gateway, "ready").await;
    assert_eq!(gateway.get("/v1/health").await.data()["search"], "hybrid");
    let by_meaning = search(&gateway, UNWORDED).await;
    assert_eq!(by_meaning["ranking"], "hybrid");
    assert_eq!(by_meaning.get("lexical_reason"), None);
    assert_eq!(by_meaning["tools"][0]["name"], MEANT, "{by_meaning}");
    let reasons = by_meaning["tools"][0]["match_reasons"].as_array().unwrap();
    let told = |reason: &Value| reason.as_str().unwrap().starts_with("meaning: 0.");
    assert!(reasons.iter().any(told), "{reasons:?}");
    // A tool's full name stays on top, and what nothing answers is said to be so.
    let named = search(&gateway, "github_create_issue").await;
    assert_eq!(named["tools"][0]["name"], "github_create_issue");
    let hopeless = search(&gateway, "water the plants").await;
    assert_eq!(hopeless["confidence"], "none", "{hopeless}");

    // A text that has its vector is not embedded again.
    let store = gateway.gateway.store();
    let tools = gateway.get("/v1/health").await.data()["tools"].clone();
    let kept = async || {
        let all = store.list_tool_vectors("all-MiniLM-L6-v2 8-bit 2").await;
        all.unwrap()
    };
    let before = kept().await;
    assert!(
        before.len() as u64 > tools.as_u64().unwrap(),
        "texts and titles"
    );
    let words = built_plugin("jira").expect("the plugin was built");
    gateway.drop_file("jira.wasm", &words);
    gateway.wait_for_file("jira.wasm", "active").await;
    let ready = async || {
        let health = gateway.get("/v1/health").await.data();
        let more = health["tools"].as_u64() > tools.as_u64();
        more && health["search_model"] == "ready" && kept().await.len() > before.len()
    };
    gateway.wait("vectors of the new tools", ready).await;
    let after = kept().await;
    for one in &before {
        assert!(after.contains(one));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_new_queries_at_once_are_answered_by_words_and_say_so() {
    let gateway = TestGateway::start(options(None)).await;
    lay_model(&gateway.config.gateway.data_dir);
    wait_for_model(&gateway, "ready").await;
    // As long as a query may be, so that each keeps the model busy for milliseconds.
    let long = "please find everything that people wrote about the last release of it ".repeat(8);
    let mut asked = tokio::task::JoinSet::new();
    for number in 0..200 {
        let text = format!("create an issue {number} {long}").replace(' ', "+");
        let request = gateway
            .client
            .get(gateway.url(&format!("/v1/tools/search?query={text}")))
            .bearer_auth(&gateway.key);
        asked.spawn(async move {
            let answer = request.send().await.unwrap();
            assert_eq!(answer.status(), 200);
            let body: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
            body["data"].clone()
        });
    }
    let answers = asked.join_all().await;
    let told = |ranking: &str| {
        let of = answers.iter().filter(|found| found["ranking"] == ranking);
        of.cloned().collect::<Vec<_>>()
    };
    let (hybrid, lexical) = (told("hybrid"), told("lexical"));
    assert!(!hybrid.is_empty() && !lexical.is_empty());
    for found in &lexical {
        assert_eq!(found["lexical_reason"], "overloaded");
    }
    // Afterwards there is time for meaning again.
    assert_eq!(search(&gateway, UNWORDED).await["ranking"], "hybrid");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_model_is_not_used_until_it_is_replaced() {
    let gateway = TestGateway::start(options(None)).await;
    let folder = toolgate_search::embeddings::files::folder(&gateway.config.gateway.data_dir);
    std::fs::create_dir_all(&folder).unwrap();
    let (from, tokenizer) = (installed_model().unwrap(), folder.join("tokenizer.json"));
    let text = std::fs::read_to_string(from.join("tokenizer.json")).unwrap();
    std::fs::write(&tokenizer, format!("{text} ")).unwrap();
    let weights = "model.int8.safetensors";
    std::os::unix::fs::symlink(from.join(weights), folder.join(weights)).unwrap();
    wait_for_model(&gateway, "failed").await;
    let found = search(&gateway, UNWORDED).await;
    assert_eq!(found["ranking"], "lexical");
    assert_eq!(found["lexical_reason"], "model_failed");
    std::fs::write(&tokenizer, text).unwrap();
    wait_for_model(&gateway, "ready").await;
    assert_eq!(search(&gateway, UNWORDED).await["ranking"], "hybrid");
}

#[tokio::test(flavor = "multi_thread")]
async fn model_install_takes_the_pinned_files_from_a_folder_and_no_others() {
    let folder = TempDir::new().unwrap();
    let installation = Installation::new(folder.path(), &[]);
    let status = installation.run(&["model", "status"]).await;
    assert_eq!(status["installed"], false);

    let wrong = folder.path().join("wrong");
    std::fs::create_dir(&wrong).unwrap();
    std::fs::write(wrong.join("tokenizer.json"), "{}").unwrap();
    std::fs::write(wrong.join("model.safetensors"), "").unwrap();
    let data_dir = folder.path().join("data");
    let refused = std::process::Command::new(program())
        .args(["model", "install", "--from"])
        .arg(&wrong)
        .arg("--data-dir")
        .arg(&data_dir)
        .output()
        .unwrap();
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("SHA-256"), "{said}");
    let installed = toolgate_search::embeddings::files::folder(&data_dir);
    assert_eq!(std::fs::read_dir(&installed).unwrap().count(), 0);

    let from = model_folder().unwrap();
    let from = from.to_str().unwrap();
    let done = installation
        .run(&["model", "install", "--from", from])
        .await;
    assert_eq!(done["installed"], true, "{done}");
    let bytes = std::fs::read_dir(&installed).unwrap();
    let bytes = bytes.map(|file| file.unwrap().metadata().unwrap().len());
    assert!(bytes.sum::<u64>() < 30_000_000, "nothing else is left");
    std::fs::write(installed.join("tokenizer.json"), "{}").unwrap();
    let damaged = installation.run(&["model", "status"]).await;
    assert_eq!(damaged["installed"], false);
    assert!(damaged["problem"].as_str().unwrap().contains("SHA-256"));
}
