//! One turn: from what was said to the assistant's reply.
//!
//! One turn of a session at a time, whatever the process: a row in the database says whose it is.
//! Every step is kept before the next is taken, so that a turn whose process died, or that a
//! person has to unblock, is taken up from its rows.

use std::sync::Arc;

use tokio::time::Instant;

use super::operations::{self, Ran};
use super::prompt::{self, Step};
use super::{
    Details, Heard, Listener, Message, OperationCall, Pending, SESSION_CHARS_MAX,
    SESSION_STEPS_MAX, Say, TURN_STEPS_MAX, TURN_TOKENS_MAX, TurnReason, TurnStatus, shown,
};
use crate::gateway::limits::limits_of;
use crate::gateway::{Caller, Error, Gateway, RateLimited, Scope};
use crate::ids;
use crate::model::Reply;
use crate::store::{self, Speaker, Topic, TurnClaim};

/// Text of the assistant that is kept of one step.
const REPLY_CHARS_MAX: usize = 100_000;
/// Arguments of one call that are kept; longer ones could not be JSON any more.
const ARGUMENTS_BYTES_MAX: usize = 256 << 10;
/// A token of a server that does not count is this long, in bytes.
const TOKEN_BYTES: u64 = 4;
/// How soon another turn may be tried.
const RETRY_AFTER_S: u64 = 2;

impl Gateway {
    /// Takes the turn, unless another one runs.
    pub(in crate::gateway) async fn turn(
        self: &Arc<Self>,
        caller: &Caller,
        session: &store::Session,
        say: Say,
        listener: Option<Listener>,
    ) -> Result<Message, Error> {
        let (turn_id, now_ms) = (ids::ulid("trn"), self.clock.now_ms());
        let longest = self.conversing.longest();
        let claim = TurnClaim {
            workspace_id: &caller.workspace_id,
            session_id: &session.id,
            turn_id: &turn_id,
            deadline_ms: now_ms + i64::try_from(longest.as_millis()).unwrap_or(i64::MAX - now_ms),
        };
        if !self.store.begin_turn(&claim, now_ms).await? {
            return Err(Error::TurnInProgress {
                retry_after_s: RETRY_AFTER_S,
            });
        }
        let mut turn = Turn {
            gateway: self,
            caller: caller.clone(),
            session,
            turn_id: &turn_id,
            steps: Vec::new(),
            listener,
            until: Instant::now() + self.conversing.turn,
            tokens: 0,
        };
        let reply = Box::pin(turn.run(say)).await;
        self.store.end_turn(&claim).await?;
        reply
    }
}

struct Turn<'a> {
    gateway: &'a Arc<Gateway>,
    caller: Caller,
    session: &'a store::Session,
    turn_id: &'a str,
    steps: Vec<Step>,
    listener: Option<Listener>,
    /// No step is begun after this.
    until: Instant,
    tokens: u64,
}

