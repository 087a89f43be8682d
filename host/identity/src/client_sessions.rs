//! Sessions of clients that speak a session protocol, served by any process.
//!
//! What a session is travels with the client: its id is a sealed box that holds what the client said when it
//! began, bound to the key or client that opened it, to the user and to the address where it was opened. The database
//! only knows which sessions are open; a process asks again after any of them has ended ([`Topic::ClientSessions`]), so that one that
//! was ended through another process is gone on its next request. Messages that reach the wrong process go
//! to the right one through the same table.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::{Caller, Error, Identity};
use toolgate_core::ids;
use toolgate_store::{ClientSessionMessage, Topic};
use toolgate_vault::{SealContext, Secret, VaultError};

/// Sessions that one key, or one client of a member, may have open, in all processes together. One more ends the one that was
/// used longest ago.
pub const CLIENT_SESSIONS_PER_KEY_MAX: usize = 1_000;
/// A session that nothing was asked of for this long is over.
pub const CLIENT_SESSION_IDLE_MS: i64 = 24 * 60 * 60 * 1_000;
/// A session is over this long after it was opened, however much it is used: its id is a bearer of what was
/// once said.
pub const CLIENT_SESSION_LIFE_MS: i64 = 30 * 24 * 60 * 60 * 1_000;
/// What a client said when it began, in bytes of text: with it the id stays below 2 KiB, which balancers pass
/// in a header.
pub const HANDSHAKE_BYTES_MAX: usize = 1_024;
/// A message of a client that is handed on to another process, in bytes.
pub const HANDED_ON_BYTES_MAX: usize = 64 * 1_024;

/// What the names of processes begin with.
pub const PROCESS_PREFIX: &str = "prc_";

/// Messages are looked for this far back: as far as the clocks of two machines may differ, and then some.
const MESSAGES_SINCE_MS: i64 = 30_000;
/// They are deleted after this long.
const MESSAGES_KEPT_MS: i64 = 60_000;
/// Messages that are read at once.
const MESSAGES_AT_ONCE: i64 = 10_000;
/// Sessions that are known to be open without asking, in one process.
const KNOWN_MAX: usize = 50_000;

/// A session of the caller that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSession {
    /// `mcs_<ULID>`.
    pub id: String,
    /// What the client said when it began, as the edge wrote it.
    pub handshake: String,
}

/// A session that was opened just now.
#[derive(Clone, Debug)]
pub struct OpenedClientSession {
    pub id: String,
    /// What the client names the session by.
    pub sealed: String,
}

/// What a process is told about a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEvents {
    Ended,
    /// A message of the client.
    Message(String),
}

/// How far a process has read what it is told.
#[derive(Debug, Default)]
pub struct EventCursor {
    at: i64,
    seen: HashSet<String>,
}

/// What is in the box.
#[derive(Serialize, Deserialize)]
struct SealedSession {
    #[serde(rename = "i")]
    id: String,
    #[serde(rename = "e")]
    ends_at_ms: i64,
    #[serde(rename = "h")]
    handshake: String,
}

/// What this process knows about sessions.
pub(crate) struct ClientSessions {
    /// Names this process among those of the database.
    process: String,
    open: Mutex<OpenSessions>,
    /// When sessions were used last, until that is written.
    used: Mutex<HashMap<String, i64>>,
}

#[derive(Default)]
struct OpenSessions {
    at: i64,
    ids: HashSet<String>,
}

impl Default for ClientSessions {
    fn default() -> Self {
        Self {
            process: ids::ulid("prc"),
            open: Mutex::default(),
            used: Mutex::default(),
        }
    }
}

impl ClientSessions {
    fn is_known(&self, at: i64, id: &str) -> bool {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.at != at {
            open.ids.clear();
            open.at = at;
        }
        open.ids.contains(id)
    }

    fn remember(&self, at: i64, id: &str) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.at == at && open.ids.len() < KNOWN_MAX {
            open.ids.insert(id.to_owned());
        }
    }

    fn forget(&self, id: &str) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.ids.remove(id);
    }

    fn note_use(&self, id: &str, now_ms: i64) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        match used.get_mut(id) {
            Some(at_ms) => *at_ms = now_ms,
            None => {
                used.insert(id.to_owned(), now_ms);
            }
        }
    }

    /// The sessions that were used since this was last asked, and when.
    fn take_uses(&self) -> Vec<(String, i64)> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.drain().collect()
    }
}

