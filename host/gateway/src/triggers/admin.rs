//! What callers do with triggers.
//!
//! A trigger sends what a tool answers to the workspace's webhooks, so making and changing one needs the scopes
//! `webhooks` and `tools:execute`. A caller that acts for one user alone has that user's triggers; others are not there
//! for them.

use serde_json::{Map, Value, json};

use super::declared::{check_permission, checked_interval_s};
use super::{
    CreateTrigger, DeletedTrigger, LIST_LIMIT_MAX, ListTriggers, SINCE_DAYS_MAX, TRIGGERS_MAX,
    TRIGGERS_PER_USER_MAX, Trigger, TriggerList, UpdateTrigger,
};
use crate::audit::AuditAction;
use crate::row_seals::{RowPlace, RowSeals};
use crate::{Caller, Error, Gateway, Scope};
use toolgate_catalog::manifest::TriggerSpec;
use toolgate_core::clock::{parse_rfc3339, rfc3339};
use toolgate_core::ids::{self, UserId};
use toolgate_core::states::TriggerState;
use toolgate_core::visible::shown_name;
use toolgate_store::{
    Cursor, InsertedTrigger, SealedColumn, TRIGGER_PREFIX, TriggerChange, TriggerRow, TriggersMax,
};

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

impl Gateway {
    /// Stores a new trigger, which is polled at once. Items that are there then become no events, except those that
    /// `since` names.
    ///
    /// # Errors
    /// `not_found` for a trigger that no plugin declares, `invalid_arguments` for a config that the tool does not take,
    /// `conflict` where there are as many as there may be or a person decides about each call of the tool.
    pub async fn create_trigger(
        &self,
        caller: &Caller,
        request: CreateTrigger,
    ) -> Result<Trigger, Error> {
        need_both(caller)?;
        let user = caller.user(request.user_id.as_ref())?;
        let permissions = self.permissions_of(caller, &user).await?;
        let declared = self.declared_trigger(&request.service, &request.trigger, &permissions)?;
        check_permission(&permissions, &user, &declared.tool)?;
        let config = declared.checked_config(request.config)?;
        let interval_s = declared.interval_s(request.interval_s)?;
        if let Some(id) = &request.connection_id {
            // Refuses one that the user does not have.
            self.connection_to_use(caller, &user, &declared.tool, Some(id.as_str()))
                .await?;
        }
        let now_ms = self.clock.now_ms();
        let since_ms = checked_since(request.since.as_deref(), &declared.spec, now_ms)?;
        let id = ids::ulid("trg");
        let row = TriggerRow {
            workspace_id: caller.workspace_id.to_string(),
            config: self.sealed_config(&caller.workspace_id, &id, &config)?,
            id,
            user_id: user.as_str().to_owned(),
            service: request.service,
            event: request.trigger,
            connection_id: request.connection_id,
            interval_ms: milliseconds(interval_s),
            since_ms,
            state: TriggerState::Active,
            failures: 0,
            last_error: None,
            last_poll_at_ms: None,
            last_item_at_ms: None,
            items_found: 0,
            watching_since_ms: None,
            floor_ms: None,
            cursor: None,
            pages_read: 0,
            reads_all: false,
            next_poll_at_ms: now_ms,
            lease_owner: None,
            lease_until_ms: None,
            created_at_ms: now_ms,
            updated_at_ms: now_ms,
        };
        let details = json!({ "event": event_type(&row), "user_id": row.user_id });
        let most = TriggersMax {
            of_workspace: TRIGGERS_MAX,
            of_user: TRIGGERS_PER_USER_MAX,
        };
        let inserted = self
            .audited(caller, AuditAction::TriggersCreate, &row.id, details)
            .insert_trigger(&row, most)
            .await?;
        match inserted {
            InsertedTrigger::Done => {}
            InsertedTrigger::WorkspaceFull => {
                return Err(full("the workspace", TRIGGERS_MAX));
            }
            InsertedTrigger::UserFull => {
                return Err(full("the user", TRIGGERS_PER_USER_MAX));
            }
        }
        self.triggers.wake();
        Ok(shown(row, Some(config)))
    }

