//! How much of a workspace is kept for it: results that did not fit an answer, and answers of requests with an
//! `Idempotency-Key`.
//!
//! What is written is added up in memory, and counted in the database whenever an eighth of a quota has been written
//! since: so a workspace has at most that much more, for each process, and most calls count nothing. The oldest goes
//! first. Requests with a key beyond their number are refused, because forgetting one would let it be done twice.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::{Caller, Error, Gateway};
use crate::{RateLimited, RateWindow};
use toolgate_core::text::Text;

/// Bytes of kept results of one workspace.
pub const RESULTS_BYTES_MAX: i64 = 64 << 20;
/// Kept results of one workspace.
pub const RESULTS_MAX: i64 = 1_000;
/// Bytes of kept answers of one workspace.
pub const ANSWERS_BYTES_MAX: i64 = 64 << 20;
/// Requests with a key of one workspace within 24 hours.
pub const KEYED_REQUESTS_MAX: i64 = 100_000;
/// How long a workspace that has too many is refused before it is counted again.
const REFUSED_MS: i64 = 60_000;
/// What is counted again after this part of a quota was written.
const PART: i64 = 8;
/// Workspaces that are remembered; then all are counted again.
const WORKSPACES_MAX: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kept {
    Results,
    Answers,
}

#[derive(Debug, Default)]
pub(crate) struct KeptQuotas {
    written: Mutex<HashMap<(Kept, Text), KeptSince>>,
    /// Workspaces with too many requests, until they are counted again.
    full: Mutex<HashMap<Text, i64>>,
}

#[derive(Debug, Default)]
struct KeptSince {
    bytes: i64,
    rows: i64,
}

impl KeptQuotas {
    /// Notes that something was kept. Whether the workspace is to be counted now.
    fn note(&self, kept: Kept, workspace_id: &Text, bytes: usize) -> bool {
        let (bytes_max, rows_max) = match kept {
            Kept::Results => (RESULTS_BYTES_MAX, RESULTS_MAX),
            Kept::Answers => (ANSWERS_BYTES_MAX, KEYED_REQUESTS_MAX),
        };
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (kept, workspace_id.clone());
        // What it had before this process is not known.
        let known = written.contains_key(&key);
        if !known && written.len() >= WORKSPACES_MAX {
            written.clear();
        }
        let since = written.entry(key).or_default();
        since.bytes += i64::try_from(bytes).unwrap_or(i64::MAX / 2);
        since.rows += 1;
        let counted = !known || since.bytes > bytes_max / PART || since.rows > rows_max / PART;
        if counted {
            *since = KeptSince::default();
        }
        counted
    }

    fn set_full(&self, workspace_id: &Text, until_ms: Option<i64>) {
        let mut full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        match until_ms {
            Some(until_ms) => full.insert(workspace_id.clone(), until_ms),
            None => full.remove(workspace_id),
        };
    }

    fn full_until_ms(&self, workspace_id: &Text) -> Option<i64> {
        let full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        full.get(workspace_id).copied()
    }
}

impl Gateway {
    /// A result was kept: makes room for it where the workspace has too much.
    pub(crate) async fn kept_result(&self, caller: &Caller, bytes: usize) -> Result<(), Error> {
        let workspace_id = &caller.workspace_id;
        if self.kept_quotas.note(Kept::Results, workspace_id, bytes) {
            self.store
                .trim_results(workspace_id, RESULTS_BYTES_MAX, RESULTS_MAX)
                .await?;
        }
        Ok(())
    }

    /// An answer was kept. The request is done: what goes wrong here is logged.
    pub(crate) async fn kept_answer(&self, caller: &Caller, bytes: usize) {
        let workspace_id = &caller.workspace_id;
        if self.kept_quotas.note(Kept::Answers, workspace_id, bytes)
            && let Err(cause) = self.count_keyed(workspace_id).await
        {
            tracing::error!(error = %cause, "idempotency.not_counted");
        }
    }

    /// Whether the workspace may send one more request with a key.
    pub(crate) async fn check_keyed(&self, caller: &Caller) -> Result<(), Error> {
        let workspace_id = &caller.workspace_id;
        let Some(until_ms) = self.kept_quotas.full_until_ms(workspace_id) else {
            return Ok(());
        };
        let now_ms = self.clock.now_ms();
        if now_ms >= until_ms && !self.count_keyed(workspace_id).await? {
            return Ok(());
        }
        let rest_ms = (until_ms - now_ms).clamp(1_000, REFUSED_MS);
        Err(Error::RateLimited(RateLimited {
            window: RateWindow::Day,
            limit: KEYED_REQUESTS_MAX.unsigned_abs(),
            retry_after_s: rest_ms.unsigned_abs().div_ceil(1_000),
        }))
    }

