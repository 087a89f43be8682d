//! From the JWT in a browser's cookie to a [`Caller`].
//!
//! The JWT says which sign-in it belongs to and until when it is good. Whether the sign-in still
//! stands, and what its member may do, is read from the database each time: who was signed out,
//! removed or given another role is met with it at the next request, in every process.

use std::net::IpAddr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Caller, Error, Identity, Principal, Scope};
use toolgate_core::ids::UserId;
use toolgate_operation::caller::CallerKind;
use toolgate_store::{Member, Role};
use toolgate_vault::Purpose;

/// How long a JWT is good.
pub const JWT_LIFE_MS: i64 = 10 * 60 * 1_000;

/// What a JWT of a sign-in says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Member.
    pub sub: String,
    /// Workspace.
    pub ws: String,
    /// Sign-in.
    pub sid: String,
    /// Seconds since the Unix epoch (RFC 7519, section 4.1).
    pub iat: i64,
    pub exp: i64,
}

/// A member whose JWT was proven.
#[derive(Clone, Debug)]
pub struct AuthenticatedMember {
    pub caller: Caller,
    pub sign_in_id: String,
}

/// What a role may do besides what operations ask a role for.
pub(crate) fn scopes_of(role: Role) -> Vec<Scope> {
    match role {
        Role::Owner | Role::Admin => Scope::ALL.to_vec(),
        Role::Member => vec![
            Scope::ToolsRead,
            Scope::ToolsExecute,
            Scope::SkillsRead,
            Scope::SkillsWrite,
            Scope::PermissionsRead,
            Scope::Approvals,
            Scope::Connections,
            Scope::Sessions,
        ],
    }
}

/// The user that a member's own calls are for: the address where it can be one, else the id.
pub fn user_of(member: &Member) -> Result<UserId, Error> {
    UserId::parse(&member.email)
        .or_else(|_| UserId::parse(&member.id))
        .map_err(|cause| Error::Internal(cause.into()))
}

impl Identity {
    /// The member behind a JWT.
    ///
    /// # Errors
    /// `sign_in_required` without one, and for one that is forged, over, or of a sign-in that has
    /// ended; `overloaded` where the provider's groups decide about the member and it does not answer.
    pub async fn authenticate_member(
        &self,
        jwt: Option<&str>,
        request_id: String,
        address: Option<IpAddr>,
    ) -> Result<AuthenticatedMember, Error> {
        let claims: Claims = self
            .vault
            .verified(Purpose::SignIn, jwt.ok_or(Error::SignInRequired)?)
            .map_err(|_| Error::SignInRequired)?;
        let now_ms = self.clock.now_ms();
        if claims.exp.saturating_mul(1_000) <= now_ms {
            return Err(Error::SignInRequired);
        }
        let changes = self.store.changes().await?;
        let (sign_in, member) = self
            .store
            .find_sign_in(&claims.ws, &claims.sid, now_ms)
            .await?
            .filter(|(_, member)| member.id == claims.sub)
            .ok_or(Error::SignInRequired)?;
        let workspace = self
            .store
            .find_workspace(&member.workspace_id)
            .await?
            .ok_or(Error::SignInRequired)?;
        let confirmed = self.confirmed(member, &workspace, false).await?;
        let member = confirmed.ok_or(Error::SignInRequired)?.member;
        let principal = Principal {
            operator: self.is_operator(&workspace.id).await?,
            workspace_id: workspace.id.into(),
            workspace_name: workspace.name.into(),
            default_user: user_of(&member)?,
            kind: CallerKind::Member,
            client_id: None,
            key_id: member.id.into(),
            key_name: member.name.into(),
            key_prefix: "dashboard".into(),
            role: Some(member.role),
            confined: member.role == Role::Member,
            limits: Box::default(),
            scopes: scopes_of(member.role).into(),
            default_permission: workspace.settings.default_permission,
            default_approvers: workspace.settings.default_approvers,
            keep_payloads: workspace.settings.keep_payloads,
        };
        let caller = Caller {
            principal: Arc::new(principal),
            changes,
            request_id: request_id.into(),
            address,
        };
        Ok(AuthenticatedMember {
            caller,
            sign_in_id: sign_in.id,
        })
    }

    /// Whether a workspace is the one that runs the installation: the first.
    pub(crate) async fn is_operator(&self, workspace_id: &str) -> Result<bool, Error> {
        let first = self.store.first_workspace().await?;
        Ok(first.is_some_and(|first| first.id == workspace_id))
    }
}
