//! Which member an account of the provider signs in as.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{FLOW_LIFE_MS, OidcProblem};
use crate::config::OidcConfig;
use crate::members::checked_email;
use crate::members::sign_in::{Browser, SignedIn};
use crate::{Error, Identity};
use toolgate_core::ids;
use toolgate_operation::audit::AuditAction;
use toolgate_store::{LinkKind, Member, MemberChange, MemberLink, Role, SignInProof, StoreError};
use toolgate_vault::{Purpose, Secret};

/// Members among whom one person chooses.
const CHOICES_MAX: i64 = 32;

/// What the provider says of an account.
#[derive(Clone, Debug)]
pub(super) struct AccountClaims {
    pub(super) subject: String,
    pub(super) email: Option<String>,
    pub(super) email_verified: bool,
    pub(super) name: Option<String>,
    /// In which groups it is; none where the provider says nothing of groups.
    pub(super) groups: Vec<String>,
}

/// Who has proven themselves to the provider.
pub(super) struct Account {
    /// `<issuer> <subject>`: what an account is known by.
    subject: String,
    /// The address, where the provider has seen it proven.
    email: Option<String>,
}

impl Account {
    pub(super) fn new(config: &OidcConfig, claims: &AccountClaims) -> Self {
        let email = claims.email.as_deref().filter(|_| claims.email_verified);
        Self {
            subject: format!("{} {}", config.issuer, claims.subject),
            email: email.and_then(|email| checked_email(email).ok()),
        }
    }

    pub(super) fn subject(&self) -> &str {
        &self.subject
    }

    pub(super) fn email(&self) -> Option<&str> {
        self.email.as_deref()
    }

    /// The member as a tie to the account makes it ([`toolgate_store::Writer::link_member_oidc`]).
    fn tied(&self, member: &Member) -> Member {
        let member = member.clone();
        Member {
            password_hash: member.password_hash.filter(|_| member.vouched),
            oidc_subject: Some(self.subject.clone()),
            vouched: true,
            ..member
        }
    }
}

/// What a browser holds while its person is asked.
#[derive(Serialize, Deserialize)]
struct WorkspaceChoice {
    subject: String,
    /// Workspace and member.
    members: Vec<(String, String)>,
    return_to: String,
    exp_ms: i64,
}

/// What a person is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Choices {
    /// Names of the workspaces.
    pub workspaces: Vec<String>,
}

impl Identity {
    /// The member that an account belongs to: the one it has signed in as before, else the one with
    /// its verified address for whom the operator has vouched.
    ///
    /// # Errors
    /// [`OidcProblem::Choose`] where the person has to say which.
    pub(super) async fn member_of(
        &self,
        account: &Account,
        return_to: &str,
        client: &Browser,
    ) -> Result<Member, OidcProblem> {
        let mut known = self
            .store
            .members_with_oidc(&account.subject, CHOICES_MAX)
            .await
            .map_err(Error::from)?;
        if known.len() == 1 {
            return Ok(known.remove(0));
        }
        if !known.is_empty() {
            return Err(self.choose(account, &known, return_to)?);
        }
        let email = account.email.as_deref().ok_or(OidcProblem::NoMember)?;
        let mut found = self
            .store
            .members_with_email(email, CHOICES_MAX)
            .await
            .map_err(Error::from)?;
        found.retain(|member| member.oidc_subject.is_none());
        let mut vouched = found.iter().filter(|member| member.vouched);
        match (vouched.next(), vouched.next()) {
            (Some(member), None) => self.tie(account, member.clone(), client).await,
            _ if found.is_empty() => Err(OidcProblem::NoMember),
            _ => Err(self.choose(account, &found, return_to)?),
        }
    }

