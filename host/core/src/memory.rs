//! A budget of memory: taken as something grows, and given back when it is dropped. One is for all guests together, one
//! for bodies, answers and files in memory ([`buffer`]).
//!
//! A workspace may have a share of what is *free*: one that is alone gets most of the budget and never all, and the next
//! one has its part at once. A growth that does not fit waits briefly where its workspace has less than an even share,
//! and is refused where it has more.

pub mod buffer;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

/// The memory of a workspace may be this many quarters of the free memory.
const QUARTERS_OF_FREE: u64 = 6;
/// Growths that wait at one time.
const WAITING_MAX: usize = 1_024;
/// How long a call or a body waits for memory that others give back.
pub const MEMORY_WAIT_MAX: Duration = Duration::from_secs(2);

/// The memory that everything of one kind may have together.
#[derive(Debug)]
pub struct MemoryBudget {
    table: Mutex<MemoryTable>,
}

/// A budget now. Bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryUse {
    pub used_bytes: u64,
    pub max_bytes: u64,
    /// Growths since the start for which the budget had nothing left.
    pub refused: u64,
}

/// The budget has nothing left for this growth. Passed through wasmtime as the cause of the trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the gateway has no memory left")]
pub struct NoFreeMemory;

/// A budget, and the workspace in whose share memory is taken; cheap to clone.
#[derive(Clone, Debug)]
pub struct MemoryAccount {
    budget: Arc<MemoryBudget>,
    workspace: Arc<str>,
}

impl MemoryAccount {
    /// For something that has no memory yet.
    pub fn hold(&self) -> HeldMemory {
        HeldMemory {
            account: self.clone(),
            held_bytes: 0,
        }
    }
}

/// The memory of one call or one body, until it is dropped.
#[derive(Debug)]
pub struct HeldMemory {
    account: MemoryAccount,
    held_bytes: u64,
}

impl Drop for HeldMemory {
    fn drop(&mut self) {
        if self.held_bytes > 0 {
            let MemoryAccount { budget, workspace } = &self.account;
            budget.release(workspace, self.held_bytes);
        }
    }
}

impl HeldMemory {
    /// Takes `bytes` more; waits for them where the workspace has less than its share.
    ///
    /// # Errors
    /// [`NoFreeMemory`] where the workspace has used its share, or after [`MEMORY_WAIT_MAX`]. Memory held so far is kept.
    pub async fn grow(&mut self, bytes: usize) -> Result<(), NoFreeMemory> {
        if bytes == 0 {
            return Ok(());
        }
        let growth = self.growth(bytes as u64);
        self.account.budget.take(&growth).await?;
        self.held_bytes += growth.bytes;
        Ok(())
    }

    /// As [`HeldMemory::grow`], until `bytes` are held. Never gives anything back.
    ///
    /// # Errors
    /// As [`HeldMemory::grow`].
    pub async fn grow_to(&mut self, bytes: usize) -> Result<(), NoFreeMemory> {
        let more = (bytes as u64).saturating_sub(self.held_bytes);
        self.grow(usize::try_from(more).unwrap_or(usize::MAX)).await
    }

    /// The same without a wait. Whether there was memory.
    pub fn try_grow_to(&mut self, bytes: usize) -> bool {
        let growth = self.growth((bytes as u64).saturating_sub(self.held_bytes));
        let fits = self.account.budget.try_take(&growth);
        if fits {
            self.held_bytes += growth.bytes;
        }
        fits
    }

    /// Counts `bytes` more that are in memory already and cannot be refused, as far as the workspace has its share: it
    /// finds less for what it asks next, and the others find their part.
    pub fn count(&mut self, bytes: usize) {
        let growth = self.growth(bytes as u64);
        self.held_bytes += self.account.budget.count(growth);
    }

    fn growth(&self, bytes: u64) -> MemoryGrowth {
        MemoryGrowth {
            workspace: self.account.workspace.clone(),
            held_bytes: self.held_bytes,
            bytes,
        }
    }
}

impl MemoryBudget {
    pub fn new(bytes_max: u64) -> Self {
        Self {
            table: Mutex::new(MemoryTable::new(bytes_max)),
        }
    }

