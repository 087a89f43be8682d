//! A call that is asked about, and everything that the answer is bound to.
//!
//! The same call asked again has the same hash: the same asker, user, tool, arguments, connection,
//! plugin, approvers and, of a tool of an MCP server, session. Where one of these is another, it is another question. What the plugin would
//! send is planned in a dry run; the approved run starts with the same clock and random bytes, and
//! each of its requests is compared with the plan as it leaves.

use rand::Rng as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::shown::{QUESTION_BYTES_MAX, shown};
use crate::tools::ApprovalNeeded;
use crate::tools::idempotency::canonical;
use crate::{Caller, Error, Gateway};
use toolgate_catalog::Tool;
use toolgate_core::exact::ExactNumbers;
use toolgate_core::ids::{self, UserId};
use toolgate_core::states::ApprovalStatus;
use toolgate_egress::{self as egress, PlanDigest};
use toolgate_store::{self as store, ApprovalCall, Approvers, Connection};

/// Part of each question's hash: an approval of arguments that were shown in another way runs nothing.
const SHOWN_WHOLE: u32 = 2;

/// The call that is asked about.
pub(crate) struct Question<'a> {
    pub user: &'a UserId,
    pub tool: &'a Tool,
    /// Arguments as JSON text.
    pub arguments: &'a str,
    pub cursor: Option<&'a str>,
    pub session_id: &'a str,
    /// The session that the caller named, where the provider keeps a state by it: the request does not say which.
    pub state_of: Option<&'a str>,
    pub plugin_sha256: &'a str,
    pub bound: &'a ApprovalBinding,
}

/// What a question is bound to beside the call itself.
#[derive(Clone, Debug)]
pub(crate) struct ApprovalBinding {
    pub approvers: Approvers,
    /// The connection that the call runs with.
    pub connection: Option<BoundConnection>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BoundConnection {
    pub id: String,
    pub account: Option<String>,
    pub connected_at_ms: i64,
}

impl From<Connection> for BoundConnection {
    fn from(row: Connection) -> Self {
        Self {
            id: row.id,
            account: row.account,
            connected_at_ms: row.connected_at_ms,
        }
    }
}

/// Where a plugin's clock and random bytes come from, so that a run can repeat its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlanSeed {
    pub seed: [u8; 32],
    pub now_ms: i64,
}

impl PlanSeed {
    pub(crate) fn new(now_ms: i64) -> Self {
        let mut seed = [0; 32];
        rand::rng().fill_bytes(&mut seed);
        Self { seed, now_ms }
    }
}

/// An approval that a run has used up.
#[derive(Clone, Debug)]
pub(crate) struct UsedApproval {
    pub id: String,
    pub rehearsal: PlanSeed,
    pub requests: Vec<PlanDigest>,
    /// The planned requests are all that may leave.
    pub whole: bool,
    /// The session in which the call was planned.
    pub session_id: Option<String>,
}

/// The outcome of a question.
#[derive(Debug)]
pub(crate) enum QuestionOutcome {
    Needed(ApprovalNeeded),
    /// A person cannot read so much.
    TooLarge,
    /// As much waits in the workspace as may.
    Full,
    /// The arguments, or what would be sent, hold a secret of the connection, which nobody reads.
    HoldsSecret,
}

/// What is kept of a plan.
#[derive(Serialize, Deserialize)]
struct StoredPlan {
    requests: Vec<String>,
    whole: bool,
    /// A secret of the connection was masked in what the approver reads, as an earlier version did.
    #[serde(default)]
    masked: bool,
    seed: String,
    now_ms: i64,
}

impl StoredPlan {
    fn approved(self, row: store::ApprovalRow) -> Option<UsedApproval> {
        let requests = self.requests.iter().map(|text| bytes(text));
        Some(UsedApproval {
            id: row.id,
            rehearsal: PlanSeed {
                seed: bytes(&self.seed)?,
                now_ms: self.now_ms,
            },
            requests: requests.collect::<Option<_>>()?,
            whole: self.whole,
            session_id: row.session_id,
        })
    }
}

fn bytes(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}

impl Question<'_> {
    fn hash(&self, caller: &Caller) -> String {
        let mut arguments: Value = serde_json::from_str(self.arguments).unwrap_or_default();
        // Two numbers that a parser rounds to one are two.
        ExactNumbers::read(self.arguments).spell_out(&mut arguments);
        let connection = self.bound.connection.as_ref();
        let whole = canonical(&json!({
            "shown": SHOWN_WHOLE,
            "arguments": arguments,
            "cursor": self.cursor,
            "asker": caller.actor(),
            "connection": connection.map(|bound| (&bound.id, bound.connected_at_ms, &bound.account)),
            "plugin": self.plugin_sha256,
            "approvers": self.bound.approvers.into_str(),
            "session": self.state_of,
        }));
        hex::encode(Sha256::digest(whole.as_bytes()))
    }

    fn asked<'a>(&'a self, caller: &'a Caller, hash: &'a str) -> ApprovalCall<'a> {
        ApprovalCall {
            workspace_id: &caller.workspace_id,
            user_id: self.user.as_str(),
            tool_name: &self.tool.name,
            hash,
        }
    }
}