    /// The member that an invitation makes, for the person whom it names.
    pub(super) async fn invited(
        &self,
        account: &Account,
        invitation: &str,
        client: &Browser,
    ) -> Result<Member, OidcProblem> {
        let now_ms = self.clock.now_ms();
        let email = account.email.clone().ok_or(OidcProblem::NoMember)?;
        let link = self
            .store
            .find_member_link(invitation, now_ms)
            .await
            .map_err(Error::from)?
            .filter(|link| link.kind != LinkKind::Reset)
            .ok_or(OidcProblem::Expired)?;
        if link.email.as_ref().is_some_and(|invited| *invited != email) {
            return Err(OidcProblem::NoMember);
        }
        let taken = self.store.take_member_link(invitation, now_ms).await;
        if taken.map_err(Error::from)?.is_none() {
            return self.owner_by_groups(account, &link).await;
        }
        let member = Member {
            workspace_id: link.workspace_id,
            id: ids::ulid("mem"),
            name: email.clone(),
            email,
            role: link.role,
            password_hash: None,
            oidc_subject: Some(account.subject.clone()),
            created_at_ms: now_ms,
            last_seen_at_ms: None,
            vouched: true,
        };
        let details = json!({ "email": member.email, "role": member.role });
        let audited = self.audited_member(&member, AuditAction::MembersCreate, details, client);
        match audited.insert_member(&member).await {
            Ok(()) => Ok(member),
            // A member already, and now proven.
            Err(StoreError::Taken(_)) => {
                let found = self
                    .store
                    .member_with_email(&member.workspace_id, &member.email)
                    .await
                    .map_err(Error::from)?;
                let found = found.ok_or(OidcProblem::NoMember)?;
                let tied = self.tie(account, found, client).await?;
                match link.kind {
                    // A group may have made them a member a moment ago; the first owner is one all the same.
                    LinkKind::Setup => self.first_owner(tied, client).await,
                    LinkKind::Join | LinkKind::Reset => Ok(tied),
                }
            }
            Err(cause) => Err(Error::from(cause).into()),
        }
    }

    /// The member for whom a link for the first owner is over because groups have made them the owner a moment
    /// ago.
    async fn owner_by_groups(
        &self,
        account: &Account,
        link: &MemberLink,
    ) -> Result<Member, OidcProblem> {
        let known = self
            .store
            .members_with_oidc(&account.subject, CHOICES_MAX)
            .await
            .map_err(Error::from)?;
        known
            .into_iter()
            .find(|one| one.workspace_id == link.workspace_id && one.role == Role::Owner)
            .filter(|_| link.kind == LinkKind::Setup)
            .ok_or(OidcProblem::Expired)
    }

    async fn first_owner(
        &self,
        mut member: Member,
        client: &Browser,
    ) -> Result<Member, OidcProblem> {
        let role = Role::Owner;
        loop {
            let details = json!({ "from": member.role, "to": role, "email": member.email });
            let changed = self
                .audited_member(&member, AuditAction::MembersChange, details, client)
                .set_member_role(&member.workspace_id, &member.id, member.role, role)
                .await
                .map_err(Error::from)?;
            if changed != MemberChange::OtherRole {
                return Ok(Member { role, ..member });
            }
            // A group may give them a role at the same time. The link is used up, so they are the owner all the same.
            let now = self.store.find_member(&member.workspace_id, &member.id);
            let now = now.await.map_err(Error::from)?;
            member = now.ok_or(OidcProblem::NoMember)?;
        }
    }

    /// What the holder of a choice is asked.
    ///
    /// # Errors
    /// `sign_in_required` without a choice, and for one that is over.
    pub async fn oidc_choices(&self, choice: Option<&str>) -> Result<Choices, Error> {
        let choice = self.read_choice(choice)?;
        let mut workspaces = Vec::new();
        for (workspace_id, _) in &choice.members {
            let found = self.store.find_workspace(workspace_id).await?;
            workspaces.extend(found.map(|workspace| workspace.name));
        }
        Ok(Choices { workspaces })
    }

