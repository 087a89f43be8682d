//! The loop that polls what is due.
//!
//! Each process looks for due triggers and leases them one by one, so that one process polls a trigger. A poll reads
//! page after page, each stored before the next is asked for; a process that dies leaves the rest to another one, which
//! goes on at the page that was noted.

use std::sync::Arc;
use std::time::Duration;

use rand::RngExt as _;
use serde_json::{Map, Value, json};

use super::call::{AnsweredPage, failed, refused};
use super::declared::DeclaredTrigger;
use super::items::{ListedItem, event_id, items};
use super::reading::{READING_ITEMS_MAX, ReadPage, after_page, is_told_of};
use super::schedule::{PollEnd, PollFailure, PriorPolls, next};
use crate::row_seals::{RowPlace, RowSeals};
use crate::waiters::Waiters;
use crate::{Caller, Error, Gateway};
use toolgate_catalog::manifest::TriggerOrder;
use toolgate_core::ids;
use toolgate_store::{
    DueTrigger, Event, FoundItem, Lease, SealedColumn, StoreError, TriggerPage, TriggerPollEnd,
    TriggerProgress, TriggerRow,
};

/// Polls of one process at a time.
const POLLS_MAX: usize = 16;
/// The same of one workspace.
const POLLS_PER_WORKSPACE_MAX: usize = 4;
/// Due triggers that are looked at in one round.
const LOOKED_AT_MAX: usize = 10_000;
/// What became due, and what other processes have left, is found by looking.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Longer than the longest call. A process that has died keeps its triggers from the others for so long.
const LEASE_MS: i64 = 120_000;
/// Pages that one poll reads.
const PAGES_PER_POLL_MAX: usize = 10;
/// Items that a trigger remembers, the last seen: twice [`READING_ITEMS_MAX`], as a number for the table of limits.
const REMEMBERED_MAX: i64 = 20_000;
const _: () = assert!(REMEMBERED_MAX == 2 * READING_ITEMS_MAX);

