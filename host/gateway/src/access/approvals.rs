//! Calls that a person has to allow first.
//!
//! A call of a tool whose permission is `ask` is parked: the plugin runs as in a dry run, and what
//! it would send is kept with the question ([`question`]). Who decides reads all of it ([`shown`]).
//! Once somebody has approved, the repeated call runs, once; a denied one is refused until the
//! question has expired. Who decides is said by the rule that asks; nobody decides a question of
//! their own unless it says so too.

pub(crate) mod question;
mod sealed;
mod shown;
mod wait;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::audit::AuditAction;
use crate::tools::{Annotations, ApprovalNeeded};
use crate::{Caller, Error, Gateway, Scope};
use toolgate_core::clock::rfc3339;
use toolgate_core::exact::ExactNumbers;
use toolgate_core::states::ApprovalStatus;
use toolgate_core::visible::visible_json;
use toolgate_egress::PlannedRequest;
use toolgate_store::{self as store, ApprovalFilter, Approvers, Cursor, Page, Role};
pub use wait::WAIT_S_MAX;

/// How long a question, and its approval, is valid.
pub const APPROVAL_LIFETIME_MS: i64 = 24 * 60 * 60 * 1_000;
pub const LIST_LIMIT_MAX: usize = 100;
/// Questions of one workspace that wait, and the bytes of their arguments and requests; beyond, a call is refused.
pub const PENDING_MAX: i64 = 2_000;
pub const PENDING_BYTES_MAX: i64 = 64 << 20;
/// Most bytes of arguments and requests on one page of a list; the page ends before the row that is over it.
pub const LIST_BYTES_MAX: usize = 4 << 20;

/// One question. `GET /v1/approvals/{approval_id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Approval {
    /// `apr_<ULID>`.
    #[schema(example = "apr_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub approval_id: String,
    pub user_id: String,
    pub tool_name: String,
    /// The tool's title.
    pub title: String,
    /// How the tool that serves now is declared; absent if no tool has this name any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    pub status: ApprovalStatus,
    /// What the tool is called with, whole. Numbers that JSON parsers round are here as they round them.
    #[schema(value_type = Value)]
    pub arguments: Value,
    /// The same as JSON text, as it runs, with every digit; characters that a reader cannot see are escaped.
    pub arguments_text: String,
    /// Whether an earlier version of the gateway has masked a secret of the connection in `arguments` or `requests`: now
    /// such a call is refused.
    pub secrets_masked: bool,
    /// What the call would send first, as a dry run shows it. The run may begin with nothing else.
    pub requests: Vec<PlannedRequest>,
    /// Whether these are all: requests that follow from the first answers cannot be planned.
    pub requests_complete: bool,
    /// `key:<id>` or `member:<id>`; may not decide, unless `approvers` is `self` and it is a member.
    pub asked_by: String,
    /// Name of the key or the member.
    pub asked_by_name: String,
    pub approvers: Approvers,
    /// Whether the reader of this may decide it now.
    pub can_decide: bool,
    /// What the call would run with; absent where the tool needs none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<String>,
    /// The account's name at the provider, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The code that would run. Another version is another question.
    pub plugin: ApprovedPlugin,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub expires_at: String,
    /// `key:<id>` or `member:<id>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub decided_at: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ApprovedPlugin {
    pub version: String,
    /// Of the plugin file, hexadecimal.
    pub sha256: String,
}

/// `GET /v1/approvals`, newest first.
#[derive(Clone, Debug)]
pub struct ListApprovals {
    pub status: Option<ApprovalStatus>,
    /// 1 to 100.
    pub limit: usize,
    pub cursor: Option<String>,
}

#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ApprovalPage {
    pub approvals: Vec<Approval>,
    /// `null` on the last page.
    pub next_cursor: Option<String>,
}

/// `POST /v1/approvals/{approval_id}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDecision {
    Approve,
    Deny,
}

/// What a caller finds of the workspace's questions. A member without a larger role decides for their
/// own user, where the rule says so; a key for the users that it acts for.
pub(crate) fn visible(caller: &Caller) -> ApprovalFilter<'_> {
    ApprovalFilter {
        state: None,
        user_id: caller.confined.then(|| caller.default_user.as_str()),
        not_for_admins: caller.role == Some(Role::Member),
    }
}

