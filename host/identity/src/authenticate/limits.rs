//! What a key's limits let through, by one process and by several.

use std::net::IpAddr;
use std::sync::Arc;

use crate::Identity;
use crate::testing::{IdentityWorld, NOW_MS};
use toolgate_core::clock::Clock;
use toolgate_core::ids;
use toolgate_operation::limits::{UNKNOWN_KEYS_PER_MINUTE, share};
use toolgate_operation::{Error, RateLimited, RateWindow, Scope};
use toolgate_store::Plan;

async fn ask(gateway: &Arc<Identity>, key: &str, address: Option<IpAddr>) -> Result<(), Error> {
    let asked = gateway.authenticate(Some(key), ids::ulid("req"), address);
    asked.await.map(drop)
}

/// How many of `tries` requests pass, and what the first refusal says.
async fn passed(world: &IdentityWorld, key: &str, tries: usize) -> (usize, Option<RateLimited>) {
    let (mut passed, mut refusal) = (0, None);
    for _ in 0..tries {
        match ask(world, key, None).await {
            Ok(()) => passed += 1,
            Err(Error::RateLimited(limited)) => {
                refusal.get_or_insert(limited);
            }
            Err(other) => panic!("{other}"),
        }
    }
    (passed, refusal)
}

#[tokio::test]
async fn a_key_passes_exactly_its_limit_and_learns_when_to_come_back() {
    for (rpm, rpd, tries, most, window, limit, retry_after_s) in [
        (Some(7), None, 9, 7, RateWindow::Minute, 7, 30),
        (
            Some(1_000),
            None,
            1_010,
            1_000,
            RateWindow::Minute,
            1_000,
            30,
        ),
        (None, Some(5), 8, 5, RateWindow::Day, 5, 52_170),
        (Some(5), Some(5), 8, 5, RateWindow::Day, 5, 52_170),
        (Some(3), Some(5), 8, 3, RateWindow::Minute, 3, 30),
    ] {
        let world = IdentityWorld::open().await;
        let key = world.key_with(rpm, rpd).await;
        let (count, refusal) = passed(&world, &key, tries).await;
        let refusal = refusal.unwrap();
        assert_eq!(count, most, "{rpm:?} {rpd:?}");
        assert_eq!((refusal.window, refusal.limit), (window, limit));
        assert_eq!(refusal.retry_after_s, retry_after_s, "{rpm:?} {rpd:?}");
    }
}

#[tokio::test]
async fn a_window_opens_again_at_the_moment_it_was_said_to() {
    let world = IdentityWorld::open().await;
    let key = world.key_with(Some(2), None).await;
    let (_, refusal) = passed(&world, &key, 3).await;
    let wait_ms = i64::try_from(refusal.unwrap().retry_after_s).unwrap() * 1_000;
    world.clock.advance_ms(wait_ms - 1);
    let (count, refusal) = passed(&world, &key, 1).await;
    assert_eq!((count, refusal.unwrap().retry_after_s), (0, 1));
    world.clock.advance_ms(1);
    assert_eq!(passed(&world, &key, 3).await.0, 2);
}

#[tokio::test]
async fn a_plan_limits_all_keys_of_a_workspace_together() {
    for (plan, rpm, most) in [
        (Plan::Free, None, Some(10)),
        (Plan::Pro, None, Some(100)),
        (Plan::Free, Some(3), Some(3)),
        (Plan::Enterprise, Some(4), Some(4)),
        (Plan::Enterprise, None, None),
    ] {
        let world = IdentityWorld::open().await;
        let workspace = world.store().create_workspace("planned", plan, rpm, NOW_MS);
        let workspace = workspace.await.unwrap();
        let keys = [
            world.key_in(&workspace, &[Scope::ToolsRead]).await,
            world.key_in(&workspace, &[Scope::ToolsRead]).await,
        ];
        let mut count = 0;
        for _ in 0..60 {
            for key in &keys {
                count += usize::from(ask(&world, key, None).await.is_ok());
            }
        }
        assert_eq!(count, most.unwrap_or(120), "{plan} {rpm:?}");
    }
}

#[tokio::test]
async fn refused_requests_do_not_count() {
    let world = IdentityWorld::open().await;
    let key = world.key_with(Some(1), Some(3)).await;
    for minute in 0..3 {
        assert_eq!(passed(&world, &key, 5).await.0, 1, "minute {minute}");
        world.clock.advance_ms(60_000);
    }
    assert_eq!(
        passed(&world, &key, 1).await.1.unwrap().window,
        RateWindow::Day
    );
}

