//! What a trigger would have found of late: pages are read, no event is emitted and nothing is stored.

use std::collections::HashSet;
use std::sync::Arc;

use super::admin::check_since;
use super::declared::{DeclaredTrigger, check_permission};
use super::items::{ListedItem, event_id, items};
use super::{TEST_ITEMS_MAX, TEST_PAGES_MAX, TestedItem, TriggerTest, TriggerTestStatus};
use crate::tools::Outcome;
use crate::{Caller, Error, Gateway, Scope};
use toolgate_catalog::manifest::TriggerOrder;
use toolgate_core::clock::rfc3339;
use toolgate_core::ids::UserId;
use toolgate_store::TriggerRow;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

impl Gateway {
    /// Calls the trigger's tool, as the caller could by itself, and answers the items from `since_ms` on, or those of the
    /// last day. Where the provider gives no times, the first page is answered as it is listed now.
    ///
    /// # Errors
    /// As of [`Gateway::execute`]; `invalid_request` for a `since_ms` that [`Gateway::create_trigger`] refuses.
    pub async fn test_trigger(
        self: &Arc<Self>,
        caller: &Caller,
        trigger_id: &str,
        since_ms: Option<i64>,
    ) -> Result<TriggerTest, Error> {
        caller.need(Scope::Webhooks)?;
        caller.need(Scope::ToolsExecute)?;
        let row = self.find_trigger(caller, trigger_id).await?;
        let user = UserId::parse(&row.user_id).map_err(|cause| Error::Internal(cause.into()))?;
        let permissions = self.permissions_of(caller, &user).await?;
        let declared = self.declared_trigger(&row.service, &row.event, &permissions)?;
        check_permission(&permissions, &user, &declared.tool)?;
        let now_ms = self.clock.now_ms();
        if let Some(since_ms) = since_ms {
            check_since(since_ms, &declared.spec, now_ms)?;
        }
        let last_day = declared.spec.time.as_ref().map(|_| now_ms - DAY_MS);
        let reading = TestReading {
            listed: Vec::new(),
            since_ms: since_ms.or(last_day),
            complete: false,
        };
        self.read_for_test(caller, &user, &declared, &row, reading)
            .await
    }

    /// Reads page after page, until there are no more items to answer.
    async fn read_for_test(
        self: &Arc<Self>,
        caller: &Caller,
        user: &UserId,
        declared: &DeclaredTrigger,
        row: &TriggerRow,
        mut reading: TestReading,
    ) -> Result<TriggerTest, Error> {
        let config = self.trigger_config(row)?;
        let connection_id = row.connection_id.as_deref();
        let mut test = TriggerTest {
            status: TriggerTestStatus::Error,
            execution_id: None,
            message: None,
            connect: None,
            listed: 0,
            since: None,
            found: None,
            complete: false,
            items: Vec::new(),
        };
        let mut at: Option<String> = None;
        for page in 0..TEST_PAGES_MAX {
            if page > 0 {
                // The first one is the request itself.
                self.identity.count_request(caller).await?;
            }
            let arguments = declared.page_arguments(&config, at.as_deref());
            let execution = self
                .call_for_page(caller, user, declared, arguments, connection_id)
                .await?;
            test.execution_id = Some(execution.execution_id.to_string());
            let (result, next) = match execution.outcome {
                Outcome::Success {
                    result,
                    next_cursor,
                    ..
                } => (result, next_cursor),
                other => {
                    explain(other, &mut test);
                    return Ok(test);
                }
            };
            let listed = match items(&declared.spec, result.get()) {
                Ok(listed) => listed,
                Err(unreadable) => {
                    test.message = Some(unreadable.to_string());
                    return Ok(test);
                }
            };
            let next = next.filter(|_| declared.tool.spec().paginated);
            // A page that leads to itself is the last.
            let next = next.filter(|next| Some(next) != at.as_ref());
            if reading.take(listed, declared.spec.order, next.is_some()) {
                break;
            }
            at = next;
        }
        reading.show(&row.id, &mut test);
        Ok(test)
    }
}

