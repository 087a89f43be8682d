//! Protocol sessions: whose they are, how many there may be, and which requests they are at.
//!
//! A session id is no credential: every request is authenticated by its key. [`Sessions`] adds that a
//! session answers to the key that opened it and to no other (to others it does not exist), and that
//! neither one key nor all of them fill the memory: past a bound the session that was used longest ago
//! is closed. It stands between the transport and the library's sessions, so that a session has an
//! owner from the moment it exists until the moment it does not, however either comes about.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{
    RestoreOutcome, ServerSseMessage, SessionId,
};

/// Sessions that one key may have open.
pub const SESSIONS_PER_KEY_MAX: usize = 1_000;

/// Sessions that all keys may have open in one process.
pub const SESSIONS_MAX: usize = 5_000;

/// A session that nothing was asked of for this long is closed.
pub const SESSION_IDLE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

tokio::task_local! {
    /// Id of the key whose request is being answered: who owns a session that it opens.
    static OPENED_BY: String;
}

/// The sessions opened through this process.
#[derive(Debug)]
pub struct Sessions {
    inner: LocalSessionManager,
    owners: Mutex<SessionOwners>,
}

impl Sessions {
    pub fn open() -> Self {
        let mut inner = LocalSessionManager::default();
        inner.session_config.keep_alive = Some(SESSION_IDLE_MAX);
        Self {
            inner,
            owners: Mutex::new(SessionOwners::new(SESSIONS_PER_KEY_MAX, SESSIONS_MAX)),
        }
    }

    /// Runs `answering`; a session that it opens belongs to `key_id`.
    pub async fn on_behalf_of<F: Future>(&self, key_id: &str, answering: F) -> F::Output {
        OPENED_BY.scope(key_id.to_owned(), answering).await
    }

    /// Whether `session_id` is open and was opened with `key_id`. Asking is a use of it.
    pub fn owns(&self, key_id: &str, session_id: &str) -> bool {
        self.owners().uses(key_id, session_id)
    }

    /// Sessions that are open.
    #[cfg(test)]
    fn open_sessions(&self) -> usize {
        self.owners().key_of.len()
    }

    fn owners(&self) -> MutexGuard<'_, SessionOwners> {
        // Every step leaves the table whole, so a panic elsewhere spoils nothing.
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type LocalSessions = LocalSessionManager;

impl SessionManager for Sessions {
    type Error = <LocalSessions as SessionManager>::Error;
    type Transport = <LocalSessions as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let key_id = OPENED_BY.try_with(String::clone).unwrap_or_default();
        // Evict before creating: no await may separate the new session from the entry of its owner.
        loop {
            let oldest = self.owners().take_out_for(&key_id);
            let Some(oldest) = oldest else { break };
            if let Err(problem) = self.inner.close_session(&oldest.into()).await {
                tracing::warn!(error = %problem, "mcp.session.close_failed");
            }
        }
        let (id, transport) = self.inner.create_session().await?;
        self.owners().add(&key_id, &id);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.inner.has_session(id).await
    }

    /// Asked by a client that ends its session, and by the session itself however it ended.
    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.owners().remove(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        SessionManager::create_stream(&self.inner, id, message).await
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        SessionManager::create_standalone_stream(&self.inner, id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        SessionManager::resume(&self.inner, id, last_event_id).await
    }

    async fn restore_session(
        &self,
        _id: SessionId,
    ) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        // A session that is not in the table has no owner.
        Ok(RestoreOutcome::NotSupported)
    }
}

/// Whose session is whose, and when each was used.
#[derive(Debug)]
struct SessionOwners {
    per_key_max: usize,
    all_max: usize,
    uses: u64,
    /// Session id to key id.
    key_of: HashMap<String, String>,
    /// Key id to its sessions and their last use, as a number that grows.
    used_by: HashMap<String, HashMap<String, u64>>,
}

impl SessionOwners {
    fn new(per_key_max: usize, all_max: usize) -> Self {
        Self {
            per_key_max,
            all_max,
            uses: 0,
            key_of: HashMap::new(),
            used_by: HashMap::new(),
        }
    }

    fn uses(&mut self, key_id: &str, session_id: &str) -> bool {
        let sessions = self.used_by.get_mut(key_id);
        let Some(used) = sessions.and_then(|sessions| sessions.get_mut(session_id)) else {
            return false;
        };
        self.uses += 1;
        *used = self.uses;
        true
    }