/// Runs until the gateway stops. Polls that are under way then are finished with their page.
pub(crate) async fn run(gateway: Arc<Gateway>) {
    let places = Waiters::new(POLLS_MAX, POLLS_PER_WORKSPACE_MAX);
    loop {
        if let Err(cause) = begin_due(&gateway, &places).await {
            tracing::error!(error = %cause, "triggers.look_failed");
        }
        tokio::select! {
            () = gateway.stop.cancelled() => return,
            () = gateway.triggers.woken() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

/// Begins a poll of each due trigger for which there is a place.
async fn begin_due(gateway: &Arc<Gateway>, places: &Waiters) -> Result<(), StoreError> {
    let now_ms = gateway.clock.now_ms();
    let due = gateway.store.due_triggers(now_ms, LOOKED_AT_MAX).await?;
    for due in in_turn(due, places) {
        if gateway.stop.is_cancelled() {
            return Ok(());
        }
        let Ok(place) = places.enter(&due.workspace_id) else {
            continue;
        };
        // Of this poll alone: one that has lost its trigger, be it to this process, stores nothing more.
        let owner = ids::ulid("pol");
        let Some(trigger) = lease(gateway, &due, &owner).await? else {
            continue;
        };
        let polling = gateway.clone();
        gateway.running.spawn(async move {
            poll(&polling, trigger, &owner).await;
            drop(place);
            polling.triggers.wake();
        });
    }
    Ok(())
}

/// Those first whose workspace polls least at the moment, and of these the longest due.
fn in_turn(mut due: Vec<DueTrigger>, places: &Waiters) -> Vec<DueTrigger> {
    due.sort_by_cached_key(|one| places.entered(&one.workspace_id));
    due
}

async fn lease(
    gateway: &Gateway,
    due: &DueTrigger,
    owner: &str,
) -> Result<Option<TriggerRow>, StoreError> {
    let lease = lease_now(gateway, owner);
    gateway.store.lease_trigger(due, lease).await
}

fn lease_now<'a>(gateway: &Gateway, owner: &'a str) -> Lease<'a> {
    let now_ms = gateway.clock.now_ms();
    Lease {
        owner,
        now_ms,
        until_ms: now_ms + LEASE_MS,
    }
}

/// Polls a trigger that is leased, and notes how that ended.
async fn poll(gateway: &Arc<Gateway>, mut trigger: TriggerRow, owner: &str) {
    let end = match read_pages(gateway, &mut trigger, owner).await {
        Ok(end) => end,
        // Another poll, or a caller, has the trigger now.
        Err(Left) => return,
    };
    let now_ms = gateway.clock.now_ms();
    let prior = PriorPolls {
        state: trigger.state,
        failures: trigger.failures,
        interval_ms: trigger.interval_ms,
    };
    let next = next(prior, end, now_ms, rand::rng().random());
    if let Some(error) = &next.error {
        tracing::warn!(
            trigger.id = trigger.id,
            trigger.service = trigger.service,
            trigger.failures = next.failures,
            error,
            "triggers.poll_ended"
        );
    }
    let end = TriggerPollEnd {
        state: next.state,
        failures: next.failures,
        last_error: next.error.as_deref(),
        next_poll_at_ms: next.at_ms,
        begins_anew: next.begins_anew,
    };
    let noted = gateway.store.end_trigger_poll(&trigger, end, owner, now_ms);
    if let Err(cause) = noted.await {
        tracing::error!(trigger.id = trigger.id, error = %cause, "triggers.end_failed");
    }
}

/// The trigger is no longer this poll's.
struct Left;

async fn read_pages(
    gateway: &Arc<Gateway>,
    trigger: &mut TriggerRow,
    owner: &str,
) -> Result<PollEnd, Left> {
    for _ in 0..PAGES_PER_POLL_MAX {
        // Rights are those of this moment, not of the first page.
        let page = match prepare(gateway, trigger, owner).await {
            Ok(poll) => poll.read_and_store(trigger).await,
            Err(end) => return Ok(end),
        };
        match page {
            Ok(Some(progress)) => adopt(trigger, progress),
            Ok(None) => return Err(Left),
            Err(end) => return Ok(end),
        }
        if trigger.cursor.is_none() {
            return Ok(PollEnd::Read);
        }
        if gateway.stop.is_cancelled() {
            break;
        }
    }
    Ok(PollEnd::More)
}

/// Takes in what was stored.
fn adopt(trigger: &mut TriggerRow, progress: TriggerProgress) {
    trigger.cursor = progress.cursor;
    trigger.pages_read = progress.pages_read;
    trigger.reads_all = progress.reads_all;
    trigger.watching_since_ms = progress.watching_since_ms;
    trigger.floor_ms = progress.floor_ms;
}

async fn prepare<'a>(
    gateway: &'a Arc<Gateway>,
    trigger: &TriggerRow,
    owner: &'a str,
) -> Result<PagePoll<'a>, PollEnd> {
    let caller = gateway.trigger_caller(trigger).await.map_err(refused)?;
    let caller = caller.ok_or_else(|| failed("the workspace is gone".to_owned()))?;
    let declared = gateway.pollable(&caller, trigger).await?;
    let config = gateway.trigger_config(trigger).map_err(refused)?;
    Ok(PagePoll {
        gateway,
        caller,
        declared,
        config,
        owner,
    })
}

/// One page of a poll, ready to be read.
struct PagePoll<'a> {
    gateway: &'a Arc<Gateway>,
    caller: Caller,
    declared: DeclaredTrigger,
    config: Map<String, Value>,
    owner: &'a str,
}

