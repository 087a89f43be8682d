//! Whether a new credential is of the account that a connection has had, and the question to its user where it is not.
//!
//! A link that renews a connection keeps its id, and the rules about its use. Everybody with the link can enter a key of
//! another account, and from then on the user's calls write there. So what is stored stays until the user has
//! said otherwise: signed in to the dashboard, or by the word of the application whose page the link names.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{ConnectProblem, OpenFlow};
use crate::audit::AuditAction;
use crate::connections::credential::{ConnectionDetails, OpenCredential};
use crate::connections::link::hash;
use crate::connections::{ConnectionInfo, not_found, shown};
use crate::{Caller, Error, Gateway};
use toolgate_core::clock::rfc3339;
use toolgate_core::ids::UserId;
use toolgate_store::{Connection, FlowState, Role};

/// How long a question waits for its user, at least.
pub const ANSWER_LIFE_MS: i64 = 15 * 60 * 1_000;

/// What a new credential does to the connections of its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AccountChange {
    /// It is a first connection, or one of the same account.
    None,
    /// It replaces the credential of this account, or of one whose name is not known.
    Replaces(Option<String>),
    /// It would be a second connection beside the one of this account, and be used from then on.
    Adds(Option<String>),
}

/// The page that says that a question is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenQuestion {
    pub service: String,
    pub user: String,
    /// The account that is connected now.
    pub before: Option<String>,
    /// The account of the new credential.
    pub now: Option<String>,
    /// The dashboard's page that asks.
    pub url: String,
}

/// A question as the dashboard shows it.
#[derive(Clone, Debug, Serialize)]
pub struct AccountQuestion {
    pub service: String,
    /// Its title.
    pub title: String,
    pub user_id: String,
    pub connection_id: String,
    /// The account that is connected now, where its name is known.
    pub account_before: Option<String>,
    pub account_now: Option<String>,
    pub expires_at: String,
}

/// What the user says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountAnswer {
    /// The new account is used from now on.
    Use,
    /// All stays as it was; the new credential is revoked.
    Keep,
}

/// The outcome of an answer.
#[derive(Clone, Debug, Serialize)]
pub struct AnsweredQuestion {
    /// The connection, where the new account is used.
    pub connection: Option<ConnectionInfo>,
}

impl Gateway {
    pub(super) async fn account_change(
        &self,
        open: &OpenFlow,
        credential: &OpenCredential,
        details: &ConnectionDetails,
    ) -> Result<AccountChange, Error> {
        let flow = &open.flow;
        let of_user = self
            .store
            .list_connections(&flow.workspace_id, Some(&flow.user_id), Some(&flow.service))
            .await?;
        let of_slot = of_user.into_iter().filter(|row| row.slot == flow.slot);
        let (renewed, others): (Vec<_>, Vec<_>) =
            of_slot.partition(|row| row.id == flow.connection_id);
        if let Some(before) = renewed.into_iter().next() {
            let same =
                is_same_account(&before, details) || self.is_same_credential(&before, credential);
            return Ok(match same {
                true => AccountChange::None,
                false => AccountChange::Replaces(before.account),
            });
        }
        let beside = others.into_iter().next().filter(|_| flow.first_only);
        Ok(beside.map_or(AccountChange::None, |row| AccountChange::Adds(row.account)))
    }

    /// Whether the very same key was entered again.
    fn is_same_credential(&self, before: &Connection, credential: &OpenCredential) -> bool {
        self.connections
            .open(before)
            .is_ok_and(|before| !before.values.is_empty() && before.values == credential.values)
    }

