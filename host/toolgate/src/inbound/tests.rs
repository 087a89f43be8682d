mod wire;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::activity::{Activity, CloseReason, Order};
use super::admission::{Admission, ConnectionPermit};
use super::limits::{
    BODY_PROGRESS_BYTES_MIN, ConnectionLimits, PROGRESS_BYTES_MIN, RESERVE_MIN, Times,
};
use crate::config::InboundSettings;

const BEGAN_MS: u64 = 1_000_000;

fn after(time: Duration) -> u64 {
    BEGAN_MS + u64::try_from(time.as_millis()).expect("small") + 1
}

#[test]
fn a_connection_that_says_nothing_is_ended_before_one_that_has_asked() {
    let times = Times::default();
    let silent = Arc::new(Activity::new(BEGAN_MS));
    assert_eq!(silent.overdue(BEGAN_MS, &times), None);
    let due = silent.overdue(after(times.head), &times);
    assert_eq!(due, Some(CloseReason::SlowHead));
    let asked = Arc::new(Activity::new(BEGAN_MS));
    let request = asked.begin(false, BEGAN_MS);
    assert_eq!(asked.overdue(after(times.idle), &times), None, "it is busy");
    drop(request);
    let now_ms = super::activity::now_ms();
    assert_eq!(asked.overdue(now_ms, &times), None);
    let idle_ms = now_ms + u64::try_from(times.idle.as_millis()).expect("small") + 1;
    assert_eq!(asked.overdue(idle_ms, &times), Some(CloseReason::Idle));
}

#[test]
fn bytes_now_and_then_do_not_prolong_a_head() {
    let times = Times::default();
    let slow = Arc::new(Activity::new(BEGAN_MS));
    drop(slow.begin(false, BEGAN_MS));
    let now_ms = super::activity::now_ms();
    for n in 0..20 {
        slow.note_read(|| now_ms + n * 1_000);
    }
    let due_ms = now_ms + u64::try_from(times.head.as_millis()).expect("small") + 1;
    assert_eq!(slow.overdue(due_ms, &times), Some(CloseReason::SlowHead));
    // Frames of HTTP/2 come without a request too.
    let frames = Arc::new(Activity::new(BEGAN_MS));
    drop(frames.begin(true, BEGAN_MS));
    frames.note_read(|| now_ms);
    assert_eq!(frames.overdue(due_ms, &times), None);
}

#[test]
fn a_body_that_does_not_arrive_is_the_clients_time() {
    let times = Times::default();
    let slow = Arc::new(Activity::new(BEGAN_MS));
    let request = slow.begin(false, BEGAN_MS);
    let body = request.receiving();
    assert!(!slow.is_busy());
    assert_eq!(
        slow.overdue(after(times.body), &times),
        Some(CloseReason::SlowBody)
    );
    drop(body);
    assert!(slow.is_busy());
    assert_eq!(slow.overdue(after(times.body), &times), None);
    drop(request);
    assert!(!slow.is_busy());
}

#[test]
fn a_body_that_keeps_arriving_has_the_time_that_its_handler_gives_it() {
    // The largest upload in the longest time that one may take.
    let (file_bytes, seconds) = (48 << 20, 300);
    let times = Times::default();
    let upload = Arc::new(Activity::new(BEGAN_MS));
    let request = upload.begin(false, BEGAN_MS);
    let body = request.receiving();
    let mut now_ms = BEGAN_MS;
    for second in 1..=seconds {
        now_ms = BEGAN_MS + second * 1_000;
        body.note_bytes(file_bytes / 300, || now_ms);
        assert_eq!(upload.overdue(now_ms, &times), None, "after {second} s");
    }
    let stopped_ms = now_ms + u64::try_from(times.body.as_millis()).expect("small") + 1;
    assert_eq!(
        upload.overdue(stopped_ms, &times),
        Some(CloseReason::SlowBody)
    );
}