#[tokio::test]
async fn many_at_once_pass_exactly_the_limit() {
    let world = IdentityWorld::open().await;
    let key = world.key_with(Some(40), None).await;
    let asked = (0..100).map(|_| ask(&world, &key, None));
    let answers = futures_util::future::join_all(asked).await;
    let passed = answers.iter().filter(|answer| answer.is_ok()).count();
    assert_eq!(passed, 40);
}

#[tokio::test]
async fn processes_together_overshoot_by_at_most_a_share_each() {
    const LIMIT: i64 = 50;
    for processes in [2, 3] {
        let world = IdentityWorld::open().await;
        let key = world.key_with(Some(50), None).await;
        let mut others = vec![world.identity.clone()];
        for _ in 1..processes {
            others.push(world.sibling(Clock::manual(NOW_MS)).await);
        }
        let mut passed = 0;
        for _ in 0..LIMIT {
            for gateway in &others {
                passed += i64::from(ask(gateway, &key, None).await.is_ok());
            }
        }
        let most = LIMIT + (processes - 1) * share(LIMIT);
        assert!(
            (LIMIT..=most).contains(&passed),
            "{passed} of {LIMIT} in {processes}"
        );
    }
}

#[tokio::test]
async fn counts_survive_a_restart() {
    let world = IdentityWorld::open().await;
    let key = world.key_with(Some(30), None).await;
    assert_eq!(passed(&world, &key, 20).await.0, 20);
    world.add_up_counts().await.unwrap();
    let after = world.sibling(Clock::manual(NOW_MS)).await;
    let mut count = 0;
    for _ in 0..30 {
        count += i64::from(ask(&after, &key, None).await.is_ok());
    }
    // It learns of the others with its first look, after a share.
    assert!((10..=10 + share(30)).contains(&count), "{count}");
}

#[tokio::test]
async fn an_address_that_tries_unknown_keys_is_throttled() {
    let world = IdentityWorld::open().await;
    let good = world.key(&[Scope::ToolsRead]).await;
    let here: IpAddr = "192.0.2.7".parse().unwrap();
    assert!(ask(&world, &good, Some(here)).await.is_ok());
    for n in 0..UNKNOWN_KEYS_PER_MINUTE {
        let refused = ask(&world, &format!("tg_live_{n:043}"), Some(here)).await;
        assert_eq!(refused.unwrap_err().code(), "invalid_api_key", "{n}");
    }
    let unknown = format!("tg_live_{:043}", 999_999);
    let refused = ask(&world, &unknown, Some(here)).await.unwrap_err();
    assert_eq!(refused.code(), "rate_limit_exceeded");
    // A good key passes, whether this process has seen it or not, and also one that was made just now.
    assert!(ask(&world, &good, Some(here)).await.is_ok());
    let restarted = world.sibling(world.clock.clone()).await;
    assert!(ask(&restarted, &good, Some(here)).await.is_ok());
    let fresh = world.key(&[Scope::ToolsRead]).await;
    assert!(ask(&world, &fresh, Some(here)).await.is_ok());
    let refused = ask(&world, &unknown, Some(here)).await.unwrap_err();
    assert_eq!(refused.code(), "rate_limit_exceeded");
    // Other addresses are other people.
    let there: IpAddr = "192.0.2.8".parse().unwrap();
    let refused = ask(&world, &unknown, Some(there)).await.unwrap_err();
    assert_eq!(refused.code(), "invalid_api_key");
    world.clock.advance_ms(60_000);
    let refused = ask(&world, &unknown, Some(here)).await.unwrap_err();
    assert_eq!(refused.code(), "invalid_api_key");
}

#[tokio::test]
async fn an_unknown_key_costs_no_write() {
    let world = IdentityWorld::open().await;
    let before = world.log_bytes();
    for n in 0..50 {
        let refused = ask(&world, &format!("tg_live_{n:043}"), None).await;
        assert_eq!(refused.unwrap_err().code(), "invalid_api_key");
    }
    assert_eq!(world.log_bytes(), before);
    assert!(world.known_keys.take_uses().is_empty());
    let _counted = world.key_with(Some(1), None).await;
    assert!(world.log_bytes() > before, "a write is seen");
}