fn is_visible(caller: &Caller, row: &store::ApprovalRow) -> bool {
    let filter = visible(caller);
    filter.user_id.is_none_or(|user| user == row.user_id)
        && !(filter.not_for_admins && row.approvers == Approvers::Admins)
}

/// Whether a caller to whom a question is visible may decide it: nobody who asked it, unless the rule
/// leaves it to them, and never the key that did.
fn may_decide(caller: &Caller, row: &store::ApprovalRow) -> bool {
    let asked_it = caller.actor() == row.asker;
    !asked_it || (caller.role.is_some() && row.approvers == Approvers::Themselves)
}

impl Gateway {
    /// One question. Its requester reads the outcome without the scope `approvals` too. With `wait_s` the
    /// answer comes once it is decided or expired, and at the latest after so many seconds.
    pub async fn approval(
        &self,
        caller: &Caller,
        approval_id: &str,
        wait_s: usize,
    ) -> Result<Approval, Error> {
        let row = self.question_of(caller, approval_id).await?;
        let (caller, row) = match wait_s {
            0 => (caller.clone(), row),
            seconds => self.decided(caller, row, seconds).await?,
        };
        let row = self.opened_question(row)?;
        let read = [(&*row.id, &*row.user_id)];
        self.record_reading(&caller, AuditAction::ApprovalsRead, &read)
            .await?;
        self.shown(&caller, row, self.clock.now_ms())
    }

    /// The stored question, if the caller may read it.
    async fn question_of(
        &self,
        caller: &Caller,
        approval_id: &str,
    ) -> Result<store::ApprovalRow, Error> {
        let found = self
            .store
            .find_approval(&caller.workspace_id, approval_id)
            .await?;
        let asked_it = found
            .as_ref()
            .is_some_and(|row| row.asker == caller.actor());
        if !asked_it {
            caller.need(Scope::Approvals)?;
        }
        let found = found.filter(|row| asked_it || is_visible(caller, row));
        found.ok_or_else(|| unknown(approval_id))
    }

    /// Questions, newest first.
    pub async fn approvals(
        &self,
        caller: &Caller,
        request: ListApprovals,
    ) -> Result<ApprovalPage, Error> {
        caller.need(Scope::Approvals)?;
        let cursor = match &request.cursor {
            None => None,
            Some(text) => Some(
                Cursor::parse(text)
                    .ok_or_else(|| Error::InvalidRequest("invalid cursor".to_owned()))?,
            ),
        };
        let now_ms = self.clock.now_ms();
        self.store
            .expire_approvals(Some(&caller.workspace_id), now_ms)
            .await?;
        let page = self
            .store
            .list_approvals(
                &caller.workspace_id,
                ApprovalFilter {
                    state: request.status,
                    ..visible(caller)
                },
                cursor.as_ref(),
                request.limit,
            )
            .await?;
        let items = page.items.into_iter().map(|row| self.opened_question(row));
        let page = Page {
            items: items.collect::<Result<_, _>>()?,
            next: page.next,
        };
        let page = page.within(LIST_BYTES_MAX);
        let read = page.items.iter().map(|row| (&*row.id, &*row.user_id));
        let read: Vec<_> = read.collect();
        self.record_reading(caller, AuditAction::ApprovalsRead, &read)
            .await?;
        let approvals = page
            .items
            .into_iter()
            .map(|row| self.shown(caller, row, now_ms));
        Ok(ApprovalPage {
            approvals: approvals.collect::<Result<_, _>>()?,
            next_cursor: page.next.map(|cursor| cursor.to_string()),
        })
    }

