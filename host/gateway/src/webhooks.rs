//! Webhooks: addresses that a workspace has its events sent to, after Standard Webhooks
//! (<https://www.standardwebhooks.com>).
//!
//! Events are written by the store together with what they tell of ([`toolgate_store::Event`]).
//! [`dispatcher`] sends them, in order for each webhook; [`schedule`] is the pure rule of what follows
//! from an answer; [`signing`] makes secrets and signatures; [`deliveries`] shows the outcome of
//! each. Addresses are held to the policy of egress, at the making and at every sending.
//!
//! A caller that acts for one user alone has the webhooks whose filter names exactly that user: what they make
//! has that filter, and others are not there for them.

pub mod inbound;

pub mod deliveries;
pub(crate) mod dispatcher;
pub mod schedule;
pub mod signing;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::audit::AuditAction;
use crate::{Caller, Error, Gateway, Scope};
use toolgate_core::clock::rfc3339;
use toolgate_core::ids::{self, UserId};
use toolgate_store::{self as store, EventFilters, EventType, TRIGGER_PREFIX, WebhookChange};
use toolgate_vault::Secret;

/// Webhooks of one workspace.
pub const WEBHOOKS_MAX: i64 = 50;
pub const URL_CHARS_MAX: usize = 2_000;
pub const DESCRIPTION_CHARS_MAX: usize = 500;
pub const EVENTS_MAX: usize = 100;
pub const PATTERN_CHARS_MAX: usize = 200;
/// Values of one filter.
pub const FILTER_VALUES_MAX: usize = 100;
pub const FILTER_CHARS_MAX: usize = 256;
/// How long an old secret may sign beside a new one.
pub const OVERLAP_HOURS_MAX: u32 = 7 * 24;
pub const OVERLAP_HOURS: u32 = 24;

const HOUR_MS: i64 = 60 * 60 * 1_000;

/// One webhook. `GET /v1/webhooks/{webhook_id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Webhook {
    /// `whk_<ULID>`.
    #[schema(example = "whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub webhook_id: String,
    pub url: String,
    pub description: String,
    /// Event types, groups (`tool.*`) or `*`.
    pub events: Vec<String>,
    pub filters: Filters,
    pub enabled: bool,
    /// Why the gateway has switched it off: `gone` after an answer 410, `failing` after five days
    /// without a good answer. Absent where a caller has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub disabled_at: Option<String>,
    /// Since when no delivery has arrived; absent while all is well.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub failing_since: Option<String>,
    /// Until when nothing is sent but tests and repetitions, as deliveries failed; absent while all is well.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub paused_until: Option<String>,
    /// Until when the secret before the last rotation signs too.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub previous_secret_until: Option<String>,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub updated_at: String,
}

/// Which events of the wanted types pass. An absent list lets everything pass; a given one only
/// events that carry one of its values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = WebhookFilters)]
pub struct Filters {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1, max_items = 100)]
    pub user_ids: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1, max_items = 100)]
    pub services: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1, max_items = 100)]
    pub tool_names: Option<Vec<String>>,
}

/// A webhook at the only moment at which its secret can be read.
#[derive(Debug)]
pub struct SecretWebhook {
    pub webhook: Webhook,
    /// `whsec_` and base64.
    pub secret: Secret,
}

/// `POST /v1/webhooks`.
#[derive(Clone, Debug)]
pub struct CreateWebhook {
    pub url: String,
    pub description: String,
    pub events: Vec<String>,
    pub filters: Filters,
}

/// `PATCH /v1/webhooks/{webhook_id}`; what is absent stays.
#[derive(Clone, Debug, Default)]
pub struct UpdateWebhook {
    pub webhook_id: String,
    pub url: Option<String>,
    pub description: Option<String>,
    pub events: Option<Vec<String>>,
    pub filters: Option<Filters>,
    pub enabled: Option<bool>,
}

/// `GET /v1/webhooks`, newest first.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct WebhookList {
    pub webhooks: Vec<Webhook>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct DeletedWebhook {
    pub webhook_id: String,
    /// Always `true`.
    #[schema(example = true)]
    pub deleted: bool,
}

