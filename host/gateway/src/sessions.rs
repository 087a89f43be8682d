//! Sessions: what ties the steps of one task together. Plugins keep values in them; a session that
//! nobody has used for a day is gone with all of that.

pub mod messages;
pub(crate) mod state;

use std::sync::Arc;

use serde::Serialize;

use self::messages::{Listener, Message, MessageInput, TurnEvent};
use crate::tools::execute::checked_session_id;
use crate::tools::idempotency::{IdempotentAnswer, KeyedRequest};
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

/// What sessions that were created begin with; executions make `tool_` sessions by themselves.
const CREATED: &str = "ses_";

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
        let now_ms = self.clock.now_ms();
        let row = store::SessionRow {
            workspace_id: caller.workspace_id.clone(),
            id: ids::session(CREATED.trim_end_matches('_')).into(),
            user_id: caller.user(request.user_id.as_ref())?.text(),
            prompt: Some(request.prompt.clone()),
            created_at_ms: now_ms,
            last_active_at_ms: now_ms,
        };
        self.store.put_session(&row).await?;
        if let Some(listener) = &listener {
            // Whoever listened may have left; the session is there all the same.
            let _ = listener.send(TurnEvent::Session(Box::new(shown(row.clone(), None))));
        }
        let say = MessageInput::Message(request.prompt);
        let reply = self.turn(caller, &row, say, listener).await?;
        let mut session = self.session(caller, &row.id).await?;
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
            .map(messages::shown)
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
        Ok(SessionPage {
            sessions: page.items.into_iter().map(|row| shown(row, None)).collect(),
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
        Ok(DeletedSession {
            session_id: session_id.to_owned(),
            deleted: true,
        })
    }

    /// A session that is still there. One that only its call knows becomes a row, now that it is used.
    pub(crate) async fn find_session(
        &self,
        caller: &Caller,
        session_id: &str,
    ) -> Result<Option<store::SessionRow>, Error> {
        let (workspace_id, now_ms) = (&caller.workspace_id, self.clock.now_ms());
        let found = self.store.find_session(workspace_id, session_id, now_ms);
        if let Some(row) = found.await? {
            return Ok(Some(row));
        }
        let of_call = self
            .store
            .session_of_execution(workspace_id, session_id, now_ms);
        let Some(row) = of_call.await? else {
            return Ok(None);
        };
        self.store.keep_session(&row).await?;
        Ok(Some(row))
    }

    /// Refuses a session of another user than the run's: what plugins keep in it is that user's. It
    /// is refused like one that was never created, or is gone. Other names are the caller's own and
    /// begin with their first use, for its user; who may act for one user alone takes up only what
    /// is there.
    pub(crate) async fn check_session(
        &self,
        caller: &Caller,
        user: &UserId,
        session_id: Option<&str>,
    ) -> Result<(), Error> {
        let Some(id) = session_id else {
            return Ok(());
        };
        let now_ms = self.clock.now_ms();
        let mut found = self
            .store
            .find_session(&caller.workspace_id, id, now_ms)
            .await?;
        if found.is_none() {
            // A run that has just ended may have begun it.
            let _ = self.receipts.flush().await;
            found = self.find_session(caller, id).await?;
            if found.is_none() && !caller.confined && !id.starts_with(CREATED) {
                let begun = store::SessionRow {
                    workspace_id: caller.workspace_id.clone(),
                    id: checked_session_id(id.to_owned())?.into(),
                    user_id: user.text(),
                    prompt: None,
                    created_at_ms: now_ms,
                    last_active_at_ms: now_ms,
                };
                found = Some(self.store.open_session(&begun).await?);
            }
        }
        match found {
            Some(row) if row.user_id == user.as_str() => Ok(()),
            _ => Err(unknown(id)),
        }
    }
}

