//! Whose protocol session is whose.
//!
//! A session id is no credential: every request is authenticated by its key. This table adds that a
//! session answers to the key that opened it and to no other (to others it does not exist), and that
//! one key cannot fill the memory: past [`SESSIONS_PER_KEY_MAX`] its oldest session is closed.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Sessions that one key may have open.
pub const SESSIONS_PER_KEY_MAX: usize = 1_000;

/// A session that nothing was asked of for this long is closed.
pub const SESSION_IDLE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The sessions opened through this process.
#[derive(Debug, Default)]
pub struct Owners(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    /// Session id to key id.
    key_of: HashMap<String, String>,
    /// Key id to its sessions, oldest first.
    opened_by: HashMap<String, VecDeque<String>>,
}

impl Owners {
    /// Whether `session_id` was opened with `key_id` and not forgotten since.
    pub fn owns(&self, key_id: &str, session_id: &str) -> bool {
        self.with(|table| {
            table
                .key_of
                .get(session_id)
                .is_some_and(|key| key == key_id)
        })
    }

    /// Notes a new session. Gives back the one to close for it, if the key had all it may have.
    pub fn add(&self, key_id: &str, session_id: &str) -> Option<String> {
        self.with(|table| {
            let sessions = table.opened_by.entry(key_id.to_owned()).or_default();
            sessions.push_back(session_id.to_owned());
            table
                .key_of
                .insert(session_id.to_owned(), key_id.to_owned());
            if sessions.len() <= SESSIONS_PER_KEY_MAX {
                return None;
            }
            let oldest = sessions.pop_front()?;
            table.key_of.remove(&oldest);
            Some(oldest)
        })
    }

    /// Forgets a session that its client ended or that is gone.
    pub fn remove(&self, session_id: &str) {
        self.with(|table| {
            let Some(key_id) = table.key_of.remove(session_id) else {
                return;
            };
            if let Some(sessions) = table.opened_by.get_mut(&key_id) {
                sessions.retain(|id| id != session_id);
                if sessions.is_empty() {
                    table.opened_by.remove(&key_id);
                }
            }
        });
    }

    fn with<T>(&self, step: impl FnOnce(&mut Table) -> T) -> T {
        // Every step leaves the table whole, so a panic elsewhere spoils nothing.
        step(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_answers_to_its_own_key_alone() {
        let owners = Owners::default();
        owners.add("key_a", "s1");
        assert!(owners.owns("key_a", "s1"));
        assert!(!owners.owns("key_b", "s1"));
        assert!(!owners.owns("key_a", "s2"));
        owners.remove("s1");
        assert!(!owners.owns("key_a", "s1"));
    }

    #[test]
    fn past_its_bound_a_key_loses_its_oldest_session() {
        let owners = Owners::default();
        for n in 0..SESSIONS_PER_KEY_MAX {
            assert_eq!(owners.add("key_a", &format!("s{n}")), None);
        }
        assert_eq!(owners.add("key_b", "other"), None);
        assert_eq!(owners.add("key_a", "last"), Some("s0".to_owned()));
        assert!(!owners.owns("key_a", "s0"));
        assert!(owners.owns("key_a", "s1") && owners.owns("key_a", "last"));
        owners.remove("s1");
        assert_eq!(owners.add("key_a", "one more"), None);
    }
}
