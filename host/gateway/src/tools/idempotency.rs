//! Requests that name an `Idempotency-Key`: done once, answered as often as they are asked.
//!
//! A key is claimed before the work and answered after it, both in the database, so that neither two processes nor a
//! restart do the work twice. Before a write can leave the process the claim is marked: one that is found marked and
//! unanswered after its time belongs to a process that died, and its outcome is unknown. A request that was refused,
//! or that only led to a connect link, did nothing and frees its key. Keys belong to the API key that sent them, for
//! 24 hours.

mod claims;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::tools::{Execute, Execution, Outcome};
use crate::{Caller, Error, Gateway, Scope};
use toolgate_core::ids;
use toolgate_core::text::Text;
use toolgate_core::trace;
use toolgate_runtime::limits::CALL_TIMEOUT;
use toolgate_store::{BeginOutcome, BeginRequest, RequestAnswer};

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
    /// `operation`: method and path. `body`: the request body, compared without `retry_unknown`.
    ///
    /// # Errors
    /// `invalid_request` for a key that is not 1 to 255 visible ASCII characters.
    pub fn new(key: &str, operation: &str, mut body: Value) -> Result<Self, Error> {
        let fits = (1..=KEY_CHARS_MAX).contains(&key.len())
            && key.bytes().all(|byte| byte.is_ascii_graphic());
        if !fits {
            return Err(Error::InvalidRequest(format!(
                "the idempotency key must be 1 to {KEY_CHARS_MAX} visible ASCII characters"
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

    /// The same request, done again where the outcome of the first is unknown: for one whose body is not
    /// compared.
    #[must_use]
    pub fn retrying(self, retry_unknown: bool) -> Self {
        Self {
            retry_unknown,
            ..self
        }
    }
}

/// A claimed key, while its request runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedKey {
    pub(crate) key: String,
    pub(crate) execution_id: String,
    /// Set by work that has kept its answer itself, to the answer's bytes.
    answered: Arc<OnceLock<usize>>,
}

impl ClaimedKey {
    /// The answer that is kept of a run, to be written beside the receipt; the key needs nothing
    /// more then. `None`: the key is settled otherwise.
    pub(crate) fn answer_with_receipt(
        &self,
        workspace_id: &Text,
        execution: &Execution,
    ) -> Option<RequestAnswer> {
        let Ok(Settlement::Keep(answer)) = settlement_of(execution) else {
            return None;
        };
        let _ = self.answered.set(answer.len());
        Some(RequestAnswer {
            workspace_id: workspace_id.clone(),
            key: self.key.clone(),
            execution_id: self.execution_id.clone(),
            answer,
        })
    }
}

/// An answer that was kept.
#[derive(Debug)]
struct KeptAnswer {
    execution_id: String,
    answer: Box<RawValue>,
}

/// How a request is done that names a key.
struct OnceRules<S> {
    /// How long the work may take.
    longest: Duration,
    /// Whether the claim is marked before the work begins; else the work does so, if it ever has to.
    marks_first: bool,
    /// What becomes of the key.
    settles: S,
}

/// What becomes of a claimed key once its request has ended.
enum Settlement {
    /// This text answers every repetition.
    Keep(String),
    /// A repetition does the work again.
    Free,
    /// The same, unless the claim was marked: then the outcome of the request nobody will know.
    FreeUnlessMarked,
}

impl Settlement {
    fn keep<T: Serialize>(answer: &T) -> Result<Self, Error> {
        let text = serde_json::to_string(answer).map_err(|cause| Error::Internal(cause.into()));
        text.map(Self::Keep)
    }

    /// The gateway itself failed, so it is unknown how far the work came: what it wrote or sent may be there.
    fn after(cause: &Error) -> Self {
        use Error::{DatabaseUnavailable, Internal, OutcomeUnknown};
        match cause {
            Internal(_) | DatabaseUnavailable(_) | OutcomeUnknown { .. } => Self::FreeUnlessMarked,
            _ => Self::Free,
        }
    }
}

fn settled_run(ran: &Result<Execution, Error>) -> Result<Settlement, Error> {
    match ran {
        Err(cause) => Ok(Settlement::after(cause)),
        Ok(execution) => settlement_of(execution),
    }
}

fn settlement_of(execution: &Execution) -> Result<Settlement, Error> {
    match execution.outcome {
        // Links for people are secrets: such an answer is never kept. Where the plugin had begun
        // already, the key stays claimed and its outcome unknown.
        Outcome::AuthRequired(_)
        | Outcome::AuthExpired(_)
        | Outcome::ApprovalRequired(_)
        | Outcome::DryRun { .. } => Ok(Settlement::FreeUnlessMarked),
        Outcome::Success { .. } | Outcome::Error { .. } => Settlement::keep(execution),
    }
}

/// What a request with a key comes to.
enum KeyedAnswer<T> {
    New(T),
    Kept(KeptAnswer),
}

impl<T> From<KeyedAnswer<T>> for IdempotentAnswer<T> {
    fn from(answer: KeyedAnswer<T>) -> Self {
        match answer {
            KeyedAnswer::New(answer) => Self::New(answer),
            KeyedAnswer::Kept(kept) => Self::Again(kept.answer),
        }
    }
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
    /// Runs a tool at most once for the attempt's key. See [`Gateway::execute`]. The run itself marks
    /// its claim, when a write is about to leave.
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
        let user = caller.user(request.user_id.as_ref())?;
        let (gateway, caller) = (self.clone(), caller.clone());
        self.to_its_end(async move {
            let rules = OnceRules {
                longest: CALL_TIMEOUT,
                marks_first: false,
                settles: settled_run,
            };
            let tool_name = request.tool_name.clone();
            let work = |claim| {
                let claim = Some(claim);
                gateway.execute(&caller, Execute { claim, ..request })
            };
            match gateway.with_key(&caller, &attempt, rules, work).await? {
                KeyedAnswer::New(execution) => Ok(IdempotentAnswer::New(execution)),
                KeyedAnswer::Kept(kept) => {
                    let ran = &kept.execution_id;
                    gateway
                        .check_result_access(&caller, &user, ran, Some(&tool_name))
                        .await?;
                    Ok(IdempotentAnswer::Again(kept.answer))
                }
            }
        })
        .await
    }

    /// Does `work`, which needs `scope` and takes no longer than a call, at most once for the attempt's
    /// key; it goes on when the caller hangs up.
    pub async fn once<T, W>(
        self: &Arc<Self>,
        caller: &Caller,
        scope: Scope,
        attempt: Option<KeyedRequest>,
        work: impl FnOnce(Arc<Self>, Caller) -> W,
    ) -> Result<IdempotentAnswer<T>, Error>
    where
        T: Clone + Serialize + Send + Sync + 'static,
        W: Future<Output = Result<T, Error>> + Send + 'static,
    {
        // Before an answer that was kept, too.
        caller.need(scope)?;
        let work = Box::pin(work(self.clone(), caller.clone()));
        self.once_within(caller, attempt, CALL_TIMEOUT, work, Clone::clone)
            .await
    }

    /// Does `work`, whose answer holds a secret and is never kept, for one request with the attempt's
    /// key at a time; it goes on when the caller hangs up. A repetition does it again.
    pub async fn one_at_a_time<T, W>(
        self: &Arc<Self>,
        caller: &Caller,
        attempt: Option<KeyedRequest>,
        work: impl FnOnce(Arc<Self>, Caller) -> W,
    ) -> Result<T, Error>
    where
        T: Send + Sync + 'static,
        W: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let (gateway, caller) = (self.clone(), caller.clone());
        let work = Box::pin(work(gateway.clone(), caller.clone()));
        self.to_its_end(async move {
            let Some(attempt) = attempt else {
                return work.await;
            };
            let rules = OnceRules {
                longest: CALL_TIMEOUT,
                marks_first: false,
                settles: |_: &Result<T, Error>| Ok(Settlement::Free),
            };
            match gateway.with_key(&caller, &attempt, rules, |_| work).await? {
                KeyedAnswer::New(done) => Ok(done),
                KeyedAnswer::Kept(_) => Err(Error::IdempotencyConflict),
            }
        })
        .await
    }

    /// Does `work`, which may take as long as `longest`, at most once for the attempt's key; it goes on
    /// when the caller hangs up. What is kept of its answer is `kept`.
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
        self.to_its_end(async move {
            let Some(attempt) = attempt else {
                return Ok(IdempotentAnswer::New(work.await?));
            };
            let rules = OnceRules {
                longest,
                marks_first: true,
                settles: move |done: &Result<T, Error>| match done {
                    Ok(answer) => Settlement::keep(&kept(answer)),
                    Err(cause) => Ok(Settlement::after(cause)),
                },
            };
            let answer = gateway.with_key(&caller, &attempt, rules, |_| work);
            Ok(answer.await?.into())
        })
        .await
    }

    /// Goes on with `request` when its caller hangs up, who must not keep the answer from being kept.
    async fn to_its_end<T: Send + 'static>(
        &self,
        request: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        let task = self.running.spawn(trace::carry(request));
        task.await.map_err(|cause| {
            Error::Internal(anyhow::anyhow!("the request's task ended: {cause}"))
        })?
    }

    /// Claims the key, does the work, settles the key.
    async fn with_key<T, S, W>(
        &self,
        caller: &Caller,
        attempt: &KeyedRequest,
        rules: OnceRules<S>,
        work: impl FnOnce(ClaimedKey) -> W,
    ) -> Result<KeyedAnswer<T>, Error>
    where
        S: FnOnce(&Result<T, Error>) -> Result<Settlement, Error>,
        W: Future<Output = Result<T, Error>>,
    {
        let claim = match self.claim(caller, attempt, rules.longest).await? {
            Ok(claim) => claim,
            Err(kept) => return Ok(KeyedAnswer::Kept(kept)),
        };
        if rules.marks_first && !self.mark_sent(caller, &claim).await? {
            return Err(in_progress());
        }
        let done = work(claim.clone()).await;
        if let Some(bytes) = claim.answered.get() {
            self.kept_answer(caller, *bytes).await;
            return Ok(KeyedAnswer::New(done?));
        }
        match (rules.settles)(&done)? {
            Settlement::Keep(answer) => self.keep_answer(caller, &claim, &answer).await?,
            Settlement::Free => {
                self.free(caller, &claim, true).await?;
            }
            Settlement::FreeUnlessMarked => {
                self.free(caller, &claim, false).await?;
            }
        }
        Ok(KeyedAnswer::New(done?))
    }

    /// Claims the key for this request, or finds the answer that was kept for it.
    async fn claim(
        &self,
        caller: &Caller,
        attempt: &KeyedRequest,
        longest: Duration,
    ) -> Result<Result<ClaimedKey, KeptAnswer>, Error> {
        self.check_keyed(caller).await?;
        let now_ms = self.clock.now_ms();
        let claim = ClaimedKey {
            key: format!("{}:{}", caller.key_id, attempt.key),
            execution_id: ids::ulid_at("exe", now_ms),
            answered: Arc::default(),
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
            } => RawValue::from_string(self.opened_answer(caller, &claim.key, answer)?)
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
}

pub(crate) fn in_progress() -> Error {
    Error::InProgress {
        retry_after_s: RETRY_AFTER_S,
    }
}

#[cfg(test)]
mod tests;
