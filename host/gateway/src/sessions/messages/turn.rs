//! One turn: from what was said to the assistant's reply.
//!
//! One turn of a session at a time, whatever the process: a row in the database says whose it is.
//! Every step is kept before the next is taken, so that a turn whose process died, or that a
//! person has to unblock, is taken up from its rows.

use std::sync::Arc;

use tokio::time::Instant;

use super::operations::{self, OperationResult};
use super::prompt::{self, PromptStep};
use super::{
    Listener, Message, MessageInput, OperationCall, ROOM_CHARS, SESSION_CHARS_MAX,
    SESSION_STEPS_MAX, StepDetails, TURN_STEPS_MAX, TURN_TOKENS_MAX, TurnEvent, TurnReason,
    TurnStatus, shown,
};
use crate::stored_quota::{Stored, StoredPlace};
use crate::{Caller, Error, Gateway};
use toolgate_core::ids;
use toolgate_model::Reply;
use toolgate_store::{self as store, NewStep, Speaker, TurnClaim};

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
    pub(crate) async fn turn(
        self: &Arc<Self>,
        caller: &Caller,
        session: &store::SessionRow,
        say: MessageInput,
        listener: Option<Listener>,
    ) -> Result<Message, Error> {
        let (turn_id, now_ms) = (ids::ulid("trn"), self.clock.now_ms());
        let longest = self.turn_settings.longest();
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
            chars: 0,
            listener,
            until: Instant::now() + self.turn_settings.turn,
            tokens: 0,
        };
        let reply = Box::pin(turn.run(say)).await;
        self.store.end_turn(&claim).await?;
        reply
    }
}

pub(super) struct Turn<'a> {
    pub gateway: &'a Arc<Gateway>,
    pub caller: Caller,
    pub session: &'a store::SessionRow,
    pub turn_id: &'a str,
    pub steps: Vec<PromptStep>,
    /// Of the texts of all steps.
    pub chars: usize,
    pub listener: Option<Listener>,
    /// No step is begun after this.
    pub until: Instant,
    pub tokens: u64,
}

