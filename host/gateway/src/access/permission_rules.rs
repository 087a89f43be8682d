//! Reading and changing a user's permission rules.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::access::permissions::{DecidedBy, Permission, live};
use crate::audit::AuditAction;
use crate::{Caller, Error, Gateway, Scope};
use toolgate_catalog::manifest::Effect;
use toolgate_core::clock::{parse_rfc3339, rfc3339};
use toolgate_core::ids::UserId;
use toolgate_core::visible::shown_name;
use toolgate_store::{Approvers, DefaultPermission, PermissionRule, Rule, RuleChange, RuleKind};

/// Rules of one batch.
pub const BATCH_MAX: usize = 1_000;
pub const MAX_CALLS_MAX: i64 = 1_000_000_000;

/// `GET /v1/permissions/services`.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct PermissionServices {
    pub services: Vec<PermissionService>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct PermissionService {
    #[schema(example = "github")]
    pub service: String,
    #[schema(example = "GitHub")]
    pub display_name: String,
    /// How many tools it has.
    pub tools: usize,
    /// `oauth2`, `api_key`, ... or `none`.
    pub auth_type: String,
}

/// `GET /v1/permissions/users/{user_id}`: the user's own rules that hold now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct UserPermissions {
    pub user_id: String,
    pub default: DefaultRule,
    pub services: BTreeMap<String, Permission>,
    pub tools: BTreeMap<String, Permission>,
    /// Who decides for the rules that ask, where it is not `admins`.
    #[serde(skip_serializing_if = "RuleApprovers::is_empty")]
    pub approvers: RuleApprovers,
    /// Those of the rules that end by themselves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limited: Vec<LimitedRule>,
}

/// Approvers by the name of a service or tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct RuleApprovers {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub services: BTreeMap<String, Approvers>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, Approvers>,
}

impl RuleApprovers {
    fn is_empty(&self) -> bool {
        self.services.is_empty() && self.tools.is_empty()
    }
}

/// What holds without a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DefaultRule {
    Allow,
    /// Reads are allowed, everything else asks.
    ByEffect,
}

impl From<DefaultPermission> for DefaultRule {
    fn from(default: DefaultPermission) -> Self {
        match default {
            DefaultPermission::Allow => Self::Allow,
            DefaultPermission::ByEffect => Self::ByEffect,
        }
    }
}

/// A rule that ends at a time or after a number of calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct LimitedRule {
    /// Name of the service, for a service's rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// Name of the tool, for a tool's rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    pub permission: Permission,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_calls: Option<i64>,
    /// How many of `max_calls` are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<i64>,
}

/// A rule as a request names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    Allow,
    Deny,
    Ask,
    /// Removes the rule.
    Inherit,
}

impl Setting {
    fn rule(self) -> Option<Rule> {
        match self {
            Self::Allow => Some(Rule::Allow),
            Self::Deny => Some(Rule::Deny),
            Self::Ask => Some(Rule::Ask),
            Self::Inherit => None,
        }
    }
}

/// `PATCH /v1/permissions/users/{user_id}/...`: all or nothing.
#[derive(Clone, Debug, Default)]
pub struct ChangePermissions {
    pub services: BTreeMap<String, Change>,
    pub tools: BTreeMap<String, Change>,
}

/// One rule to set or remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub setting: Setting,
    /// Who decides, for a rule that asks; `admins` if absent.
    pub approvers: Option<Approvers>,
    /// RFC 3339 in UTC, seconds or milliseconds; the rule counts until then.
    pub expires_at: Option<String>,
    /// The rule counts for this many calls.
    pub max_calls: Option<i64>,
}

impl From<Setting> for Change {
    fn from(setting: Setting) -> Self {
        Self {
            setting,
            approvers: None,
            expires_at: None,
            max_calls: None,
        }
    }
}

/// `GET /v1/permissions/users/{user_id}/summary`: tools by what holds for them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct PermissionSummary {
    pub user_id: String,
    pub services: BTreeMap<String, PermissionCounts>,
    pub total: PermissionCounts,
}

/// Numbers of tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct PermissionCounts {
    pub allow: usize,
    pub deny: usize,
    pub ask: usize,
}

impl PermissionCounts {
    fn count(&mut self, permission: Permission) {
        match permission {
            Permission::Allow => self.allow += 1,
            Permission::Deny => self.deny += 1,
            Permission::Ask => self.ask += 1,
        }
    }
}

