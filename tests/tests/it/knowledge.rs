//! Knowledge across the wire: documents of every kind, hostile ones too, and several processes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::{Value, json};
use toolgate_tests::gateway::{Answer, Options, TestGateway, client, new_key};
use toolgate_tests::{pdf, postgres};

const DOCUMENTS: &str = "/v1/knowledge/documents";

async fn add(gateway: &TestGateway, media_type: &str, bytes: &[u8]) -> Answer {
    let body = json!({"media_type": media_type, "content_base64": STANDARD.encode(bytes)});
    gateway.post(DOCUMENTS, &body).await
}

async fn search(gateway: &TestGateway, key: &str, query: &str) -> Vec<Value> {
    let path = format!("/v1/knowledge/search?query={query}&limit=20");
    let answer = gateway.send(Method::GET, &path, Some(key), None).await;
    answer.data()["passages"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pdf_is_found_by_page_and_gone_once_it_is_deleted() {
    let gateway = TestGateway::start(Options::default()).await;
    let file = pdf::pages(&[
        "The harbour opens at six",
        "",
        "Boats are hired at pier nine",
    ]);
    let added = add(&gateway, "application/pdf", &file).await;
    assert_eq!(added.status, 201, "{}", added.text);
    let document = added.data();
    assert_eq!(document["pages"], 3);
    assert_eq!(document["title"], "The harbour opens at six");
    let id = document["document_id"].as_str().unwrap();

    let found = search(&gateway, &gateway.key, "hire+a+boat").await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["document_id"], id);
    assert_eq!(found[0]["text"], "Boats are hired at pier nine");
    assert_eq!(found[0]["position"]["page"], 3);
    let path = format!("{DOCUMENTS}/{id}");
    let content = gateway.get(&path).await.data()["content"]
        .as_str()
        .unwrap()
        .to_owned();
    let at = |key: &str| found[0]["position"][key].as_u64().unwrap() as usize;
    assert_eq!(
        &content[at("starts_at")..at("ends_at")],
        "Boats are hired at pier nine"
    );

    let deleted = gateway
        .send(Method::DELETE, &path, Some(&gateway.key), None)
        .await;
    assert_eq!(deleted.data(), json!({"document_id": id, "deleted": true}));
    assert!(search(&gateway, &gateway.key, "boat").await.is_empty());
    assert_eq!(gateway.get(&path).await.code(), "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_and_repeats_has_one_document() {
    let gateway = TestGateway::start(Options::default()).await;
    let pages: Vec<String> = (0..300).map(|n| format!("Page {n} of the log")).collect();
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    let content = STANDARD.encode(pdf::pages(&pages));
    let body = json!({"media_type": "application/pdf", "content_base64": content}).to_string();
    let add = || {
        client()
            .post(gateway.url(DOCUMENTS))
            .bearer_auth(&gateway.key)
            .header("content-type", "application/json")
            .header("idempotency-key", "the-log")
            .body(body.clone())
    };
    // Gone while the file is read, if it is not read by then.
    let _ = add()
        .timeout(std::time::Duration::from_millis(60))
        .send()
        .await;
    let again = async || Answer::read(add().send().await.unwrap()).await;
    gateway
        .wait("the first request to end", async || {
            again().await.status != 409
        })
        .await;
    let added = again().await;
    assert_eq!(added.status, 201, "{}", added.text);
    let listed = gateway.get(DOCUMENTS).await.data();
    let documents = listed["documents"].as_array().unwrap();
    assert_eq!(documents.len(), 1, "{listed}");
    assert_eq!(documents[0]["document_id"], added.data()["document_id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_files_are_refused_and_the_gateway_goes_on() {
    let gateway = TestGateway::start(Options::default()).await;
    let cycle = pdf::file(&[
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Count 1 /Kids [2 0 R 2 0 R] >>".to_owned(),
    ]);
    let nested = pdf::file(&[format!(
        "<< /Type /Catalog /Pages {}{} >>",
        "[".repeat(200_000),
        "]".repeat(200_000)
    )]);
    let lying = pdf::file(&[
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Count 2147483647 /Kids [3 0 R] >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /Contents 3 0 R >>".to_owned(),
    ]);
    let mut cut = pdf::pages(&["a sound file"]);
    cut.truncate(cut.len() / 2);
    let mut noise = b"%PDF-1.7\n".to_vec();
    noise.extend((0..100_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8));
    for (what, file) in [
        ("cycle", cycle),
        ("nested", nested),
        ("lying", lying),
        ("cut", cut),
        ("noise", noise),
        ("empty", Vec::new()),
        ("no text", pdf::pages(&["", ""])),
    ] {
        let answer = add(&gateway, "application/pdf", &file).await;
        assert_eq!(
            (answer.status, &*answer.code()),
            (400, "invalid_request"),
            "{what}"
        );
    }
    let deep = "<div><table><b><i>".repeat(150_000);
    let answer = add(&gateway, "text/html", deep.as_bytes()).await;
    assert_eq!((answer.status, &*answer.code()), (400, "invalid_request"));
    let listed = gateway.get(DOCUMENTS).await.data();
    assert_eq!(listed["documents"], json!([]));
    let sound = add(&gateway, "text/html", b"<h1>Still</h1><p>serving").await;
    assert_eq!(sound.status, 201, "{}", sound.text);
    assert_eq!(search(&gateway, &gateway.key, "serve").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_are_bounded_and_say_what_is_wrong() {
    let gateway = TestGateway::start(Options::default()).await;
    for (body, field) in [
        (json!({"media_type": "text/plain"}), "content"),
        (
            json!({"media_type": "text/plain", "content": "a", "content_base64": "YQ=="}),
            "content",
        ),
        (
            json!({"media_type": "image/png", "content": "a"}),
            "media_type",
        ),
        (
            json!({"media_type": "text/plain", "content": "a", "text": "b"}),
            "text",
        ),
    ] {
        let refused = gateway.post(DOCUMENTS, &body).await;
        assert_eq!((refused.status, &*refused.code()), (400, "invalid_request"));
        assert!(refused.text.contains(field), "{}", refused.text);
    }
    let large = json!({"media_type": "text/plain", "content": "x".repeat(3 << 20)});
    assert_eq!(
        gateway.post(DOCUMENTS, &large).await.code(),
        "invalid_request"
    );
    let larger = json!({"media_type": "text/plain", "content": "x".repeat(7 << 20)});
    let refused = gateway.post(DOCUMENTS, &larger).await;
    assert_eq!(
        (refused.status, &*refused.code()),
        (413, "payload_too_large")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idempotency_key_adds_a_document_once() {
    let gateway = TestGateway::start(Options::default()).await;
    let body = json!({"media_type": "text/plain", "content": "once only"}).to_string();
    let mut ids = Vec::new();
    for _ in 0..2 {
        let answer = gateway
            .client
            .post(gateway.url(DOCUMENTS))
            .header("authorization", format!("Bearer {}", gateway.key))
            .header("content-type", "application/json")
            .header("idempotency-key", "add-1")
            .body(body.clone())
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 201);
        let answer: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        ids.push(answer["data"]["document_id"].clone());
    }
    assert_eq!(ids[0], ids[1]);
    assert_eq!(search(&gateway, &gateway.key, "once").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_on_one_postgres_see_each_others_documents() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        TestGateway::start(Options {
            database_url: Some(url.clone()),
            master_key_file: Some(folder.path().join("master.key")),
            ..Options::default()
        })
    };
    let (one, two) = (start().await, start().await);
    let key = new_key(&two.gateway, "two", toolgate_gateway::Scope::ALL)
        .await
        .unwrap();
    let mut ids = Vec::new();
    for n in 0..5 {
        let added = add(&one, "text/markdown", format!("# Heron {n}").as_bytes()).await;
        ids.push(added.data()["document_id"].as_str().unwrap().to_owned());
        assert_eq!(search(&two, &key, "heron").await.len(), n + 1);
    }
    for (n, id) in ids.iter().enumerate() {
        let path = format!("{DOCUMENTS}/{id}");
        two.send(Method::DELETE, &path, Some(&key), None)
            .await
            .data();
        for (gateway, key) in [(&one, &one.key), (&two, &key)] {
            assert_eq!(search(gateway, key, "heron").await.len(), 4 - n);
        }
    }
}
