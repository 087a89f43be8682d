//! What holds for a workspace's tools where no rule says otherwise.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::access::permission_rules::DefaultRule;
use crate::audit::AuditAction;
use crate::{Caller, Error, Gateway, RequiredRole, Scope};
use toolgate_store::{Approvers, DefaultPermission, Role, SettingsChange};

/// `GET` and `PATCH /v1/permissions/default`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DefaultPermissionBody {
    pub default: DefaultRule,
    /// Who decides about the calls for which `by_effect` asks; `admins` where it is not said. Stays as
    /// it is if left out of a change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvers: Option<Approvers>,
}

fn shown(default: DefaultRule, approvers: Approvers) -> DefaultPermissionBody {
    DefaultPermissionBody {
        default,
        approvers: Some(approvers).filter(|one| *one != Approvers::Admins),
    }
}

impl Gateway {
    /// What holds without a rule.
    pub async fn default_permission(
        &self,
        caller: &Caller,
    ) -> Result<DefaultPermissionBody, Error> {
        caller.need(Scope::PermissionsRead)?;
        Ok(shown(
            caller.default_permission.into(),
            caller.default_approvers,
        ))
    }

    /// Sets what holds without a rule, for every user of the workspace, from the next request on.
    /// Of members only an owner does, as with the workspace's other settings. A key or an app, which an admin can make,
    /// sets nothing that asks less or lets more people decide.
    pub async fn change_default_permission(
        &self,
        caller: &Caller,
        change: DefaultPermissionBody,
    ) -> Result<DefaultPermissionBody, Error> {
        caller.need(Scope::PermissionsWrite)?;
        if caller.role.is_some() {
            caller.need_role(Role::Owner)?;
        } else {
            caller.need(Scope::UsersAny)?;
            if loosens(caller, change) {
                return Err(Error::RoleDenied(RequiredRole::AtLeast(Role::Owner)));
            }
        }
        let default = change.default;
        let kept = match default {
            DefaultRule::Allow => DefaultPermission::Allow,
            DefaultRule::ByEffect => DefaultPermission::ByEffect,
        };
        let settings = SettingsChange {
            default_permission: Some(kept),
            default_approvers: change.approvers,
            ..SettingsChange::default()
        };
        let mut details = json!({ "default": default });
        if let Some(approvers) = change.approvers {
            details["approvers"] = json!(approvers);
        }
        let (id, now_ms) = (&caller.workspace_id, self.clock.now_ms());
        let changed = self
            .audited(caller, AuditAction::PermissionsChangeDefault, id, details)
            .change_workspace(id, None, &settings, now_ms)
            .await?;
        let settings = changed.ok_or(Error::InvalidApiKey)?.settings;
        Ok(shown(default, settings.default_approvers))
    }
}

/// Whether fewer calls would wait for a person, or more people could decide about them.
fn loosens(caller: &Caller, change: DefaultPermissionBody) -> bool {
    let asks = |default: DefaultRule| match default {
        DefaultRule::Allow => 0,
        DefaultRule::ByEffect => 1,
    };
    let deciders = |approvers: Approvers| match approvers {
        Approvers::Admins => 0,
        Approvers::Members => 1,
        Approvers::Themselves => 2,
    };
    let approvers = change.approvers.unwrap_or(caller.default_approvers);
    asks(change.default) < asks(caller.default_permission.into())
        || deciders(approvers) > deciders(caller.default_approvers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Permission;
    use crate::testing::TestWorld;
    use toolgate_core::ids::UserId;

    fn by_effect() -> DefaultPermissionBody {
        shown(DefaultRule::ByEffect, Approvers::Admins)
    }

    #[tokio::test]
    async fn the_default_holds_from_the_next_request_and_in_its_workspace_alone() {
        let world = TestWorld::open().await;
        let caller = world.caller(&[Scope::Admin]).await;
        let stranger = world.stranger(&[Scope::Admin]).await;
        let ada = UserId::parse("ada").unwrap();
        let set = world.change_default_permission(&caller, by_effect());
        assert_eq!(set.await.unwrap().default, DefaultRule::ByEffect);
        for (caller, permission) in [
            (world.again(&caller).await, Permission::Ask),
            (world.again(&stranger).await, Permission::Allow),
        ] {
            let told = world.explain_permission(&caller, &ada, "github_create_issue");
            assert_eq!(told.await.unwrap().permission, permission);
        }
        let caller = world.again(&caller).await;
        let now = world.default_permission(&caller).await.unwrap();
        assert_eq!(now.default, DefaultRule::ByEffect);
    }

    #[tokio::test]
    async fn reading_and_setting_the_default_have_their_scopes() {
        let world = TestWorld::open().await;
        let reader = world.caller(&[Scope::PermissionsRead]).await;
        let writer = world.caller(&[Scope::PermissionsWrite]).await;
        let set = world.change_default_permission(&reader, by_effect());
        assert_eq!(set.await.unwrap_err().code(), "scope_denied");
        let read = world.default_permission(&writer).await;
        assert_eq!(read.unwrap_err().code(), "scope_denied");
        assert!(world.default_permission(&reader).await.is_ok());
    }

    #[tokio::test]
    async fn only_an_owner_lets_calls_run_that_waited_before() {
        let world = TestWorld::open().await;
        let key = world.caller(&[Scope::Admin]).await;
        let allow = |approvers| shown(DefaultRule::Allow, approvers);
        for change in [allow(Approvers::Members), allow(Approvers::Themselves)] {
            let set = world.change_default_permission(&key, change).await;
            assert_eq!(set.unwrap_err().code(), "role_denied", "{change:?}");
        }
        // What asks more it may set, and again.
        for _ in 0..2 {
            let key = world.again(&key).await;
            world
                .change_default_permission(&key, by_effect())
                .await
                .unwrap();
        }
        let key = world.again(&key).await;
        let set = world.change_default_permission(&key, allow(Approvers::Admins));
        assert_eq!(set.await.unwrap_err().code(), "role_denied");
        let admin = world.member_caller(Role::Admin).await;
        let set = world.change_default_permission(&admin, allow(Approvers::Admins));
        assert_eq!(set.await.unwrap_err().code(), "role_denied");
        let owner = world.member_caller(Role::Owner).await;
        let set = world.change_default_permission(&owner, allow(Approvers::Themselves));
        assert!(set.await.is_ok());
    }
}