impl Turn<'_> {
    async fn run(&mut self, say: Say) -> Result<Message, Error> {
        let (workspace, session) = (&self.caller.workspace_id, &self.session.id);
        let rows =
            self.gateway
                .store
                .list_messages(workspace, session, 0, SESSION_STEPS_MAX as usize);
        for row in &rows.await? {
            self.steps.push(Step {
                role: row.role,
                message: shown(row)?,
            });
        }
        self.begin(say).await?;
        if self.gateway.conversing.model.is_none() {
            return self.answer_without_model().await;
        }
        let mut asked = 0;
        loop {
            for call in outstanding(&self.steps) {
                if let Some(reason) = self.must_stop().await? {
                    return self.stop(reason).await;
                }
                if let Some(limited) = self.over_the_limit().await? {
                    return self.limited(&limited).await;
                }
                if let Some(paused) = self.call(&call).await? {
                    return Ok(paused);
                }
            }
            if let Some(reason) = self.must_stop().await? {
                return self.stop(reason).await;
            }
            if asked == TURN_STEPS_MAX {
                return self.stop(TurnReason::StepsExhausted).await;
            }
            if self.tokens >= TURN_TOKENS_MAX {
                return self.stop(TurnReason::TokensExhausted).await;
            }
            asked += 1;
            let reply = match self.ask().await {
                Ok(reply) => reply,
                Err(crate::model::ModelError::TimedOut) => {
                    return self.stop(TurnReason::TimeExhausted).await;
                }
                Err(problem) => return self.failed(&problem.to_string()).await,
            };
            if let Some(answer) = self.take(reply).await? {
                return Ok(answer);
            }
        }
    }

    /// Settles what earlier turns have left and keeps what was said.
    async fn begin(&mut self, say: Say) -> Result<(), Error> {
        let waiting = outstanding(&self.steps);
        let last = self.steps.last().map(|step| &step.message.details);
        let (status, crashed) = match last {
            Some(details) => (details.status, details.status.is_none()),
            None => (None, false),
        };
        match say {
            Say::Resume => {
                let unfinished = matches!(status, Some(TurnStatus::Paused | TurnStatus::Stopped));
                if self.gateway.conversing.model.is_none() || !(unfinished || crashed) {
                    return Err(Error::Conflict(
                        "the session waits for nothing; send a message instead".to_owned(),
                    ));
                }
                if crashed {
                    self.leave(&waiting, MAY_HAVE_RUN).await?;
                }
            }
            Say::Message(content) => {
                let why = if crashed { MAY_HAVE_RUN } else { NOT_RUN };
                self.leave(&waiting, why).await?;
                self.add(Speaker::User, content, Details::default()).await?;
            }
        }
        Ok(())
    }

    /// Answers calls that are not run.
    async fn leave(&mut self, calls: &[OperationCall], why: &str) -> Result<(), Error> {
        for call in calls {
            let details = Details {
                tool_call_id: Some(call.tool_call_id.clone()),
                operation: Some(call.operation.clone()),
                ..Details::default()
            };
            self.add(Speaker::Tool, why.to_owned(), details).await?;
        }
        Ok(())
    }

    /// Runs one operation. A message: the turn has to wait for a person.
    async fn call(&mut self, call: &OperationCall) -> Result<Option<Message>, Error> {
        let ran = operations::run(self.gateway, &self.caller, self.session, call).await?;
        match ran {
            Ran::Answered { text, execution_id } => {
                let details = Details {
                    tool_call_id: Some(call.tool_call_id.clone()),
                    operation: Some(call.operation.clone()),
                    execution_id,
                    ..Details::default()
                };
                self.add(Speaker::Tool, text, details).await?;
                Ok(None)
            }
            Ran::Waits { pending, reason } => self.pause(pending, reason).await.map(Some),
        }
    }

    async fn ask(&mut self) -> Result<Reply, crate::model::ModelError> {
        let request = prompt::request(&self.steps, &self.session.user_id);
        let conversing = &self.gateway.conversing;
        let model = conversing
            .model
            .as_ref()
            .ok_or(crate::model::ModelError::Unreachable)?;
        let listener = self.listener.clone();
        let mut tell = |text: &str| {
            if let Some(listener) = &listener {
                // Whoever listened may have left; the turn goes on.
                let _ = listener.send(Heard::Text(text.to_owned()));
            }
        };
        let on_text: Option<&mut (dyn FnMut(&str) + Send)> = match &self.listener {
            Some(_) => Some(&mut tell),
            None => None,
        };
        let reply = model.ask(&request, self.until, on_text).await?;
        self.tokens += match reply.usage {
            Some(usage) => usage.total_tokens,
            None => {
                let answered: usize = reply.calls.iter().map(|call| call.arguments.len()).sum();
                let bytes = prompt::bytes(&request) + reply.text.len() + answered;
                bytes as u64 / TOKEN_BYTES
            }
        };
        Ok(reply)
    }

    /// Keeps what the model said. A message: it is the reply.
    async fn take(&mut self, reply: Reply) -> Result<Option<Message>, Error> {
        let text = kept_text(&reply.text, REPLY_CHARS_MAX);
        let mut details = Details {
            model_configured: Some(true),
            tokens: Some(self.tokens),
            ..Details::default()
        };
        if reply.calls.is_empty() {
            details.status = Some(TurnStatus::Completed);
            details.reason = Some(TurnReason::Answered);
            return self.add(Speaker::Assistant, text, details).await.map(Some);
        }
        details.tool_calls = reply
            .calls
            .into_iter()
            .map(|call| OperationCall {
                tool_call_id: call.id,
                operation: kept_text(&call.name, 128),
                arguments: if call.arguments.len() > ARGUMENTS_BYTES_MAX {
                    "{}".to_owned()
                } else {
                    kept_text(&call.arguments, usize::MAX)
                },
            })
            .collect();
        self.add(Speaker::Assistant, text, details).await?;
        Ok(None)
    }

    async fn answer_without_model(&mut self) -> Result<Message, Error> {
        let said = self.steps.last().map(|step| step.message.content.clone());
        let user = &self.session.user_id;
        let said = said.unwrap_or_default();
        let found = self.gateway.matches(&self.caller, user, &said).await?;
        let details = Details {
            status: Some(TurnStatus::Completed),
            reason: Some(TurnReason::NoModel),
            model_configured: Some(false),
            matches: Some(
                serde_json::to_value(&found).map_err(|cause| Error::Internal(cause.into()))?,
            ),
            ..Details::default()
        };
        self.add(Speaker::Assistant, found.in_words(), details)
            .await
    }

    /// Ends the turn until a person has done something. The link is in the answer alone.
    async fn pause(&mut self, pending: Pending, reason: TurnReason) -> Result<Message, Error> {
        let link = pending.connect_url.clone();
        let details = Details {
            status: Some(TurnStatus::Paused),
            reason: Some(reason),
            model_configured: Some(true),
            pending: Some(Pending {
                connect_url: None,
                ..pending.clone()
            }),
            tokens: Some(self.tokens),
            ..Details::default()
        };
        let text = format!("{} Then resume the session.", pending.message);
        let mut paused = self.add(Speaker::Assistant, text, details).await?;
        if let Some(pending) = &mut paused.details.pending {
            pending.connect_url = link;
        }
        Ok(paused)
    }

    async fn stop(&mut self, reason: TurnReason) -> Result<Message, Error> {
        let why = match reason {
            TurnReason::StepsExhausted => {
                format!("the turn has used all of its {TURN_STEPS_MAX} steps")
            }
            TurnReason::TokensExhausted => {
                format!("the turn has used its {TURN_TOKENS_MAX} tokens")
            }
            TurnReason::TimeExhausted => format!(
                "the turn has used its {} s",
                self.gateway.conversing.turn.as_secs()
            ),
            TurnReason::KeyRevoked => "the rights of whoever asked have changed".to_owned(),
            _ => "the gateway is stopping".to_owned(),
        };
        self.end(
            reason,
            format!("Stopped: {why}. Resume the session to go on."),
        )
        .await
    }

    async fn limited(&mut self, limited: &RateLimited) -> Result<Message, Error> {
        let text = format!(
            "Stopped: the limit of {} requests a {} is used up. Resume the session in {} s to go on.",
            limited.limit, limited.window, limited.retry_after_s
        );
        self.end(TurnReason::RateLimited, text).await
    }

    async fn failed(&mut self, why: &str) -> Result<Message, Error> {
        let text = format!("Stopped: {why}. Resume the session to try again.");
        self.end(TurnReason::ModelFailed, text).await
    }

    async fn end(&mut self, reason: TurnReason, text: String) -> Result<Message, Error> {
        let details = Details {
            status: Some(TurnStatus::Stopped),
            reason: Some(reason),
            model_configured: Some(true),
            tokens: Some(self.tokens),
            ..Details::default()
        };
        self.add(Speaker::Assistant, text, details).await
    }

    /// Why no further step may be begun. Rights are those of this moment, not of the beginning.
    async fn must_stop(&mut self) -> Result<Option<TurnReason>, Error> {
        if self.gateway.stop.is_cancelled() {
            return Ok(Some(TurnReason::GatewayStopping));
        }
        if Instant::now() >= self.until {
            return Ok(Some(TurnReason::TimeExhausted));
        }
        Ok((!self.renew_caller().await?).then_some(TurnReason::KeyRevoked))
    }

    /// Counts a call as the request that it would be outside of a session.
    async fn over_the_limit(&self) -> Result<Option<RateLimited>, Error> {
        let (gateway, limits) = (self.gateway, &self.caller.limits);
        let counted = gateway
            .counts
            .count(&gateway.store, limits, gateway.clock.now_ms());
        match counted.await {
            Ok(()) => Ok(None),
            Err(Error::RateLimited(limited)) => Ok(Some(limited)),
            Err(other) => Err(other),
        }
    }

    /// Looks at what has changed since the last step. `false`: the key is no longer valid.
    async fn renew_caller(&mut self) -> Result<bool, Error> {
        let store = &self.gateway.store;
        let changes = store.changes().await?;
        self.gateway.services.refresh(store, changes).await?;
        let member = self.caller.role.is_some();
        let topic = if member { Topic::Members } else { Topic::Keys };
        let stale = changes.of(topic) != self.caller.changes.of(topic);
        self.caller.changes = changes;
        if stale && member {
            // What a member may do now is looked at when it resumes.
            return Ok(false);
        }
        if !stale {
            return Ok(true);
        }
        let keys = store.list_keys(&self.caller.workspace_id).await?;
        let now_ms = self.gateway.clock.now_ms();
        let key = keys.into_iter().find(|key| {
            key.id == self.caller.key_id
                && key.revoked_at_ms.is_none()
                && key.expires_at_ms.is_none_or(|at| at > now_ms)
        });
        let Some(key) = key else {
            return Ok(false);
        };
        self.caller.scopes = key
            .scopes
            .iter()
            .filter_map(|scope| Scope::parse(scope))
            .collect();
        let Some(workspace) = store.find_workspace(&self.caller.workspace_id).await? else {
            return Ok(false);
        };
        self.caller.limits = limits_of(&key, &workspace);
        Ok(true)
    }

    /// Keeps a step.
    async fn add(
        &mut self,
        role: Speaker,
        content: String,
        details: Details,
    ) -> Result<Message, Error> {
        let row = store::SessionMessage {
            workspace_id: self.caller.workspace_id.clone(),
            session_id: self.session.id.clone(),
            seq: 0,
            id: ids::ulid("msg"),
            role,
            content,
            details: serde_json::to_string(&details)
                .map_err(|cause| Error::Internal(cause.into()))?,
            created_at_ms: self.gateway.clock.now_ms(),
        };
        let most = (SESSION_STEPS_MAX, SESSION_CHARS_MAX);
        let added = self.gateway.store.add_message(&row, self.turn_id, most);
        if added.await?.is_none() {
            return Err(Error::Conflict(
                "the session is full or was deleted; create another one".to_owned(),
            ));
        }
        let message = shown(&row)?;
        if let Some(listener) = &self.listener {
            let _ = listener.send(Heard::Step(Box::new(message.clone())));
        }
        self.steps.push(Step {
            role,
            message: message.clone(),
        });
        Ok(message)
    }
}

