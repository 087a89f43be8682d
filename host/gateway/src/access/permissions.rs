//! Who may use what: rules of users, and the one decision that list, search, schema, dry run and
//! execute all ask for.
//!
//! A rule for a tool beats one for its service, which beats the workspace's default. A rule that
//! has expired or whose calls are used up is as if it were not there. Rules are remembered for a
//! user until any process changes a rule; deciding costs no database query until then.
//! Read [`decide`] for the decision, [`crate::access::permission_rules`] for reading and changing rules.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::{Caller, Error, Gateway};
use toolgate_catalog::Tool;
use toolgate_catalog::manifest::Effect;
use toolgate_core::ids::UserId;
use toolgate_core::text::Text;
use toolgate_store::{Approvers, DefaultPermission, PermissionRule, Rule, RuleKind, Topic};

/// Users whose rules are remembered at one time.
const KNOWN_USERS_MAX: usize = 10_000;

/// What holds for one user and one tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    Allow,
    Deny,
    /// A person decides about each call.
    Ask,
}

impl From<Rule> for Permission {
    fn from(rule: Rule) -> Self {
        match rule {
            Rule::Allow => Self::Allow,
            Rule::Deny => Self::Deny,
            Rule::Ask => Self::Ask,
        }
    }
}

/// What made a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    ToolRule,
    ServiceRule,
    /// The workspace allows what no rule speaks of.
    WorkspaceDefault,
    /// The workspace allows reads and asks for the rest.
    EffectDefault,
}

/// A permission and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PermissionDecision<'a> {
    pub permission: Permission,
    pub by: DecidedBy,
    pub rule: Option<&'a PermissionRule>,
}

/// A user's rules by what they are for.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    services: HashMap<String, PermissionRule>,
    tools: HashMap<String, PermissionRule>,
}

impl Rules {
    pub(crate) fn from_rows(rows: Vec<PermissionRule>) -> Self {
        let mut rules = Self::default();
        for row in rows {
            let of_kind = match row.kind {
                RuleKind::Service => &mut rules.services,
                RuleKind::Tool => &mut rules.tools,
            };
            of_kind.insert(row.name.clone(), row);
        }
        rules
    }
}

/// What may be decided about: the tool's names and what it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleSubject<'a> {
    pub tool: &'a str,
    pub service: &'a str,
    pub effect: Effect,
}

impl<'a> RuleSubject<'a> {
    pub(crate) fn from_tool(tool: &'a Tool) -> Self {
        Self {
            tool: &tool.name,
            service: tool.service(),
            effect: tool.effect(),
        }
    }
}

/// Whether a rule still counts.
pub(crate) fn live(rule: &PermissionRule, now_ms: i64) -> bool {
    rule.expires_at_ms.is_none_or(|at| at > now_ms)
        && rule.max_calls.is_none_or(|most| rule.used < most)
}

/// The one decision. Pure.
pub(crate) fn decide<'a>(
    rules: &'a Rules,
    default: DefaultPermission,
    subject: RuleSubject<'_>,
    now_ms: i64,
) -> PermissionDecision<'a> {
    let of_tool = rules
        .tools
        .get(subject.tool)
        .map(|rule| (rule, DecidedBy::ToolRule));
    let of_service = rules
        .services
        .get(subject.service)
        .map(|rule| (rule, DecidedBy::ServiceRule));
    let ruled = [of_tool, of_service]
        .into_iter()
        .flatten()
        .find(|(rule, _)| live(rule, now_ms));
    if let Some((rule, by)) = ruled {
        return PermissionDecision {
            permission: rule.rule.into(),
            by,
            rule: Some(rule),
        };
    }
    let (permission, by) = match default {
        DefaultPermission::Allow => (Permission::Allow, DecidedBy::WorkspaceDefault),
        DefaultPermission::ByEffect if subject.effect == Effect::Read => {
            (Permission::Allow, DecidedBy::EffectDefault)
        }
        DefaultPermission::ByEffect => (Permission::Ask, DecidedBy::EffectDefault),
    };
    PermissionDecision {
        permission,
        by,
        rule: None,
    }
}

/// Rules of users seen since the last change to any rule.
#[derive(Default)]
pub(crate) struct KnownRules(Mutex<RuleCache>);

#[derive(Default)]
struct RuleCache {
    at: i64,
    /// By workspace, then by user.
    users: HashMap<Text, HashMap<Text, Arc<Rules>>>,
    count: usize,
}

impl KnownRules {
    fn get(&self, at: i64, workspace_id: &str, user_id: &str) -> Option<Arc<Rules>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.at < at {
            *known = RuleCache {
                at,
                ..RuleCache::default()
            };
        }
        if known.at == at {
            known.users.get(workspace_id)?.get(user_id).cloned()
        } else {
            None
        }
    }

    fn put(&self, at: i64, workspace_id: Text, user_id: Text, rules: Arc<Rules>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.at == at {
            if known.count >= KNOWN_USERS_MAX {
                *known = RuleCache {
                    at,
                    ..RuleCache::default()
                };
            }
            let of_workspace = known.users.entry(workspace_id).or_default();
            let new = of_workspace.insert(user_id, rules).is_none();
            known.count += usize::from(new);
        }
    }
}

