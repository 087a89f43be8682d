//! Revoking at the provider (RFC 7009) what the gateway does not keep.
//!
//! That is the credential of a deleted connection, what a refresh brought for a connection that was deleted meanwhile,
//! and the tokens of a connect flow that ends without a connection. A revocation never fails what it belongs to. It
//! leaves a receipt; where the provider has no endpoint for it, nothing is sent.

use std::collections::BTreeMap;

use super::credential::OpenCredential;
use super::requests::{ConnectionPurpose, ConnectionRef};
use super::{ConnectionManager, Error, about, apps, slot_of};
use toolgate_oauth as oauth;
use toolgate_store::Connection;

/// A credential that nothing keeps any more, and where it was issued.
pub(super) struct EndedCredential<'a> {
    pub about: ConnectionRef<'a>,
    /// Of the manifest.
    pub slot: &'a str,
    pub parameters: &'a BTreeMap<String, String>,
    pub credential: &'a OpenCredential,
}

impl ConnectionManager {
    /// Revokes what a connection held that is deleted. Whether the provider agreed.
    pub(super) async fn revoke_deleted(&self, row: &Connection) -> bool {
        match self.open(row) {
            Ok(credential) => self.revoke_for(row, &credential).await,
            Err(cause) => {
                tracing::warn!(connection.id = row.id, error = %cause, "connections.revoke_failed");
                false
            }
        }
    }

    /// Revokes a credential that was issued for a connection. Whether the provider agreed.
    pub(super) async fn revoke_for(&self, row: &Connection, credential: &OpenCredential) -> bool {
        self.revoke(EndedCredential {
            about: about(row),
            slot: &row.slot,
            parameters: &row.parameters,
            credential,
        })
        .await
    }

    /// Whether the provider agreed.
    pub(super) async fn revoke(&self, ended: EndedCredential<'_>) -> bool {
        match self.try_revoke(&ended).await {
            Ok(done) => done,
            Err(cause) => {
                let id = ended.about.connection_id;
                tracing::warn!(connection.id = id, error = %cause, "connections.revoke_failed");
                false
            }
        }
    }

    /// Revokes what a flow brought that ends without a connection, unless its user has connected the service: many
    /// providers end all grants of an account to an application at once, and so the connection that is in use.
    pub(super) async fn revoke_unused(&self, ended: EndedCredential<'_>) {
        let about = ended.about;
        let connected = self
            .store
            .list_connections(about.workspace_id, Some(about.user_id), Some(about.service))
            .await;
        match connected {
            Ok(connected) if connected.is_empty() => {
                self.revoke(ended).await;
            }
            Ok(_) => {}
            Err(cause) => tracing::warn!(error = %cause, "connections.revoke_failed"),
        }
    }

    async fn try_revoke(&self, ended: &EndedCredential<'_>) -> Result<bool, Error> {
        let about = ended.about;
        let Some(serving) = self.serving(about.service) else {
            return Ok(false);
        };
        let manifest = &serving.manifest;
        let Some(slot) = slot_of(manifest, ended.slot).filter(|slot| slot.revoke_url.is_some())
        else {
            return Ok(false);
        };
        let Some(app) = apps::find(&self.store, manifest, about.workspace_id).await? else {
            return Ok(false);
        };
        let provider = apps::provider(&self.vault, slot, &app, ended.parameters)?;
        let credential = ended.credential;
        let names_access = slot.revoke_param.as_deref() == Some("access_token");
        // The refresh token ends the whole grant (RFC 7009, section 2.1), except where the provider asks for the other.
        let (token, refresh) = match (&credential.refresh, credential.values.get("secret")) {
            (_, Some(token)) if names_access => (token, false),
            (Some(token), _) => (token, true),
            (None, Some(token)) => (token, false),
            (None, None) => return Ok(false),
        };
        let requests = self.requests(ConnectionPurpose::Revocation, about);
        let egress = self.egress.with_journal(requests.clone());
        let revoked = oauth::send::revoke(&egress, &provider, token, refresh).await;
        requests.ended(revoked.is_ok(), None).await;
        revoked.map_err(|cause| Error::Internal(cause.into()))
    }
}
