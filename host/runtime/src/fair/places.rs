//! Places for running calls.
//!
//! A claimant may take a place while it has less than a share of the *free* places. Alone, a key gets
//! up to half of all places, the keys of one plugin and the plugins of one workspace a little more; each
//! further claimant gets its part of the rest at once, and one claimant never gets the last place. When
//! no place is free, a claimant below an even share waits for one in a bounded queue, and a claimant
//! above it is refused.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use super::CallClaim;

/// By level: the taken places may be this many quarters of the free ones.
const QUARTERS_OF_FREE: [usize; 3] = [6, 5, 4];

/// Calls of one workspace that wait for a place.
pub(crate) const WAITING_PER_WORKSPACE: usize = 64;
/// Calls that wait for a place.
pub(crate) const WAITING_MAX: usize = 1_024;
/// The longest wait: every call that runs now has ended by then.
pub(crate) const WAIT_MAX: Duration = super::super::limits::CALL_TIMEOUT;

/// The places of one engine.
#[derive(Debug)]
pub(crate) struct CallSlots {
    table: Mutex<SlotTable>,
}

/// There is no place for this claimant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoFreeSlot;

/// The place of one running call, until it is dropped.
#[derive(Debug)]
pub(crate) struct CallSlot {
    places: Arc<CallSlots>,
    claim: CallClaim,
}

impl Drop for CallSlot {
    fn drop(&mut self) {
        self.places.release(&self.claim);
    }
}

impl CallSlots {
    pub(crate) fn new(places_max: usize) -> Self {
        Self {
            table: Mutex::new(SlotTable::new(places_max)),
        }
    }

    /// Calls running now.
    pub(crate) fn running(&self) -> usize {
        self.table().running
    }

    /// Takes a place for one call; waits for one where the claimant has less than its share.
    pub(crate) async fn take(self: &Arc<Self>, claim: &CallClaim) -> Result<CallSlot, NoFreeSlot> {
        let turn = {
            let mut table = self.table();
            match table.ask(claim)? {
                SlotDecision::Granted => return Ok(self.place(claim)),
                SlotDecision::Waits(turn) => turn,
            }
        };
        let turn = SlotWaiter {
            places: self,
            id: turn.0,
            granted: turn.1,
            claim,
        };
        turn.granted().await
    }

    fn place(self: &Arc<Self>, claim: &CallClaim) -> CallSlot {
        CallSlot {
            places: self.clone(),
            claim: claim.clone(),
        }
    }

    fn release(&self, claim: &CallClaim) {
        let mut table = self.table();
        table.release(claim);
        table.grant();
    }

    fn table(&self) -> MutexGuard<'_, SlotTable> {
        // Every step leaves the table whole, so a panic elsewhere spoils nothing.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that waits. When it is dropped it leaves the queue, or gives back a place that it was just granted.
struct SlotWaiter<'a> {
    places: &'a Arc<CallSlots>,
    id: u64,
    granted: oneshot::Receiver<()>,
    claim: &'a CallClaim,
}

impl SlotWaiter<'_> {
    async fn granted(mut self) -> Result<CallSlot, NoFreeSlot> {
        match tokio::time::timeout(WAIT_MAX, &mut self.granted).await {
            Ok(Ok(())) => {
                let place = self.places.place(self.claim);
                // From here on dropping the place gives it back.
                self.id = TAKEN;
                Ok(place)
            }
            Ok(Err(_)) | Err(_) => Err(NoFreeSlot),
        }
    }
}

/// No waiter has this id.
const TAKEN: u64 = u64::MAX;

impl Drop for SlotWaiter<'_> {
    fn drop(&mut self) {
        if self.id == TAKEN {
            return;
        }
        let mut table = self.places.table();
        if !table.leave(self.id) {
            // Granted and never used.
            table.release(self.claim);
            table.grant();
        }
    }
}

/// The answer to a claimant.
#[derive(Debug)]
pub(super) enum SlotDecision {
    Granted,
    /// Its number in the queue, and the receiver that is notified of its turn.
    Waits((u64, oneshot::Receiver<()>)),
}

/// Places taken by each claimant, and the claimants that wait.
#[derive(Debug)]
pub(super) struct SlotTable {
    places_max: usize,
    pub running: usize,
    /// By workspace, then by plugin, then by key.
    taken: HashMap<Arc<str>, SlotCounts>,
    waiting: VecDeque<Waiter>,
    next_id: u64,
}

/// Places that are taken, and by which names of the next level. A look-up, made for each call, copies no name.
#[derive(Debug, Default)]
struct SlotCounts {
    count: usize,
    by: HashMap<Arc<str>, SlotCounts>,
}

#[derive(Debug)]
struct Waiter {
    id: u64,
    claim: CallClaim,
    grant: oneshot::Sender<()>,
}