/// One user's permissions at one moment.
#[derive(Clone)]
pub(crate) struct Permissions {
    pub rules: Arc<Rules>,
    pub default: DefaultPermission,
    pub default_approvers: Approvers,
    pub now_ms: i64,
}

impl Permissions {
    pub(crate) fn decide<'a>(&'a self, tool: &Tool) -> PermissionDecision<'a> {
        decide(
            &self.rules,
            self.default,
            RuleSubject::from_tool(tool),
            self.now_ms,
        )
    }

    /// Who decides about calls of which this decision says that a person has to.
    pub(crate) fn approvers(&self, decision: &PermissionDecision<'_>) -> Approvers {
        decision
            .rule
            .map_or(self.default_approvers, |rule| rule.approvers)
    }

    /// Whether a rule allowed a number of calls of the tool that are used up, and still counts else.
    pub(crate) fn allowed_calls_used_up(&self, tool: &Tool) -> bool {
        let rules = [
            self.rules.tools.get(&*tool.name),
            self.rules.services.get(tool.service()),
        ];
        rules.into_iter().flatten().any(|rule| {
            rule.rule == Rule::Allow
                && rule.max_calls.is_some()
                && rule.expires_at_ms.is_none_or(|at| at > self.now_ms)
        })
    }

    /// Whether the tool exists for the user: allowed, or allowed once somebody was asked.
    pub(crate) fn shows(&self, tool: &Tool) -> bool {
        self.decide(tool).permission != Permission::Deny
    }

    /// Whether [`Permissions::shows`] holds for every tool, without asking about each.
    pub(crate) fn hides_nothing(&self) -> bool {
        let by_default = match self.default {
            DefaultPermission::Allow | DefaultPermission::ByEffect => true,
        };
        let mut rules = self
            .rules
            .tools
            .values()
            .chain(self.rules.services.values());
        by_default && rules.all(|rule| rule.rule != Rule::Deny)
    }

    /// Refuses a tool that the user may not use.
    pub(crate) fn check(&self, user: &UserId, tool: &Tool) -> Result<(), Error> {
        if self.shows(tool) {
            Ok(())
        } else {
            Err(denied(user, &tool.name))
        }
    }
}

pub(crate) fn denied(user: &UserId, subject: &str) -> Error {
    Error::PermissionDenied {
        user_id: user.to_string(),
        subject: subject.to_owned(),
    }
}

impl Gateway {
    /// What `user` may use, as of the moment the caller was authenticated.
    pub(crate) async fn permissions_of(
        &self,
        caller: &Caller,
        user: &UserId,
    ) -> Result<Permissions, Error> {
        let at = caller.changes.get(Topic::Permissions);
        let workspace_id = &caller.workspace_id;
        let rules = match self.known_rules.get(at, workspace_id, user.as_str()) {
            Some(rules) => rules,
            None => {
                let rows = self.store.list_rules(workspace_id, user.as_str()).await?;
                let rules = Arc::new(Rules::from_rows(rows));
                self.known_rules
                    .put(at, workspace_id.clone(), user.text(), rules.clone());
                rules
            }
        };
        Ok(Permissions {
            rules,
            default: caller.default_permission,
            default_approvers: caller.default_approvers,
            now_ms: self.clock.now_ms(),
        })
    }

    /// What a user may read, where there is no caller: a workspace's default always lets tools read.
    pub(crate) async fn reading_permissions(
        &self,
        workspace_id: &str,
        user_id: &str,
    ) -> Result<Permissions, Error> {
        let rows = self.store.list_rules(workspace_id, user_id).await?;
        Ok(Permissions {
            rules: Arc::new(Rules::from_rows(rows)),
            default: DefaultPermission::ByEffect,
            default_approvers: Approvers::default(),
            now_ms: self.clock.now_ms(),
        })
    }

    /// Decides about a call that is about to run, and counts it against a rule with `max_calls`,
    /// which is answered too: [`Gateway::uncount_call`] takes it back.
    pub(crate) async fn count_call(
        &self,
        caller: &Caller,
        user: &UserId,
        tool: &Tool,
        permissions: &Permissions,
    ) -> Result<(Permission, Option<PermissionRule>), Error> {
        let decided = permissions.decide(tool);
        let Some(rule) = decided.rule.filter(|rule| rule.max_calls.is_some()) else {
            return Ok((decided.permission, None));
        };
        if self.store.use_rule(rule, permissions.now_ms).await? {
            return Ok((decided.permission, Some(rule.clone())));
        }
        // Used up meanwhile. Rules as they are now, whatever is remembered.
        let rows = self
            .store
            .list_rules(&caller.workspace_id, user.as_str())
            .await?;
        let rules = Rules::from_rows(rows);
        let subject = RuleSubject::from_tool(tool);
        let decided = decide(&rules, permissions.default, subject, permissions.now_ms);
        match decided.rule.filter(|rule| rule.max_calls.is_some()) {
            Some(rule) if self.store.use_rule(rule, permissions.now_ms).await? => {
                Ok((decided.permission, Some(rule.clone())))
            }
            Some(_) => Ok((Permission::Deny, None)),
            None => Ok((decided.permission, None)),
        }
    }

    /// Gives back what [`Gateway::count_call`] counted for a call that did not run.
    pub(crate) async fn uncount_call(&self, rule: &PermissionRule) -> Result<(), Error> {
        Ok(self.store.return_rule(rule).await?)
    }
}

#[cfg(test)]
mod tests;
