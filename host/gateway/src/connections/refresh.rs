//! Renewing a credential: ahead of its expiry, and when the provider refuses it.
//!
//! One refresh at a time for each connection: in this process by a lock, among all that share the
//! database by a lease. After a wait, a caller first checks whether another one has refreshed it. What a
//! refresh brought is on disk before it is used ([`super::unsaved`]), and the refresh runs to its end even when
//! the call that asked for it is gone. A refused refresh needs the user; a network fault only time.
//!
//! A token's lifetime is counted from when the request for it was sent: the provider counts from when it
//! answered (RFC 6749, section 5.1), and a slow answer has used part of it on its way.

use std::sync::Arc;
use std::time::Duration;

use rand::RngExt as _;
use tokio::time::Instant;

use super::callback::callback_url;
use super::credential::OpenCredential;
use super::granted::{believed, union};
use super::issued::{lifetime_ms, registration};
use super::requests::ConnectionPurpose;
use super::token_parameters::TokenParameters;
use super::unsaved::RenewedConnection;
use super::{ConnectionManager, Error, about, apps, backoff, slot_of};
use toolgate_catalog::manifest::{AuthKind, Manifest, Slot};
use toolgate_core::ids;
use toolgate_core::states::ConnectionHealth;
use toolgate_core::trace;
use toolgate_oauth::token::TokenGrant;
use toolgate_oauth::{self as oauth, OAuthError};
use toolgate_store::{Connection, RETRY_MS_MAX, RefreshFailed, StoreError};
use toolgate_vault::Secret;

/// A token is renewed this long before its end, or in the last quarter of a shorter life.
pub(super) const AHEAD_MS: i64 = 60_000;
/// A token that was renewed this long ago, or within half of a shorter life, is not renewed because
/// it is refused: a service that refuses what it has just been given refuses the call.
const REFUSED_AGAIN_MS: i64 = 60_000;
/// How long one refresh holds a connection unless it says that it goes on. Short, so that one whose
/// process was killed is soon somebody else's.
const LEASE_MS: i64 = 10_000;
/// How often it says so.
const LEASE_RENEW_EVERY: Duration = Duration::from_secs(3);
/// How long a process that takes over a renewal waits for the one that began it.
const INTERRUPTED_GRACE: Duration = Duration::from_secs(2);
/// How long a call waits for a refresh that another process does.
const FOREIGN_REFRESH_TIMEOUT: Duration = Duration::from_secs(35);
/// How often it looks.
const FOREIGN_REFRESH_POLL: Duration = Duration::from_millis(50);

/// A connection that can be used, opened.
pub(super) struct UsableConnection {
    pub row: Connection,
    pub credential: OpenCredential,
}

/// The inner result is the provider's word, the outer one the gateway's own fault.
type RefreshAnswer = Result<Result<RenewedConnection, OAuthError>, Error>;

/// Why a connection cannot be used now.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnusableReason {
    #[error("the connection is gone")]
    Gone,
    #[error("the connection was changed while the call ran")]
    Reconnected,
    #[error("the user has to connect again: {0}")]
    Expired(String),
    #[error("the credential could not be renewed; the next try is in {} s", .retry_after_ms / 1_000 + 1)]
    Later { retry_after_ms: i64 },
    #[error("the credential cannot be opened")]
    Broken(#[from] Error),
}

impl ConnectionManager {
    /// The connection as it can be used now, renewed where that is due. `rejected`: the generation
    /// that the provider has just refused; answered again where renewing it makes no sense.
    pub(super) async fn fresh(
        self: &Arc<Self>,
        manifest: &Arc<Manifest>,
        workspace_id: &str,
        id: &str,
        rejected: Option<i64>,
    ) -> Result<UsableConnection, UnusableReason> {
        let row = match self.unsaved_of(workspace_id, id).await {
            Some(row) => row,
            None => self.read(workspace_id, id).await?,
        };
        usable(&row)?;
        let credential = self.open(&row)?;
        let now_ms = self.clock.now_ms();
        let refused = rejected == Some(row.generation) && !renewed_just_now(&credential, now_ms);
        let expired = row.token_expires_at_ms.is_some_and(|at| at <= now_ms);
        if !refused && !ends_soon(&row, &credential, now_ms) {
            return Ok(UsableConnection { row, credential });
        }
        if !row.refreshable {
            if !expired {
                return Ok(UsableConnection { row, credential });
            }
            let why = "the credential has expired and cannot be renewed";
            self.store
                .set_connection_state(
                    workspace_id,
                    id,
                    row.generation,
                    ConnectionHealth::ReauthNeeded,
                    Some(why),
                    now_ms,
                )
                .await
                .map_err(Error::from)?;
            return Err(UnusableReason::Expired(why.to_owned()));
        }
        let (manager, manifest, seen) = (self.clone(), manifest.clone(), row.clone());
        let task = self.running.spawn(trace::carry(async move {
            manager.refresh(&manifest, &seen).await
        }));
        let renewed = task
            .await
            .map_err(|cause| Error::Internal(anyhow::anyhow!("the refresh ended: {cause}")))?;
        match renewed {
            Ok(row) => {
                let credential = self.open(&row)?;
                Ok(UsableConnection { row, credential })
            }
            // Ahead of its end the old token still serves.
            Err(UnusableReason::Later { .. }) if !refused && !expired => {
                Ok(UsableConnection { row, credential })
            }
            Err(unusable) => Err(unusable),
        }
    }

