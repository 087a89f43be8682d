//! Groups of the provider that decide who is a member of a workspace, and as what.
//!
//! In a workspace that a rule names, the groups decide about every member who signs in with the provider
//! alone. A member with a password was let in by a person and is not touched, and a workspace keeps its last
//! owner whatever the provider says.

use serde_json::{Value, json};

use super::which::{Account, AccountClaims};
use super::{OidcAccounts, OidcProblem};
use crate::config::GroupRule;
use crate::members::checked_name;
use crate::members::sign_in::Browser;
use crate::{Error, Identity};
use toolgate_core::ids;
use toolgate_operation::audit::{AuditAction, entry};
use toolgate_store::{AuditedStore, LinkKind, Member, MemberChange, Role, StoreError, Workspace};

/// Members that one account is.
const MEMBERS_MAX: i64 = 32;

/// A workspace whose members the groups decide about, and what they make of one account there.
pub(super) struct GovernedWorkspace {
    pub(super) workspace: Workspace,
    pub(super) role: Option<Role>,
}

fn role_by(rules: &[&GroupRule], groups: &[String]) -> Option<Role> {
    rules
        .iter()
        .filter(|rule| groups.contains(&rule.group))
        .map(|rule| rule.role)
        .max()
}

impl OidcAccounts {
    /// The workspaces that rules name, and what `groups` come to in each.
    pub(super) async fn governed_workspaces(
        &self,
        groups: &[String],
    ) -> Result<Vec<GovernedWorkspace>, StoreError> {
        let mut found: Vec<(Workspace, Vec<&GroupRule>)> = Vec::new();
        for rule in &self.config().groups.rules {
            let workspace = match &rule.workspace {
                Some(name) => self.store.find_workspace_by_name(name).await?,
                None => self.store.first_workspace().await?,
            };
            let Some(workspace) = workspace else {
                tracing::warn!(group = rule.group, "members.group_without_workspace");
                continue;
            };
            match found.iter_mut().find(|(one, _)| one.id == workspace.id) {
                Some((_, rules)) => rules.push(rule),
                None => found.push((workspace, vec![rule])),
            }
        }
        let decided = found
            .into_iter()
            .map(|(workspace, rules)| GovernedWorkspace {
                role: role_by(&rules, groups),
                workspace,
            });
        Ok(decided.collect())
    }

    /// Gives the members of an account the roles of its groups, and removes those that no group names.
    pub(super) async fn apply(
        &self,
        subject: &str,
        governed_workspaces: &[GovernedWorkspace],
    ) -> Result<(), StoreError> {
        while !self.apply_once(subject, governed_workspaces).await? {}
        Ok(())
    }

    /// The same for the members as they are read now. `false`: somebody else has changed the role of one meanwhile,
    /// about which the groups decide again.
    async fn apply_once(
        &self,
        subject: &str,
        governed_workspaces: &[GovernedWorkspace],
    ) -> Result<bool, StoreError> {
        let mut settled = true;
        let members = self.store.members_with_oidc(subject, MEMBERS_MAX).await?;
        for member in members {
            let decided = governed_workspaces
                .iter()
                .find(|one| one.workspace.id == member.workspace_id)
                .filter(|_| member.password_hash.is_none());
            let Some(decided) = decided else { continue };
            let (id, workspace_id) = (&member.id, &member.workspace_id);
            let changed = match decided.role {
                Some(role) if role == member.role => continue,
                Some(role) => {
                    let details = json!({
                        "from": member.role, "to": role, "email": member.email, "by_groups": true,
                    });
                    self.audited(&member, AuditAction::MembersChange, details)
                        .set_member_role(workspace_id, id, member.role, role)
                        .await?
                }
                None => {
                    let details = json!({
                        "email": member.email, "role": member.role, "by_groups": true,
                    });
                    self.audited(&member, AuditAction::MembersRemove, details)
                        .delete_member(workspace_id, id, member.role)
                        .await?
                }
            };
            match changed {
                MemberChange::Done | MemberChange::NotFound => {}
                MemberChange::LastOwner => {
                    tracing::warn!(member.id = id, "members.last_owner_kept");
                }
                MemberChange::OtherRole => settled = false,
            }
        }
        Ok(settled)
    }

    /// The store for one change that the provider's groups bring about.
    pub(super) fn audited(
        &self,
        member: &Member,
        action: AuditAction,
        details: Value,
    ) -> AuditedStore {
        let (now_ms, actor) = (self.clock.now_ms(), "gateway".to_owned());
        self.store.audited(entry(
            &member.workspace_id,
            actor,
            now_ms,
            action,
            &member.id,
            details,
        ))
    }
}

