//! What signed-in people see and change of themselves.

use serde::Serialize;
use serde_json::json;

use super::checked_name;
use super::enter::user_of;
use crate::{Caller, Error, Identity};
use toolgate_core::clock::rfc3339;
use toolgate_operation::audit::AuditAction;
use toolgate_store::{Member, Plan, Role, SignIn, Workspace};
use toolgate_vault::Secret;

/// The signed-in person.
#[derive(Clone, Debug, Serialize)]
pub struct Me {
    pub member_id: String,
    pub name: String,
    pub email: String,
    pub role: Role,
    /// Whether the workspace runs the installation.
    pub operator: bool,
    /// The user that this member's own calls are for.
    pub user_id: String,
    pub workspace: MyWorkspace,
    /// When the sign-in ends unless it is used before.
    pub session_expires_at: String,
    pub public_url: String,
    pub mcp_url: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct MyWorkspace {
    pub workspace_id: String,
    pub name: String,
    pub plan: Plan,
}

/// One place where a member is signed in.
#[derive(Clone, Debug, Serialize)]
pub struct SignInInfo {
    pub sign_in_id: String,
    pub current: bool,
    pub created_at: String,
    pub last_seen_at: String,
    pub expires_at: String,
    pub address: Option<String>,
    pub user_agent: Option<String>,
}

impl Identity {
    /// The signed-in person.
    pub async fn me(&self, caller: &Caller, sign_in_id: &str) -> Result<Me, Error> {
        let (sign_in, member) = self.own_sign_in(caller, sign_in_id).await?;
        let workspace = self.workspace_of(&member).await?;
        self.me_of(&member, &sign_in, workspace).await
    }

    /// Changes the signed-in person's own name.
    pub async fn change_me(
        &self,
        caller: &Caller,
        sign_in_id: &str,
        name: Option<&str>,
    ) -> Result<Me, Error> {
        if let Some(name) = name {
            let name = checked_name(name)?;
            let details = json!({ "name": name });
            self.audited(caller, AuditAction::MembersRename, &caller.key_id, details)
                .rename_member(&caller.workspace_id, &caller.key_id, &name)
                .await?;
        }
        self.me(caller, sign_in_id).await
    }

    /// Changes the signed-in person's own password and ends all other sign-ins.
    ///
    /// # Errors
    /// `invalid_credentials` when the current password does not fit; `conflict` for a member about whom
    /// groups of the provider decide.
    pub async fn change_password(
        &self,
        caller: &Caller,
        sign_in_id: &str,
        current: Secret,
        new: Secret,
    ) -> Result<(), Error> {
        let (_, member) = self.own_sign_in(caller, sign_in_id).await?;
        self.require_not_group_managed(&member, "how they sign in")
            .await?;
        let counted = self.count_own_attempt(sign_in_id).await?;
        if member.password_hash.is_some()
            && !self
                .passwords
                .fits(current, member.password_hash, true)
                .await?
        {
            return Err(Error::InvalidCredentials);
        }
        self.forgive(counted).await?;
        let password_hash = self.passwords.hash(new).await?;
        let action = AuditAction::MembersSetPassword;
        self.audited(caller, action, &caller.key_id, json!({}))
            .set_member_password(
                &caller.workspace_id,
                &caller.key_id,
                &password_hash,
                Some(sign_in_id),
            )
            .await?;
        Ok(())
    }

    /// Where the signed-in person is signed in, newest first.
    pub async fn sign_ins(
        &self,
        caller: &Caller,
        sign_in_id: &str,
    ) -> Result<Vec<SignInInfo>, Error> {
        caller.need_role(Role::Member)?;
        let rows = self
            .store
            .list_sign_ins(&caller.workspace_id, &caller.key_id, self.clock.now_ms())
            .await?;
        let shown = rows.into_iter().map(|row| SignInInfo {
            current: row.id == sign_in_id,
            sign_in_id: row.id,
            created_at: rfc3339(row.created_at_ms),
            last_seen_at: rfc3339(row.last_seen_at_ms),
            expires_at: rfc3339(row.expires_at_ms),
            address: row.address,
            user_agent: row.user_agent,
        });
        Ok(shown.collect())
    }

    /// Ends one of the signed-in person's own sign-ins.
    pub async fn revoke_sign_in(&self, caller: &Caller, id: &str) -> Result<(), Error> {
        caller.need_role(Role::Member)?;
        let action = AuditAction::MembersRevokeSignIn;
        let details = json!({ "sign_in_id": id });
        let gone = self
            .audited(caller, action, &caller.key_id, details)
            .delete_sign_in(&caller.workspace_id, &caller.key_id, id)
            .await?;
        if !gone {
            return Err(Error::NotFound("the sign-in".to_owned()));
        }
        Ok(())
    }

    async fn own_sign_in(
        &self,
        caller: &Caller,
        sign_in_id: &str,
    ) -> Result<(SignIn, Member), Error> {
        caller.need_role(Role::Member)?;
        let now_ms = self.clock.now_ms();
        let found = self
            .store
            .find_sign_in(&caller.workspace_id, sign_in_id, now_ms);
        found
            .await?
            .filter(|(_, member)| member.id == caller.key_id)
            .ok_or(Error::SignInRequired)
    }

    pub(super) async fn workspace_of(&self, member: &Member) -> Result<Workspace, Error> {
        self.store
            .find_workspace(&member.workspace_id)
            .await?
            .ok_or(Error::SignInRequired)
    }

    pub(super) async fn me_of(
        &self,
        member: &Member,
        sign_in: &SignIn,
        workspace: Workspace,
    ) -> Result<Me, Error> {
        let base = &self.public_url;
        Ok(Me {
            member_id: member.id.clone(),
            name: member.name.clone(),
            email: member.email.clone(),
            role: member.role,
            operator: self.is_operator(&workspace.id).await?,
            user_id: user_of(member)?.to_string(),
            workspace: MyWorkspace {
                workspace_id: workspace.id,
                name: workspace.name,
                plan: workspace.plan,
            },
            session_expires_at: rfc3339(sign_in.expires_at_ms),
            public_url: base.clone(),
            mcp_url: format!("{base}/mcp"),
        })
    }
}