    /// Waits for its turn, then refreshes, unless that has happened since `seen` was read.
    async fn refresh(
        &self,
        manifest: &Manifest,
        seen: &Connection,
    ) -> Result<Connection, UnusableReason> {
        let turn = self.turn_of(seen);
        let _one = turn.lock().await;
        let owner = ids::ulid("ref");
        let end = Instant::now() + FOREIGN_REFRESH_TIMEOUT;
        let (leased, interrupted) = loop {
            let row = match self.unsaved_of(&seen.workspace_id, &seen.id).await {
                Some(row) => row,
                None => self.read(&seen.workspace_id, &seen.id).await?,
            };
            usable(&row)?;
            if row.generation != seen.generation {
                return Ok(row);
            }
            let interrupted = row.lease_owner.is_some();
            let now_ms = self.clock.now_ms();
            let waits = |at: &i64| *at > now_ms && *at - now_ms <= RETRY_MS_MAX;
            if let Some(at) = row.next_retry_at_ms.filter(waits) {
                return Err(UnusableReason::Later {
                    retry_after_ms: at - now_ms,
                });
            }
            let leased = self
                .store
                .try_lease_connection(&row.workspace_id, &row.id, &owner, now_ms, LEASE_MS)
                .await
                .map_err(Error::from)?;
            match leased {
                Some(row) => break (row, interrupted),
                None if Instant::now() < end => tokio::time::sleep(FOREIGN_REFRESH_POLL).await,
                None => {
                    return Err(UnusableReason::Later {
                        retry_after_ms: LEASE_MS,
                    });
                }
            }
        };
        if leased.generation != seen.generation || usable(&leased).is_err() {
            self.store
                .release_connection(&leased.workspace_id, &leased.id, &owner)
                .await
                .map_err(Error::from)?;
            usable(&leased)?;
            return Ok(leased);
        }
        if interrupted {
            // A process that lives and has a new token writes it now that the database answers.
            let until = Instant::now() + INTERRUPTED_GRACE;
            while Instant::now() < until {
                tokio::time::sleep(FOREIGN_REFRESH_POLL).await;
                let row = self.read(&leased.workspace_id, &leased.id).await?;
                if row.generation != leased.generation {
                    return Ok(row);
                }
            }
        }
        self.renew(manifest, &leased, &owner, interrupted).await
    }

    /// Asks the provider, under the lease.
    async fn renew(
        &self,
        manifest: &Manifest,
        row: &Connection,
        owner: &str,
        interrupted: bool,
    ) -> Result<Connection, UnusableReason> {
        let asked = self.ask_leased(manifest, row, owner).await;
        let renewed = match asked {
            Ok(Ok(renewed)) => renewed,
            Ok(Err(refused)) => {
                return Err(self.failed(row, owner, &refused, interrupted).await?);
            }
            Err(cause) => {
                // A fault of the gateway's own: nothing is said about the connection.
                let _ = self
                    .store
                    .release_connection(&row.workspace_id, &row.id, owner)
                    .await;
                return Err(UnusableReason::Broken(cause));
            }
        };
        let stored = self
            .keep(row, owner, &renewed)
            .await
            .map_err(Error::Internal)?;
        let credential = renewed.credential;
        match stored {
            Some(stored) => {
                self.metrics.token_refresh("refreshed");
                tracing::info!(
                    connection.id = stored.id,
                    recovered = row.state != ConnectionHealth::Active,
                    "connections.refreshed"
                );
                Ok(stored)
            }
            // Deleted, or connected again by the user, meanwhile.
            None => match self.read(&row.workspace_id, &row.id).await {
                Ok(now) => {
                    usable(&now)?;
                    Ok(now)
                }
                Err(UnusableReason::Gone) => {
                    self.revoke_brought(row, credential).await;
                    Err(UnusableReason::Gone)
                }
                Err(unusable) => Err(unusable),
            },
        }
    }

