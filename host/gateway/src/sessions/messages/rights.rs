//! What a turn may still do: looked at before every step.

use std::sync::Arc;

use tokio::time::Instant;

use super::TurnReason;
use super::turn::Turn;
use crate::limits::limits_of;
use crate::{Error, RateLimited, Scope};
use toolgate_store::Topic;

impl Turn<'_> {
    /// Why no further step may be begun. Rights are those of this moment, not of the beginning.
    pub(super) async fn must_stop(&mut self) -> Result<Option<TurnReason>, Error> {
        if self.gateway.stop.is_cancelled() {
            return Ok(Some(TurnReason::GatewayStopping));
        }
        if Instant::now() >= self.until {
            return Ok(Some(TurnReason::TimeExhausted));
        }
        Ok((!self.renew_caller().await?).then_some(TurnReason::KeyRevoked))
    }

    /// Counts a call as the request that it would be outside of a session.
    pub(super) async fn over_the_limit(&self) -> Result<Option<RateLimited>, Error> {
        match self.gateway.identity.count_request(&self.caller).await {
            Ok(()) => Ok(None),
            Err(Error::RateLimited(limited)) => Ok(Some(limited)),
            Err(other) => Err(other),
        }
    }

    /// Looks at what has changed since the last step. `false`: the key is no longer valid.
    async fn renew_caller(&mut self) -> Result<bool, Error> {
        let store = &self.gateway.store;
        let before = self.caller.changes;
        let changes = store.changes().await?;
        self.gateway.services.refresh(store, changes).await?;
        self.caller.changes = changes;
        let stale = |topic| changes.get(topic) != before.get(topic);
        let member = self.caller.role.is_some();
        if member && stale(Topic::Members) {
            // What a member may do now is looked at when it resumes.
            return Ok(false);
        }
        // Workspaces count as keys.
        if !stale(Topic::Keys) {
            return Ok(true);
        }
        let Some(workspace) = store.find_workspace(&self.caller.workspace_id).await? else {
            return Ok(false);
        };
        let principal = Arc::make_mut(&mut self.caller.principal);
        principal.default_permission = workspace.settings.default_permission;
        if member {
            return Ok(true);
        }
        let keys = store.list_keys(&principal.workspace_id).await?;
        let now_ms = self.gateway.clock.now_ms();
        let key = keys.into_iter().find(|key| {
            key.id == *principal.key_id
                && key.revoked_at_ms.is_none()
                && key.expires_at_ms.is_none_or(|at| at > now_ms)
        });
        let Some(key) = key else {
            return Ok(false);
        };
        principal.scopes = key
            .scopes
            .iter()
            .filter_map(|scope| scope.parse::<Scope>().ok())
            .collect();
        principal.limits = limits_of(&key, &workspace);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::access::permission_default::DefaultPermissionBody;
    use crate::access::permission_rules::DefaultRule;
    use crate::testing::TestWorld;
    use toolgate_core::ids;
    use toolgate_store::{DefaultPermission, Role, SessionRow};

    #[tokio::test]
    async fn the_default_of_the_workspace_is_that_of_the_moment_for_keys_and_members() {
        let world = TestWorld::open().await;
        let admin = world.caller(&[Scope::Admin]).await;
        let signed_in = world.member(Role::Member, true).await;
        let jwt = Some(signed_in.jwt.expose());
        let entered = world.authenticate_member(jwt, ids::ulid("req"), None).await;
        let session = SessionRow {
            workspace_id: admin.workspace_id.clone(),
            id: "ses_1".into(),
            user_id: "ada".into(),
            prompt: None,
            created_at_ms: 0,
            last_active_at_ms: 0,
        };
        for caller in [world.again(&admin).await, entered.unwrap().caller] {
            let mut turn = Turn {
                gateway: &world.gateway,
                caller,
                session: &session,
                turn_id: "trn_1",
                steps: Vec::new(),
                chars: 0,
                listener: None,
                until: Instant::now() + Duration::from_secs(60),
                tokens: 0,
            };
            for (default, kept) in [
                (DefaultRule::ByEffect, DefaultPermission::ByEffect),
                (DefaultRule::Allow, DefaultPermission::Allow),
            ] {
                let change = DefaultPermissionBody {
                    default,
                    approvers: None,
                };
                let changed = world.change_default_permission(&admin, change).await;
                changed.unwrap();
                assert!(turn.renew_caller().await.unwrap());
                assert_eq!(turn.caller.default_permission, kept);
            }
        }
    }
}
