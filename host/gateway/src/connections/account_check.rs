//! Whether a credential that one request was refused with is still good.
//!
//! The provider is asked once more, by the slot's `account` request or by tools that only read. One check at a time for
//! each connection, and at most one a minute ([`super::doubt`]); calls that were refused meanwhile share its answer.

use super::account::{self, ProbeOutcome};
use super::doubt::CheckedCredential;
use super::granted::lacking;
use super::key_check::{CHECK_TOOLS_MAX, TriedTool};
use super::requests::ConnectionPurpose;
use super::tried::CandidateCredential;
use super::{Error, Gateway, about, apps, slot_of};
use crate::access::permissions::Permissions;
use crate::plugins::ServingPlugin;
use toolgate_catalog::Tool;
use toolgate_store::Connection;

/// A request that was refused with the newest credential of its connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RefusedRequest {
    pub(super) generation: i64,
    /// Method and address, without the query.
    pub(super) resource: String,
}

/// What the refusal says of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suspicion {
    /// The credential is not taken at all: its user has to connect again.
    Confirmed,
    /// The call alone was refused.
    Dispelled,
    /// The credential has been replaced since the request was sent.
    Outdated,
}

impl Gateway {
    /// Decides whether the refused request condemns the connection.
    pub(super) async fn suspect(
        &self,
        permissions: &Permissions,
        serving: &ServingPlugin,
        tool: &Tool,
        seen: &Connection,
        refused: &RefusedRequest,
    ) -> Result<Suspicion, Error> {
        let manager = &self.connections;
        let doubt = manager.doubts.of(seen);
        let _one = doubt.turn.lock().await;
        let found = self.store.find_connection(&seen.workspace_id, &seen.id);
        let Some(row) = found.await? else {
            return Ok(Suspicion::Outdated);
        };
        if row.generation != refused.generation {
            return Ok(Suspicion::Outdated);
        }
        if row.state.is_broken() {
            return Ok(Suspicion::Confirmed);
        }
        let now_ms = self.clock.now_ms();
        let checked = match doubt.refused(refused.generation, &refused.resource, now_ms) {
            Some(checked) => checked,
            None => {
                let checked = self
                    .check_credential(permissions, serving, tool, &row)
                    .await?;
                doubt.checked(checked, self.clock.now_ms());
                tracing::info!(connection.id = row.id, ?checked, "connections.checked");
                checked
            }
        };
        Ok(match checked {
            CheckedCredential::Refused => Suspicion::Confirmed,
            CheckedCredential::Accepted => Suspicion::Dispelled,
            CheckedCredential::Unknown if doubt.is_certain() => Suspicion::Confirmed,
            CheckedCredential::Unknown => Suspicion::Dispelled,
        })
    }

    async fn check_credential(
        &self,
        permissions: &Permissions,
        serving: &ServingPlugin,
        refused: &Tool,
        row: &Connection,
    ) -> Result<CheckedCredential, Error> {
        let Some(slot) = slot_of(&serving.manifest, &row.slot) else {
            return Ok(CheckedCredential::Unknown);
        };
        let credential = self.connections.open(row)?;
        let settings = self.services.get(&row.workspace_id, &row.service);
        let tried = CandidateCredential {
            serving,
            slot,
            settings: &settings,
            parameters: &row.parameters,
            credential: &credential,
            requests: self
                .connections
                .requests(ConnectionPurpose::AccountCheck, about(row)),
            exposure: self.connections.known.exposure(
                &row.workspace_id,
                &row.user_id,
                &row.service,
            ),
        };
        if let Some(account) = &slot.account {
            let outcome = account::probe(&self.connections.egress, &tried, account).await?;
            return Ok(match outcome {
                ProbeOutcome::Accepted(_) => CheckedCredential::Accepted,
                ProbeOutcome::Refused(refused) if refused.surely => CheckedCredential::Refused,
                ProbeOutcome::Refused(_) | ProbeOutcome::Unknown => CheckedCredential::Unknown,
            });
        }
        let mut tools = self.check_tools(&serving.manifest, slot, permissions);
        tools
            .retain(|tool| !apps::needs_app(slot) || lacking(&row.scopes, &tool.scopes).is_empty());
        // The refused tool comes last. A key was tried with such tools when it was entered, so its refusal counts; of a
        // sign-in it says nothing new.
        let is_refused = |name: &str| name == refused.action();
        tools.sort_by_key(|tool| is_refused(&tool.name));
        tools.retain(|tool| !(apps::needs_app(slot) && is_refused(&tool.name)));
        let mut all_refused = CheckedCredential::Unknown;
        for tool in tools.into_iter().take(CHECK_TOOLS_MAX) {
            match Box::pin(self.try_tool(&tried, tool, &row.workspace_id)).await? {
                TriedTool::NotTaken(_) => all_refused = CheckedCredential::Refused,
                TriedTool::Accepted => return Ok(CheckedCredential::Accepted),
                // A provider that misses a right has recognised the account.
                TriedTool::NotAllowed(_) | TriedTool::Unclear => {
                    return Ok(CheckedCredential::Unknown);
                }
            }
        }
        Ok(all_refused)
    }
}