impl Identity {
    /// Opens a session for the caller at the address `endpoint`. Beyond [`CLIENT_SESSIONS_PER_KEY_MAX`] the
    /// one that was used longest ago ends.
    ///
    /// # Errors
    /// `invalid_request` for a handshake of more than [`HANDSHAKE_BYTES_MAX`].
    pub async fn open_client_session(
        &self,
        caller: &Caller,
        endpoint: &str,
        handshake: String,
    ) -> Result<OpenedClientSession, Error> {
        if handshake.len() > HANDSHAKE_BYTES_MAX {
            return Err(Error::InvalidRequest(
                "what the client says of itself is too long".to_owned(),
            ));
        }
        let now_ms = self.clock.now_ms();
        let session = SealedSession {
            id: ids::ulid_at("mcs", now_ms),
            ends_at_ms: now_ms + CLIENT_SESSION_LIFE_MS,
            handshake,
        };
        let text =
            serde_json::to_string(&session).map_err(|cause| Error::Internal(cause.into()))?;
        let owner = caller.session_owner();
        let sealed = self
            .vault
            .seal(&place(caller, &owner, endpoint), &Secret::new(text));
        let sealed = sealed.map_err(|cause| Error::Internal(cause.into()))?;
        let (id, key_id) = (session.id, &*owner);
        let kept = i64::try_from(CLIENT_SESSIONS_PER_KEY_MAX).unwrap_or(i64::MAX);
        if self.store.open_client_session(&id, key_id, now_ms).await? > kept {
            self.write_client_session_uses().await?;
            for oldest in self.store.oldest_client_sessions(key_id, kept).await? {
                self.end_session_of_client(&oldest).await?;
            }
        }
        Ok(OpenedClientSession { id, sealed })
    }

    /// The session that the client names, if it is open, the caller's and was opened at `endpoint`. ConnectRequest
    /// is a use of it.
    pub async fn client_session(
        &self,
        caller: &Caller,
        endpoint: &str,
        sealed: &str,
    ) -> Result<Option<ClientSession>, Error> {
        let owner = caller.session_owner();
        let opened = match self.vault.unseal(&place(caller, &owner, endpoint), sealed) {
            Ok(opened) => opened,
            Err(VaultError::Sealed(_) | VaultError::UnknownKey(_)) => return Ok(None),
            Err(cause) => return Err(Error::Internal(cause.into())),
        };
        let session: SealedSession =
            serde_json::from_str(opened.expose()).map_err(|cause| Error::Internal(cause.into()))?;
        let (id, now_ms) = (session.id, self.clock.now_ms());
        if session.ends_at_ms <= now_ms {
            return Ok(None);
        }
        let at = caller.changes.get(Topic::ClientSessions);
        if !self.client_sessions.is_known(at, &id) {
            let since_ms = now_ms - CLIENT_SESSION_IDLE_MS;
            if !self.store.is_client_session_open(&id, since_ms).await? {
                return Ok(None);
            }
            self.client_sessions.remember(at, &id);
        }
        self.client_sessions.note_use(&id, now_ms);
        let handshake = session.handshake;
        Ok(Some(ClientSession { id, handshake }))
    }

    /// Ends a session in all processes.
    pub async fn end_client_session(&self, session: &ClientSession) -> Result<(), Error> {
        self.end_session_of_client(&session.id).await
    }

    async fn end_session_of_client(&self, id: &str) -> Result<(), Error> {
        let told = self.session_message(id, None, None);
        self.client_sessions.forget(id);
        self.store
            .end_client_session(&told, told.sent_at_ms - MESSAGES_KEPT_MS)
            .await?;
        Ok(())
    }

    /// Hands a message of the client on to the process with this name, or to all others. One that is longer
    /// than [`HANDED_ON_BYTES_MAX`] is not handed on.
    pub async fn forward_client_message(
        &self,
        session_id: &str,
        to_process: Option<&str>,
        message: String,
    ) -> Result<(), Error> {
        if message.len() > HANDED_ON_BYTES_MAX {
            return Ok(());
        }
        let message = self.session_message(session_id, to_process, Some(message));
        self.store
            .post_client_session_message(&message, message.sent_at_ms - MESSAGES_KEPT_MS)
            .await?;
        Ok(())
    }

