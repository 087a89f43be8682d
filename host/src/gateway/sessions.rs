//! Sessions: what ties the steps of one task together. Plugins keep values in them; a session that
//! nobody has used for a day is gone with all of that.

use serde::Serialize;

use super::{Caller, Error, Gateway, Scope};
use crate::clock::rfc3339;
use crate::ids::{self, UserId};
use crate::store::{self, Cursor, SESSION_IDLE_MS};

pub const PROMPT_CHARS_MAX: usize = 100_000;
pub const LIST_LIMIT_MAX: usize = 100;

/// What sessions that were created begin with; executions make `tool_` sessions by themselves.
const CREATED: &str = "ses_";

/// `POST /v1/sessions`.
#[derive(Clone, Debug)]
pub struct CreateSession {
    pub prompt: String,
    pub user_id: Option<UserId>,
}

/// One session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Session {
    #[schema(example = "ses_9f86d081884c7d659a2feaa0c55ad015")]
    pub session_id: String,
    pub user_id: String,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub last_active_at: String,
    /// When it is gone unless it is used before.
    #[schema(format = DateTime)]
    pub expires_at: String,
    /// What has been said in it, oldest first; absent in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<SessionMessage>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct SessionMessage {
    /// `user`.
    #[schema(example = "user")]
    pub role: &'static str,
    pub content: String,
    #[schema(format = DateTime)]
    pub created_at: String,
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
    /// Begins a session with what the user asked for.
    pub async fn create_session(
        &self,
        caller: &Caller,
        request: CreateSession,
    ) -> Result<Session, Error> {
        caller.need(Scope::Sessions)?;
        let chars = request.prompt.chars().count();
        let unprintable = |c: char| c.is_control() && !"\n\r\t".contains(c);
        if request.prompt.trim().is_empty()
            || chars > PROMPT_CHARS_MAX
            || request.prompt.contains(unprintable)
        {
            return Err(Error::InvalidRequest(format!(
                "prompt must have 1 to {PROMPT_CHARS_MAX} characters and no control characters"
            )));
        }
        let now_ms = self.clock.now_ms();
        let row = store::Session {
            workspace_id: caller.workspace_id.clone(),
            id: ids::session(CREATED.trim_end_matches('_')),
            user_id: caller.user(request.user_id.as_ref())?.to_string(),
            prompt: Some(request.prompt),
            created_at_ms: now_ms,
            last_active_at_ms: now_ms,
        };
        self.store.put_session(&row).await?;
        Ok(shown(row, true))
    }

    /// One session that is still there.
    pub async fn session(&self, caller: &Caller, session_id: &str) -> Result<Session, Error> {
        caller.need(Scope::Sessions)?;
        let _ = self.receipts.flush().await;
        let found = self
            .store
            .find_session(&caller.workspace_id, session_id, self.clock.now_ms())
            .await?;
        found
            .filter(|row| caller.acts_for(&row.user_id))
            .map(|row| shown(row, true))
            .ok_or_else(|| unknown(session_id))
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
            Some(text) => Some(Cursor::parse(text).ok_or_else(|| {
                Error::InvalidRequest("cursor is none that a page handed out".to_owned())
            })?),
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
        Ok(SessionPage {
            sessions: page
                .items
                .into_iter()
                .map(|row| shown(row, false))
                .collect(),
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
            .delete_session(&caller.workspace_id, session_id)
            .await?
        {
            return Err(unknown(session_id));
        }
        Ok(DeletedSession {
            session_id: session_id.to_owned(),
            deleted: true,
        })
    }

    /// Refuses a session that was never created, or is gone. Other names are the caller's own
    /// and begin to be with their first use.
    pub(super) async fn check_session(
        &self,
        caller: &Caller,
        session_id: Option<&str>,
    ) -> Result<(), Error> {
        let Some(created) = session_id.filter(|id| id.starts_with(CREATED)) else {
            return Ok(());
        };
        let now_ms = self.clock.now_ms();
        let found = self
            .store
            .find_session(&caller.workspace_id, created, now_ms);
        match found.await? {
            Some(_) => Ok(()),
            None => Err(unknown(created)),
        }
    }
}

fn unknown(session_id: &str) -> Error {
    Error::SessionNotFound(super::find::shown_name(session_id))
}

fn shown(row: store::Session, in_full: bool) -> Session {
    let created_at = rfc3339(row.created_at_ms);
    let messages = in_full.then(|| {
        let said = row.prompt.map(|content| SessionMessage {
            role: "user",
            content,
            created_at: created_at.clone(),
        });
        said.into_iter().collect()
    });
    Session {
        session_id: row.id,
        user_id: row.user_id,
        created_at,
        last_active_at: rfc3339(row.last_active_at_ms),
        expires_at: rfc3339(row.last_active_at_ms + SESSION_IDLE_MS),
        messages,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::testing::World;

    fn create(prompt: &str) -> CreateSession {
        CreateSession {
            prompt: prompt.to_owned(),
            user_id: None,
        }
    }

    #[tokio::test]
    async fn a_session_is_there_until_it_was_idle_for_a_day() {
        let world = World::open().await;
        let caller = world.caller(&[Scope::Sessions]).await;
        let made = world
            .create_session(&caller, create("Plan the week"))
            .await
            .unwrap();
        assert!(made.session_id.starts_with("ses_") && made.session_id.len() == 36);
        assert_eq!(made.messages.as_ref().unwrap()[0].content, "Plan the week");
        world.clock.advance_ms(SESSION_IDLE_MS - 1);
        assert_eq!(
            world.session(&caller, &made.session_id).await.unwrap(),
            made
        );
        world.clock.advance_ms(1);
        let gone = world.session(&caller, &made.session_id).await.unwrap_err();
        assert_eq!(gone.code(), "session_not_found");
        let used = world.check_session(&caller, Some(&made.session_id)).await;
        assert_eq!(used.unwrap_err().code(), "session_not_found");
    }

    #[tokio::test]
    async fn sessions_are_listed_by_user_and_deleted_once() {
        let world = World::open().await;
        let caller = world.caller(&[Scope::Sessions]).await;
        let bob = Some(UserId::parse("bob").unwrap());
        let theirs = CreateSession {
            user_id: bob.clone(),
            ..create("B")
        };
        let first = world.create_session(&caller, create("A")).await.unwrap();
        world.clock.advance_ms(1);
        let second = world.create_session(&caller, theirs).await.unwrap();
        let list = |user_id, limit, cursor| ListSessions {
            user_id,
            limit,
            cursor,
        };
        let page = world.sessions(&caller, list(None, 1, None)).await.unwrap();
        assert_eq!(page.sessions[0].session_id, second.session_id);
        assert_eq!(page.sessions[0].messages, None);
        let page = world
            .sessions(&caller, list(None, 1, page.next_cursor))
            .await
            .unwrap();
        assert_eq!(page.sessions[0].session_id, first.session_id);
        assert_eq!(page.next_cursor, None);
        let page = world.sessions(&caller, list(bob, 20, None)).await.unwrap();
        assert_eq!(page.sessions.len(), 1);
        assert!(
            world
                .delete_session(&caller, &first.session_id)
                .await
                .unwrap()
                .deleted
        );
        let twice = world.delete_session(&caller, &first.session_id).await;
        assert_eq!(twice.unwrap_err().code(), "session_not_found");
    }

    #[tokio::test]
    async fn prompts_are_bounded_and_sessions_stay_in_their_workspace() {
        let world = World::open().await;
        let caller = world.caller(&[Scope::Sessions]).await;
        let most = "\u{1f980}".repeat(PROMPT_CHARS_MAX);
        let made = world.create_session(&caller, create(&most)).await.unwrap();
        for bad in ["", " ", "a\0", &format!("{most}x")] {
            let refused = world.create_session(&caller, create(bad)).await;
            assert_eq!(refused.unwrap_err().code(), "invalid_request");
        }
        let stranger = world.stranger(&[Scope::Admin]).await;
        let id = &made.session_id;
        for refused in [
            world.session(&stranger, id).await.map(drop),
            world.delete_session(&stranger, id).await.map(drop),
            world.check_session(&stranger, Some(id)).await,
            world.check_session(&stranger, Some("ses_unknown")).await,
        ] {
            assert_eq!(refused.unwrap_err().code(), "session_not_found");
        }
        for own in [None, Some("tool_1"), Some("my-own")] {
            assert!(world.check_session(&stranger, own).await.is_ok());
        }
        let other = world.caller(&[Scope::ToolsExecute]).await;
        let refused = world.create_session(&other, create("A")).await;
        assert_eq!(refused.unwrap_err().code(), "scope_denied");
    }
}
