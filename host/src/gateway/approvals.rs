//! Calls that a person has to allow first.
//!
//! A call of a tool whose permission is `ask` is parked: the plugin runs as in a dry run, and what
//! it would send is kept with the question. Once somebody has approved, the repeated call with the
//! same arguments runs, once; a denied one is refused until the question has expired.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::idempotency::canonical;
use super::tools::ApprovalNeeded;
use super::{Caller, Error, Gateway, Scope};
use crate::clock::rfc3339;
use crate::egress::PlannedRequest;
use crate::ids::{self, UserId};
use crate::runtime::inspect::hex;
use crate::store::{self, ApprovalState, Cursor};

/// How long a question, and the approval of it, stands.
pub const STANDS_MS: i64 = 24 * 60 * 60 * 1_000;
pub const LIST_LIMIT_MAX: usize = 100;

/// What became of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    Pending,
    Approved,
    Denied,
    /// The approved call has run.
    Used,
    Expired,
}

impl ApprovalStatus {
    pub const ALL: [(&'static str, Self); 5] = [
        ("pending", Self::Pending),
        ("approved", Self::Approved),
        ("denied", Self::Denied),
        ("used", Self::Used),
        ("expired", Self::Expired),
    ];

    fn state(self) -> ApprovalState {
        match self {
            Self::Pending => ApprovalState::Pending,
            Self::Approved => ApprovalState::Approved,
            Self::Denied => ApprovalState::Denied,
            Self::Used => ApprovalState::Used,
            Self::Expired => ApprovalState::Expired,
        }
    }
}

/// One question. `GET /v1/approvals/{approval_id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Approval {
    /// `apr_<ULID>`.
    #[schema(example = "apr_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub approval_id: String,
    pub user_id: String,
    pub tool_name: String,
    pub status: ApprovalStatus,
    /// What the call would send, as a dry run shows it.
    pub requests: Vec<PlannedRequest>,
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

/// The call that is asked about: the same again has the same hash.
pub(super) struct Question<'a> {
    pub user: &'a UserId,
    pub tool_name: &'a str,
    /// Arguments as JSON text.
    pub arguments: &'a str,
    pub cursor: Option<&'a str>,
    /// The account that the caller chose, if it did.
    pub connection_id: Option<&'a str>,
    pub session_id: &'a str,
}

impl Question<'_> {
    fn hash(&self) -> String {
        let arguments: Value = serde_json::from_str(self.arguments).unwrap_or_default();
        let whole = canonical(&json!([arguments, self.cursor, self.connection_id]));
        hex(&Sha256::digest(whole.as_bytes()))
    }
}

impl Gateway {
    /// Takes the one run of an approved call. `None`: it has to be asked about.
    ///
    /// # Errors
    /// `permission_denied` when somebody has denied this very call.
    pub(super) async fn take_approval(
        &self,
        caller: &Caller,
        question: &Question<'_>,
    ) -> Result<Option<String>, Error> {
        let (workspace, user) = (&caller.workspace_id, question.user.as_str());
        let (hash, now_ms) = (question.hash(), self.clock.now_ms());
        let tool = question.tool_name;
        let taken = self
            .store
            .use_approval(workspace, user, tool, &hash, now_ms)
            .await?;
        if let Some(taken) = taken {
            return Ok(Some(taken.id));
        }
        if self
            .store
            .is_denied(workspace, user, tool, &hash, now_ms)
            .await?
        {
            return Err(super::permissions::denied(question.user, tool));
        }
        Ok(None)
    }

    /// Gives back the run of an approved call that came to nothing.
    pub(super) async fn return_approval(
        &self,
        caller: &Caller,
        approval_id: &str,
    ) -> Result<(), Error> {
        let returned = self
            .store
            .return_approval(&caller.workspace_id, approval_id);
        returned.await?;
        Ok(())
    }

    /// Keeps the question, or finds the one that is already open for the same call.
    pub(super) async fn ask_approval(
        &self,
        caller: &Caller,
        question: &Question<'_>,
        requests: &[PlannedRequest],
    ) -> Result<ApprovalNeeded, Error> {
        let now_ms = self.clock.now_ms();
        let asked = store::Approval {
            workspace_id: caller.workspace_id.to_string(),
            id: ids::ulid("apr"),
            user_id: question.user.to_string(),
            tool_name: question.tool_name.to_owned(),
            arguments_hash: question.hash(),
            requests: serde_json::to_string(requests)
                .map_err(|cause| Error::Internal(cause.into()))?,
            session_id: Some(question.session_id.to_owned()),
            state: ApprovalState::Pending,
            decided_by: None,
            decided_at_ms: None,
            created_at_ms: now_ms,
            expires_at_ms: now_ms + STANDS_MS,
        };
        let open = self.store.open_approval(&asked).await?;
        Ok(ApprovalNeeded {
            reason: "approval_required".to_owned(),
            message: format!(
                "A person has to approve this call of {} for the user {} first.",
                question.tool_name, question.user
            ),
            approval_url: format!("{}/approvals/{}", self.public_url, open.id),
            expires_at: rfc3339(open.expires_at_ms),
            requests: serde_json::from_str(&open.requests)
                .map_err(|cause| Error::Internal(cause.into()))?,
            approval_id: open.id,
        })
    }