    /// The question behind a code, for a member who acts for its user.
    pub async fn account_question(
        &self,
        caller: &Caller,
        code: &str,
    ) -> Result<AccountQuestion, Error> {
        let open = self.asked(caller, code).await?;
        let flow = &open.flow;
        let waiting = self.unconfirmed(&open)?;
        let change = self
            .account_change(&open, &waiting.credential, &waiting.details)
            .await?;
        let account_before = match change {
            AccountChange::None => None,
            AccountChange::Replaces(account) | AccountChange::Adds(account) => account,
        };
        Ok(AccountQuestion {
            service: flow.service.clone(),
            title: open.manifest().title.clone(),
            user_id: flow.user_id.clone(),
            connection_id: flow.connection_id.clone(),
            account_before,
            account_now: waiting.details.account,
            expires_at: rfc3339(flow.expires_at_ms),
        })
    }

    /// Takes the answer, once.
    ///
    /// # Errors
    /// `not_found` for a question that is answered, has expired, or is another user's.
    pub async fn answer_account_question(
        &self,
        caller: &Caller,
        code: &str,
        answer: AccountAnswer,
    ) -> Result<AnsweredQuestion, Error> {
        let open = self.asked(caller, code).await?;
        let now_ms = self.clock.now_ms();
        if answer == AccountAnswer::Keep {
            let why = "the user keeps the account";
            if !self.store.fail_flow(&open.flow.id, why, now_ms).await? {
                return Err(no_question());
            }
            self.revoke_unconfirmed(open.flow).await;
            return Ok(AnsweredQuestion { connection: None });
        }
        let waiting = self.unconfirmed(&open)?;
        let new = self.new_connection(&open, &waiting.credential, waiting.details)?;
        let details = json!({ "user_id": new.user_id, "service": new.service });
        let stored = self
            .audited(caller, AuditAction::ConnectionsConnect, &new.id, details)
            .finish_flow(&open.flow.id, FlowState::AwaitingConfirmation, &new, now_ms)
            .await?;
        if !stored {
            return Err(no_question());
        }
        let row = self
            .store
            .find_connection(&caller.workspace_id, &new.id)
            .await?
            .ok_or_else(not_found)?;
        Ok(AnsweredQuestion {
            connection: Some(shown(&row, now_ms)),
        })
    }

    /// A flow that waits for its user, and not for an application.
    async fn asked(&self, caller: &Caller, code: &str) -> Result<OpenFlow, Error> {
        // A key is an agent's: it is never the person who is asked.
        caller.need_role(Role::Member)?;
        let now_ms = self.clock.now_ms();
        let flow = self
            .store
            .find_flow_to_confirm(&caller.workspace_id, &hash(code), now_ms)
            .await?
            .filter(|flow| flow.confirm_url.is_none() && caller.acts_for(&flow.user_id))
            .ok_or_else(no_question)?;
        self.with_service(flow)
            .await
            .map_err(|problem| match problem {
                ConnectProblem::Internal(cause) => cause,
                other => Error::Conflict(other.to_string()),
            })
    }

    /// Refuses an application's word for another account by a key that acts for one user alone: it may be the agent's
    /// that made the link.
    pub(super) async fn check_vouching(
        &self,
        caller: &Caller,
        open: &OpenFlow,
        user: &UserId,
    ) -> Result<(), Error> {
        if !caller.confined {
            return Ok(());
        }
        let waiting = self.unconfirmed(open)?;
        let change = self
            .account_change(open, &waiting.credential, &waiting.details)
            .await?;
        match change {
            AccountChange::None => Ok(()),
            AccountChange::Replaces(_) | AccountChange::Adds(_) => Err(Error::PermissionDenied {
                user_id: user.to_string(),
                subject: "this key to replace the connected account: a key with the scope users:any confirms it, or the user in the dashboard"
                    .to_owned(),
            }),
        }
    }
}

/// Whether the provider gave the account the same name, at the same place.
fn is_same_account(before: &Connection, details: &ConnectionDetails) -> bool {
    before.account.is_some()
        && before.account == details.account
        && before.parameters == details.parameters
}

fn no_question() -> Error {
    Error::NotFound("the question about an account".to_owned())
}