/// `GET /v1/permissions/users/{user_id}/explain`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct PermissionExplanation {
    pub user_id: String,
    pub tool_name: String,
    pub service: String,
    /// What the tool does: `read`, `write` or `destructive`.
    pub effect: String,
    pub permission: Permission,
    pub decided_by: DecidedBy,
    /// Who decides about a call, where the permission is `ask`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approvers: Option<Approvers>,
    /// When and after how many calls the deciding rule ends, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<LimitedRule>,
}

impl Gateway {
    /// The services that rules can be about.
    pub async fn permission_services(&self, caller: &Caller) -> Result<PermissionServices, Error> {
        caller.need(Scope::PermissionsRead)?;
        let snapshot = self.snapshot();
        let services = snapshot.catalog.services().filter_map(|service| {
            let manifest = snapshot.catalog.manifest(service)?;
            Some(PermissionService {
                service: service.to_owned(),
                display_name: manifest.title.clone(),
                tools: manifest.tools.len(),
                auth_type: manifest
                    .auth
                    .first()
                    .map_or("none", |slot| slot.kind.as_str())
                    .to_owned(),
            })
        });
        Ok(PermissionServices {
            services: services.collect(),
        })
    }

    /// A user's rules. A user nobody has spoken of has none.
    pub async fn user_permissions(
        &self,
        caller: &Caller,
        user: &UserId,
    ) -> Result<UserPermissions, Error> {
        caller.need(Scope::PermissionsRead)?;
        caller.user(Some(user))?;
        self.shown_rules(caller, user).await
    }

    async fn shown_rules(&self, caller: &Caller, user: &UserId) -> Result<UserPermissions, Error> {
        let now_ms = self.clock.now_ms();
        let rows = self
            .store
            .list_rules(&caller.workspace_id, user.as_str())
            .await?;
        let mut shown = UserPermissions {
            user_id: user.to_string(),
            default: caller.default_permission.into(),
            services: BTreeMap::new(),
            tools: BTreeMap::new(),
            approvers: RuleApprovers::default(),
            limited: Vec::new(),
        };
        for row in rows.into_iter().filter(|row| live(row, now_ms)) {
            shown.limited.extend(limited(&row));
            let (of_kind, approvers) = match row.kind {
                RuleKind::Service => (&mut shown.services, &mut shown.approvers.services),
                RuleKind::Tool => (&mut shown.tools, &mut shown.approvers.tools),
            };
            if row.rule == Rule::Ask && row.approvers != Approvers::Admins {
                approvers.insert(row.name.clone(), row.approvers);
            }
            of_kind.insert(row.name, row.rule.into());
        }
        Ok(shown)
    }

    /// Sets and removes rules, all or none, and answers the rules as they then are.
    ///
    /// # Errors
    /// `tool_not_found`, `service_not_found` for a name that neither the catalog nor a rule of the
    /// user knows; `invalid_request` for a time in the past or a count out of range.
    pub async fn change_permissions(
        &self,
        caller: &Caller,
        user: &UserId,
        request: ChangePermissions,
    ) -> Result<UserPermissions, Error> {
        caller.need(Scope::PermissionsWrite)?;
        caller.user(Some(user))?;
        let count = request.services.len() + request.tools.len();
        if count > BATCH_MAX {
            return Err(Error::InvalidRequest(format!(
                "a batch has at most {BATCH_MAX} rules, not {count}"
            )));
        }
        let now_ms = self.clock.now_ms();
        let snapshot = self.snapshot();
        let rows = self
            .store
            .list_rules(&caller.workspace_id, user.as_str())
            .await?;
        let ruled: BTreeSet<(RuleKind, &str)> =
            rows.iter().map(|row| (row.kind, &*row.name)).collect();
        let mut changes = Vec::with_capacity(count);
        let services = request
            .services
            .iter()
            .map(|(name, change)| (RuleKind::Service, name, change));
        let tools = request
            .tools
            .iter()
            .map(|(name, change)| (RuleKind::Tool, name, change));
        for (kind, name, change) in services.chain(tools) {
            let known = match kind {
                RuleKind::Service => snapshot.catalog.manifest(name).is_some(),
                RuleKind::Tool => snapshot.catalog.get(name).is_some(),
            };
            if !known && !ruled.contains(&(kind, name)) {
                return Err(match kind {
                    RuleKind::Service => Error::ServiceNotFound(shown_name(name)),
                    RuleKind::Tool => no_tool(name),
                });
            }
            changes.push(checked(kind, name, change, now_ms)?);
        }
        if !changes.is_empty() {
            let (action, details) = (AuditAction::PermissionsChange, audit_details(&changes));
            self.audited(caller, action, user.as_str(), details)
                .change_rules(&caller.workspace_id, user.as_str(), &changes, now_ms)
                .await?;
        }
        self.shown_rules(caller, user).await
    }

