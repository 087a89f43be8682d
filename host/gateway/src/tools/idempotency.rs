//! Requests that name an `Idempotency-Key`: done once, answered as often as they are asked.
//!
//! A key is claimed before the work and answered after it, both in the database, so that neither
//! two processes nor a restart do the work twice. Before a write can leave the process the claim
//! is marked: one that is found marked and unanswered after its time belongs to a process that
//! died, and its outcome is unknown. A request that was refused, or that only led to a connect
//! link, did nothing and frees its key. Keys belong to the API key that sent them, for 24 hours.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::tools::{Execute, Execution, Outcome};
use crate::{Caller, Error, Gateway, Scope};
use toolgate_core::ids;
use toolgate_runtime::limits::CALL_TIMEOUT;
use toolgate_store::{BeginOutcome, BeginRequest};

/// How long an answer is kept.
pub const KEPT_MS: i64 = 24 * 60 * 60 * 1_000;
pub const KEY_CHARS_MAX: usize = 255;
/// After the longest call, this much for writing things down.
const MARGIN_MS: i64 = 30_000;
/// How soon a repetition of a running request may ask again.
const RETRY_AFTER_S: u64 = 1;

/// A request with its key, as an edge read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedRequest {
    key: String,
    request_hash: String,
    retry_unknown: bool,
}

impl KeyedRequest {
    /// `operation`: method and path. `body`: what was asked; `retry_unknown` in it is no part of
    /// the question.
    ///
    /// # Errors
    /// `invalid_request` for a key that is not 1 to 255 visible ASCII characters.
    pub fn new(key: &str, operation: &str, mut body: Value) -> Result<Self, Error> {
        let fits = (1..=KEY_CHARS_MAX).contains(&key.len())
            && key.bytes().all(|byte| byte.is_ascii_graphic());
        if !fits {
            return Err(Error::InvalidRequest(format!(
                "Idempotency-Key must be 1 to {KEY_CHARS_MAX} visible ASCII characters"
            )));
        }
        let retry = body
            .as_object_mut()
            .and_then(|fields| fields.shift_remove("retry_unknown"));
        let question = format!("{operation}\n{}", canonical(&body));
        Ok(Self {
            key: key.to_owned(),
            request_hash: hex::encode(Sha256::digest(question.as_bytes())),
            retry_unknown: retry == Some(Value::Bool(true)),
        })
    }
}

/// A claimed key, while its request runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedKey {
    pub(crate) key: String,
    pub(crate) execution_id: String,
}

/// An answer that was kept.
#[derive(Debug)]
struct KeptAnswer {
    execution_id: String,
    answer: Box<RawValue>,
}

/// An answer that was just made, or the one that was kept.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum IdempotentAnswer<T> {
    New(T),
    Again(Box<RawValue>),
}

/// `value` with the keys of every object in order: two texts of one value are one text.
pub(crate) fn canonical(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let mut fields: Vec<_> = fields.iter().collect();
                fields.sort_by_key(|(name, _)| *name);
                let fields = fields
                    .into_iter()
                    .map(|(name, value)| (name.clone(), sorted(value)));
                Value::Object(fields.collect())
            }
            Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
            other => other.clone(),
        }
    }
    sorted(value).to_string()
}

