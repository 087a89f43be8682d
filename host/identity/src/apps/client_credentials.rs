//! Tokens of a client that acts for a user by itself (RFC 6749, section 4.4; MCP extension
//! `io.modelcontextprotocol/oauth-client-credentials`): a machine, of which there is no person to ask.

use super::params::OAuthParams;
use super::refusal::{AppProblem, RefusalCode, refused};
use super::tokens::{ACCESS_LIFE_MS, ACCESS_PREFIX, IssuedTokens};
use super::{AppPeer, resources, scopes, toolset_of};
use crate::Identity;
use toolgate_store::{AppClient, AppClientKind, ClientToken};
use toolgate_vault::opaque::hash;

/// Tokens of one client that are good at one time; beyond it the oldest ends.
pub const TOKENS_MAX: i64 = 100;

impl Identity {
    pub(super) async fn client_tokens(
        &self,
        client: &AppClient,
        form: &OAuthParams,
        peer: &AppPeer,
    ) -> Result<IssuedTokens, AppProblem> {
        let may = client.kind == AppClientKind::Named
            && client.acts_for.is_some()
            && client.secret_hash.is_some();
        if !may {
            let sentence = "this client may not use client_credentials: an admin has to create one that acts for a user";
            return Err(refused(RefusalCode::UnauthorizedClient, sentence));
        }
        let workspace_id = client.workspace_id.as_deref().unwrap_or_default();
        self.check_blocked(workspace_id, &client.id).await?;
        let own = self.mcp_resource();
        let resource = resources::requested(form, &own, None)?;
        if let Some(name) = toolset_of(&resource, &own) {
            let toolset = self.store.find_toolset(workspace_id, name).await?;
            toolset.ok_or_else(|| {
                let sentence = format!("the client's workspace has no toolset {name}");
                refused(RefusalCode::InvalidTarget, sentence)
            })?;
        }
        let granted = scopes::narrowed_exactly(form.get("scope"), &client.scopes)?;
        let now_ms = self.clock.now_ms();
        let access = self.new_token(ACCESS_PREFIX)?;
        let token = ClientToken {
            hash: hash(access.expose()),
            client_id: client.id.clone(),
            scopes: granted,
            resource,
            created_at_ms: now_ms,
            expires_at_ms: now_ms + ACCESS_LIFE_MS,
        };
        self.store.insert_client_token(&token, TOKENS_MAX).await?;
        tracing::info!(
            request_id = peer.request_id,
            client.id = client.id,
            "apps.client_token"
        );
        Ok(IssuedTokens {
            access,
            refresh: None,
            expires_in_s: ACCESS_LIFE_MS / 1_000,
            scopes: token.scopes.join(" "),
        })
    }
}
