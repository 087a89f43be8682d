//! Refresh tokens that a client presents more than once: several processes share one, and answers are lost. And copies
//! in other hands.

use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use toolgate_core::clock::Clock;
use toolgate_gateway::identity::apps::tokens::{KEPT, OVERLAP_MS};
use toolgate_store::Role;
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::postgres;

use super::way::{App, AppTokens, MemberBrowser, error_of, form, gateway, gateway_with, is_let_in};
use super::whole::actions;

const NOW_MS: i64 = 1_795_167_030_000;

async fn with_clock(database_url: Option<String>) -> (TestGateway, Clock) {
    let clock = Clock::manual(NOW_MS);
    let options = Options {
        clock: Some(clock.clone()),
        database_url,
        ..Options::default()
    };
    (gateway_with(options).await, clock)
}

async fn renewed(app: &App<'_>, refresh: &str) -> AppTokens {
    AppTokens::read(&app.refresh(refresh, &[]).await)
}

async fn two_at_once(database_url: Option<String>) {
    let (gateway, _) = &with_clock(database_url).await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let app = App::new(gateway).await;
    let got = app.connect(&person).await;
    let none = [];
    let all = (0..4).map(|_| app.refresh(&got.refresh, &none));
    let all = futures_util::future::join_all(all).await;
    let all: Vec<_> = all.iter().map(AppTokens::read).collect();
    for tokens in &all {
        assert!(is_let_in(gateway, &tokens.access).await);
    }
    // Whichever of them the client has kept goes on, and so do the others that were not overwritten.
    let last = renewed(&app, &all[3].refresh).await;
    assert!(is_let_in(gateway, &last.access).await);
    assert!(is_let_in(gateway, &renewed(&app, &all[0].refresh).await.access).await);
    assert_eq!(person.apps().await.len(), 1, "one grant");
}

#[tokio::test(flavor = "multi_thread")]
async fn refreshes_at_the_same_time_are_all_answered_on_sqlite() {
    two_at_once(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refreshes_at_the_same_time_are_all_answered_on_postgresql() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url);
    two_at_once(Some(url.await.unwrap())).await;
}

/// The client hangs up before it has read the answer, and asks again.
#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_whose_answer_was_lost_is_answered_again() {
    let gateway = &gateway().await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let app = App::new(gateway).await;
    let got = app.connect(&person).await;
    let body = form(&[
        ("grant_type", "refresh_token"),
        ("client_id", &app.id),
        ("refresh_token", &got.refresh),
    ]);
    let address = gateway.url("").replace("http://", "");
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let request = format!(
        "POST /oauth/token HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/x-www-form-urlencoded\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    // The answer has arrived and is not read.
    tokio::time::timeout(Duration::from_secs(60), stream.readable())
        .await
        .unwrap()
        .unwrap();
    drop(stream);
    let tokens = renewed(&app, &got.refresh).await;
    assert!(is_let_in(gateway, &tokens.access).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_token_is_good_again_until_its_successor_was_used() {
    let (gateway, clock) = &with_clock(None).await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let app = App::new(gateway).await;
    let first = app.connect(&person).await;
    let lost = renewed(&app, &first.refresh).await;
    // However late: the answer has not arrived.
    clock.advance_ms(24 * 60 * 60 * 1_000);
    let second = renewed(&app, &first.refresh).await;
    let third = renewed(&app, &second.refresh).await;
    // Within a minute of that also the others, of the same client.
    clock.advance_ms(OVERLAP_MS);
    assert!(is_let_in(gateway, &renewed(&app, &lost.refresh).await.access).await);
    // And then no more: somebody has a copy.
    clock.advance_ms(1);
    assert!(is_let_in(gateway, &third.access).await);
    let refused = app.refresh(&first.refresh, &[]).await;
    assert_eq!(error_of(&refused), (400, "invalid_grant".into()));
    assert!(
        !is_let_in(gateway, &third.access).await,
        "the grant has ended"
    );
    let person = MemberBrowser::sign_in(gateway, "ada@example.com").await;
    assert_eq!(person.apps().await.len(), 0);
    let told = actions(gateway).await;
    assert!(
        told.iter()
            .any(|(action, _)| action == "apps.refresh_reused")
    );
}

/// Two who hold tokens of one generation, and renew them at different times, are found out.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_is_renewed_beside_its_original_ends_the_grant() {
    let (gateway, clock) = &with_clock(None).await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let app = App::new(gateway).await;
    let first = app.connect(&person).await;
    let (own, copied) = (
        renewed(&app, &first.refresh).await,
        renewed(&app, &first.refresh).await,
    );
    clock.advance_ms(30 * 60 * 1_000);
    let own = renewed(&app, &own.refresh).await;
    clock.advance_ms(OVERLAP_MS + 1);
    let refused = app.refresh(&copied.refresh, &[]).await;
    assert_eq!(error_of(&refused), (400, "invalid_grant".into()));
    assert!(!is_let_in(gateway, &own.access).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repetition_is_for_the_client_of_the_grant_alone_and_bounded() {
    let (gateway, clock) = &with_clock(None).await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let (app, other) = (App::new(gateway).await, App::new(gateway).await);
    let first = app.connect(&person).await;
    let second = renewed(&app, &first.refresh).await;
    for refresh in [&first.refresh, &second.refresh] {
        let refused = other.refresh(refresh, &[]).await;
        assert_eq!(error_of(&refused), (400, "invalid_grant".into()));
    }
    assert!(
        is_let_in(gateway, &second.access).await,
        "nothing has ended"
    );
    let mut last = second.clone();
    for _ in 0..usize::try_from(KEPT.access).unwrap() {
        clock.advance_ms(1);
        last = renewed(&app, &first.refresh).await;
    }
    assert!(is_let_in(gateway, &last.access).await);
    // The oldest have made room.
    let refused = app.refresh(&second.refresh, &[]).await;
    assert_eq!(error_of(&refused), (400, "invalid_grant".into()));
    assert!(is_let_in(gateway, &renewed(&app, &last.refresh).await.access).await);
}