    /// One question.
    pub async fn approval(&self, caller: &Caller, approval_id: &str) -> Result<Approval, Error> {
        caller.need(Scope::Approvals)?;
        let found = self
            .store
            .find_approval(&caller.workspace_id, approval_id)
            .await?;
        match found {
            Some(row) => shown(row, self.clock.now_ms()),
            None => Err(unknown(approval_id)),
        }
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
            Some(text) => Some(Cursor::parse(text).ok_or_else(|| {
                Error::InvalidRequest("cursor is none that a page handed out".to_owned())
            })?),
        };
        let now_ms = self.clock.now_ms();
        self.store
            .expire_approvals(Some(&caller.workspace_id), now_ms)
            .await?;
        let page = self
            .store
            .list_approvals(
                &caller.workspace_id,
                request.status.map(ApprovalStatus::state),
                cursor.as_ref(),
                request.limit,
            )
            .await?;
        let approvals = page.items.into_iter().map(|row| shown(row, now_ms));
        Ok(ApprovalPage {
            approvals: approvals.collect::<Result<_, _>>()?,
            next_cursor: page.next.map(|cursor| cursor.to_string()),
        })
    }

    /// Decides a pending question, once.
    ///
    /// # Errors
    /// `conflict` when it is decided or expired already.
    pub async fn decide_approval(
        self: &Arc<Self>,
        caller: &Caller,
        approval_id: &str,
        decision: ApprovalDecision,
    ) -> Result<Approval, Error> {
        caller.need(Scope::Approvals)?;
        let by = caller.actor();
        let now_ms = self.clock.now_ms();
        let approve = decision == ApprovalDecision::Approve;
        let decided = self
            .store
            .decide_approval(&caller.workspace_id, approval_id, approve, &by, now_ms)
            .await?;
        let Some(row) = decided else {
            let standing = self.approval(caller, approval_id).await?;
            let (status, _) = ApprovalStatus::ALL
                .into_iter()
                .find(|(_, status)| *status == standing.status)
                .unwrap_or(("decided", ApprovalStatus::Used));
            return Err(Error::Conflict(format!(
                "the approval is not pending any more, but {status}"
            )));
        };
        let action = if approve {
            "approvals.approve"
        } else {
            "approvals.deny"
        };
        let details = json!({ "user_id": row.user_id, "tool_name": row.tool_name });
        self.record_change(caller, action, &row.id, details).await?;
        shown(row, now_ms)
    }
}

fn unknown(approval_id: &str) -> Error {
    Error::NotFound(format!(
        "the approval {}",
        super::find::shown_name(approval_id)
    ))
}

