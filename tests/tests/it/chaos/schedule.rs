//! Which faults come when: the same seed makes the same schedule.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};

/// What the recovery from a step takes about.
const RECOVERY: Duration = Duration::from_secs(3);
/// Between two steps, in ms.
const PAUSE_MS: std::ops::RangeInclusive<u64> = 200..=1_000;

/// What happens to one gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GatewayFault {
    /// SIGKILL, and a start.
    Killed,
    /// SIGTERM, and a start.
    Terminated,
    /// SIGSTOP, and SIGCONT.
    Frozen,
    /// Nobody reads its standard error.
    LogUnread,
    /// Its files take no more.
    DiskFull,
}

/// What happens around the gateways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutsideFault {
    /// The service refuses connections.
    ServiceGone,
    /// The service takes connections and does not answer.
    ServiceSilent,
    /// Each answer of the service is cut off in the middle.
    ServiceCut,
    /// Each piece of what is asked and answered takes longer.
    DatabaseSlow,
    DatabaseSilent,
    DatabaseGone,
    /// Another process writes for a long time.
    DatabaseLocked,
    /// `toolgate vault rotate`.
    KeyRotated,
    /// Another version of the plugin is put into the folder of the gateway.
    PluginReplaced,
}

pub(super) const OF_GATEWAYS: &[GatewayFault] = &[
    GatewayFault::Killed,
    GatewayFault::Terminated,
    GatewayFault::Frozen,
    GatewayFault::LogUnread,
    GatewayFault::DiskFull,
];

pub(super) const AROUND_SQLITE: &[OutsideFault] = &[
    OutsideFault::ServiceGone,
    OutsideFault::ServiceSilent,
    OutsideFault::ServiceCut,
    OutsideFault::DatabaseLocked,
    OutsideFault::KeyRotated,
    OutsideFault::PluginReplaced,
];

pub(super) const AROUND_POSTGRESQL: &[OutsideFault] = &[
    OutsideFault::ServiceGone,
    OutsideFault::ServiceSilent,
    OutsideFault::ServiceCut,
    OutsideFault::DatabaseSlow,
    OutsideFault::DatabaseSilent,
    OutsideFault::DatabaseGone,
    OutsideFault::KeyRotated,
    OutsideFault::PluginReplaced,
];

impl GatewayFault {
    fn ends_the_process(self) -> bool {
        matches!(self, Self::Killed | Self::Terminated)
    }

    /// Whether the two may come at the same time.
    fn goes_with(self, outside: OutsideFault) -> bool {
        use OutsideFault::{
            DatabaseGone, DatabaseLocked, DatabaseSilent, KeyRotated, PluginReplaced, ServiceGone,
        };
        // The receipt of a call that ended while the database is away is in memory alone.
        let is_away = matches!(outside, DatabaseSilent | DatabaseGone | DatabaseLocked);
        let loses_ends = self.ends_the_process() && is_away;
        // So is that of a call that could send nothing, for a tenth of a second.
        let loses_failures = self == Self::Killed && outside == ServiceGone;
        // The command would wait for rows that the process has locked, or for a reader of the same log.
        let waits = matches!(self, Self::Frozen | Self::LogUnread) && outside == KeyRotated;
        // New code is stored before it serves.
        let stores = self == Self::DiskFull && matches!(outside, KeyRotated | PluginReplaced);
        !(loses_ends || loses_failures || waits || stores)
    }
}

/// Two faults at the same time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) after: Duration,
    pub(super) gateway: usize,
    pub(super) fault: GatewayFault,
    pub(super) outside: OutsideFault,
    pub(super) lasts: Duration,
}

/// Each kind comes once before any comes again, as far as what goes together allows.
struct Deck<T: 'static> {
    kinds: &'static [T],
    left: Vec<T>,
}

impl<T: Copy + 'static> Deck<T> {
    fn new(kinds: &'static [T]) -> Self {
        Self {
            kinds,
            left: Vec::new(),
        }
    }

    fn draw(&mut self, random: &mut StdRng, fits: impl Fn(T) -> bool) -> T {
        loop {
            if let Some(at) = self.left.iter().position(|kind| fits(*kind)) {
                return self.left.remove(at);
            }
            let mut again = self.kinds.to_vec();
            again.shuffle(random);
            self.left.extend(again);
        }
    }
}

/// Steps without end.
pub(super) struct Schedule {
    random: StdRng,
    of_gateways: Deck<GatewayFault>,
    around: Deck<OutsideFault>,
    gateways: usize,
    longest: Duration,
    /// From then on no process is ended.
    calm_from: Option<Duration>,
    planned: Duration,
}

impl Schedule {
    pub(super) fn new(
        seed: u64,
        around: &'static [OutsideFault],
        gateways: usize,
        longest: Duration,
        calm_from: Option<Duration>,
    ) -> Self {
        Self {
            random: StdRng::seed_from_u64(seed),
            of_gateways: Deck::new(OF_GATEWAYS),
            around: Deck::new(around),
            gateways,
            longest,
            calm_from,
            planned: Duration::ZERO,
        }
    }

    /// Whether no process is ended any more.
    pub(super) fn is_calm(&self) -> bool {
        self.calm_from.is_some_and(|from| self.planned >= from)
    }

    pub(super) fn next_step(&mut self) -> Step {
        let calm = self.is_calm();
        let random = &mut self.random;
        let fits = |fault: GatewayFault| !(calm && fault.ends_the_process());
        let fault = self.of_gateways.draw(random, fits);
        let fits = |outside: OutsideFault| fault.goes_with(outside);
        let outside = self.around.draw(random, fits);
        let longest_ms = u64::try_from(self.longest.as_millis()).unwrap();
        let step = Step {
            after: Duration::from_millis(random.random_range(PAUSE_MS)),
            gateway: random.random_range(0..self.gateways),
            fault,
            outside,
            lasts: Duration::from_millis(random.random_range(500..=longest_ms)),
        };
        self.planned += step.after + step.lasts + RECOVERY;
        step
    }
}

#[test]
fn a_seed_repeats_its_schedule_and_every_fault_comes() {
    let steps = |seed| {
        let longest = Duration::from_secs(2);
        let mut schedule = Schedule::new(seed, AROUND_POSTGRESQL, 3, longest, None);
        let steps = std::iter::repeat_with(|| schedule.next_step());
        steps.take(40).collect::<Vec<_>>()
    };
    let first = steps(7);
    assert_eq!(format!("{first:?}"), format!("{:?}", steps(7)));
    assert_ne!(format!("{first:?}"), format!("{:?}", steps(8)));
    for kind in OF_GATEWAYS {
        assert!(first.iter().any(|step| step.fault == *kind), "{kind:?}");
    }
    for kind in AROUND_POSTGRESQL {
        assert!(first.iter().any(|step| step.outside == *kind), "{kind:?}");
    }
    assert!(first.iter().all(|step| step.fault.goes_with(step.outside)));
    let mut calm = Schedule::new(
        7,
        AROUND_SQLITE,
        1,
        Duration::from_secs(2),
        Some(Duration::ZERO),
    );
    let mut steps = std::iter::repeat_with(|| calm.next_step()).take(40);
    assert!(steps.all(|step| !step.fault.ends_the_process()));
}