    /// From here on there are `bytes_max`. What is held already stays held.
    pub fn set_max(&self, bytes_max: u64) {
        let mut table = self.table();
        table.bytes_max = bytes_max;
        table.grant();
    }

    pub fn now(&self) -> MemoryUse {
        let table = self.table();
        MemoryUse {
            used_bytes: table.taken,
            max_bytes: table.bytes_max,
            refused: table.refused,
        }
    }

    /// Takes memory in the share of this workspace.
    pub fn account(self: &Arc<Self>, workspace: Arc<str>) -> MemoryAccount {
        MemoryAccount {
            budget: self.clone(),
            workspace,
        }
    }

    async fn take(&self, growth: &MemoryGrowth) -> Result<(), NoFreeMemory> {
        let (id, granted) = {
            let mut table = self.table();
            match table.ask(growth)? {
                MemoryDecision::Granted => return Ok(()),
                MemoryDecision::Waits(id, granted) => (id, granted),
            }
        };
        let waiter = MemoryWaiter {
            budget: self,
            growth,
            id: Some(id),
        };
        waiter.granted(granted).await
    }

    fn try_take(&self, growth: &MemoryGrowth) -> bool {
        if growth.bytes == 0 {
            return true;
        }
        let mut table = self.table();
        let fits = table.fits(growth);
        if fits {
            table.add(growth);
        }
        fits
    }

    /// How much of it is counted.
    fn count(&self, mut growth: MemoryGrowth) -> u64 {
        let mut table = self.table();
        growth.bytes = growth.bytes.min(table.share_left(&growth.workspace));
        if growth.bytes > 0 {
            table.add(&growth);
        }
        growth.bytes
    }

    fn release(&self, workspace: &Arc<str>, bytes: u64) {
        let mut table = self.table();
        table.release(workspace, bytes);
        table.grant();
    }

    fn table(&self) -> MutexGuard<'_, MemoryTable> {
        // Every step leaves the table whole, so a panic elsewhere spoils nothing.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A growth that waits for memory. When it is dropped it leaves the queue, or gives back what it was just granted.
struct MemoryWaiter<'a> {
    budget: &'a MemoryBudget,
    growth: &'a MemoryGrowth,
    /// `None` once the memory is held.
    id: Option<u64>,
}

impl MemoryWaiter<'_> {
    async fn granted(mut self, granted: oneshot::Receiver<()>) -> Result<(), NoFreeMemory> {
        if let Ok(Ok(())) = tokio::time::timeout(MEMORY_WAIT_MAX, granted).await {
            self.id = None;
            return Ok(());
        }
        self.budget.table().refused += 1;
        Err(NoFreeMemory)
    }
}

impl Drop for MemoryWaiter<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        let mut table = self.budget.table();
        if !table.leave(id) {
            // Granted and never used.
            table.release(&self.growth.workspace, self.growth.bytes);
            table.grant();
        }
    }
}

/// What is asked for.
#[derive(Clone, Debug)]
struct MemoryGrowth {
    workspace: Arc<str>,
    /// What the same call or body has already.
    held_bytes: u64,
    bytes: u64,
}

/// The answer to a growth.
#[derive(Debug)]
enum MemoryDecision {
    Granted,
    /// Its number in the queue, and the receiver that is notified of its turn.
    Waits(u64, oneshot::Receiver<()>),
}

/// Memory of each workspace, and the growths that wait.
#[derive(Debug)]
struct MemoryTable {
    bytes_max: u64,
    taken: u64,
    refused: u64,
    by_workspace: HashMap<Arc<str>, u64>,
    /// At most [`WAITING_MAX`].
    waiting: VecDeque<WaitingGrowth>,
    next_id: u64,
}

#[derive(Debug)]
struct WaitingGrowth {
    id: u64,
    growth: MemoryGrowth,
    grant: oneshot::Sender<()>,
}

impl MemoryTable {
    fn new(bytes_max: u64) -> Self {
        Self {
            bytes_max,
            taken: 0,
            refused: 0,
            by_workspace: HashMap::new(),
            waiting: VecDeque::new(),
            next_id: 0,
        }
    }