    /// Triggers of the workspace or of one user, newest first, without their arguments.
    pub async fn list_triggers(
        &self,
        caller: &Caller,
        request: ListTriggers,
    ) -> Result<TriggerList, Error> {
        caller.need(Scope::Webhooks)?;
        let user_id = caller.listed_user(request.user_id)?;
        let cursor = request.cursor.as_deref().map(|text| {
            Cursor::parse(text).ok_or_else(|| Error::InvalidRequest("invalid cursor".to_owned()))
        });
        let page = self
            .store
            .list_triggers(
                &caller.workspace_id,
                user_id.as_ref().map(UserId::as_str),
                cursor.transpose()?.as_ref(),
                request.limit.min(LIST_LIMIT_MAX),
            )
            .await?;
        let triggers = page.items.into_iter().map(|row| shown(row, None));
        Ok(TriggerList {
            triggers: triggers.collect(),
            next_cursor: page.next.map(|cursor| cursor.to_string()),
        })
    }

    pub async fn trigger(&self, caller: &Caller, trigger_id: &str) -> Result<Trigger, Error> {
        caller.need(Scope::Webhooks)?;
        let row = self.find_trigger(caller, trigger_id).await?;
        self.record_reading(
            caller,
            AuditAction::TriggersRead,
            &[(&row.id, &row.user_id)],
        )
        .await?;
        let config = self.trigger_config(&row)?;
        Ok(shown(row, Some(config)))
    }

    /// Changes what is given. A poll that is under way stores nothing more; unless the trigger is paused, the next one
    /// begins at once. Another config begins anew, as a new trigger does.
    pub async fn update_trigger(
        &self,
        caller: &Caller,
        request: UpdateTrigger,
    ) -> Result<Trigger, Error> {
        need_both(caller)?;
        let before = self.find_trigger(caller, &request.trigger_id).await?;
        let sealed = match request.config {
            None => None,
            Some(config) => {
                let config = self.config_for(caller, &before, config).await?;
                Some(self.sealed_config(&caller.workspace_id, &before.id, &config)?)
            }
        };
        let interval_ms = match request.interval_s {
            None => None,
            Some(seconds) => Some(milliseconds(checked_interval_s(seconds)?)),
        };
        let change = TriggerChange {
            config: sealed.as_deref(),
            interval_ms,
            paused: request.paused,
        };
        let details = json!({
            "event": event_type(&before),
            "config_changed": change.config.is_some(),
            "paused": request.paused.unwrap_or(before.state == TriggerState::Paused),
        });
        let updated = self
            .audited(caller, AuditAction::TriggersUpdate, &before.id, details)
            .update_trigger(
                &before.workspace_id,
                &before.id,
                &change,
                self.clock.now_ms(),
            )
            .await?;
        let row = updated.ok_or_else(|| unknown(&request.trigger_id))?;
        self.triggers.wake();
        let config = self.trigger_config(&row)?;
        Ok(shown(row, Some(config)))
    }

    /// Deletes a trigger with what it remembers. A poll that is under way emits no more events.
    pub async fn delete_trigger(
        &self,
        caller: &Caller,
        trigger_id: &str,
    ) -> Result<DeletedTrigger, Error> {
        caller.need(Scope::Webhooks)?;
        let row = self.find_trigger(caller, trigger_id).await?;
        let details = json!({ "event": event_type(&row), "user_id": row.user_id });
        let audited = self.audited(caller, AuditAction::TriggersDelete, &row.id, details);
        if !audited.delete_trigger(&row.workspace_id, &row.id).await? {
            return Err(unknown(trigger_id));
        }
        Ok(DeletedTrigger {
            trigger_id: row.id,
            deleted: true,
        })
    }

    pub(super) async fn find_trigger(
        &self,
        caller: &Caller,
        trigger_id: &str,
    ) -> Result<TriggerRow, Error> {
        let found = self
            .store
            .find_trigger(&caller.workspace_id, trigger_id)
            .await?;
        found
            .filter(|row| caller.acts_for(&row.user_id))
            .ok_or_else(|| unknown(trigger_id))
    }

