//! Whose steps a run makes: the caller as it is at the moment, looked at before every step.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::limits::CALLER_KNOWN_MS;
use crate::{Caller, Error, Gateway};
use toolgate_operation::caller::CallerKind;
use toolgate_store::{Changes, Topic};

impl Gateway {
    /// The caller of a run as its key, or what the member has granted the app, is now; with what other processes have
    /// changed meanwhile, so that permissions are those of the moment. `looked_ms`: when it was looked at last, as a key
    /// and a grant also expire while nobody changes anything.
    ///
    /// # Errors
    /// `invalid_api_key` or `sign_in_required`: the caller may not call any more, or it is not known whether it may.
    pub(super) async fn caller_of_step(
        &self,
        caller: &Caller,
        looked_ms: &AtomicI64,
    ) -> Result<Caller, Error> {
        let changes = self.store.changes().await?;
        let now_ms = self.clock.now_ms();
        let age_ms = now_ms - looked_ms.load(Ordering::Relaxed);
        if changes == caller.changes && (0..CALLER_KNOWN_MS).contains(&age_ms) {
            return Ok(caller.clone());
        }
        self.services.refresh(&self.store, changes).await?;
        let stale = |topic| changes.get(topic) != caller.changes.get(topic);
        let is_late = !(0..CALLER_KNOWN_MS).contains(&age_ms);
        let mut now = match stale(Topic::Keys) || stale(Topic::Members) || is_late {
            true => self.caller_after_wait(caller).await?,
            false => caller.clone(),
        };
        if caller.kind == CallerKind::Member {
            now = self.member_of_step(now, changes).await?;
        }
        if caller.is_renewable() && is_late {
            looked_ms.store(now_ms, Ordering::Relaxed);
        }
        now.changes = changes;
        Ok(now)
    }

    /// A member, whose counter is that of all workspaces: only a change of this one's role ends its runs.
    async fn member_of_step(&self, mut caller: Caller, changes: Changes) -> Result<Caller, Error> {
        let stale = |topic| changes.get(topic) != caller.changes.get(topic);
        let (of_members, of_keys) = (stale(Topic::Members), stale(Topic::Keys));
        if of_members {
            let member = self.store.find_member(&caller.workspace_id, &caller.key_id);
            let member = member.await?.ok_or(Error::SignInRequired)?;
            if caller.role != Some(member.role) {
                return Err(Error::SignInRequired);
            }
        }
        // Workspaces count as keys.
        if of_keys {
            let workspace = self.store.find_workspace(&caller.workspace_id).await?;
            let settings = workspace.ok_or(Error::SignInRequired)?.settings;
            let principal = Arc::make_mut(&mut caller.principal);
            principal.default_permission = settings.default_permission;
            principal.default_approvers = settings.default_approvers;
            principal.keep_payloads = settings.keep_payloads;
        }
        Ok(caller)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scope;
    use crate::testing::TestWorld;
    use toolgate_store::Role;

    #[tokio::test]
    async fn a_member_goes_on_until_its_own_role_changes() {
        let world = TestWorld::open().await;
        let owner = world.member_caller(Role::Owner).await;
        let caller = world.member_caller(Role::Admin).await;
        let looked_ms = AtomicI64::new(world.clock.now_ms());
        // Of another workspace, and of this one.
        world.member(Role::Member, false).await;
        world.member(Role::Member, true).await;
        assert_ne!(world.store.changes().await.unwrap(), caller.changes);
        let now = world.caller_of_step(&caller, &looked_ms).await.unwrap();
        assert_eq!(now.role, Some(Role::Admin));

        let changed = world
            .identity()
            .change_member(&owner, &caller.key_id, Role::Member);
        changed.await.unwrap();
        let refused = world.caller_of_step(&caller, &looked_ms).await;
        assert_eq!(refused.unwrap_err().code(), "sign_in_required");
        let removed = world.identity().remove_member(&owner, &caller.key_id);
        removed.await.unwrap();
        let refused = world.caller_of_step(&caller, &looked_ms).await;
        assert_eq!(refused.unwrap_err().code(), "sign_in_required");
    }

    #[tokio::test]
    async fn a_key_is_looked_at_again_after_a_while_and_when_it_was_revoked() {
        let world = TestWorld::open().await;
        let owner = world.member_caller(Role::Owner).await;
        let caller = world.caller(&[Scope::ToolsExecute]).await;
        let looked_ms = AtomicI64::new(world.clock.now_ms());
        let first_ms = looked_ms.load(Ordering::Relaxed);
        assert!(world.caller_of_step(&caller, &looked_ms).await.is_ok());
        world.clock.advance_ms(CALLER_KNOWN_MS);
        assert!(world.caller_of_step(&caller, &looked_ms).await.is_ok());
        assert_eq!(
            looked_ms.load(Ordering::Relaxed),
            first_ms + CALLER_KNOWN_MS
        );

        let revoked = world.identity().revoke_key(&owner, &caller.key_id).await;
        revoked.unwrap();
        let refused = world.caller_of_step(&caller, &looked_ms).await;
        assert_eq!(refused.unwrap_err().code(), "invalid_api_key");
    }
}