    /// Signs in to the workspace that the person has chosen, and ties the account to the member there.
    ///
    /// # Errors
    /// `not_found` for a workspace that was not offered, and where groups decide there and none names the person;
    /// `overloaded` where they do and the provider does not answer.
    pub async fn choose_oidc(
        &self,
        choice: Option<&str>,
        workspace: &str,
        client: &Browser,
    ) -> Result<(SignedIn, String), Error> {
        let choice = self.read_choice(choice)?;
        let unknown = || Error::NotFound("a workspace that was offered".to_owned());
        let named = self.store.find_workspace_by_name(workspace).await?;
        let named = named.ok_or_else(unknown)?;
        let (workspace_id, member_id) = choice
            .members
            .iter()
            .find(|(offered, _)| *offered == named.id)
            .ok_or_else(unknown)?;
        let member = self.store.find_member(workspace_id, member_id).await?;
        let member = member.ok_or_else(unknown)?;
        let account = Account {
            subject: choice.subject,
            email: None,
        };
        // Whom no group names is not let in by a choice either, and the member stays as it was.
        let governed_workspaces = match member.oidc_subject {
            Some(_) => None,
            None => self.groups_before_tie(&account.tied(&member)).await?,
        };
        if let Some(governed_workspaces) = &governed_workspaces
            && !governed_workspaces
                .iter()
                .any(|one| one.workspace.id == member.workspace_id && one.role.is_some())
        {
            return Err(unknown());
        }
        let tied = self.tie(&account, member, client).await;
        let member = tied.map_err(|_| unknown())?;
        if let Some(governed_workspaces) = &governed_workspaces {
            self.apply_groups(&account, governed_workspaces).await?;
        }
        let member = self.confirmed_now(member).await?.ok_or_else(unknown)?;
        let details = json!({ "chosen": true });
        let signed_in = self
            .begin(member, SignInProof::Account, Some(details), client)
            .await?;
        Ok((signed_in, choice.return_to))
    }

    fn read_choice(&self, choice: Option<&str>) -> Result<WorkspaceChoice, Error> {
        choice
            .and_then(|choice| self.vault.verified(Purpose::OidcChoice, choice).ok())
            .filter(|choice: &WorkspaceChoice| choice.exp_ms > self.clock.now_ms())
            .ok_or(Error::SignInRequired)
    }

    fn choose(
        &self,
        account: &Account,
        among: &[Member],
        return_to: &str,
    ) -> Result<OidcProblem, OidcProblem> {
        let members = among
            .iter()
            .map(|member| (member.workspace_id.clone(), member.id.clone()));
        let choice = WorkspaceChoice {
            subject: account.subject.clone(),
            members: members.collect(),
            return_to: return_to.to_owned(),
            exp_ms: self.clock.now_ms() + FLOW_LIFE_MS,
        };
        let signed: Secret = self
            .vault
            .signed(Purpose::OidcChoice, &choice)
            .map_err(|cause| OidcProblem::Failed(cause.into()))?;
        Ok(OidcProblem::Choose(signed))
    }

