//! A request that waits when its key is revoked: what comes afterwards is not for it.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use toolgate_gateway::Scope;
use toolgate_gateway::identity::keys;
use toolgate_tests::gateway::{Answer, new_key, operator};
use toolgate_tests::upstream::Upstream;

use super::spy;
use crate::connect::press;

/// Defence: `host/gateway/src/connections/wait.rs` looks the caller up again when it has waited.
#[tokio::test(flavor = "multi_thread")]
async fn a_wait_for_a_connection_ends_with_its_key() {
    let upstream = Upstream::start(|_| spy::answers("application/json", "{}")).await;
    let paths = json!({ "/things": spy::reads("things", json!([])) });
    let gateway = &spy::gateway(&spy::description(&spy::bearer(), paths), &upstream).await;
    let scopes = [Scope::Connections, Scope::UsersAny];
    let admin = operator(&gateway.gateway).await.unwrap();
    let (store, clock) = (gateway.gateway.store(), gateway.gateway.clock());
    for (revoked, user) in [(false, "ada"), (true, "bob")] {
        let key = new_key(&gateway.gateway, user, &scopes).await.unwrap();
        let link = json!({ "service": "spy", "user_id": user });
        let link = gateway.post("/v1/connections/link", &link).await.data();
        let path = format!("/v1/connections?user_id={user}&wait=30");
        let held = gateway.client.get(gateway.url(&path)).bearer_auth(&key);
        let held = tokio::spawn(held.send());
        // Until it waits: nothing is there to be seen of it.
        tokio::time::sleep(Duration::from_millis(500)).await;
        if revoked {
            keys::revoke(store, &admin, user, clock.now_ms())
                .await
                .unwrap();
        }
        let url = link["connect_url"].as_str().unwrap();
        let page = press(gateway, url, &[("f_secret", spy::TOKEN)]).await;
        assert_eq!(page.status, 200, "{}", page.text);
        let answer = Answer::read(held.await.unwrap().unwrap()).await;
        if revoked {
            assert_eq!((answer.status, &*answer.code()), (401, "invalid_api_key"));
        } else {
            let id = answer.data()["connections"][0]["connection_id"].clone();
            assert_eq!(id, link["connection_id"], "{}", answer.text);
        }
        let fresh = gateway.send(Method::GET, &path, Some(&key), None);
        assert_eq!(fresh.await.status == 200, !revoked);
    }
}
