//! One tool call's rights, budget and record.
//!
//! A [`CallScope`] is made for each call and outlives it: the runtime reads the receipt and scrubs the
//! call's result with it. It counts every request that goes to the wire (redirect hops and repeats
//! too) and never gives more than its limits.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::cancellation::Cancellation;
use super::declared::Declarations;
use super::effect::{AllowedQueries, DescribedSend};
use super::grant::Grant;
use super::journal::Journal;
use super::memory::AnswerMemory;
use super::payload::{Payload, Payloads};
use super::scrub::Scrubber;
use super::{
    Credentials, EgressFailure, FailureKind, GuestRequest, PlannedRequest, RequestRecord, Response,
};
use toolgate_core::memory::MemoryAccount;

/// Failure texts longer than this are cut.
pub const MESSAGE_BYTES_MAX: usize = 2 * 1024;

/// Requests that a plugin may ask for, refused ones included, for each that may leave. A refusal costs time too.
const TRIES_PER_REQUEST: usize = 10;

/// No call and no request waits longer, whatever it asks for.
pub const TIMEOUT_MAX: Duration = Duration::from_secs(15 * 60);

/// Bounds of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimits {
    /// Requests on the wire, redirects and repeats included.
    pub requests_max: usize,
    /// Body of one answer. A request may ask for less.
    pub response_bytes_max: usize,
    /// Bodies of all requests and answers of the call together.
    pub total_bytes_max: u64,
    /// Time left to the call when the scope is made.
    pub timeout: Duration,
    /// Requests under way at the same time.
    pub concurrency_max: usize,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            requests_max: 50,
            response_bytes_max: 16 * 1024 * 1024,
            total_bytes_max: 128 * 1024 * 1024,
            timeout: Duration::from_secs(30),
            concurrency_max: 8,
        }
    }
}

/// Whether requests leave or are only planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Live,
    DryRun,
}

/// One exchange as the plugin saw it: before the credential was written, after it was scrubbed.
#[derive(Clone, Copy, Debug)]
pub struct ObservedExchange<'a> {
    pub request: &'a GuestRequest,
    /// The whole address that was asked first, without any credential.
    pub url: &'a Url,
    pub response: &'a Response,
}

/// Sees every answered request of a call.
pub type ExchangeObserver = Arc<dyn Fn(ObservedExchange<'_>) + Send + Sync>;

/// SHA-256 of a request as it was planned, with its whole body.
pub type PlanDigest = [u8; 32];

/// How a planned request differs from what is shown of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PlanMarks {
    /// Its body is too long and shown by its size.
    pub is_cut: bool,
    /// A known secret was masked.
    pub masked: bool,
}

/// What a person has approved of a call's requests.
struct ApprovedRequests {
    /// Those that have not left yet.
    ahead: Vec<PlanDigest>,
    /// No request follows the planned ones.
    whole: bool,
    /// A request differed; none leaves after it.
    deviated: bool,
}

/// What one call may do, has left and has done.
pub struct CallScope {
    pub(super) grant: Arc<Grant>,
    parameters: Arc<BTreeMap<String, String>>,
    /// Those of a token that was renewed during the call, where it moved the account.
    moved: Mutex<Option<Arc<BTreeMap<String, String>>>>,
    pub(super) credentials: Arc<dyn Credentials>,
    pub(super) limits: CallLimits,
    pub(super) mode: Mode,
    began: Instant,
    pub(super) deadline: Instant,
    pub(super) slots: Semaphore,
    tries: AtomicUsize,
    requests: AtomicUsize,
    bytes: AtomicU64,
    records: Mutex<Vec<RequestRecord>>,
    planned: Mutex<Vec<(PlannedRequest, PlanDigest, PlanMarks)>>,
    required_plan: Option<Mutex<ApprovedRequests>>,
    scrubber: Mutex<Arc<Scrubber>>,
    witness: Option<ExchangeObserver>,
    journal: Option<Arc<dyn Journal>>,
    pub(super) repeats: bool,
    pub(super) declared: Declarations,
    /// Present: bodies are kept.
    pub(super) payloads: Option<Payloads>,
    /// Present: the call changes nothing.
    pub(super) reading: Option<AllowedQueries>,
    /// Present: the call sends this and reads.
    pub(super) described: Option<DescribedSend>,
    pub(super) cancellation: Cancellation,
    pub(super) memory: AnswerMemory,
}

impl CallScope {
    pub fn new(
        grant: Arc<Grant>,
        parameters: BTreeMap<String, String>,
        credentials: Arc<dyn Credentials>,
        limits: CallLimits,
        mode: Mode,
    ) -> Self {
        let began = Instant::now();
        Self {
            grant,
            parameters: Arc::new(parameters),
            moved: Mutex::default(),
            credentials,
            limits,
            mode,
            began,
            deadline: began + limits.timeout.min(TIMEOUT_MAX),
            slots: Semaphore::new(limits.concurrency_max.max(1)),
            tries: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
            bytes: AtomicU64::new(0),
            records: Mutex::default(),
            planned: Mutex::default(),
            required_plan: None,
            scrubber: Mutex::default(),
            witness: None,
            journal: None,
            repeats: true,
            declared: Declarations::default(),
            payloads: None,
            reading: None,
            described: None,
            cancellation: Cancellation::Never,
            memory: AnswerMemory::default(),
        }
    }

