//! Processor time that each claimant has used lately, and the workspaces that called lately.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{CallClaim, Level};

/// Half-life of the used time.
const HALF_LIFE: Duration = Duration::from_secs(2);
/// Two workspaces that began calls within this time compete.
const BESIDE: Duration = Duration::from_secs(2);
/// Use from which a workspace beside others has its calls wait for their turn from the start: about
/// a sixth of one processor all the time.
const HUNGRY_S: f64 = 0.5;
/// Lines that are kept.
const LINES_MAX: usize = 10_000;
/// Less used time is forgotten.
const FORGOTTEN_S: f64 = 0.000_1;

#[derive(Debug, Default)]
pub(crate) struct Ledger {
    used: HashMap<Level, UsedTime>,
    /// The two workspaces that began calls last.
    began: [Option<(Arc<str>, Instant)>; 2],
}

#[derive(Clone, Copy, Debug)]
struct UsedTime {
    seconds: f64,
    at: Instant,
}

impl UsedTime {
    fn at(self, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.seconds * (-passed / HALF_LIFE.as_secs_f64()).exp2()
    }
}

impl Ledger {
    /// A workspace begins a call.
    pub(crate) fn note_call(&mut self, workspace: &Arc<str>, now: Instant) {
        let [last, before] = &mut self.began;
        if last.as_ref().is_none_or(|(name, _)| name != workspace) {
            *before = last.take();
        }
        *last = Some((workspace.clone(), now));
    }

    /// Whether more than one workspace is calling.
    pub(crate) fn contended(&self, now: Instant) -> bool {
        self.began.iter().all(|began| {
            began
                .as_ref()
                .is_some_and(|(_, at)| now.saturating_duration_since(*at) < BESIDE)
        })
    }

    pub(crate) fn charge(&mut self, claim: &CallClaim, time: Duration, now: Instant) {
        if self.used.len() + 3 > LINES_MAX {
            self.used.retain(|_, used| used.at(now) > FORGOTTEN_S);
        }
        for level in claim.levels() {
            // With more lines than that, new ones count as unused.
            if self.used.len() < LINES_MAX || self.used.contains_key(&level) {
                let used = self.used.entry(level).or_insert(UsedTime {
                    seconds: 0.0,
                    at: now,
                });
                *used = UsedTime {
                    seconds: used.at(now) + time.as_secs_f64(),
                    at: now,
                };
            }
        }
    }

    /// What the claim's workspace, plugin and key have used lately, in seconds.
    pub(crate) fn used(&self, claim: &CallClaim, now: Instant) -> [f64; 3] {
        claim
            .levels()
            .map(|level| self.used.get(&level).map_or(0.0, |used| used.at(now)))
    }

    /// Whether the claim's workspace has used so much beside others that it waits for its turns.
    pub(crate) fn exceeds_fair_share(&self, claim: &CallClaim, now: Instant) -> bool {
        self.contended(now) && self.used(claim, now)[0] > HUNGRY_S
    }

    /// Which of `claims` has used least: by workspace, then by plugin, then by key.
    pub(crate) fn least<'a>(
        &self,
        claims: impl Iterator<Item = &'a CallClaim>,
        now: Instant,
    ) -> Option<usize> {
        let used = claims.map(|claim| self.used(claim, now)).enumerate();
        let least = used.min_by(|(_, one), (_, other)| {
            let pairs = one.iter().zip(other);
            let mut orders = pairs.map(|(one, other)| one.total_cmp(other));
            orders
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        least.map(|(at, _)| at)
    }
}
