//! Members: people who sign in to a workspace's dashboard.
//!
//! Shapes and what owners and admins do with members are here. [`links`] lets people in,
//! [`sign_in`] checks who they are, as often as [`attempts`] lets them try, [`enter`] turns a cookie
//! into a [`Caller`], [`account`] is what they do with their own, [`password`] holds the hashing and
//! its bounds, [`oidc`] signs in with a provider.

pub mod account;
pub mod attempts;
pub mod enter;
pub mod links;
pub mod oidc;
mod password;
pub mod sign_in;

use serde::Serialize;
use serde_json::json;

pub use password::{PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN, Passwords};

use crate::{Caller, Error, Identity};
use toolgate_core::clock::rfc3339;
use toolgate_operation::audit::AuditAction;
use toolgate_store::{Member, MemberChange, Role, Store, StoreError};

const NAME_CHARS_MAX: usize = 100;
/// RFC 5321, section 4.5.3.1.3, without the angle brackets.
const EMAIL_BYTES_MAX: usize = 254;

/// A member as others see them.
#[derive(Clone, Debug, Serialize)]
pub struct MemberInfo {
    pub member_id: String,
    pub name: String,
    pub email: String,
    pub role: Role,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<String>,
    pub has_password: bool,
    pub oidc_linked: bool,
}

/// An open invitation.
#[derive(Clone, Debug, Serialize)]
pub struct Invitation {
    pub invitation_id: String,
    pub email: String,
    pub role: Role,
    pub created_at: String,
    pub expires_at: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct MemberList {
    pub members: Vec<MemberInfo>,
    pub invitations: Vec<Invitation>,
}

impl From<Member> for MemberInfo {
    fn from(row: Member) -> Self {
        Self {
            member_id: row.id,
            name: row.name,
            email: row.email,
            role: row.role,
            created_at: rfc3339(row.created_at_ms),
            last_seen_at: row.last_seen_at_ms.map(rfc3339),
            has_password: row.password_hash.is_some(),
            oidc_linked: row.oidc_subject.is_some(),
        }
    }
}

impl Identity {
    /// Whether anybody can sign in.
    pub async fn is_set_up(&self) -> Result<bool, Error> {
        Ok(self.store.has_members().await?)
    }

    /// Members, oldest first, and open invitations.
    pub async fn members(&self, caller: &Caller) -> Result<MemberList, Error> {
        caller.need_role(Role::Admin)?;
        let members = self.store.list_members(&caller.workspace_id).await?;
        let invitations = self
            .store
            .list_invitations(&caller.workspace_id, self.clock.now_ms())
            .await?;
        Ok(MemberList {
            members: members.into_iter().map(Into::into).collect(),
            invitations: invitations
                .into_iter()
                .map(|link| Invitation {
                    invitation_id: link.id,
                    email: link.email.unwrap_or_default(),
                    role: link.role,
                    created_at: rfc3339(link.created_at_ms),
                    expires_at: rfc3339(link.expires_at_ms),
                })
                .collect(),
        })
    }

    /// Gives a member another role.
    ///
    /// # Errors
    /// `conflict` for the last owner, where groups of the provider decide, and where somebody else changes the role
    /// at the same time; `role_denied` where only an owner may.
    pub async fn change_member(
        &self,
        caller: &Caller,
        member_id: &str,
        role: Role,
    ) -> Result<MemberInfo, Error> {
        let member = self.manageable(caller, member_id).await?;
        caller.need_role(least_for(role))?;
        self.require_not_group_managed(&member, "the role").await?;
        let details = json!({ "from": member.role, "to": role, "email": member.email });
        let changed = self
            .audited(caller, AuditAction::MembersChange, member_id, details)
            .set_member_role(&caller.workspace_id, member_id, member.role, role)
            .await?;
        self.done_or_denied(caller, member_id, changed).await?;
        Ok(Member { role, ..member }.into())
    }

    /// Removes a member; their next request is refused.
    ///
    /// # Errors
    /// `conflict` for the last owner, and where somebody else changes the role at the same time; `role_denied` where
    /// only an owner may.
    pub async fn remove_member(&self, caller: &Caller, member_id: &str) -> Result<(), Error> {
        let member = self.manageable(caller, member_id).await?;
        let removed = remove_row(&self.store, caller, &member, self.clock.now_ms()).await?;
        self.done_or_denied(caller, member_id, removed).await
    }

    /// A member that the caller may change: owners are changed by owners.
    async fn manageable(&self, caller: &Caller, member_id: &str) -> Result<Member, Error> {
        caller.need_role(Role::Admin)?;
        let found = self
            .store
            .find_member(&caller.workspace_id, member_id)
            .await?;
        let member = found.ok_or_else(|| unknown(member_id))?;
        caller.need_role(least_for(member.role))?;
        Ok(member)
    }