#[test]
fn bytes_now_and_then_do_not_prolong_a_body() {
    let times = Times::default();
    let slow = Arc::new(Activity::new(BEGAN_MS));
    let request = slow.begin(false, BEGAN_MS);
    let body = request.receiving();
    for n in 0..40 {
        body.note_bytes(1, || BEGAN_MS + n * 1_000);
    }
    assert_eq!(
        slow.overdue(after(times.body), &times),
        Some(CloseReason::SlowBody)
    );
    body.note_bytes(BODY_PROGRESS_BYTES_MIN, || after(times.body));
    assert_eq!(slow.overdue(after(times.body), &times), None);
}

#[test]
fn a_frame_that_its_client_opens_no_window_for_is_a_stall() {
    let times = Times::default();
    let held = Arc::new(Activity::new(BEGAN_MS));
    let mut answer = held.begin(true, BEGAN_MS);
    let later_ms = after(times.stall);
    assert_eq!(held.overdue(later_ms, &times), None, "it is being made");
    answer.frame_handed_out(|| BEGAN_MS);
    assert_eq!(held.overdue(BEGAN_MS, &times), None);
    assert_eq!(held.overdue(later_ms, &times), Some(CloseReason::Stalled));
    held.note_write(Some(100), 100, || later_ms);
    assert_eq!(held.overdue(later_ms, &times), Some(CloseReason::Stalled));
    held.note_write(Some(PROGRESS_BYTES_MIN), 9_999, || later_ms);
    assert_eq!(held.overdue(later_ms, &times), None, "another one leaves");
    answer.frame_taken(|| BEGAN_MS);
    let last_ms = after(times.stall * 3);
    assert_eq!(held.overdue(last_ms, &times), None, "the stream is quiet");
    // Without windows the socket tells.
    let over_http1 = Arc::new(Activity::new(BEGAN_MS));
    let mut answer = over_http1.begin(false, BEGAN_MS);
    answer.frame_handed_out(|| BEGAN_MS);
    assert_eq!(over_http1.overdue(later_ms, &times), None);
}

#[test]
fn other_streams_that_go_on_keep_a_connection_of_which_one_is_held() {
    let times = Times::default();
    let shared = Arc::new(Activity::new(BEGAN_MS));
    let (mut held, mut other) = (shared.begin(true, BEGAN_MS), shared.begin(true, BEGAN_MS));
    let later_ms = after(times.stall);
    held.frame_handed_out(|| BEGAN_MS);
    assert_eq!(shared.overdue(later_ms, &times), None, "one is being made");
    other.frame_handed_out(|| later_ms);
    assert_eq!(shared.overdue(later_ms, &times), None, "it has just begun");
    other.frame_taken(|| later_ms);
    other.frame_handed_out(|| later_ms);
    let last_ms = after(times.stall * 3);
    assert_eq!(shared.overdue(last_ms, &times), Some(CloseReason::Stalled));
    other.frame_taken(|| last_ms);
    assert_eq!(shared.overdue(last_ms, &times), None, "one was taken");
}

#[test]
fn a_client_that_takes_nothing_is_stalled_however_busy() {
    let times = Times::default();
    let stalled = Arc::new(Activity::new(BEGAN_MS));
    let _request = stalled.begin(false, BEGAN_MS);
    stalled.note_write(None, 100_000, || BEGAN_MS);
    stalled.note_write(Some(10), 100_000, || BEGAN_MS);
    stalled.note_write(None, 100_000, || after(times.stall));
    let due = stalled.overdue(after(times.stall), &times);
    assert_eq!(
        due,
        Some(CloseReason::Stalled),
        "ten bytes are not progress"
    );
    stalled.note_write(Some(PROGRESS_BYTES_MIN), 100_000, || BEGAN_MS);
    assert_eq!(stalled.overdue(after(times.stall), &times), None);
    stalled.note_write(None, 50, || BEGAN_MS);
    stalled.note_write(Some(50), 50, || BEGAN_MS);
    assert_eq!(
        stalled.overdue(after(times.stall), &times),
        None,
        "all of it left"
    );
}

fn admission(connections_max: usize, connections_per_client: usize) -> Arc<Admission> {
    Arc::new(Admission::new(&ConnectionLimits {
        connections_max,
        connections_per_client,
        times: Times::default(),
    }))
}