fn shown(row: store::Approval, now_ms: i64) -> Result<Approval, Error> {
    let open = matches!(row.state, ApprovalState::Pending | ApprovalState::Approved);
    Ok(Approval {
        approval_id: row.id,
        user_id: row.user_id,
        tool_name: row.tool_name,
        status: match row.state {
            _ if open && row.expires_at_ms <= now_ms => ApprovalStatus::Expired,
            ApprovalState::Pending => ApprovalStatus::Pending,
            ApprovalState::Approved => ApprovalStatus::Approved,
            ApprovalState::Denied => ApprovalStatus::Denied,
            ApprovalState::Used => ApprovalStatus::Used,
            ApprovalState::Expired => ApprovalStatus::Expired,
        },
        requests: serde_json::from_str(&row.requests)
            .map_err(|cause| Error::Internal(cause.into()))?,
        created_at: rfc3339(row.created_at_ms),
        expires_at: rfc3339(row.expires_at_ms),
        decided_by: row.decided_by,
        decided_at: row.decided_at_ms.map(rfc3339),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::testing::World;

    fn request() -> PlannedRequest {
        PlannedRequest {
            method: "POST".to_owned(),
            url: "https://api.example.com/issues".to_owned(),
            headers: vec![("authorization".to_owned(), "[slot user]".to_owned())],
            body: "{}".to_owned(),
        }
    }

    fn question<'a>(user: &'a UserId, arguments: &'a str) -> Question<'a> {
        Question {
            user,
            tool_name: "github_create_issue",
            arguments,
            cursor: None,
            connection_id: None,
            session_id: "tool_1",
        }
    }

    #[tokio::test]
    async fn an_approved_call_runs_once_whatever_the_order_of_its_arguments() {
        let world = World::open().await;
        let caller = world.caller(&[Scope::Admin]).await;
        let user = caller.default_user.clone();
        let asked = question(&user, r#"{"a":1,"b":2}"#);
        assert_eq!(world.take_approval(&caller, &asked).await.unwrap(), None);
        let needed = world
            .ask_approval(&caller, &asked, &[request()])
            .await
            .unwrap();
        assert!(
            needed
                .approval_url
                .ends_with(&format!("/approvals/{}", needed.approval_id))
        );
        let again = world.ask_approval(&caller, &asked, &[]).await.unwrap();
        assert_eq!(
            (&again.approval_id, &again.requests),
            (&needed.approval_id, &vec![request()])
        );
        assert_eq!(world.take_approval(&caller, &asked).await.unwrap(), None);

        let id = &needed.approval_id;
        let decided = world.decide_approval(&caller, id, ApprovalDecision::Approve);
        let decided = decided.await.unwrap();
        assert_eq!(
            (decided.status, decided.requests),
            (ApprovalStatus::Approved, vec![request()])
        );
        let other = question(&user, r#"{"a":1,"b":3}"#);
        assert_eq!(world.take_approval(&caller, &other).await.unwrap(), None);
        let same = question(&user, r#"{"b":2,"a":1}"#);
        assert_eq!(
            world.take_approval(&caller, &same).await.unwrap().as_ref(),
            Some(id)
        );
        assert_eq!(world.take_approval(&caller, &same).await.unwrap(), None);
        world.return_approval(&caller, id).await.unwrap();
        assert_eq!(
            world.take_approval(&caller, &same).await.unwrap().as_ref(),
            Some(id)
        );
    }

    #[tokio::test]
    async fn a_denied_call_is_refused_until_the_question_expires() {
        let world = World::open().await;
        let caller = world.caller(&[Scope::Admin]).await;
        let user = caller.default_user.clone();
        let asked = question(&user, "{}");
        let id = world
            .ask_approval(&caller, &asked, &[])
            .await
            .unwrap()
            .approval_id;
        let denied = world
            .decide_approval(&caller, &id, ApprovalDecision::Deny)
            .await
            .unwrap();
        assert_eq!(denied.status, ApprovalStatus::Denied);
        let refused = world.take_approval(&caller, &asked).await.unwrap_err();
        assert_eq!(refused.code(), "permission_denied");
        let twice = world
            .decide_approval(&caller, &id, ApprovalDecision::Approve)
            .await;
        assert_eq!(twice.unwrap_err().code(), "conflict");
        world.clock.advance_ms(STANDS_MS);
        assert_eq!(world.take_approval(&caller, &asked).await.unwrap(), None);
    }

    #[tokio::test]
    async fn an_approval_expires() {
        let world = World::open().await;
        let caller = world.caller(&[Scope::Admin]).await;
        let user = caller.default_user.clone();
        let asked = question(&user, "{}");
        let pending = world
            .ask_approval(&caller, &asked, &[])
            .await
            .unwrap()
            .approval_id;
        let other = question(&user, r#"{"a":1}"#);
        let approved = world
            .ask_approval(&caller, &other, &[])
            .await
            .unwrap()
            .approval_id;
        let decided = world.decide_approval(&caller, &approved, ApprovalDecision::Approve);
        decided.await.unwrap();
        world.clock.advance_ms(STANDS_MS);
        assert_eq!(world.take_approval(&caller, &other).await.unwrap(), None);
        for id in [&pending, &approved] {
            let shown = world.approval(&caller, id).await.unwrap();
            assert_eq!(shown.status, ApprovalStatus::Expired);
            let late = world
                .decide_approval(&caller, id, ApprovalDecision::Approve)
                .await;
            assert_eq!(late.unwrap_err().code(), "conflict");
        }
        let list = |status| ListApprovals {
            status,
            limit: 20,
            cursor: None,
        };
        let expired = world
            .approvals(&caller, list(Some(ApprovalStatus::Expired)))
            .await
            .unwrap();
        assert_eq!(expired.approvals.len(), 2);
        let open = world
            .approvals(&caller, list(Some(ApprovalStatus::Pending)))
            .await
            .unwrap();
        assert!(open.approvals.is_empty());
    }

    #[tokio::test]
    async fn only_a_key_of_the_workspace_with_the_scope_decides() {
        let world = World::open().await;
        let caller = world.caller(&[Scope::Admin]).await;
        let user = caller.default_user.clone();
        let asked = question(&user, "{}");
        let id = world
            .ask_approval(&caller, &asked, &[])
            .await
            .unwrap()
            .approval_id;
        let agent = world.caller(&[Scope::ToolsExecute, Scope::ToolsRead]).await;
        let stranger = world.stranger(&[Scope::Admin]).await;
        for (who, code) in [(&agent, "scope_denied"), (&stranger, "not_found")] {
            let decided = world
                .decide_approval(who, &id, ApprovalDecision::Approve)
                .await;
            assert_eq!(decided.unwrap_err().code(), code);
            assert_eq!(world.approval(who, &id).await.unwrap_err().code(), code);
        }
        assert_eq!(
            world.approval(&caller, &id).await.unwrap().status,
            ApprovalStatus::Pending
        );
    }
}