    /// Ties a member to the account, unless it is tied to another. Answers the member as it is then.
    async fn tie(
        &self,
        account: &Account,
        member: Member,
        client: &Browser,
    ) -> Result<Member, OidcProblem> {
        if member.oidc_subject.as_ref() == Some(&account.subject) {
            return Ok(member);
        }
        let details = json!({ "subject": account.subject });
        let tied = self
            .audited_member(&member, AuditAction::MembersLinkAccount, details, client)
            .link_member_oidc(&member.workspace_id, &member.id, &account.subject)
            .await
            .map_err(Error::from)?;
        if !tied {
            return Err(OidcProblem::NoMember);
        }
        let now = self.store.find_member(&member.workspace_id, &member.id);
        let now = now.await.map_err(Error::from)?;
        now.ok_or(OidcProblem::NoMember)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Caller;
    use crate::members::links::{self, NewLink};
    use crate::members::sign_in::SetUpRequest;
    use crate::testing::{IdentityWorld, PASSWORD, browser};

    const ADA: &str = "ada@example.com";

    fn account(email: Option<&str>) -> Account {
        Account {
            subject: "https://id.test 7".to_owned(),
            email: email.map(str::to_owned),
        }
    }

    /// A link for the address, as the operator makes one, or as an admin does.
    async fn link(world: &IdentityWorld, workspace_id: &str, vouched: bool) -> String {
        let workspace = world.store().find_workspace(workspace_id).await;
        let caller = Caller::operator(&workspace.unwrap().unwrap());
        let new = NewLink {
            kind: LinkKind::Join,
            role: Role::Member,
            email: Some(ADA.to_owned()),
            member_id: None,
            vouched,
        };
        let now_ms = world.clock.now_ms();
        let made = links::make(world.store(), &caller, world.public_url(), new, now_ms);
        let made = made.await.unwrap();
        made.url.expose().split_once('#').unwrap().1.to_owned()
    }

    /// Somebody takes the link with a password.
    async fn taken(world: &IdentityWorld, workspace_id: &str, vouched: bool) -> Member {
        let request = SetUpRequest {
            token: Secret::new(link(world, workspace_id, vouched).await),
            email: None,
            name: Some("Ada".to_owned()),
            password: Secret::new(PASSWORD),
        };
        let made = world.set_up(request, &browser()).await.unwrap();
        let id = made.me.member_id;
        let found = world.store().find_member(workspace_id, &id).await;
        found.unwrap().unwrap()
    }

    async fn workspaces(world: &IdentityWorld) -> [String; 2] {
        let rows = world.store().list_workspaces().await.unwrap();
        [rows[0].id.clone(), rows[1].id.clone()]
    }

    #[tokio::test]
    async fn an_invited_address_that_nobody_proved_captures_nobody() {
        let world = IdentityWorld::open().await;
        let [ours, theirs] = workspaces(&world).await;
        let eve = taken(&world, &theirs, false).await;
        let ada = account(Some(ADA));
        let asked = world.member_of(&ada, "/", &browser()).await.unwrap_err();
        let OidcProblem::Choose(choice) = asked else {
            panic!("it signs in: {asked}")
        };
        let offered = world.oidc_choices(Some(choice.expose())).await.unwrap();
        assert_eq!(offered.workspaces, ["theirs"]);
        let still = world.store().find_member(&theirs, &eve.id).await;
        assert_eq!(still.unwrap().unwrap().oidc_subject, None);

        let own = taken(&world, &ours, true).await;
        let member = world.member_of(&ada, "/", &browser()).await.unwrap();
        assert_eq!(member.id, own.id, "the operator vouched for this one");
        let again = world.member_of(&ada, "/", &browser()).await.unwrap();
        assert_eq!(again.id, own.id);
    }

    #[tokio::test]
    async fn a_chosen_workspace_takes_the_password_of_the_earlier_member() {
        let world = IdentityWorld::open().await;
        let [_, theirs] = workspaces(&world).await;
        let eve = taken(&world, &theirs, false).await;
        let asked = world
            .member_of(&account(Some(ADA)), "/skills", &browser())
            .await;
        let Err(OidcProblem::Choose(choice)) = asked else {
            panic!("it is asked")
        };
        let choice = Some(choice.expose());
        for (choice, workspace, code) in [
            (None, "theirs", "sign_in_required"),
            (Some("a.b.c"), "theirs", "sign_in_required"),
            (choice, "ours", "not_found"),
        ] {
            let refused = world.choose_oidc(choice, workspace, &browser()).await;
            assert_eq!(refused.unwrap_err().code(), code);
        }
        let chosen = world.choose_oidc(choice, "theirs", &browser()).await;
        let (signed_in, return_to) = chosen.unwrap();
        assert_eq!(
            (signed_in.me.member_id, &*return_to),
            (eve.id.clone(), "/skills")
        );
        let now = world.store().find_member(&theirs, &eve.id).await;
        let now = now.unwrap().unwrap();
        assert_eq!((now.password_hash, now.vouched), (None, true));
    }

    #[tokio::test]
    async fn an_invitation_is_accepted_by_the_proven_address_alone() {
        let world = IdentityWorld::open().await;
        let [_, theirs] = workspaces(&world).await;
        let token = link(&world, &theirs, false).await;
        let hash = toolgate_vault::opaque::hash(&token);
        for email in [None, Some("eve@example.com")] {
            let refused = world
                .invited(&account(email), &hash, &browser())
                .await
                .unwrap_err();
            assert_eq!(refused.code(), "oidc_no_member");
        }
        let member = world
            .invited(&account(Some(ADA)), &hash, &browser())
            .await
            .unwrap();
        assert_eq!((member.workspace_id, member.password_hash), (theirs, None));
        let twice = world
            .invited(&account(Some(ADA)), &hash, &browser())
            .await
            .unwrap_err();
        assert_eq!(twice.code(), "oidc_expired");
        let known = world
            .member_of(&account(None), "/", &browser())
            .await
            .unwrap();
        assert_eq!(known.id, member.id, "the subject is the identity");
    }
}