impl PagePoll<'_> {
    /// Reads and stores one page. `None`: the trigger is no longer this poll's.
    async fn read_and_store(
        &self,
        trigger: &TriggerRow,
    ) -> Result<Option<TriggerProgress>, PollEnd> {
        let seals = RowSeals::new(&self.gateway.vault);
        let place = RowPlace::new(
            SealedColumn::TriggerCursor,
            &trigger.workspace_id,
            &trigger.id,
        );
        let at = trigger.cursor.clone();
        let at = at.map(|sealed| seals.open(&place, sealed));
        let at = at.transpose().map_err(refused)?;
        let arguments = self.declared.page_arguments(&self.config, at.as_deref());
        let page = self
            .gateway
            .read_page(&self.caller, &self.declared, arguments, trigger)
            .await?;
        let listed = self.items_of_page(&page, at.is_some())?;
        // A page that leads to itself is the last.
        let next = page
            .next_cursor
            .filter(|_| self.declared.tool.spec().paginated);
        let next = next.filter(|next| Some(next) != at.as_ref());
        let next = next.map(|next| seals.seal(&place, &next));
        let next = next.transpose().map_err(refused)?;
        let now_ms = self.gateway.clock.now_ms();
        let read = ReadPage {
            items: &listed,
            next,
        };
        let state = after_page(trigger, self.declared.spec.order, read, now_ms);
        let found = self.found_items(trigger, listed, now_ms);
        let page = TriggerPage {
            items: &found,
            progress: &state.with_new,
            all_new: &state.all_new,
            without_new: &state.without_new,
            remembered_max: REMEMBERED_MAX,
        };
        let lease = lease_now(self.gateway, self.owner);
        let stored = self.gateway.store.store_trigger_page(trigger, page, lease);
        let new = stored.await.map_err(|cause| refused(Error::from(cause)))?;
        Ok(new.map(|new| page.progress_after(new).clone()))
    }

    fn items_of_page(
        &self,
        page: &AnsweredPage,
        goes_on: bool,
    ) -> Result<Vec<ListedItem>, PollEnd> {
        items(&self.declared.spec, page.result.get()).map_err(|unreadable| {
            PollEnd::Failed(PollFailure {
                error: unreadable.to_string(),
                retry_after_ms: None,
                begins_anew: goes_on,
            })
        })
    }

    /// Each item once, the oldest first where the provider says which that is.
    fn found_items(
        &self,
        trigger: &TriggerRow,
        listed: Vec<ListedItem>,
        now_ms: i64,
    ) -> Vec<FoundItem> {
        let mut seen = std::collections::HashSet::new();
        let mut found: Vec<FoundItem> = listed
            .into_iter()
            .filter_map(|item| {
                let id = event_id(&trigger.id, &item.key);
                seen.insert(id.clone()).then(|| FoundItem {
                    event: is_told_of(trigger, &item)
                        .then(|| self.item_event(trigger, &id, item, now_ms)),
                    id,
                })
            })
            .collect();
        if self.declared.spec.order == Some(TriggerOrder::NewestFirst) {
            found.reverse();
        }
        found
    }

    fn item_event(&self, trigger: &TriggerRow, id: &str, item: ListedItem, now_ms: i64) -> Event {
        let data = json!({
            "trigger_id": trigger.id,
            "user_id": trigger.user_id,
            "service": trigger.service,
            "tool_name": &*self.declared.tool.name,
            "connection_id": trigger.connection_id,
            "event_id": item.provider_id,
            "event": item.content,
        });
        let (service, name) = (&trigger.service, &trigger.event);
        Event::trigger(service, name, &trigger.workspace_id, now_ms, data).with_id(id.to_owned())
    }
}

impl Gateway {
    /// The arguments that the user of a trigger chose.
    pub(super) fn trigger_config(&self, trigger: &TriggerRow) -> Result<Map<String, Value>, Error> {
        let place = RowPlace::new(
            SealedColumn::TriggerConfig,
            &trigger.workspace_id,
            &trigger.id,
        );
        let text = RowSeals::new(&self.vault).open(&place, trigger.config.clone())?;
        serde_json::from_str(&text).map_err(|cause| Error::Internal(cause.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(workspace_id: &str, id: &str) -> DueTrigger {
        DueTrigger {
            workspace_id: workspace_id.to_owned(),
            id: id.to_owned(),
        }
    }

    #[test]
    fn a_workspace_that_polls_less_at_the_moment_has_its_turn_first() {
        let places = Waiters::new(POLLS_MAX, POLLS_PER_WORKSPACE_MAX);
        let place = places.enter("greedy").expect("a place");
        let all = [due("greedy", "1"), due("greedy", "2"), due("late", "3")];
        let order = |turns: Vec<DueTrigger>| {
            let ids: Vec<String> = turns.into_iter().map(|one| one.id).collect();
            ids.join(" ")
        };
        assert_eq!(order(in_turn(all.to_vec(), &places)), "3 1 2");
        drop(place);
        assert_eq!(order(in_turn(all.to_vec(), &places)), "1 2 3");
    }
}
