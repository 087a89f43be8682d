//! Writes whose outcome nobody knows, so that one sent again blindly is held back once.
//!
//! A model that reads of a timeout repeats its call, and the provider does it twice. Within a minute of such an end the
//! same call is refused once, with the execution to look at; the call after that is sent. Only in the memory of one
//! process, bounded, and without effect where memory is short: who has to be sure sends an `Idempotency-Key`.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::executions::FailureReason;
use crate::tools::idempotency::canonical;
use crate::tools::{Execute, Outcome};
use crate::{Caller, Error};
use toolgate_catalog::Tool;
use toolgate_catalog::manifest::Effect;
use toolgate_core::exact::ExactNumbers;
use toolgate_core::ids::UserId;
use toolgate_core::text::Text;
use toolgate_egress::RequestRecord;

/// How long after the start of the first one a write counts as its repetition.
const REPEATED_WITHIN_MS: i64 = 60_000;
/// Most writes that are remembered for one workspace, and for all.
pub(crate) const UNCLEAR_PER_WORKSPACE_MAX: usize = 256;
pub(crate) const UNCLEAR_MAX: usize = 16_384;

/// What makes two writes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepeatKey {
    workspace_id: Text,
    digest: [u8; 32],
}

impl RepeatKey {
    /// `None` where a repetition does no harm, or an idempotency key marks it.
    pub(crate) fn of(
        caller: &Caller,
        user: &UserId,
        tool: &Tool,
        request: &Execute,
        arguments: (&Value, &ExactNumbers),
    ) -> Option<Self> {
        let harmless = tool.effect() == Effect::Read || tool.idempotent();
        if harmless || request.dry_run || request.claim.is_some() {
            return None;
        }
        let (mut value, numbers) = (arguments.0.clone(), arguments.1);
        numbers.spell_out(&mut value);
        let call = json!({
            "user": user.as_str(),
            "tool": tool.name.as_str(),
            "connection": request.connection_id,
            "arguments": value,
        });
        Some(Self {
            workspace_id: caller.workspace_id.clone(),
            digest: Sha256::digest(canonical(&call)).into(),
        })
    }
}

struct UnclearWrite {
    digest: [u8; 32],
    execution_id: Text,
    at_ms: i64,
}

#[derive(Default)]
struct UnclearWrites {
    by_workspace: HashMap<Text, VecDeque<UnclearWrite>>,
    total: usize,
}

impl UnclearWrites {
    fn forget(&mut self, mut is_over: impl FnMut(&UnclearWrite) -> bool) {
        let mut total = 0;
        self.by_workspace.retain(|_, writes| {
            writes.retain(|write| !is_over(write));
            total += writes.len();
            !writes.is_empty()
        });
        self.total = total;
    }

    fn take(&mut self, key: &RepeatKey) -> Option<UnclearWrite> {
        let writes = self.by_workspace.get_mut(&key.workspace_id)?;
        let at = writes.iter().position(|write| write.digest == key.digest)?;
        let taken = writes.remove(at);
        if writes.is_empty() {
            self.by_workspace.remove(&key.workspace_id);
        }
        self.total -= 1;
        taken
    }
}

/// The writes of the last minute without a clear end.
pub(crate) struct RepeatGuard {
    on: bool,
    writes: Mutex<UnclearWrites>,
}

impl RepeatGuard {
    pub(crate) fn new(on: bool) -> Self {
        Self {
            on,
            writes: Mutex::default(),
        }
    }

    /// Refuses the first repetition of an unclear write.
    ///
    /// # Errors
    /// `repeated_write`, once.
    pub(crate) fn check(&self, key: &RepeatKey, now_ms: i64) -> Result<(), Error> {
        match self.lock().take(key) {
            Some(first) if now_ms - first.at_ms < REPEATED_WITHIN_MS => Err(Error::RepeatedWrite {
                execution_id: first.execution_id.to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// The outcome of the execution is unknown.
    pub(crate) fn unclear(&self, key: &RepeatKey, execution_id: &Text, now_ms: i64) {
        if !self.on {
            return;
        }
        let mut all = self.lock();
        all.take(key);
        if all.total >= UNCLEAR_MAX {
            all.forget(|write| now_ms - write.at_ms >= REPEATED_WITHIN_MS);
            if all.total >= UNCLEAR_MAX {
                return;
            }
        }
        all.total += 1;
        let writes = all
            .by_workspace
            .entry(key.workspace_id.clone())
            .or_default();
        writes.push_back(UnclearWrite {
            digest: key.digest,
            execution_id: execution_id.clone(),
            at_ms: now_ms,
        });
        if writes.len() > UNCLEAR_PER_WORKSPACE_MAX {
            writes.pop_front();
            all.total -= 1;
        }
    }

    /// The execution wrote nothing, or its end is clear.
    pub(crate) fn clear(&self, key: &RepeatKey, execution_id: &Text) {
        let mut all = self.lock();
        if let Some(other) = all
            .take(key)
            .filter(|one| one.execution_id != *execution_id)
        {
            all.total += 1;
            let writes = all
                .by_workspace
                .entry(key.workspace_id.clone())
                .or_default();
            writes.push_back(other);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, UnclearWrites> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The requester of a run, which may leave before it ends: then the requester does not know its outcome.
pub(crate) struct AwaitedRun<'g> {
    guard: &'g RepeatGuard,
    key: Option<RepeatKey>,
    execution_id: Text,
    now_ms: i64,
}

impl<'g> AwaitedRun<'g> {
    pub(crate) fn begin(
        guard: &'g RepeatGuard,
        key: Option<RepeatKey>,
        execution_id: Text,
        now_ms: i64,
    ) -> Self {
        Self {
            guard,
            key,
            execution_id,
            now_ms,
        }
    }

    /// The requester gets the outcome of the run.
    pub(crate) fn answered(mut self) {
        self.key = None;
    }
}

impl Drop for AwaitedRun<'_> {
    fn drop(&mut self) {
        if let Some(key) = &self.key {
            self.guard.unclear(key, &self.execution_id, self.now_ms);
        }
    }
}

/// Whether a run ended so that a write may have been done which nobody has confirmed or refused.
pub(crate) fn is_unclear(outcome: Result<&Outcome, &Error>, sent: &[RequestRecord]) -> bool {
    let writes = || sent.iter().filter(|request| writes(request));
    let unanswered =
        |request: &RequestRecord| matches!(request.status, None | Some(500 | 502 | 504));
    let refused = |request: &RequestRecord| matches!(request.status, Some(400..=499 | 503));
    match outcome {
        Err(_) => writes().next().is_some(),
        // What was answered did not reach the requester.
        Ok(Outcome::Error {
            reason:
                FailureReason::Timeout | FailureReason::LimitExceeded | FailureReason::PluginCrashed,
            ..
        }) => writes().any(|request| !refused(request)),
        Ok(Outcome::Error { .. }) => writes().any(unanswered),
        Ok(_) => false,
    }
}

/// Whether a request may change something at the provider.
pub(crate) fn writes(request: &RequestRecord) -> bool {
    !matches!(request.method.as_str(), "GET" | "HEAD")
}

#[cfg(test)]
mod tests;
