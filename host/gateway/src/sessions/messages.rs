//! What is said in a session: messages in, the assistant's replies out, every step kept.
//!
//! With a model configured a message begins a [`turn`]: the model may search, describe and execute
//! tools, read Skills and search the knowledge ([`operations`]), all with the rights of the caller
//! and as the session's user, until it answers, has to wait for a person or meets a bound. Without
//! one the reply names what matches ([`mod@matches`]). What the model is shown is made by [`prompt`].
//!
//! A turn that waits for a person does not go on by itself: nobody would read its answer, and it
//! runs with its caller's rights. [`MessageInput::Resume`] takes it up where it stood; a new message leaves
//! what was waiting undone and says so to the model. A call that may have run is made by neither.

mod endings;
mod matches;
mod operations;
pub mod prompt;
mod rights;
mod turn;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::IntoStaticStr;
use tokio::sync::mpsc;

use crate::config::ModelSettings;
use crate::sessions::Session;
use crate::tools::idempotency::{IdempotentAnswer, KeyedRequest};
use crate::tools::session::unknown;
use crate::{Caller, Error, Gateway, Scope};
use toolgate_core::clock::rfc3339;
use toolgate_egress::Egress;
use toolgate_model::Model;
use toolgate_runtime::limits::CALL_TIMEOUT;
use toolgate_store::{self as store, Speaker};
use toolgate_vault::keyfile;

pub use matches::Matches;

pub const CONTENT_CHARS_MAX: usize = 100_000;
pub const LIST_LIMIT_MAX: usize = 100;
/// Steps of one session.
pub const SESSION_STEPS_MAX: i64 = 1_000;
/// Texts of all steps of one session, in characters.
pub const SESSION_CHARS_MAX: i64 = 4_000_000;
/// Room that is there before a call runs, in characters: for its answer and the words that end the
/// turn.
const ROOM_CHARS: usize = operations::ANSWER_BYTES_MAX + 8_000;
/// Times that one turn asks the model.
pub const TURN_STEPS_MAX: usize = 16;
/// Tokens of one turn, of questions and answers alike.
pub const TURN_TOKENS_MAX: u64 = 400_000;
/// After the last call of a turn, this much for writing things down.
const MARGIN: Duration = Duration::from_secs(30);

/// What somebody says to a session.
#[derive(Clone, Debug)]
pub enum MessageInput {
    Message(String),
    /// Go on where the last turn had to stop.
    Resume,
}

/// One step of a session.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Message {
    /// `msg_<ULID>`.
    #[schema(example = "msg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub message_id: String,
    pub role: Speaker,
    pub content: String,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[serde(flatten)]
    pub details: StepDetails,
}

/// What a step is beside its text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Details)]
pub struct StepDetails {
    /// Of the assistant's message that ends a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TurnStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<TurnReason>,
    /// Whether a model wrote the assistant's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_configured: Option<bool>,
    /// Operations that the assistant asked for in this step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<OperationCall>,
    /// Which of them a `tool` message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The receipt, where a tool was executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<String>,
    /// What a paused turn waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<Pending>,
    /// Of a reply that left calls open: whether one of them was begun since. What of it may have
    /// run is not made again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_begun: Option<bool>,
    /// Without a model: what matches the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Matches>)]
    pub matches: Option<Value>,
    /// What the turn has cost so far, as the model's server counts or else as estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

#[derive(
    Clone, Copy, Debug, IntoStaticStr, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TurnStatus {
    Completed,
    /// A person has to do something first; then resume.
    Paused,
    /// A bound was met or something failed; resume to go on.
    Stopped,
}

#[derive(
    Clone, Copy, Debug, IntoStaticStr, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TurnReason {
    Answered,
    NoModel,
    AuthRequired,
    AuthExpired,
    ApprovalRequired,
    StepsExhausted,
    TokensExhausted,
    TimeExhausted,
    /// The key's or the workspace's requests are used up: every operation counts as one.
    RateLimited,
    ModelFailed,
    KeyRevoked,
    GatewayStopping,
}

/// An operation that the assistant asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct OperationCall {
    pub tool_call_id: String,
    /// `search_tools`, `describe_tool`, `execute_tool`, `list_skills`, `read_skill` or
    /// `search_knowledge`.
    #[schema(example = "execute_tool")]
    pub operation: String,
    /// JSON text as the model wrote it.
    pub arguments: String,
}

/// What a paused turn waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Pending {
    pub tool_call_id: String,
    pub tool_name: String,
    pub service: String,
    pub message: String,
    /// For the user to open; in the reply alone, never kept: resume makes a fresh one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<String>,
    /// Where a member approves or denies the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_url: Option<String>,
}

/// `GET /v1/sessions/{session_id}/messages`, oldest first.
#[derive(Clone, Debug)]
pub struct ListMessages {
    pub session_id: String,
    /// 1 to 100.
    pub limit: usize,
    pub cursor: Option<String>,
}

#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct MessagePage {
    pub messages: Vec<Message>,
    /// `null` on the last page.
    pub next_cursor: Option<String>,
}

