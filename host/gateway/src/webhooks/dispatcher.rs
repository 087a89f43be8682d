//! Sending what the store has for webhooks.
//!
//! One loop in each process leases webhooks that have something to send; a task for each sends one
//! delivery after the other and stores its outcome before the next. The lease is renewed with
//! every outcome and while an answer is awaited, and is short: when a process dies, another goes on
//! within seconds, beginning with the delivery that was under way.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context as _;
use bytes::Bytes;
use rand::RngExt as _;
use serde_json::json;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use super::schedule::{self, AttemptVerdict, PriorState, TRIED_FOR_MS};
use super::signing;
use crate::Gateway;
use crate::metrics::Metrics;
use toolgate_core::clock::{Clock, rfc3339};
use toolgate_core::ids;
use toolgate_egress::follow::retry_after;
use toolgate_egress::{DestinationClass, Egress, EgressFailure, HostRequest, HostResponse};
use toolgate_store::{
    AttemptFailed, DeliveryAttempt, DueDelivery, Event, EventType, Lease, Store, StoreError,
    WebhookRow,
};
use toolgate_vault::{Secret, Vault};

/// How long an endpoint may take to answer.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);
/// Of an answer; what it says does not matter.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Webhooks that one process serves at once.
const SERVED_MAX: usize = 64;
/// Deliveries that are read at once.
const BATCH_MAX: usize = 50;
/// How long a process that has died keeps its webhooks from the others.
const LEASE_MS: i64 = 6_000;
const RENEW_EVERY: Duration = Duration::from_millis(1_500);
/// What other processes write is found by looking.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Many writes wake the loop once.
const GATHER: Duration = Duration::from_millis(10);
/// Settled deliveries are kept this long.
const SETTLED_KEPT_MS: i64 = 7 * 24 * 60 * 60 * 1_000;
const PURGED_AT_ONCE: usize = 1_000;

