//! Receipts of what the gateway itself sends for a connection: tokens asked for, renewed and revoked,
//! the account read. On disk before the request leaves, as those of calls that may write. Bodies and
//! values are not part of them: these requests are made of credentials.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::ConnectionManager;
use crate::Caller;
use crate::executions::journal::requests_text;
use crate::executions::writer::{ReceiptPending, Receipts};
use crate::executions::{ExecutionStatus, ReceiptKind};
use toolgate_core::ids;
use toolgate_egress::{Journal, JournalError, Payload, RequestRecord};
use toolgate_oauth::token::{TokenGrant, Tokens};
use toolgate_oauth::{self as oauth, OAuthError, Provider};
use toolgate_store::ExecutionRow;

/// What a receipt names in the place of the key that asked.
const KEY_NAME: &str = "toolgate";

/// Why the gateway asks a provider.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ConnectionPurpose {
    AccountCheck,
    /// A code, or an application's own credentials, for the first tokens.
    TokenRequest,
    TokenRefresh,
    Revocation,
    /// The operator tries an application out.
    ApplicationTest,
}

impl ConnectionPurpose {
    /// Stands where a receipt of a call has its tool; no tool has a colon in its name.
    fn as_str(self) -> &'static str {
        match self {
            Self::AccountCheck => "host:account_check",
            Self::TokenRequest => "host:token_request",
            Self::TokenRefresh => "host:token_refresh",
            Self::Revocation => "host:revocation",
            Self::ApplicationTest => "host:application_test",
        }
    }
}

/// Whose connection it is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionRef<'a> {
    pub workspace_id: &'a str,
    pub user_id: &'a str,
    pub service: &'a str,
    pub connection_id: Option<&'a str>,
}

/// Requests on their way.
pub(crate) struct HostRequests {
    receipts: Receipts,
    row: ExecutionRow,
    began: Instant,
    left: Mutex<Vec<RequestRecord>>,
}

impl ConnectionManager {
    pub(crate) fn requests(
        &self,
        why: ConnectionPurpose,
        about: ConnectionRef<'_>,
    ) -> Arc<HostRequests> {
        let serving = self.serving(about.service);
        let (version, sha256) = match &serving {
            Some(serving) => (serving.version.clone(), serving.sha256.clone()),
            None => ("".into(), "".into()),
        };
        let now_ms = self.clock.now_ms();
        Arc::new(HostRequests {
            receipts: self.receipts.clone(),
            row: ExecutionRow {
                workspace_id: about.workspace_id.into(),
                id: ids::ulid_at("exe", now_ms).into(),
                kind: ReceiptKind::Connection.into_str().into(),
                tool_name: why.as_str().into(),
                service: about.service.into(),
                user_id: about.user_id.into(),
                key_id: "".into(),
                key_name: KEY_NAME.into(),
                key_prefix: "".into(),
                session_id: None,
                connection_id: about.connection_id.map(Into::into),
                parent_execution_id: None,
                status: ExecutionStatus::Running.into_str().into(),
                reason: None,
                started_at_ms: now_ms,
                duration_ms: 0,
                plugin_version: version,
                plugin_sha256: sha256,
                requests: "[]".into(),
                arguments: None,
                result: None,
                payloads: Vec::new(),
            },
            began: Instant::now(),
            left: Mutex::default(),
        })
    }
}

impl ConnectionManager {
    /// Asks for tokens with an application that the caller has registered, to see whether it is known.
    pub(crate) async fn try_application(
        &self,
        caller: &Caller,
        service: &str,
        provider: &Provider,
        grant: &TokenGrant<'_>,
    ) -> Result<Tokens, OAuthError> {
        let about = ConnectionRef {
            workspace_id: &caller.workspace_id,
            user_id: caller.default_user.as_str(),
            service,
            connection_id: None,
        };
        let requests = self.requests(ConnectionPurpose::ApplicationTest, about);
        let egress = self.egress.with_journal(requests.clone());
        let answer = oauth::send::tokens(&egress, provider, grant, &[]).await;
        requests.ended(answer.is_ok(), None).await;
        answer
    }
}

impl HostRequests {
    /// The last word; nothing is kept where nothing has left. `answered`: what left, where somebody
    /// else has seen how it was answered.
    pub(crate) async fn ended(&self, well: bool, answered: Option<Vec<RequestRecord>>) {
        let left = answered.unwrap_or_else(|| self.left().clone());
        if left.is_empty() && self.left().is_empty() {
            return;
        }
        let status = match well {
            true => ExecutionStatus::Success,
            false => ExecutionStatus::Error,
        };
        let row = ExecutionRow {
            status: status.into_str().into(),
            duration_ms: i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX),
            requests: requests_text(&left),
            ..self.row.clone()
        };
        let execution_id = row.id.clone();
        if self.receipts.keep(Box::new((row, None)), true).await == Err(ReceiptPending) {
            tracing::warn!(%execution_id, "receipts.late");
        }
    }

    fn left(&self) -> MutexGuard<'_, Vec<RequestRecord>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for HostRequests {
    /// Of what the gateway itself sends no body is kept: tokens are in them.
    fn leaving<'a>(
        &'a self,
        record: &'a RequestRecord,
        _payload: Option<&'a Payload>,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        let requests = {
            let mut left = self.left();
            left.push(record.clone());
            requests_text(&left)
        };
        let row = ExecutionRow {
            requests,
            ..self.row.clone()
        };
        let kept = self.receipts.keep(Box::new((row, None)), true);
        kept.map(|kept| kept.map_err(|ReceiptPending| JournalError))
            .boxed()
    }

    fn answered(&self, record: &RequestRecord) {
        if let Some(last) = self.left().last_mut() {
            *last = record.clone();
        }
    }
}