    /// Revokes what a refresh brought for a connection that was deleted meanwhile. The deletion revoked the
    /// token of before, and the provider may have replaced that one already.
    async fn revoke_brought(&self, row: &Connection, mut brought: OpenCredential) {
        let before = self.open(row);
        // A refresh token that was not replaced was revoked with the deletion; the access token is new.
        if before.is_ok_and(|before| before.refresh == brought.refresh) {
            brought.refresh = None;
        }
        self.revoke_for(row, &brought).await;
    }

    /// Asks, and keeps the lease for as long as the provider takes.
    async fn ask_leased(
        &self,
        manifest: &Manifest,
        row: &Connection,
        owner: &str,
    ) -> RefreshAnswer {
        let mut asked = std::pin::pin!(self.ask(manifest, row));
        loop {
            tokio::select! {
                answer = &mut asked => return answer,
                extended = self.extend_later(row, owner) => if let Err(cause) = extended {
                    tracing::warn!(connection.id = row.id, error = %cause, "connections.lease_not_extended");
                }
            }
        }
    }

    async fn extend_later(&self, row: &Connection, owner: &str) -> Result<bool, StoreError> {
        tokio::time::sleep(LEASE_RENEW_EVERY).await;
        let until_ms = self.clock.now_ms().saturating_add(LEASE_MS);
        self.store
            .extend_lease(&row.workspace_id, &row.id, owner, until_ms)
            .await
    }

    async fn ask(&self, manifest: &Manifest, row: &Connection) -> RefreshAnswer {
        let missing = |what: &str| Error::Internal(anyhow::anyhow!("{what} is gone"));
        let slot = slot_of(manifest, &row.slot).ok_or_else(|| missing("the slot"))?;
        let Some(app) = apps::find(&self.store, manifest, &row.workspace_id).await? else {
            return Ok(Err(OAuthError::Client("not_configured".to_owned())));
        };
        let provider = apps::provider(&self.vault, slot, &app, &row.parameters)?;
        let mut credential = self.open(row)?;
        let address = callback_url(&self.public_url, &row.service, Some(&app));
        let scopes = renewed_scopes(slot, &row.scopes);
        let grant = match (slot.kind, &credential.refresh) {
            (AuthKind::Oauth2ClientCredentials, _) => TokenGrant::ClientCredentials {
                scopes: &row.scopes,
            },
            (_, Some(token)) => TokenGrant::Refresh {
                token,
                redirect_uri: provider.redirect_uri(&address),
                scopes: &scopes,
            },
            (_, None) => return Ok(Err(OAuthError::Refused("no_refresh_token".to_owned()))),
        };
        let requests = self.requests(ConnectionPurpose::TokenRefresh, about(row));
        let egress = self.egress.with_journal(requests.clone());
        let asked_ms = self.clock.now_ms();
        let places = TokenParameters::of(slot);
        let answer = oauth::send::tokens(&egress, &provider, &grant, &places.pointers).await;
        let tokens = match answer {
            Ok(tokens) => tokens,
            Err(refused) => {
                requests.ended(false, None).await;
                let refused = self.renewal_refused(manifest, slot, &app, row, refused);
                return Ok(Err(refused.await));
            }
        };
        let brought = [Some(&tokens.access), tokens.refresh.as_ref()];
        let brought: Vec<Secret> = brought.into_iter().flatten().cloned().collect();
        self.known.learn(row, &brought);
        let access = tokens.access.clone();
        match credential.values.insert("secret".to_owned(), access) {
            Some(spent) if spent != tokens.access => credential.spend(spent),
            _ => {}
        }
        credential.values.extend(registration(&provider, slot));
        // A provider that does not say it again means as before.
        let said_ms = lifetime_ms(&tokens, slot, asked_ms);
        credential.lifetime_ms = said_ms.or(credential.lifetime_ms);
        credential.renewed_at_ms = Some(asked_ms);
        let life_ms = tokens
            .refresh_lifetime
            .and_then(|life| life.from_ms(asked_ms));
        let mut replaced = false;
        if let Some(token) = tokens.refresh {
            match credential.refresh.replace(token.clone()) {
                Some(spent) if spent != token => {
                    replaced = true;
                    credential.spend(spent);
                }
                _ => {}
            }
        }
        credential.note_refresh_life(life_ms, replaced, asked_ms);
        let parameters = places.taken(manifest, &tokens.read, row.parameters.clone());
        let renewed = RenewedConnection {
            credential,
            scopes: tokens
                .scopes
                .map(|granted| believed(&row.scopes, Some(granted))),
            parameters: (parameters != row.parameters).then_some(parameters),
        };
        // Before the receipt: the database may be away, and the process be killed while it waits.
        if let Err(cause) = self.sealed_renewal(row, &renewed).await {
            tracing::warn!(
                connection.id = row.id,
                error = format!("{cause:#}"),
                "connections.not_sealed_yet"
            );
        }
        requests.ended(true, None).await;
        Ok(Ok(renewed))
    }

