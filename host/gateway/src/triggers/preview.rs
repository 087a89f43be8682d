//! What a trigger would find now: one page is read, no event is emitted and nothing is stored.

use std::sync::Arc;

use super::declared::check_permission;
use super::items::{ListedItem, event_id, items};
use super::{TEST_ITEMS_MAX, TestedItem, TriggerTest, TriggerTestStatus};
use crate::tools::Outcome;
use crate::{Caller, Error, Gateway, Scope};
use toolgate_core::clock::rfc3339;
use toolgate_core::ids::UserId;
use toolgate_store::TriggerRow;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

impl Gateway {
    /// Calls the trigger's tool once, as the caller could by itself, and answers what is listed.
    ///
    /// # Errors
    /// As of [`Gateway::execute`].
    pub async fn test_trigger(
        self: &Arc<Self>,
        caller: &Caller,
        trigger_id: &str,
    ) -> Result<TriggerTest, Error> {
        caller.need(Scope::Webhooks)?;
        caller.need(Scope::ToolsExecute)?;
        let row = self.find_trigger(caller, trigger_id).await?;
        let user = UserId::parse(&row.user_id).map_err(|cause| Error::Internal(cause.into()))?;
        let permissions = self.permissions_of(caller, &user).await?;
        let declared = self.declared_trigger(&row.service, &row.event, &permissions)?;
        check_permission(&permissions, &user, &declared.tool)?;
        let arguments = declared.page_arguments(&self.trigger_config(&row)?, None);
        let connection_id = row.connection_id.as_deref();
        let execution = self
            .call_for_page(caller, &user, &declared, arguments, connection_id)
            .await?;
        let mut test = TriggerTest {
            status: TriggerTestStatus::Error,
            execution_id: Some(execution.execution_id.to_string()),
            message: None,
            connect: None,
            listed: 0,
            of_last_day: None,
            items: Vec::new(),
        };
        match execution.outcome {
            Outcome::Success { result, .. } => match items(&declared.spec, result.get()) {
                Ok(listed) => self.show_items(&row, listed, &mut test),
                Err(unreadable) => test.message = Some(unreadable.to_string()),
            },
            Outcome::Error { error, .. } => test.message = Some(error.message),
            Outcome::AuthRequired(connect) | Outcome::AuthExpired(connect) => {
                test.status = TriggerTestStatus::AuthRequired;
                test.message = Some(connect.message.clone());
                test.connect = Some(connect);
            }
            Outcome::ApprovalRequired(needed) => test.message = Some(needed.message),
            Outcome::DryRun { .. } => {}
        }
        Ok(test)
    }

    fn show_items(&self, row: &TriggerRow, listed: Vec<ListedItem>, test: &mut TriggerTest) {
        let since_ms = self.clock.now_ms() - DAY_MS;
        let times: Vec<i64> = listed.iter().filter_map(|item| item.time_ms).collect();
        test.status = TriggerTestStatus::Found;
        test.listed = listed.len();
        test.of_last_day = match times.is_empty() {
            true => None,
            false => Some(times.iter().filter(|time_ms| **time_ms >= since_ms).count()),
        };
        let shown = listed.into_iter().take(TEST_ITEMS_MAX);
        test.items = shown
            .map(|item| TestedItem {
                event_id: event_id(&row.id, &item.key),
                time: item.time_ms.map(rfc3339),
                event: item.content,
            })
            .collect();
    }
}
