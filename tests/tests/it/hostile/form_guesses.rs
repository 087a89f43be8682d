//! Guessing a key or a password at a connect form.

use serde_json::json;

use super::account_swap::{KEY, desk, link};
use crate::connect::press;

/// Defence: `host/gateway/src/connections/guesses.rs`, and the count of a link in `host/store/src/connect_flows.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn guessing_ends_with_the_link_and_then_for_the_user() {
    let (gateway, upstream) = desk().await;
    let ask = json!({"service": "desk", "user_id": "ada"});
    let guess = async |url: &str, n: usize| {
        let secret = format!("a-guess-of-a-key-{n:06}");
        press(&gateway, url, &[("f_secret", &secret)]).await
    };
    for of_link in 0..2 {
        let (url, _) = link(&gateway, &gateway.key, ask.clone()).await;
        for n in 0..9 {
            assert_eq!(guess(&url, n).await.status, 422, "{of_link} {n}");
        }
        let last = guess(&url, 9).await;
        assert_eq!(last.status, 410, "{}", last.text);
        assert!(last.text.contains("too many times"), "{}", last.text);
        assert_eq!(guess(&url, 10).await.status, 410);
    }
    let tried = upstream.received().len();
    assert_eq!(tried, 20);
    let (url, _) = link(&gateway, &gateway.key, ask).await;
    // The right key is no exception: an answer would be a guess too.
    for secret in ["a-guess-of-a-key-000011", KEY] {
        let page = press(&gateway, &url, &[("f_secret", secret)]).await;
        assert_eq!(page.status, 429, "{}", page.text);
        assert!(page.text.contains("Try again in"), "{}", page.text);
        let wait_s: u64 = page.header("retry-after").parse().unwrap();
        assert!((1..=600).contains(&wait_s), "{wait_s}");
    }
    assert_eq!(
        upstream.received().len(),
        tried,
        "the provider is not asked"
    );
    // Another user goes on.
    let (url, _) = link(
        &gateway,
        &gateway.key,
        json!({"service": "desk", "user_id": "bob"}),
    )
    .await;
    let page = press(&gateway, &url, &[("f_secret", KEY)]).await;
    assert!(page.text.contains("Connected"), "{}", page.text);
}