impl Turn<'_> {
    async fn run(&mut self, say: MessageInput) -> Result<Message, Error> {
        let (workspace, session) = (&self.caller.workspace_id, &self.session.id);
        let rows =
            self.gateway
                .store
                .list_messages(workspace, session, 0, SESSION_STEPS_MAX as usize);
        for row in &rows.await? {
            let row = &self.gateway.opened_step(row)?;
            self.chars += row.content.chars().count();
            self.steps.push(PromptStep {
                role: row.role,
                message: shown(row)?,
            });
        }
        self.begin(say).await?;
        if self.gateway.turn_settings.model.is_none() {
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
                Err(toolgate_model::ModelError::TimedOut) => {
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
    async fn begin(&mut self, say: MessageInput) -> Result<(), Error> {
        let waiting = outstanding(&self.steps);
        let last = self.steps.last().map(|step| &step.message.details);
        let status = last.and_then(|details| details.status);
        // What was begun and not answered may have run.
        let crashed =
            last.is_some_and(|last| last.status.is_none() || last.call_begun == Some(true));
        match say {
            MessageInput::Resume => {
                let unfinished = matches!(status, Some(TurnStatus::Paused | TurnStatus::Stopped));
                if self.gateway.turn_settings.model.is_none() || !(unfinished || crashed) {
                    return Err(Error::Conflict(
                        "the session has nothing to resume; send a message instead".to_owned(),
                    ));
                }
                let _place = self.need_room(waiting.len() + 1, ROOM_CHARS).await?;
                if crashed {
                    self.leave(&waiting, MAY_HAVE_RUN).await?;
                }
            }
            MessageInput::Message(content) => {
                let chars = content.chars().count() + ROOM_CHARS;
                let _place = self.need_room(waiting.len() + 2, chars).await?;
                let why = if crashed { MAY_HAVE_RUN } else { NOT_RUN };
                self.leave(&waiting, why).await?;
                self.add(Speaker::User, content, StepDetails::default())
                    .await?;
            }
        }
        Ok(())
    }

    /// Refuses to begin what there would be no place for: a call whose answer is not kept would be
    /// made again by the next turn.
    async fn need_room(&self, steps: usize, chars: usize) -> Result<StoredPlace, Error> {
        let fits = |there: usize, more: usize, most: i64| {
            i64::try_from(there + more).is_ok_and(|together| together <= most)
        };
        if !fits(self.steps.len(), steps, SESSION_STEPS_MAX)
            || !fits(self.chars, chars, SESSION_CHARS_MAX)
        {
            return Err(Error::Conflict(
                "the session is full; create another one".to_owned(),
            ));
        }
        let workspace_id = &self.caller.workspace_id;
        self.gateway
            .take_stored(Stored::Sessions, workspace_id, chars)
            .await
    }

    /// Answers calls that are not run.
    async fn leave(&mut self, calls: &[OperationCall], why: &str) -> Result<(), Error> {
        for call in calls {
            let details = StepDetails {
                tool_call_id: Some(call.tool_call_id.clone()),
                operation: Some(call.operation.clone()),
                ..StepDetails::default()
            };
            self.add(Speaker::Tool, why.to_owned(), details).await?;
        }
        Ok(())
    }

    /// Runs one operation. A message: the turn has to wait for a person.
    async fn call(&mut self, call: &OperationCall) -> Result<Option<Message>, Error> {
        let _place = self.need_room(2, ROOM_CHARS).await?;
        self.note_begun().await?;
        let ran = operations::run(self.gateway, &self.caller, self.session, call).await?;
        match ran {
            OperationResult::Answered { text, execution_id } => {
                let details = StepDetails {
                    tool_call_id: Some(call.tool_call_id.clone()),
                    operation: Some(call.operation.clone()),
                    execution_id,
                    ..StepDetails::default()
                };
                self.add(Speaker::Tool, text, details).await?;
                Ok(None)
            }
            OperationResult::Waits { pending, reason } => {
                self.pause(pending, reason).await.map(Some)
            }
        }
    }

    /// Marks a turn that ended with this call open, before the call runs: should the process die, or
    /// nothing of the answer be kept, the next turn finds the mark and not a call that waits.
    async fn note_begun(&mut self) -> Result<(), Error> {
        let Some(last) = self.steps.last_mut() else {
            return Ok(());
        };
        // Calls that were asked for and never put off are known by their missing answer.
        if last.message.details.status.is_none() {
            return Ok(());
        }
        let details = StepDetails {
            call_begun: Some(true),
            ..last.message.details.clone()
        };
        let text =
            serde_json::to_string(&details).map_err(|cause| Error::Internal(cause.into()))?;
        let message_id = &last.message.message_id;
        let row = (&*self.caller.workspace_id, &*self.session.id, &**message_id);
        let text = self.gateway.sealed_details(row, &text)?;
        let noted = self.gateway.store.change_details(
            &self.caller.workspace_id,
            &self.session.id,
            message_id,
            self.turn_id,
            &text,
        );
        if !noted.await? {
            return Err(Error::Conflict(
                "the session was deleted, or another request continues it".to_owned(),
            ));
        }
        last.message.details = details;
        Ok(())
    }

    async fn ask(&mut self) -> Result<Reply, toolgate_model::ModelError> {
        let request = prompt::request(&self.steps, &self.session.user_id);
        let conversing = &self.gateway.turn_settings;
        let model = conversing
            .model
            .as_ref()
            .ok_or(toolgate_model::ModelError::Unreachable)?;
        let listener = self.listener.clone();
        let mut tell = |text: &str| {
            if let Some(listener) = &listener {
                // The listener may have left; the turn goes on.
                let _ = listener.send(TurnEvent::Text(text.to_owned()));
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
        let mut details = StepDetails {
            model_configured: Some(true),
            tokens: Some(self.tokens),
            ..StepDetails::default()
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
        let details = StepDetails {
            status: Some(TurnStatus::Completed),
            reason: Some(TurnReason::NoModel),
            model_configured: Some(false),
            matches: Some(
                serde_json::to_value(&found).map_err(|cause| Error::Internal(cause.into()))?,
            ),
            ..StepDetails::default()
        };
        self.add(Speaker::Assistant, found.in_words(), details)
            .await
    }

    /// Keeps a step.
    pub(super) async fn add(
        &mut self,
        role: Speaker,
        content: String,
        details: StepDetails,
    ) -> Result<Message, Error> {
        let row = store::SessionMessage {
            workspace_id: self.caller.workspace_id.to_string(),
            session_id: self.session.id.to_string(),
            seq: 0,
            id: ids::ulid("msg"),
            role,
            content,
            details: serde_json::to_string(&details)
                .map_err(|cause| Error::Internal(cause.into()))?,
            created_at_ms: self.gateway.clock.now_ms(),
        };
        let most = (SESSION_STEPS_MAX, SESSION_CHARS_MAX);
        let chars = row.content.chars().count();
        let sealed = self.gateway.sealed_step(&row)?;
        let step = NewStep {
            message: &sealed,
            chars,
            status: details.status.map(<&str>::from),
            reason: details.reason.map(<&str>::from),
        };
        let added = self.gateway.store.add_message(step, self.turn_id, most);
        if added.await?.is_none() {
            return Err(Error::Conflict(
                "the session is full or was deleted; create another one".to_owned(),
            ));
        }
        self.chars += chars;
        let message = shown(&row)?;
        if let Some(listener) = &self.listener {
            let _ = listener.send(TurnEvent::Step(Box::new(message.clone())));
        }
        self.steps.push(PromptStep {
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
fn outstanding(steps: &[PromptStep]) -> Vec<OperationCall> {
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