    fn ask(&mut self, growth: &MemoryGrowth) -> Result<MemoryDecision, NoFreeMemory> {
        if self.fits(growth) {
            self.add(growth);
            return Ok(MemoryDecision::Granted);
        }
        if self.waiting.len() >= WAITING_MAX || !self.has_less_than_its_share(growth) {
            self.refused += 1;
            return Err(NoFreeMemory);
        }
        let (grant, granted) = oneshot::channel();
        let id = self.next_id;
        self.next_id += 1;
        self.waiting.push_back(WaitingGrowth {
            id,
            growth: growth.clone(),
            grant,
        });
        Ok(MemoryDecision::Waits(id, granted))
    }

    fn release(&mut self, workspace: &Arc<str>, bytes: u64) {
        self.taken = self.taken.saturating_sub(bytes);
        let Some(of_workspace) = self.by_workspace.get_mut(workspace) else {
            return;
        };
        *of_workspace = of_workspace.saturating_sub(bytes);
        if *of_workspace == 0 {
            self.by_workspace.remove(workspace);
        }
    }

    /// Gives free memory to the growths that wait: to the workspace with the least, and of equals to the first.
    fn grant(&mut self) {
        loop {
            let fitting = self.waiting.iter().enumerate();
            let fitting = fitting.filter(|(_, waiter)| self.fits(&waiter.growth));
            let next = fitting
                .min_by_key(|(_, waiter)| (self.of_workspace(&waiter.growth.workspace), waiter.id));
            let Some((at, _)) = next else { return };
            let Some(waiter) = self.waiting.remove(at) else {
                return;
            };
            // A waiter that is leaving the queue at this moment finds that it was granted memory, and gives it back.
            self.add(&waiter.growth);
            let _ = waiter.grant.send(());
        }
    }

    /// Removes a waiter. `false`: it has been granted its memory.
    fn leave(&mut self, id: u64) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|waiter| waiter.id != id);
        self.waiting.len() < before
    }

    fn add(&mut self, growth: &MemoryGrowth) {
        self.taken += growth.bytes;
        match self.by_workspace.get_mut(&growth.workspace) {
            Some(bytes) => *bytes += growth.bytes,
            None => {
                self.by_workspace
                    .insert(growth.workspace.clone(), growth.bytes);
            }
        }
    }

    fn of_workspace(&self, workspace: &Arc<str>) -> u64 {
        self.by_workspace.get(workspace).copied().unwrap_or(0)
    }

    fn fits(&self, growth: &MemoryGrowth) -> bool {
        let free = self.bytes_max.saturating_sub(self.taken);
        let Some(free_after) = free.checked_sub(growth.bytes) else {
            return false;
        };
        // While nothing else has memory, one call or body may have all that one may use.
        if self.taken == growth.held_bytes {
            return true;
        }
        let workspace = self.of_workspace(&growth.workspace) + growth.bytes;
        workspace.saturating_mul(4) <= free_after.saturating_mul(QUARTERS_OF_FREE)
    }

    /// What the workspace may still have by its share of what is free.
    fn share_left(&self, workspace: &Arc<str>) -> u64 {
        let free = self.bytes_max.saturating_sub(self.taken);
        let has = self.of_workspace(workspace).saturating_mul(4);
        let most = free.saturating_mul(QUARTERS_OF_FREE);
        most.saturating_sub(has) / (4 + QUARTERS_OF_FREE)
    }

    /// Whether the workspace would still have at most an even share of the budget.
    fn has_less_than_its_share(&self, growth: &MemoryGrowth) -> bool {
        let waiting = self.waiting.iter();
        let waiting = waiting.map(|waiter| &waiter.growth.workspace);
        let active = self.by_workspace.keys();
        let workspaces: HashSet<_> = active.chain(waiting).chain([&growth.workspace]).collect();
        let share = self.bytes_max / (workspaces.len() as u64);
        self.of_workspace(&growth.workspace) + growth.bytes <= share
    }
}
