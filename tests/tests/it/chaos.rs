//! A random schedule of faults under load: gateways killed, stopped, frozen, without a reader of their log and without
//! room on their disk, while the service, the database, the master key or the plugin changes under them. Then the books
//! are checked: what was acknowledged is there, no write reached the service twice, every call has its receipt, every
//! Skill its event, and in a long run memory stays flat.
//!
//! `make chaos MINUTES=30` runs longer than a run of all tests, and waits at the end until nothing is in progress any
//! more. A run of more than five minutes ends no process after its first third, so that their memory can be compared.
//! `SEED` repeats a schedule.
//!
//! The clock is left alone: nothing moves it for one process without the rights of root. Another version of the
//! program is not started either: there is only the one that was built. `upgrades.rs` has databases of released
//! versions, and `replicas/rolling.rs` behind a balancer that loses no request.

mod events;
mod faults;
mod memory;
mod schedule;

use std::path::Path;
use std::time::{Duration, Instant};

use toolgate_tests::log_pipe::LogPipe;
use toolgate_tests::network::{Network, Target};
use toolgate_tests::notes::clients::{CLIENTS, Load, WRITES};
use toolgate_tests::notes::{self, NotesGateways};
use toolgate_tests::postgres;
use toolgate_tests::settings::number;

use self::events::Events;
use self::faults::World;
use self::memory::MemoryUse;
use self::schedule::{AROUND_POSTGRESQL, AROUND_SQLITE, OutsideFault, Schedule};

/// Of each database in a run of all tests.
const SECONDS: u64 = 12;
/// In a run longer than this, memory must stay flat after the last process has been ended.
const FLAT_BEYOND_S: u64 = 300;
/// How long no process has been ended when memory is measured first.
const WARM_UP: Duration = Duration::from_secs(60);
/// The longest fault in a run of all tests, and in a longer one: beyond the lease of a webhook's sender.
const LONGEST: Duration = Duration::from_secs(2);
const LONGEST_ASKED: Duration = Duration::from_secs(9);
/// Between two requests of a client.
const PAUSE_MS: u64 = 40;
/// Writes of a whole run, below the number of Idempotency-Keys that a gateway takes within a day.
const WRITES_MAX: u64 = 80_000;
/// Gateways on one PostgreSQL.
const GATEWAYS: usize = 3;

/// PostgreSQL behind a network, and its URL.
async fn before_postgresql() -> (Network, String) {
    let url = tokio::task::spawn_blocking(postgres::fresh_url);
    let url = url.await.unwrap();
    let (path, folder) = url.split_once("?host=").expect("a unix socket");
    let (_, name) = path.rsplit_once('/').expect("a database");
    let socket = Path::new(folder).join(".s.PGSQL.5432");
    let network = Network::before(Target::Unix(socket)).await;
    let port = network.port;
    let url = format!("postgres://postgres@127.0.0.1:{port}/{name}?sslmode=disable");
    (network, url)
}

/// Gateways that run, with everything around them that can break.
async fn start(database: Option<(Network, String)>, gateways: usize, events: &Events) -> World {
    let (database, url) = database.unzip();
    let mut gateways = NotesGateways::prepare(url, gateways).await;
    let service = Network::before(Target::Tcp(gateways.upstream.address)).await;
    let mut logs = Vec::new();
    for installation in &mut gateways.installations {
        let notes = format!("{}={}", notes::HOST, service.url());
        installation.allow_upstream = vec![notes, events.allowed()];
        let drain = ("TOOLGATE_DRAIN_SECONDS".to_owned(), "5".to_owned());
        installation.environment.push(drain);
        logs.push(LogPipe::before(installation));
    }
    gateways.serve_all().await;
    gateways.books.open().may_fail = true;
    events.subscribe(&gateways).await;
    World {
        gateways,
        service,
        database,
        logs,
        version: 0,
    }
}

/// So long that a whole run has no more than [`WRITES_MAX`] writes.
fn pause(seconds: u64) -> Duration {
    let writes_of_eight = (CLIENTS * WRITES) as u64;
    let at_least_ms = seconds * 1_000 * writes_of_eight / (8 * WRITES_MAX);
    Duration::from_millis(at_least_ms.max(PAUSE_MS))
}

/// Takes steps until the time and the warm-up are over; answers the memory after the warm-up.
async fn break_things(world: &mut World, mut schedule: Schedule, seconds: u64) -> MemoryUse {
    let began = Instant::now();
    let (mut calm_since, mut warm) = (None, None);
    while began.elapsed() < Duration::from_secs(seconds) || warm.is_none() {
        if schedule.is_calm() {
            calm_since.get_or_insert_with(Instant::now);
        }
        let step = schedule.next_step();
        println!("{:.1} s: {step:?}", began.elapsed().as_secs_f64());
        world.take(&step).await;
        let is_warm = match seconds > FLAT_BEYOND_S {
            true => calm_since.is_some_and(|since: Instant| since.elapsed() > WARM_UP),
            false => true,
        };
        if is_warm && warm.is_none() {
            warm = Some(MemoryUse::measure(&world.gateways));
        }
    }
    warm.expect("the warm-up is over")
}

async fn run(database: Option<(Network, String)>, count: usize, around: &'static [OutsideFault]) {
    let is_asked = std::env::var_os("TOOLGATE_TEST_CHAOS_SECONDS").is_some();
    let seconds = number("TOOLGATE_TEST_CHAOS_SECONDS", SECONDS);
    let seed = number("TOOLGATE_TEST_SEED", 1);
    println!("{seconds} s of TOOLGATE_TEST_SEED={seed}");
    let is_long = seconds > FLAT_BEYOND_S;
    let longest = if is_asked { LONGEST_ASKED } else { LONGEST };
    let calm_from = is_long.then(|| Duration::from_secs(seconds / 3));
    let schedule = Schedule::new(seed, around, count, longest, calm_from);

    let events = Events::receiver().await;
    let mut world = start(database, count, &events).await;
    let load = Load::start(&world.gateways, pause(seconds));
    let warm = break_things(&mut world, schedule, seconds).await;
    let last = MemoryUse::measure(&world.gateways);
    let books = load.end(&world.gateways, is_asked).await;
    if is_asked {
        world.gateways.every_receipt_has_ended().await;
    }
    let events = events.balance(&world.gateways).await;
    let memory = warm.compare(&last, is_long);
    println!("{seconds} s of seed {seed}: {books}; {events}; {memory}");
}

#[tokio::test(flavor = "multi_thread")]
async fn random_faults_lose_nothing_and_write_nothing_twice_on_sqlite() {
    run(None, 1, AROUND_SQLITE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn random_faults_lose_nothing_and_write_nothing_twice_on_postgresql() {
    let database = before_postgresql().await;
    run(Some(database), GATEWAYS, AROUND_POSTGRESQL).await;
}

#[test]
fn a_long_run_writes_with_longer_pauses() {
    assert_eq!(pause(20), Duration::from_millis(PAUSE_MS));
    let hour_s = 3_600;
    let rounds = hour_s * 1_000 / u64::try_from(pause(hour_s).as_millis()).unwrap();
    let writes = rounds * (CLIENTS * WRITES) as u64 / 8;
    assert!(writes < WRITES_MAX + WRITES_MAX / 50, "{writes}");
}