impl Gateway {
    /// Runs a tool at most once for the attempt's key. See [`Gateway::execute`].
    ///
    /// # Errors
    /// `idempotency_conflict` when the key was used for another request; `in_progress` while the
    /// first one runs; `outcome_unknown` when the gateway stopped in the middle of it.
    pub async fn execute_once(
        self: &Arc<Self>,
        caller: &Caller,
        attempt: Option<KeyedRequest>,
        request: Execute,
    ) -> Result<IdempotentAnswer<Execution>, Error> {
        let Some(attempt) = attempt else {
            return Ok(IdempotentAnswer::New(self.execute(caller, request).await?));
        };
        caller.need(Scope::ToolsExecute)?;
        caller.user(request.user_id.as_ref())?;
        let (gateway, caller) = (self.clone(), caller.clone());
        // A caller who hangs up must not keep the answer from being kept.
        let task = self.running.spawn(async move {
            let claim = match gateway.claim(&caller, &attempt).await? {
                Ok(claim) => claim,
                Err(kept) => {
                    let user = caller.user(request.user_id.as_ref())?;
                    let (tool, ran) = (&request.tool_name, &kept.execution_id);
                    gateway
                        .may_have_again(&caller, &user, ran, Some(tool))
                        .await?;
                    return Ok(IdempotentAnswer::Again(kept.answer));
                }
            };
            let request = Execute {
                claim: Some(claim.clone()),
                ..request
            };
            let ran = gateway.execute(&caller, request).await;
            match &ran {
                // Where something may have left, the key stays claimed and its outcome unknown.
                Err(Error::Internal(_)) => {
                    gateway.free(&caller, &claim, false).await?;
                }
                Err(_) => {
                    gateway.free(&caller, &claim, true).await?;
                }
                Ok(execution) => {
                    // Links for people are secrets: such an answer is never kept. Where the plugin
                    // had begun already, the key stays claimed and its outcome unknown.
                    let to_be_repeated = matches!(
                        execution.outcome,
                        Outcome::AuthRequired(_)
                            | Outcome::AuthExpired(_)
                            | Outcome::ApprovalRequired(_)
                            | Outcome::DryRun { .. }
                    );
                    if to_be_repeated {
                        gateway.free(&caller, &claim, false).await?;
                    } else {
                        gateway.keep_answer(&caller, &claim, execution).await?;
                    }
                }
            }
            Ok(IdempotentAnswer::New(ran?))
        });
        task.await.map_err(|cause| {
            Error::Internal(anyhow::anyhow!("the execution's task ended: {cause}"))
        })?
    }

    /// Does `work`, which writes to the database alone and needs `scope`, at most once for the
    /// attempt's key.
    pub async fn once<T, W>(
        self: &Arc<Self>,
        caller: &Caller,
        scope: Scope,
        attempt: Option<KeyedRequest>,
        work: W,
    ) -> Result<IdempotentAnswer<T>, Error>
    where
        T: Serialize,
        W: Future<Output = Result<T, Error>>,
    {
        // Before an answer that was kept, too.
        caller.need(scope)?;
        let Some(attempt) = attempt else {
            return Ok(IdempotentAnswer::New(work.await?));
        };
        let claim = match self.claim(caller, &attempt).await? {
            Ok(claim) => claim,
            Err(kept) => return Ok(IdempotentAnswer::Again(kept.answer)),
        };
        if !self.mark_sent(caller, &claim).await? {
            return Err(in_progress());
        }
        let done = work.await;
        match &done {
            Ok(answer) => self.keep_answer(caller, &claim, answer).await?,
            Err(_) => {
                self.free(caller, &claim, true).await?;
            }
        }
        Ok(IdempotentAnswer::New(done?))
    }

    /// Does `work`, whose answer holds a secret and is never kept, for one request with the attempt's
    /// key at a time. A repetition does it again.
    pub async fn one_at_a_time<T, W>(
        self: &Arc<Self>,
        caller: &Caller,
        attempt: Option<KeyedRequest>,
        work: W,
    ) -> Result<T, Error>
    where
        W: Future<Output = Result<T, Error>>,
    {
        let Some(attempt) = attempt else {
            return work.await;
        };
        let Ok(claim) = self.claim(caller, &attempt).await? else {
            return Err(Error::IdempotencyConflict);
        };
        let done = work.await;
        self.free(caller, &claim, true).await?;
        done
    }