    /// What other processes have said of sessions since `mark`. Asks the database nothing while no process
    /// has said anything.
    pub async fn read_session_events(
        &self,
        mark: &mut EventCursor,
    ) -> Result<Vec<(String, SessionEvents)>, Error> {
        let at = self.store.changes().await?.get(Topic::ClientSessions);
        if at == mark.at {
            return Ok(Vec::new());
        }
        let since_ms = self.clock.now_ms() - MESSAGES_SINCE_MS;
        let messages = self
            .store
            .client_session_messages(since_ms, MESSAGES_AT_ONCE)
            .await?;
        mark.at = at;
        let seen = std::mem::take(&mut mark.seen);
        mark.seen = messages.iter().map(|message| message.id.clone()).collect();
        let process = &self.client_sessions.process;
        let news = messages.into_iter().rev().filter(|message| {
            let to_us = message.to_process.as_ref().is_none_or(|to| to == process);
            to_us && message.from_process != *process && !seen.contains(&message.id)
        });
        let news = news.map(|message| {
            let news = message
                .message
                .map_or(SessionEvents::Ended, SessionEvents::Message);
            (message.session_id, news)
        });
        Ok(news.collect())
    }

    /// Names this process to the others.
    pub fn process_name(&self) -> &str {
        &self.client_sessions.process
    }

    /// Writes when sessions were used.
    pub async fn write_client_session_uses(&self) -> Result<(), Error> {
        let used = self.client_sessions.take_uses();
        if !used.is_empty() {
            self.store.touch_client_sessions(&used).await?;
        }
        Ok(())
    }

    fn session_message(
        &self,
        session_id: &str,
        to_process: Option<&str>,
        message: Option<String>,
    ) -> ClientSessionMessage {
        let sent_at_ms = self.clock.now_ms();
        ClientSessionMessage {
            id: ids::ulid_at("msg", sent_at_ms),
            session_id: session_id.to_owned(),
            message,
            from_process: self.client_sessions.process.clone(),
            to_process: to_process.map(str::to_owned),
            sent_at_ms,
        }
    }
}

