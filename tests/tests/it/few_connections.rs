//! A PostgreSQL of few connections: a gateway takes what is free and works with it, and what finds none is refused soon.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::json;
use sqlx::{Connection as _, PgConnection};
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{Answer, Options, TestGateway};
use toolgate_tests::postgres::Own;

/// Of them three are for superusers.
const CONNECTIONS: u32 = 13;
/// Taken by other programs before the gateway starts.
const OTHERS: usize = 4;
/// Two operations that wait for a connection, and the rest of the request.
const SOON: Duration = Duration::from_secs(6);
/// At one time: several for each connection. Each has some operations, and none may wait for two seconds.
const CALLS: usize = 20;
const RUN: &str = "/v1/tools/plain_run/execute";

/// A server, and the URL of a role that is no superuser.
fn server() -> (Own, String) {
    let own = Own::prepare();
    own.start_small(CONNECTIONS);
    own.run("CREATE ROLE app LOGIN");
    own.run("CREATE DATABASE app OWNER app");
    let url = own
        .url
        .replace("postgres@localhost/postgres", "app@localhost/app");
    (own, url)
}

/// On a busy machine some calls wait for a connection longer than they may; those are refused in words that say so.
fn answers_or_refuses(calls: &[Answer]) {
    let refused: Vec<&Answer> = calls.iter().filter(|call| call.status != 200).collect();
    for call in &refused {
        assert_eq!(call.code(), "overloaded", "{}", call.text);
    }
    assert!(refused.len() <= CALLS / 2, "most calls are refused");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_works_with_the_connections_that_are_free_and_refuses_soon_without_any() {
    let (own, url) = tokio::task::spawn_blocking(server).await.unwrap();
    let mut others = Vec::new();
    for _ in 0..OTHERS {
        others.push(PgConnection::connect(&url).await.unwrap());
    }
    let gateway = TestGateway::start(Options {
        plugins: vec![("plain.wasm".to_owned(), Fixture::new("plain").build())],
        database_url: Some(url.clone()),
        ..Options::default()
    })
    .await;
    // Ten, without those of the others and one; connections of the start may not have ended when it counts.
    let pools = gateway.gateway.store().pools();
    let size = pools[0].idle + pools[0].used;
    assert!((2..=5).contains(&size), "{pools:?}");

    // Others take the rest.
    while let Ok(other) = PgConnection::connect(&url).await {
        others.push(other);
        assert!(
            others.len() < CONNECTIONS as usize,
            "the server never fills"
        );
    }
    let body = json!({ "arguments": {} });
    let calls = join_all((0..CALLS).map(|_| gateway.post(RUN, &body))).await;
    answers_or_refuses(&calls);
    assert_eq!(gateway.get("/readyz").await.status, 200);

    // None is left for the gateway.
    tokio::task::block_in_place(|| {
        own.run("ALTER ROLE app CONNECTION LIMIT 0");
        own.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'toolgate'",
        );
    });
    gateway
        .wait("readyz to say so", async || {
            gateway.get("/readyz").await.status == 503
        })
        .await;
    let began = Instant::now();
    let refused = gateway.post(RUN, &body).await;
    assert_eq!(
        (refused.status, &*refused.code()),
        (503, "overloaded"),
        "{}",
        refused.text
    );
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());

    tokio::task::block_in_place(|| own.run("ALTER ROLE app CONNECTION LIMIT -1"));
    drop(others);
    gateway
        .wait("readyz to be well again", async || {
            gateway.get("/readyz").await.status == 200
        })
        .await;
    // On a busy machine the server may still end the connections of the others.
    gateway
        .wait("a call to be answered", async || {
            gateway.post(RUN, &body).await.status == 200
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_of_the_role_bounds_the_pool() {
    let prepared = tokio::task::spawn_blocking(|| {
        let (own, url) = server();
        own.run("ALTER ROLE app CONNECTION LIMIT 6");
        (own, url)
    });
    let (own, url) = prepared.await.unwrap();
    let gateway = TestGateway::start(Options {
        plugins: vec![("plain.wasm".to_owned(), Fixture::new("plain").build())],
        database_url: Some(url),
        ..Options::default()
    })
    .await;
    let pools = gateway.gateway.store().pools();
    let size = pools[0].idle + pools[0].used;
    assert!((2..=5).contains(&size), "{pools:?}");
    let body = json!({ "arguments": {} });
    let calls = join_all((0..CALLS).map(|_| gateway.post(RUN, &body))).await;
    answers_or_refuses(&calls);
    drop(own);
}
