//! Revocation by the client (RFC 7009): a refresh token goes with its whole grant, an access token
//! alone.

use serde_json::json;

use super::params::OAuthParams;
use super::refusal::{AppProblem, RefusalCode, refused};
use super::{AppPeer, about};
use crate::Identity;
use toolgate_operation::audit::{AuditAction, entry};
use toolgate_store::{AppClient, AppTokenKind, AuditEntry, AuditedStore};
use toolgate_vault::opaque::hash;

impl Identity {
    /// Ends a token, from its next request on. A token that does not exist counts as ended: the client wanted it gone.
    ///
    /// # Errors
    /// `invalid_client`; `invalid_grant` for a token of another client.
    pub async fn revoke_app_token(
        &self,
        authorization: Option<&str>,
        form: &str,
        peer: &AppPeer,
    ) -> Result<(), AppProblem> {
        let now_ms = self.clock.now_ms();
        self.counts.check_unknown_key(peer.address, now_ms)?;
        let form = OAuthParams::parse(form)?;
        let token_hash = hash(form.need("token")?);
        let client = self.authenticated_client(authorization, &form, peer).await;
        let client = client.inspect_err(|_| self.counts.stranger(peer.address, now_ms))?;
        let foreign = || refused(RefusalCode::InvalidGrant, "the token is another client's");
        let Some((token, grant)) = self.store.find_app_token(&token_hash).await? else {
            let Some((token, owner)) = self.store.find_client_token(&token_hash).await? else {
                self.counts.stranger(peer.address, now_ms);
                return Ok(());
            };
            if owner.id != client.id {
                return Err(foreign());
            }
            self.audited_client(&owner, AuditAction::AppsRevokeToken, peer)
                .delete_client_token(&token.hash)
                .await?;
            return Ok(());
        };
        if grant.client_id != client.id {
            return Err(foreign());
        }
        match token.kind {
            AppTokenKind::Refresh => {
                self.audited_app(&grant, AuditAction::AppsRevoke, about(&grant), peer)
                    .delete_app_grant(&grant.workspace_id, &grant.id)
                    .await?;
            }
            AppTokenKind::Access => {
                let details = json!({ "client": grant.client_name });
                self.audited_app(&grant, AuditAction::AppsRevokeToken, details, peer)
                    .delete_app_token(&token.hash)
                    .await?;
            }
        }
        Ok(())
    }

    /// The store for a change of a client that acts by itself. A client of no workspace has no log.
    fn audited_client(
        &self,
        client: &AppClient,
        action: AuditAction,
        peer: &AppPeer,
    ) -> AuditedStore {
        let entry = client.workspace_id.as_ref().map(|workspace_id| {
            let (actor, now_ms) = (format!("app:{}", client.id), self.clock.now_ms());
            let details = json!({ "client": client.name });
            AuditEntry {
                address: peer.address.map(|address| address.to_string()),
                request_id: Some(peer.request_id.clone()),
                ..entry(workspace_id, actor, now_ms, action, &client.id, details)
            }
        });
        self.store.audited_where(entry)
    }
}
