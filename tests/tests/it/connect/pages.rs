//! `/v1/connections` page by page.

use serde_json::Value;
use tempfile::TempDir;
use toolgate_tests::provider::Provider;

use super::TOOL;
use super::processes::installation;
use super::real::{configure, connect};

#[tokio::test(flavor = "multi_thread")]
async fn pages_hold_every_connection_once_newest_first() {
    let (provider, folder) = (Provider::start().await, TempDir::new().unwrap());
    let installation = installation(folder.path(), &provider);
    let process = installation.serve(&[TOOL]).await;
    configure(&installation).await;
    let mut made = Vec::new();
    for user in ["ada", "bob", "ada", "eve", "ada"] {
        made.push((user, connect(&process, &provider, user).await));
    }
    let of = |user: Option<&str>| -> Vec<String> {
        let rows = made.iter().rev();
        let rows = rows.filter(|(of, _)| user.is_none_or(|user| user == *of));
        rows.map(|(_, id)| id.clone()).collect()
    };
    let filters = [
        ("", None),
        ("&service=github", None),
        ("&user_id=ada", Some("ada")),
        ("&user_id=ada&service=github", Some("ada")),
    ];
    for (filter, user) in filters {
        for limit in [1, 2, 3, 100] {
            let mut seen = Vec::new();
            let mut next = String::new();
            loop {
                let path = format!("/v1/connections?limit={limit}{filter}{next}");
                let page = process.get(&path).await.data();
                let rows = page["connections"].as_array().unwrap();
                assert!(rows.len() <= limit, "{path}: {page}");
                seen.extend(
                    rows.iter()
                        .map(|row| row["connection_id"].as_str().unwrap().to_owned()),
                );
                let Some(cursor) = page["next_cursor"].as_str() else {
                    break;
                };
                assert_eq!(rows.len(), limit, "{path}: only the last page is short");
                next = format!("&cursor={cursor}");
            }
            assert_eq!(seen, of(user), "limit={limit}{filter}");
        }
    }
    for wrong in ["limit=0", "limit=101", "limit=many", "cursor=nonsense"] {
        let answer = process.get(&format!("/v1/connections?{wrong}")).await;
        assert_eq!(
            (answer.status, &*answer.code()),
            (400, "invalid_request"),
            "{wrong}"
        );
    }
    let none = process.get("/v1/connections?user_id=nobody").await.data();
    assert_eq!(
        (&none["connections"], &none["next_cursor"]),
        (&serde_json::json!([]), &Value::Null)
    );
    process.kill().await;
}
