//! A hostile plugin searches its whole memory for the credential that its requests carried.

use serde_json::json;
use toolgate_tests::gateway::{Options, TestGateway, built_plugin};
use toolgate_tests::upstream::Received;

use super::bait::{BAIT, echo, forms, hunt};
use super::press;

const PATHS: [&str; 7] = [
    "/echo",
    "/encoded",
    "/chunks",
    "/redirect",
    "/within",
    "/refuse",
    "/leaking",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_planted_token_is_nowhere_in_a_guests_memory() {
    let (upstream, elsewhere) = (echo().await, echo().await);
    let gateway = TestGateway::start(Options {
        plugins: vec![("hunter.wasm".to_owned(), built_plugin("hunter").unwrap())],
        allow_upstream: vec![
            format!("api.hunter.test={}", upstream.url()),
            format!("elsewhere.hunter.test={}", elsewhere.url()),
        ],
        ..Options::default()
    })
    .await;
    let link = gateway
        .post("/v1/connections/link", &json!({"service": "hunter"}))
        .await
        .data();
    let page = press(
        &gateway,
        link["connect_url"].as_str().unwrap(),
        &[("f_secret", BAIT)],
    )
    .await;
    assert_eq!(page.status, 200, "{}", page.text);

    for (path, second_door) in PATHS
        .iter()
        .flat_map(|path| [(*path, false), (*path, true)])
    {
        let case = format!("{path}, second door: {second_door}");
        let before = upstream.received().len();
        let arguments = hunt(path, second_door);
        let answer = gateway.execute("hunter_hunt", arguments).await;
        assert_eq!(answer["status"], "success", "{case}: {answer}");
        let result = &answer["result"];
        let found: Vec<u64> = serde_json::from_value(result["found"].clone()).unwrap();
        // A redirect that carries the credential to another host is not followed.
        let followed = path != "/leaking";
        assert_eq!(found[0] > 0, followed, "{case}: it can search: {answer}");
        assert!(
            found[1..].iter().all(|times| *times == 0),
            "{case}: {found:?}"
        );
        assert_eq!(result["surroundings"], json!([]), "{case}");

        let received = upstream.received()[before..].to_vec();
        let carried = |request: &Received| {
            let bearer = format!("Bearer {BAIT}");
            request.headers.iter().any(|(_, value)| *value == bearer)
                && request.target.starts_with("/botbait")
                && request.target.contains("key=bait")
        };
        assert_eq!(received.len(), 1 + usize::from(path == "/within"), "{case}");
        assert!(received.iter().all(carried), "{case}: {received:?}");
    }
    // One redirect for each door was followed to another host, with nothing of the credential.
    let other = elsewhere.received();
    assert_eq!(other.len(), 2, "{other:?}");
    assert!(!format!("{other:?}").contains("bait"), "{other:?}");
    let crashed = gateway
        .execute("hunter_crash", json!({"path": "/echo"}))
        .await;
    assert_eq!(crashed["reason"], "plugin_crashed", "{crashed}");
    for form in forms(BAIT) {
        assert!(!crashed.to_string().contains(&form), "{crashed}");
    }
}