    /// Decides a pending question, once.
    ///
    /// # Errors
    /// `permission_denied` for its requester; `conflict` when it is decided or expired already.
    pub async fn decide_approval(
        self: &Arc<Self>,
        caller: &Caller,
        approval_id: &str,
        decision: ApprovalDecision,
    ) -> Result<Approval, Error> {
        caller.need(Scope::Approvals)?;
        let standing = self
            .store
            .find_approval(&caller.workspace_id, approval_id)
            .await?
            .filter(|row| is_visible(caller, row))
            .ok_or_else(|| unknown(approval_id))?;
        if !may_decide(caller, &standing) {
            return Err(Error::OwnQuestion);
        }
        let by = caller.actor();
        let now_ms = self.clock.now_ms();
        let approve = decision == ApprovalDecision::Approve;
        let action = if approve {
            AuditAction::ApprovalsApprove
        } else {
            AuditAction::ApprovalsDeny
        };
        let details = json!({ "user_id": standing.user_id, "tool_name": standing.tool_name });
        let decided = self
            .audited(caller, action, &standing.id, details)
            .decide_approval(&caller.workspace_id, approval_id, approve, &by, now_ms)
            .await?;
        let Some(row) = decided else {
            let standing = self.approval(caller, approval_id, 0).await?;
            return Err(Error::Conflict(format!(
                "the approval is no longer pending: it is {}",
                standing.status
            )));
        };
        self.shown(caller, self.opened_question(row)?, now_ms)
    }

    fn shown(
        &self,
        caller: &Caller,
        row: store::ApprovalRow,
        now_ms: i64,
    ) -> Result<Approval, Error> {
        let snapshot = self.snapshot();
        let tool = snapshot.catalog.get(&row.tool_name);
        let annotations = tool.map(|tool| Annotations::new(tool.effect(), tool.idempotent()));
        as_shown(caller, row, annotations, now_ms)
    }
}

/// What the asker is told.
fn needed(public_url: &str, open: store::ApprovalRow) -> Result<ApprovalNeeded, Error> {
    Ok(ApprovalNeeded {
        reason: "approval_required".to_owned(),
        message: format!(
            "A person has to approve this call of {} for the user {} first.",
            open.tool_name, open.user_id
        ),
        approval_url: page_of(public_url, &open.id),
        expires_at: rfc3339(open.expires_at_ms),
        requests: requests_of(&open)?,
        approval_id: open.id,
    })
}

/// Where a person decides. The page asks for a sign-in and shows only who may decide the buttons, so the address
/// gives nothing to other readers.
fn page_of(public_url: &str, approval_id: &str) -> String {
    format!("{public_url}/approvals/{approval_id}")
}

fn requests_of(row: &store::ApprovalRow) -> Result<Vec<PlannedRequest>, Error> {
    serde_json::from_str(&row.requests).map_err(|cause| Error::Internal(cause.into()))
}

fn unknown(approval_id: &str) -> Error {
    Error::NotFound(format!(
        "the approval {}",
        toolgate_core::visible::shown_name(approval_id)
    ))
}

/// Arguments as text for people.
fn arguments_text(arguments: &Value, numbers: &ExactNumbers) -> String {
    let text = numbers.write_pretty(arguments);
    visible_json(&text).into_owned()
}

fn as_shown(
    caller: &Caller,
    row: store::ApprovalRow,
    annotations: Option<Annotations>,
    now_ms: i64,
) -> Result<Approval, Error> {
    let status = row.state.at(now_ms, row.expires_at_ms);
    let plan: Value = serde_json::from_str(&row.plan).unwrap_or_default();
    let arguments: Value =
        serde_json::from_str(&row.arguments).map_err(|cause| Error::Internal(cause.into()))?;
    Ok(Approval {
        can_decide: status == ApprovalStatus::Pending && may_decide(caller, &row),
        requests: requests_of(&row)?,
        requests_complete: plan["whole"] == true,
        arguments_text: arguments_text(&arguments, &ExactNumbers::read(&row.arguments)),
        arguments,
        secrets_masked: plan["masked"] == true,
        approval_id: row.id,
        user_id: row.user_id,
        tool_name: row.tool_name,
        title: row.title,
        annotations,
        status,
        asked_by: row.asker,
        asked_by_name: row.asker_name,
        approvers: row.approvers,
        connection_id: row.connection_id,
        account: row.account,
        plugin: ApprovedPlugin {
            version: row.plugin_version,
            sha256: row.plugin_sha256,
        },
        created_at: rfc3339(row.created_at_ms),
        expires_at: rfc3339(row.expires_at_ms),
        decided_by: row.decided_by,
        decided_at: row.decided_at_ms.map(rfc3339),
    })
}

#[cfg(test)]
mod tests;
