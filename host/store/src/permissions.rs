//! Permission rules of users. Which rule wins is decided in the gateway.

use serde::{Deserialize, Serialize};
use serde_json::json;
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

use super::changes::bump;
use super::events::emit;
use super::{Event, EventType, Store, StoreError, Topic, Writer, portable};
use crate::columns::select;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum RuleKind {
    Service,
    Tool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Rule {
    Allow,
    Deny,
    Ask,
}

/// Who decides about a call that waits for a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[derive(Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Approvers {
    /// Owners and admins of the workspace, and keys with the scope `approvals`.
    #[default]
    Admins,
    /// They, and the member whose user the call is for.
    Members,
    /// They all, and the requester, unless that is a key.
    #[serde(rename = "self")]
    #[strum(serialize = "self")]
    Themselves,
}

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct PermissionRule {
    pub workspace_id: String,
    pub user_id: String,
    #[sqlx(try_from = "&'a str")]
    pub kind: RuleKind,
    /// Of the service or the tool.
    pub name: String,
    #[sqlx(try_from = "&'a str")]
    pub rule: Rule,
    /// Where the rule asks.
    #[sqlx(try_from = "&'a str")]
    pub approvers: Approvers,
    pub expires_at_ms: Option<i64>,
    /// How often it may be used, and has been.
    pub max_calls: Option<i64>,
    pub used: i64,
    pub updated_at_ms: i64,
}

/// One rule to set, or with `None` to remove.
#[derive(Clone, Debug)]
pub struct RuleChange<'a> {
    pub kind: RuleKind,
    pub name: &'a str,
    pub rule: Option<Rule>,
    pub approvers: Approvers,
    pub expires_at_ms: Option<i64>,
    pub max_calls: Option<i64>,
}

fn permission_event(
    workspace_id: &str,
    user_id: &str,
    changes: &[RuleChange<'_>],
    at_ms: i64,
) -> Event {
    let rules: Vec<_> = changes
        .iter()
        .map(|change| {
            json!({
                "kind": change.kind.into_str(),
                "name": change.name,
                "rule": change.rule.map_or("inherit", |rule| rule.into_str()),
            })
        })
        .collect();
    let data = json!({ "user_id": user_id, "rules": rules });
    Event::new(EventType::PermissionChanged, workspace_id, at_ms, data)
}

/// A rule that decides nothing since `$2`: it has ended, or it is used up and was set before. A rule
/// that is set again meanwhile is neither.
macro_rules! dead {
    () => {
        "(expires_at_ms < $2 OR (used >= max_calls AND updated_at_ms < $2))"
    };
}

impl Store {
    /// A user's rules, expired ones too, by kind and name.
    pub async fn list_rules(
        &self,
        workspace_id: &str,
        user_id: &str,
    ) -> Result<Vec<PermissionRule>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(
                select!(permission_rules, "WHERE workspace_id = $1 AND user_id = $2 ORDER BY kind, name"),
            )
            .bind(workspace_id)
            .bind(user_id)
            .fetch_all(db)
            .await?
        }))
    }

    /// Counts one call against a rule with `max_calls`. `false`: it is used up, expired or gone,
    /// and the call must be decided anew. The last call it has counts as a change of the rules.
    pub async fn use_rule(&self, rule: &PermissionRule, now_ms: i64) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let used: Option<i64> = sqlx::query_scalar(
                "UPDATE permission_rules SET used = used + 1 \
                 WHERE workspace_id = $1 AND user_id = $2 AND kind = $3 AND name = $4 AND rule = $5 \
                 AND (max_calls IS NULL OR used < max_calls) AND (expires_at_ms IS NULL OR expires_at_ms > $6) \
                 RETURNING used",
            )
            .bind(&rule.workspace_id)
            .bind(&rule.user_id)
            .bind(rule.kind.into_str())
            .bind(&rule.name)
            .bind(rule.rule.into_str())
            .bind(now_ms)
            .fetch_optional(&mut *tx)
            .await?;
            if used.is_some() && used == rule.max_calls {
                bump!(tx, Topic::Permissions);
            }
            used.is_some()
        }))
    }

    /// Takes back one count of [`Store::use_rule`]; nothing where the rule was set anew since.
    pub async fn return_rule(&self, rule: &PermissionRule) -> Result<(), StoreError> {
        portable!(write self, tx => {
            let used: Option<i64> = sqlx::query_scalar(
                "UPDATE permission_rules SET used = used - 1 \
                 WHERE workspace_id = $1 AND user_id = $2 AND kind = $3 AND name = $4 AND rule = $5 \
                 AND updated_at_ms = $6 AND used > 0 RETURNING used",
            )
            .bind(&rule.workspace_id)
            .bind(&rule.user_id)
            .bind(rule.kind.into_str())
            .bind(&rule.name)
            .bind(rule.rule.into_str())
            .bind(rule.updated_at_ms)
            .fetch_optional(&mut *tx)
            .await?;
            // It was used up, and has a call again.
            if used.is_some() && used.map(|used| used + 1) == rule.max_calls {
                bump!(tx, Topic::Permissions);
            }
        });
        Ok(())
    }

    /// Forgets a workspace's rules that had ended before `before_ms` or were used up and set before
    /// it, at most `limit`; call again while it answers `limit`. Such rules decide nothing and are
    /// shown nowhere.
    pub async fn prune_rules(
        &self,
        workspace_id: &str,
        before_ms: i64,
        limit: usize,
    ) -> Result<u64, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query(concat!(
                "DELETE FROM permission_rules WHERE workspace_id = $1 AND ",
                dead!(),
                " AND (user_id, kind, name) IN (SELECT user_id, kind, name FROM permission_rules \
                 WHERE workspace_id = $1 AND ",
                dead!(),
                " ORDER BY user_id, kind, name LIMIT $3)"
            ))
            .bind(workspace_id)
            .bind(before_ms)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .execute(&mut *tx)
            .await?
            .rows_affected()
        }))
    }
}

