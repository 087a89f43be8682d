//! A caller whose request goes on for long, a stream for example: what it may do by now.

use std::sync::Arc;

use super::authenticate::Holder;
use super::members::enter::{scopes_of, user_of};
use crate::{Caller, Error, Identity, Principal, Scope};
use toolgate_core::ids::UserId;
use toolgate_operation::caller::CallerKind;
use toolgate_store::{AppClient, Workspace};

impl Identity {
    /// The caller as its key, or what the member has granted the app, is now. `None`: it may not
    /// call any more. No request is counted.
    pub async fn renewed(&self, caller: &Caller) -> Result<Option<Caller>, Error> {
        let changes = self.store.changes().await?;
        let principal = match caller.kind {
            CallerKind::Key => self.principal_of_key(caller).await?,
            CallerKind::App => self.principal_of_app(caller).await?,
            // None of them has requests that go on.
            CallerKind::Member | CallerKind::Operator | CallerKind::Trigger => None,
        };
        Ok(principal.map(|principal| Caller {
            principal,
            changes,
            request_id: caller.request_id.clone(),
            address: caller.address,
        }))
    }

    async fn principal_of_key(&self, caller: &Caller) -> Result<Option<Arc<Principal>>, Error> {
        let Some(found) = self.store.find_key(&caller.key_id).await? else {
            return Ok(None);
        };
        let holder = Holder::from_found(found)?;
        let good = holder.lives(self.clock.now_ms()) && holder.lets_in(caller.address);
        Ok(good.then_some(holder.principal))
    }

    async fn principal_of_app(&self, caller: &Caller) -> Result<Option<Arc<Principal>>, Error> {
        let (workspace_id, id) = (&caller.workspace_id, &caller.key_id);
        let Some(workspace) = self.store.find_workspace(workspace_id).await? else {
            return Ok(None);
        };
        let Some(grant) = self.store.find_app_grant(workspace_id, id).await? else {
            return self.principal_of_client(caller, &workspace).await;
        };
        let blocked = self.store.is_app_blocked(workspace_id, &grant.client_id);
        if grant.expires_at_ms <= self.clock.now_ms() || blocked.await? {
            return Ok(None);
        }
        let member = self.store.find_member(workspace_id, &grant.member_id);
        let Some(member) = member.await? else {
            return Ok(None);
        };
        let Some(confirmed) = self.confirmed(member, &workspace, false).await? else {
            return Ok(None);
        };
        let of_role = scopes_of(confirmed.member.role);
        let scopes = caller.scopes.iter().copied();
        let user = user_of(&confirmed.member)?;
        let scopes = scopes.filter(|scope| of_role.contains(scope)).collect();
        Ok(Some(renewed_app(caller, &workspace, user, scopes)))
    }

    /// Of a client that acts for a user by itself.
    async fn principal_of_client(
        &self,
        caller: &Caller,
        workspace: &Workspace,
    ) -> Result<Option<Arc<Principal>>, Error> {
        let client = self.store.find_app_client(&caller.key_id).await?;
        let own = |client: &AppClient| client.workspace_id.as_ref() == Some(&workspace.id);
        let Some(client) = client.filter(own) else {
            return Ok(None);
        };
        let blocked = self.store.is_app_blocked(&workspace.id, &client.id);
        let Some(user) = client.acts_for.as_ref() else {
            return Ok(None);
        };
        if blocked.await? {
            return Ok(None);
        }
        let user = UserId::parse(user).map_err(|cause| Error::Internal(cause.into()))?;
        Ok(Some(renewed_app(
            caller,
            workspace,
            user,
            caller.scopes.clone(),
        )))
    }
}

fn renewed_app(
    caller: &Caller,
    workspace: &Workspace,
    user: UserId,
    scopes: Box<[Scope]>,
) -> Arc<Principal> {
    let settings = &workspace.settings;
    Arc::new(Principal {
        scopes,
        default_user: user,
        default_permission: settings.default_permission,
        default_approvers: settings.default_approvers,
        keep_payloads: settings.keep_payloads,
        ..Principal::clone(&caller.principal)
    })
}
