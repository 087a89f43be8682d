//! A key that is revoked through one gateway is dead on all, from the moment of the answer.

use super::Replicas;

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_key_is_dead_on_all_at_once() {
    let replicas = Replicas::start(&[], &[]).await;
    for n in 0..5 {
        let name = format!("short-{n}");
        let made = replicas.installations[n % 3]
            .run(&["key", "create", "--name", &name])
            .await;
        let key = made["key"].as_str().unwrap();
        let asks = async |base: &str| {
            let asked = Replicas::client()
                .get(format!("{base}/v1/status"))
                .bearer_auth(key);
            asked.send().await.unwrap().status().as_u16()
        };
        let bases = replicas.processes.iter().map(|process| &process.base);
        let bases: Vec<&String> = bases.chain([&replicas.balancer.base]).collect();
        // Each remembers it.
        for base in &bases {
            assert_eq!(asks(base).await, 200, "{base}");
        }
        replicas.installations[(n + 1) % 3]
            .run(&["key", "revoke", &name])
            .await;
        let after = bases.iter().map(|base| asks(base));
        let after = futures_util::future::join_all(after).await;
        assert_eq!(after, [401; 4]);
    }
}
