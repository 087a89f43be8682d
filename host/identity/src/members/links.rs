//! Links that let a person in, each good once: the first owner, an invited member, a new password.

use serde::Serialize;
use serde_json::json;

use super::{checked_email, least_for};
use crate::{Caller, Error, Identity};
use toolgate_core::clock::rfc3339;
use toolgate_core::ids;
use toolgate_operation::audit::AuditAction;
use toolgate_store::{LinkKind, MemberLink, Role, Store, StoreError};
use toolgate_vault::Secret;
use toolgate_vault::opaque::{hash, random_token};

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
/// How long links are good.
pub const SETUP_LIFE_MS: i64 = 30 * DAY_MS;
pub const JOIN_LIFE_MS: i64 = 7 * DAY_MS;
pub const RESET_LIFE_MS: i64 = DAY_MS;
/// Open invitations of one workspace.
const INVITATIONS_MAX: usize = 200;

/// What a link is for, to its holder.
#[derive(Clone, Debug, Serialize)]
pub struct LinkInfo {
    pub kind: LinkKind,
    pub role: Role,
    pub email: Option<String>,
    pub workspace: String,
    pub expires_at: String,
}

/// A fresh link, shown once.
#[derive(Debug)]
pub struct IssuedLink {
    pub id: String,
    pub url: Secret,
    pub expires_at_ms: i64,
}

/// What a link is to be for.
#[derive(Clone, Debug)]
pub struct NewLink {
    pub kind: LinkKind,
    pub role: Role,
    pub email: Option<String>,
    pub member_id: Option<String>,
    /// The operator makes it, and says whose address it is.
    pub vouched: bool,
}

/// Makes a link; one for the same purpose takes the place of the one before.
pub async fn make(
    store: &Store,
    caller: &Caller,
    public_url: &str,
    new: NewLink,
    now_ms: i64,
) -> Result<IssuedLink, StoreError> {
    let token = random_token();
    let (page, life_ms) = match new.kind {
        LinkKind::Setup => ("setup", SETUP_LIFE_MS),
        LinkKind::Join => ("join", JOIN_LIFE_MS),
        LinkKind::Reset => ("join", RESET_LIFE_MS),
    };
    let link = MemberLink {
        workspace_id: caller.workspace_id.to_string(),
        id: ids::ulid("inv"),
        token_hash: hash(token.expose()),
        kind: new.kind,
        email: new.email,
        role: new.role,
        member_id: new.member_id,
        created_at_ms: now_ms,
        expires_at_ms: now_ms + life_ms,
        vouched: new.vouched,
    };
    let (action, subject, details) = match link.kind {
        LinkKind::Setup => (
            AuditAction::MembersOfferSetup,
            &link.id,
            json!({ "role": link.role }),
        ),
        LinkKind::Join => (
            AuditAction::MembersInvite,
            &link.id,
            json!({ "email": link.email, "role": link.role }),
        ),
        LinkKind::Reset => (
            AuditAction::MembersReset,
            link.member_id.as_ref().unwrap_or(&link.id),
            json!({ "email": link.email }),
        ),
    };
    caller
        .audited(store, now_ms, action, subject, details)
        .put_member_link(&link)
        .await?;
    Ok(IssuedLink {
        id: link.id,
        // After the `#` it stays in the browser: no server's log and no referrer holds it.
        url: Secret::new(format!("{public_url}/{page}#{}", token.expose())),
        expires_at_ms: link.expires_at_ms,
    })
}

/// The link at which the first owner is made, while nobody can sign in; a new one at each start.
pub async fn first_owner(
    store: &Store,
    caller: &Caller,
    public_url: &str,
    now_ms: i64,
) -> Result<Option<IssuedLink>, StoreError> {
    if store.has_members().await? {
        return Ok(None);
    }
    let new = NewLink {
        kind: LinkKind::Setup,
        role: Role::Owner,
        email: None,
        member_id: None,
        vouched: true,
    };
    make(store, caller, public_url, new, now_ms).await.map(Some)
}

