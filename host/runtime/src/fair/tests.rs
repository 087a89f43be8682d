use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use toolgate_core::trace::{self, TraceContext};

use super::CallClaim;
use super::compute::Compute;
use super::ledger::Ledger;
use super::places::{CallSlots, NoFreeSlot, SlotDecision, SlotTable, WAITING_PER_WORKSPACE};
use super::slices::slices;

const PLACES: usize = 256;

fn claim(workspace: &str, plugin: &str, key: &str) -> CallClaim {
    CallClaim {
        workspace: workspace.into(),
        plugin: plugin.into(),
        key: key.into(),
    }
}

/// Begins calls until one does not begin at once; answers how many did.
fn fill(table: &mut SlotTable, claim: &CallClaim) -> usize {
    let mut begun = 0;
    loop {
        match table.ask(claim) {
            Ok(SlotDecision::Granted) => begun += 1,
            Ok(SlotDecision::Waits((id, _))) => {
                assert!(table.leave(id));
                return begun;
            }
            Err(NoFreeSlot) => return begun,
        }
    }
}

#[test]
fn a_claimant_that_is_alone_gets_half_of_the_places() {
    let mut table = SlotTable::new(PLACES);
    let alone = claim("a", "p", "k");
    assert_eq!(fill(&mut table, &alone), PLACES / 2);
    assert_eq!(
        table.ask(&alone).map(drop),
        Err(NoFreeSlot),
        "no queue for its own load"
    );
    table.release(&alone);
    assert!(matches!(table.ask(&alone), Ok(SlotDecision::Granted)));
}

#[test]
fn a_new_claimant_gets_a_place_at_once() {
    let mut table = SlotTable::new(PLACES);
    let mut rooms = Vec::new();
    for n in 0..6 {
        rooms.push(fill(&mut table, &claim(&format!("w{n}"), "p", "k")));
    }
    assert!(rooms.iter().all(|room| *room > 0), "{rooms:?}");
    assert!(rooms[1] >= 40, "{rooms:?}");
    assert!(table.running < PLACES, "the last place is nobody's");
}

#[test]
fn keys_and_plugins_of_one_workspace_leave_room_for_one_another() {
    let mut table = SlotTable::new(PLACES);
    let greedy = fill(&mut table, &claim("a", "p", "k1"));
    let second_key = fill(&mut table, &claim("a", "p", "k2"));
    let other_plugin = fill(&mut table, &claim("a", "q", "k3"));
    let other_workspace = fill(&mut table, &claim("b", "p", "k"));
    assert_eq!(greedy, PLACES / 2);
    assert!(second_key >= 8, "{second_key}");
    assert!(other_plugin >= 8, "{other_plugin}");
    assert!(other_workspace >= 40, "{other_workspace}");
}

#[test]
fn a_waiter_gets_the_next_place_before_claimants_with_more() {
    let mut table = SlotTable::new(8);
    let greedy = claim("a", "p", "k");
    let others = ["b", "c", "d", "e"].map(|name| claim(name, "p", "k"));
    fill(&mut table, &greedy);
    for other in &others {
        let _ = fill(&mut table, other);
    }
    let running = table.running;
    assert!(running >= 7, "{running}");
    // The last one has no place yet, and waits.
    let newcomer = claim("f", "p", "k");
    let mut turn = loop {
        match table.ask(&newcomer) {
            Ok(SlotDecision::Waits((_, turn))) => break turn,
            Ok(SlotDecision::Granted) => {}
            Err(NoFreeSlot) => panic!("below its share"),
        }
    };
    assert!(turn.try_recv().is_err());
    table.release(&greedy);
    table.grant();
    assert_eq!(turn.try_recv(), Ok(()));
}