pub(crate) fn unknown(session_id: &str) -> Error {
    Error::SessionNotFound(toolgate_core::visible::shown_name(session_id))
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
mod tests {
    use super::*;
    use crate::testing::TestWorld;

    #[test]
    fn a_title_is_the_first_line_that_says_something() {
        assert_eq!(
            title("\n  \n Plan the week \nand more").as_deref(),
            Some("Plan the week")
        );
        assert_eq!(title(" \n"), None);
        let whole = "ü".repeat(TITLE_CHARS_MAX);
        assert_eq!(title(&whole), Some(whole.clone()));
        let cut = title(&format!("{whole}x")).unwrap();
        assert_eq!(cut.chars().count(), TITLE_CHARS_MAX);
        assert!(cut.ends_with('…'));
    }

    fn create(prompt: &str) -> CreateSession {
        CreateSession {
            prompt: prompt.to_owned(),
            user_id: None,
        }
    }

    async fn begin(
        world: &TestWorld,
        caller: &Caller,
        request: CreateSession,
    ) -> Result<Session, Error> {
        let made = world.create_session(caller, None, request, None).await?;
        match made {
            IdempotentAnswer::New(session) => Ok(session),
            IdempotentAnswer::Again(_) => panic!("no key was named"),
        }
    }

    #[tokio::test]
    async fn a_session_is_there_until_it_was_idle_for_a_day() {
        let world = TestWorld::open().await;
        let caller = world.caller(&[Scope::Sessions]).await;
        let made = begin(&world, &caller, create("Plan the week"))
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
        let ada = &caller.default_user;
        let used = world.check_session(&caller, ada, Some(&made.session_id));
        let used = used.await;
        assert_eq!(used.unwrap_err().code(), "session_not_found");
    }

    #[tokio::test]
    async fn sessions_are_listed_by_user_and_deleted_once() {
        let world = TestWorld::open().await;
        let caller = world.caller(&[Scope::Sessions, Scope::UsersAny]).await;
        let bob = Some(UserId::parse("bob").unwrap());
        let theirs = CreateSession {
            user_id: bob.clone(),
            ..create("B")
        };
        let first = begin(&world, &caller, create("A")).await.unwrap();
        world.clock.advance_ms(1);
        let second = begin(&world, &caller, theirs).await.unwrap();
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
        let world = TestWorld::open().await;
        let caller = world.caller(&[Scope::Sessions]).await;
        let most = "\u{1f980}".repeat(PROMPT_CHARS_MAX);
        let made = begin(&world, &caller, create(&most)).await.unwrap();
        for bad in ["", " ", "a\0", &format!("{most}x")] {
            let refused = begin(&world, &caller, create(bad)).await;
            assert_eq!(refused.unwrap_err().code(), "invalid_request");
        }
        let stranger = world.stranger(&[Scope::Admin]).await;
        let id = &made.session_id;
        let user = &stranger.default_user;
        for refused in [
            world.session(&stranger, id).await.map(drop),
            world.delete_session(&stranger, id).await.map(drop),
            world.check_session(&stranger, user, Some(id)).await,
            world
                .check_session(&stranger, user, Some("ses_unknown"))
                .await,
        ] {
            assert_eq!(refused.unwrap_err().code(), "session_not_found");
        }
        for own in [None, Some("tool_1"), Some("my-own")] {
            assert!(world.check_session(&stranger, user, own).await.is_ok());
        }
        let other = world.caller(&[Scope::ToolsExecute]).await;
        let refused = begin(&world, &other, create("A")).await;
        assert_eq!(refused.unwrap_err().code(), "scope_denied");
    }

    #[tokio::test]
    async fn who_acts_for_one_user_alone_runs_in_that_users_sessions_alone() {
        let world = TestWorld::open().await;
        let caller = world.caller(&[Scope::Sessions, Scope::UsersAny]).await;
        let bob = UserId::parse("bob").unwrap();
        let confined = caller.confined_to(bob.clone());
        let theirs = begin(&world, &caller, create("A")).await.unwrap();
        let own = CreateSession {
            user_id: Some(bob),
            ..create("B")
        };
        let own = begin(&world, &confined, own).await.unwrap();
        // One that an execution has begun.
        let begun = |id: &str, user_id: &str| store::SessionRow {
            workspace_id: caller.workspace_id.clone(),
            id: id.into(),
            user_id: user_id.into(),
            prompt: None,
            created_at_ms: crate::testing::NOW_MS,
            last_active_at_ms: crate::testing::NOW_MS,
        };
        for (id, user) in [("tool_1", "ada"), ("tool_2", "bob")] {
            world.store().put_session(&begun(id, user)).await.unwrap();
        }
        let (ada, bob) = (&caller.default_user, &confined.default_user);
        let check = async |caller: &Caller, user: &UserId, id: &str| {
            let checked = world.check_session(caller, user, Some(id)).await;
            checked.map_err(|refused| refused.code())
        };
        for id in [own.session_id.as_str(), "tool_2"] {
            assert_eq!(check(&confined, bob, id).await, Ok(()), "{id}");
            assert_eq!(check(&caller, bob, id).await, Ok(()), "{id}");
            // A key acts for everybody, and for one of them at a time.
            let refused = check(&caller, ada, id).await;
            assert_eq!(refused, Err("session_not_found"), "{id}");
        }
        assert!(world.check_session(&confined, bob, None).await.is_ok());
        for id in [theirs.session_id.as_str(), "tool_1", "nobodys"] {
            let refused = check(&confined, bob, id).await;
            assert_eq!(refused, Err("session_not_found"), "{id}");
            assert_eq!(check(&caller, ada, id).await, Ok(()), "{id}");
        }
        let odd = check(&caller, ada, "no name").await;
        assert_eq!(odd, Err("invalid_request"));
    }
}
