//! S3: objects with unusual names, their versions and files.

use reqwest::Method;
use serde_json::{Value, json};

use super::super::calls::{ServiceGateway, answer, refused, run};
use super::{Moto, run_each};

const BUCKET: &str = "acme-reports";
/// Its objects have versions.
const HISTORY: &str = "acme-history";
/// With everything that addresses and signatures encode.
const KEY: &str = "2026/grün & a+b (1)='%'.csv";

fn object(key: &str) -> Value {
    json!({ "bucket": BUCKET, "key": key })
}

async fn writes_and_reads(gateway: &ServiceGateway) {
    let mut write = json!({
        "bucket": BUCKET, "key": KEY, "text": "day;sum\n1;2\n", "media_type": "text/csv",
        "metadata": { "Team": "sales" },
    });
    let new = run(gateway, "s3_write_text", write.clone()).await;
    assert_eq!(new["bytes"], 12, "{new}");
    let said = refused(gateway, "s3_write_text", write.clone()).await;
    assert!(said.contains("say overwrite to replace it"), "{said}");
    (write["text"], write["overwrite"]) = (json!("grün"), json!(true));
    let newer = run(gateway, "s3_write_text", write).await;
    assert_ne!(new["etag"], newer["etag"], "{newer}");
    let empty = json!({ "bucket": BUCKET, "key": "empty.txt", "text": "" });
    let file =
        json!({ "bucket": BUCKET, "content": "data:text/plain;name=hello.txt;base64,aGVsbG8=" });
    run_each(
        gateway,
        &[
            ("s3_read_text", object(KEY), "/text", json!("grün")),
            ("s3_get_object_info", object(KEY), "/bytes", json!(5)),
            (
                "s3_get_object_info",
                object(KEY),
                "/metadata",
                json!({ "team": "sales" }),
            ),
            (
                "s3_get_object_info",
                object(KEY),
                "/media_type",
                json!("text/csv"),
            ),
            ("s3_write_text", empty, "/bytes", json!(0)),
            ("s3_read_text", object("empty.txt"), "/text", json!("")),
            ("s3_upload_object", file, "/key", json!("hello.txt")),
        ],
    )
    .await;
    let got = answer(gateway, "s3_download_object", object("hello.txt")).await;
    assert_eq!(got["result"]["bytes"], 5, "{got}");
    assert_eq!(got["files"][0]["content"], "aGVsbG8=", "{got}");
    for tool in ["s3_read_text", "s3_download_object"] {
        let said = refused(gateway, tool, object("none")).await;
        assert!(said.contains("key does not exist"), "{tool}: {said}");
    }
}

/// All keys of the bucket, one a page.
async fn keys(gateway: &ServiceGateway) -> Vec<Value> {
    let mut page = json!({ "bucket": BUCKET, "limit": 1 });
    let mut keys = Vec::new();
    loop {
        let listed = answer(gateway, "s3_list_objects", page.clone()).await;
        assert_eq!(
            listed["result"].as_array().map(Vec::len),
            Some(1),
            "{listed}"
        );
        keys.push(listed["result"][0]["key"].clone());
        page["cursor"] = listed["next_cursor"].clone();
        if page["cursor"].is_null() {
            return keys;
        }
    }
}

async fn lists_moves_and_deletes(gateway: &ServiceGateway) {
    assert_eq!(keys(gateway).await, [KEY, "empty.txt", "hello.txt"]);
    let copy = json!({ "bucket": BUCKET, "key": KEY, "to_key": "old/a b.csv" });
    let rename = json!({ "bucket": BUCKET, "key": "hello.txt", "to_key": "old/hello.txt" });
    run_each(
        gateway,
        &[
            ("s3_copy_object", copy, "/key", json!("old/a b.csv")),
            ("s3_move_object", rename, "/key", json!("old/hello.txt")),
            (
                "s3_get_object_info",
                object("old/a b.csv"),
                "/metadata/team",
                json!("sales"),
            ),
            (
                "s3_read_text",
                object("old/hello.txt"),
                "/text",
                json!("hello"),
            ),
            (
                "s3_list_objects",
                json!({ "bucket": BUCKET, "prefix": "2026/grün ", "folders": true }),
                "/0/key",
                json!(KEY),
            ),
            (
                "s3_delete_object",
                object("empty.txt"),
                "/deleted",
                json!("empty.txt"),
            ),
            (
                "s3_list_objects",
                json!({ "bucket": BUCKET, "folders": true }),
                "",
                json!([{ "folder": "2026/" }, { "folder": "old/" }]),
            ),
        ],
    )
    .await;
}

/// Two contents of one object and its deletion are three versions.
async fn brings_back_a_version(gateway: &ServiceGateway) {
    let read = json!({ "bucket": HISTORY, "key": "a.txt" });
    for text in ["one", "two"] {
        let write = json!({ "bucket": HISTORY, "key": "a.txt", "text": text, "overwrite": true });
        run(gateway, "s3_write_text", write).await;
    }
    let deleted = run(gateway, "s3_delete_object", read.clone()).await;
    refused(gateway, "s3_read_text", read.clone()).await;
    let mut page = json!({ "bucket": HISTORY, "prefix": "a.txt", "limit": 1 });
    let mut versions = Vec::new();
    for _ in 0..3 {
        let listed = answer(gateway, "s3_list_object_versions", page.clone()).await;
        versions.push(listed["result"][0].clone());
        page["cursor"] = listed["next_cursor"].clone();
    }
    assert!(page["cursor"].is_null(), "{versions:?}");
    assert_eq!(versions[0]["deleted"], true, "{versions:?}");
    assert_eq!(versions[0]["version"], deleted["version"], "{versions:?}");
    let mut oldest = read.clone();
    oldest["version"] = versions[2]["version"].clone();
    let mut mark = read.clone();
    mark["version"] = deleted["version"].clone();
    run_each(
        gateway,
        &[
            ("s3_read_text", oldest, "/text", json!("one")),
            ("s3_delete_object", mark, "/deleted", json!("a.txt")),
            ("s3_read_text", read, "/text", json!("two")),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_that_moto_stores_are_written_listed_moved_and_brought_back() {
    let moto = Moto::start().await;
    let versioned = "<VersioningConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
                     <Status>Enabled</Status></VersioningConfiguration>";
    for (query, body) in [("", ""), ("?versioning", versioned)] {
        let path = format!("/{HISTORY}{query}");
        moto.ask(Method::PUT, "s3", &path, ("application/xml", body))
            .await;
    }
    moto.check_signatures().await;
    let gateway = moto.checked_gateway("s3", "s3").await;
    run(&gateway, "s3_create_bucket", json!({ "bucket": BUCKET })).await;
    let buckets = run(&gateway, "s3_list_buckets", json!({})).await;
    let names: Vec<&Value> = buckets
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["bucket"])
        .collect();
    assert_eq!(names, [HISTORY, BUCKET], "{buckets}");
    writes_and_reads(&gateway).await;
    lists_moves_and_deletes(&gateway).await;
    brings_back_a_version(&gateway).await;
    gateway.every_tool_succeeded(&[]).await;
}