    /// Notes a failed refresh and says what follows from it.
    async fn failed(
        &self,
        row: &Connection,
        owner: &str,
        refused: &OAuthError,
        interrupted: bool,
    ) -> Result<UnusableReason, Error> {
        let now_ms = self.clock.now_ms();
        let failures = row.failures + 1;
        let why = match (refused, interrupted) {
            (OAuthError::Refused(_), true) => format!(
                "{refused}; a renewal was under way when a gateway process ended, and its token may have been lost"
            ),
            _ => refused.to_string(),
        };
        let final_word = matches!(refused, OAuthError::Refused(_)) || backoff::given_up(failures);
        let wait_ms = backoff::wait_ms(failures, rand::rng().random());
        let failed = RefreshFailed {
            state: if final_word {
                ConnectionHealth::ReauthNeeded
            } else {
                ConnectionHealth::CoolingDown
            },
            next_retry_at_ms: (!final_word).then_some(now_ms + wait_ms),
            last_error: &why,
        };
        self.store
            .store_refresh_failed(&row.workspace_id, &row.id, owner, &failed, now_ms)
            .await?;
        tracing::warn!(
            connection.id = row.id,
            connection.service = row.service,
            connection.state = failed.state.into_str(),
            connection.failures = failures,
            error = %why,
            "connections.refresh_failed"
        );
        self.metrics.token_refresh(match final_word {
            true => "refused",
            false => "failed",
        });
        Ok(if final_word {
            UnusableReason::Expired(why)
        } else {
            UnusableReason::Later {
                retry_after_ms: wait_ms,
            }
        })
    }

    async fn read(&self, workspace_id: &str, id: &str) -> Result<Connection, UnusableReason> {
        self.store
            .find_connection(workspace_id, id)
            .await
            .map_err(Error::from)?
            .ok_or(UnusableReason::Gone)
    }
}

fn usable(row: &Connection) -> Result<(), UnusableReason> {
    if row.state.is_broken() {
        let why = row.last_error.clone().unwrap_or_default();
        return Err(UnusableReason::Expired(why));
    }
    Ok(())
}

pub(super) fn ends_soon(row: &Connection, credential: &OpenCredential, now_ms: i64) -> bool {
    let ahead_ms = credential
        .lifetime_ms
        .map_or(AHEAD_MS, |life| AHEAD_MS.min(life / 4));
    row.token_expires_at_ms
        .is_some_and(|at| at - ahead_ms <= now_ms)
}

fn renewed_just_now(credential: &OpenCredential, now_ms: i64) -> bool {
    let life_ms = credential.lifetime_ms.unwrap_or(i64::MAX);
    let young_ms = REFUSED_AGAIN_MS.min(life_ms / 2);
    let age_ms = credential.renewed_at_ms.map(|at_ms| now_ms - at_ms);
    age_ms.is_some_and(|age_ms| (0..young_ms).contains(&age_ms))
}

/// What a renewal asks for where the provider wants the scopes again: those that were granted, and the slot's own that
/// ask for a refresh token, which few answers repeat (`offline_access` at Microsoft, `offline` at Whoop).
fn renewed_scopes(slot: &Slot, granted: &[String]) -> Vec<String> {
    let offline = slot
        .scopes
        .iter()
        .filter(|scope| scope.starts_with("offline"));
    union(granted, offline.cloned())
}