/// What a test has read.
struct TestReading {
    /// In the provider's order.
    listed: Vec<ListedItem>,
    /// `None`: no item has a time.
    since_ms: Option<i64>,
    /// Nothing that is to be answered lies behind the pages that were read.
    complete: bool,
}

impl TestReading {
    /// Takes in a page. Whether it is the last one to be read.
    fn take(&mut self, page: Vec<ListedItem>, order: Option<TriggerOrder>, has_more: bool) -> bool {
        if !page.is_empty() && page.iter().all(|item| item.time_ms.is_none()) {
            self.since_ms = None;
        }
        let is_older = self.since_ms.is_some_and(|since_ms| {
            let last = page.last().and_then(|item| item.time_ms);
            last.is_some_and(|time_ms| time_ms < since_ms)
        });
        self.listed.extend(page);
        self.complete = !has_more || (order == Some(TriggerOrder::NewestFirst) && is_older);
        self.complete || self.since_ms.is_none()
    }

    fn show(self, trigger_id: &str, test: &mut TriggerTest) {
        test.status = TriggerTestStatus::Found;
        test.listed = self.listed.len();
        test.since = self.since_ms.map(rfc3339);
        test.complete = self.complete;
        let mut seen = HashSet::new();
        let is_answered = |item: &ListedItem| match self.since_ms {
            Some(since_ms) => item.time_ms.is_some_and(|time_ms| time_ms >= since_ms),
            None => true,
        };
        let found: Vec<ListedItem> = self
            .listed
            .into_iter()
            .filter(is_answered)
            // Pages move while they are read.
            .filter(|item| seen.insert(item.key.clone()))
            .collect();
        test.found = self.since_ms.map(|_| found.len());
        let shown = found.into_iter().take(TEST_ITEMS_MAX);
        test.items = shown
            .map(|item| TestedItem {
                event_id: event_id(trigger_id, &item.key),
                time: item.time_ms.map(rfc3339),
                event: item.content,
            })
            .collect();
    }
}

/// Why a page was not read.
fn explain(outcome: Outcome, test: &mut TriggerTest) {
    match outcome {
        Outcome::Error { error, .. } => test.message = Some(error.message),
        Outcome::AuthRequired(connect) | Outcome::AuthExpired(connect) => {
            test.status = TriggerTestStatus::AuthRequired;
            test.message = Some(connect.message.clone());
            test.connect = Some(connect);
        }
        Outcome::ApprovalRequired(needed) => test.message = Some(needed.message),
        Outcome::DryRun { .. } | Outcome::Success { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(key: &str, time_ms: Option<i64>) -> ListedItem {
        ListedItem {
            key: key.to_owned(),
            provider_id: key.to_owned(),
            time_ms,
            content: None,
        }
    }

    fn reading() -> TestReading {
        TestReading {
            listed: Vec::new(),
            since_ms: Some(100),
            complete: false,
        }
    }

    #[test]
    fn a_reading_ends_behind_the_oldest_item_that_is_wanted() {
        const NEWEST: Option<TriggerOrder> = Some(TriggerOrder::NewestFirst);
        let page = |oldest| vec![item("a", Some(300)), item("b", Some(oldest))];
        for (order, oldest, has_more, ends, complete) in [
            (NEWEST, 100, true, false, false),
            (NEWEST, 99, true, true, true),
            (NEWEST, 100, false, true, true),
            // Without an order, newer ones may be on any page.
            (None, 99, true, false, false),
            (None, 99, false, true, true),
        ] {
            let mut reading = reading();
            let ended = reading.take(page(oldest), order, has_more);
            assert_eq!(
                (ended, reading.complete),
                (ends, complete),
                "{order:?} {oldest} {has_more}"
            );
        }
        let mut timeless = reading();
        assert!(timeless.take(vec![item("a", None)], NEWEST, true));
        assert_eq!((timeless.since_ms, timeless.complete), (None, false));
    }
}