    /// What holds for every tool, counted.
    pub async fn permission_summary(
        &self,
        caller: &Caller,
        user: &UserId,
    ) -> Result<PermissionSummary, Error> {
        caller.need(Scope::PermissionsRead)?;
        caller.user(Some(user))?;
        let permissions = self.permissions_of(caller, user).await?;
        let snapshot = self.snapshot();
        let mut services: BTreeMap<String, PermissionCounts> = BTreeMap::new();
        let mut total = PermissionCounts::default();
        for tool in snapshot.catalog.tools() {
            let permission = permissions.decide(tool).permission;
            services
                .entry(tool.service().to_owned())
                .or_default()
                .count(permission);
            total.count(permission);
        }
        Ok(PermissionSummary {
            user_id: user.to_string(),
            services,
            total,
        })
    }

    /// What holds for one tool, and why.
    pub async fn explain_permission(
        &self,
        caller: &Caller,
        user: &UserId,
        tool_name: &str,
    ) -> Result<PermissionExplanation, Error> {
        caller.need(Scope::PermissionsRead)?;
        caller.user(Some(user))?;
        let snapshot = self.snapshot();
        let tool = snapshot
            .catalog
            .get(tool_name)
            .ok_or_else(|| no_tool(tool_name))?;
        let permissions = self.permissions_of(caller, user).await?;
        let decided = permissions.decide(tool);
        Ok(PermissionExplanation {
            user_id: user.to_string(),
            tool_name: tool.name.to_string(),
            service: tool.service().to_owned(),
            effect: match tool.effect() {
                Effect::Read => "read",
                Effect::Write => "write",
                Effect::Destructive => "destructive",
            }
            .to_owned(),
            permission: decided.permission,
            decided_by: decided.by,
            approvers: (decided.permission == Permission::Ask)
                .then(|| permissions.approvers(&decided)),
            rule: decided.rule.and_then(limited),
        })
    }
}

/// What the audit log says of changed rules.
fn audit_details(changes: &[RuleChange<'_>]) -> Value {
    let rules: Vec<_> = changes
        .iter()
        .map(|change| {
            json!({
                "kind": change.kind.into_str(),
                "name": change.name,
                "rule": change.rule.map_or("inherit", |rule| rule.into_str()),
                "approvers": change.approvers,
            })
        })
        .collect();
    json!({ "rules": rules })
}

fn limited(row: &PermissionRule) -> Option<LimitedRule> {
    if row.expires_at_ms.is_none() && row.max_calls.is_none() {
        return None;
    }
    let name = Some(row.name.clone());
    let (service, tool_name) = match row.kind {
        RuleKind::Service => (name, None),
        RuleKind::Tool => (None, name),
    };
    Some(LimitedRule {
        service,
        tool_name,
        permission: row.rule.into(),
        expires_at: row.expires_at_ms.map(rfc3339),
        max_calls: row.max_calls,
        used: row.max_calls.map(|_| row.used),
    })
}

fn checked<'a>(
    kind: RuleKind,
    name: &'a str,
    change: &Change,
    now_ms: i64,
) -> Result<RuleChange<'a>, Error> {
    let expires_at_ms = match &change.expires_at {
        None => None,
        Some(text) => {
            let at = parse_rfc3339(text).ok_or_else(|| {
                Error::InvalidRequest(
                    "expires_at must be a time in UTC, for example 2026-11-20T09:30:00Z".to_owned(),
                )
            })?;
            if at <= now_ms {
                return Err(Error::InvalidRequest(
                    "expires_at must be in the future".to_owned(),
                ));
            }
            Some(at)
        }
    };
    if change
        .max_calls
        .is_some_and(|calls| !(1..=MAX_CALLS_MAX).contains(&calls))
    {
        return Err(Error::InvalidRequest(format!(
            "max_calls must be 1 to {MAX_CALLS_MAX}"
        )));
    }
    if change.approvers.is_some() && change.setting != Setting::Ask {
        return Err(Error::InvalidRequest(
            "`approvers` is only valid with the permission `ask`".to_owned(),
        ));
    }
    Ok(RuleChange {
        kind,
        name,
        rule: change.setting.rule(),
        approvers: change.approvers.unwrap_or_default(),
        expires_at_ms,
        max_calls: change.max_calls,
    })
}

fn no_tool(name: &str) -> Error {
    Error::ToolNotFound {
        tool_name: shown_name(name),
        nearest: Vec::new(),
    }
}