    /// The same scope for a tool that is declared `read`.
    pub fn reading(mut self, reading: AllowedQueries) -> Self {
        self.reading = Some(reading);
        self
    }

    /// The same scope for a tool that declares its one request.
    pub fn sending(mut self, described: DescribedSend) -> Self {
        self.described = Some(described);
        self
    }

    /// The same scope, from which nothing leaves any more once `token` is cancelled, and whose requests under way end then.
    /// For a call that only reads: what a provider has done of a request that was dropped is not known.
    pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
        self.cancellation = Cancellation::Ends(token);
        self
    }

    /// The same scope, whose requests go on once `token` is cancelled. An MCP server that works on a call is notified.
    pub fn passing_on(mut self, token: CancellationToken) -> Self {
        self.cancellation = Cancellation::IsPassedOn(token);
        self
    }

    /// The same scope, whose answers take their memory from a budget. Once it refuses one, no further request leaves.
    pub fn with_memory(mut self, account: MemoryAccount) -> Self {
        self.memory = AnswerMemory::new(account);
        self
    }

    /// Whether an answer was lost for want of memory.
    pub fn ran_out_of_memory(&self) -> bool {
        self.memory.has_run_out()
    }

    /// The connection's parameters, as the newest token of the call has them.
    pub(super) fn parameters(&self) -> Arc<BTreeMap<String, String>> {
        self.moved().unwrap_or_else(|| self.parameters.clone())
    }

    pub(super) fn moved(&self) -> Option<Arc<BTreeMap<String, String>>> {
        locked(&self.moved).clone()
    }

    pub(super) fn take_over(&self, parameters: Arc<BTreeMap<String, String>>) {
        *locked(&self.moved) = Some(parameters);
    }

    /// Refuses a request whose caller does not want the result any more, or whose call has lost an answer.
    pub(super) fn check_wanted(&self) -> Result<(), EgressFailure> {
        self.cancellation.check()?;
        self.memory.check()
    }

    /// The same scope, whose requests are never repeated after 429 or 503: the plugin sees the answer.
    pub fn without_retries(mut self) -> Self {
        self.repeats = false;
        self
    }

    /// The same scope of a plugin that declares this.
    pub fn with_declarations(mut self, declared: Declarations) -> Self {
        self.declared = declared;
        self
    }

    /// The same scope, which knows the scrubber's secrets before anything is sent.
    pub fn knowing(mut self, scrubber: Scrubber) -> Self {
        self.scrubber = Mutex::new(Arc::new(scrubber));
        self
    }

    /// The same scope, with somebody who sees its exchanges.
    pub fn with_observer(mut self, witness: ExchangeObserver) -> Self {
        self.witness = Some(witness);
        self
    }

    /// The same scope, whose requests are written down before they leave.
    pub fn with_journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.journal = Some(journal);
        self
    }

    /// The same scope, whose first requests have to be these, in any order. `whole`: and no others.
    pub fn with_required_plan(mut self, plan: Vec<PlanDigest>, whole: bool) -> Self {
        self.required_plan = Some(Mutex::new(ApprovedRequests {
            ahead: plan,
            whole,
            deviated: false,
        }));
        self
    }

    pub(super) fn has_required_plan(&self) -> bool {
        self.required_plan.is_some()
    }

    /// Takes a request out of the plan, or refuses it and every one after it.
    pub(super) fn agreed(&self, digest: &PlanDigest) -> Result<(), EgressFailure> {
        let Some(agreed) = &self.required_plan else {
            return Ok(());
        };
        let mut agreed = locked(agreed);
        if !agreed.deviated {
            if let Some(at) = agreed.ahead.iter().position(|one| one == digest) {
                agreed.ahead.swap_remove(at);
                return Ok(());
            }
            // What follows the first answers could not be planned.
            if agreed.ahead.is_empty() && !agreed.whole {
                return Ok(());
            }
            agreed.deviated = true;
        }
        Err(EgressFailure::denied(
            "the request differs from what was approved",
        ))
    }

    /// Whether a request was refused because nobody has approved it.
    pub fn deviated(&self) -> bool {
        let required = self.required_plan.as_ref();
        required.is_some_and(|agreed| locked(agreed).deviated)
    }

    pub(super) async fn leaving(
        &self,
        record: &RequestRecord,
        payload: Option<&Payload>,
    ) -> Result<(), EgressFailure> {
        let Some(journal) = &self.journal else {
            return Ok(());
        };
        journal.leaving(record, payload).await.map_err(Into::into)
    }

    pub(super) fn witness(&self, exchange: ObservedExchange<'_>) {
        if let Some(witness) = &self.witness {
            witness(exchange);
        }
    }

    /// Whether the slot is connected for this call.
    pub fn connected(&self, slot: &str) -> bool {
        self.credentials.connected(slot)
    }

    pub fn is_dry_run(&self) -> bool {
        self.mode == Mode::DryRun
    }

    /// How long ago the call began.
    pub(super) fn age_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Everything that may have left so far, in the order in which it ended.
    pub fn records(&self) -> Vec<RequestRecord> {
        locked(&self.records).clone()
    }

    /// What a dry run would have sent so far.
    pub fn planned(&self) -> Vec<PlannedRequest> {
        let planned = locked(&self.planned);
        let requests = planned.iter().map(|(request, ..)| request.clone());
        requests.collect()
    }

    /// Whether `planned` lacks a body that is too long to be shown.
    pub fn plan_is_cut(&self) -> bool {
        locked(&self.planned).iter().any(|(.., marks)| marks.is_cut)
    }

    /// Whether a secret was masked in `planned`.
    pub fn plan_is_masked(&self) -> bool {
        locked(&self.planned).iter().any(|(.., marks)| marks.masked)
    }

    /// What a later run has to send.
    pub fn plan_digests(&self) -> Vec<PlanDigest> {
        let planned = locked(&self.planned);
        planned.iter().map(|(_, digest, _)| *digest).collect()
    }

    /// Requests that went to the wire.
    pub fn requests_sent(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    /// `text` without any secret value that is known so far.
    pub fn scrub(&self, text: &str) -> String {
        self.scrubber().text(text).into_owned()
    }

    /// The same of a text that may be large; not copied where there is none.
    pub fn scrub_owned(&self, text: String) -> String {
        let scrubbed = match self.scrubber().text(&text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(scrubbed) => Some(scrubbed),
        };
        scrubbed.unwrap_or(text)
    }

    /// `bytes` without any secret value that is known so far; not copied where there is none.
    pub fn scrub_bytes(&self, bytes: Bytes) -> Bytes {
        self.scrubber().bytes(bytes)
    }

    pub(super) fn scrubber(&self) -> Arc<Scrubber> {
        Arc::clone(&locked(&self.scrubber))
    }

    pub(super) fn learn<'a>(&self, secrets: impl IntoIterator<Item = &'a [u8]>) {
        let mut scrubber = locked(&self.scrubber);
        let new: Vec<&[u8]> = secrets
            .into_iter()
            .filter(|secret| !scrubber.knows(secret))
            .collect();
        if !new.is_empty() {
            Arc::make_mut(&mut scrubber).learn(new);
        }
    }

    pub(super) fn record(&self, record: RequestRecord) {
        locked(&self.records).push(record);
    }

    /// Notes a planned request; a dry run has the same number of requests as a real one.
    pub(super) fn plan(
        &self,
        request: PlannedRequest,
        digest: PlanDigest,
        marks: PlanMarks,
    ) -> Result<(), EgressFailure> {
        let mut planned = locked(&self.planned);
        if planned.len() >= self.limits.requests_max {
            return Err(self.no_request_left());
        }
        planned.push((request, digest, marks));
        Ok(())
    }

    /// Counts a request that the plugin asks for, whatever becomes of it.
    pub(super) fn take_try(&self) -> Result<(), EgressFailure> {
        let most = self.limits.requests_max.saturating_mul(TRIES_PER_REQUEST);
        if self.tries.fetch_add(1, Ordering::Relaxed) >= most {
            return Err(exhausted(format!(
                "the call has asked for more than {most} outbound requests"
            )));
        }
        Ok(())
    }

    /// Takes one request and its body out of the budget, or says that there is none left.
    pub(super) fn take_request(&self, body_bytes: usize) -> Result<(), EgressFailure> {
        let taken = self
            .requests
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |sent| {
                (sent < self.limits.requests_max).then_some(sent + 1)
            });
        if taken.is_err() {
            return Err(self.no_request_left());
        }
        self.take_bytes(body_bytes)
    }

    fn no_request_left(&self) -> EgressFailure {
        let most = self.limits.requests_max;
        exhausted(format!(
            "the call has used all of its {most} outbound requests"
        ))
    }

    /// Takes bytes of a body out of the budget.
    pub(super) fn take_bytes(&self, count: usize) -> Result<(), EgressFailure> {
        let count = count as u64;
        let before = self.bytes.fetch_add(count, Ordering::Relaxed);
        if before.saturating_add(count) > self.limits.total_bytes_max {
            let most = self.limits.total_bytes_max;
            return Err(exhausted(format!(
                "the call has used all of its {most} bytes of traffic"
            )));
        }
        Ok(())
    }

    /// A failure as it may leave: scrubbed and cut.
    pub(super) fn clean(&self, mut failure: EgressFailure) -> EgressFailure {
        failure.message = self.scrub(&failure.message);
        if failure.message.len() > MESSAGE_BYTES_MAX {
            let end = failure.message.floor_char_boundary(MESSAGE_BYTES_MAX);
            failure.message.truncate(end);
        }
        failure
    }
}

fn exhausted(message: String) -> EgressFailure {
    EgressFailure::unsent(FailureKind::BudgetExhausted, message)
}

/// These locks are held for a push or a clone, which cannot leave half a value behind.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
