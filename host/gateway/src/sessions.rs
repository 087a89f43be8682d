//! Sessions: what ties the steps of one task together. Plugins keep values in them; a session that
//! nobody has used for a day is gone with all of that.

pub mod messages;

use std::sync::Arc;

use serde::Serialize;

use self::messages::{Listener, Message, MessageInput, TurnEvent};
use crate::audit::AuditAction;
use crate::stored_quota::Stored;
use crate::tools::idempotency::{IdempotentAnswer, KeyedRequest};
use crate::tools::session::{CREATED, unknown};
use crate::{Caller, Error, Gateway, Scope};
use toolgate_core::clock::rfc3339;
use toolgate_core::ids::{self, UserId};
use toolgate_store::{self as store, Cursor, SESSION_IDLE_MS};

pub const PROMPT_CHARS_MAX: usize = messages::CONTENT_CHARS_MAX;
/// Messages that a session is shown with.
const MESSAGES_SHOWN_MAX: usize = 100;
pub const LIST_LIMIT_MAX: usize = 100;
/// Characters of a title.
const TITLE_CHARS_MAX: usize = 80;

/// `POST /v1/sessions`.
#[derive(Clone, Debug)]
pub struct CreateSession {
    pub prompt: String,
    pub user_id: Option<UserId>,
}

/// One session.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Session {
    #[schema(example = "ses_9f86d081884c7d659a2feaa0c55ad015")]
    pub session_id: String,
    pub user_id: String,
    /// The beginning of what it was created with; absent for a session that executions made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 80)]
    pub title: Option<String>,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub last_active_at: String,
    /// When it is gone unless it is used before.
    #[schema(format = DateTime)]
    pub expires_at: String,
    /// What has been said in it, oldest first, at most the last 100 messages and without what
    /// operations answered; absent in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<Message>>,
}

/// `GET /v1/sessions`, newest first.
#[derive(Clone, Debug)]
pub struct ListSessions {
    pub user_id: Option<UserId>,
    /// 1 to 100.
    pub limit: usize,
    pub cursor: Option<String>,
}

#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct SessionPage {
    pub sessions: Vec<Session>,
    /// `null` on the last page.
    pub next_cursor: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct DeletedSession {
    pub session_id: String,
    /// Always `true`.
    #[schema(example = true)]
    pub deleted: bool,
}

impl Gateway {
    /// Begins a session with what the user asked for, and answers it with the assistant's reply.
    /// See [`Gateway::converse`].
    pub async fn create_session(
        self: &Arc<Self>,
        caller: &Caller,
        attempt: Option<KeyedRequest>,
        request: CreateSession,
        listener: Option<Listener>,
    ) -> Result<IdempotentAnswer<Session>, Error> {
        caller.need(Scope::Sessions)?;
        caller.user(request.user_id.as_ref())?;
        messages::check_content("prompt", &request.prompt)?;
        let (gateway, owned) = (self.clone(), caller.clone());
        let work = async move { gateway.begin_session(&owned, request, listener).await };
        let longest = self.turn_settings.longest();
        self.once_within(
            caller,
            attempt,
            longest,
            work,
            messages::session_without_links,
        )
        .await
    }

    async fn begin_session(
        self: &Arc<Self>,
        caller: &Caller,
        request: CreateSession,
        listener: Option<Listener>,
    ) -> Result<Session, Error> {
        let _place = self
            .take_stored(Stored::Sessions, &caller.workspace_id, request.prompt.len())
            .await?;
        let now_ms = self.clock.now_ms();
        let row = store::SessionRow {
            workspace_id: caller.workspace_id.clone(),
            id: ids::session(CREATED.trim_end_matches('_')).into(),
            user_id: caller.user(request.user_id.as_ref())?.text(),
            prompt: Some(request.prompt.clone()),
            created_at_ms: now_ms,
            last_active_at_ms: now_ms,
        };
        self.store
            .put_session(&self.sealed_session(row.clone())?)
            .await?;
        if let Some(listener) = &listener {
            // The listener may have left; the session is there all the same.
            let _ = listener.send(TurnEvent::Session(Box::new(shown(row.clone(), None))));
        }
        let say = MessageInput::Message(request.prompt);
        let reply = self.turn(caller, &row, say, listener).await?;
        let mut session = self.read_session(caller, &row.id).await?;
        // The reply as it was made: what is kept of it holds no link.
        if let Some(last) = session.messages.as_mut().and_then(|said| said.last_mut())
            && last.message_id == reply.message_id
        {
            *last = reply;
        }
        Ok(session)
    }

