//! Reading receipts back. What is queued is written first, so a receipt can be read as soon as its
//! id is known. Read [`crate::executions::writer`] for how they are written.

use crate::audit::AuditAction;
use crate::executions::journal::requests_from_text;
use crate::executions::{
    ExecutionPage, ExecutionReceipt, ExecutionStatus, LONGEST_MS, ListExecutions, PluginVersion,
    ReceiptKey,
};
use crate::{Caller, Error, Gateway, Scope};
use toolgate_core::ids::UserId;
use toolgate_core::text::Text;
use toolgate_store::{Cursor, ExecutionFilter, ExecutionRow};

impl Gateway {
    /// One receipt.
    pub async fn execution(&self, caller: &Caller, id: &str) -> Result<ExecutionReceipt, Error> {
        caller.need(Scope::ToolsRead)?;
        let found = self.receipt(caller, id).await?;
        let receipt = found.ok_or_else(|| Error::NotFound(format!("the execution {id}")))?;
        if receipt.failure.is_some() {
            let read = [(&*receipt.execution_id, receipt.user_id.as_str())];
            self.record_reading(caller, AuditAction::ExecutionsRead, &read)
                .await?;
        }
        Ok(receipt)
    }

    pub(crate) async fn receipt(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<Option<ExecutionReceipt>, Error> {
        let _ = self.receipts.flush().await;
        let row = self.store.find_execution(&caller.workspace_id, id).await?;
        let row = row.filter(|row| caller.acts_for(&row.user_id));
        let now_ms = self.clock.now_ms();
        row.map(|row| receipt(self.opened_receipt(row)?, now_ms))
            .transpose()
    }

    /// Receipts, newest first.
    pub async fn executions(
        &self,
        caller: &Caller,
        request: ListExecutions,
    ) -> Result<ExecutionPage, Error> {
        caller.need(Scope::ToolsRead)?;
        let user_id = caller.listed_user(request.user_id)?;
        let cursor = match &request.cursor {
            None => None,
            Some(text) => Some(
                Cursor::parse(text)
                    .ok_or_else(|| Error::InvalidRequest("invalid cursor".to_owned()))?,
            ),
        };
        let _ = self.receipts.flush().await;
        let part = request.tool_name_part.map(|part| part.to_lowercase());
        let filter = ExecutionFilter {
            kind: Some(request.kind.into_str()),
            user_id: user_id.as_ref().map(UserId::as_str),
            tool_name: request.tool_name.as_deref(),
            tool_name_part: part.as_deref(),
            service: request.service.as_deref(),
            key_prefix: request.key_prefix.as_deref(),
            status: request.status.map(<&str>::from),
            reason: request.reason.map(<&str>::from),
            parent: request.parent.as_deref(),
            from_ms: request.from_ms,
            before_ms: request.before_ms,
        };
        let now_ms = self.clock.now_ms();
        let page = self
            .store
            .list_executions(
                &caller.workspace_id,
                &filter,
                cursor.as_ref(),
                request.limit,
            )
            .await?;
        Ok(ExecutionPage {
            executions: page
                .items
                .into_iter()
                .map(|row| receipt(row, now_ms))
                .collect::<Result<_, _>>()?,
            next_cursor: page.next.map(|cursor| cursor.to_string()),
        })
    }
}

pub(super) fn receipt(row: ExecutionRow, now_ms: i64) -> Result<ExecutionReceipt, Error> {
    let broken =
        |what: &'static str| Error::Internal(anyhow::anyhow!("a stored receipt has a bad {what}"));
    Ok(ExecutionReceipt {
        execution_id: row.id.to_string(),
        kind: row.kind.parse().map_err(|_| broken("kind"))?,
        tool_name: row.tool_name.to_string(),
        user_id: UserId::parse(&row.user_id).map_err(|_| broken("user"))?,
        key: ReceiptKey {
            name: row.key_name.to_string(),
            prefix: row.key_prefix.to_string(),
        },
        status: match row
            .status
            .parse::<ExecutionStatus>()
            .map_err(|_| broken("status"))?
        {
            // Housekeeping will write it down.
            ExecutionStatus::Running if row.started_at_ms < now_ms - LONGEST_MS => {
                ExecutionStatus::Interrupted
            }
            status => status,
        },
        reason: row
            .reason
            .map(|reason| reason.parse().map_err(|_| broken("reason")))
            .transpose()?,
        started_at_ms: row.started_at_ms,
        duration_ms: row.duration_ms.unsigned_abs(),
        connection_id: row.connection_id.as_ref().map(Text::to_string),
        parent_execution_id: row.parent_execution_id.as_ref().map(Text::to_string),
        plugin: PluginVersion {
            service: row.service.to_string(),
            version: row.plugin_version.to_string(),
            sha256: row.plugin_sha256.to_string(),
        },
        requests: requests_from_text(&row.requests).map_err(|_| broken("list of requests"))?,
        failure: row.result.and_then(|text| serde_json::from_str(&text).ok()),
    })
}