fn client(n: u8) -> Option<IpAddr> {
    Some(IpAddr::from([192, 0, 2, n]))
}

async fn is_told(place: &ConnectionPermit) -> bool {
    let told = tokio::time::timeout(Duration::ZERO, place.activity().ordered());
    told.await == Ok(Order::Leave)
}

#[tokio::test]
async fn a_client_at_its_bound_loses_the_connection_that_waits_longest() {
    let admission = admission(100, 4);
    let mut places = Vec::new();
    for _ in 0..4 {
        places.push(admission.admit(client(1)).expect("room"));
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let busy = places[0].activity().begin(false, 1);
    let other = admission.admit(client(2)).expect("another client");
    places.push(admission.admit(client(1)).expect("one makes room"));
    assert_eq!(admission.len(), 5);
    assert!(!is_told(&places[0]).await, "it is being served");
    assert!(is_told(&places[1]).await);
    assert!(!is_told(&places[2]).await && !is_told(&other).await);
    drop(busy);
    drop((places, other));
    assert!(admission.is_empty());
}

#[test]
fn with_everyone_at_work_a_newcomer_is_refused() {
    let admission = admission(2, 2);
    let places = [1, 2].map(|n| admission.admit(client(n)).expect("room"));
    let _busy = places
        .each_ref()
        .map(|place| place.activity().begin(false, 1));
    assert!(admission.admit(client(3)).is_none());
    drop(places);
    assert!(admission.admit(client(3)).is_some());
}

#[tokio::test]
async fn a_full_table_is_made_room_in_by_who_has_most() {
    let admission = admission(10, 8);
    let few = admission.admit(client(1)).expect("room");
    tokio::time::sleep(Duration::from_millis(2)).await;
    let many: Vec<_> = (0..8)
        .map(|_| admission.admit(client(2)).expect("room"))
        .collect();
    let proxy = admission.admit(None).expect("room");
    let _newcomer = admission.admit(client(3)).expect("one makes room");
    assert!(!is_told(&few).await, "though it has waited longest");
    assert!(!is_told(&proxy).await);
    let mut told = 0;
    for place in &many {
        told += usize::from(is_told(place).await);
    }
    assert_eq!(told, 1);
}

#[test]
fn ipv6_clients_are_counted_by_network_and_proxies_are_not_counted() {
    let admission = admission(100, 1);
    let of = |text: &str| admission.admit(Some(text.parse().expect("an address")));
    let first = of("2001:db8::1").expect("room");
    let _busy = first.activity().begin(false, 1);
    assert!(of("2001:db8::2").is_none());
    assert!(of("2001:db8:0:1::2").is_some());
    let proxies: Vec<_> = (0..50)
        .map(|_| admission.admit(None).expect("room"))
        .collect();
    let named = &proxies[0];
    assert!(named.belongs_to("198.51.100.7".parse().expect("an address")));
    let _busy = named.activity().begin(false, 1);
    assert!(!proxies[1].belongs_to("198.51.100.7".parse().expect("an address")));
    assert!(proxies[2].belongs_to("198.51.100.8".parse().expect("an address")));
}

#[test]
fn connections_leave_file_descriptors_to_others() {
    let limits = |descriptors| ConnectionLimits::new(&InboundSettings::default(), descriptors);
    assert_eq!(limits(Some(1_024)).connections_max, 768);
    assert_eq!(limits(Some(1_024)).connections_per_client, 384);
    assert_eq!(limits(Some(1 << 20)).connections_max, 10_000);
    assert_eq!(limits(None).connections_per_client, 512);
    assert_eq!(limits(Some(RESERVE_MIN)).connections_max, 1);
    let wanted = InboundSettings {
        connections_max: Some(5_000),
        connections_per_client: Some(9_000),
        ..InboundSettings::default()
    };
    assert_eq!(
        ConnectionLimits::new(&wanted, Some(1_024)).connections_max,
        768
    );
    let all = ConnectionLimits::new(&wanted, None);
    assert_eq!(
        (all.connections_max, all.connections_per_client),
        (5_000, 5_000)
    );
}