    /// One session that is still there.
    pub async fn session(&self, caller: &Caller, session_id: &str) -> Result<Session, Error> {
        caller.need(Scope::Sessions)?;
        let session = self.read_session(caller, session_id).await?;
        let read = [(session_id, &*session.user_id)];
        self.record_reading(caller, AuditAction::SessionsRead, &read)
            .await?;
        Ok(session)
    }

    async fn read_session(&self, caller: &Caller, session_id: &str) -> Result<Session, Error> {
        let _ = self.receipts.flush().await;
        let found = self.find_session(caller, session_id).await?;
        let row = found
            .filter(|row| caller.acts_for(&row.user_id))
            .ok_or_else(|| unknown(session_id))?;
        let most = usize::try_from(messages::SESSION_STEPS_MAX).unwrap_or(usize::MAX);
        let steps = self
            .store
            .list_messages(&caller.workspace_id, session_id, 0, most)
            .await?;
        let mut said: Vec<Message> = steps
            .iter()
            .rev()
            .filter(|step| messages::is_said(step))
            .take(MESSAGES_SHOWN_MAX)
            .map(|step| messages::shown(&self.opened_step(step)?))
            .collect::<Result<_, _>>()?;
        said.reverse();
        Ok(shown(row, Some(said)))
    }

    /// Sessions, newest first.
    pub async fn sessions(
        &self,
        caller: &Caller,
        request: ListSessions,
    ) -> Result<SessionPage, Error> {
        caller.need(Scope::Sessions)?;
        let user_id = caller.listed_user(request.user_id)?;
        let cursor = match &request.cursor {
            None => None,
            Some(text) => Some(
                Cursor::parse(text)
                    .ok_or_else(|| Error::InvalidRequest("invalid cursor".to_owned()))?,
            ),
        };
        let _ = self.receipts.flush().await;
        let page = self
            .store
            .list_sessions(
                &caller.workspace_id,
                user_id.as_ref().map(UserId::as_str),
                cursor.as_ref(),
                request.limit,
                self.clock.now_ms(),
            )
            .await?;
        // A title is the beginning of what the user said.
        let titled = page.items.iter().filter(|row| row.prompt.is_some());
        let read: Vec<_> = titled.map(|row| (&*row.id, &*row.user_id)).collect();
        self.record_reading(caller, AuditAction::SessionsRead, &read)
            .await?;
        let listed = page.items.into_iter();
        let listed = listed.map(|row| Ok(shown(self.opened_session(row)?, None)));
        Ok(SessionPage {
            sessions: listed.collect::<Result<_, Error>>()?,
            next_cursor: page.next.map(|cursor| cursor.to_string()),
        })
    }

    /// Deletes a session and what plugins kept in it.
    pub async fn delete_session(
        &self,
        caller: &Caller,
        session_id: &str,
    ) -> Result<DeletedSession, Error> {
        if caller.confined {
            self.session(caller, session_id).await?;
        }
        caller.need(Scope::Sessions)?;
        let _ = self.receipts.flush().await;
        if !self
            .store
            .delete_session(&caller.workspace_id, session_id, self.clock.now_ms())
            .await?
        {
            return Err(unknown(session_id));
        }
        self.stored_quotas
            .deleted(Stored::Sessions, &caller.workspace_id);
        Ok(DeletedSession {
            session_id: session_id.to_owned(),
            deleted: true,
        })
    }
}

fn shown(row: store::SessionRow, messages: Option<Vec<Message>>) -> Session {
    Session {
        session_id: row.id.to_string(),
        user_id: row.user_id.to_string(),
        title: row.prompt.as_deref().and_then(title),
        created_at: rfc3339(row.created_at_ms),
        last_active_at: rfc3339(row.last_active_at_ms),
        expires_at: rfc3339(row.last_active_at_ms + SESSION_IDLE_MS),
        messages,
    }
}

/// The first line that says something, cut to [`TITLE_CHARS_MAX`].
fn title(prompt: &str) -> Option<String> {
    let line = prompt
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())?;
    Some(match line.char_indices().nth(TITLE_CHARS_MAX) {
        None => line.to_owned(),
        Some(_) => {
            let cut: String = line.chars().take(TITLE_CHARS_MAX - 1).collect();
            format!("{}…", cut.trim_end())
        }
    })
}

#[cfg(test)]
mod tests;