impl Identity {
    /// What a link is for. Looking does not use it up.
    pub async fn link_info(&self, token: &str) -> Result<LinkInfo, Error> {
        let now_ms = self.clock.now_ms();
        let link = self
            .store
            .find_member_link(&hash(token), now_ms)
            .await?
            .ok_or_else(over)?;
        let workspace = self.store.find_workspace(&link.workspace_id).await?;
        Ok(LinkInfo {
            kind: link.kind,
            role: link.role,
            email: link.email,
            workspace: workspace.ok_or_else(over)?.name,
            expires_at: rfc3339(link.expires_at_ms),
        })
    }

    /// Invites a person by address.
    ///
    /// # Errors
    /// `conflict` for a member's address; `role_denied` where only an owner may.
    pub async fn invite_member(
        &self,
        caller: &Caller,
        email: &str,
        role: Role,
    ) -> Result<IssuedLink, Error> {
        caller.need_role(least_for(role))?;
        let email = checked_email(email)?;
        let (workspace, now_ms) = (&caller.workspace_id, self.clock.now_ms());
        let members = self.store.list_members(workspace).await?;
        if members.iter().any(|member| member.email == email) {
            return Err(Error::Conflict(format!("{email} is a member already")));
        }
        let open = self.store.list_invitations(workspace, now_ms).await?;
        if open.len() >= INVITATIONS_MAX {
            return Err(Error::Conflict(format!(
                "a workspace has at most {INVITATIONS_MAX} open invitations"
            )));
        }
        let new = NewLink {
            kind: LinkKind::Join,
            role,
            email: Some(email),
            member_id: None,
            vouched: false,
        };
        Ok(make(&self.store, caller, &self.public_url, new, now_ms).await?)
    }

    /// Takes an invitation back.
    pub async fn delete_invitation(&self, caller: &Caller, id: &str) -> Result<(), Error> {
        caller.need_role(Role::Admin)?;
        let unknown = || Error::NotFound("the invitation".to_owned());
        let (workspace, now_ms) = (&caller.workspace_id, self.clock.now_ms());
        let open = self.store.list_invitations(workspace, now_ms).await?;
        let link = open.into_iter().find(|link| link.id == id);
        let link = link.ok_or_else(unknown)?;
        let details = json!({ "email": link.email, "role": link.role });
        self.audited(caller, AuditAction::MembersUninvite, id, details)
            .delete_invitation(workspace, id)
            .await?
            .ok_or_else(unknown)?;
        Ok(())
    }

    /// A link at which a member sets a new password.
    ///
    /// # Errors
    /// `conflict` for a member about whom groups of the provider decide.
    pub async fn reset_member(
        &self,
        caller: &Caller,
        member_id: &str,
    ) -> Result<IssuedLink, Error> {
        let member = self.manageable(caller, member_id).await?;
        self.require_not_group_managed(&member, "how they sign in")
            .await?;
        let new = NewLink {
            kind: LinkKind::Reset,
            role: member.role,
            email: Some(member.email),
            member_id: Some(member.id),
            vouched: false,
        };
        let now_ms = self.clock.now_ms();
        Ok(make(&self.store, caller, &self.public_url, new, now_ms).await?)
    }
}

pub(super) fn over() -> Error {
    Error::NotFound("a link that is still good".to_owned())
}

#[cfg(test)]
mod tests {
    use toolgate_store::Member;

    use super::*;
    use crate::members::sign_in::{SetUpRequest, SignedIn};
    use crate::testing::{IdentityWorld, browser};

    fn token(link: &IssuedLink) -> &str {
        link.url.expose().split_once('#').unwrap().1
    }

    async fn row(world: &IdentityWorld, workspace_id: &str, id: &str) -> Option<Member> {
        let found = world.store().find_member(workspace_id, id).await;
        found.unwrap()
    }