/// What happens in a turn, for somebody who watches it.
#[derive(Clone, Debug)]
pub enum TurnEvent {
    /// The session that was created.
    Session(Box<Session>),
    /// A piece of the text that the assistant is writing.
    Text(String),
    /// A step that is kept now.
    Step(Box<Message>),
}

/// Unbounded, because a turn is not: its texts are.
pub type Listener = mpsc::UnboundedSender<TurnEvent>;

/// The model, where one is configured, and how long a turn may take.
pub(crate) struct TurnSettings {
    model: Option<Model>,
    turn: Duration,
}

impl TurnSettings {
    pub(crate) fn open(settings: Option<&ModelSettings>, egress: &Egress) -> anyhow::Result<Self> {
        let Some(settings) = settings else {
            return Ok(Self {
                model: None,
                turn: CALL_TIMEOUT,
            });
        };
        let key = settings.key_file.as_deref().map(keyfile::read_text);
        let (url, name) = (settings.url.clone(), settings.name.clone());
        Ok(Self {
            model: Some(Model::new(egress.clone(), url, name, key.transpose()?)),
            turn: settings.turn,
        })
    }

    /// From the beginning of a turn to the moment when it has surely ended: it begins no step
    /// after its time, but lets a running call end.
    pub(crate) fn longest(&self) -> Duration {
        self.turn + CALL_TIMEOUT + MARGIN
    }
}

impl Gateway {
    /// Says something to a session and answers the assistant's reply. The turn goes on when the
    /// caller hangs up; its steps are kept.
    ///
    /// # Errors
    /// `in_progress` while another turn of the session runs; `conflict` when there is nothing to
    /// resume or the session is full.
    pub async fn converse(
        self: &Arc<Self>,
        caller: &Caller,
        attempt: Option<KeyedRequest>,
        session_id: &str,
        say: MessageInput,
        listener: Option<Listener>,
    ) -> Result<IdempotentAnswer<Message>, Error> {
        caller.need(Scope::Sessions)?;
        if let MessageInput::Message(content) = &say {
            check_content("content", content)?;
        }
        let _ = self.receipts.flush().await;
        let found = self.find_session(caller, session_id).await?;
        let session = found
            .filter(|row| caller.acts_for(&row.user_id))
            .ok_or_else(|| unknown(session_id))?;
        let (gateway, owned) = (self.clone(), caller.clone());
        let work = async move { gateway.turn(&owned, &session, say, listener).await };
        let longest = self.turn_settings.longest();
        self.once_within(caller, attempt, longest, work, without_link)
            .await
    }

    /// The steps of a session, oldest first.
    pub async fn messages(
        &self,
        caller: &Caller,
        request: ListMessages,
    ) -> Result<MessagePage, Error> {
        caller.need(Scope::Sessions)?;
        let after = match &request.cursor {
            None => 0,
            Some(text) => text
                .parse()
                .ok()
                .filter(|seq| *seq > 0)
                .ok_or_else(|| Error::InvalidRequest("invalid cursor".to_owned()))?,
        };
        // Who may read the session may read what was said in it.
        self.session(caller, &request.session_id).await?;
        let (workspace, session) = (&caller.workspace_id, &request.session_id);
        let rows = self
            .store
            .list_messages(workspace, session, after, request.limit + 1)
            .await?;
        let more = rows.len() > request.limit;
        let page = &rows[..rows.len().min(request.limit)];
        Ok(MessagePage {
            next_cursor: page
                .last()
                .filter(|_| more)
                .map(|last| last.seq.to_string()),
            messages: page
                .iter()
                .map(|row| shown(&self.opened_step(row)?))
                .collect::<Result<_, _>>()?,
        })
    }
}

/// Refuses what nobody could have meant to say.
pub(crate) fn check_content(what: &str, content: &str) -> Result<(), Error> {
    let chars = content.chars().count();
    let unprintable = |c: char| c.is_control() && !"\n\r\t".contains(c);
    if content.trim().is_empty() || chars > CONTENT_CHARS_MAX || content.contains(unprintable) {
        return Err(Error::InvalidRequest(format!(
            "{what} must have 1 to {CONTENT_CHARS_MAX} characters and no control characters"
        )));
    }
    Ok(())
}

/// A reply as it may be kept: links for people are secrets.
fn without_link(reply: &Message) -> Message {
    let mut kept = reply.clone();
    if let Some(pending) = &mut kept.details.pending {
        pending.connect_url = None;
    }
    kept
}

/// [`without_link`] for a session that was just created.
pub(crate) fn session_without_links(session: &Session) -> Session {
    let mut kept = session.clone();
    for message in kept.messages.iter_mut().flatten() {
        *message = without_link(message);
    }
    kept
}

pub(crate) fn shown(row: &store::SessionMessage) -> Result<Message, Error> {
    Ok(Message {
        message_id: row.id.clone(),
        role: row.role,
        content: row.content.clone(),
        created_at: rfc3339(row.created_at_ms),
        details: serde_json::from_str(&row.details)
            .map_err(|cause| Error::Internal(cause.into()))?,
    })
}

/// Whether a step is part of the conversation as a person follows it.
pub(crate) fn is_said(row: &store::SessionMessage) -> bool {
    row.role != Speaker::Tool
}

#[cfg(test)]
mod tests;