impl Writer {
    /// Makes all changes or none. A rule that is set starts its count of calls anew.
    pub async fn change_rules(
        &self,
        workspace_id: &str,
        user_id: &str,
        changes: &[RuleChange<'_>],
        now_ms: i64,
    ) -> Result<(), StoreError> {
        // In order, so that two requests never wait for one another. Of two changes of one rule the later one stays.
        let mut in_order: Vec<&RuleChange<'_>> = changes.iter().collect();
        in_order.sort_by_key(|change| (change.kind, change.name));
        portable!(write self, tx => {
            for change in &in_order {
                let Some(rule) = change.rule else {
                    sqlx::query(
                        "DELETE FROM permission_rules \
                         WHERE workspace_id = $1 AND user_id = $2 AND kind = $3 AND name = $4",
                    )
                    .bind(workspace_id)
                    .bind(user_id)
                    .bind(change.kind.into_str())
                    .bind(change.name)
                    .execute(&mut *tx)
                    .await?;
                    continue;
                };
                sqlx::query(
                    "INSERT INTO permission_rules (workspace_id, user_id, kind, name, rule, approvers, expires_at_ms, \
                     max_calls, used, updated_at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, $9) \
                     ON CONFLICT (workspace_id, user_id, kind, name) DO UPDATE SET rule = excluded.rule, \
                     approvers = excluded.approvers, expires_at_ms = excluded.expires_at_ms, max_calls = excluded.max_calls, used = 0, \
                     updated_at_ms = excluded.updated_at_ms",
                )
                .bind(workspace_id)
                .bind(user_id)
                .bind(change.kind.into_str())
                .bind(change.name)
                .bind(rule.into_str())
                .bind(change.approvers.into_str())
                .bind(change.expires_at_ms)
                .bind(change.max_calls)
                .bind(now_ms)
                .execute(&mut *tx)
                .await?;
            }
            bump!(tx, Topic::Permissions);
            emit!(tx, self, &[permission_event(workspace_id, user_id, changes, now_ms)]);
        });
        Ok(())
    }
}
