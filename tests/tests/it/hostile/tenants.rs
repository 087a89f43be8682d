//! One tenant takes all it can get: places for calls, and time on the processors.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_gateway::Scope;
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{
    Options, PATIENCE, TestGateway, built_plugin, client, key_of, new_tenant,
};
use toolgate_tests::holding::Holding;

/// Runs a tool; answers the status and how long it took.
async fn call(client: &reqwest::Client, url: String, key: &str, body: &Value) -> (u16, Duration) {
    let began = Instant::now();
    let request = client.post(url).bearer_auth(key);
    let request = request.header("content-type", "application/json");
    let answer = request.body(body.to_string()).send().await.unwrap();
    let status = answer.status().as_u16();
    let _ = answer.bytes().await;
    (status, began.elapsed())
}

/// Defence: `host/runtime/src/fair/places.rs` keeps room for who has less.
#[tokio::test(flavor = "multi_thread")]
async fn slow_calls_of_one_tenant_refuse_no_call_of_another() {
    let Holding {
        address,
        arrived,
        open,
    } = Holding::start().await;
    let gateway = TestGateway::start(Options {
        plugins: vec![
            (
                "prometheus.wasm".to_owned(),
                built_plugin("prometheus").unwrap(),
            ),
            ("quick.wasm".to_owned(), Fixture::new("quick").build()),
        ],
        ..Options::default()
    })
    .await;
    let set = [("api_base".to_owned(), format!("http://{address}"))];
    toolgate_tests::gateway::configure(&gateway.gateway, "prometheus", &set)
        .await
        .unwrap();
    let (greedy, greedy_workspace) = new_tenant(&gateway.gateway, "greedy").await.unwrap();
    let (modest, _) = new_tenant(&gateway.gateway, "modest").await.unwrap();
    let colleague = key_of(&gateway.gateway, &greedy_workspace, "colleague", Scope::ALL)
        .await
        .unwrap();

    let url = gateway.url("/v1/tools/prometheus_query/execute");
    let body = json!({ "arguments": { "query": "42" } });
    let slow: Vec<_> = (0..160)
        .map(|_| {
            let (url, greedy, body) = (url.clone(), greedy.clone(), body.clone());
            tokio::spawn(async move { call(&client(), url, &greedy, &body).await.0 })
        })
        .collect();
    let held = toolgate_runtime::limits::CALLS_MAX as u32;
    let all_in = tokio::time::timeout(PATIENCE, arrived.acquire_many(held)).await;
    all_in
        .expect("the greedy tenant has its share")
        .unwrap()
        .forget();

    let quick = gateway.url("/v1/tools/quick_run/execute");
    let client = client();
    for key in [&modest, &colleague] {
        for _ in 0..50 {
            let (status, _) = call(&client, quick.clone(), key, &json!({ "arguments": {} })).await;
            assert_eq!(status, 200);
        }
    }
    let mut statuses: Vec<u16> = Vec::new();
    open.notify_waiters();
    let letting_go = tokio::spawn(async move {
        loop {
            open.notify_waiters();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    for one in slow {
        statuses.push(one.await.unwrap());
    }
    letting_go.abort();
    // Beyond its own share the greedy tenant is told so, and nobody else is.
    assert!(
        statuses.iter().all(|status| [200, 503].contains(status)),
        "{statuses:?}"
    );
    assert!(statuses.contains(&503) && statuses.contains(&200));
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Defence: `host/runtime/src/fair/compute.rs` runs what computes for long on other threads, in turns.
#[tokio::test(flavor = "multi_thread")]
async fn endless_loops_of_one_tenant_hold_up_no_call_of_another() {
    let endless = Fixture::new("endless").invoke("(loop (br 0)) (call $ok)");
    let gateway = TestGateway::start(Options {
        plugins: vec![
            ("endless.wasm".to_owned(), endless.build()),
            ("quick.wasm".to_owned(), Fixture::new("quick").build()),
        ],
        ..Options::default()
    })
    .await;
    let (greedy, _) = new_tenant(&gateway.gateway, "greedy").await.unwrap();
    let (modest, _) = new_tenant(&gateway.gateway, "modest").await.unwrap();
    let (quick, body) = (
        gateway.url("/v1/tools/quick_run/execute"),
        json!({ "arguments": {} }),
    );
    let one_client = client();
    let measure = async |count: usize| {
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let (status, took) = call(&one_client, quick.clone(), &modest, &body).await;
            assert_eq!(status, 200);
            times.push(took);
        }
        median(times)
    };
    measure(50).await;
    let alone = measure(200).await;
    let endless = gateway.url("/v1/tools/endless_run/execute");
    let loops: Vec<_> = (0..8)
        .map(|_| {
            let (url, greedy) = (endless.clone(), greedy.clone());
            tokio::spawn(async move {
                call(&client(), url, &greedy, &json!({ "arguments": {} }))
                    .await
                    .0
            })
        })
        .collect();
    gateway
        .wait("the loops to run", async || {
            let text = gateway.gateway.metrics().render();
            text.lines().any(|line| {
                line.strip_prefix("toolgate_executions_running ")
                    .is_some_and(|count| count.parse::<u32>().unwrap_or_default() >= 8)
            })
        })
        .await;
    let beside = measure(200).await;
    for one in loops {
        one.abort();
    }
    // Twice, and on a machine that others use too, some milliseconds of the scheduler's.
    let bound = alone * 2 + Duration::from_millis(10);
    assert!(
        beside < bound,
        "{alone:?} alone, {beside:?} beside eight endless loops"
    );
}