const NOT_RUN: &str = "{\"error\":{\"code\":\"not_run\",\"message\":\"This was not run: it waited, and \
     the user has written something else. Call it again only if it is still wanted.\"}}";
const MAY_HAVE_RUN: &str = "{\"error\":{\"code\":\"outcome_unknown\",\"message\":\"The gateway stopped \
     before this was answered; it may have run. Look before you repeat it.\"}}";

/// Calls of the last step that asked for any which nothing has answered yet.
fn outstanding(steps: &[Step]) -> Vec<OperationCall> {
    let asked = steps
        .iter()
        .rposition(|step| !step.message.details.tool_calls.is_empty());
    let Some(at) = asked else {
        return Vec::new();
    };
    let answered = |call: &OperationCall| {
        steps[at..].iter().any(|step| {
            step.message.details.tool_call_id.as_deref() == Some(call.tool_call_id.as_str())
        })
    };
    let calls = steps[at].message.details.tool_calls.iter();
    calls.filter(|call| !answered(call)).cloned().collect()
}

/// Without control characters, which no database and no terminal should get from a model.
fn kept_text(text: &str, chars_max: usize) -> String {
    text.chars()
        .filter(|c| !c.is_control() || "\n\r\t".contains(*c))
        .take(chars_max)
        .collect()
}