#[test]
fn a_queue_is_bounded_and_a_waiter_may_leave_it() {
    let mut table = SlotTable::new(2);
    let (first, second) = (claim("a", "p", "k"), claim("b", "p", "k"));
    assert!(matches!(table.ask(&first), Ok(SlotDecision::Granted)));
    let _ = fill(&mut table, &second);
    let newcomer = claim("c", "p", "k");
    let mut ids = Vec::new();
    for _ in 0..WAITING_PER_WORKSPACE {
        match table.ask(&newcomer) {
            Ok(SlotDecision::Waits((id, _))) => ids.push(id),
            Ok(SlotDecision::Granted) => panic!("there is no place"),
            Err(NoFreeSlot) => panic!("the queue has room"),
        }
    }
    assert_eq!(
        table.ask(&newcomer).map(drop),
        Err(NoFreeSlot),
        "the queue is full"
    );
    for id in ids {
        assert!(table.leave(id));
        assert!(!table.leave(id), "once");
    }
}

#[tokio::test]
async fn a_waiter_that_is_dropped_loses_no_place() {
    let places = Arc::new(CallSlots::new(4));
    let mut places_taken = Vec::new();
    for name in ["a", "b", "c", "d", "e", "f"] {
        let claim = claim(name, "p", "k");
        let taken = tokio::time::timeout(Duration::ZERO, places.take(&claim));
        if let Ok(Ok(place)) = taken.await {
            places_taken.push(place);
        }
    }
    let full = places.running();
    let newcomer = claim("z", "p", "k");
    let mut waiting = Box::pin(places.take(&newcomer));
    if futures_util::poll!(waiting.as_mut()).is_pending() {
        places_taken.clear();
        // Granted while nothing polled it.
        assert_eq!(places.running(), 1);
    }
    drop(waiting);
    places_taken.clear();
    assert_eq!(places.running(), 0, "after {full}");
}

#[test]
fn used_time_halves_after_its_half_life() {
    let mut ledger = Ledger::default();
    let (began, who) = (Instant::now(), claim("a", "p", "k"));
    ledger.charge(&who, Duration::from_secs(4), began);
    let used = |ledger: &Ledger, after: u64| {
        let at = began + Duration::from_secs(after);
        ledger.used(&who, at)[0]
    };
    assert!((used(&ledger, 0) - 4.0).abs() < 1e-6);
    assert!((used(&ledger, 2) - 2.0).abs() < 1e-6);
    assert!((used(&ledger, 4) - 1.0).abs() < 1e-6);
    let other_key = ledger.used(&claim("a", "p", "other"), began);
    assert_eq!(other_key[2], 0.0);
    assert!(other_key[1] > 3.9, "the plugin's use is its keys'");
}

#[test]
fn the_next_turn_is_for_the_claimant_that_has_used_least() {
    let mut ledger = Ledger::default();
    let now = Instant::now();
    let [a1, a2, b] = [("a", "1"), ("a", "2"), ("b", "1")].map(|(w, k)| claim(w, "p", k));
    ledger.charge(&a1, Duration::from_millis(30), now);
    ledger.charge(&a2, Duration::from_millis(10), now);
    ledger.charge(&b, Duration::from_millis(35), now);
    let least = |claims: &[&CallClaim]| ledger.least(claims.iter().copied(), now);
    assert_eq!(least(&[&a1, &a2, &b]), Some(2), "by workspace first");
    assert_eq!(least(&[&a1, &a2]), Some(1), "then by key");
    assert_eq!(least(&[&a1, &a1]), Some(0), "of equals the first");
    assert_eq!(least(&[]), None);
}

#[test]
fn turns_are_even_between_workspaces_with_any_number_of_calls() {
    let (mut ledger, mut now) = (Ledger::default(), Instant::now());
    let many: Vec<CallClaim> = (0..8).map(|n| claim("a", "p", &n.to_string())).collect();
    let one = claim("b", "p", "k");
    let ready: Vec<&CallClaim> = many.iter().chain([&one]).collect();
    let mut turns = 0;
    for _ in 0..1_000 {
        let at = ledger.least(ready.iter().copied(), now).expect("some");
        turns += usize::from(*ready[at] == one);
        now += Duration::from_millis(10);
        ledger.charge(ready[at], Duration::from_millis(10), now);
    }
    assert!((450..=550).contains(&turns), "{turns} of 1,000");
}