impl Identity {
    /// Makes an account a member wherever its groups say so, and no member where they do not. Answers what
    /// they say of each workspace.
    pub(super) async fn admit(
        &self,
        account: &Account,
        claims: &AccountClaims,
        client: &Browser,
    ) -> Result<Vec<GovernedWorkspace>, OidcProblem> {
        let accounts = self.configured()?;
        let governed_workspaces = accounts
            .governed_workspaces(&claims.groups)
            .await
            .map_err(Error::from)?;
        let subject = account.subject();
        let known = self.store.members_with_oidc(subject, MEMBERS_MAX).await;
        let known = known.map_err(Error::from)?;
        for decided in &governed_workspaces {
            let Some(role) = decided.role else { continue };
            let workspace_id = &decided.workspace.id;
            let is_known = known.iter().any(|one| one.workspace_id == *workspace_id);
            // An unproven address is nobody's.
            let Some(email) = account.email().filter(|_| !is_known) else {
                continue;
            };
            let name = claims
                .name
                .as_deref()
                .and_then(|name| checked_name(name).ok());
            let member = Member {
                workspace_id: workspace_id.clone(),
                id: ids::ulid("mem"),
                name: name.unwrap_or_else(|| email.to_owned()),
                email: email.to_owned(),
                role,
                password_hash: None,
                oidc_subject: Some(subject.to_owned()),
                created_at_ms: self.clock.now_ms(),
                last_seen_at_ms: None,
                vouched: true,
            };
            let details = json!({ "email": member.email, "role": role, "by_groups": true });
            let audited = self.audited_member(&member, AuditAction::MembersCreate, details, client);
            match audited.insert_member(&member).await {
                // Somebody whom a person has let in: [`Identity::member_of`] says who that is.
                Ok(()) | Err(StoreError::Taken(_)) => {}
                Err(cause) => return Err(Error::from(cause).into()),
            }
        }
        let applied = accounts.apply(subject, &governed_workspaces).await;
        applied.map_err(Error::from)?;
        Ok(governed_workspaces)
    }

    /// What the groups of an account, asked for now, say of each workspace, where they decide about a member to
    /// whom it is about to be tied. `None`: they do not. `tied`: the member as the tie makes it.
    ///
    /// # Errors
    /// `sign_in_required` where the provider takes the account's tokens no more; `overloaded` where it does not
    /// answer.
    pub(super) async fn groups_before_tie(
        &self,
        tied: &Member,
    ) -> Result<Option<Vec<GovernedWorkspace>>, Error> {
        let workspace = self.workspace_of(tied).await?;
        let decides = self.managing_provider(tied, &workspace).await?;
        let (Some(accounts), Some(subject)) = (decides, &tied.oidc_subject) else {
            return Ok(None);
        };
        let groups = accounts.groups_now(subject).await?;
        let groups = groups.ok_or(Error::SignInRequired)?;
        Ok(Some(accounts.governed_workspaces(&groups).await?))
    }

    /// Gives a member to whom an account is tied by now the role that its groups gave before.
    pub(super) async fn apply_groups(
        &self,
        account: &Account,
        governed_workspaces: &[GovernedWorkspace],
    ) -> Result<(), Error> {
        if let Some(accounts) = &self.oidc {
            accounts
                .apply(account.subject(), governed_workspaces)
                .await?;
        }
        Ok(())
    }

    /// Refuses an invitation to a workspace that no group of the person names.
    pub(super) async fn check_invitation(
        &self,
        invitation: &str,
        admitted: Option<&Vec<GovernedWorkspace>>,
    ) -> Result<(), OidcProblem> {
        let now_ms = self.clock.now_ms();
        let link = self.store.find_member_link(invitation, now_ms).await;
        let link = link.map_err(Error::from)?;
        // Without the first owner there would be none.
        let Some(link) = link.filter(|link| link.kind != LinkKind::Setup) else {
            return Ok(());
        };
        let refused = admitted
            .into_iter()
            .flatten()
            .any(|one| one.workspace.id == link.workspace_id && one.role.is_none());
        if refused {
            return Err(OidcProblem::NoGroup);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_groups_the_greatest_role_counts() {
        let rules: Vec<GroupRule> = ["eng=member", "leads=admin", "it=owner"]
            .iter()
            .map(|text| text.parse().unwrap())
            .collect();
        let rules: Vec<&GroupRule> = rules.iter().collect();
        let role = |groups: &[&str]| {
            let groups: Vec<String> = groups.iter().map(|&one| one.to_owned()).collect();
            role_by(&rules, &groups)
        };
        assert_eq!(role(&["eng"]), Some(Role::Member));
        assert_eq!(role(&["leads", "eng", "other"]), Some(Role::Admin));
        assert_eq!(role(&["ENG", "engi"]), None);
        assert_eq!(role(&[]), None);
    }
}