    /// What to answer after a change. Who was made an owner after [`Identity::manageable`] read the role is refused to
    /// an admin as if they had been one before.
    async fn done_or_denied(
        &self,
        caller: &Caller,
        member_id: &str,
        change: MemberChange,
    ) -> Result<(), Error> {
        if change == MemberChange::OtherRole {
            self.manageable(caller, member_id).await?;
        }
        done(change)
    }
}

/// Makes a member at the command line. `password_hash`: as [`Passwords::hash`] made it.
pub async fn create(store: &Store, caller: &Caller, member: Member) -> Result<MemberInfo, Error> {
    caller.need_role(least_for(member.role))?;
    let details = json!({ "email": member.email, "role": member.role });
    let (action, now_ms) = (AuditAction::MembersCreate, member.created_at_ms);
    let audited = caller.audited(store, now_ms, action, &member.id, details);
    match audited.insert_member(&member).await {
        Ok(()) => Ok(member.into()),
        Err(StoreError::Taken(_)) => Err(Error::Conflict(format!(
            "the workspace has a member with the address {}",
            member.email
        ))),
        Err(cause) => Err(cause.into()),
    }
}

/// Oldest first.
pub async fn list(store: &Store, workspace_id: &str) -> Result<Vec<MemberInfo>, Error> {
    let rows = store.list_members(workspace_id).await?;
    Ok(rows.into_iter().map(Into::into).collect())
}

/// Removes the member with this id or address.
///
/// # Errors
/// `conflict` for the last owner.
pub async fn remove(
    store: &Store,
    caller: &Caller,
    which: &str,
    now_ms: i64,
) -> Result<MemberInfo, Error> {
    let members = store.list_members(&caller.workspace_id).await?;
    let email = which.to_lowercase();
    let member = members
        .into_iter()
        .find(|member| member.id == which || member.email == email)
        .ok_or_else(|| unknown(which))?;
    done(remove_row(store, caller, &member, now_ms).await?)?;
    Ok(member.into())
}

async fn remove_row(
    store: &Store,
    caller: &Caller,
    member: &Member,
    now_ms: i64,
) -> Result<MemberChange, Error> {
    caller.need_role(least_for(member.role))?;
    let details = json!({ "email": member.email, "role": member.role });
    let action = AuditAction::MembersRemove;
    let removed = caller
        .audited(store, now_ms, action, &member.id, details)
        .delete_member(&caller.workspace_id, &member.id, member.role)
        .await?;
    Ok(removed)
}

/// Who may make or change a member of this role.
fn least_for(role: Role) -> Role {
    match role {
        Role::Owner => Role::Owner,
        Role::Admin | Role::Member => Role::Admin,
    }
}

fn done(change: MemberChange) -> Result<(), Error> {
    match change {
        MemberChange::Done => Ok(()),
        MemberChange::LastOwner => Err(Error::Conflict(
            "a workspace needs at least one owner: make another member an owner first".to_owned(),
        )),
        MemberChange::OtherRole => Err(Error::Conflict(
            "somebody else has changed the role of the member: look at it and try again".to_owned(),
        )),
        MemberChange::NotFound => Err(Error::NotFound("the member".to_owned())),
    }
}

fn unknown(which: &str) -> Error {
    Error::NotFound(format!(
        "the member {}",
        toolgate_core::visible::shown_name(which)
    ))
}

/// An address as it is kept: trimmed, in lower case, with one `@` between two parts.
pub fn checked_email(text: &str) -> Result<String, Error> {
    let email = text.trim().to_lowercase();
    let parts: Vec<&str> = email.split('@').collect();
    let fits = email.len() <= EMAIL_BYTES_MAX
        && parts.len() == 2
        && parts.iter().all(|part| !part.is_empty())
        && !email.chars().any(|c| c.is_control() || c.is_whitespace());
    if fits {
        Ok(email)
    } else {
        Err(Error::InvalidRequest(
            "email: must be an e-mail address".to_owned(),
        ))
    }
}

/// A person's name as it is kept.
pub fn checked_name(text: &str) -> Result<String, Error> {
    let name = text.trim();
    let chars = name.chars().count();
    if !(1..=NAME_CHARS_MAX).contains(&chars) || name.chars().any(char::is_control) {
        return Err(Error::InvalidRequest(format!(
            "name: must have 1 to {NAME_CHARS_MAX} characters"
        )));
    }
    Ok(name.to_owned())
}