/// A session id opens for the key or client, and the user, for whom it was sealed, and at the address where
/// it was opened.
fn place<'a>(caller: &'a Caller, owner: &'a str, endpoint: &'a str) -> SealContext<'a> {
    SealContext {
        kind: "client_session",
        workspace_id: &caller.workspace_id,
        user_id: caller.default_user.as_str(),
        service: endpoint,
        id: owner,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scope;
    use crate::testing::IdentityWorld;

    const AT: &str = "/mcp";
    const SAID: &str = r#"{"protocolVersion":"2025-11-25"}"#;

    async fn open(world: &IdentityWorld, caller: &Caller) -> String {
        let opened = world.open_client_session(caller, AT, SAID.to_owned()).await;
        opened.unwrap().sealed
    }

    async fn is_open(world: &IdentityWorld, caller: &Caller, sealed: &str) -> bool {
        let caller = world.again(caller).await;
        let found = world.client_session(&caller, AT, sealed).await.unwrap();
        found.is_some_and(|found| found.handshake == SAID)
    }

    #[tokio::test]
    async fn a_session_is_the_callers_alone_until_it_is_ended_or_idle_for_a_day() {
        let world = IdentityWorld::open().await;
        let ours = world.caller(&[Scope::ToolsRead]).await;
        let other = world.caller(&[Scope::ToolsRead]).await;
        let sealed = open(&world, &ours).await;
        assert!(sealed.len() < 1_024, "{}", sealed.len());
        assert!(is_open(&world, &ours, &sealed).await);
        assert!(!is_open(&world, &other, &sealed).await);
        let mut forged = sealed.clone();
        forged.replace_range(forged.len() - 8.., "AAAAAAAA");
        for text in ["", "mcs_1", &forged] {
            assert!(!is_open(&world, &ours, text).await, "{text}");
        }

        for elsewhere in ["", "/mcp/key", "/mcp/t/support"] {
            let found = world.client_session(&ours, elsewhere, &sealed).await;
            assert_eq!(found.unwrap(), None, "{elsewhere}");
        }

        let found = world.client_session(&ours, AT, &sealed).await;
        let found = found.unwrap().unwrap();
        world.end_client_session(&found).await.unwrap();
        assert!(!is_open(&world, &ours, &sealed).await);

        let sealed = open(&world, &ours).await;
        world.clock.advance_ms(CLIENT_SESSION_IDLE_MS - 1);
        assert!(is_open(&world, &ours, &sealed).await);
        world.write_client_session_uses().await.unwrap();
        world.clock.advance_ms(CLIENT_SESSION_IDLE_MS + 1);
        let before_ms = world.clock.now_ms() - CLIENT_SESSION_IDLE_MS;
        let store = world.store();
        store.purge_client_sessions(before_ms).await.unwrap();
        assert!(!is_open(&world, &ours, &sealed).await);
    }

    #[tokio::test]
    async fn a_session_that_is_used_every_day_ends_after_its_life() {
        let world = IdentityWorld::open().await;
        let ours = world.caller(&[Scope::ToolsRead]).await;
        let sealed = open(&world, &ours).await;
        let days = CLIENT_SESSION_LIFE_MS / CLIENT_SESSION_IDLE_MS;
        for day in 1..=days {
            assert!(is_open(&world, &ours, &sealed).await, "day {day}");
            world.write_client_session_uses().await.unwrap();
            world.clock.advance_ms(CLIENT_SESSION_IDLE_MS);
        }
        assert!(!is_open(&world, &ours, &sealed).await);
    }

    #[tokio::test]
    async fn any_process_takes_a_session_and_hears_of_its_end() {
        let world = IdentityWorld::open().await;
        let sibling = world.sibling(world.clock.clone()).await;
        let ours = world.caller(&[Scope::ToolsRead]).await;
        let sealed = open(&world, &ours).await;
        let key = world.key_of(&ours);
        let there = async || {
            let caller = sibling
                .authenticate(Some(&key), ids::ulid("req"), None)
                .await;
            let found = sibling.client_session(&caller.unwrap(), AT, &sealed).await;
            found.unwrap()
        };
        let found = there().await.expect("open there");
        assert_eq!(found.handshake, SAID);
        let mut mark = EventCursor::default();
        world.read_session_events(&mut mark).await.unwrap();
        sibling.end_client_session(&found).await.unwrap();
        assert!(!is_open(&world, &ours, &sealed).await);
        assert!(there().await.is_none());
        let news = world.read_session_events(&mut mark).await.unwrap();
        assert_eq!(news, [(found.id, SessionEvents::Ended)]);
    }

    #[tokio::test]
    async fn the_bound_of_a_key_holds_for_all_processes() {
        let world = IdentityWorld::open().await;
        let sibling = world.sibling(world.clock.clone()).await;
        let ours = world.caller(&[Scope::ToolsRead]).await;
        let mut opened = Vec::new();
        for n in 0..CLIENT_SESSIONS_PER_KEY_MAX {
            world.clock.advance_ms(1);
            let process = if n % 2 == 0 {
                &world.identity
            } else {
                &sibling
            };
            let session = process
                .open_client_session(&ours, AT, SAID.to_owned())
                .await;
            opened.push(session.unwrap().sealed);
        }
        assert!(
            is_open(&world, &ours, &opened[0]).await,
            "opened first, used last"
        );
        world.clock.advance_ms(1);
        let last = open(&world, &ours).await;
        assert!(
            !is_open(&world, &ours, &opened[1]).await,
            "used longest ago"
        );
        for still in [&opened[0], &opened[2], &last] {
            assert!(is_open(&world, &ours, still).await);
        }
    }

    #[tokio::test]
    async fn what_one_process_says_another_hears_once() {
        let world = IdentityWorld::open().await;
        let sibling = world.sibling(world.clock.clone()).await;
        let (mut mark, mut of_sibling) = (EventCursor::default(), EventCursor::default());
        let here = world.process_name().to_owned();
        for (text, to) in [("0", Some(&*here)), ("1", Some("prc_other")), ("2", None)] {
            let said = sibling.forward_client_message("mcs_1", to, text.to_owned());
            said.await.unwrap();
        }
        let mut news = world.read_session_events(&mut mark).await.unwrap();
        news.sort_by_key(|(_, news)| format!("{news:?}"));
        let told = |text: &str| ("mcs_1".to_owned(), SessionEvents::Message(text.to_owned()));
        assert_eq!(news, [told("0"), told("2")]);
        // Its own words are not news.
        let news = sibling.read_session_events(&mut of_sibling).await.unwrap();
        assert!(news.is_empty(), "{news:?}");
        let more = sibling.forward_client_message("mcs_1", None, "3".to_owned());
        more.await.unwrap();
        let news = world.read_session_events(&mut mark).await.unwrap();
        assert_eq!(news, [told("3")]);
    }
}