impl Gateway {
    /// Takes the one run of an approved call for an execution. `None`: it has to be asked about.
    ///
    /// # Errors
    /// `permission_denied` when somebody has denied this very call.
    pub(crate) async fn take_approval(
        &self,
        caller: &Caller,
        question: &Question<'_>,
        execution_id: &str,
    ) -> Result<Option<UsedApproval>, Error> {
        let (hash, now_ms) = (question.hash(caller), self.clock.now_ms());
        let asked = question.asked(caller, &hash);
        if let Some(row) = self.store.use_approval(asked, execution_id, now_ms).await? {
            let row = self.opened_question(row)?;
            let plan: StoredPlan = serde_json::from_str(&row.plan)
                .map_err(|cause| Error::Internal(anyhow::Error::from(cause).context("a plan")))?;
            let approved = plan
                .approved(row)
                .ok_or_else(|| Error::Internal(anyhow::anyhow!("a plan that cannot be read")))?;
            return Ok(Some(approved));
        }
        if self.store.is_denied(asked, now_ms).await? {
            return Err(crate::access::permissions::denied(
                question.user,
                &question.tool.name,
            ));
        }
        Ok(None)
    }

    /// Gives back the run of an approved call from which nothing has left.
    pub(crate) async fn return_approval(
        &self,
        caller: &Caller,
        approval_id: &str,
        execution_id: &str,
    ) -> Result<(), Error> {
        let returned = self
            .store
            .return_approval(&caller.workspace_id, approval_id, execution_id);
        returned.await?;
        Ok(())
    }

    /// Keeps the question, or finds the one that is already open for the same call. `scope`: of the
    /// dry run. `whole`: the plugin ended without asking for an answer.
    pub(crate) async fn ask_approval(
        &self,
        caller: &Caller,
        question: &Question<'_>,
        rehearsal: PlanSeed,
        scope: &egress::CallScope,
        whole: bool,
    ) -> Result<QuestionOutcome, Error> {
        let internal = |cause: serde_json::Error| Error::Internal(cause.into());
        let now_ms = self.clock.now_ms();
        let spec = question.tool.spec();
        if scope.plan_is_cut() || question.arguments.len() > QUESTION_BYTES_MAX {
            return Ok(QuestionOutcome::TooLarge);
        }
        let scrub = |text: &str| scope.scrub_wholes(text);
        let read = shown(question.arguments, question.cursor, scrub).map_err(internal)?;
        let Some(read) = read.filter(|_| !scope.plan_is_masked()) else {
            return Ok(QuestionOutcome::HoldsSecret);
        };
        let arguments = read.numbers.write(&read.arguments);
        let requests = serde_json::to_string(&scope.planned()).map_err(internal)?;
        if arguments.len() + requests.len() > QUESTION_BYTES_MAX {
            return Ok(QuestionOutcome::TooLarge);
        }
        let plan = StoredPlan {
            requests: scope.plan_digests().iter().map(hex::encode).collect(),
            whole,
            masked: false,
            seed: hex::encode(rehearsal.seed),
            now_ms: rehearsal.now_ms,
        };
        let connection = question.bound.connection.as_ref();
        let asked = store::ApprovalRow {
            workspace_id: caller.workspace_id.to_string(),
            id: ids::ulid("apr"),
            user_id: question.user.to_string(),
            tool_name: question.tool.name.to_string(),
            arguments_hash: question.hash(caller),
            requests,
            session_id: Some(question.session_id.to_owned()),
            asker: caller.actor(),
            asker_name: caller.key_name.to_string(),
            approvers: question.bound.approvers,
            connection_id: connection.map(|bound| bound.id.clone()),
            account: connection.and_then(|bound| bound.account.clone()),
            plugin_version: question.tool.version().to_owned(),
            plugin_sha256: question.plugin_sha256.to_owned(),
            title: spec.title.clone().unwrap_or_else(|| spec.name.clone()),
            arguments,
            plan: serde_json::to_string(&plan).map_err(internal)?,
            execution_id: None,
            state: ApprovalStatus::Pending,
            decided_by: None,
            decided_at_ms: None,
            created_at_ms: now_ms,
            expires_at_ms: now_ms + super::APPROVAL_LIFETIME_MS,
        };
        let url = super::page_of(&self.public_url, &asked.id);
        let asked = self.sealed_question(asked)?;
        // Many at once go beyond the bound by as many.
        let pending = self.store.pending_approvals(&caller.workspace_id).await?;
        if pending.count >= super::PENDING_MAX || pending.bytes >= super::PENDING_BYTES_MAX {
            return Ok(QuestionOutcome::Full);
        }
        let open = self.store.open_approval(&asked, &url).await?;
        super::needed(&self.public_url, self.opened_question(open)?).map(QuestionOutcome::Needed)
    }
}