impl SlotTable {
    pub(super) fn new(places_max: usize) -> Self {
        Self {
            places_max,
            running: 0,
            taken: HashMap::new(),
            waiting: VecDeque::new(),
            next_id: 0,
        }
    }

    pub(super) fn ask(&mut self, claim: &CallClaim) -> Result<SlotDecision, NoFreeSlot> {
        if self.may_begin(claim) {
            self.begin(claim);
            return Ok(SlotDecision::Granted);
        }
        let of_workspace = self.waiting.iter();
        let of_workspace = of_workspace
            .filter(|waiter| waiter.claim.workspace == claim.workspace)
            .count();
        let queue_full = self.waiting.len() >= WAITING_MAX || of_workspace >= WAITING_PER_WORKSPACE;
        if queue_full || !self.has_less_than_its_share(claim) {
            return Err(NoFreeSlot);
        }
        let (grant, turn) = oneshot::channel();
        let id = self.next_id;
        self.next_id += 1;
        self.waiting.push_back(Waiter {
            id,
            claim: claim.clone(),
            grant,
        });
        Ok(SlotDecision::Waits((id, turn)))
    }

    pub(super) fn release(&mut self, claim: &CallClaim) {
        self.running -= 1;
        give_back(&mut self.taken, &claim.names());
    }

    /// Gives free places to the waiters: to the workspace with the fewest places, in it to the plugin, in that
    /// to the key with the fewest, and of equals to the first.
    pub(super) fn grant(&mut self) {
        loop {
            let may_begin = self.waiting.iter().enumerate();
            let may_begin = may_begin.filter(|(_, waiter)| self.may_begin(&waiter.claim));
            let next = may_begin.min_by_key(|(_, waiter)| (self.counts(&waiter.claim), waiter.id));
            let Some((at, _)) = next else { return };
            let Some(waiter) = self.waiting.remove(at) else {
                return;
            };
            // A waiter that is leaving the queue at this moment finds that it was granted a place, and gives it back.
            self.begin(&waiter.claim);
            let _ = waiter.grant.send(());
        }
    }

    /// Removes a waiter. `false`: it has been granted a place.
    pub(super) fn leave(&mut self, id: u64) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|waiter| waiter.id != id);
        self.waiting.len() < before
    }

    fn begin(&mut self, claim: &CallClaim) {
        self.running += 1;
        take(&mut self.taken, &claim.names());
    }

    fn counts(&self, claim: &CallClaim) -> [usize; 3] {
        let mut counts = [0; 3];
        let mut level = Some(&self.taken);
        for (name, count) in claim.names().into_iter().zip(&mut counts) {
            let slots = level.and_then(|level| level.get(name));
            *count = slots.map_or(0, |slots| slots.count);
            level = slots.map(|slots| &slots.by);
        }
        counts
    }

    fn may_begin(&self, claim: &CallClaim) -> bool {
        let free = self.places_max - self.running;
        let counts = self.counts(claim);
        free > 0
            && counts
                .iter()
                .zip(QUARTERS_OF_FREE)
                .all(|(taken, quarters)| taken * 4 < free * quarters)
    }

    /// Whether the claimant's workspace has less than an even share of all places, and its key less
    /// than an even share of that.
    fn has_less_than_its_share(&self, claim: &CallClaim) -> bool {
        let [workspace, _, key] = self.counts(claim);
        let waiting = self.waiting.iter().map(|waiter| &waiter.claim.workspace);
        let active = self.taken.keys();
        let workspaces: HashSet<_> = active.chain(waiting).chain([&claim.workspace]).collect();
        // With any number of workspaces, one without a place is below its share.
        let share = (self.places_max / workspaces.len()).max(1);
        let plugins = self.taken.get(&claim.workspace);
        let plugins = plugins.into_iter().flat_map(|slots| slots.by.values());
        let keys = plugins.flat_map(|slots| slots.by.keys());
        let keys: HashSet<_> = keys.chain([&claim.key]).collect();
        // The places of a key that is alone.
        let of_key = (self.places_max / 2).min(share / keys.len()).max(1);
        workspace < share && key < of_key
    }
}

fn take(level: &mut HashMap<Arc<str>, SlotCounts>, names: &[&Arc<str>]) {
    let Some((name, below)) = names.split_first() else {
        return;
    };
    if !level.contains_key(*name) {
        level.insert((*name).clone(), SlotCounts::default());
    }
    if let Some(slots) = level.get_mut(*name) {
        slots.count += 1;
        take(&mut slots.by, below);
    }
}

fn give_back(level: &mut HashMap<Arc<str>, SlotCounts>, names: &[&Arc<str>]) {
    let Some((name, below)) = names.split_first() else {
        return;
    };
    if let Some(slots) = level.get_mut(*name) {
        slots.count -= 1;
        give_back(&mut slots.by, below);
        if slots.count == 0 {
            level.remove(*name);
        }
    }
}
