//! SIGKILL of gateways again and again under a mixed load, and the loss of the database's primary; then the
//! books are checked: what was acknowledged is there, and no write reached the service twice.
//!
//! `make kills KILLS=200` kills more often than a run of all tests, and waits at the end until nothing is
//! in progress any more.

use std::time::{Duration, Instant};

use toolgate_tests::notes::NotesGateways;
use toolgate_tests::notes::clients::Load;
use toolgate_tests::patroni::Patroni;
use toolgate_tests::pooler::Pooler;
use toolgate_tests::postgres;
use toolgate_tests::process::wait;

/// Kills of a run of all tests.
const KILLS: usize = 5;
/// Between two requests of a client, so that checking keeps up with the load.
const PAUSE: Duration = Duration::from_millis(10);

/// Kills gateways in turn while clients of all of them go on.
async fn run(mut gateways: NotesGateways) {
    let asked = std::env::var("TOOLGATE_TEST_KILLS").ok();
    let kills = asked.as_ref().map_or(KILLS, |text| text.parse().unwrap());
    let load = Load::start(&gateways, PAUSE);
    for kill in 0..kills {
        // At another point of the work each time.
        let after = Duration::from_millis(100 + (kill as u64 * 37) % 200);
        tokio::time::sleep(after).await;
        let n = kill % gateways.installations.len();
        gateways.take(n).kill().await;
        gateways.serve(n).await;
        gateways.check(n).await;
    }
    let books = load.end(&gateways, asked.is_some()).await;
    println!("{kills} kills, {books}");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_gateways_lose_nothing_and_write_nothing_twice_on_sqlite() {
    run(NotesGateways::start(None, 1).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_gateways_lose_nothing_and_write_nothing_twice_on_postgresql() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url);
    run(NotesGateways::start(Some(url.await.unwrap()), 2).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_gateways_lose_nothing_and_write_nothing_twice_behind_pgbouncer() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .unwrap();
    let pooler = Pooler::start(&url).await;
    run(NotesGateways::start(Some(pooler.url.clone()), 2).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_gateways_lose_nothing_and_write_nothing_twice_behind_pgbouncer_in_transaction_mode()
{
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .unwrap();
    let pooler = Pooler::start_in_transaction_mode(&url, 200).await;
    run(NotesGateways::start(Some(pooler.url.clone()), 2).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_primary_of_postgresql_loses_nothing_and_gateways_go_on_by_themselves() {
    let cluster = Patroni::start().await;
    let gateways = NotesGateways::start(Some(cluster.url.clone()), 3).await;
    let load = Load::start(&gateways, PAUSE);
    let written = || gateways.books.open().written.len();
    wait("writes", async || written() > 50).await;
    cluster.lose_primary().await;
    let lost = Instant::now();
    // What was under way may still be answered.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let before = written();
    wait("writes after the loss", async || written() > before + 50).await;
    let recovered = lost.elapsed();
    let settled = std::env::var_os("TOOLGATE_TEST_KILLS").is_some();
    let books = load.end(&gateways, settled).await;
    println!("writes went on {recovered:.1?} after the loss of the primary; {books}");
}