/// Runs until the gateway stops. What is under way then is finished.
pub(crate) async fn run(gateway: Arc<Gateway>) {
    let dispatcher = Arc::new(Dispatcher {
        store: gateway.store.clone(),
        egress: gateway.egress.clone(),
        vault: gateway.vault.clone(),
        clock: gateway.clock.clone(),
        metrics: gateway.metrics.clone(),
        stop: gateway.stop.clone(),
        owner: ids::ulid("crr"),
        released: Notify::new(),
    });
    let places = Arc::new(Semaphore::new(SERVED_MAX));
    loop {
        match dispatcher.lease(places.available_permits()).await {
            Ok(webhooks) => {
                for webhook in webhooks {
                    let Ok(place) = places.clone().try_acquire_owned() else {
                        continue;
                    };
                    let dispatcher = dispatcher.clone();
                    gateway.running.spawn(async move {
                        dispatcher.serve(webhook).await;
                        drop(place);
                        dispatcher.released.notify_one();
                    });
                }
            }
            Err(cause) => tracing::error!(error = %cause, "webhooks.lease_failed"),
        }
        tokio::select! {
            () = dispatcher.stop.cancelled() => return,
            () = dispatcher.store.outbox_written() => {}
            () = dispatcher.released.notified() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
        tokio::time::sleep(GATHER).await;
    }
}

/// Forgets old deliveries, and waiting ones whose webhook was switched off long ago.
pub(crate) async fn purge(store: &Store, now_ms: i64) -> Result<(), StoreError> {
    let settled_ms = now_ms - SETTLED_KEPT_MS;
    let waiting_ms = settled_ms - TRIED_FOR_MS;
    while store
        .purge_deliveries(settled_ms, waiting_ms, PURGED_AT_ONCE)
        .await?
        == PURGED_AT_ONCE as u64
    {}
    Ok(())
}

struct Dispatcher {
    store: Store,
    egress: Egress,
    vault: Vault,
    clock: Clock,
    metrics: Arc<Metrics>,
    stop: CancellationToken,
    /// Of the leases, different in every process.
    owner: String,
    /// A webhook has been given back: more may wait for it.
    released: Notify,
}

/// Whether there is a reason to go on with a webhook.
#[derive(PartialEq)]
enum Next {
    GoOn,
    /// It rests, belongs to somebody else, or is off.
    Leave,
}

/// How many of the free places one workspace takes: at most half, so that each further one finds its part.
fn share(places: usize) -> usize {
    (places / 2).max(1)
}

impl Dispatcher {
    fn lease_now(&self) -> Lease<'_> {
        let now_ms = self.clock.now_ms();
        Lease {
            owner: &self.owner,
            now_ms,
            until_ms: now_ms + LEASE_MS,
        }
    }

    async fn lease(&self, places: usize) -> Result<Vec<WebhookRow>, StoreError> {
        if places == 0 || self.stop.is_cancelled() {
            return Ok(Vec::new());
        }
        self.store
            .lease_webhooks(self.lease_now(), places, share(places))
            .await
    }

    async fn serve(&self, webhook: WebhookRow) {
        let id = webhook.id.clone();
        if let Err(cause) = self.send_all(webhook).await {
            tracing::error!(webhook.id = id, error = %format!("{cause:#}"), "webhooks.sending_failed");
        }
        if let Err(cause) = self.store.release_webhook(&id, &self.owner).await {
            tracing::error!(webhook.id = id, error = %cause, "webhooks.release_failed");
        }
    }

    /// Sends what waits, in order, until nothing does or something fails.
    async fn send_all(&self, mut webhook: WebhookRow) -> anyhow::Result<()> {
        let mut held_until_ms = webhook.lease_until_ms.unwrap_or_default();
        loop {
            let now_ms = self.clock.now_ms();
            let due = self
                .store
                .due_deliveries(&webhook.id, now_ms, BATCH_MAX)
                .await?;
            if due.is_empty() {
                return Ok(());
            }
            let secrets = self.secrets(&webhook, now_ms)?;
            for (place, delivery) in due.iter().enumerate() {
                // What a person asks for does not wait until all that was read is sent.
                if place > 0 && self.store.has_delivery_at_once(&webhook.id).await? {
                    break;
                }
                let before_ms = self.clock.now_ms();
                // A process that stood still has lost its lease: somebody else sends by now.
                if self.stop.is_cancelled() || before_ms >= held_until_ms {
                    return Ok(());
                }
                if self.deliver(&webhook, &secrets, delivery).await? == Next::Leave {
                    return Ok(());
                }
                held_until_ms = before_ms + LEASE_MS;
                (webhook.failures, webhook.failing_since_ms) = (0, None);
            }
            // The secret or the address may be others by now.
            let lease = self.lease_now();
            match self.store.renew_webhook_lease(&webhook.id, lease).await? {
                Some(now) => webhook = now,
                None => return Ok(()),
            }
            held_until_ms = lease.until_ms;
        }
    }

    /// The newest first; the one before while it overlaps.
    fn secrets(&self, webhook: &WebhookRow, now_ms: i64) -> anyhow::Result<Vec<Secret>> {
        let place = signing::place(&webhook.workspace_id, &webhook.id);
        let mut secrets = vec![self.vault.unseal(&place, &webhook.sealed)?];
        if let (Some(sealed), Some(until_ms)) =
            (&webhook.sealed_previous, webhook.previous_until_ms)
            && until_ms > now_ms
        {
            let place = signing::previous_place(&webhook.workspace_id, &webhook.id);
            secrets.push(self.vault.unseal(&place, sealed)?);
        }
        Ok(secrets)
    }

    /// Sends one delivery, while the lease of the webhook is renewed. `None`: another process has the webhook now.
    async fn send(
        &self,
        webhook: &WebhookRow,
        headers: Vec<(String, String)>,
        payload: Bytes,
    ) -> anyhow::Result<Option<Result<HostResponse, EgressFailure>>> {
        let sending = self.egress.send_for_host(HostRequest {
            method: http::Method::POST,
            class: DestinationClass::Webhook,
            url: webhook.url.clone(),
            headers,
            body: payload,
            origins: Vec::new(),
            response_bytes_max: ANSWER_BYTES_MAX,
            timeout: ANSWER_TIMEOUT,
        });
        tokio::pin!(sending);
        loop {
            tokio::select! {
                answer = &mut sending => return Ok(Some(answer)),
                () = tokio::time::sleep(RENEW_EVERY) => {
                    let lease = self.store.renew_webhook_lease(&webhook.id, self.lease_now()).await?;
                    if lease.is_none() {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Keeps how an attempt ended, and whether the webhook goes on at once.
    async fn record(
        &self,
        webhook: &WebhookRow,
        delivery: &DueDelivery,
        attempt: &DeliveryAttempt,
        verdict: AttemptVerdict,
    ) -> anyhow::Result<Next> {
        match verdict {
            AttemptVerdict::Arrived => {
                self.metrics.webhook_delivery("delivered");
                let goes_on = self
                    .store
                    .delivery_arrived(&webhook.id, delivery.seq, attempt, self.lease_now())
                    .await?;
                Ok(if goes_on { Next::GoOn } else { Next::Leave })
            }
            AttemptVerdict::Failed {
                again_at_ms,
                rest_until_ms,
                disable,
            } => {
                self.metrics.webhook_delivery(match again_at_ms {
                    Some(_) => "failed",
                    None => "given_up",
                });
                tracing::warn!(
                    webhook.id = webhook.id,
                    event.id = delivery.event_id,
                    delivery.attempts = delivery.attempts + 1,
                    delivery.given_up = again_at_ms.is_none(),
                    webhook.disabled = disable.unwrap_or_default(),
                    error = attempt.error.as_deref().unwrap_or_default(),
                    "webhooks.delivery_failed"
                );
                let failed = AttemptFailed {
                    again_at_ms,
                    rest_until_ms,
                    disable: disable
                        .map(|reason| (reason, disabled(webhook, reason, self.clock.now_ms()))),
                };
                self.store
                    .delivery_failed(&webhook.id, delivery.seq, attempt, &failed, &self.owner)
                    .await?;
                Ok(Next::Leave)
            }
        }
    }

    async fn deliver(
        &self,
        webhook: &WebhookRow,
        secrets: &[Secret],
        delivery: &DueDelivery,
    ) -> anyhow::Result<Next> {
        let at_ms = self.clock.now_ms();
        let payload = Bytes::copy_from_slice(delivery.payload.as_bytes());
        let headers = signing::headers(
            secrets,
            &delivery.event_id,
            at_ms.div_euclid(1_000),
            &payload,
        )
        .context("the delivery cannot be signed")?;
        let started = Instant::now();
        let Some(answer) = self.send(webhook, headers, payload).await? else {
            return Ok(Next::Leave);
        };
        let (status, wait, error) = match &answer {
            Ok(answer) => (
                Some(answer.status),
                asked_wait(answer, self.clock.now()),
                said(answer),
            ),
            Err(failure) => (None, None, Some(failure.message.clone())),
        };
        let attempt = DeliveryAttempt {
            at_ms,
            duration_ms: i64::try_from(started.elapsed().as_millis()).unwrap_or(i64::MAX),
            response_status: status.map(i64::from),
            error,
        };
        let standing = PriorState {
            failures: webhook.failures,
            failing_since_ms: webhook.failing_since_ms,
            attempts: delivery.attempts,
            created_at_ms: delivery.created_at_ms,
        };
        let now_ms = self.clock.now_ms();
        let random = rand::rng().random();
        let verdict = schedule::judge(standing, status, wait, now_ms, random);
        self.record(webhook, delivery, &attempt, verdict).await
    }
}

fn asked_wait(answer: &HostResponse, now: SystemTime) -> Option<Duration> {
    retry_after(answer.status, &answer.headers, now)
}

fn said(answer: &HostResponse) -> Option<String> {
    let good = (200..300).contains(&answer.status);
    (!good).then(|| format!("the endpoint answered with HTTP status {}", answer.status))
}

/// What the workspace's other webhooks are told.
fn disabled(webhook: &WebhookRow, reason: &str, now_ms: i64) -> Event {
    let data = json!({
        "webhook_id": webhook.id,
        "url": webhook.url,
        "reason": reason,
        "failing_since": webhook.failing_since_ms.map(rfc3339),
    });
    Event::new(
        EventType::WebhookDisabled,
        &webhook.workspace_id,
        now_ms,
        data,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_workspace_leaves_half_of_the_places_to_others() {
        for (places, expected) in [(1, 1), (2, 1), (3, 1), (SERVED_MAX, SERVED_MAX / 2)] {
            assert_eq!(share(places), expected, "{places}");
        }
    }
}