impl Gateway {
    /// Keeps a new webhook and answers its secret, once.
    pub async fn create_webhook(
        &self,
        caller: &Caller,
        request: CreateWebhook,
    ) -> Result<SecretWebhook, Error> {
        caller.need(Scope::Webhooks)?;
        self.check_url(&request.url)?;
        check_description(&request.description)?;
        check_patterns("events", &request.events)?;
        let now_ms = self.clock.now_ms();
        let id = ids::ulid("whk");
        let secret = signing::new_secret();
        let row = store::WebhookRow {
            sealed: self.seal_secret(signing::place(&caller.workspace_id, &id), &secret)?,
            id,
            workspace_id: caller.workspace_id.to_string(),
            url: request.url,
            description: request.description,
            events: request.events,
            filters: checked_filters(caller, request.filters)?,
            enabled: true,
            disabled_reason: None,
            disabled_at_ms: None,
            sealed_previous: None,
            previous_until_ms: None,
            failures: 0,
            failing_since_ms: None,
            retry_at_ms: None,
            lease_owner: None,
            lease_until_ms: None,
            created_at_ms: now_ms,
            updated_at_ms: now_ms,
        };
        let details = json!({ "url": row.url, "events": row.events });
        let audited = self.audited(caller, AuditAction::WebhooksCreate, &row.id, details);
        if !audited.insert_webhook(&row, WEBHOOKS_MAX).await? {
            return Err(Error::Conflict(format!(
                "the workspace has {WEBHOOKS_MAX} webhooks already; delete one first"
            )));
        }
        Ok(SecretWebhook {
            webhook: shown(row, now_ms),
            secret,
        })
    }

    /// Webhooks of the workspace, newest first.
    pub async fn webhooks(&self, caller: &Caller) -> Result<WebhookList, Error> {
        caller.need(Scope::Webhooks)?;
        let rows = self.store.list_webhooks(&caller.workspace_id).await?;
        let rows = rows.into_iter().filter(|row| is_visible(caller, row));
        let now_ms = self.clock.now_ms();
        Ok(WebhookList {
            webhooks: rows.map(|row| shown(row, now_ms)).collect(),
        })
    }

    pub async fn webhook(&self, caller: &Caller, webhook_id: &str) -> Result<Webhook, Error> {
        caller.need(Scope::Webhooks)?;
        let row = self.find_webhook(caller, webhook_id).await?;
        Ok(shown(row, self.clock.now_ms()))
    }

    /// Changes what is given. Switching on forgets what failed before and sends what waits.
    pub async fn update_webhook(
        &self,
        caller: &Caller,
        request: UpdateWebhook,
    ) -> Result<Webhook, Error> {
        caller.need(Scope::Webhooks)?;
        if let Some(url) = &request.url {
            self.check_url(url)?;
        }
        if let Some(description) = &request.description {
            check_description(description)?;
        }
        if let Some(events) = &request.events {
            check_patterns("events", events)?;
        }
        let filters = request
            .filters
            .map(|filters| checked_filters(caller, filters))
            .transpose()?;
        let change = WebhookChange {
            url: request.url.as_deref(),
            description: request.description.as_deref(),
            events: request.events.as_deref(),
            filters: filters.as_ref(),
            enabled: request.enabled,
        };
        let now_ms = self.clock.now_ms();
        let before = self.find_webhook(caller, &request.webhook_id).await?;
        let details = json!({
            "url": request.url.as_ref().unwrap_or(&before.url),
            "events": request.events.as_ref().unwrap_or(&before.events),
            "enabled": request.enabled.unwrap_or(before.enabled),
        });
        let updated = self
            .audited(caller, AuditAction::WebhooksUpdate, &before.id, details)
            .update_webhook(&caller.workspace_id, &request.webhook_id, &change, now_ms)
            .await?;
        let row = updated.ok_or_else(|| unknown(&request.webhook_id))?;
        Ok(shown(row, now_ms))
    }

    /// Deletes a webhook with its deliveries; what waits is not sent any more.
    pub async fn delete_webhook(
        &self,
        caller: &Caller,
        webhook_id: &str,
    ) -> Result<DeletedWebhook, Error> {
        caller.need(Scope::Webhooks)?;
        if caller.confined {
            self.find_webhook(caller, webhook_id).await?;
        }
        let workspace_id = &caller.workspace_id;
        let audited = self.audited(caller, AuditAction::WebhooksDelete, webhook_id, json!({}));
        if !audited.delete_webhook(workspace_id, webhook_id).await? {
            return Err(unknown(webhook_id));
        }
        Ok(DeletedWebhook {
            webhook_id: webhook_id.to_owned(),
            deleted: true,
        })
    }