    /// The holder of the link uses it.
    async fn used(
        world: &IdentityWorld,
        link: &IssuedLink,
        email: &str,
    ) -> Result<SignedIn, Error> {
        let request = SetUpRequest {
            token: Secret::new(token(link)),
            email: Some(email.to_owned()),
            name: Some("Eve".to_owned()),
            password: Secret::new("another horse battery"),
        };
        world.set_up(request, &browser()).await
    }

    #[tokio::test]
    async fn a_link_for_a_new_password_ends_with_the_role_that_it_was_made_for() {
        let world = IdentityWorld::open().await;
        let owner = world.member_caller(Role::Owner).await;
        let admin = world.member_caller(Role::Admin).await;
        let ada = world.member(Role::Member, true).await.me;
        let early = world.reset_member(&admin, &ada.member_id).await.unwrap();
        let promoted = world.change_member(&owner, &ada.member_id, Role::Owner);
        promoted.await.unwrap();
        let before = row(&world, &admin.workspace_id, &ada.member_id).await;
        let refused = used(&world, &early, &ada.email).await.unwrap_err();
        assert_eq!(refused.code(), "not_found");
        // As the admin makes one who has read the member before she became an owner.
        let new = NewLink {
            kind: LinkKind::Reset,
            role: Role::Member,
            email: Some(ada.email.clone()),
            member_id: Some(ada.member_id.clone()),
            vouched: false,
        };
        let now_ms = world.clock.now_ms();
        let late = make(world.store(), &admin, world.public_url(), new, now_ms);
        let late = late.await.unwrap();
        let refused = used(&world, &late, &ada.email).await.unwrap_err();
        assert_eq!(refused.code(), "not_found");
        let after = row(&world, &admin.workspace_id, &ada.member_id).await;
        assert_eq!(after, before, "the password is hers");

        let refused = world.reset_member(&admin, &ada.member_id).await;
        assert_eq!(refused.unwrap_err().code(), "role_denied");
        let link = world.reset_member(&owner, &ada.member_id).await.unwrap();
        let signed_in = used(&world, &link, &ada.email).await.unwrap();
        assert_eq!(signed_in.me.member_id, ada.member_id);
        let again = used(&world, &link, &ada.email).await.unwrap_err();
        assert_eq!(again.code(), "not_found");
    }

    #[tokio::test]
    async fn the_link_for_the_first_owner_makes_no_second_one() {
        let world = IdentityWorld::open().await;
        let workspace = world.store().first_workspace().await.unwrap().unwrap();
        let operator = Caller::operator(&workspace);
        let now_ms = world.clock.now_ms();
        let first = first_owner(world.store(), &operator, world.public_url(), now_ms);
        let printed = first.await.unwrap().expect("nobody can sign in");
        world.member(Role::Admin, true).await;
        let looked = world.link_info(token(&printed)).await;
        assert_eq!(looked.unwrap().role, Role::Owner, "there is no owner yet");
        world.member(Role::Owner, true).await;
        let refused = used(&world, &printed, "eve@example.com").await.unwrap_err();
        assert_eq!(refused.code(), "not_found");
        // As an earlier version has left one.
        let new = NewLink {
            kind: LinkKind::Setup,
            role: Role::Owner,
            email: None,
            member_id: None,
            vouched: true,
        };
        let left = make(world.store(), &operator, world.public_url(), new, now_ms);
        let left = left.await.unwrap();
        let refused = used(&world, &left, "eve@example.com").await.unwrap_err();
        assert_eq!(refused.code(), "not_found");
        let looked = world.link_info(token(&left)).await;
        assert_eq!(looked.unwrap_err().code(), "not_found", "it is gone");
        let members = world.store().list_members(&workspace.id).await.unwrap();
        let owners = members.iter().filter(|member| member.role == Role::Owner);
        assert_eq!(owners.count(), 1, "{members:?}");
    }
}