    /// Does `work`, which reaches out and may take as long as `longest`, at most once for the
    /// attempt's key; it goes on when the caller hangs up. What is kept of its answer is `kept`.
    pub(crate) async fn once_within<T, W>(
        self: &Arc<Self>,
        caller: &Caller,
        attempt: Option<KeyedRequest>,
        longest: Duration,
        work: W,
        kept: fn(&T) -> T,
    ) -> Result<IdempotentAnswer<T>, Error>
    where
        T: Serialize + Send + Sync + 'static,
        W: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let (gateway, caller) = (self.clone(), caller.clone());
        let task = self.running.spawn(async move {
            let Some(attempt) = attempt else {
                return Ok(IdempotentAnswer::New(work.await?));
            };
            let claim = match gateway.claim_for(&caller, &attempt, longest).await? {
                Ok(claim) => claim,
                Err(kept) => return Ok(IdempotentAnswer::Again(kept.answer)),
            };
            if !gateway.mark_sent(&caller, &claim).await? {
                return Err(in_progress());
            }
            let done = work.await;
            match &done {
                Ok(answer) => gateway.keep_answer(&caller, &claim, &kept(answer)).await?,
                // How far it came nobody knows.
                Err(Error::Internal(_)) => {
                    gateway.free(&caller, &claim, false).await?;
                }
                Err(_) => {
                    gateway.free(&caller, &claim, true).await?;
                }
            }
            Ok(IdempotentAnswer::New(done?))
        });
        task.await.map_err(|cause| {
            Error::Internal(anyhow::anyhow!("the request's task ended: {cause}"))
        })?
    }

    async fn claim(
        &self,
        caller: &Caller,
        attempt: &KeyedRequest,
    ) -> Result<Result<ClaimedKey, KeptAnswer>, Error> {
        self.claim_for(caller, attempt, CALL_TIMEOUT).await
    }

    /// Claims the key for this request, or finds the answer that was kept for it.
    async fn claim_for(
        &self,
        caller: &Caller,
        attempt: &KeyedRequest,
        longest: Duration,
    ) -> Result<Result<ClaimedKey, KeptAnswer>, Error> {
        let now_ms = self.clock.now_ms();
        let claim = ClaimedKey {
            key: format!("{}:{}", caller.key_id, attempt.key),
            execution_id: ids::ulid("exe"),
        };
        let longest_ms = i64::try_from(longest.as_millis()).unwrap_or(i64::MAX - MARGIN_MS);
        let begun = self
            .store
            .begin_request(&BeginRequest {
                workspace_id: &caller.workspace_id,
                key: &claim.key,
                request_hash: &attempt.request_hash,
                execution_id: &claim.execution_id,
                deadline_ms: now_ms + longest_ms + MARGIN_MS,
                expires_at_ms: now_ms + KEPT_MS,
                retry_unknown: attempt.retry_unknown,
                now_ms,
            })
            .await?;
        match begun {
            BeginOutcome::Run => Ok(Ok(claim)),
            BeginOutcome::Answered {
                execution_id,
                answer,
            } => RawValue::from_string(answer)
                .map(|answer| {
                    Err(KeptAnswer {
                        execution_id,
                        answer,
                    })
                })
                .map_err(|cause| Error::Internal(cause.into())),
            BeginOutcome::OtherRequest => Err(Error::IdempotencyConflict),
            BeginOutcome::Running { .. } => Err(in_progress()),
            BeginOutcome::Unknown { execution_id } => {
                let receipt = self.receipt(caller, &execution_id).await?;
                Err(Error::OutcomeUnknown {
                    execution_id,
                    receipt: receipt.map(Box::new),
                })
            }
        }
    }

    /// Notes that from now on something may leave. `false`: the key was taken over meanwhile.
    pub(crate) async fn mark_sent(
        &self,
        caller: &Caller,
        claim: &ClaimedKey,
    ) -> Result<bool, Error> {
        let marked =
            self.store
                .mark_request_sent(&caller.workspace_id, &claim.key, &claim.execution_id);
        Ok(marked.await?)
    }

    async fn keep_answer<T: Serialize>(
        &self,
        caller: &Caller,
        claim: &ClaimedKey,
        answer: &T,
    ) -> Result<(), Error> {
        let text = serde_json::to_string(answer).map_err(|cause| Error::Internal(cause.into()))?;
        let kept =
            self.store
                .answer_request(&caller.workspace_id, &claim.key, &claim.execution_id, &text);
        if !kept.await? {
            tracing::warn!(
                execution_id = claim.execution_id,
                "idempotency.answer_not_kept"
            );
        }
        Ok(())
    }

    /// Frees the key of a request that came to nothing. One that was marked stays claimed unless
    /// `even_if_marked`: what became of it nobody will know.
    pub(crate) async fn free(
        &self,
        caller: &Caller,
        claim: &ClaimedKey,
        even_if_marked: bool,
    ) -> Result<bool, Error> {
        let freed = self.store.forget_request(
            &caller.workspace_id,
            &claim.key,
            &claim.execution_id,
            even_if_marked,
        );
        let freed = freed.await?;
        if !freed && !even_if_marked {
            self.store
                .give_up_request(&caller.workspace_id, &claim.key, &claim.execution_id)
                .await?;
        }
        Ok(freed)
    }
}

pub(crate) fn in_progress() -> Error {
    Error::InProgress {
        retry_after_s: RETRY_AFTER_S,
    }
}

#[cfg(test)]
mod tests;