    /// Takes out the session that has to be closed before `key_id` may open one more: its own, or one
    /// of the key that has the most.
    fn take_out_for(&mut self, key_id: &str) -> Option<String> {
        let own = self.used_by.get(key_id).map_or(0, HashMap::len);
        let whose = if own >= self.per_key_max {
            key_id.to_owned()
        } else if self.key_of.len() >= self.all_max {
            let most = self
                .used_by
                .iter()
                .max_by_key(|(_, sessions)| sessions.len());
            most?.0.clone()
        } else {
            return None;
        };
        let sessions = self.used_by.get(&whose)?;
        let oldest = sessions.iter().min_by_key(|(_, used)| **used)?.0.clone();
        self.remove(&oldest);
        Some(oldest)
    }

    fn add(&mut self, key_id: &str, session_id: &str) {
        self.uses += 1;
        let sessions = self.used_by.entry(key_id.to_owned()).or_default();
        sessions.insert(session_id.to_owned(), self.uses);
        self.key_of.insert(session_id.to_owned(), key_id.to_owned());
    }

    fn remove(&mut self, session_id: &str) {
        let Some(key_id) = self.key_of.remove(session_id) else {
            return;
        };
        if let Some(sessions) = self.used_by.get_mut(&key_id) {
            sessions.remove(session_id);
            if sessions.is_empty() {
                self.used_by.remove(&key_id);
            }
        }
    }
}

/// The requests that sessions are at, by JSON-RPC id: answers are matched by it, so that a second
/// request under the same id could only take the answer of the first.
#[derive(Debug, Default)]
pub struct Requests(Mutex<HashSet<(String, String)>>);

/// One request, until its handler has ended and its answer has left.
#[derive(Debug)]
pub struct RequestGuard {
    requests: Arc<Requests>,
    at: (String, String),
}

impl Requests {
    /// `None`: the session is at a request with this id.
    pub fn begin(self: &Arc<Self>, session_id: &str, id: &str) -> Option<RequestGuard> {
        let at = (session_id.to_owned(), id.to_owned());
        let mut begun = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        begun.insert(at.clone()).then(|| RequestGuard {
            requests: self.clone(),
            at,
        })
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        let mut begun = self
            .requests
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        begun.remove(&self.at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn open(sessions: &Sessions, key_id: &str) -> SessionId {
        let opening = sessions.on_behalf_of(key_id, sessions.create_session());
        opening.await.expect("a session").0
    }

    #[tokio::test]
    async fn a_session_answers_to_its_own_key_until_it_is_closed() {
        let sessions = Sessions::open();
        let id = open(&sessions, "key_a").await;
        assert!(sessions.owns("key_a", &id));
        assert!(!sessions.owns("key_b", &id));
        assert!(!sessions.owns("key_a", "another"));
        sessions.close_session(&id).await.expect("closed");
        assert!(!sessions.owns("key_a", &id));
        assert_eq!(sessions.open_sessions(), 0);
    }

    #[test]
    fn a_key_at_its_bound_loses_the_session_that_it_used_longest_ago() {
        let mut owners = SessionOwners::new(3, 100);
        for id in ["s0", "s1", "s2"] {
            assert_eq!(owners.take_out_for("key_a"), None);
            owners.add("key_a", id);
        }
        assert!(owners.uses("key_a", "s0"), "opened first, used last");
        assert_eq!(
            owners.take_out_for("key_b"),
            None,
            "another key has its own"
        );
        assert_eq!(owners.take_out_for("key_a"), Some("s1".to_owned()));
        assert_eq!(owners.take_out_for("key_a"), None, "one was enough");
        owners.add("key_a", "s3");
        assert!(owners.uses("key_a", "s0") && !owners.uses("key_a", "s1"));
    }

    #[test]
    fn at_the_bound_of_all_the_key_with_the_most_gives_way() {
        let mut owners = SessionOwners::new(10, 5);
        for id in ["a0", "a1", "a2", "a3"] {
            owners.add("key_a", id);
        }
        owners.add("key_b", "b0");
        assert_eq!(owners.take_out_for("key_b"), Some("a0".to_owned()));
        owners.add("key_b", "b1");
        assert_eq!(owners.take_out_for("key_c"), Some("a1".to_owned()));
        assert_eq!(owners.key_of.len(), 4);
    }

    #[test]
    fn an_id_is_free_again_once_its_request_is_over() {
        let requests = Arc::new(Requests::default());
        let first = requests.begin("s", "7").expect("free");
        assert!(requests.begin("s", "7").is_none());
        assert!(
            requests.begin("s", "\"7\"").is_some(),
            "a text is another id"
        );
        assert!(requests.begin("other", "7").is_some());
        drop(first);
        assert!(requests.begin("s", "7").is_some());
        assert!(requests.0.lock().expect("whole").is_empty());
    }
}