    /// Makes room for answers, and notes whether the workspace has too many requests with a key.
    async fn count_keyed(&self, workspace_id: &Text) -> Result<bool, Error> {
        let known = self
            .store
            .trim_answers(workspace_id, ANSWERS_BYTES_MAX)
            .await?;
        let full = known >= KEYED_REQUESTS_MAX.unsigned_abs();
        let until_ms = self.clock.now_ms() + REFUSED_MS;
        self.kept_quotas
            .set_full(workspace_id, full.then_some(until_ms));
        Ok(full)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Scope;
    use crate::testing::TestWorld;
    use crate::tools::idempotency::{IdempotentAnswer, KeyedRequest};
    use crate::tools::results::Budget;

    /// Keeps a result of so many bytes; answers its id.
    async fn keep(world: &TestWorld, caller: &Caller, bytes: usize) -> String {
        let result = serde_json::value::to_raw_value(&"x".repeat(bytes)).unwrap();
        let budget = Budget {
            bytes_max: Some(300),
            ..Budget::default()
        };
        let user = &caller.default_user;
        let fitted = world.fit_result(caller, user, "exe_1", result.into(), &budget);
        fitted.await.unwrap().1.unwrap().result_id
    }

    async fn is_kept(world: &TestWorld, caller: &Caller, id: &str) -> bool {
        let now_ms = world.clock.now_ms();
        let found = world
            .store
            .read_result(&caller.workspace_id, id, 0, 4, now_ms);
        found.await.unwrap().is_some()
    }

    #[tokio::test]
    async fn results_of_one_workspace_have_a_quota_of_bytes_and_the_oldest_go_first() {
        const BYTES: usize = 6 << 20;
        let world = TestWorld::open().await;
        let greedy = world.caller(&[Scope::ToolsExecute]).await;
        let modest = world.stranger(&[Scope::ToolsExecute]).await;
        let theirs = keep(&world, &modest, 1_000).await;
        let mut ids = Vec::new();
        for _ in 0..20 {
            world.clock.advance_ms(1);
            ids.push(keep(&world, &greedy, BYTES).await);
        }
        let mut kept = Vec::new();
        for id in &ids {
            kept.push(is_kept(&world, &greedy, id).await);
        }
        let bytes = kept.iter().filter(|kept| **kept).count() * BYTES;
        let most = usize::try_from(RESULTS_BYTES_MAX + RESULTS_BYTES_MAX / PART).unwrap() + BYTES;
        assert!(bytes <= most, "{bytes} bytes");
        assert!(bytes >= most / 2, "{bytes} bytes");
        assert!(kept.is_sorted(), "the oldest are gone: {kept:?}");
        assert!(
            is_kept(&world, &modest, &theirs).await,
            "of another workspace"
        );
    }

    #[tokio::test]
    async fn results_of_one_workspace_have_a_quota_of_rows() {
        let world = TestWorld::open().await;
        let greedy = world.caller(&[Scope::ToolsExecute]).await;
        let first = keep(&world, &greedy, 400).await;
        for _ in 0..RESULTS_MAX + RESULTS_MAX / PART + 2 {
            world.clock.advance_ms(1);
            keep(&world, &greedy, 400).await;
        }
        assert!(!is_kept(&world, &greedy, &first).await);
    }

    #[tokio::test]
    async fn an_answer_over_the_quota_is_forgotten_and_its_request_is_not_done_again() {
        const BYTES: usize = 6 << 20;
        let world = TestWorld::open().await;
        let greedy = world.caller(&[Scope::ToolsExecute]).await;
        let ask = async |n: usize| {
            let attempt = KeyedRequest::new(&format!("k{n}"), "POST /x", json!({})).unwrap();
            let work = move |_, _| async move { Ok(format!("{n}{}", "x".repeat(BYTES))) };
            world
                .once(&greedy, Scope::ToolsExecute, Some(attempt), work)
                .await
        };
        for n in 0..20 {
            world.clock.advance_ms(1);
            assert!(matches!(ask(n).await, Ok(IdempotentAnswer::New(_))), "{n}");
        }
        assert!(matches!(ask(19).await, Ok(IdempotentAnswer::Again(_))));
        let first = ask(0).await.map(|_| ()).unwrap_err();
        assert_eq!(first.code(), "outcome_unknown");
    }

    #[tokio::test]
    async fn a_workspace_with_too_many_keyed_requests_is_refused_until_it_has_fewer() {
        let world = TestWorld::open().await;
        let greedy = world.caller(&[Scope::ToolsExecute]).await;
        let until_ms = world.clock.now_ms() + REFUSED_MS;
        world
            .kept_quotas
            .set_full(&greedy.workspace_id, Some(until_ms));
        let refused = world.check_keyed(&greedy).await.unwrap_err();
        assert_eq!(refused.code(), "rate_limit_exceeded");
        assert!(refused.retry_after_s().is_some());
        let modest = world.stranger(&[Scope::ToolsExecute]).await;
        assert!(world.check_keyed(&modest).await.is_ok());
        world.clock.advance_ms(REFUSED_MS);
        assert!(
            world.check_keyed(&greedy).await.is_ok(),
            "it is counted again"
        );
    }

    #[test]
    fn a_workspace_is_counted_at_first_and_after_each_part_of_its_quota() {
        let quotas = KeptQuotas::default();
        let (one, other): (Text, Text) = ("one".into(), "other".into());
        assert!(
            quotas.note(Kept::Results, &one, 1),
            "nothing is known of it"
        );
        assert!(!quotas.note(Kept::Results, &one, 1));
        assert!(quotas.note(Kept::Results, &other, 1));
        assert!(quotas.note(Kept::Answers, &one, 1));
        let part = usize::try_from(RESULTS_BYTES_MAX / PART).unwrap();
        assert!(!quotas.note(Kept::Results, &one, part - 1));
        assert!(quotas.note(Kept::Results, &one, 1));
        assert!(!quotas.note(Kept::Results, &one, 1), "counted from there");
        let rows = (1..).find(|_| quotas.note(Kept::Results, &other, 0));
        assert_eq!(rows, Some(RESULTS_MAX / PART + 1));
    }
}