    /// Makes a new secret; the one before signs too for `overlap_hours`.
    pub async fn rotate_webhook_secret(
        &self,
        caller: &Caller,
        webhook_id: &str,
        overlap_hours: u32,
    ) -> Result<SecretWebhook, Error> {
        caller.need(Scope::Webhooks)?;
        if overlap_hours > OVERLAP_HOURS_MAX {
            return Err(Error::InvalidRequest(format!(
                "overlap_hours must be 0 to {OVERLAP_HOURS_MAX}, not {overlap_hours}"
            )));
        }
        let row = self.find_webhook(caller, webhook_id).await?;
        let now_ms = self.clock.now_ms();
        let secret = signing::new_secret();
        let sealed = self.seal_secret(signing::place(&row.workspace_id, &row.id), &secret)?;
        let previous = match overlap_hours {
            0 => None,
            hours => {
                let old =
                    self.open_secret(signing::place(&row.workspace_id, &row.id), &row.sealed)?;
                let place = signing::previous_place(&row.workspace_id, &row.id);
                let until_ms = now_ms + i64::from(hours) * HOUR_MS;
                Some((self.seal_secret(place, &old)?, until_ms))
            }
        };
        let previous = previous.as_ref().map(|(sealed, at)| (sealed.as_str(), *at));
        let details = json!({ "overlap_hours": overlap_hours });
        let rotated = self
            .audited(caller, AuditAction::WebhooksRotate, &row.id, details)
            .rotate_webhook_secret(
                &row.workspace_id,
                &row.id,
                &row.sealed,
                &sealed,
                previous,
                now_ms,
            )
            .await?;
        let row = rotated.ok_or_else(|| {
            Error::Conflict("the secret is being rotated by another request".to_owned())
        })?;
        Ok(SecretWebhook {
            webhook: shown(row, now_ms),
            secret,
        })
    }

    pub(crate) async fn find_webhook(
        &self,
        caller: &Caller,
        webhook_id: &str,
    ) -> Result<store::WebhookRow, Error> {
        let found = self
            .store
            .find_webhook(&caller.workspace_id, webhook_id)
            .await?;
        found
            .filter(|row| is_visible(caller, row))
            .ok_or_else(|| unknown(webhook_id))
    }

    pub(crate) fn seal_secret(
        &self,
        place: toolgate_vault::SealContext<'_>,
        secret: &Secret,
    ) -> Result<String, Error> {
        let sealed = self.vault.seal(&place, secret);
        sealed.map_err(|cause| Error::Internal(cause.into()))
    }

    pub(crate) fn open_secret(
        &self,
        place: toolgate_vault::SealContext<'_>,
        sealed: &str,
    ) -> Result<Secret, Error> {
        let opened = self.vault.unseal(&place, sealed);
        opened.map_err(|cause| Error::Internal(cause.into()))
    }

    fn check_url(&self, url: &str) -> Result<(), Error> {
        if url.chars().count() > URL_CHARS_MAX {
            return Err(Error::InvalidRequest(format!(
                "url must have at most {URL_CHARS_MAX} characters"
            )));
        }
        let allowed = self.egress.allows_for_host(url);
        allowed.map_err(|refused| Error::InvalidRequest(format!("url: {}", refused.message)))
    }
}

fn unknown(webhook_id: &str) -> Error {
    Error::NotFound(format!(
        "the webhook {}",
        toolgate_core::visible::shown_name(webhook_id)
    ))
}

fn check_description(text: &str) -> Result<(), Error> {
    if text.chars().count() > DESCRIPTION_CHARS_MAX || text.chars().any(char::is_control) {
        return Err(Error::InvalidRequest(format!(
            "description must have at most {DESCRIPTION_CHARS_MAX} characters and no control characters"
        )));
    }
    Ok(())
}