#[test]
fn two_calling_workspaces_compete_and_one_does_not() {
    let (mut ledger, began) = (Ledger::default(), Instant::now());
    let later = |seconds| began + Duration::from_secs(seconds);
    let (a, b) = (claim("a", "p", "k"), claim("b", "p", "k"));
    for _ in 0..3 {
        ledger.note_call(&a.workspace, began);
    }
    ledger.charge(&a, Duration::from_secs(9), began);
    assert!(!ledger.contended(began) && !ledger.exceeds_fair_share(&a, began));
    ledger.note_call(&b.workspace, later(1));
    assert!(ledger.contended(later(1)));
    assert!(ledger.exceeds_fair_share(&a, later(1)) && !ledger.exceeds_fair_share(&b, later(1)));
    assert!(!ledger.contended(later(9)), "over");
}

/// Computes for `turns` slices of 5 ms, as a guest does that the engine's clock interrupts.
async fn computing(turns: usize, done: Arc<AtomicUsize>) -> usize {
    for _ in 0..turns {
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(5) {
            std::hint::spin_loop();
        }
        done.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
    }
    turns
}

#[tokio::test]
async fn long_work_goes_on_elsewhere_and_is_awaited() {
    let compute = Arc::new(Compute::default());
    let done = Arc::new(AtomicUsize::new(0));
    let work = slices(&compute, claim("a", "p", "k"), computing(6, done.clone()));
    assert_eq!(work.await, 6);
    assert_eq!(done.load(Ordering::Relaxed), 6);
    let quick = slices(&compute, claim("a", "p", "k"), async {
        std::thread::current().id()
    });
    assert_eq!(quick.await, std::thread::current().id(), "short work stays");
    let timers = slices(&compute, claim("a", "p", "k"), async {
        computing(2, Arc::default()).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
        7
    });
    assert_eq!(timers.await, 7);
}

#[tokio::test]
async fn a_panic_in_long_work_reaches_its_waiter() {
    let compute = Arc::new(Compute::default());
    let work = slices(&compute, claim("a", "p", "k"), async {
        computing(3, Arc::default()).await;
        panic!("oh no");
    });
    let ended: Result<(), _> = tokio::spawn(work).await;
    assert!(ended.expect_err("it panicked").is_panic());
    let after = slices(&compute, claim("a", "p", "k"), computing(3, Arc::default()));
    assert_eq!(after.await, 3, "the threads go on");
}

#[tokio::test]
async fn work_without_a_waiter_ends() {
    let compute = Arc::new(Compute::default());
    let alive = Arc::new(());
    let kept = alive.clone();
    let mut work = Box::pin(slices(&compute, claim("a", "p", "k"), async move {
        let _kept = kept;
        computing(1_000_000, Arc::default()).await
    }));
    while futures_util::poll!(work.as_mut()).is_pending() && Arc::strong_count(&alive) < 2 {
        tokio::task::yield_now().await;
    }
    drop(work);
    let over = async {
        while Arc::strong_count(&alive) > 1 {
            tokio::task::yield_now().await;
        }
    };
    let over = tokio::time::timeout(Duration::from_secs(30), over).await;
    assert!(over.is_ok(), "it still runs");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn work_stays_in_the_trace_of_its_call_on_the_threads_that_compute() {
    let compute = Compute::default();
    let caller = TraceContext::new(1, 2, true);
    let work = async {
        let first = trace::current();
        tokio::task::yield_now().await;
        (first, trace::current())
    };
    let asked = async { compute.run(claim("w", "p", "k"), work).await };
    let seen = trace::adopt(Some(caller.clone()), asked).await;
    assert_eq!(seen, (Some(caller.clone()), Some(caller)));
}
