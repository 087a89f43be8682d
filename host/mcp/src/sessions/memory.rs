//! Which sessions are in this process's memory, and when each was used.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rmcp::transport::streamable_http_server::session::SessionId;

/// The sessions that are in memory, by the id that the database knows.
#[derive(Debug)]
pub(super) struct SessionMemory {
    per_key_max: usize,
    all_max: usize,
    uses: u64,
    sessions: HashMap<String, LoadedSession>,
    /// Key id to how many of its sessions are here.
    per_key: HashMap<String, usize>,
    /// What the client names a session by, to its id.
    ids: HashMap<SessionId, String>,
}

#[derive(Debug)]
struct LoadedSession {
    sealed: SessionId,
    key_id: String,
    /// A number that grows.
    used: u64,
    /// When something was last asked of it, or was under way. Milliseconds.
    used_at_ms: i64,
    /// Each of its open streams has a clone. The number is another one each time that the session comes here.
    streams: Arc<u64>,
}

impl SessionMemory {
    pub(super) fn new(per_key_max: usize, all_max: usize) -> Self {
        Self {
            per_key_max,
            all_max,
            uses: 0,
            sessions: HashMap::new(),
            per_key: HashMap::new(),
            ids: HashMap::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// What the client names the session by, if it is here.
    pub(super) fn sealed(&self, id: &str) -> Option<SessionId> {
        Some(self.sessions.get(id)?.sealed.clone())
    }

    pub(super) fn count(&self) -> usize {
        self.sessions.len()
    }

    pub(super) fn note_use(&mut self, id: &str, now_ms: i64) {
        self.uses += 1;
        if let Some(session) = self.sessions.get_mut(id) {
            session.used = self.uses;
            session.used_at_ms = now_ms;
        }
    }

    /// To be held while a stream of the session is open.
    pub(super) fn open_stream(&self, sealed: &SessionId) -> Option<Arc<u64>> {
        let session = self.sessions.get(self.ids.get(sealed)?)?;
        Some(session.streams.clone())
    }

    /// The sessions of which nothing was asked since `before_ms`. Those with an open stream, and those `at_work`, are in
    /// use now.
    pub(super) fn idle(
        &mut self,
        at_work: &HashSet<String>,
        before_ms: i64,
        now_ms: i64,
    ) -> Vec<String> {
        let mut idle = Vec::new();
        for (id, session) in &mut self.sessions {
            if Arc::strong_count(&session.streams) > 1 || at_work.contains(id) {
                session.used_at_ms = now_ms;
            } else if session.used_at_ms < before_ms {
                idle.push(id.clone());
            }
        }
        idle
    }

    /// Takes out a session, unless it was used since `before_ms`.
    pub(super) fn take_out_idle(&mut self, id: &str, before_ms: i64) -> Option<SessionId> {
        let session = self.sessions.get(id)?;
        let in_use = Arc::strong_count(&session.streams) > 1 || session.used_at_ms >= before_ms;
        if in_use {
            return None;
        }
        let sealed = session.sealed.clone();
        self.remove(&sealed);
        Some(sealed)
    }

    /// Takes out the session that has to go before `key_id` may have one more here: its own, or one of the
    /// key that has the most.
    pub(super) fn take_out_for(&mut self, key_id: &str) -> Option<SessionId> {
        let own = self.per_key.get(key_id).copied().unwrap_or(0);
        let whose = if own >= self.per_key_max {
            key_id.to_owned()
        } else if self.sessions.len() >= self.all_max {
            self.per_key
                .iter()
                .max_by_key(|(_, count)| **count)?
                .0
                .clone()
        } else {
            return None;
        };
        let of_key = self
            .sessions
            .values()
            .filter(|session| session.key_id == whose);
        let oldest = of_key.min_by_key(|session| session.used)?.sealed.clone();
        self.remove(&oldest);
        Some(oldest)
    }

    pub(super) fn add(&mut self, key_id: &str, id: &str, sealed: &SessionId, now_ms: i64) {
        self.remove(sealed);
        self.uses += 1;
        let session = LoadedSession {
            sealed: sealed.clone(),
            key_id: key_id.to_owned(),
            used: self.uses,
            used_at_ms: now_ms,
            streams: Arc::new(self.uses),
        };
        self.sessions.insert(id.to_owned(), session);
        self.ids.insert(sealed.clone(), id.to_owned());
        *self.per_key.entry(key_id.to_owned()).or_default() += 1;
    }

    pub(super) fn remove(&mut self, sealed: &SessionId) {
        let session = self.ids.remove(sealed);
        let Some(session) = session.and_then(|id| self.sessions.remove(&id)) else {
            return;
        };
        if let Some(of_key) = self.per_key.get_mut(&session.key_id) {
            *of_key -= 1;
            if *of_key == 0 {
                self.per_key.remove(&session.key_id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(memory: &mut SessionMemory, key_id: &str, id: &str) {
        memory.add(key_id, id, &sealed(id), 0);
    }

    fn sealed(id: &str) -> SessionId {
        format!("sealed {id}").into()
    }

    #[test]
    fn a_key_at_its_bound_loses_the_session_that_it_used_longest_ago() {
        let mut memory = SessionMemory::new(3, 100);
        for id in ["s0", "s1", "s2"] {
            assert_eq!(memory.take_out_for("key_a"), None);
            add(&mut memory, "key_a", id);
        }
        memory.note_use("s0", 0);
        let other = memory.take_out_for("key_b");
        assert_eq!(other, None, "another key has its own");
        assert_eq!(memory.take_out_for("key_a"), Some(sealed("s1")));
        assert_eq!(memory.take_out_for("key_a"), None, "one was enough");
        add(&mut memory, "key_a", "s3");
        assert_eq!(memory.sealed("s0"), Some(sealed("s0")));
        assert_eq!(memory.sealed("s1"), None);
    }

    #[test]
    fn at_the_bound_of_all_the_key_with_the_most_gives_way() {
        let mut memory = SessionMemory::new(10, 5);
        for id in ["a0", "a1", "a2", "a3"] {
            add(&mut memory, "key_a", id);
        }
        add(&mut memory, "key_b", "b0");
        assert_eq!(memory.take_out_for("key_b"), Some(sealed("a0")));
        add(&mut memory, "key_b", "b1");
        assert_eq!(memory.take_out_for("key_c"), Some(sealed("a1")));
        assert_eq!(memory.sessions.len(), 4);
    }

    #[test]
    fn a_session_is_idle_without_requests_and_streams_alone() {
        let mut memory = SessionMemory::new(10, 10);
        for id in ["idle", "used", "streaming", "working"] {
            add(&mut memory, "key_a", id);
        }
        memory.note_use("used", 50);
        let stream = memory.open_stream(&sealed("streaming"));
        assert!(stream.is_some());
        let working = HashSet::from(["working".to_owned()]);
        assert_eq!(memory.idle(&working, 50, 100), ["idle"]);
        assert_eq!(memory.take_out_idle("idle", 50), Some(sealed("idle")));
        for id in ["used", "streaming", "working"] {
            assert_eq!(memory.take_out_idle(id, 50), None, "{id}");
        }
        drop(stream);
        assert_eq!(
            memory.take_out_idle("streaming", 100),
            None,
            "idle since the stream ended"
        );
        let mut idle = memory.idle(&HashSet::new(), 101, 200);
        idle.sort();
        assert_eq!(idle, ["streaming", "used", "working"]);
        assert_eq!(memory.count(), 3);
    }

    #[test]
    fn what_was_taken_out_leaves_nothing() {
        let mut memory = SessionMemory::new(10, 10);
        add(&mut memory, "key_a", "s0");
        add(&mut memory, "key_a", "s0");
        memory.remove(&sealed("s0"));
        memory.remove(&sealed("s0"));
        assert!(memory.is_empty() && memory.per_key.is_empty() && memory.ids.is_empty());
    }
}