    /// Another config of a trigger, checked against what its plugin declares now.
    async fn config_for(
        &self,
        caller: &Caller,
        trigger: &TriggerRow,
        config: Value,
    ) -> Result<Map<String, Value>, Error> {
        let user =
            UserId::parse(&trigger.user_id).map_err(|cause| Error::Internal(cause.into()))?;
        let permissions = self.permissions_of(caller, &user).await?;
        let declared = self.declared_trigger(&trigger.service, &trigger.event, &permissions)?;
        declared.checked_config(config)
    }

    fn sealed_config(
        &self,
        workspace_id: &str,
        id: &str,
        config: &Map<String, Value>,
    ) -> Result<String, Error> {
        let place = RowPlace::new(SealedColumn::TriggerConfig, workspace_id, id);
        let text = serde_json::to_string(config).map_err(|cause| Error::Internal(cause.into()))?;
        RowSeals::new(&self.vault).seal(&place, &text)
    }
}

fn need_both(caller: &Caller) -> Result<(), Error> {
    caller.need(Scope::Webhooks)?;
    caller.need(Scope::ToolsExecute)
}

fn unknown(trigger_id: &str) -> Error {
    Error::NotFound(format!("the trigger {}", shown_name(trigger_id)))
}

fn full(whose: &str, most: i64) -> Error {
    Error::Conflict(format!(
        "{whose} has {most} triggers already; delete one first"
    ))
}

fn milliseconds(seconds: u64) -> i64 {
    i64::try_from(seconds.saturating_mul(1_000)).unwrap_or(i64::MAX)
}

fn event_type(row: &TriggerRow) -> String {
    format!("{TRIGGER_PREFIX}{}.{}", row.service, row.event)
}

/// The time from which items that are there already become events.
fn checked_since(
    since: Option<&str>,
    spec: &TriggerSpec,
    now_ms: i64,
) -> Result<Option<i64>, Error> {
    let Some(since) = since else {
        return Ok(None);
    };
    let at_ms = parse_rfc3339(since).ok_or_else(|| {
        Error::InvalidRequest(
            "since must be an RFC 3339 time, for example 2026-11-20T09:30:00Z".to_owned(),
        )
    })?;
    check_since(at_ms, spec, now_ms)?;
    Ok(Some(at_ms))
}

/// Refuses a time of which the items of the trigger cannot be told, and one that is too far back.
pub(super) fn check_since(at_ms: i64, spec: &TriggerSpec, now_ms: i64) -> Result<(), Error> {
    if spec.time.is_none() {
        return Err(Error::InvalidRequest(
            "since: the provider gives no times of these items; leave it out".to_owned(),
        ));
    }
    if at_ms > now_ms || at_ms < now_ms - SINCE_DAYS_MAX * DAY_MS {
        return Err(Error::InvalidRequest(format!(
            "since must be within the last {SINCE_DAYS_MAX} days"
        )));
    }
    Ok(())
}

fn shown(row: TriggerRow, config: Option<Map<String, Value>>) -> Trigger {
    let is_paused = row.state == TriggerState::Paused;
    let waits = "the user has to connect the service";
    Trigger {
        event: event_type(&row),
        trigger_id: row.id,
        user_id: row.user_id,
        service: row.service,
        trigger: row.event,
        connection_id: row.connection_id,
        config: config.map(Value::Object),
        interval_s: u64::try_from(row.interval_ms / 1_000).unwrap_or_default(),
        state: row.state,
        failures: row.failures,
        last_error: row.last_error.or_else(|| {
            (row.state == TriggerState::WaitingForConnection).then(|| waits.to_owned())
        }),
        watching_since: row.watching_since_ms.map(rfc3339),
        last_poll_at: row.last_poll_at_ms.map(rfc3339),
        last_item_at: row.last_item_at_ms.map(rfc3339),
        items_found: row.items_found,
        next_poll_at: (!is_paused).then(|| rfc3339(row.next_poll_at_ms)),
        created_at: rfc3339(row.created_at_ms),
        updated_at: rfc3339(row.updated_at_ms),
    }
}