/// Each must name something that can happen: a misspelt type would wait for ever. `field`: where they were given.
///
/// # Errors
/// `invalid_request`.
pub(crate) fn check_patterns(field: &str, patterns: &[String]) -> Result<(), Error> {
    if patterns.is_empty() || patterns.len() > EVENTS_MAX {
        return Err(Error::InvalidRequest(format!(
            "{field} must hold 1 to {EVENTS_MAX} types, groups (`tool.*`) or `*`"
        )));
    }
    for pattern in patterns {
        if !is_pattern(pattern) {
            let known: Vec<&str> = EventType::ALL.iter().map(|kind| kind.into_str()).collect();
            return Err(Error::InvalidRequest(format!(
                "{field}: {} is not an event; there are {}, trigger.<service>.<event>, groups like tool.* and *",
                toolgate_core::visible::shown_name(pattern),
                known.join(", ")
            )));
        }
    }
    Ok(())
}

fn is_pattern(pattern: &str) -> bool {
    if pattern == "*" || pattern.parse::<EventType>().is_ok() {
        return true;
    }
    if pattern.chars().count() > PATTERN_CHARS_MAX {
        return false;
    }
    let group = pattern.strip_suffix('*');
    if let Some(group) = group.filter(|group| group.ends_with('.')) {
        if group == TRIGGER_PREFIX {
            return true;
        }
        if EventType::ALL
            .iter()
            .any(|kind| kind.into_str().starts_with(group))
        {
            return true;
        }
    }
    let rest = group.unwrap_or(pattern).strip_prefix(TRIGGER_PREFIX);
    rest.is_some_and(|rest| {
        let mut parts = rest.split('.');
        let named = parts.next().is_some_and(|service| !service.is_empty());
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
        named && rest.contains('.') && !rest.contains("..") && rest.chars().all(plain)
    })
}

/// Whether the webhook is there for the caller.
fn is_visible(caller: &Caller, webhook: &store::WebhookRow) -> bool {
    let users = webhook.filters.user_ids.as_deref();
    !caller.confined || matches!(users, Some([only]) if caller.acts_for(only))
}

/// The filters as they are kept: those of a caller who acts for one user alone let nothing pass but that
/// user's events.
fn checked_filters(caller: &Caller, filters: Filters) -> Result<EventFilters, Error> {
    for (name, values) in [
        ("user_ids", &filters.user_ids),
        ("services", &filters.services),
        ("tool_names", &filters.tool_names),
    ] {
        let Some(values) = values else { continue };
        let fits = (1..=FILTER_VALUES_MAX).contains(&values.len())
            && values
                .iter()
                .all(|value| (1..=FILTER_CHARS_MAX).contains(&value.chars().count()));
        if !fits {
            return Err(Error::InvalidRequest(format!(
                "filters.{name} must hold 1 to {FILTER_VALUES_MAX} values of 1 to {FILTER_CHARS_MAX} characters; \
                 leave it out to let all pass"
            )));
        }
    }
    let mut user_ids = filters.user_ids;
    if caller.confined {
        for named in user_ids.iter().flatten() {
            let named = UserId::parse(named);
            let named = named
                .map_err(|cause| Error::InvalidRequest(format!("filters.user_ids: {cause}")))?;
            caller.user(Some(&named))?;
        }
        user_ids = Some(vec![caller.default_user.to_string()]);
    }
    Ok(EventFilters {
        user_ids,
        services: filters.services,
        tool_names: filters.tool_names,
    })
}

fn shown(row: store::WebhookRow, now_ms: i64) -> Webhook {
    Webhook {
        webhook_id: row.id,
        url: row.url,
        description: row.description,
        events: row.events,
        filters: Filters {
            user_ids: row.filters.user_ids,
            services: row.filters.services,
            tool_names: row.filters.tool_names,
        },
        enabled: row.enabled,
        disabled_reason: row.disabled_reason,
        disabled_at: row.disabled_at_ms.map(rfc3339),
        failing_since: row.failing_since_ms.map(rfc3339),
        paused_until: schedule::paused_until_ms(row.enabled, row.retry_at_ms, now_ms).map(rfc3339),
        previous_secret_until: row
            .previous_until_ms
            .filter(|until_ms| *until_ms > now_ms)
            .map(rfc3339),
        created_at: rfc3339(row.created_at_ms),
        updated_at: rfc3339(row.updated_at_ms),
    }
}

#[cfg(test)]
mod tests;
